"""Cache of the last valid set on disk, so that the next start serves immediately."""

from __future__ import annotations

import os
import struct
import sys
import tempfile
from array import array
from typing import Optional, Union

from .bits import Fields, require
from .catchup import Held, proven
from .manifest import Manifest
from .parameters import require_universe
from .shards import Shard

# Only this library reads the file. Its format may change together with the magic number.
_MAGIC = b"\x89FSC\x01"
_NAME = "last-good-set"


class Cache:
    """A directory with the last valid set of one follower, verified against the root of its manifest.

    Files are written to a temporary name, synced and renamed, so a crash leaves the old or the new set.
    """

    def __init__(self, directory: Union[str, os.PathLike[str]]) -> None:
        self.path = os.path.join(os.fspath(directory), _NAME)
        os.makedirs(directory, exist_ok=True)

    def load(self) -> Optional[Held]:
        """Returns the set, or None if the cache is empty. Raises MalformedError if it is damaged."""
        try:
            with open(self.path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return None
        fields = Fields(data)
        require(fields.take(len(_MAGIC), "the magic number") == _MAGIC, f"{self.path} is not a cache of this release")
        manifest = Manifest(fields.take(fields.u32("the length of the manifest"), "the manifest"))
        shards: list[Optional[Shard]] = []
        for number in range(manifest.parameters.shard_count):
            if not fields.u8("the mark of a shard"):
                shards.append(None)
                continue
            buckets, width = fields.u64("the buckets"), fields.u64("the width")
            require_universe(buckets, width)
            hash_count, count = fields.u64("the hashes"), fields.u64("the values")
            values = array("Q")
            values.frombytes(fields.take(8 * count, "the values"))
            _to_little_endian(values)
            shards.append(Shard(number, buckets, width, values, hash_count))
        fields.end()
        return Held(manifest, proven(manifest, shards))

    def store(self, held: Held) -> None:
        """Replaces the cached set. Raises OSError if writing fails."""
        directory = os.path.dirname(self.path)
        descriptor, aside = tempfile.mkstemp(prefix=f".{_NAME}-", suffix=".tmp", dir=directory)
        try:
            with os.fdopen(descriptor, "wb") as file:
                manifest = held.manifest.data
                file.write(_MAGIC + struct.pack("<I", len(manifest)) + manifest)
                for shard in held.shards:
                    if shard is None:
                        file.write(b"\x00")
                        continue
                    values = shard.values
                    numbers = (1, shard.buckets, shard.width, shard.hash_count, len(values))
                    file.write(struct.pack("<BQQQQ", *numbers))
                    if sys.byteorder == "big":
                        values = values[:]
                        _to_little_endian(values)
                    file.write(memoryview(values))
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, self.path)
        except BaseException:
            os.unlink(aside)
            raise
        _sync(directory)


def _to_little_endian(values: array[int]) -> None:
    if sys.byteorder == "big":
        values.byteswap()


def _sync(directory: str) -> None:
    """Syncs the directory entry, on systems where a directory can be opened."""
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
