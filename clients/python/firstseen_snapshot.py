#!/usr/bin/env python3
"""Reads Firstseen snapshots of format version 1; Python 3.8 or later, standard library alone.

Written from docs/format/manifest-v1.md, blob-v1.md and snapshot-v1.md, section by section:
documentation that runs, not a fast reader.

    firstseen_snapshot.py info PATH
    firstseen_snapshot.py verify PATH
    firstseen_snapshot.py query PATH [KEY...|-] [--scope SCOPE] [--hash-key-file FILE]
    firstseen_snapshot.py apply PATH OUTPUT [--from PATH]

PATH is a directory of snapshots, which stands for its newest manifest, or a manifest in one, or the
snapshot of a shard; info and verify also take a blob. verify of a manifest builds the set from its
bases, proves root and count, and reads the packs that are kept; it does not check a signature. apply
writes the snapshot of each shard into the directory OUTPUT, with --from by the packs since an earlier
manifest.

The exit status is 0 if all is well, 1 if verify finds a file invalid, 2 for anything else that is
wrong, with one line on standard error.
"""

import argparse
import bisect
import hashlib
import ipaddress
import os
import re
import stat
import struct
import sys
from fractions import Fraction
from urllib.parse import unquote, urlsplit

SNAPSHOT_MAGIC = b"\x89FSSNAP\n"
MANIFEST_MAGIC = b"\x89FSM"
BLOB_MAGIC = b"\x89FSB"
PUBLIC_HASH_KEY = b"firstseen-public"
KEY_CHECK_MESSAGE = b"firstseen key check"
HASH_NAMES = {1: "siphash-2-4", 2: "xxh3-64"}
CANONICALISER_NAMES = {0: "none", 1: "url", 2: "text"}
# The fields of a snapshot's header from requiredFlags to setNameBytes.
HEADER = "<IBBBBHHIIQdqqqQQQQQQQ32s32sQQIB"
SET_NAME_CHARACTERS = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
PACK, BASE, BASE_LIST = 1, 2, 3
BLOB_NAMES = {PACK: "a pack", BASE: "a base", BASE_LIST: "a list of bases"}
CHANGE, WHOLE = 1, 2
EXPIRES, BLOBS, HAS_PACK, SIGNED, EXTENSION = 1, 2, 4, 8, 16
MANIFEST_NAME = re.compile(r"manifest-([0-9]{10,19})\.bin")
# A scheme, an authority without a user, and a path without %00, in the characters of RFC 2396. The groups
# are the scheme, the authority and an IPv6 address in it.
DIRECTORY_URI = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*):"
    r"(//(?:[A-Za-z0-9_.!~*'(),;:$&+=-]+|\[([0-9A-Fa-f:.]+)\](?::[0-9]*)?)(?=/|$)|(?=/(?!/)|///))"
    r"([A-Za-z0-9_.!~*'(),;:$&+=@/-]|%(?!00)[0-9A-Fa-f]{2})*"
)
MAX_SHARDS = 65536
MAX_COUNT = 1 << 40
MAX_MILLIS = 253_402_300_799_999
MAX_BYTES = (1 << 31) - 1
MAX_LEB = (1 << 63) - 1
# Of sums of lengths.
MAX_TOTAL_BYTES = 1 << 53
# Packs in a row, and sections of a shard in a list of bases.
MAX_CHAIN = 4096
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


