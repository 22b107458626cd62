#!/usr/bin/env python3
"""Reads Firstseen snapshot files of format version 1; Python 3.8 or later, standard library alone.

Written from docs/format/snapshot-v1.md, section by section: documentation that runs, not a fast reader.

    firstseen_snapshot.py info FILE
    firstseen_snapshot.py verify FILE
    firstseen_snapshot.py query FILE [KEY...|-] [--scope SCOPE] [--hash-key-file FILE]

The exit status is 0 if all is well, 1 if verify finds the file invalid, 2 for anything else that is
wrong, with one line on standard error.
"""

import argparse
import hashlib
import math
import os
import struct
import sys

MAGIC = b"\x89FSSNAP\n"
PUBLIC_HASH_KEY = b"firstseen-public"
KEY_CHECK_MESSAGE = b"firstseen key check"
HASH_NAMES = {1: "siphash-2-4", 2: "xxh3-64"}
CANONICALISER_NAMES = {0: "none", 1: "url", 2: "text"}
SET_NAME_CHARACTERS = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
LN_2 = 0xB17217F7D1CF79AC
MAX_KEY_BYTES = 65536


class Malformed(Exception):
    """No version of the format allows this."""


class Unsupported(Exception):
    """It may be sound, but this reader cannot read it, or cannot answer."""


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


# --- The file -----------------------------------------------------------------------------------


