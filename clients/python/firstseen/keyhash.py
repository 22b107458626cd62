"""The keyed 64-bit hash of a key (docs/format/snapshot-v1.md, From a key to its value)."""

from __future__ import annotations

import os
import stat
import struct
import warnings
from array import array
from typing import Any, Sequence, Union

from ._numeric import np
from .errors import InvalidKeyError, UnsupportedError

SIPHASH_2_4, XXH3_64 = 1, 2
HASH_NAMES = {SIPHASH_2_4: "siphash-2-4", XXH3_64: "xxh3-64"}
MAX_SCOPE_BYTES = 65_536
_MASK = (1 << 64) - 1
_PUBLIC_KEY = b"firstseen-public"
_CHECK_MESSAGE = b"firstseen key check"
# The number of keys that are hashed together.
_AT_ONCE = 8192


def joined(scope: bytes, canonical: bytes) -> bytes:
    """Returns a canonical form prefixed with its scope."""
    if not scope and not canonical.startswith(b"\xff"):
        return canonical
    return joined_prefix(scope) + canonical


def joined_prefix(scope: bytes) -> bytes:
    if len(scope) > MAX_SCOPE_BYTES:
        raise InvalidKeyError(f"scope must be at most {MAX_SCOPE_BYTES} bytes, got {len(scope)}")
    length, left = bytearray(), len(scope)
    while left >= 128:
        length.append(left & 127 | 128)
        left >>= 7
    length.append(left)
    return b"\xff" + bytes(length) + scope


class KeyHash:
    """A keyed hash function. Immutable."""

    def __init__(self, algorithm: int, key: bytes) -> None:
        self.algorithm = algorithm
        self._key = key
        if algorithm == SIPHASH_2_4:
            if len(key) != 16:
                raise UnsupportedError(f"a SipHash key must be 16 bytes, got {len(key)}")
            k0, k1 = struct.unpack("<QQ", key)
            self._start: tuple[int, int, int, int] = (
                k0 ^ 0x736F6D6570736575,
                k1 ^ 0x646F72616E646F6D,
                k0 ^ 0x6C7967656E657261,
                k1 ^ 0x7465646279746573,
            )
        else:
            self._xxh3 = _Xxh3(int.from_bytes(key, "little"))
        self.key_check = self.hash(_CHECK_MESSAGE)

    @classmethod
    def siphash(cls, key: bytes) -> KeyHash:
        """Returns SipHash-2-4 with a key of 16 bytes."""
        return cls(SIPHASH_2_4, key)

    @classmethod
    def xxh3(cls, seed: int) -> KeyHash:
        """Returns 64-bit XXH3 with a seed, for trusted input only."""
        return cls(XXH3_64, (seed & _MASK).to_bytes(8, "little"))

    @classmethod
    def public(cls) -> KeyHash:
        """Returns SipHash-2-4 with the public key, the default."""
        return cls(SIPHASH_2_4, _PUBLIC_KEY)

    @classmethod
    def parse(cls, digits: str) -> KeyHash:
        """Returns SipHash-2-4 with a key of 32 hexadecimal digits."""
        # The text may be a mistyped secret, so messages do not contain it.
        required = "a hash key must be 32 hexadecimal digits"
        if len(digits) != 32:
            raise UnsupportedError(f"{required}, got {len(digits)} characters")
        for at, digit in enumerate(digits, 1):
            if digit not in "0123456789abcdefABCDEF":
                raise UnsupportedError(f"{required}, character {at} is not one")
        return cls(SIPHASH_2_4, bytes.fromhex(digits))

    @classmethod
    def from_file(cls, path: Union[str, os.PathLike[str]]) -> KeyHash:
        """Returns SipHash-2-4 with the key in a file of 32 hexadecimal digits, or the public key for `public`.

        Warns if users other than its owner can access the file.
        """
        if os.fspath(path) == "public":
            return cls.public()
        with open(path, encoding="latin-1") as file:
            _warn_of_rights(os.fstat(file.fileno()), os.fspath(path))
            text = file.read(4096)
        try:
            return cls.parse(text.strip())
        except UnsupportedError as error:
            raise UnsupportedError(f"{os.fspath(path)}: {error}") from None

    @property
    def name(self) -> str:
        return HASH_NAMES[self.algorithm]

    def __repr__(self) -> str:
        return f"{self.name} (key check {self.key_check:016x})"

    def hash(self, key: bytes) -> int:
        """Returns the hash of a key prefixed with its scope."""
        return self._siphash(key) if self.algorithm == SIPHASH_2_4 else self._xxh3.hash(key)

    def hash_each(self, keys: Sequence[bytes]) -> Any:
        """Returns the hashes of many prefixed keys, as an array of unsigned 64-bit numbers."""
        if np is None or self.algorithm != SIPHASH_2_4:
            return array("Q", map(self.hash, keys))
        hashes = np.empty(len(keys), np.uint64)
        for start in range(0, len(keys), _AT_ONCE):
            self._siphash_each(keys[start : start + _AT_ONCE], hashes[start : start + _AT_ONCE])
        return hashes

    def _siphash(self, message: bytes) -> int:
        mask = _MASK
        v0, v1, v2, v3 = self._start
        padded = message + bytes(7 - len(message) % 8) + bytes([len(message) & 255])
        words: tuple[int, ...] = struct.unpack(f"<{len(padded) // 8}Q", padded)
        # Two rounds per word, and four at the end, the same as for two words of 0.
        last = len(words)
        for at, word in enumerate(words + (0, 0)):
            if at == last:
                v2 ^= 0xFF
            v3 ^= word
            for _ in (0, 1):
                v0 = v0 + v1 & mask
                v2 = v2 + v3 & mask
                v1 = (v1 << 13 & mask | v1 >> 51) ^ v0
                v3 = (v3 << 16 & mask | v3 >> 48) ^ v2
                v0 = v0 << 32 & mask | v0 >> 32
                v2 = v2 + v1 & mask
                v0 = v0 + v3 & mask
                v1 = (v1 << 17 & mask | v1 >> 47) ^ v2
                v3 = (v3 << 21 & mask | v3 >> 43) ^ v0
                v2 = v2 << 32 & mask | v2 >> 32
            v0 ^= word
        return v0 ^ v1 ^ v2 ^ v3

    def _siphash_each(self, messages: Sequence[bytes], hashes: Any) -> None:
        """Hashes all keys word by word, longest keys first, so that the remaining keys stay contiguous."""
        assert np is not None
        lengths = np.fromiter(map(len, messages), np.int64, len(messages))
        order = np.argsort(-(lengths >> 3), kind="stable")
        starts = (np.cumsum(lengths) - lengths)[order]
        lengths = lengths[order]
        text = b"".join(messages) + bytes(8)
        # The 8 bytes from each byte on, as a number.
        words = np.ndarray(len(text) - 7, "<u8", text, 0, (1,))
        v = [np.full(len(messages), start, np.uint64) for start in self._start]
        whole = lengths >> 3
        for at in range(int(whole[0])):
            live = int(np.searchsorted(-whole, -at))
            _take_word([one[:live] for one in v], words[starts[:live] + 8 * at].astype(np.uint64))
        left = (8 * (lengths & 7)).astype(np.uint64)
        last = words[starts + 8 * whole] & ((np.uint64(1) << left) - np.uint64(1))
        _take_word(v, last | lengths.astype(np.uint64) << np.uint64(56))
        v[2] ^= np.uint64(0xFF)
        _round(v)
        _round(v)
        _round(v)
        _round(v)
        hashes[order] = v[0] ^ v[1] ^ v[2] ^ v[3]


