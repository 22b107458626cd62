"""Human text, version 1 (docs/format/text-v1.md)."""

from __future__ import annotations

import re
import unicodedata

from ..errors import InvalidKeyError

MAX_ROUNDS = 8
MAX_MARKS = 30

# Default_Ignorable_Code_Point of Unicode 16, as ranges in a class of a regular expression.
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
SPACE = frozenset(
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
_INVISIBLE = re.compile(f"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f{IGNORABLE}]+")
_PUNCTUATION = frozenset({"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So"})
# NFKC maps half-width sound marks, which are letters, to marks.
_SOUND_MARKS = "\uff9e\uff9f"


def canonical(text: str) -> str:
    for _ in range(MAX_ROUNDS):
        folded = _once(text)
        if not folded:
            raise InvalidKeyError("text is empty after folding")
        # One round is sufficient for ASCII.
        if folded.isascii() or folded == text:
            return folded
        text = folded
    raise InvalidKeyError(f"text still changes after {MAX_ROUNDS} rounds of folding")


def _once(text: str) -> str:
    visible = _short_marks(_INVISIBLE.sub("", text))
    upper = unicodedata.normalize("NFKC", visible).upper()
    return unicodedata.normalize("NFKC", _short_runs(upper))


def _short_marks(text: str) -> str:
    """Removes the marks of a run after the first 30."""
    if len(text) <= MAX_MARKS or text.isascii():
        return text
    kept, marks = [], 0
    for character in text:
        is_mark = unicodedata.category(character)[0] == "M" or character in _SOUND_MARKS
        marks = marks + 1 if is_mark else 0
        if marks <= MAX_MARKS:
            kept.append(character)
    return "".join(kept)


class _Folded(dict):  # type: ignore[type-arg]
    """Cache of the folded form of each character."""

    def __missing__(self, character: str) -> str:
        if character in SPACE:
            folded = " "
        else:
            category = unicodedata.category(character)
            if category == "Nd":
                folded = "0"
            elif category in _PUNCTUATION:
                folded = "."
            else:
                folded = simple_lower(character)
        if len(self) < 65_536:
            self[character] = folded
        return folded


_FOLDED = _Folded()


def _short_runs(upper: str) -> str:
    kept, previous = [], " "
    for character in upper:
        folded = _FOLDED[character]
        if folded != previous or folded not in " 0.":
            kept.append(folded)
        previous = folded
    if kept and kept[-1] == " ":
        kept.pop()
    return "".join(kept)


def simple_lower(character: str) -> str:
    """Returns the simple lower-case mapping, which differs from the full mapping for one character."""
    return "i" if character == "\u0130" else character.lower()
