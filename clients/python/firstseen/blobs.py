"""Packs, bases, lists of bases, and the sections in them (docs/format/blob-v1.md)."""

from __future__ import annotations

from array import array
from typing import Optional

from ._numeric import np
from .bits import MAX_BYTES, MAX_TOTAL_BYTES, Fields, Reference, crc32c, require
from .errors import UnsupportedError
from .golomb import decoded, require_bits
from .parameters import MAX_SHARDS, SetParameters, require_fits, require_rate, require_room, require_universe
from .shards import Shard

BLOB_MAGIC = b"\x89FSB"
PACK, BASE, BASE_LIST = 1, 2, 3
BLOB_NAMES = {PACK: "a pack", BASE: "a base", BASE_LIST: "a list of bases"}
CHANGE, WHOLE = 1, 2
MAX_COUNT = 1 << 40
# Limit of consecutive packs, and of sections per shard in a list of bases.
MAX_CHAIN = 4096


class Section:
    """The changes of a window in one shard, or the whole set of the shard."""

    def __init__(self, data: bytes) -> None:
        fields = Fields(data)
        self.length = len(data)
        self.kind = fields.u8("the kind of a section")
        if self.kind not in (CHANGE, WHOLE):
            raise UnsupportedError(f"the kind of a section must be 1 or 2, got {self.kind}")
        self.hidden = fields.leb("the number of hashes that share a value", 0, MAX_COUNT)
        self.buckets = self.width = self.removed = self.added_bits = 0
        if self.kind == WHOLE:
            self.buckets = fields.leb("the number of buckets")
            self.width = fields.leb("the width of a bucket")
            require_universe(self.buckets, self.width)
        self.count = fields.leb("the number of values", 0, MAX_COUNT)
        if self.kind == CHANGE:
            self.removed = fields.leb("the number of removed values", 0, MAX_COUNT)
            self.added_bits = fields.leb("the number of bits of the added values")
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

    def values(self) -> array[int]:
        """Returns the values of a whole set."""
        return decoded(self.codes, self.count, self.buckets * self.width, 0)

    def verify(self) -> None:
        """Decodes a whole set. The codes of a change are verified when it is applied."""
        if self.kind == WHOLE:
            self.values()

    def changed(self, before: array[int], bound: int) -> array[int]:
        """Returns the values after a change."""
        require(self.removed <= len(before), f"{len(before)} values can be removed, got {self.removed}")
        added = decoded(self.codes, self.count, bound, 0, self.added_bits)
        removed = decoded(self.codes, self.removed, len(before), self.added_bits)
        after = _merged(before, added, removed)
        require(len(after) or not self.hidden, "a set without values must have no hashes")
        return after


def _merged(before: array[int], added: array[int], removed: array[int]) -> array[int]:
    if np is None:
        require(set(before).isdisjoint(added), "an added value must not be there before")
        gone = set(removed)
        kept = [value for place, value in enumerate(before) if place not in gone]
        return array("Q", sorted(kept + added.tolist()))
    values, more = np.frombuffer(before, np.uint64), np.frombuffer(added, np.uint64)
    places = np.searchsorted(values, more)
    there = places < len(values)
    require(not (values[places[there]] == more[there]).any(), "an added value must not be there before")
    keep = np.ones(len(values), bool)
    keep[np.frombuffer(removed, np.uint64).astype(np.int64)] = False
    kept = values[keep]
    return array("Q", np.insert(kept, np.searchsorted(kept, more), more).tobytes())


def applied(
    parameters: SetParameters, number: int, before: Optional[Shard], sections: list[Section]
) -> Shard:
    """Returns the set of a shard after applying sections, oldest first."""
    last_whole = max((i for i, section in enumerate(sections) if section.kind == WHOLE), default=None)
    if last_whole is None:
        require(before is not None, "the section changes a set, but there is no previous set")
        assert before is not None
        buckets, width, values = before.buckets, before.width, before.values
    else:
        # Sections before a whole set have no effect.
        whole = sections[last_whole]
        hash_count = whole.count + whole.hidden
        _require_rules(parameters, whole.buckets, whole.width, whole.count, hash_count)
        buckets, width, values = whole.buckets, whole.width, whole.values()
        sections = sections[last_whole:]
    for section in sections:
        if section.kind == CHANGE:
            values = section.changed(values, buckets * width)
    hash_count = len(values) + sections[-1].hidden
    _require_rules(parameters, buckets, width, len(values), hash_count)
    return Shard(number, buckets, width, values, hash_count)


def _require_rules(parameters: SetParameters, buckets: int, width: int, count: int, hash_count: int) -> None:
    require_room(parameters, buckets, width, count, hash_count)
    require_rate(parameters, buckets, width, hash_count)


