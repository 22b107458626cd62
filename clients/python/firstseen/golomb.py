"""Golomb codes: parameters, and lists of numbers in sections of blobs (docs/format/blob-v1.md, Lists)."""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple, Optional

from ._numeric import np
from .bits import bits_at, require

_LN_2 = 0xB17217F7D1CF79AC
# The number of bits that are decoded together, and the limit of a code beyond them.
_WINDOW = 1 << 16
_BEYOND = 1 << 12
# A field that starts within a byte must end within 64 bits.
_MAX_FIELD_BITS = 56


class GolombCode(NamedTuple):
    """The parameter m for a number of values below a bound, and derived constants."""

    m: int
    field_bits: int
    cutoff: int


def golomb_code(count: int, bound: int) -> GolombCode:
    m = 1
    if count:
        m = max(1, (_LN_2 * 2 * bound + (count << 64)) // (count << 65))
    field_bits = m.bit_length() - 1
    return GolombCode(m, field_bits, (2 << field_bits) - m)


def require_bits(count: int, bound: Optional[int], bits: int) -> None:
    """Raises MalformedError for more numbers than the bits can hold; each number takes at least one bit."""
    least = 1 if bound is None else golomb_code(count, bound).field_bits + 1
    require(
        count * least <= bits and (count > 0 or bits < 8),
        f"{count} values cannot have codes of {bits} bits",
    )


def decoded(codes: bytes, count: int, bound: int, position: int, end: Optional[int] = None) -> array[int]:
    """Decodes a list of numbers below a bound. Without an end, the list is the last one, padded with zeros."""
    filled = end is None
    last = 8 * len(codes) if end is None else end
    require_bits(count, bound, last - position)
    fast = _decoded_at_once(codes, count, bound, position) if np is not None and count >= 64 else None
    numbers, position = fast or _decoded_one_by_one(codes, count, bound, position, last)
    require(position <= last, "a code must end with its list")
    left = last - position
    require(left == 0 or (filled and left < 8), f"the codes must end at bit {last}, they end at bit {position}")
    require(bits_at(codes, position, left) == 0, f"the bits from bit {position} on must be 0")
    return numbers


def _decoded_one_by_one(
    codes: bytes, count: int, bound: int, position: int, end: int
) -> tuple[array[int], int]:
    code = golomb_code(count, bound)
    m, field_bits, cutoff = code
    numbers = array("Q")
    add = numbers.append
    least = 0
    # The codes are read through a window of bits, which is refilled when it holds less than a code.
    width = field_bits + 2
    window, held, at = 0, 0, position >> 3
    skip = position & 7
    size = len(codes)
    first = True
    for _ in range(count):
        quotient = 0
        while True:
            if held < width:
                chunk = codes[at : at + 64]
                if len(chunk) < 64:
                    chunk += bytes(64 - len(chunk))
                window = (window & ((1 << held) - 1)) << 512 | int.from_bytes(chunk, "big")
                held += 512
                at += 64
                if first:
                    held -= skip
                    first = False
                require(at <= size + 128, "a code must end with its list")
            held -= 1
            if not window >> held & 1:
                break
            quotient += 1
        if held < width:
            chunk = codes[at : at + 64]
            if len(chunk) < 64:
                chunk += bytes(64 - len(chunk))
            window = (window & ((1 << held) - 1)) << 512 | int.from_bytes(chunk, "big")
            held += 512
            at += 64
        held -= field_bits
        remainder = window >> held & ((1 << field_bits) - 1)
        if remainder >= cutoff:
            held -= 1
            remainder = 2 * remainder + (window >> held & 1) - cutoff
        number = least + quotient * m + remainder
        if number >= bound:
            require(8 * at - held <= end, "a code must end with its list")
            require(False, f"a number must be below {bound}, got {number}")
        least = number + 1
        add(number)
    return numbers, (8 * at - held if count else position)


def words_at_bytes(data: bytes) -> Any:
    """Returns the 8 bytes from each byte on as a number; bytes beyond the end are 0."""
    assert np is not None
    padded = data + bytes(8)
    words = np.ndarray(len(data) + 1, ">u8", padded, 0, (1,))
    return words.astype(np.uint64)


def _decoded_at_once(
    codes: bytes, count: int, bound: int, position: int
) -> Optional[tuple[array[int], int]]:
    """Decodes a valid list; returns None for an invalid one, for which the slow path raises the reason.

    The start of a code depends on all previous codes. The function therefore first computes, for every
    bit, the end of a code that starts there, and then follows these steps.
    """
    assert np is not None
    m, field_bits, cutoff = golomb_code(count, bound)
    if field_bits > _MAX_FIELD_BITS:
        return None
    size = 8 * len(codes)
    starts, quotients, remainders = [], [], []
    left = count
    while left > 0:
        if position >= size:
            return None
        first = position >> 3
        data = codes[first : first + (_WINDOW + _BEYOND >> 3)]
        bits = np.unpackbits(np.frombuffer(data, np.uint8))
        length = len(bits)
        fields = np.repeat(words_at_bytes(data)[:-1], 8) << np.tile(np.arange(8, dtype=np.uint64), len(data))
        fields = fields >> np.uint64(64 - field_bits) if field_bits else np.zeros(length, np.uint64)
        places = np.arange(length)
        # For each bit the next zero bit, or the end, where no code can start.
        zeros = np.minimum.accumulate(np.where(bits == 0, places, length)[::-1])[::-1]
        fields = np.append(fields, np.uint64(0))
        field_at = np.minimum(zeros + 1, length)
        long = fields[field_at] >= np.uint64(cutoff)
        ends = zeros + (1 + field_bits) + long
        walk = array("q", ends.tobytes())
        at = position - 8 * first
        whole = first + len(data) >= len(codes)
        stop = length if whole else _WINDOW
        begins = array("q")
        add = begins.append
        while at < stop and len(begins) < left:
            add(at)
            at = walk[at]
        if at > length and not (whole and len(begins) == left):
            return None
        begin = np.frombuffer(begins, np.int64)
        zero = zeros[begin]
        if len(begin) == 0 or zero[-1] >= length:
            return None
        field = fields[field_at[begin]]
        is_long = long[begin]
        bits = np.append(bits, np.zeros(1, np.uint8))
        more = bits[np.minimum(ends[begin] - 1, length)].astype(np.uint64)
        remainders.append(np.where(is_long, 2 * field + more - np.uint64(cutoff), field))
        quotients.append(zero - begin)
        starts.append(begin)
        left -= len(begin)
        position = 8 * first + at
    quotient = np.concatenate(quotients)
    if (int(quotient.max()) + 2) * m >= 1 << 64:
        return None
    distance = quotient.astype(np.uint64) * np.uint64(m) + np.concatenate(remainders)
    numbers = np.cumsum(distance + np.uint64(1)) - np.uint64(1)
    # A sum that overflows 64 bits is not above the previous one.
    if int(numbers[-1]) >= bound or not bool((numbers[1:] > numbers[:-1]).all()):
        return None
    return array("Q", numbers.tobytes()), position
