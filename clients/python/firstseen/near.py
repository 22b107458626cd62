"""Near-duplicate texts: rules, bands and lookups (docs/format/near-v1.md)."""

from __future__ import annotations

import re
import struct
from collections import Counter
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Sequence

from ._numeric import np
from .bits import require
from .keyhash import KeyHash
from .look_alikes import folded

MAX_RULE_CHARS = 30
# A band of this many live texts is boilerplate, and is ignored.
_MAX_TEXTS_OF_BAND = 8
_BITS_ABOVE_TAG = 24
_FORM = re.compile(r"(characters|words):([1-9][0-9]?),([1-9][0-9]?)x([1-9][0-9]?),([12])(\+fold)?")
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class NearRule:
    """A rule that states which texts resemble each other."""

    unit: str
    shingle: int
    bands: int
    rows: int
    matches: int
    """The number of equal bands of two texts that resemble each other."""
    folds: bool
    """Whether letters that look alike are equal, and spaced-out letters are joined."""

    @classmethod
    def read(cls, text: bytes) -> NearRule:
        """Reads the rule in a file; rejects non-canonical forms."""
        form = _FORM.fullmatch(text.decode("latin-1"))
        require(form is not None, f"the rule for near-duplicates must have all parameters, got {text!r}")
        assert form is not None
        shingle, bands, rows, matches = (int(group) for group in form.groups()[1:5])
        require(
            shingle <= 16 and bands <= 64 and rows <= 16 and matches <= bands,
            f"the rule for near-duplicates must be in its bounds, got {text!r}",
        )
        return cls(form.group(1), shingle, bands, rows, matches, form.group(6) is not None)

    def __str__(self) -> str:
        return f"{self.unit}:{self.shingle},{self.bands}x{self.rows},{self.matches}{'+fold' if self.folds else ''}"

    @property
    def tag_bits(self) -> int:
        return 12 if self.matches > 1 else 0

    @property
    def least_range(self) -> int:
        """The least number of values, in all shards, in which each tag of a band has a separate value."""
        return 1 << _BITS_ABOVE_TAG + self.tag_bits if self.tag_bits else 0

    @property
    def tag_shift(self) -> int:
        """The position of the tag in an element."""
        return 64 - _BITS_ABOVE_TAG - self.tag_bits

    def first_element(self, band: int) -> int:
        """Returns the element of a band with the tag 0."""
        return band & ~((1 << self.tag_bits) - 1 << self.tag_shift)


def bands(rule: NearRule, key_hash: KeyHash, form: bytes, scope: bytes) -> list[int]:
    """Returns the bands of a text in canonical form."""
    least = _components(rule, key_hash.hash_each(_shingles(rule, form)))
    prefix = struct.pack(">Q", key_hash.hash(scope))
    return [
        key_hash.hash(prefix + struct.pack(f">B{rule.rows}I", i, *least[i * rule.rows : (i + 1) * rule.rows]))
        for i in range(rule.bands)
    ]


def _shingles(rule: NearRule, form: bytes) -> list[bytes]:
    text = form.decode("utf-8")
    of_words = rule.unit == "words"
    if rule.folds:
        text = folded(text, of_words)
    starts: Sequence[int] = range(len(text))
    if of_words:
        starts = [at for at, unit in enumerate(text) if unit != " " and (at == 0 or text[at - 1] == " ")]
    if len(starts) < rule.shingle:
        return [text.encode("utf-8")]
    # A shingle ends before the next unit, without the space before a word.
    ends = [start - of_words for start in starts[rule.shingle :]] + [len(text)]
    return [text[start:end].encode("utf-8") for start, end in zip(starts, ends)]


def _components(rule: NearRule, shingles: Any) -> list[int]:
    """Returns the least value of each component."""
    mixed = [_split_mix(c + 1) for c in range(rule.bands * rule.rows)]
    if np is None:
        low = [int(one) & 0xFFFFFFFF for one in shingles]
        return [
            min(((z >> 32 | 1) * one + (z & 0xFFFFFFFF) & 0xFFFFFFFF) >> 1 for one in low) for z in mixed
        ]
    hashes = np.asarray(shingles, np.uint64).astype(np.uint32)
    factors = np.array([z >> 32 | 1 for z in mixed], np.uint32)
    terms = np.array([z & 0xFFFFFFFF for z in mixed], np.uint32)
    least = np.full(len(mixed), 0x7FFFFFFF, np.uint32)
    # In pieces, because the products of a long text take much memory.
    for start in range(0, len(hashes), 4096):
        products = factors[:, None] * hashes[None, start : start + 4096] + terms[:, None]
        least = np.minimum(least, (products >> np.uint32(1)).min(axis=1))
    result: list[int] = least.tolist()
    return result


def _split_mix(n: int) -> int:
    """Returns the output of SplitMix64 of the state n times the golden gamma."""
    z = n * 0x9E3779B97F4A7C15 & _MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31


def equal_bands(rule: NearRule, of_text: Sequence[int], tags_of: Callable[[int], Iterable[int]]) -> int:
    """Returns the highest number of bands with the same tag; 0 if it is below the rule's matches.

    tags_of: returns the different tags of a band in the set.
    """
    counts: Counter[int] = Counter()
    for band in of_text:
        tags = []
        for tag in tags_of(band):
            tags.append(tag)
            if len(tags) == _MAX_TEXTS_OF_BAND:
                break
        else:
            counts.update(tags)
    most = max(counts.values(), default=0)
    return most if most >= rule.matches else 0
