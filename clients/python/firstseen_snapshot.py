#!/usr/bin/env python3
"""Reads Firstseen snapshots and deltas of format version 1; Python 3.8 or later, standard library alone.

Written from docs/format/snapshot-v1.md and delta-v1.md, section by section: documentation that runs, not a
fast reader.

    firstseen_snapshot.py info FILE
    firstseen_snapshot.py verify FILE
    firstseen_snapshot.py query FILE [KEY...|-] [--scope SCOPE] [--hash-key-file FILE]
    firstseen_snapshot.py apply SNAPSHOT DELTA OUTPUT

The exit status is 0 if all is well, 1 if verify finds the file invalid, 2 for anything else that is
wrong, with one line on standard error.
"""

import argparse
import hashlib
import os
import stat
import struct
import sys
from fractions import Fraction

MAGIC = b"\x89FSSNAP\n"
PUBLIC_HASH_KEY = b"firstseen-public"
KEY_CHECK_MESSAGE = b"firstseen key check"
HASH_NAMES = {1: "siphash-2-4", 2: "xxh3-64"}
CANONICALISER_NAMES = {0: "none", 1: "url", 2: "text"}
SET_NAME_CHARACTERS = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
SNAPSHOT, DELTA = 1, 2
LN_2 = 0xB17217F7D1CF79AC
MAX_KEY_BYTES = 65536


class Malformed(Exception):
    """The file violates every version of the format."""


class Unsupported(Exception):
    """The file may be valid, but this reader cannot read it or cannot answer."""


def require(holds, sentence):
    if not holds:
        raise Malformed(sentence)


# --- Notation: bits, most significant first; CRC32C ---------------------------------------------