class Snapshot:
    """An opened snapshot; opening checks all that the specification says of it."""

    def __init__(self, data):
        self.data = data
        self._read_header()
        self._check_header()
        self._open_sections()
        self._open_bucket_starts()

    def _read_header(self):
        data = self.data
        require(len(data) >= 12, f"a snapshot must have at least 202 bytes, got {len(data)}")
        require(data[:8] == MAGIC, "this is no snapshot: the magic number is missing")
        version, size = struct.unpack_from("<HH", data, 8)
        if version > 1:
            raise Unsupported(f"the snapshot has format version {version}, this program reads version 1")
        require(version == 1, f"the format version must be 1, got {version}")
        require(202 <= size <= 301, f"the header must have 202 to 301 bytes, got {size}")
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
            self.value_bits,
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
            self.bucket_count,
            self.payload_bits,
            self.bucket_starts_bytes,
            self.payload_bytes,
            self.set_digest,
            self.parent_digest,
            self.sections_checksum,
            self.set_name_bytes,
        ) = struct.unpack_from("<IBBBBHHIIQdqqqQQQQQQQ32s32sIB", data, 12)
        self.set_name = data[197 : size - 4].decode("latin-1")

    def _check_header(self):
        if self.required_flags:
            raise Unsupported(f"the snapshot needs features 0x{self.required_flags:08x}, of which none is known")
        if self.codec != 1:
            raise Unsupported(f"the codec must be 1, got {self.codec}")
        if self.hash_algorithm not in HASH_NAMES:
            raise Unsupported(f"the hash must be 1 or 2, got {self.hash_algorithm}")
        if self.canonicaliser not in CANONICALISER_NAMES:
            raise Unsupported(f"the canonicaliser must be 0 to 2, got {self.canonicaliser}")
        require(self.reserved == 0, "the reserved bytes must be 0")
        require(
            self.set_name_bytes == len(self.set_name),
            f"the set name must have {len(self.set_name)} bytes, got {self.set_name_bytes}",
        )
        require(set(self.set_name) <= SET_NAME_CHARACTERS, "the set name has a character that none may have")
        require(self.parent_digest == bytes(32), "a snapshot of codec 1 must have no parent digest")
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
        require(
            1 <= self.value_bits <= 64 - self.shard_bits,
            f"a value must have 1 to {64 - self.shard_bits} bits, got {self.value_bits}",
        )
        require(
            self.hash_count >= self.count and (self.hash_count == 0) == (self.count == 0),
            f"the number of hashes must be at least {self.count}, and 0 if that is, got {self.hash_count}",
        )
        require(self.hash_count < 1 << 63, "the number of hashes must be below 2^63")
        require(
            math.ldexp(self.rate, self.value_bits) >= self.count,
            f"values of {self.value_bits} bits are too short for {self.count} values at the rate {self.rate}",
        )

    def _open_sections(self):
        size = self.header_bytes + self.payload_bytes + self.bucket_starts_bytes
        require(len(self.data) == size, f"the file must have {size} bytes, got {len(self.data)}")
        sections = self.data[self.header_bytes :]
        require(
            crc32c(sections) == self.sections_checksum,
            f"the checksum of the sections does not fit their {len(sections)} bytes",
        )
        self.payload = sections[: self.payload_bytes]
        self.starts = sections[self.payload_bytes :]
        bits = self.payload_bits
        require(self.payload_bytes == (bits + 7) // 8, f"the payload must have {(bits + 7) // 8} bytes")
        require(bits_at(self.payload, bits, -bits % 8) == 0, "the padding of the payload must be zero")
        n = self.count
        self.m = 1
        if n:
            self.m = max(1, ((LN_2 << (self.value_bits + 1)) + (n << 64)) // (n << 65))
        require(
            self.m == self.golomb_parameter,
            f"the Golomb parameter must be {self.m}, got {self.golomb_parameter}",
        )
        self.field_bits = self.m.bit_length() - 1
        self.cutoff = (2 << self.field_bits) - self.m
        per_bucket = 38 if self.field_bits <= 10 else 42
        buckets = -(-n // per_bucket)
        require(
            buckets == self.bucket_count,
            f"the number of buckets must be {buckets}, got {self.bucket_count}",
        )
        require(
            n <= bits // (self.field_bits + 1),
            f"{n} values need at least {n * (self.field_bits + 1)} bits, the payload has {bits}",
        )
        require(n > 0 or bits == 0, f"the payload of an empty set must have 0 bits, got {bits}")

    def _open_bucket_starts(self):
        if self.bucket_count <= 1:
            require(not self.starts, f"the bucket starts must have 0 bytes, got {len(self.starts)}")
            return
        require(len(self.starts) >= 18, f"the bucket starts must have at least 18 bytes, got {len(self.starts)}")
        self.group_base, self.member_base, self.group_width, self.member_width = struct.unpack(
            "<qqBB", self.starts[-18:]
        )
        require(self.group_width <= 40 and self.member_width <= 40, "a bucket start must have at most 40 bits")
        self.record_bits = self.group_width + 7 * self.member_width
        self.group_count = (self.bucket_count + 7) // 8
        self.slope = (self.payload_bits << 19) // self.bucket_count
        bits = self.group_count * self.record_bits + self.group_width
        require(
            len(self.starts) == (bits + 7) // 8 + 18,
            f"the bucket starts must have {(bits + 7) // 8 + 18} bytes, got {len(self.starts)}",
        )
        require(bits_at(self.starts, bits, -bits % 8) == 0, "the padding of the bucket starts must be zero")
        self._check_bucket_starts()

    def _check_bucket_starts(self):
        mean = self.payload_bits // self.bucket_count
        of_groups, of_members = [], []
        before = 0
        for bucket in range(8 * self.group_count + 1):
            start = self.start(bucket)
            if bucket < self.bucket_count:
                sound = before <= start <= self.payload_bits and (bucket > 0 or start == 0)
            else:
                sound = start == self.payload_bits + (bucket - self.bucket_count) * mean
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
        if self.bucket_count <= 1:
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
        return -(-(bucket << self.value_bits) // self.bucket_count)

    def values_of(self, bucket):
        """The values of a bucket, ascending; refuses what a writer would not have written."""
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

    def verify(self):
        """Decodes everything and proves that the file is what its header says."""
        digest = hashlib.sha256()
        count = 0
        for bucket in range(self.bucket_count):
            for value in self.values_of(bucket):
                count += 1
                require(count <= self.count, f"the payload must hold {self.count} values, got more")
                digest.update(value.to_bytes(8, "big"))
        require(count == self.count, f"the payload must hold {self.count} values, got {count}")
        require(
            digest.digest() == self.set_digest,
            f"the set digest must be {digest.hexdigest()}, got {self.set_digest.hex()}",
        )

    def contains_hash(self, key_hash):
        """Whether the set holds a hash; of one that belongs to another shard it cannot know."""
        shard = key_hash >> (64 - self.shard_bits)
        if shard != self.shard:
            raise Unsupported(f"the file holds shard {self.shard} of {self.shard_count}, the key is in shard {shard}")
        value = key_hash >> (64 - self.shard_bits - self.value_bits) & ((1 << self.value_bits) - 1)
        if self.count == 0:
            return False
        for found in self.values_of(value * self.bucket_count >> self.value_bits):
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


# --- The command --------------------------------------------------------------------------------


def info(snapshot):
    rows = {
        "set": snapshot.set_name,
        "sequence": snapshot.sequence,
        "window start": f"{snapshot.window_start_millis} ms",
        "window end": f"{snapshot.window_end_millis} ms",
        "shard": f"{snapshot.shard} of {snapshot.shard_count}",
        "keys": snapshot.hash_count,
        "values": f"{snapshot.count} of {snapshot.value_bits} bits",
        "false-positive rate": snapshot.rate,
        "hash": f"{HASH_NAMES[snapshot.hash_algorithm]}, key check {snapshot.key_check:016x}",
        "canonicaliser": f"{CANONICALISER_NAMES[snapshot.canonicaliser]} {snapshot.canonicaliser_version}",
        "golomb parameter": snapshot.m,
        "buckets": snapshot.bucket_count,
        "bytes": f"{len(snapshot.data)}, of which payload {snapshot.payload_bytes}, "
        f"bucket starts {snapshot.bucket_starts_bytes}",
        "set digest": snapshot.set_digest.hex(),
    }
    for name, value in rows.items():
        print(f"{name:20} {value}")


def read_hash_key(path):
    if path is None:
        return PUBLIC_HASH_KEY
    with open(path, encoding="ascii") as file:
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
        # No set holds a key that is empty or too long.
        possible = 0 < len(key) <= MAX_KEY_BYTES
        present = possible and snapshot.contains_hash(hash_of(scope, key))
        sys.stdout.buffer.write(key + (b"\tpresent\n" if present else b"\tabsent\n"))
    sys.stdout.buffer.flush()


def main(arguments):
    parser = argparse.ArgumentParser(description="Reads Firstseen snapshot files of format version 1.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="info|verify|query")
    for verb in ("info", "verify", "query"):
        command = verbs.add_parser(verb)
        command.add_argument("file", metavar="FILE")
    command.add_argument("keys", metavar="KEY", nargs="*", help="- or none means one a line on standard input")
    command.add_argument("--scope", default="", help="the scope of the keys")
    command.add_argument("--hash-key-file", metavar="FILE", help="32 hexadecimal digits")
    options = parser.parse_args(arguments)
    try:
        with open(options.file, "rb") as file:
            data = file.read()
        try:
            snapshot = Snapshot(data)
            if options.verb == "verify":
                snapshot.verify()
                print(f"{options.file}: valid")
        except Malformed as refusal:
            if options.verb != "verify":
                raise
            print(f"{options.file}: invalid: {refusal}")
            return 1
        if options.verb == "info":
            info(snapshot)
        elif options.verb == "query":
            query(snapshot, options.keys, os.fsencode(options.scope), read_hash_key(options.hash_key_file))
        return 0
    except (Malformed, Unsupported) as refusal:
        print(f"{options.file}: {refusal}", file=sys.stderr)
    except OSError as error:
        print(f"cannot read {error.filename}: {error.strerror}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
