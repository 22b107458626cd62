"""The set of one shard, in memory."""

from __future__ import annotations

import hashlib
import struct
import sys
from array import array
from bisect import bisect_left
from functools import cached_property
from typing import Any, Iterator, Optional, Sequence

from ._numeric import np


class Shard:
    """The ascending values of a shard in a range of `buckets` · `width`, 8 bytes each. Immutable."""

    def __init__(self, number: int, buckets: int, width: int, values: array[int], hash_count: int) -> None:
        self.number = number
        self.buckets, self.width = buckets, width
        self.values = values
        self.hash_count = hash_count

    @cached_property
    def digest(self) -> bytes:
        return set_digest(self.buckets, self.width, self.values)

    def contains(self, suffix: int) -> bool:
        value = self.value(suffix)
        at = bisect_left(self.values, value)
        return at < len(self.values) and self.values[at] == value

    def values_between(self, first: int, last: int) -> Iterator[int]:
        """Returns the values from the value of a suffix up to the value of a suffix."""
        least, most = self.value(first), self.value(last)
        for at in range(bisect_left(self.values, least), len(self.values)):
            if self.values[at] > most:
                break
            yield self.values[at]

    def value(self, suffix: int) -> int:
        """Returns the value of a suffix."""
        return suffix * self.buckets * self.width >> 64

    def contains_each(self, suffixes: Any) -> Any:
        """Returns for a NumPy array whether each suffix is in the set."""
        assert np is not None
        held = np.frombuffer(self.values, np.uint64)
        if len(held) == 0:
            return np.zeros(len(suffixes), bool)
        values = values_of(suffixes, self.buckets, self.width)
        # Searching ascending values uses the CPU cache better.
        order = np.argsort(values)
        ascending = values[order]
        places = np.minimum(np.searchsorted(held, ascending), len(held) - 1)
        found = np.empty(len(values), bool)
        found[order] = held[places] == ascending
        return found


def values_of(suffixes: Any, buckets: int, width: int) -> Any:
    """Returns the values of suffixes, using 64-bit numbers for the 128-bit products."""
    assert np is not None
    factor = np.uint64(buckets)
    bucket = _high(suffixes, buckets)
    place = _high(suffixes * factor, width)
    return bucket * np.uint64(width) + place


def _high(numbers: Any, factor: int) -> Any:
    """Returns the upper 64 bits of products with a factor below 2^63."""
    assert np is not None
    half, low_bits = np.uint64(32), np.uint64(0xFFFFFFFF)
    low, high = numbers & low_bits, numbers >> half
    if factor < 1 << 32:
        one = np.uint64(factor)
        return (high * one + (low * one >> half)) >> half
    factor_low, factor_high = np.uint64(factor & 0xFFFFFFFF), np.uint64(factor >> 32)
    middle = high * factor_low + (low * factor_low >> half)
    other = low * factor_high + (middle & low_bits)
    return high * factor_high + (middle >> half) + (other >> half)


def set_digest(buckets: int, width: int, values: array[int]) -> bytes:
    """Returns the SHA-256 of the universe and the values."""
    digest = hashlib.sha256(struct.pack(">QQ", buckets, width))
    for start in range(0, len(values), 1 << 16):
        chunk = values[start : start + (1 << 16)]
        if sys.byteorder == "little":
            chunk.byteswap()
        digest.update(chunk)
    return digest.digest()


def tree_root(shards: Sequence[Optional[Shard]]) -> bytes:
    """Returns the root over the sets of all shards; None is a shard that never had a key."""
    leaves = [(shard.digest, shard.hash_count) if shard else (bytes(32), 0) for shard in shards]
    level = [hashlib.sha256(b"\x00" + digest + struct.pack("<Q", count)).digest() for digest, count in leaves]
    while len(level) > 1:
        level = [hashlib.sha256(b"\x01" + level[i] + level[i + 1]).digest() for i in range(0, len(level), 2)]
    return level[0]