class Fields:
    """Reads fields one after the other; refuses all other forms of them."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def left(self):
        return len(self.data) - self.at

    def take(self, length, what):
        require(length <= self.left(), f"{what} needs {length} bytes, only {self.left()} are left")
        self.at += length
        return self.data[self.at - length : self.at]

    def number(self, form, what):
        """A number in a form of the module struct."""
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form), what))[0]

    def leb(self, what, least=0, most=MAX_LEB):
        number, shift = 0, 0
        while True:
            byte = self.number("B", what)
            require(shift <= 56, f"{what} must be below 2^63")
            number |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        require(byte != 0 or shift == 0, f"{what} must have no leading zeros")
        require(least <= number <= most, f"{what} must be in [{least}, {most}], got {number}")
        return number

    def set_name(self):
        name = self.take(self.number("B", "the length of the set name"), "the set name").decode("latin-1")
        require(
            1 <= len(name) <= 100 and set(name) <= SET_NAME_CHARACTERS,
            f"a set name must be 1 to 100 of the characters A-Z a-z 0-9 . _ -, got {name!r}",
        )
        return name

    def reference(self, what):
        """The digest of a blob and its length."""
        return self.take(32, f"the digest of {what}"), self.leb(f"the length of {what}", 1, MAX_BYTES)

    def end(self):
        require(self.left() == 0, f"{self.left()} bytes follow the last field")


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


def require_known(parameters):
    """Refuses a hash and a canonicaliser of which this reader does not know the name."""
    if parameters.hash_algorithm not in HASH_NAMES:
        raise Unsupported(f"the hash must be 1 or 2, got {parameters.hash_algorithm}")
    if parameters.canonicaliser not in CANONICALISER_NAMES:
        raise Unsupported(f"the canonicaliser must be 0 to 2, got {parameters.canonicaliser}")


def require_parameters(parameters):
    """The rules that the headers of snapshots and manifests share. Sets the number of shard bits."""
    shards, rate = parameters.shard_count, parameters.rate
    require(
        1 <= parameters.canonicaliser_version <= 65535,
        f"the version of the canonicaliser must be in [1, 65535], got {parameters.canonicaliser_version}",
    )
    require(
        1 <= shards <= MAX_SHARDS and shards & (shards - 1) == 0,
        f"the number of shards must be a power of two up to {MAX_SHARDS}, got {shards}",
    )
    require(0 < rate <= 0.1, f"the false-positive rate must be above 0, at most 0.1, got {rate}")
    require(
        parameters.window_start_millis <= parameters.window_end_millis, "the window must not end before it begins"
    )
    parameters.shard_bits = shards.bit_length() - 1


def require_universe(buckets, width):
    require(1 <= buckets <= 1 << 31, f"there must be 1 to 2^31 buckets, got {buckets}")
    require(1 <= width <= 1 << 62, f"a bucket must have 1 to 2^62 values, got {width}")
    require(buckets * width <= 1 << 64, f"there must be at most 2^64 values, got {buckets * width}")


def require_fits(count, buckets):
    require(
        buckets <= max(65_536, count // 8),
        f"a set of {count} values cannot have {buckets} buckets",
    )


def require_room(parameters, buckets, width, count, hash_count):
    """Whether the range of a set is right for a shard of the parameters, and for its hashes."""
    most = 64 - parameters.shard_bits
    require(buckets * width <= 1 << most, f"there must be at most 2^{most} values, got {buckets * width}")
    require(
        hash_count >= count and (hash_count == 0) == (count == 0),
        f"the number of hashes must be at least {count}, and 0 if that is, got {hash_count}",
    )
    require(
        count <= Fraction(parameters.rate) * buckets * width,
        f"a range of {buckets * width} is too small for {count} values at the rate {parameters.rate}",
    )
    require_fits(count, buckets)


def require_rate(parameters, buckets, width, hash_count):
    require(
        hash_count <= Fraction(parameters.rate) * buckets * width,
        f"a range of {buckets * width} is too small for {hash_count} keys at the rate {parameters.rate}",
    )


def shard_and_suffix(parameters, key_hash):
    bits = parameters.shard_bits
    return key_hash >> (64 - bits), key_hash << bits & (1 << 64) - 1


def hasher(parameters, hash_key):
    """The function from a scope and a key to the hash, if this reader can compute it."""
    if parameters.hash_algorithm != 1:
        raise Unsupported("the keys are hashed by xxh3-64, this program computes siphash-2-4 alone")
    if parameters.canonicaliser != 0:
        name = CANONICALISER_NAMES[parameters.canonicaliser]
        raise Unsupported(f"the keys go through the canonicaliser {name}, this program has none alone")
    if parameters.canonicaliser_version != 1:
        raise Unsupported(
            f"the canonicaliser has version {parameters.canonicaliser_version}, this program knows 1"
        )
    if siphash_2_4(hash_key, KEY_CHECK_MESSAGE) != parameters.key_check:
        raise Unsupported("the snapshot was made with another hash key")
    return lambda scope, key: siphash_2_4(hash_key, joined(scope, key))


# --- The snapshot of a shard -----------------------------------------------------------------------------------


class Snapshot:
    """An opened snapshot; opening checks everything that the specification requires of it."""

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
        self._open_sections()
        self._open_bucket_starts()

    def _read_header(self):
        data = self.data
        require(len(data) >= 12, f"a snapshot must have at least 218 bytes, got {len(data)}")
        require(data[:8] == SNAPSHOT_MAGIC, "this is no snapshot: the magic number is missing")
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
            self.reserved_short,
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
            self.reserved_long,
            self.payload_bits,
            self.bucket_starts_bytes,
            self.payload_bytes,
            self.set_digest,
            self.reserved_digest,
            self.buckets,
            self.width,
            self.sections_checksum,
            self.set_name_bytes,
        ) = struct.unpack_from(HEADER, data, 12)
        self.set_name = data[213 : size - 4].decode("latin-1")

    def _check_header(self):
        if self.required_flags:
            raise Unsupported(f"the snapshot needs features 0x{self.required_flags:08x}, of which none is known")
        if self.codec != 1:
            raise Unsupported(f"the codec must be 1, got {self.codec}")
        require_known(self)
        reserved = (self.reserved_byte, self.reserved_short, self.reserved_long)
        require(reserved == (0, 0, 0) and self.reserved_digest == bytes(32), "the reserved bytes must be 0")
        require(
            self.set_name_bytes == len(self.set_name),
            f"the set name must have {len(self.set_name)} bytes, got {self.set_name_bytes}",
        )
        require(set(self.set_name) <= SET_NAME_CHARACTERS, "the set name has a character that none may have")
        require_parameters(self)
        require(self.shard < self.shard_count, f"the shard must be below {self.shard_count}, got {self.shard}")
        require(self.sequence >= 0, f"the sequence must be at least 0, got {self.sequence}")
        require(self.hash_count < 1 << 63, "the number of hashes must be below 2^63")
        require_universe(self.buckets, self.width)
        require_room(self, self.buckets, self.width, self.count, self.hash_count)
        self.range = self.buckets * self.width

    def _open_sections(self):
        self.payload = self.sections[: self.payload_bytes]
        self.starts = self.sections[self.payload_bytes :]
        bits = self.payload_bits
        require(self.payload_bytes == (bits + 7) // 8, f"the payload must have {(bits + 7) // 8} bytes")
        require(bits_at(self.payload, bits, -bits % 8) == 0, "the padding of the payload must be zero")
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
        shard, suffix = shard_and_suffix(self, key_hash)
        if shard != self.shard:
            raise Unsupported(f"the file holds shard {self.shard} of {self.shard_count}, the key is in shard {shard}")
        if self.count == 0:
            return False
        value = suffix * self.range >> 64
        for found in self.values_of(value // self.width):
            if found >= value:
                return found == value
        return False


# --- Sections -----------------------------------------------------------------------------------


class ShardSet:
    """The set of one shard: its range, its values in ascending order, and the number of its hashes."""

    def __init__(self, manifest, shard, buckets, width, values, hash_count):
        require_room(manifest, buckets, width, len(values), hash_count)
        require_rate(manifest, buckets, width, hash_count)
        self.manifest = manifest
        self.shard = shard
        self.buckets, self.width = buckets, width
        self.values = values
        self.hash_count = hash_count
        self.digest = set_digest(buckets, width, values).digest()

    def contains_suffix(self, suffix):
        value = suffix * self.buckets * self.width >> 64
        at = bisect.bisect_left(self.values, value)
        return at < len(self.values) and self.values[at] == value


class Section:
    """What a window changed in one shard, or the whole set of the shard."""

    def __init__(self, data):
        fields = Fields(data)
        self.length = len(data)
        self.kind = fields.number("B", "the kind of a section")
        if self.kind not in (CHANGE, WHOLE):
            raise Unsupported(f"the kind of a section must be 1 or 2, got {self.kind}")
        self.hidden = fields.leb("the number of hashes that share a value", 0, MAX_COUNT)
        if self.kind == WHOLE:
            self.buckets = fields.leb("the number of buckets")
            self.width = fields.leb("the width of a bucket")
            require_universe(self.buckets, self.width)
        self.count = fields.leb("the number of values", 0, MAX_COUNT)
        self.removed = 0 if self.kind == WHOLE else fields.leb("the number of removed values", 0, MAX_COUNT)
        self.added_bits = 0 if self.kind == WHOLE else fields.leb("the number of bits of the added values")
        self.codes = fields.take(fields.left(), "the codes")
        bits = 8 * len(self.codes)
        if self.kind == WHOLE:
            require(self.count > 0 or self.hidden == 0, "a set without values must have no hashes")
            require_fits(self.count, self.buckets)
            require_bits(self.count, self.buckets * self.width, bits)
        else:
            require(self.added_bits <= bits, f"the added values must end in {bits} bits, got {self.added_bits}")
            require(self.count > 0 or self.added_bits == 0, "no values cannot have codes")
            require_bits(self.count, None, self.added_bits)
            require_bits(self.removed, None, bits - self.added_bits)

    def values(self):
        """The values of a whole set."""
        return self._numbers(self.count, self.buckets * self.width, 0)

    def verify(self):
        """Decodes a whole set; the codes of a change are checked by applying it."""
        if self.kind == WHOLE:
            self.values()

    def apply(self, before, bound):
        """The values after a change."""
        require(self.removed <= len(before), f"{len(before)} values can be removed, got {self.removed}")
        added = self._numbers(self.count, bound, 0, self.added_bits)
        removed = set(self._numbers(self.removed, len(before), self.added_bits))
        require(not set(added) & set(before), "an added value must not be there before")
        kept = [value for place, value in enumerate(before) if place not in removed]
        require(kept or added or not self.hidden, "a set without values must have no hashes")
        return sorted(kept + added)

    def _numbers(self, count, bound, position, end=None):
        """A list of numbers; without an end it is the last one, filled up to whole bytes with zeros."""
        m, field_bits, cutoff = golomb_code(count, bound)
        filled = end is None
        end = 8 * len(self.codes) if filled else end
        require_bits(count, bound, end - position)
        numbers, least = [], 0
        for _ in range(count):
            quotient = 0
            while bits_at(self.codes, position, 1):
                quotient += 1
                position += 1
            position += 1
            remainder = bits_at(self.codes, position, field_bits)
            position += field_bits
            if remainder >= cutoff:
                remainder = 2 * remainder + bits_at(self.codes, position, 1) - cutoff
                position += 1
            require(position <= end, "a code must end with its list")
            number = least + quotient * m + remainder
            require(number < bound, f"a number must be below {bound}, got {number}")
            least = number + 1
            numbers.append(number)
        left = end - position
        require(left == 0 or (filled and left < 8), f"the codes must end at bit {end}, they end at bit {position}")
        require(bits_at(self.codes, position, left) == 0, f"the bits from bit {position} on must be 0")
        return numbers


def require_bits(count, bound, bits):
    """Refuses more numbers than the bits can hold; without a bound, a number has one bit at least."""
    least = 1 if bound is None else golomb_code(count, bound)[1] + 1
    require(
        count * least <= bits and (count > 0 or bits < 8),
        f"{count} values cannot have codes of {bits} bits",
    )


def applied(manifest, shard, before, sections):
    """The set of a shard after sections, the oldest first."""
    last_whole = max((i for i, section in enumerate(sections) if section.kind == WHOLE), default=None)
    if last_whole is None:
        require(before is not None, "the section changes a set, and there is none before it")
        buckets, width, values = before.buckets, before.width, before.values
    else:
        # What stands before a whole set does not matter.
        whole = sections[last_whole]
        hash_count = whole.count + whole.hidden
        require_room(manifest, whole.buckets, whole.width, whole.count, hash_count)
        require_rate(manifest, whole.buckets, whole.width, hash_count)
        buckets, width, values = whole.buckets, whole.width, whole.values()
        sections = sections[last_whole:]
    for section in sections:
        if section.kind == CHANGE:
            values = section.apply(values, buckets * width)
    return ShardSet(manifest, shard, buckets, width, values, len(values) + sections[-1].hidden)


# --- Blobs --------------------------------------------------------------------------------------


class Blob:
    """The frame that all blobs have; `fields` reads the body. Without a manifest any kind and set will do."""

    def __init__(self, data, kind=None, manifest=None):
        self.data = data
        fields = Fields(data)
        require(data[:4] == BLOB_MAGIC, "this is no blob: the magic number is missing")
        fields.take(4, "the magic number")
        require_version(fields, "blob")
        self.kind = fields.number("B", "the kind")
        if self.kind not in BLOB_NAMES:
            raise Unsupported(f"the kind of a blob must be 1 to 3, got {self.kind}")
        self.set_name = fields.set_name()
        body = fields.take(max(0, fields.left() - 4), "the body")
        require(
            fields.number("I", "the checksum") == crc32c(data[:-4]),
            f"the checksum of the blob does not fit its {len(data)} bytes",
        )
        require(kind in (None, self.kind), f"this is {BLOB_NAMES[self.kind]}, another blob is needed")
        require(
            manifest is None or manifest.set_name == self.set_name,
            f"it must be of another set, got {self.set_name!r}",
        )
        self.fields = Fields(body)

    def verify(self):
        """Decodes what can be decoded without another blob."""
        for section in self.all_sections():
            section.verify()


class Pack(Blob):
    """What one window changed, and how a reader gets here."""

    def __init__(self, data, manifest=None):
        super().__init__(data, PACK, manifest)
        fields = self.fields
        shard_count = manifest.shard_count if manifest else MAX_SHARDS
        self.sequence = fields.leb("the sequence")
        mark = fields.number("B", "the mark of the pack before")
        require(mark <= 1, f"the mark of the pack before must be 0 or 1, got {mark}")
        self.before = fields.reference("the pack before") if mark else None
        self.kept_from = fields.leb("keptFrom", 0, MAX_TOTAL_BYTES)
        self.bases = fields.reference("the list of bases")
        self.bases_bytes = fields.leb("basesBytes", self.bases[1], MAX_TOTAL_BYTES)
        self.packs_since = fields.leb("packsSince", 0, MAX_TOTAL_BYTES)
        shards, next_shard = [], 0
        for _ in range(fields.leb("the number of sections", 1, shard_count)):
            shard = next_shard + fields.leb("the gap to the next shard", 0, shard_count - 1 - next_shard)
            shards.append((shard, fields.leb("the length of a section", 1, MAX_BYTES)))
            next_shard = shard + 1
        self.sections = {shard: Section(fields.take(length, "a section")) for shard, length in shards}
        fields.end()

    def all_sections(self):
        return list(self.sections.values())


class Base(Blob):
    """The whole set of one shard."""

    def __init__(self, data, manifest=None):
        super().__init__(data, BASE, manifest)
        self.shard = self.fields.leb("the shard")
        self.section = Section(self.fields.take(self.fields.left(), "the section"))
        require(self.section.kind == WHOLE, "a base must have a whole set")

    def all_sections(self):
        return [self.section]


class BaseList(Blob):
    """The base of each shard, and the sections since."""

    def __init__(self, data, manifest=None):
        super().__init__(data, BASE_LIST, manifest)
        fields = self.fields
        self.sequence = fields.leb("the sequence")
        shards = fields.leb("the number of shards", 1, MAX_SHARDS)
        require(manifest is None or shards == manifest.shard_count, f"there must be all shards, got {shards}")
        self.bases, lengths = [], []
        for _ in range(shards):
            length = fields.leb("the length of the base", 0, MAX_BYTES)
            self.bases.append((fields.take(32, "the digest of the base"), length) if length else None)
            count = fields.leb("the number of sections", 0, MAX_CHAIN) if length else 0
            lengths.append([fields.leb("the length of a section", 1, MAX_BYTES) for _ in range(count)])
        self.sections = [[Section(fields.take(length, "a section")) for length in each] for each in lengths]
        fields.end()

    def all_sections(self):
        return [section for sections in self.sections for section in sections]


def require_version(fields, what):
    """Version and required flags, as manifests and blobs have them."""
    version = fields.number("B", "the version")
    if version > 1:
        raise Unsupported(f"the {what} has format version {version}, this program reads version 1")
    require(version == 1, f"the format version must be 1, got {version}")
    flags = fields.number("B", "the required flags")
    if flags:
        raise Unsupported(f"the {what} needs features 0x{flags:02x}, of which none is known")


# --- Manifests ----------------------------------------------------------------------------------


class Manifest:
    """What a set is at the end of a window."""

    def __init__(self, data):
        self.data = data
        fields = Fields(data)
        require(data[:4] == MANIFEST_MAGIC, "this is no manifest: the magic number is missing")
        fields.take(4, "the magic number")
        require_version(fields, "manifest")
        parts = fields.number("B", "the parts")
        if parts & ~(EXPIRES | BLOBS | HAS_PACK | SIGNED | EXTENSION):
            raise Unsupported(f"the manifest has parts 0x{parts:02x}, of which this program knows 0x1f")
        checked = len(data) - 4 - (72 if parts & SIGNED else 0)
        require(checked >= fields.at, "the manifest ends too early")
        end = Fields(data[checked:])
        require(
            end.number("I", "the checksum") == crc32c(data[:checked]),
            "the checksum of the manifest does not fit its bytes",
        )
        self.signature_key = end.take(8, "the id of the key") if parts & SIGNED else None
        self.signature = end.take(64, "the signature") if parts & SIGNED else None
        fields.data = data[:checked]
        self._read_fields(fields, parts)
        self._check_fields()

    def _read_fields(self, fields, parts):
        self.set_name = fields.set_name()
        self.sequence = fields.leb("sequence")
        self.window_end_millis = fields.number("q", "windowEndMillis")
        self.window_start_millis = self.window_end_millis - fields.leb("the length of the window")
        require(self.window_start_millis >= -1 << 63, "the window must not begin before -2^63 ms")
        self.published_millis = fields.leb("publishedMillis", 0, MAX_MILLIS)
        self.expires_millis = None
        if parts & EXPIRES:
            self.expires_millis = self.published_millis + fields.leb("the time until the expiry", 1, MAX_MILLIS)
        self.hash_algorithm = fields.number("B", "the hash")
        self.key_check = fields.number("Q", "keyCheck")
        self.canonicaliser = fields.number("B", "the canonicaliser")
        require_known(self)
        self.canonicaliser_version = fields.leb("canonicaliserVersion")
        self.shard_count = fields.leb("shards")
        self.rate = fields.number("d", "falsePositiveRate")
        self.count = fields.leb("count")
        self.root = fields.take(32, "the root")
        self.pack = fields.reference("the pack") if parts & HAS_PACK else None
        self.pack_bytes = fields.leb("packBytes", 0, MAX_TOTAL_BYTES) if parts & HAS_PACK else 0
        self.blobs = None
        if parts & BLOBS:
            self.blobs = fields.take(fields.leb("the length of blobs", 1, 2000), "blobs").decode("latin-1")
        self.extension = None
        if parts & EXTENSION:
            # Fields that only later releases know.
            self.extension = fields.take(fields.leb("the length of the extension", 1, 4096), "the extension")
        fields.end()

    def _check_fields(self):
        require_parameters(self)
        require((self.expires_millis or 0) <= MAX_MILLIS, f"expiresMillis must be at most {MAX_MILLIS}")
        require(self.count <= MAX_COUNT, f"count must be in [0, 2^40], got {self.count}")
        if self.pack is None:
            require(self.count == 0, f"count must be 0 without a pack, got {self.count}")
        else:
            require(
                self.pack_bytes >= self.pack[1],
                f"packBytes must be at least {self.pack[1]}, got {self.pack_bytes}",
            )
        if self.blobs is not None:
            require(is_directory_uri(self.blobs), f"blobs must be the URI of a directory, got {self.blobs!r}")


def is_directory_uri(uri):
    match = DIRECTORY_URI.fullmatch(uri)
    if match is None:
        return False
    scheme, authority, address = match.group(1, 2, 3)
    try:
        ipaddress.IPv6Address(address or "::")
    except ValueError:
        return False
    return scheme != "file" or not authority


def tree_root(shards):
    """The root over the sets of all shards; None stands for a shard that never held a key."""
    leaves = [(shard.digest, shard.hash_count) if shard else (bytes(32), 0) for shard in shards]
    level = [hashlib.sha256(b"\x00" + digest + struct.pack("<Q", count)).digest() for digest, count in leaves]
    while len(level) > 1:
        level = [hashlib.sha256(b"\x01" + level[i] + level[i + 1]).digest() for i in range(0, len(level), 2)]
    return level[0]


# --- A set in a directory -----------------------------------------------------------------------


def manifest_name(sequence):
    return f"manifest-{sequence:010d}.bin"


def sequence_of(name):
    """The sequence in the name of a manifest; None for any other name."""
    match = MANIFEST_NAME.fullmatch(name)
    sequence = int(match.group(1)) if match else MAX_LEB + 1
    return sequence if sequence <= MAX_LEB and name == manifest_name(sequence) else None


class SnapshotDirectory:
    """The directory of a manifest, and the sets in it."""

    def __init__(self, path):
        self.path = path

    def newest(self):
        """The path of the newest manifest."""
        sequences = [sequence_of(name) for name in os.listdir(self.path)]
        newest = max((sequence for sequence in sequences if sequence is not None), default=None)
        if newest is None:
            raise Unsupported("there is no manifest in it")
        return os.path.join(self.path, manifest_name(newest))

    def blob(self, manifest, reference, kind):
        """A blob, checked against its reference."""
        digest, length = reference
        name = digest.hex()
        path = os.path.join(self.path, "blobs", name)
        if manifest.blobs is not None and not os.path.exists(path):
            if not manifest.blobs.startswith("file:"):
                raise Unsupported(f"the blob {name} is in {manifest.blobs}, this program reads files alone")
            path = os.path.join(unquote(urlsplit(manifest.blobs).path), name)
        data = read(path)
        require(len(data) == length, f"blob {name} must have {length} bytes, got {len(data)}")
        require(hashlib.sha256(data).digest() == digest, f"blob {name} is damaged")
        try:
            return kind(data, manifest)
        except (Malformed, Unsupported) as refusal:
            raise type(refusal)(f"blob {name}: {refusal}") from refusal

    def pack(self, manifest, reference, after=None):
        pack = self.blob(manifest, reference, Pack)
        require(
            after is None or pack.sequence < after.sequence,
            f"a pack must have a sequence above that of the one before, {pack.sequence}",
        )
        return pack

    def newest_pack(self, manifest):
        pack = self.pack(manifest, manifest.pack)
        kept_from = manifest.pack_bytes - manifest.pack[1] - pack.packs_since
        require(pack.kept_from <= kept_from, f"keptFrom must be at most {kept_from}, got {pack.kept_from}")
        return pack

    def by_bases(self, manifest):
        """The sets of all shards, from the list of bases and the packs since."""
        if manifest.pack is None:
            return self._proven(manifest, [None] * manifest.shard_count)
        newest = self.newest_pack(manifest)
        bases = self.blob(manifest, newest.bases, BaseList)
        bases_bytes = newest.bases[1] + sum(base[1] for base in bases.bases if base)
        require(
            bases_bytes == newest.bases_bytes,
            f"the list of bases and the bases must have {newest.bases_bytes} bytes, got {bases_bytes}",
        )
        packs, left = [newest], newest.packs_since
        while left > 0:
            before = packs[0].before
            require(before is not None and before[1] <= left, "the packs do not lead back to the list of bases")
            left -= before[1]
            require_short_chain(packs)
            packs.insert(0, self.pack(manifest, before, packs[0]))
        if newest.sequence == bases.sequence and len(packs) == 1:
            packs = []
        require(
            not packs or packs[0].sequence > bases.sequence,
            f"the list of bases is of sequence {bases.sequence}, the packs do not begin after it",
        )
        sets = []
        for shard, reference in enumerate(bases.bases):
            sections = []
            if reference is not None:
                base = self.blob(manifest, reference, Base)
                require(base.shard == shard, f"the base must be of shard {shard}, got {base.shard}")
                sections = [base.section] + bases.sections[shard]
            sections += [pack.sections[shard] for pack in packs if shard in pack.sections]
            sets.append(applied(manifest, shard, None, sections) if sections else None)
        return self._proven(manifest, sets)

    def by_packs(self, manifest, held):
        """The sets of all shards, from those of an earlier manifest and the packs since."""
        sets = self.by_bases(held)
        if held.root == manifest.root:
            return self._proven(manifest, sets)
        packs, left = [], manifest.pack_bytes - held.pack_bytes
        reference = manifest.pack
        while reference != held.pack:
            require(reference is not None and reference[1] <= left, "the packs do not lead back to the held set")
            left -= reference[1]
            require_short_chain(packs)
            packs.insert(0, self.pack(manifest, reference, packs[0]) if packs else self.newest_pack(manifest))
            reference = packs[0].before
        for shard, before in enumerate(sets):
            sections = [pack.sections[shard] for pack in packs if shard in pack.sections]
            if sections:
                sets[shard] = applied(manifest, shard, before, sections)
        return self._proven(manifest, sets)

    @staticmethod
    def _proven(manifest, sets):
        root = tree_root(sets)
        require(root == manifest.root, f"the shards must have the root {manifest.root.hex()}, got {root.hex()}")
        count = sum(shard.hash_count for shard in sets if shard)
        require(count == manifest.count, f"the shards must have {manifest.count} keys, got {count}")
        return sets

    def verify(self, manifest):
        """Proves the set, and reads the packs that are kept; a copy of a set need not have old ones."""
        self.by_bases(manifest)
        if manifest.pack is None:
            return
        pack = newest = self.newest_pack(manifest)
        position = manifest.pack_bytes - manifest.pack[1]
        while pack.before is not None and position > newest.kept_from:
            position -= pack.before[1]
            try:
                pack = self.pack(manifest, pack.before, pack)
            except FileNotFoundError:
                break


def require_short_chain(packs):
    require(len(packs) < MAX_CHAIN, f"a set must be reached by at most {MAX_CHAIN} packs, there are more")


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


def snapshot_bytes(shard):
    """The snapshot of the set of a shard."""
    manifest, count = shard.manifest, len(shard.values)
    m, _, _ = golomb_code(count, shard.buckets * shard.width)
    bits, starts = coded(shard.values, shard.buckets, shard.width)
    payload, starts = packed(bits), bucket_starts(starts, len(bits))
    name = manifest.set_name.encode("ascii")
    header = SNAPSHOT_MAGIC + struct.pack("<HH", 1, 217 + len(name)) + struct.pack(
        HEADER,
        0,
        1,
        0,
        manifest.hash_algorithm,
        manifest.canonicaliser,
        manifest.canonicaliser_version,
        0,
        shard.shard,
        manifest.shard_count,
        manifest.key_check,
        manifest.rate,
        manifest.sequence,
        manifest.window_start_millis,
        manifest.window_end_millis,
        shard.hash_count,
        count,
        m,
        0,
        len(bits),
        len(starts),
        len(payload),
        shard.digest,
        bytes(32),
        shard.buckets,
        shard.width,
        crc32c(payload + starts),
        len(name),
    )
    header += name
    return header + struct.pack("<I", crc32c(header)) + payload + starts


# --- The command --------------------------------------------------------------------------------


def parameter_rows(parameters):
    return {
        "set": parameters.set_name,
        "sequence": parameters.sequence,
        "window start": f"{parameters.window_start_millis} ms",
        "window end": f"{parameters.window_end_millis} ms",
        "false-positive rate": parameters.rate,
        "hash": f"{HASH_NAMES[parameters.hash_algorithm]}, key check {parameters.key_check:016x}",
        "canonicaliser": f"{CANONICALISER_NAMES[parameters.canonicaliser]} {parameters.canonicaliser_version}",
    }


def snapshot_rows(snapshot):
    size = f"payload {snapshot.payload_bytes}, bucket starts {snapshot.bucket_starts_bytes}"
    return {
        **parameter_rows(snapshot),
        "shard": f"{snapshot.shard} of {snapshot.shard_count}",
        "keys": snapshot.hash_count,
        "values": f"{snapshot.count} of {snapshot.range}, in {snapshot.buckets} buckets of {snapshot.width}",
        "golomb parameter": snapshot.m,
        "bytes": f"{len(snapshot.data)}, of which {size}",
        "set digest": snapshot.set_digest.hex(),
    }


def named(reference):
    return "none" if reference is None else f"{reference[0].hex()}, {reference[1]} bytes"


def manifest_rows(manifest):
    key = manifest.signature_key
    return {
        **parameter_rows(manifest),
        "published": f"{manifest.published_millis} ms",
        "expires": "never" if manifest.expires_millis is None else f"{manifest.expires_millis} ms",
        "shards": manifest.shard_count,
        "keys": manifest.count,
        "root": manifest.root.hex(),
        "newest pack": named(manifest.pack),
        "bytes of all packs": manifest.pack_bytes,
        "blobs": manifest.blobs or "with the manifest",
        "extension": "none" if manifest.extension is None else f"{len(manifest.extension)} bytes",
        "signature": "none" if key is None else f"of the key {key.hex()}, not checked",
    }


def blob_rows(blob):
    rows = {"kind": BLOB_NAMES[blob.kind], "set": blob.set_name, "bytes": len(blob.data)}
    sections = blob.all_sections()
    if blob.kind == BASE:
        whole = blob.section
        return {
            **rows,
            "shard": blob.shard,
            "keys": whole.count + whole.hidden,
            "values": f"{whole.count} of {whole.buckets * whole.width}, in {whole.buckets} buckets of {whole.width}",
        }
    rows["sequence"] = blob.sequence
    if blob.kind == BASE_LIST:
        bases = [base for base in blob.bases if base]
        rows["shards"] = len(blob.bases)
        rows["bases"] = f"{len(bases)}, {sum(base[1] for base in bases)} bytes"
    else:
        rows["pack before"] = named(blob.before)
        rows["kept from"] = blob.kept_from
        rows["list of bases"] = named(blob.bases)
        rows["list and bases"] = f"{blob.bases_bytes} bytes"
        rows["packs since"] = f"{blob.packs_since} bytes"
    changes = [section for section in sections if section.kind == CHANGE]
    rows["sections"] = f"{len(sections)}, {sum(section.length for section in sections)} bytes"
    rows["whole sets"] = len(sections) - len(changes)
    rows["added values"] = sum(section.count for section in changes)
    rows["removed values"] = sum(section.removed for section in changes)
    return rows


def info(opened):
    if isinstance(opened, Blob):
        rows = blob_rows(opened)
    else:
        rows = manifest_rows(opened) if isinstance(opened, Manifest) else snapshot_rows(opened)
    for name, value in rows.items():
        print(f"{name:20} {value}")


def open_blob(data):
    """A blob by its kind; without a manifest, so of any set."""
    return {PACK: Pack, BASE: Base, BASE_LIST: BaseList}[Blob(data).kind](data)


def open_path(path):
    """What a path stands for, and for a manifest its directory."""
    if os.path.isdir(path):
        path = SnapshotDirectory(path).newest()
    data = read(path)
    if data[:4] == MANIFEST_MAGIC:
        manifest = Manifest(data)
        require(
            sequence_of(os.path.basename(path)) in (None, manifest.sequence),
            f"the sequence must be that of the file's name, got {manifest.sequence}",
        )
        return manifest, SnapshotDirectory(os.path.dirname(path))
    return (open_blob(data) if data[:4] == BLOB_MAGIC else Snapshot(data)), None


def open_set(path):
    """A manifest and its directory."""
    opened, directory = open_path(path)
    if not isinstance(opened, Manifest):
        raise Unsupported("this is no manifest and no directory of snapshots")
    return opened, directory


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
    with open(path, encoding="ascii", errors="replace") as file:
        warn_of_rights(file, path)
        digits = file.read().strip()
    try:
        key = bytes.fromhex(digits)
    except ValueError:
        key = b""
    if len(key) != 16:
        raise Unsupported(f"the hash key in {path} must be 32 hexadecimal digits")
    return key


def query(path, keys, scope, hash_key):
    opened, directory = open_path(path)
    if isinstance(opened, Blob):
        raise Unsupported(f"this is {BLOB_NAMES[opened.kind]}; keys are looked up in a snapshot or a directory")
    hash_of = hasher(opened, hash_key)
    contains = opened.contains_hash if directory is None else set_contains(opened, directory.by_bases(opened))
    if not keys or keys == ["-"]:
        lines = (line.rstrip(b"\n") for line in sys.stdin.buffer)
    else:
        lines = (os.fsencode(key) for key in keys)
    for key in lines:
        # A key that is empty or too long is in no set.
        possible = 0 < len(key) <= MAX_KEY_BYTES
        present = possible and contains(hash_of(scope, key))
        sys.stdout.buffer.write(key + (b"\tpresent\n" if present else b"\tabsent\n"))
    sys.stdout.buffer.flush()


def set_contains(manifest, sets):
    def contains(key_hash):
        shard, suffix = shard_and_suffix(manifest, key_hash)
        return sets[shard] is not None and sets[shard].contains_suffix(suffix)

    return contains


def verify(path):
    try:
        opened, directory = open_path(path)
        if directory is None:
            opened.verify()
        else:
            directory.verify(opened)
    except Malformed as refusal:
        print(f"{path}: invalid: {refusal}")
        return 1
    is_signed = isinstance(opened, Manifest) and opened.signature is not None
    print(f"{path}: valid" + (", its signature is not checked" if is_signed else ""))
    return 0


def apply(path, held_path, output):
    """Writes the snapshot of each shard that ever held a key."""
    manifest, directory = open_set(path)
    if held_path is None:
        sets = directory.by_bases(manifest)
    else:
        held, _ = open_set(held_path)
        require_same_set(manifest, held)
        sets = directory.by_packs(manifest, held)
    os.makedirs(output, exist_ok=True)
    written = 0
    for shard in sets:
        if shard is not None:
            data = snapshot_bytes(shard)
            written += len(data)
            with open(os.path.join(output, f"{shard.shard}.snapshot"), "wb") as file:
                file.write(data)
    print(f"{output}: {written} bytes")


def require_same_set(manifest, held):
    names = "set_name hash_algorithm key_check canonicaliser canonicaliser_version shard_count rate".split()
    for name in names:
        if getattr(manifest, name) != getattr(held, name):
            raise Unsupported(f"the manifests must have the same {name.replace('_', ' ')}")


def main(arguments):
    parser = argparse.ArgumentParser(description="Reads Firstseen snapshots of format version 1.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="info|verify|query|apply")
    for verb in ("info", "verify", "apply", "query"):
        command = verbs.add_parser(verb)
        command.add_argument("path", metavar="PATH")
        if verb == "apply":
            command.add_argument("output", metavar="OUTPUT")
            command.add_argument("--from", dest="held", metavar="PATH", help="an earlier manifest of the directory")
        if verb == "query":
            command.add_argument("keys", metavar="KEY", nargs="*", help="- or none: one a line on standard input")
            command.add_argument("--scope", default="", help="the scope of the keys")
            command.add_argument("--hash-key-file", metavar="FILE", help="32 hexadecimal digits")
    options = parser.parse_args(arguments)
    try:
        if options.verb == "verify":
            return verify(options.path)
        if options.verb == "info":
            info(open_path(options.path)[0])
        elif options.verb == "query":
            query(options.path, options.keys, os.fsencode(options.scope), read_hash_key(options.hash_key_file))
        else:
            apply(options.path, options.held, options.output)
        return 0
    except (Malformed, Unsupported) as refusal:
        print(f"{options.path}: {refusal}", file=sys.stderr)
    except OSError as error:
        print(f"cannot open {error.filename}: {error.strerror}", file=sys.stderr)
    except ValueError as error:
        # Of a path that cannot be one, such as one with a NUL.
        print(f"{options.path!r}: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