class Blob:
    """The common frame of all blobs, and the fields of its body."""

    def __init__(self, data: bytes, set_name: Optional[str] = None, kind: Optional[int] = None) -> None:
        """Rejects a different set than `set_name` and a different kind than `kind`, if given."""
        fields = Fields(data)
        require(data[:4] == BLOB_MAGIC, "this is not a blob: the magic number is missing")
        fields.take(4, "the magic number")
        require_version(fields, "blob")
        self.kind = fields.u8("the kind")
        if self.kind not in BLOB_NAMES:
            raise UnsupportedError(f"the kind of a blob must be 1 to 3, got {self.kind}")
        self.set_name = fields.set_name()
        self.length = len(data)
        body = fields.take(max(0, fields.left() - 4), "the body")
        require(
            fields.u32("the checksum") == crc32c(data[:-4]),
            f"the checksum of the blob does not match its {len(data)} bytes",
        )
        require(kind in (None, self.kind), f"this must be {BLOB_NAMES.get(kind or 0)}, it is {BLOB_NAMES[self.kind]}")
        require(set_name in (None, self.set_name), f"the blob must be of set {set_name!r}, got {self.set_name!r}")
        self.fields = Fields(body)

    def all_sections(self) -> list[Section]:
        return []

    def verify(self) -> None:
        """Decodes all content that does not depend on another blob."""
        for section in self.all_sections():
            section.verify()


class Pack(Blob):
    """The changes of one window, and references to the previous pack and the bases."""

    def __init__(self, data: bytes, set_name: Optional[str] = None, shard_count: int = MAX_SHARDS) -> None:
        super().__init__(data, set_name, PACK)
        fields = self.fields
        self.sequence = fields.leb("the sequence")
        mark = fields.u8("the mark of the previous pack")
        require(mark <= 1, f"the mark of the previous pack must be 0 or 1, got {mark}")
        self.before = fields.reference("the previous pack") if mark else None
        self.kept_from = fields.leb("keptFrom", 0, MAX_TOTAL_BYTES)
        self.bases = fields.reference("the list of bases")
        self.bases_bytes = fields.leb("basesBytes", self.bases.length, MAX_TOTAL_BYTES)
        self.packs_since = fields.leb("packsSince", 0, MAX_TOTAL_BYTES)
        shards, next_shard = [], 0
        for _ in range(fields.leb("the number of sections", 1, shard_count)):
            shard = next_shard + fields.leb("the gap to the next shard", 0, shard_count - 1 - next_shard)
            shards.append((shard, fields.leb("the length of a section", 1, MAX_BYTES)))
            next_shard = shard + 1
        self.sections = {shard: Section(fields.take(length, "a section")) for shard, length in shards}
        fields.end()

    def all_sections(self) -> list[Section]:
        return list(self.sections.values())


class Base(Blob):
    """The whole set of one shard."""

    def __init__(
        self, data: bytes, set_name: Optional[str] = None, shard: Optional[int] = None
    ) -> None:
        super().__init__(data, set_name, BASE)
        self.shard = self.fields.leb("the shard", 0, MAX_SHARDS - 1)
        require(shard in (None, self.shard), f"the base must be of shard {shard}, got {self.shard}")
        self.section = Section(self.fields.take(self.fields.left(), "the section"))
        require(self.section.kind == WHOLE, "a base must have a whole set")

    def all_sections(self) -> list[Section]:
        return [self.section]


class BaseList(Blob):
    """The base of each shard, and the later sections."""

    def __init__(
        self, data: bytes, set_name: Optional[str] = None, shard_count: Optional[int] = None
    ) -> None:
        super().__init__(data, set_name, BASE_LIST)
        fields = self.fields
        self.sequence = fields.leb("the sequence")
        shards = fields.leb("the number of shards", 1, MAX_SHARDS)
        require(shard_count in (None, shards), f"there must be all {shard_count} shards, got {shards}")
        self.bases: list[Optional[Reference]] = []
        lengths = []
        for _ in range(shards):
            length = fields.leb("the length of the base", 0, MAX_BYTES)
            self.bases.append(
                Reference(fields.take(32, "the digest of the base"), length) if length else None
            )
            count = fields.leb("the number of sections", 0, MAX_CHAIN) if length else 0
            lengths.append([fields.leb("the length of a section", 1, MAX_BYTES) for _ in range(count)])
        self.sections = [[Section(fields.take(length, "a section")) for length in each] for each in lengths]
        fields.end()

    def all_sections(self) -> list[Section]:
        return [section for sections in self.sections for section in sections]


def open_blob(data: bytes) -> Blob:
    """Opens a blob of any kind and any set."""
    kind = Blob(data).kind
    if kind == PACK:
        return Pack(data)
    return Base(data) if kind == BASE else BaseList(data)


def require_version(fields: Fields, what: str, known_flags: int = 0) -> int:
    """Reads the version and the required flags of a manifest or blob; returns the flags."""
    version = fields.u8("the version")
    if version > 1:
        raise UnsupportedError(f"the {what} has format version {version}, this reader knows version 1")
    require(version == 1, f"the format version must be 1, got {version}")
    flags = fields.u8("the required flags")
    if flags & ~known_flags:
        raise UnsupportedError(f"the {what} needs features 0x{flags:02x}, of which 0x{known_flags:02x} are known")
    return flags