def _take_word(v: list[Any], word: Any) -> None:
    v[3] ^= word
    _round(v)
    _round(v)
    v[0] ^= word


def _round(v: list[Any]) -> None:
    v0, v1, v2, v3 = v
    v0 += v1
    v2 += v3
    _turn(v1, 13)
    v1 ^= v0
    _turn(v3, 16)
    v3 ^= v2
    _turn(v0, 32)
    v2 += v1
    v0 += v3
    _turn(v1, 17)
    v1 ^= v2
    _turn(v3, 21)
    v3 ^= v0
    _turn(v2, 32)


def _turn(numbers: Any, bits: int) -> None:
    assert np is not None
    high = numbers >> np.uint64(64 - bits)
    numbers <<= np.uint64(bits)
    numbers |= high


def _warn_of_rights(status: os.stat_result, path: str) -> None:
    """Warns if other users can access a secret file. The group may read a file of a different owner."""
    if os.name != "posix" or not stat.S_ISREG(status.st_mode):
        return
    own = status.st_uid == os.geteuid()
    if status.st_mode & (0o077 if own else 0o037):
        mode = stat.S_IMODE(status.st_mode)
        warnings.warn(
            f"users other than its owner have access to the secret file {path} (mode {mode:04o}):"
            f" chmod {'600' if own else '640'} {path}",
            stacklevel=3,
        )


# --- XXH3, 64 bits (github.com/Cyan4973/xxHash, doc/xxhash_spec.md) ---------------------------------

_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_P32_1, _P32_2, _P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_P64_1, _P64_2, _P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P64_4, _P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_PMX_1, _PMX_2 = 0x165667919E3779F9, 0x9FB21C651E98DF25


