"""Canonical forms against the vectors, the pages of the rules, and all characters of Unicode 13."""

import hashlib
import json
import re
import time
import unittest

from firstseen import NONE, TEXT, URL, URL_EXPRESSION, InvalidKeyError, UnsupportedError, canonicaliser, url_expressions
from firstseen.canonical import expressions, hosts, suffixes, text, url

from . import CHARACTERS, REPOSITORY, vectors


def form_or_none(rule, key):
    try:
        return rule.canonical(key)
    except InvalidKeyError:
        return None


def characters_of_unicode_13():
    for line in CHARACTERS.read_text().splitlines():
        if not line.startswith("#"):
            first, last = line.split("-")
            yield from map(chr, range(int(first, 16), int(last, 16) + 1))


class Vectors(unittest.TestCase):
    def check(self, name, rule):
        file = json.loads(vectors(f"{name}.json").read_text(encoding="utf-8"))
        self.assertEqual(file["canonicaliser"], name)
        self.assertEqual(file["version"], rule.version)
        for vector in file["keys"]:
            with self.subTest(vector):
                key = vector["key"] if "key" in vector else bytes.fromhex(vector["keyHex"])
                used = rule.stripping(vector["strip"]) if "strip" in vector else rule
                expected = None if vector["form"] is None else vector["form"].encode("utf-8")
                self.assertEqual(form_or_none(used, key), expected)
                if expected is not None:
                    # With its scheme again, an entry is not a pattern.
                    again = b"http://" + expected if rule.code == URL_EXPRESSION.code else expected
                    self.assertEqual(used.canonical(again), expected)
        self.assertGreater(len(file["keys"]), 20)
        return file

    def test_a_long_run_of_spaces_takes_no_long_time(self):
        begin = time.process_time()
        with self.assertRaises(InvalidKeyError):
            url_expressions("a" + " " * 65_000 + "b")
        self.assertLess(time.process_time() - begin, 2)

    def test_long_and_odd_urls_are_looked_up(self):
        self.assertEqual(url_expressions("http://a.example/#" + "f" * 2_000_000), ["a.example/"])
        self.assertEqual(url_expressions(b"http://a.example/\xff%a9?\xfe"), ["a.example/%FF%A9?%FE", "a.example/%FF%A9", "a.example/"])
        for invalid in ("http://a.example/" + "p" * 2_097_152, b"http://a\xff.example/", "", b""):
            with self.assertRaises(InvalidKeyError):
                url_expressions(invalid)

    def test_urls(self):
        self.check("url", canonicaliser("url-2"))
        self.check("url-3", URL)

    def test_entries_and_expressions(self):
        file = self.check("url-expression", canonicaliser("url-expression-1"))
        self.assertEqual(file["publicSuffixList"], suffixes.VERSION)
        for vectors in (file, self.check("url-expression-2", URL_EXPRESSION)):
            for vector in vectors["urls"]:
                with self.subTest(vector):
                    if vector["expressions"] is None:
                        with self.assertRaises(InvalidKeyError):
                            url_expressions(vector["url"], vectors["version"])
                    else:
                        self.assertEqual(url_expressions(vector["url"], vectors["version"]), vector["expressions"])
        for vector in file["registrableDomains"]:
            with self.subTest(vector):
                start = suffixes.registrable_start(vector["host"])
                self.assertEqual(None if start < 0 else vector["host"][start:], vector["registrableDomain"])


