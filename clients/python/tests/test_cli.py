"""The command line and the adapter for conformance, as programs."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from firstseen.conformance import answer

from . import GOLDEN, REPOSITORY
from .publisher import Publisher, Signer

HOME = REPOSITORY / "clients/python"


def run(*words, given="", environment={}):
    environment = {**os.environ, **environment, "PYTHONPATH": str(HOME), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "firstseen", *map(str, words)], input=given, capture_output=True, text=True, env=environment
    )


class Commands(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = Path(temporary.name) / "set"

    def test_follow_once(self):
        publisher = Publisher(self.directory)
        cache = self.directory.with_name("cache")
        empty = run("follow", self.directory, "--once")
        self.assertEqual((empty.returncode, empty.stdout), (2, ""))
        self.assertIn("there is no manifest in", empty.stderr)
        publisher.publish(["a", "b"])
        first = run("follow", self.directory, "--once", "--cache-dir", cache)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertRegex(first.stdout, r"^set spam: sequence 1 is active, 2 keys at 2023-11-14T23:13:20Z, \d+ bytes by bases\n$")
        publisher.publish(["a"])
        second = run("follow", self.directory, "--once", "--json", "--cache-dir", cache)
        row = json.loads(second.stdout)
        self.assertEqual((row["sequence"], row["keys"], row["byPacks"]), (2, 1, True))
        nothing_new = run("follow", self.directory, "--once", "--cache-dir", cache)
        self.assertEqual((nothing_new.returncode, nothing_new.stdout, nothing_new.stderr), (0, "", ""))
        unreachable = run("follow", "http://127.0.0.1:9/", "--once")
        self.assertEqual(unreachable.returncode, 2)
        self.assertIn("http://127.0.0.1:9/ cannot be reached: ", unreachable.stderr)

    def test_lines_are_answered_as_they_come(self):
        Publisher(self.directory, canonicaliser=3).publish(["s2-citi.com"])
        environment = {**os.environ, "PYTHONPATH": str(HOME), "PYTHONDONTWRITEBYTECODE": "1"}
        for verb, answer in (("query", b"http://s2-citi.com/\tpresent\n"), ("match", b"http://s2-citi.com/\tpresent\ts2-citi.com/\n")):
            command = [sys.executable, "-m", "firstseen", verb, str(self.directory)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as asked:
                watch = threading.Timer(60, asked.kill)
                watch.start()
                # The byte order mark is not part of the first line.
                for mark in (b"\xef\xbb\xbf", b""):
                    asked.stdin.write(mark + b"http://s2-citi.com/\r\n")
                    asked.stdin.flush()
                    self.assertEqual(asked.stdout.readline(), answer)
                asked.stdin.write(b"\nhttp://s2-citi")
                asked.stdin.flush()
                self.assertEqual(asked.stdout.readline(), b"\tinvalid\tkey is empty\n")
                asked.stdin.write(b".com/")
                asked.stdin.close()
                self.assertEqual(asked.stdout.read(), answer)
                watch.cancel()

    def test_lists_of_one_name_are_told_apart_by_their_places(self):
        other = self.directory.with_name("other")
        Publisher(self.directory, canonicaliser=3).publish(["s2-citi.com"])
        Publisher(other, canonicaliser=3).publish(["b.example"])
        words = ("match", self.directory, "http://b.example/x", "--list", other)
        self.assertEqual(run(*words).stdout, f"http://b.example/x\tpresent\tb.example/\t{other}\n")
        row = json.loads(run(*words, "--json").stdout)
        self.assertEqual(row["matches"], [{"set": str(other), "entry": "b.example/"}])
        allowed = run("match", self.directory, "http://s2-citi.com/", "--allow", self.directory)
        self.assertEqual((allowed.returncode, allowed.stdout), (2, ""))
        self.assertEqual(allowed.stderr, f"{self.directory}: {self.directory} must be given once\n")

    def test_follow_refuses_a_pause_that_is_none(self):
        for pause in ("0", "-1", "nan", "86401", "x"):
            refused = run("follow", self.directory, "--poll", pause)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(f"must be above 0, at most 86400 seconds, got '{pause}'", refused.stderr)

    def test_output_that_cannot_be_written(self):
        Publisher(self.directory).publish(["a"])
        environment = {**os.environ, "PYTHONPATH": str(HOME), "LC_ALL": "C.UTF-8"}
        for words in (["query", self.directory, "a"], ["verify", self.directory], ["follow", self.directory]):
            command = [sys.executable, "-m", "firstseen", *words]
            with open("/dev/full", "w") as full:
                ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
            self.assertEqual((ended.returncode, ended.stderr), (2, "cannot write: No space left on device\n"), words)
            reading, writing = os.pipe()
            os.close(reading)
            ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, env=environment)
            os.close(writing)
            self.assertEqual((ended.returncode, ended.stderr), (0, ""), words)

    def test_signatures(self):
        signer = Signer(b"publisher")
        pem = self.directory.with_name("key.pem")
        publisher = Publisher(self.directory)
        pem.write_text(signer.pem())
        publisher.publish(["a"], signer=signer)
        self.assertEqual(
            run("verify", self.directory, "--public-key", pem).stdout,
            f"{self.directory}: valid, signed by {signer.trusted.id.hex()}\n",
        )
        self.assertEqual(run("query", self.directory, "a", "b", "--public-key", pem).stdout, "a\tpresent\nb\tabsent\n")
        for words in (["query"], ["match"], ["match", self.directory, "--list"], ["match", self.directory, "--allow"]):
            refused = run(*words, GOLDEN / "one.snapshot", "--public-key", pem)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), words)
            self.assertIn("only manifests have signatures", refused.stderr)
        publisher.publish(["a", "b"])
        refused = run("query", self.directory, "a", "--public-key", pem)
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertEqual(refused.stderr, f"{self.directory}: sequence 2 of set 'spam' has no signature\n")
        invalid = run("verify", self.directory, "--public-key", pem)
        self.assertEqual(invalid.returncode, 1)
        self.assertEqual(invalid.stdout, f"{self.directory}: invalid: sequence 2 of set 'spam' has no signature\n")

    def test_verify_of_a_set_without_some_blobs(self):
        signer = Signer(b"publisher")
        pem = self.directory.with_name("key.pem")
        pem.write_text(signer.pem())
        publisher = Publisher(self.directory)
        packs = []
        for keys in (["a"], ["a", "b"], ["b"]):
            packs.append(publisher.publish(keys, signer=signer, blobs="s3://bucket/blobs").pack)
        (self.directory / "blobs" / packs[0].name).unlink()
        old = run("verify", self.directory, "--public-key", pem)
        self.assertEqual((old.returncode, old.stderr), (0, ""), old.stdout)
        (self.directory / "blobs" / packs[2].name).unlink()
        out_of_reach = run("verify", self.directory, "--public-key", pem)
        self.assertEqual(out_of_reach.returncode, 2)
        self.assertIn("is in s3://bucket/blobs, this reader supports file, http and https", out_of_reach.stderr)
        elsewhere = run("verify", self.directory)
        self.assertEqual((elsewhere.returncode, elsewhere.stdout), (2, ""))
        self.assertRegex(elsewhere.stderr, "blob [0-9a-f]{64} is in s3://bucket/blobs: give --public-key, or")
        pack = publisher.publish(["c"]).pack
        (self.directory / "blobs" / pack.name).unlink()
        missing = run("verify", self.directory)
        self.assertEqual((missing.returncode, missing.stderr), (1, ""))
        self.assertIn(f": invalid: blob {pack.name} is missing", missing.stdout)

    def test_questions_from_standard_input(self):
        asked = "http://example.com/key-0\nhttp://example.com/key-900\n\n"
        expected = "http://example.com/key-0\tpresent\nhttp://example.com/key-900\tabsent\n\tinvalid\tkey is empty\n"
        for words in ([], ["-"]):
            answered = run("query", GOLDEN / "sixty-four.snapshot", *words, given=asked)
            self.assertEqual((answered.returncode, answered.stdout), (4, expected))
            self.assertIn("1 could not be evaluated", answered.stderr)
        # One line end is cut off, not each return before it.
        command = [sys.executable, "-m", "firstseen", "query", GOLDEN / "one.snapshot"]
        returns = subprocess.run(command, input=b"a\r\r\n", stdout=subprocess.PIPE, cwd=HOME)
        self.assertEqual(returns.stdout, b"a\r\tabsent\n")
        other = run("query", GOLDEN / "shard-2-of-4.snapshot", "http://example.com/key-1")
        self.assertEqual(other.returncode, 2)

    def test_the_hash_key_of_the_environment(self):
        words = ("query", GOLDEN / "sixty-four.snapshot", "http://example.com/key-0")
        other = {"FIRSTSEEN_HASH_KEY": "00" * 16}
        self.assertIn("another hash key", run(*words, environment=other).stderr)
        self.assertEqual(run(*words, "--hash-key-file", "public", environment=other).returncode, 0)
        self.assertEqual(run(*words, environment={"FIRSTSEEN_HASH_KEY": ""}).returncode, 0)
        wrong = run(*words, environment={"FIRSTSEEN_HASH_KEY": "0" * 31 + "g"})
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("FIRSTSEEN_HASH_KEY: a hash key must be 32 hexadecimal digits, character 32 is not one", wrong.stderr)

    def test_wrong_words(self):
        for words, sentence in (
            (["query"], "the following arguments are required: PATH"),
            (["follow", "topic", "--bootstrap-servers", "h:1"], "a set on a topic must be named by --set"),
            (["verify", GOLDEN / "one.snapshot", "--public-key", GOLDEN / "one.snapshot"], "only manifests have signatures"),
            (["apply", GOLDEN / "one.snapshot", self.directory], "this is neither a manifest nor a directory"),
            (["match", GOLDEN / "list-of-window-1.blob", "a"], "this is a list of bases; URLs are looked up in"),
        ):
            result = run(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(sentence, result.stderr)


class Adapter(unittest.TestCase):
    def test_answers_each_line(self):
        requests = [
            {"op": "canonical", "canonicaliser": "url", "key": "A.example"},
            {"op": "canonical", "canonicaliser": "url", "key": "a b"},
            {"op": "swim"},
        ]
        result = subprocess.run(
            [sys.executable, "-m", "firstseen.conformance"],
            input="".join(json.dumps(request) + "\n" for request in requests),
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(HOME), "PYTHONDONTWRITEBYTECODE": "1"},
        )
        form, refused, unsupported = map(json.loads, result.stdout.splitlines())
        self.assertEqual(bytes.fromhex(form["form"]), b"http://a.example/")
        self.assertIn("has a character that none may have", refused["refused"])
        self.assertEqual(unsupported, {"unsupported": True})

    def test_the_way_by_packs_takes_fewer_bytes(self):
        with tempfile.TemporaryDirectory() as earlier, tempfile.TemporaryDirectory() as later:
            for directory, windows in ((earlier, 1), (later, 2)):
                publisher = Publisher(directory)
                for window in range(windows):
                    publisher.publish([f"key {i}" for i in range(500 + window)])
            by_packs = answer({"op": "follow", "from": earlier, "to": later})
            by_bases = answer({"op": "follow", "to": later})
            self.assertEqual(by_packs["root"], by_bases["root"])
            self.assertEqual(by_bases["count"], "501")
            self.assertLess(by_packs["bytes"], by_bases["bytes"] / 4)


if __name__ == "__main__":
    unittest.main()
