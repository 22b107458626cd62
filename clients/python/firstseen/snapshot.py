"""Snapshot files: the set of one shard with in-place look-ups (docs/format/snapshot-v1.md)."""

from __future__ import annotations

import struct
from array import array
from typing import Iterator, NamedTuple, Optional

from ._numeric import np
from .bits import Fields, bits_at, crc32c, ones_before, require, require_set_name
from .errors import UnsupportedError
from .golomb import GolombCode, golomb_code, words_at_bytes
from .parameters import (
    KNOWN_FLAGS,
    SetParameters,
    require_known,
    require_room,
    require_universe,
    require_window,
    rule_name,
    rule_of,
    with_rule,
)
from .shards import Shard, set_digest

SNAPSHOT_MAGIC = b"\x89FSSNAP\n"
# The fields of the header from requiredFlags to setNameBytes.
_HEADER = "<IBBBBHHIIQdqqqQQQQQQQ32s32sQQIB"
# The number of buckets that are decoded together.
_AT_ONCE = 4096


class _Header(NamedTuple):
    required_flags: int
    codec: int
    reserved_byte: int
    hash_algorithm: int
    canonicaliser: int
    canonicaliser_version: int
    reserved_short: int
    shard: int
    shard_count: int
    key_check: int
    rate: float
    sequence: int
    window_start_millis: int
    window_end_millis: int
    hash_count: int
    value_count: int
    golomb_parameter: int
    reserved_long: int
    payload_bits: int
    bucket_starts_bytes: int
    payload_bytes: int
    set_digest: bytes
    reserved_digest: bytes
    buckets: int
    width: int
    sections_checksum: int
    set_name_bytes: int


