"""Reader for Firstseen sets: canonical forms, look-ups, match expressions of URLs, following.

    import firstseen

    with firstseen.follow("http://localhost:8080", set_name="spam") as follower:
        follower.wait(30)
        follower.contains("http://example.com/")

open_set opens a file or a directory, follow follows a directory, the HTTP service or a Kafka topic.
SnapshotSet answers queries; UrlLists queries several lists, or followers of lists, at once.
"""

from __future__ import annotations

import os
from typing import Any, Optional, Sequence, Union

from .cache import Cache
from .canonical import NONE, TEXT, URL, URL_EXPRESSION, Canonicaliser, Key, canonicaliser, url_expressions
from .catchup import CatchUp
from .errors import (
    FirstseenError,
    InvalidKeyError,
    MalformedError,
    MissingBlobError,
    NoSnapshotError,
    OutdatedError,
    OutOfReachError,
    UnreachableError,
    UnsupportedError,
    UntrustedError,
)
from .follow import Follower, Update
from .kafka import KafkaSource
from .keyhash import KeyHash
from .manifest import MANIFEST_MAGIC, ONLY_MANIFESTS, Manifest
from .parameters import SetParameters
from .sets import Match, SnapshotSet, UrlAnswer, UrlLists
from .signature import TrustedKey, require_signed
from .snapshot import Snapshot
from .sources import DirectorySource, HttpSource, Source, blob_from, manifest_in, read_file
from .bits import Reference

Path = Union[str, "os.PathLike[str]"]

__all__ = [
    "NONE",
    "TEXT",
    "URL",
    "URL_EXPRESSION",
    "Cache",
    "Canonicaliser",
    "DirectorySource",
    "FirstseenError",
    "Follower",
    "HttpSource",
    "InvalidKeyError",
    "KafkaSource",
    "Key",
    "KeyHash",
    "MalformedError",
    "Manifest",
    "Match",
    "MissingBlobError",
    "NoSnapshotError",
    "OutOfReachError",
    "OutdatedError",
    "SetParameters",
    "Snapshot",
    "SnapshotSet",
    "Source",
    "TrustedKey",
    "UnreachableError",
    "UnsupportedError",
    "UntrustedError",
    "Update",
    "UrlAnswer",
    "UrlLists",
    "canonicaliser",
    "follow",
    "open_manifest",
    "open_set",
    "url_expressions",
]


def open_manifest(path: Path) -> tuple[Manifest, DirectorySource]:
    """Returns the manifest in a file, or the newest one in a directory, and the directory."""
    file = os.fspath(path)
    if os.path.isdir(file):
        file = DirectorySource(file).newest_path()
    data = read_file(file)
    return manifest_in(file, data), DirectorySource(os.path.dirname(file))


def open_set(
    path: Path,
    key_hash: Optional[KeyHash] = None,
    *,
    trusted_keys: Sequence[TrustedKey] = (),
    blobs: Optional[str] = None,
) -> SnapshotSet:
    """Opens the set in a directory of snapshots, of a manifest in one, or in a snapshot that is a whole set.

    key_hash: the publisher's hash key (default: the public key).
    trusted_keys: rejects a manifest that none of these keys signed, and a snapshot, which has no
        signature.
    blobs: the URI (file, http, https) of a directory with blobs that are not stored with the manifest.
        Default: the directory that the manifest names, if a trusted key signed the manifest.
    """
    key_hash = key_hash or KeyHash.public()
    file = os.fspath(path)
    if not os.path.isdir(file):
        data = read_file(file)
        if not data.startswith(MANIFEST_MAGIC):
            if trusted_keys:
                raise UnsupportedError(ONLY_MANIFESTS)
            return SnapshotSet.of_snapshot(Snapshot(data), key_hash)
    manifest, directory = open_manifest(file)
    if trusted_keys:
        require_signed(manifest, trusted_keys)
    manifest.parameters.require_hash(key_hash)
    elsewhere = blobs or (manifest.blobs if trusted_keys else None)

    def load(reference: Reference) -> bytes:
        try:
            return directory.blob(reference)
        except MissingBlobError:
            if elsewhere is None:
                raise
            return blob_from(elsewhere, reference)

    return SnapshotSet.of_manifest(manifest, CatchUp(manifest, load).by_bases(), key_hash)


def follow(
    source: Union[Path, Source], *, key_hash: Optional[KeyHash] = None, cache: Optional[Path] = None, **options: Any
) -> Follower:
    """Returns a follower of a directory (a path), of the HTTP service (a URL), or of any source.

    key_hash: the publisher's hash key (default: the public key).
    cache: a directory for this set only, which keeps the last valid set for the next start.
    options: further arguments of Follower.
    """
    if isinstance(source, (str, os.PathLike)):
        text = os.fspath(source)
        if text.startswith(("http://", "https://")):
            source = HttpSource(text, options.get("set_name"))
        else:
            source = DirectorySource(text)
    kept = None if cache is None else Cache(cache)
    return Follower(source, key_hash=key_hash or KeyHash.public(), cache=kept, **options)
