"""Primitives of the formats: bits (most significant first), fields, CRC32C."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from ._numeric import np
from .errors import MalformedError

MAX_BYTES = (1 << 31) - 1
MAX_LEB = (1 << 63) - 1
# Limit of sums of lengths.
MAX_TOTAL_BYTES = 1 << 53
_SET_NAME_CHARACTERS = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
)


def require(holds: Any, message: str) -> None:
    """Raises MalformedError if a rule of the format does not hold."""
    if not holds:
        raise MalformedError(message)


def bits_at(data: bytes, position: int, width: int) -> int:
    """Returns the number in `width` bits at a bit position; bits beyond the end are 0."""
    if width == 0:
        return 0
    end = position + width
    chunk = data[position >> 3 : (end + 7) >> 3]
    missing = ((end + 7) >> 3) - (position >> 3) - len(chunk)
    number = int.from_bytes(chunk, "big") << (8 * missing)
    return number >> (-end % 8) & ((1 << width) - 1)


def ones_before(data: bytes, position: int) -> int:
    """Returns the number of consecutive one bits before a bit position."""
    at = position
    while at > 0 and data[(at - 1) >> 3] >> (7 - (at - 1) % 8) & 1:
        at -= 1
    return position - at


class Reference(NamedTuple):
    """The SHA-256 of a blob and its length in bytes."""

    digest: bytes
    length: int

    @property
    def name(self) -> str:
        return self.digest.hex()


class Fields:
    """Reads consecutive fields and rejects non-canonical encodings."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def left(self) -> int:
        return len(self.data) - self.at

    def take(self, length: int, what: str) -> bytes:
        require(length <= self.left(), f"{what} needs {length} bytes, only {self.left()} are left")
        self.at += length
        return self.data[self.at - length : self.at]

    def _unpacked(self, form: str, what: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form), what))[0]

    def u8(self, what: str) -> int:
        return int(self._unpacked("<B", what))

    def u32(self, what: str) -> int:
        return int(self._unpacked("<I", what))

    def u64(self, what: str) -> int:
        return int(self._unpacked("<Q", what))

    def i64(self, what: str) -> int:
        return int(self._unpacked("<q", what))

    def f64(self, what: str) -> float:
        return float(self._unpacked("<d", what))

    def leb(self, what: str, least: int = 0, most: int = MAX_LEB) -> int:
        number, shift = 0, 0
        while True:
            byte = self.u8(what)
            require(shift <= 56, f"{what} must be below 2^63")
            number |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        require(byte != 0 or shift == 0, f"{what} must have no leading zeros")
        require(least <= number <= most, f"{what} must be in [{least}, {most}], got {number}")
        return number

    def set_name(self) -> str:
        name = self.take(self.u8("the length of the set name"), "the set name")
        require_set_name(name)
        return name.decode("ascii")

    def reference(self, what: str) -> Reference:
        return Reference(
            self.take(32, f"the digest of {what}"), self.leb(f"the length of {what}", 1, MAX_BYTES)
        )

    def end(self) -> None:
        require(self.left() == 0, f"{self.left()} bytes follow the last field")


def require_set_name(name: bytes) -> None:
    require(
        1 <= len(name) <= 100 and _SET_NAME_CHARACTERS.issuperset(name),
        f"a set name must be 1 to 100 of the characters A-Z a-z 0-9 . _ -, got {name!r}",
    )


def _crc32c_table() -> list[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return table


_CRC32C = _crc32c_table()
_LANES = 1024


def crc32c(data: bytes) -> int:
    """Returns the CRC-32C checksum (RFC 3720)."""
    crc, done = 0xFFFFFFFF, 0
    if np is not None and len(data) >= 16 * _LANES:
        crc, done = _crc32c_of_lanes(data)
    table = _CRC32C
    for byte in data[done:]:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _crc32c_of_lanes(data: bytes) -> tuple[int, int]:
    """Returns the register after the bytes that fill lanes of equal length, and their number.

    The register is linear in the data: the register of two lanes is the first lane's register,
    advanced by the length of the second lane in zero bytes, XOR the second lane's register from 0.
    """
    assert np is not None
    length = len(data) // _LANES
    lanes = np.frombuffer(data, np.uint8, _LANES * length).reshape(_LANES, length).T.copy()
    table = np.array(_CRC32C, np.uint32)
    crc = np.zeros(_LANES, np.uint32)
    crc[0] = 0xFFFFFFFF
    for row in lanes:
        crc = table[(crc ^ row) & 0xFF] ^ crc >> 8
    moved = _moved_by(length)
    while len(crc) > 1:
        crc = _applied(moved, crc[0::2]) ^ crc[1::2]
        moved = _applied(moved, moved)
    return int(crc[0]), _LANES * length


def _moved_by(zeros: int) -> Any:
    """Returns the effect of a number of zero bytes on each of the 32 bits of a register."""
    assert np is not None
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    table = np.array(_CRC32C, np.uint32)
    power, moved = table[bits & 0xFF] ^ bits >> 8, bits
    while zeros:
        if zeros & 1:
            moved = _applied(power, moved)
        power = _applied(power, power)
        zeros >>= 1
    return moved


def _applied(columns: Any, registers: Any) -> Any:
    """Applies a linear map, given as the images of the bits, to many registers."""
    assert np is not None
    result = np.zeros_like(registers)
    for bit in range(32):
        result ^= columns[bit] * (registers >> np.uint32(bit) & np.uint32(1))
    return result