def _u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _u64(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _mixed(left: int, right: int) -> int:
    product = left * right
    return (product ^ product >> 64) & _MASK


def _avalanche(x: int) -> int:
    x = (x ^ x >> 37) * _PMX_1 & _MASK
    return x ^ x >> 32


def _avalanche_64(x: int) -> int:
    x = (x ^ x >> 33) * _P64_2 & _MASK
    x = (x ^ x >> 29) * _P64_3 & _MASK
    return x ^ x >> 32


class _Xxh3:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        # For messages above 240 bytes.
        self.secret = b"".join(
            ((_u64(_SECRET, at) + seed) & _MASK).to_bytes(8, "little")
            + ((_u64(_SECRET, at + 8) - seed) & _MASK).to_bytes(8, "little")
            for at in range(0, 192, 16)
        )

    def hash(self, data: bytes) -> int:
        length = len(data)
        if length <= 16:
            return self._short(data, length)
        if length <= 240:
            return self._middle(data, length)
        return self._long(data, length)

    def _short(self, data: bytes, length: int) -> int:
        seed = self.seed
        if length > 8:
            flip1 = ((_u64(_SECRET, 24) ^ _u64(_SECRET, 32)) + seed) & _MASK
            flip2 = ((_u64(_SECRET, 40) ^ _u64(_SECRET, 48)) - seed) & _MASK
            low = _u64(data, 0) ^ flip1
            high = _u64(data, length - 8) ^ flip2
            swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
            return _avalanche((length + swapped + high + _mixed(low, high)) & _MASK)
        if length >= 4:
            seed ^= int.from_bytes((seed & 0xFFFFFFFF).to_bytes(4, "little"), "big") << 32
            flip = ((_u64(_SECRET, 8) ^ _u64(_SECRET, 16)) - seed) & _MASK
            x = (_u32(data, length - 4) + (_u32(data, 0) << 32)) ^ flip
            x ^= ((x << 49 | x >> 15) ^ (x << 24 | x >> 40)) & _MASK
            x = x * _PMX_2 & _MASK
            x = (x ^ (x >> 35) + length) * _PMX_2 & _MASK
            return x ^ x >> 28
        if length > 0:
            combined = data[length >> 1] << 24 | data[0] << 16 | length << 8 | data[-1]
            return _avalanche_64(combined ^ ((_u32(_SECRET, 0) ^ _u32(_SECRET, 4)) + seed) & _MASK)
        return _avalanche_64(seed ^ _u64(_SECRET, 56) ^ _u64(_SECRET, 64))

    def _mix_16(self, data: bytes, at: int, secret_at: int) -> int:
        return _mixed(
            _u64(data, at) ^ (_u64(_SECRET, secret_at) + self.seed) & _MASK,
            _u64(data, at + 8) ^ (_u64(_SECRET, secret_at + 8) - self.seed) & _MASK,
        )

    def _middle(self, data: bytes, length: int) -> int:
        x = length * _P64_1
        if length <= 128:
            for i in range((length - 1) // 32 + 1):
                x += self._mix_16(data, 16 * i, 32 * i)
                x += self._mix_16(data, length - 16 * (i + 1), 32 * i + 16)
            return _avalanche(x & _MASK)
        for i in range(8):
            x += self._mix_16(data, 16 * i, 16 * i)
        x = _avalanche(x & _MASK)
        for i in range(8, length // 16):
            x += self._mix_16(data, 16 * i, 16 * (i - 8) + 3)
        x += self._mix_16(data, length - 16, 136 - 17)
        return _avalanche(x & _MASK)

    def _long(self, data: bytes, length: int) -> int:
        secret = self.secret
        lanes = [_P32_3, _P64_1, _P64_2, _P64_3, _P64_4, _P32_2, _P64_5, _P32_1]
        stripes_a_block = (len(secret) - 64) // 8
        block = 64 * stripes_a_block
        blocks = (length - 1) // block
        for first in range(0, blocks * block, block):
            for stripe in range(stripes_a_block):
                _accumulate(lanes, data, first + 64 * stripe, secret, 8 * stripe)
            for i in range(8):
                x = lanes[i]
                lanes[i] = (x ^ x >> 47 ^ _u64(secret, len(secret) - 64 + 8 * i)) * _P32_1 & _MASK
        for stripe in range((length - 1 - block * blocks) // 64):
            _accumulate(lanes, data, block * blocks + 64 * stripe, secret, 8 * stripe)
        _accumulate(lanes, data, length - 64, secret, len(secret) - 64 - 7)
        x = length * _P64_1
        for i in range(4):
            x += _mixed(
                lanes[2 * i] ^ _u64(secret, 11 + 16 * i), lanes[2 * i + 1] ^ _u64(secret, 19 + 16 * i)
            )
        return _avalanche(x & _MASK)


def _accumulate(lanes: list[int], data: bytes, at: int, secret: bytes, secret_at: int) -> None:
    numbers = struct.unpack_from("<8Q", data, at)
    keys = struct.unpack_from("<8Q", secret, secret_at)
    for i in range(8):
        key = numbers[i] ^ keys[i]
        lanes[i ^ 1] = lanes[i ^ 1] + numbers[i] & _MASK
        lanes[i] = lanes[i] + (key & 0xFFFFFFFF) * (key >> 32) & _MASK
