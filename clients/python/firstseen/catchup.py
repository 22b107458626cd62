"""Loading of a set (docs/format/blob-v1.md): by packs from a held set, or by bases."""

from __future__ import annotations

import hashlib
from typing import Callable, NamedTuple, Optional, Sequence, TypeVar

from .bits import Reference, require
from .blobs import MAX_CHAIN, Base, BaseList, Blob, Pack, Section, applied
from .errors import FirstseenError, MalformedError, MissingBlobError, OutOfReachError, UnsupportedError
from .manifest import Manifest
from .shards import Shard, tree_root

BlobLoader = Callable[[Reference], bytes]
Shards = list[Optional[Shard]]
_Kind = TypeVar("_Kind", bound=Blob)
# Cost of a request, in addition to its bytes.
_REQUEST_BYTES = 1024


class Held(NamedTuple):
    """The sets of all shards in memory, and their manifest."""

    manifest: Manifest
    shards: Sequence[Optional[Shard]]


class CaughtUp(NamedTuple):
    """The sets of all shards, and how they were loaded."""

    shards: Shards
    by_packs: bool
    bytes_read: int


class CatchUp:
    """Loads the set of one manifest; loads each blob once."""

    def __init__(self, manifest: Manifest, load: BlobLoader) -> None:
        self.manifest = manifest
        self._load = load
        self._packs: dict[Reference, Pack] = {}
        self.bytes_read = 0

    def run(self, held: Optional[Held] = None) -> CaughtUp:
        """Loads packs or bases, whichever are smaller; bases if a pack is unreadable."""
        manifest = self.manifest
        if held is not None and (held.manifest.set_name, held.manifest.parameters) != (
            manifest.set_name,
            manifest.parameters,
        ):
            held = None
        if held is not None and held.manifest.root == manifest.root:
            return CaughtUp(self._proven(list(held.shards)), True, 0)
        if held is not None and manifest.pack is not None:
            newest = self._newest_pack()
            span = manifest.pack_bytes - held.manifest.pack_bytes
            bases = newest.bases_bytes + newest.packs_since + manifest.pack.length
            # Packs take one request per window in between; bases also take many requests.
            if held.manifest.pack_bytes >= newest.kept_from and span <= bases + _REQUEST_BYTES:
                try:
                    return CaughtUp(self.by_packs(held), True, self.bytes_read)
                except FirstseenError:
                    # Loading the bases shows whether the set itself is valid.
                    pass
        return CaughtUp(self.by_bases(), False, self.bytes_read)

    def by_bases(self) -> Shards:
        """Returns the sets of all shards, from the list of bases and the later packs."""
        manifest = self.manifest
        shard_count = manifest.parameters.shard_count
        if manifest.pack is None:
            return self._proven([None] * shard_count)
        newest = self._newest_pack()
        bases = self._blob(newest.bases, lambda data: BaseList(data, manifest.set_name, shard_count))
        bases_bytes = newest.bases.length + sum(base.length for base in bases.bases if base)
        require(
            bases_bytes == newest.bases_bytes,
            f"the list of bases and the bases must have {newest.bases_bytes} bytes, got {bases_bytes}",
        )
        packs, left = [newest], newest.packs_since
        while left > 0:
            before = packs[0].before
            require(
                before is not None and before.length <= left, "the packs do not lead back to the list of bases"
            )
            assert before is not None
            left -= before.length
            _require_short_chain(packs)
            packs.insert(0, self._pack(before, packs[0]))
        if newest.sequence == bases.sequence and len(packs) == 1:
            packs = []
        require(
            not packs or packs[0].sequence > bases.sequence,
            f"the list of bases is of sequence {bases.sequence}, the packs do not begin after it",
        )
        shards: Shards = []
        for number, reference in enumerate(bases.bases):
            sections: list[Section] = []
            if reference is not None:
                base = self._blob(reference, lambda data: Base(data, manifest.set_name, number))
                sections = [base.section] + bases.sections[number]
            sections += [pack.sections[number] for pack in packs if number in pack.sections]
            shards.append(applied(manifest.parameters, number, None, sections) if sections else None)
        return self._proven(shards)

    def by_packs(self, held: Held) -> Shards:
        """Returns the sets of all shards, from the sets of an earlier manifest and the later packs."""
        manifest = self.manifest
        shards = list(held.shards)
        if held.manifest.root == manifest.root:
            return self._proven(shards)
        packs: list[Pack] = []
        left = manifest.pack_bytes - held.manifest.pack_bytes
        reference = manifest.pack
        while reference != held.manifest.pack:
            require(
                reference is not None and reference.length <= left, "the packs do not lead back to the held set"
            )
            assert reference is not None
            left -= reference.length
            _require_short_chain(packs)
            packs.insert(0, self._pack(reference, packs[0]) if packs else self._newest_pack())
            reference = packs[0].before
        for number, before in enumerate(shards):
            sections = [pack.sections[number] for pack in packs if number in pack.sections]
            if sections:
                shards[number] = applied(manifest.parameters, number, before, sections)
        return self._proven(shards)

    def verify(self) -> None:
        """Verifies the set and reads the retained packs; a copy of a set may lack old packs."""
        self.by_bases()
        manifest = self.manifest
        if manifest.pack is None:
            return
        pack = newest = self._newest_pack()
        position = manifest.pack_bytes - manifest.pack.length
        while pack.before is not None and position > newest.kept_from:
            position -= pack.before.length
            try:
                pack = self._pack(pack.before, pack)
            except (MissingBlobError, OutOfReachError):
                break

    def _proven(self, shards: Shards) -> Shards:
        return proven(self.manifest, shards)

    def _newest_pack(self) -> Pack:
        manifest = self.manifest
        assert manifest.pack is not None
        pack = self._pack(manifest.pack)
        kept_from = manifest.pack_bytes - manifest.pack.length - pack.packs_since
        require(pack.kept_from <= kept_from, f"keptFrom must be at most {kept_from}, got {pack.kept_from}")
        return pack

    def _pack(self, reference: Reference, after: Optional[Pack] = None) -> Pack:
        pack = self._packs.get(reference)
        if pack is None:
            name, shards = self.manifest.set_name, self.manifest.parameters.shard_count
            pack = self._packs[reference] = self._blob(reference, lambda data: Pack(data, name, shards))
        require(
            after is None or pack.sequence < after.sequence,
            f"a pack must have a higher sequence than the previous pack, {pack.sequence}",
        )
        return pack

    def _blob(self, reference: Reference, kind: Callable[[bytes], _Kind]) -> _Kind:
        data = self._load(reference)
        self.bytes_read += len(data)
        require_blob(reference, data)
        try:
            return kind(data)
        except (MalformedError, UnsupportedError) as refusal:
            raise type(refusal)(f"blob {reference.name}: {refusal}") from refusal