class Snapshot:
    """An opened snapshot. Opening performs all checks that the specification requires. Immutable."""

    def __init__(self, data: bytes) -> None:
        self.length = len(data)
        header_bytes = self._read_header(data)
        header = self.header
        size = header_bytes + header.payload_bytes + header.bucket_starts_bytes
        require(len(data) == size, f"the file must have {size} bytes, got {len(data)}")
        sections = data[header_bytes:]
        require(
            crc32c(sections) == header.sections_checksum,
            f"the checksum of the sections does not match their {len(sections)} bytes",
        )
        self._payload = sections[: header.payload_bytes]
        self._open_payload()
        self._starts = _BucketStarts(sections[header.payload_bytes :], header.buckets, header.payload_bits)

    def _read_header(self, data: bytes) -> int:
        require(len(data) >= 12, f"a snapshot must have at least 218 bytes, got {len(data)}")
        require(data[:8] == SNAPSHOT_MAGIC, "this is not a snapshot: the magic number is missing")
        version, size = struct.unpack_from("<HH", data, 8)
        if version > 1:
            raise UnsupportedError(f"the snapshot has format version {version}, this reader knows version 1")
        require(version == 1, f"the format version must be 1, got {version}")
        require(218 <= size <= 1319, f"the header must have 218 to 1319 bytes, got {size}")
        require(size <= len(data), f"the header has {size} bytes, the file only {len(data)}")
        (checksum,) = struct.unpack_from("<I", data, size - 4)
        require(
            checksum == crc32c(data[: size - 4]),
            f"the checksum of the header does not match its {size} bytes",
        )
        header = self.header = _Header(*struct.unpack_from(_HEADER, data, 12))
        if header.required_flags & ~KNOWN_FLAGS:
            raise UnsupportedError(
                f"the snapshot needs features 0x{header.required_flags:08x}, of which 0x{KNOWN_FLAGS:02x} are known"
            )
        if header.codec != 1:
            raise UnsupportedError(f"the codec must be 1, got {header.codec}")
        require_known(header.hash_algorithm, header.canonicaliser)
        reserved = (header.reserved_byte, header.reserved_short, header.reserved_long)
        require(
            reserved == (0, 0, 0) and header.reserved_digest == bytes(32), "the reserved bytes must be 0"
        )
        fields = Fields(data[213 : size - 4])
        name = fields.take(header.set_name_bytes, "the set name")
        require_set_name(name)
        rule = b""
        if header.required_flags:
            what = rule_name(header.required_flags)
            (length,) = struct.unpack("<H", fields.take(2, f"the length of {what}"))
            rule = fields.take(length, what)
        fields.end()
        self.set_name = name.decode("ascii")
        parameters = SetParameters(
            header.hash_algorithm,
            header.key_check,
            header.canonicaliser,
            header.canonicaliser_version,
            header.shard_count,
            header.rate,
        )
        self.parameters = with_rule(parameters, header.required_flags, rule)
        self.parameters.require_valid()
        require_window(header.window_start_millis, header.window_end_millis)
        self.sequence = header.sequence
        self.window_start_millis = header.window_start_millis
        self.window_end_millis = header.window_end_millis
        self.shard = header.shard
        require(self.shard < header.shard_count, f"the shard must be below {header.shard_count}, got {self.shard}")
        require(self.sequence >= 0, f"the sequence must be at least 0, got {self.sequence}")
        require(header.hash_count < 1 << 63, "the number of hashes must be below 2^63")
        require_universe(header.buckets, header.width)
        require_room(self.parameters, header.buckets, header.width, header.value_count, header.hash_count)
        self.range = header.buckets * header.width
        return int(size)

    def _open_payload(self) -> None:
        header, bits = self.header, self.header.payload_bits
        require(header.payload_bytes == (bits + 7) // 8, f"the payload must have {(bits + 7) // 8} bytes")
        require(bits_at(self._payload, bits, -bits % 8) == 0, "the padding of the payload must be zero")
        n = header.value_count
        self._code = golomb_code(n, self.range)
        require(
            self._code.m == header.golomb_parameter,
            f"the Golomb parameter must be {self._code.m}, got {header.golomb_parameter}",
        )
        least = self._code.field_bits + 1
        require(
            n <= bits // least,
            f"{n} values need at least {n * least} bits, the payload has {bits}",
        )
        require(n > 0 or bits == 0, f"the payload of an empty set must have 0 bits, got {bits}")

    def _values_of(self, bucket: int) -> Iterator[int]:
        """Returns the ascending values of a bucket; rejects codes that no writer produces."""
        m, field_bits, cutoff = self._code
        payload, width = self._payload, self.header.width
        begin, end = self._starts.start(bucket), self._starts.start(bucket + 1)
        least, limit = bucket * width, (bucket + 1) * width
        while begin < end:
            remainder = bits_at(payload, begin, field_bits)
            begin += field_bits
            quotient = ones_before(payload, end)
            end -= quotient + 1
            if remainder >= cutoff:
                end -= 1
                remainder = 2 * remainder - cutoff + (bits_at(payload, end, 1) if end >= 0 else 0)
            require(begin <= end, f"the codes of bucket {bucket} must fill it")
            value = least + quotient * m + remainder
            require(value < limit, f"a value of bucket {bucket} must be below {limit}, got {value}")
            least = value + 1
            yield value

    def contains_hash(self, hash_of_key: int) -> bool:
        """Returns whether the shard contains a hash, decoding one bucket; rejects a hash of a different shard."""
        shard, suffix = self.parameters.shard_and_suffix(hash_of_key)
        if shard != self.shard:
            raise UnsupportedError(
                f"the file holds shard {self.shard} of {self.parameters.shard_count}, the key is in shard {shard}"
            )
        if self.header.value_count == 0:
            return False
        value = suffix * self.range >> 64
        for found in self._values_of(value // self.header.width):
            if found >= value:
                return found == value
        return False

    def decode(self) -> Shard:
        """Returns the set in memory; performs all checks of verify."""
        header = self.header
        values = self._decoded_at_once() if np is not None else None
        if values is None:
            values = array("Q")
            for bucket in range(header.buckets):
                values.extend(self._values_of(bucket))
                require(len(values) <= header.value_count, f"the payload must hold {header.value_count} values, got more")
        require(
            len(values) == header.value_count, f"the payload must hold {header.value_count} values, got {len(values)}"
        )
        digest = set_digest(header.buckets, header.width, values)
        require(
            digest == header.set_digest,
            f"the set digest must be {digest.hex()}, got {header.set_digest.hex()}",
        )
        return Shard(self.shard, header.buckets, header.width, values, header.hash_count)

    def verify(self) -> None:
        """Decodes the file and checks that the content matches the header."""
        self.decode()

    def _decoded_at_once(self) -> Optional[array[int]]:
        """Decodes many buckets together; returns None for codes that no writer produces."""
        assert np is not None
        m, field_bits, cutoff = self._code
        if field_bits > 56:
            return None
        values = array("Q")
        header = self.header
        starts = np.array(self._starts.all(), np.int64)
        for first in range(0, header.buckets, _AT_ONCE):
            last = min(first + _AT_ONCE, header.buckets)
            from_byte = int(starts[first]) >> 3
            data = self._payload[from_byte : (int(starts[last]) + 7) >> 3]
            bits = np.unpackbits(np.frombuffer(data, np.uint8))
            words = words_at_bytes(data)
            # For each bit the distance to the previous zero bit, or -1.
            zeros = np.maximum.accumulate(np.where(bits == 0, np.arange(len(bits)), -1))
            begin = starts[first:last] - 8 * from_byte
            end = starts[first + 1 : last + 1] - 8 * from_byte
            lower = np.arange(first, last, dtype=np.uint64) * np.uint64(header.width)
            least = lower
            chunks = []
            while True:
                live = begin < end
                if not live.any():
                    break
                begin, end, least, lower = begin[live], end[live], least[live], lower[live]
                fields = np.zeros(len(begin), np.uint64)
                if field_bits:
                    shift = (begin & 7).astype(np.uint64)
                    fields = words[begin >> 3] << shift >> np.uint64(64 - field_bits)
                begin = begin + field_bits
                zero = zeros[end - 1]
                quotient = end - 1 - zero
                if int(quotient.max()) * m >= 1 << 62:
                    return None
                long = fields >= np.uint64(cutoff)
                end = zero - long
                if bool((begin > end).any()):
                    return None
                more = 2 * fields + bits[end].astype(np.uint64) - np.uint64(cutoff) if long.any() else fields
                found = least + quotient.astype(np.uint64) * np.uint64(m) + np.where(long, more, fields)
                # More than 64 bits, or in a different bucket.
                if bool((found < least).any() or (found - lower >= np.uint64(header.width)).any()):
                    return None
                chunks.append(found)
                least = found + np.uint64(1)
            if chunks:
                all_values = np.sort(np.concatenate(chunks))
                values.frombytes(all_values.tobytes())
                if len(values) > header.value_count:
                    return None
        if len(values) != header.value_count or set_digest(header.buckets, header.width, values) != header.set_digest:
            return None
        return values


class _BucketStarts:
    """The start of each bucket in the payload."""

    def __init__(self, data: bytes, buckets: int, payload_bits: int) -> None:
        self._data = data
        self._buckets = buckets
        self._payload_bits = payload_bits
        if buckets <= 1:
            require(not data, f"the bucket starts must have 0 bytes, got {len(data)}")
            return
        require(len(data) >= 18, f"the bucket starts must have at least 18 bytes, got {len(data)}")
        self._group_base, self._member_base, self._group_width, self._member_width = struct.unpack(
            "<qqBB", data[-18:]
        )
        require(
            self._group_width <= 40 and self._member_width <= 40, "a bucket start must have at most 40 bits"
        )
        self._record_bits = self._group_width + 7 * self._member_width
        self._group_count = (buckets + 7) // 8
        self._slope = (payload_bits << 19) // buckets
        bits = self._group_count * self._record_bits + self._group_width
        require(
            len(data) == (bits + 7) // 8 + 18,
            f"the bucket starts must have {(bits + 7) // 8 + 18} bytes, got {len(data)}",
        )
        require(bits_at(data, bits, -bits % 8) == 0, "the padding of the bucket starts must be zero")
        self._check()

    def _check(self) -> None:
        mean = self._payload_bits // self._buckets
        of_groups, of_members = [], []
        before = 0
        starts = self._computed()
        for bucket, start in enumerate(starts):
            if bucket < self._buckets:
                sound = before <= start <= self._payload_bits and (bucket > 0 or start == 0)
            else:
                sound = start == self._payload_bits + (bucket - self._buckets) * mean
            require(sound, f"bucket {bucket} must not start at bit {start}")
            before = start
            group, member = bucket >> 3, bucket & 7
            if member == 0:
                of_groups.append(start - (group * self._slope >> 16))
            else:
                begin, end = starts[8 * group], starts[8 * group + 8]
                of_members.append(start - begin - ((end - begin) * member >> 3))
        for numbers, base, width in (
            (of_groups, self._group_base, self._group_width),
            (of_members, self._member_base, self._member_width),
        ):
            require(
                min(numbers) == base and (max(numbers) - base).bit_length() == width,
                "the bucket starts must be in their least form",
            )

    def _computed(self) -> list[int]:
        """Returns all starts, up to the end of the last group."""
        groups = [self._group_start(group) for group in range(self._group_count + 1)]
        starts = []
        for group in range(self._group_count):
            begin, span = groups[group], groups[group + 1] - groups[group]
            position = group * self._record_bits + self._group_width
            starts.append(begin)
            for member in range(1, 8):
                deviation = self._member_base + bits_at(self._data, position, self._member_width)
                starts.append(begin + (span * member >> 3) + deviation)
                position += self._member_width
        starts.append(groups[-1])
        return starts

    def all(self) -> list[int]:
        """Returns the starts of all buckets, and the end of the last."""
        if self._buckets <= 1:
            return [0, self._payload_bits]
        return self._computed()[: self._buckets + 1]

    def start(self, bucket: int) -> int:
        if self._buckets <= 1:
            return bucket * self._payload_bits
        group, member = divmod(bucket, 8)
        begin: int = self._group_start(group)
        if member == 0:
            return begin
        span = self._group_start(group + 1) - begin
        position = group * self._record_bits + self._group_width + (member - 1) * self._member_width
        deviation: int = self._member_base + bits_at(self._data, position, self._member_width)
        return begin + (span * member >> 3) + deviation

    def _group_start(self, group: int) -> int:
        field = bits_at(self._data, group * self._record_bits, self._group_width)
        return (group * self._slope >> 16) + int(self._group_base) + field


# --- Writing; bits as text, in file order -----------------------------------------------------------


def snapshot_bytes(
    set_name: str,
    parameters: SetParameters,
    sequence: int,
    window_start_millis: int,
    window_end_millis: int,
    shard: Shard,
) -> bytes:
    """Returns the snapshot file of a shard's set."""
    count = len(shard.values)
    code = golomb_code(count, shard.buckets * shard.width)
    bits, begins = _coded(shard, code)
    payload, starts = _packed(bits), _bucket_starts(begins, len(bits))
    name = set_name.encode("ascii")
    flags, rule = rule_of(parameters)
    if rule:
        rule = struct.pack("<H", len(rule)) + rule
    fields = _Header(
        required_flags=flags,
        codec=1,
        reserved_byte=0,
        hash_algorithm=parameters.hash_algorithm,
        canonicaliser=parameters.canonicaliser_code,
        canonicaliser_version=parameters.canonicaliser_version,
        reserved_short=0,
        shard=shard.number,
        shard_count=parameters.shard_count,
        key_check=parameters.key_check,
        rate=parameters.false_positive_rate,
        sequence=sequence,
        window_start_millis=window_start_millis,
        window_end_millis=window_end_millis,
        hash_count=shard.hash_count,
        value_count=count,
        golomb_parameter=code.m,
        reserved_long=0,
        payload_bits=len(bits),
        bucket_starts_bytes=len(starts),
        payload_bytes=len(payload),
        set_digest=shard.digest,
        reserved_digest=bytes(32),
        buckets=shard.buckets,
        width=shard.width,
        sections_checksum=crc32c(payload + starts),
        set_name_bytes=len(name),
    )
    size = 217 + len(name) + len(rule)
    header = SNAPSHOT_MAGIC + struct.pack("<HH", 1, size) + struct.pack(_HEADER, *fields) + name + rule
    return header + struct.pack("<I", crc32c(header)) + payload + starts


def _in_bits(number: int, width: int) -> str:
    return format(number, "b").zfill(width) if width else ""


def _packed(bits: str) -> bytes:
    bits += "0" * (-len(bits) % 8)
    # In pieces, because parsing a number from text takes quadratic time.
    pieces = (bits[i : i + 4096] for i in range(0, len(bits), 4096))
    return b"".join(int(piece, 2).to_bytes(len(piece) // 8, "big") for piece in pieces)


def _coded(shard: Shard, code: GolombCode) -> tuple[str, list[int]]:
    """Returns the payload, and the bit position of the start of each bucket."""
    m, field_bits, cutoff = code
    of_buckets: list[list[int]] = [[] for _ in range(shard.buckets)]
    for value in shard.values:
        of_buckets[value // shard.width].append(value)
    payload, starts, length = [], [], 0
    for bucket, members in enumerate(of_buckets):
        fields, prefixes = "", ""
        least = bucket * shard.width
        for value in members:
            quotient, remainder = divmod(value - least, m)
            prefixes += "1" * quotient + "0"
            if remainder >= cutoff:
                prefixes += str((remainder + cutoff) % 2)
                remainder = (remainder + cutoff) // 2
            fields += _in_bits(remainder, field_bits)
            least = value + 1
        starts.append(length)
        payload.append(fields + prefixes[::-1])
        length += len(payload[-1])
    return "".join(payload), starts


def _bucket_starts(starts: list[int], payload_bits: int) -> bytes:
    """Returns the section of bucket starts."""
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
        bits.append(_in_bits(of_groups[j] - group_base, group_width))
        bits += [_in_bits(member - member_base, member_width) for member in of_members[7 * j : 7 * j + 7]]
    bits.append(_in_bits(of_groups[groups] - group_base, group_width))
    return _packed("".join(bits)) + struct.pack("<qqBB", group_base, member_base, group_width, member_width)
