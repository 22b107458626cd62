"""Bands and folded forms against the format page; rules that are not valid."""

import re
import unittest
from unittest import mock

from firstseen import KeyHash, MalformedError, near
from firstseen.canonical import TEXT
from firstseen.look_alikes import TABLE, folded
from firstseen.near import NearRule

from . import REPOSITORY

PAGE = (REPOSITORY / "docs/format/near-v1.md").read_text(encoding="utf-8")
RULES = {
    "short": "characters:4,32x5,2",
    "long": "words:3,20x9,1",
    "short+fold": "characters:4,32x5,2+fold",
    "long+fold": "words:3,20x9,1+fold",
}


class NearTest(unittest.TestCase):
    def test_the_page_has_the_bands_of_its_example(self):
        rows = re.findall(r"(?m)^\| `(\S+)` \| `([0-9a-f]{16})` \|$", PAGE)
        self.assertEqual(len(rows), 4)
        form = TEXT.canonical("claim your free prize now.")
        for numeric in (near.np, None):
            with mock.patch.object(near, "np", numeric):
                for name, first in rows:
                    rule = NearRule.read(RULES[name].encode())
                    self.assertEqual(f"{near.bands(rule, KeyHash.public(), form, b'')[0]:016x}", first)

    def test_the_page_has_the_table_and_the_forms_of_its_examples(self):
        self.assertIn(f"```text\n{TABLE}```", PAGE)
        rows = re.findall(r"(?m)^\| `(.+)` \| `(.+)` \| `(.+)` \|$", PAGE)
        self.assertEqual(len(rows), 8)
        for text, characters, words in rows:
            text = re.sub(r"\{([0-9A-F]{4})\}", lambda code: chr(int(code[1], 16)), text)
            form = TEXT.canonical(text).decode()
            self.assertEqual((folded(form, False), folded(form, True)), (characters, words))

    def test_a_rule_has_one_form(self):
        for form in RULES.values():
            self.assertEqual(str(NearRule.read(form.encode())), form)
        for wrong in ("short", "characters:04,32x5,2", "words:3,18x8,3", "words:17,18x8,1", "words:3,1x8,2", "\xe9"):
            with self.assertRaises(MalformedError):
                NearRule.read(wrong.encode("latin-1"))