def bits_at(data, position, width):
    """The number in `width` bits at a bit position; 0 beyond the end."""
    if width == 0:
        return 0
    end = position + width
    chunk = data[position // 8 : (end + 7) // 8]
    missing = (end + 7) // 8 - position // 8 - len(chunk)
    number = int.from_bytes(chunk, "big") << (8 * missing)
    return number >> (-end % 8) & ((1 << width) - 1)


def ones_before(data, position):
    """How many one bits stand before a bit position, down to the nearest zero bit."""
    at = position
    while at > 0 and data[(at - 1) // 8] >> (7 - (at - 1) % 8) & 1:
        at -= 1
    return position - at


def crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC32C_TABLE = crc32c_table()


def crc32c(data):
    table = CRC32C_TABLE
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


# --- From a key to its value --------------------------------------------------------------------


def siphash_2_4(key, message):
    mask = 0xFFFFFFFFFFFFFFFF
    k0, k1 = struct.unpack("<QQ", key)
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def turn(x, bits):
        return (x << bits | x >> (64 - bits)) & mask

    def rounds(count, v0, v1, v2, v3):
        for _ in range(count):
            v0 = (v0 + v1) & mask
            v2 = (v2 + v3) & mask
            v1 = turn(v1, 13) ^ v0
            v3 = turn(v3, 16) ^ v2
            v0 = turn(v0, 32)
            v2 = (v2 + v1) & mask
            v0 = (v0 + v3) & mask
            v1 = turn(v1, 17) ^ v2
            v3 = turn(v3, 21) ^ v0
            v2 = turn(v2, 32)
        return v0, v1, v2, v3

    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        v0, v1, v2, v3 = rounds(2, v0, v1, v2, v3 ^ word)
        v0 ^= word
    v0, v1, v2, v3 = rounds(4, v0, v1, v2 ^ 0xFF, v3)
    return v0 ^ v1 ^ v2 ^ v3


def joined(scope, canonical):
    if not scope and not canonical.startswith(b"\xff"):
        return canonical
    length = b""
    left = len(scope)
    while left >= 128:
        length += bytes([left & 127 | 128])
        left >>= 7
    return b"\xff" + length + bytes([left]) + scope + canonical


# --- Derived parameters -------------------------------------------------------------------------


def golomb_code(count, bound):
    """The parameter m for a count of numbers below a bound, and the s and c derived from it."""
    m = 1
    if count:
        m = max(1, (LN_2 * 2 * bound + (count << 64)) // (count << 65))
    field_bits = m.bit_length() - 1
    return m, field_bits, (2 << field_bits) - m


def set_digest(buckets, width, values):
    """SHA-256 over the universe and the values, which may be an iterator."""
    digest = hashlib.sha256(struct.pack(">QQ", buckets, width))
    for value in values:
        digest.update(struct.pack(">Q", value))
    return digest


# --- The file -----------------------------------------------------------------------------------


class Blob:
    """The common part of snapshots and deltas: a header and one checksum over everything after it."""

    def __init__(self, data):
        self.data = data
        self._read_header()
        self._check_header()
        size = self.header_bytes + self.payload_bytes + self.bucket_starts_bytes
        require(len(data) == size, f"the file must have {size} bytes, got {len(data)}")
        self.sections = data[self.header_bytes :]
        require(
            crc32c(self.sections) == self.sections_checksum,
            f"the checksum of the sections does not fit their {len(self.sections)} bytes",
        )
        self.payload = self.sections[: self.payload_bytes]
        bits = self.payload_bits
        require(self.payload_bytes == (bits + 7) // 8, f"the payload must have {(bits + 7) // 8} bytes")
        require(bits_at(self.payload, bits, -bits % 8) == 0, "the padding of the payload must be zero")

    def _read_header(self):
        data = self.data
        require(len(data) >= 12, f"a snapshot must have at least 218 bytes, got {len(data)}")
        require(data[:8] == MAGIC, "this is no snapshot: the magic number is missing")
        version, size = struct.unpack_from("<HH", data, 8)
        if version > 1:
            raise Unsupported(f"the snapshot has format version {version}, this program reads version 1")
        require(version == 1, f"the format version must be 1, got {version}")
        require(218 <= size <= 317, f"the header must have 218 to 317 bytes, got {size}")
        require(size <= len(data), f"the header has {size} bytes, the file only {len(data)}")
        (checksum,) = struct.unpack_from("<I", data, size - 4)
        require(
            checksum == crc32c(data[: size - 4]),
            f"the checksum of the header does not fit its {size} bytes",
        )
        self.header_bytes = size
        (
            self.required_flags,
            self.codec,
            self.reserved_byte,
            self.hash_algorithm,
            self.canonicaliser,
            self.canonicaliser_version,
            self.reserved,
            self.shard,
            self.shard_count,
            self.key_check,
            self.rate,
            self.sequence,
            self.window_start_millis,
            self.window_end_millis,
            self.hash_count,
            self.count,
            self.golomb_parameter,
            self.removed_count,
            self.payload_bits,
            self.bucket_starts_bytes,
            self.payload_bytes,
            self.set_digest,
            self.parent_digest,
            self.buckets,
            self.width,
            self.sections_checksum,
            self.set_name_bytes,
        ) = struct.unpack_from("<IBBBBHHIIQdqqqQQQQQQQ32s32sQQIB", data, 12)
        self.set_name = data[213 : size - 4].decode("latin-1")
        if self.codec == DELTA:
            # In a delta these fields have another meaning.
            self.added_count = self.golomb_parameter
            self.added_bits, self.bucket_starts_bytes = self.bucket_starts_bytes, 0

    def _check_header(self):
        if self.required_flags:
            raise Unsupported(f"the snapshot needs features 0x{self.required_flags:08x}, of which none is known")
        if self.codec not in (SNAPSHOT, DELTA):
            raise Unsupported(f"the codec must be 1 or 2, got {self.codec}")
        if self.hash_algorithm not in HASH_NAMES:
            raise Unsupported(f"the hash must be 1 or 2, got {self.hash_algorithm}")
        if self.canonicaliser not in CANONICALISER_NAMES:
            raise Unsupported(f"the canonicaliser must be 0 to 2, got {self.canonicaliser}")
        require(self.reserved_byte == 0 and self.reserved == 0, "the reserved bytes must be 0")
        require(self.codec == DELTA or self.removed_count == 0, "the reserved bytes must be 0")
        require(
            self.set_name_bytes == len(self.set_name),
            f"the set name must have {len(self.set_name)} bytes, got {self.set_name_bytes}",
        )
        require(set(self.set_name) <= SET_NAME_CHARACTERS, "the set name has a character that none may have")
        has_parent = self.parent_digest != bytes(32)
        require(has_parent == (self.codec == DELTA), "a delta must have a parent digest, and nothing else")
        require(self.canonicaliser_version >= 1, "the version of the canonicaliser must be at least 1")
        shards = self.shard_count
        require(
            1 <= shards <= 65536 and shards & (shards - 1) == 0,
            f"the number of shards must be a power of two up to 65536, got {shards}",
        )
        require(self.shard < shards, f"the shard must be below {shards}, got {self.shard}")
        require(0 < self.rate <= 0.1, f"the false-positive rate must be above 0, at most 0.1, got {self.rate}")
        require(self.sequence >= 0, f"the sequence must be at least 0, got {self.sequence}")
        require(self.window_start_millis <= self.window_end_millis, "the window must not end before it begins")
        self.shard_bits = shards.bit_length() - 1
        require(1 <= self.buckets <= 1 << 31, f"there must be 1 to 2^31 buckets, got {self.buckets}")
        require(1 <= self.width <= 1 << 62, f"a bucket must have 1 to 2^62 values, got {self.width}")
        self.range = self.buckets * self.width
        require(
            self.range <= 1 << (64 - self.shard_bits),
            f"there must be at most 2^{64 - self.shard_bits} values, got {self.range}",
        )
        require(
            self.hash_count >= self.count and (self.hash_count == 0) == (self.count == 0),
            f"the number of hashes must be at least {self.count}, and 0 if that is, got {self.hash_count}",
        )
        require(self.hash_count < 1 << 63, "the number of hashes must be below 2^63")
        require(
            self.count <= Fraction(self.rate) * self.range,
            f"a range of {self.range} is too small for {self.count} values at the rate {self.rate}",
        )
        require(
            self.buckets <= max(65_536, self.count // 8),
            f"a set of {self.count} values cannot have {self.buckets} buckets",
        )


class Snapshot(Blob):
    """An opened snapshot; opening checks everything that the specification requires of it."""

    def __init__(self, data):
        super().__init__(data)
        require(self.codec == SNAPSHOT, "this is a delta, a snapshot is needed")
        self._open_sections()
        self._open_bucket_starts()

    def _open_sections(self):
        self.starts = self.sections[self.payload_bytes :]
        bits = self.payload_bits
        n = self.count
        self.m, self.field_bits, self.cutoff = golomb_code(n, self.range)
        require(
            self.m == self.golomb_parameter,
            f"the Golomb parameter must be {self.m}, got {self.golomb_parameter}",
        )
        require(
            n <= bits // (self.field_bits + 1),
            f"{n} values need at least {n * (self.field_bits + 1)} bits, the payload has {bits}",
        )
        require(n > 0 or bits == 0, f"the payload of an empty set must have 0 bits, got {bits}")

    def _open_bucket_starts(self):
        if self.buckets <= 1:
            require(not self.starts, f"the bucket starts must have 0 bytes, got {len(self.starts)}")
            return
        require(len(self.starts) >= 18, f"the bucket starts must have at least 18 bytes, got {len(self.starts)}")
        self.group_base, self.member_base, self.group_width, self.member_width = struct.unpack(
            "<qqBB", self.starts[-18:]
        )
        require(self.group_width <= 40 and self.member_width <= 40, "a bucket start must have at most 40 bits")
        self.record_bits = self.group_width + 7 * self.member_width
        self.group_count = (self.buckets + 7) // 8
        self.slope = (self.payload_bits << 19) // self.buckets
        bits = self.group_count * self.record_bits + self.group_width
        require(
            len(self.starts) == (bits + 7) // 8 + 18,
            f"the bucket starts must have {(bits + 7) // 8 + 18} bytes, got {len(self.starts)}",
        )
        require(bits_at(self.starts, bits, -bits % 8) == 0, "the padding of the bucket starts must be zero")
        self._check_bucket_starts()

    def _check_bucket_starts(self):
        mean = self.payload_bits // self.buckets
        of_groups, of_members = [], []
        before = 0
        for bucket in range(8 * self.group_count + 1):
            start = self.start(bucket)
            if bucket < self.buckets:
                sound = before <= start <= self.payload_bits and (bucket > 0 or start == 0)
            else:
                sound = start == self.payload_bits + (bucket - self.buckets) * mean
            require(sound, f"bucket {bucket} must not begin at bit {start}")
            before = start
            group, member = divmod(bucket, 8)
            if member == 0:
                of_groups.append(start - (group * self.slope >> 16))
            else:
                begin, end = self.start(8 * group), self.start(8 * group + 8)
                of_members.append(start - begin - ((end - begin) * member >> 3))
        for numbers, base, width in (
            (of_groups, self.group_base, self.group_width),
            (of_members, self.member_base, self.member_width),
        ):
            require(
                min(numbers) == base and (max(numbers) - base).bit_length() == width,
                "the bucket starts must be in their least form",
            )

    def start(self, bucket):
        """The bit position in the payload at which a bucket begins."""
        if self.buckets <= 1:
            return bucket * self.payload_bits
        group, member = divmod(bucket, 8)
        begin = self._group_start(group)
        if member == 0:
            return begin
        span = self._group_start(group + 1) - begin
        position = group * self.record_bits + self.group_width + (member - 1) * self.member_width
        deviation = self.member_base + bits_at(self.starts, position, self.member_width)
        return begin + (span * member >> 3) + deviation

    def _group_start(self, group):
        field = bits_at(self.starts, group * self.record_bits, self.group_width)
        return (group * self.slope >> 16) + self.group_base + field

    def lower(self, bucket):
        """The least value of a bucket."""
        return bucket * self.width

    def values_of(self, bucket):
        """The values of a bucket, ascending; refuses codes that no writer produces."""
        begin, end = self.start(bucket), self.start(bucket + 1)
        least, limit = self.lower(bucket), self.lower(bucket + 1)
        while begin < end:
            field = bits_at(self.payload, begin, self.field_bits)
            begin += self.field_bits
            quotient = ones_before(self.payload, end)
            end -= quotient + 1
            remainder = field
            if field >= self.cutoff:
                end -= 1
                remainder = 2 * field - self.cutoff + (bits_at(self.payload, end, 1) if end >= 0 else 0)
            require(begin <= end, f"the codes of bucket {bucket} must fill it")
            value = least + quotient * self.m + remainder
            require(value < limit, f"a value of bucket {bucket} must be below {limit}, got {value}")
            least = value + 1
            yield value

    def values(self):
        for bucket in range(self.buckets):
            yield from self.values_of(bucket)

    def verify(self):
        """Decodes everything and checks that the content matches the header."""
        digest = set_digest(self.buckets, self.width, self._counted_values())
        require(
            digest.digest() == self.set_digest,
            f"the set digest must be {digest.hexdigest()}, got {self.set_digest.hex()}",
        )

    def _counted_values(self):
        count = 0
        for value in self.values():
            count += 1
            require(count <= self.count, f"the payload must hold {self.count} values, got more")
            yield value
        require(count == self.count, f"the payload must hold {self.count} values, got {count}")

    def contains_hash(self, key_hash):
        """Whether the set holds a hash; refuses a hash of another shard."""
        shard = key_hash >> (64 - self.shard_bits)
        if shard != self.shard:
            raise Unsupported(f"the file holds shard {self.shard} of {self.shard_count}, the key is in shard {shard}")
        if self.count == 0:
            return False
        suffix = key_hash << self.shard_bits & (1 << 64) - 1
        value = suffix * self.range >> 64
        for found in self.values_of(value // self.width):
            if found >= value:
                return found == value
        return False

    def hasher(self, hash_key):
        """The function from a scope and a key to the hash, if this reader can compute it."""
        if self.hash_algorithm != 1:
            raise Unsupported("the keys are hashed by xxh3-64, this program computes siphash-2-4 alone")
        if self.canonicaliser != 0:
            name = CANONICALISER_NAMES[self.canonicaliser]
            raise Unsupported(f"the keys go through the canonicaliser {name}, this program has none alone")
        if self.canonicaliser_version != 1:
            raise Unsupported(f"the canonicaliser has version {self.canonicaliser_version}, this program knows 1")
        if siphash_2_4(hash_key, KEY_CHECK_MESSAGE) != self.key_check:
            raise Unsupported("the snapshot was made with another hash key")
        return lambda scope, key: siphash_2_4(hash_key, joined(scope, key))


# --- Deltas -------------------------------------------------------------------------------------


class Delta(Blob):
    """An opened delta; its codes are checked by applying it."""

    def __init__(self, data):
        super().__init__(data)
        require(self.codec == DELTA, "this is a snapshot, a delta is needed")
        a, r, n = self.added_count, self.removed_count, self.count
        require(a <= n, f"of {n} values at most all can have been added, got {a}")
        require(self.added_bits <= self.payload_bits, "the added values must end in the payload")
        self.parent_count = n - a + r
        self._require_room(a, self.range, self.added_bits)
        self._require_room(r, self.parent_count, self.payload_bits - self.added_bits)

    @staticmethod
    def _require_room(count, bound, bits):
        _, field_bits, _ = golomb_code(count, bound)
        require(
            count <= bits // (field_bits + 1) and (count > 0 or bits == 0),
            f"{bits} bits cannot be the codes of {count} numbers",
        )

    def added(self):
        return self._numbers(self.added_count, self.range, 0, self.added_bits)

    def removed(self):
        """The places of the removed values among those of the parent."""
        return self._numbers(self.removed_count, self.parent_count, self.added_bits, self.payload_bits)

    def _numbers(self, count, bound, position, end):
        m, field_bits, cutoff = golomb_code(count, bound)
        least = 0
        for _ in range(count):
            quotient = 0
            while bits_at(self.payload, position, 1):
                quotient += 1
                position += 1
            position += 1
            remainder = bits_at(self.payload, position, field_bits)
            position += field_bits
            if remainder >= cutoff:
                remainder = 2 * remainder + bits_at(self.payload, position, 1) - cutoff
                position += 1
            require(position <= end, "a code must end with its list")
            number = least + quotient * m + remainder
            require(number < bound, f"a number must be below {bound}, got {number}")
            least = number + 1
            yield number
        require(position == end, f"the codes must end at bit {end}, they end at bit {position}")

    def verify(self):
        """Decodes everything; the resulting set is checked by applying the delta."""
        for _ in self.added():
            pass
        for _ in self.removed():
            pass

    def apply(self, parent):
        """The bytes of the snapshot that the delta leads to."""
        if parent.set_digest != self.parent_digest:
            raise Unsupported(
                f"the delta changes the set {self.parent_digest.hex()}, "
                f"it cannot be applied to the set {parent.set_digest.hex()}"
            )
        # Must be equal: hash, canonicaliser and its version; shards, key check and rate; universe; set name.
        for begin, end in ((18, 22), (24, 48), (192, 208), (212, self.header_bytes - 4)):
            if parent.data[begin:end] != self.data[begin:end]:
                raise Unsupported("the delta changes a snapshot of another set or shard")
        require(
            parent.count == self.parent_count,
            f"the delta changes a set of {self.parent_count} values, the parent has {parent.count}",
        )
        added, removed = list(self.added()), set(self.removed())
        before = list(parent.values())
        require(not set(added) & set(before), "an added value must not be in the parent")
        kept = [value for place, value in enumerate(before) if place not in removed]
        values = sorted(kept + added)
        digest = set_digest(self.buckets, self.width, values)
        require(
            digest.digest() == self.set_digest,
            f"the delta must lead to the set {self.set_digest.hex()}, it leads to {digest.hexdigest()}",
        )
        return self._snapshot(values)

    def _snapshot(self, values):
        m, _, _ = golomb_code(len(values), self.range)
        bits, starts = coded(values, self.buckets, self.width)
        payload = packed(bits)
        starts = bucket_starts(starts, len(bits))
        # The header of the delta except codec, sections and parent.
        header = bytearray(self.data[: self.header_bytes])
        header[16] = SNAPSHOT
        struct.pack_into("<QQQQQ", header, 88, m, 0, len(bits), len(starts), len(payload))
        header[160:192] = bytes(32)
        struct.pack_into("<I", header, 208, crc32c(payload + starts))
        struct.pack_into("<I", header, len(header) - 4, crc32c(header[:-4]))
        return bytes(header) + payload + starts


# --- Writing; bits as text, in file order -------------------------------------------------------


def in_bits(number, width):
    return format(number, "b").zfill(width) if width else ""


def packed(bits):
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big") if bits else b""


def coded(values, buckets, width):
    """The payload, and the bit position where each bucket begins."""
    m, field_bits, cutoff = golomb_code(len(values), buckets * width)
    of_buckets = [[] for _ in range(buckets)]
    for value in values:
        of_buckets[value // width].append(value)
    payload, starts, length = [], [], 0
    for bucket, members in enumerate(of_buckets):
        fields, prefixes = "", ""
        least = bucket * width
        for value in members:
            quotient, remainder = divmod(value - least, m)
            prefixes += "1" * quotient + "0"
            if remainder >= cutoff:
                prefixes += str((remainder + cutoff) % 2)
                remainder = (remainder + cutoff) // 2
            fields += in_bits(remainder, field_bits)
            least = value + 1
        starts.append(length)
        payload.append(fields + prefixes[::-1])
        length += len(payload[-1])
    return "".join(payload), starts


def bucket_starts(starts, payload_bits):
    """The section of bucket starts."""
    buckets = len(starts)
    if buckets <= 1:
        return b""
    groups = (buckets + 7) // 8
    mean = payload_bits // buckets
    starts = starts + [payload_bits + t * mean for t in range(8 * groups + 1 - buckets)]
    slope = (payload_bits << 19) // buckets
    of_groups = [starts[8 * j] - (j * slope >> 16) for j in range(groups + 1)]
    of_members = [
        starts[8 * j + k] - starts[8 * j] - ((starts[8 * j + 8] - starts[8 * j]) * k >> 3)
        for j in range(groups)
        for k in range(1, 8)
    ]
    group_base, member_base = min(of_groups), min(of_members)
    group_width = (max(of_groups) - group_base).bit_length()
    member_width = (max(of_members) - member_base).bit_length()
    bits = []
    for j in range(groups):
        bits.append(in_bits(of_groups[j] - group_base, group_width))
        bits += [in_bits(member - member_base, member_width) for member in of_members[7 * j : 7 * j + 7]]
    bits.append(in_bits(of_groups[groups] - group_base, group_width))
    return packed("".join(bits)) + struct.pack("<qqBB", group_base, member_base, group_width, member_width)


# --- The command --------------------------------------------------------------------------------


def info(blob):
    rows = {
        "set": blob.set_name,
        "sequence": blob.sequence,
        "window start": f"{blob.window_start_millis} ms",
        "window end": f"{blob.window_end_millis} ms",
        "shard": f"{blob.shard} of {blob.shard_count}",
        "keys": blob.hash_count,
        "values": f"{blob.count} of {blob.range}, in {blob.buckets} buckets of {blob.width}",
        "false-positive rate": blob.rate,
        "hash": f"{HASH_NAMES[blob.hash_algorithm]}, key check {blob.key_check:016x}",
        "canonicaliser": f"{CANONICALISER_NAMES[blob.canonicaliser]} {blob.canonicaliser_version}",
    }
    if isinstance(blob, Delta):
        rows["added values"] = blob.added_count
        rows["removed values"] = f"{blob.removed_count} of {blob.parent_count}"
        rows["bytes"] = f"{len(blob.data)}, of which payload {blob.payload_bytes}"
        rows["parent digest"] = blob.parent_digest.hex()
    else:
        rows["golomb parameter"] = blob.m
        rows["bytes"] = (
            f"{len(blob.data)}, of which payload {blob.payload_bytes}, bucket starts {blob.bucket_starts_bytes}"
        )
    rows["set digest"] = blob.set_digest.hex()
    for name, value in rows.items():
        print(f"{name:20} {value}")


def open_blob(data):
    """A snapshot or a delta, by its codec; either detects damage."""
    return Delta(data) if len(data) > 16 and data[16] == DELTA else Snapshot(data)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def warn_of_rights(file, path):
    """Warns if others may use a secret file of ours; the group may read a file of another owner."""
    status = os.fstat(file.fileno())
    if os.name != "posix" or not stat.S_ISREG(status.st_mode):
        return
    own = status.st_uid == os.geteuid()
    if status.st_mode & (0o077 if own else 0o037):
        mode = stat.S_IMODE(status.st_mode)
        print(
            f"warning: others than its owner have rights to the secret file {path} (mode {mode:04o}):"
            f" chmod {'600' if own else '640'} {path}",
            file=sys.stderr,
        )


def read_hash_key(path):
    if path is None:
        return PUBLIC_HASH_KEY
    with open(path, encoding="ascii") as file:
        warn_of_rights(file, path)
        digits = file.read().strip()
    try:
        key = bytes.fromhex(digits)
    except ValueError:
        key = b""
    if len(key) != 16:
        raise Unsupported(f"the hash key in {path} must be 32 hexadecimal digits")
    return key


def query(snapshot, keys, scope, hash_key):
    hash_of = snapshot.hasher(hash_key)
    if not keys or keys == ["-"]:
        lines = (line.rstrip(b"\n") for line in sys.stdin.buffer)
    else:
        lines = (os.fsencode(key) for key in keys)
    for key in lines:
        # A key that is empty or too long is in no set.
        possible = 0 < len(key) <= MAX_KEY_BYTES
        present = possible and snapshot.contains_hash(hash_of(scope, key))
        sys.stdout.buffer.write(key + (b"\tpresent\n" if present else b"\tabsent\n"))
    sys.stdout.buffer.flush()


def look(options):
    """The verbs about one file."""
    data = read(options.file)
    try:
        blob = Snapshot(data) if options.verb == "query" else open_blob(data)
        if options.verb == "verify":
            blob.verify()
            print(f"{options.file}: valid")
    except Malformed as refusal:
        if options.verb != "verify":
            raise
        print(f"{options.file}: invalid: {refusal}")
        return 1
    if options.verb == "info":
        info(blob)
    elif options.verb == "query":
        query(blob, options.keys, os.fsencode(options.scope), read_hash_key(options.hash_key_file))
    return 0


def main(arguments):
    parser = argparse.ArgumentParser(description="Reads Firstseen snapshots and deltas of format version 1.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="info|verify|query|apply")
    for verb in ("info", "verify", "query"):
        command = verbs.add_parser(verb)
        command.add_argument("file", metavar="FILE")
    command.add_argument("keys", metavar="KEY", nargs="*", help="- or none means one a line on standard input")
    command.add_argument("--scope", default="", help="the scope of the keys")
    command.add_argument("--hash-key-file", metavar="FILE", help="32 hexadecimal digits")
    command = verbs.add_parser("apply")
    command.add_argument("file", metavar="SNAPSHOT")
    command.add_argument("delta", metavar="DELTA")
    command.add_argument("output", metavar="OUTPUT")
    options = parser.parse_args(arguments)
    place = options.file
    try:
        if options.verb == "apply":
            parent = Snapshot(read(options.file))
            place = options.delta
            child = Delta(read(options.delta)).apply(parent)
            with open(options.output, "wb") as file:
                file.write(child)
            print(f"{options.output}: {len(child)} bytes")
            return 0
        return look(options)
    except (Malformed, Unsupported) as refusal:
        print(f"{place}: {refusal}", file=sys.stderr)
    except OSError as error:
        print(f"cannot open {error.filename}: {error.strerror}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