class Urls(unittest.TestCase):
    def test_the_fast_way_is_the_slow_one(self):
        hosts_and_paths = [
            host + path
            for host in ("a.b", "localhost", "a_b.c-d.xn--p1ai", "1.2.3.4", "a.1", "a.0x", "0x.a", "a..b", "a.b.", "-.a")
            for path in ("/", "", "/a", "/a/", "/a//b", "/./a", "/a/.", "/a/..", "/.a/..b", "/a;b=c:@!$&'()*+,", "/a%41", "/a?b", "/~", "/*", "/a*b")
        ]
        fast = 0
        for one in hosts_and_paths:
            for rule, slow, key in ((URL, url.canonical, "http://" + one), (URL_EXPRESSION, expressions.entry, one)):
                with self.subTest(rule=rule.name, key=key):
                    pattern = url.PLAIN_FORM if rule is URL else expressions.PLAIN_ENTRY
                    if pattern.match(key.encode()):
                        fast += 1
                        self.assertEqual(slow(key), key)
                    try:
                        expected = slow(key).encode()
                    except InvalidKeyError:
                        expected = None
                    self.assertEqual(form_or_none(rule, key), expected)
        self.assertGreater(fast, 40)

    def test_lengths_are_bounded(self):
        self.assertEqual(len(URL.canonical("http://a.b/" + "c" * 65_525)), 65_536)
        for key in ("", b"", "http://a.b/" + "c" * 65_526, "http://a.b/" + "%" * 30_000):
            with self.assertRaises(InvalidKeyError):
                URL.canonical(key)
        self.assertEqual(NONE.canonical(b"\xff" * 65_536), b"\xff" * 65_536)

    def test_a_number_of_any_length_is_no_trouble(self):
        for host in ("1" * 60_000, "0" * 60_000 + "1", "0x" + "f" * 60_000, "1.2.3." + "9" * 60_000):
            self.assertIn(form_or_none(URL, host), (None, b"http://0.0.0.1/"))
        self.assertIsNone(form_or_none(URL, "a.b:" + "0" * 10_000 + "65536"))
        self.assertEqual(URL.canonical("a.b:" + "0" * 10_000 + "81"), b"http://a.b:81/")

    def test_stripped_parameters(self):
        rule = URL.stripping("utm_*,gclid")
        self.assertEqual(rule.stripped, "gclid,utm_*")
        key = "http://a.b/?utm_source=x&id=1&gclid&UTM_x=2&utm%5Fy=3&utm=4&gclidx=5"
        self.assertEqual(rule.canonical(key), b"http://a.b/?UTM_x=2&gclidx=5&id=1&utm=4")
        self.assertEqual(rule.canonical("http://a.b/?utm_a=1"), b"http://a.b/")
        self.assertEqual(URL.stripping("*").canonical("http://a.b/?c"), b"http://a.b/")
        for patterns in ("", "a,,b", "a*b", "ä", "common", ",".join(f"p{i}" for i in range(300))):
            with self.assertRaises(UnsupportedError):
                URL.stripping(patterns)
        with self.assertRaises(UnsupportedError):
            TEXT.stripping("a")

    def test_rules_have_names(self):
        self.assertIs(canonicaliser("url-expression"), URL_EXPRESSION)
        with self.assertRaisesRegex(UnsupportedError, "must be one of none, url, text, url-expression"):
            canonicaliser("URL")


class Texts(unittest.TestCase):
    def table(self, heading):
        page = (REPOSITORY / "docs/format/text-v1.md").read_text(encoding="utf-8")
        section = page.split(f"## {heading}\n")[1].split("\n## ")[0]
        rows = [line[2:-2].split(" | ") for line in section.splitlines() if line.startswith("| `")]
        self.assertGreater(len(rows), 10)
        for row in rows:
            cells = [re.sub("^`|`$", "", cell) for cell in row]
            yield [re.sub("{([0-9A-F]{4,5})}", lambda hit: chr(int(hit[1], 16)), cell) for cell in cells]

    def test_what_meets(self):
        for one, other, form in self.table("Texts with the same form"):
            with self.subTest(form):
                self.assertNotEqual(one, other)
                self.assertEqual(TEXT.canonical(one).decode(), form)
                self.assertEqual(TEXT.canonical(other).decode(), form)

    def test_what_stays_apart(self):
        for one, other, because in self.table("Texts with different forms"):
            with self.subTest(because):
                self.assertNotEqual(TEXT.canonical(one), TEXT.canonical(other))

    def test_marks_and_refusals(self):
        self.assertEqual(TEXT.canonical("x" + "\u0336" * 40).decode(), "x" + "\u0336" * 30)
        self.assertEqual(TEXT.canonical("x" + "\u0336\u00ad" * 40).decode(), "x" + "\u0336" * 30)
        with self.assertRaisesRegex(InvalidKeyError, "text is empty after folding"):
            TEXT.canonical("\u200b \t")
        with self.assertRaisesRegex(InvalidKeyError, "malformed at byte 1"):
            TEXT.canonical(b"a\xff")
        with self.assertRaisesRegex(InvalidKeyError, "half a surrogate pair"):
            TEXT.canonical("\ud800")


class Unicode13(unittest.TestCase):
    """All characters that Unicode 13 assigns; the digests are those that the Java code has on each JDK."""

    def test_texts(self):
        digest, count = hashlib.sha256(), 0
        for character in characters_of_unicode_13():
            digest.update(text.canonical(f"a{character}b").encode("utf-8") + b"\n")
            count += 1
        self.assertEqual(count, 281_392)
        self.assertEqual(digest.hexdigest(), "0ce86bb07c90096a8d1611c875aa3387f5a33e42907ebb9a82cc5c483d75549f")

    def test_hosts(self):
        digest, count = hashlib.sha256(), 0
        for character in characters_of_unicode_13():
            try:
                form = hosts.canonical(f"a{character}b.example")
                count += 1
            except InvalidKeyError:
                form = ""
            digest.update(form.encode("utf-8") + b"\n")
        self.assertEqual(count, 281_241)
        self.assertEqual(digest.hexdigest(), "ce5420929ae86016af53091f56b54f4d32e1403d515df5eb03c50815daf527a6")


if __name__ == "__main__":
    unittest.main()