def require_blob(reference: Reference, data: bytes) -> None:
    """Raises MalformedError if the bytes do not match the reference."""
    name = reference.name
    require(len(data) == reference.length, f"blob {name} must have {reference.length} bytes, got {len(data)}")
    require(hashlib.sha256(data).digest() == reference.digest, f"blob {name} is damaged")


def proven(manifest: Manifest, shards: Shards) -> Shards:
    """Returns the sets if they match the root and the count of the manifest."""
    root = tree_root(shards)
    require(root == manifest.root, f"the shards must have the root {manifest.root.hex()}, got {root.hex()}")
    count = sum(shard.hash_count for shard in shards if shard)
    require(count == manifest.count, f"the shards must have {manifest.count} keys, got {count}")
    return shards


def _require_short_chain(packs: list[Pack]) -> None:
    require(len(packs) < MAX_CHAIN, f"a set must be reached by at most {MAX_CHAIN} packs, there are more")


def require_same_set(manifest: Manifest, held: Manifest) -> None:
    """Raises UnsupportedError if packs cannot lead from one manifest to the other."""
    if manifest.set_name != held.set_name:
        raise UnsupportedError(f"the manifests must be of one set, got {held.set_name} and {manifest.set_name}")
    if manifest.parameters != held.parameters:
        raise UnsupportedError("the manifests must have the same parameters")
