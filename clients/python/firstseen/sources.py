"""Sources of a follower: a directory of snapshots, also on a web server, or the HTTP service (docs/http-api.md)."""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.request
from typing import Iterator, Mapping, Optional, Protocol, Union
from urllib.parse import quote, unquote, urlencode, urlsplit

from .bits import MAX_BYTES, Reference, require
from .errors import (
    MalformedError,
    MissingBlobError,
    NoSnapshotError,
    OutOfReachError,
    UnreachableError,
    UnsupportedError,
)
from .manifest import Manifest, manifest_name, sequence_of

# The maximum size of a manifest. Its parts with the longest fields take less.
_MAX_MANIFEST_BYTES = 16_384
_PIECE_BYTES = 1 << 20
# Errors of urllib for replies that are not HTTP, or incomplete.
_BROKEN = (OSError, ValueError, http.client.HTTPException)
# The paths of the blobs of a service, and of files on a web server, are below these.
_SERVICE, _FILES = "v1/", ""
# The number of newest manifests in a directory to try.
_CANDIDATES = 4


class Source(Protocol):
    """A source of manifests and blobs."""

    def candidates(self) -> Iterator[bytes]:
        """Yields the newest manifests, highest sequence first, and reads each one lazily.

        Raises NoSnapshotError if there are no manifests, UnreachableError if the source is unreadable.
        """
        ...

    def blob(self, reference: Reference) -> bytes:
        """Returns the unverified bytes of a blob; raises MissingBlobError if it does not exist."""
        ...

    def substitute(self) -> Optional[bytes]:
        """Returns a manifest of the newest set with blobs that the source itself serves, or None."""
        ...


class DirectorySource:
    """A directory of snapshots that a job or `snapshot pull` writes."""

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self.path = os.fspath(path)

    def sequences(self) -> list[int]:
        """Returns the sequences of the manifests, highest first."""
        try:
            names = os.listdir(self.path)
        except OSError as error:
            raise UnreachableError(f"cannot open {self.path}: {error.strerror}") from error
        found = (sequence_of(name) for name in names)
        return sorted((sequence for sequence in found if sequence is not None), reverse=True)

    def manifest_path(self, sequence: int) -> str:
        return os.path.join(self.path, manifest_name(sequence))

    def newest_path(self) -> str:
        """Returns the path of the newest manifest."""
        sequences = self.sequences()
        if not sequences:
            raise NoSnapshotError(f"there is no manifest in {self.path}")
        return self.manifest_path(sequences[0])

    def candidates(self) -> Iterator[bytes]:
        sequences = self.sequences()
        if not sequences:
            raise NoSnapshotError(f"there is no manifest in {self.path}")
        for sequence in sequences[:_CANDIDATES]:
            yield read_file(self.manifest_path(sequence), _MAX_MANIFEST_BYTES)

    def blob(self, reference: Reference) -> bytes:
        return file_blob(os.path.join(self.path, "blobs"), reference)

    def substitute(self) -> Optional[bytes]:
        return None

    def __repr__(self) -> str:
        return f"directory {self.path}"


def read_file(path: str, most: int = MAX_BYTES) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise UnreachableError(f"cannot open {path}: {error.strerror}") from error
    require(len(data) <= most, f"{path} must have at most {most} bytes")
    return data


def file_blob(directory: str, reference: Reference) -> bytes:
    path = os.path.join(directory, reference.name)
    try:
        with open(path, "rb") as file:
            # Do not allocate memory for an unverified length.
            require(
                os.fstat(file.fileno()).st_size == reference.length,
                f"{path} must have {reference.length} bytes",
            )
            return file.read(reference.length + 1)
    except FileNotFoundError:
        raise MissingBlobError(f"blob {reference.name} is missing: {path} does not exist") from None
    except OSError as error:
        raise UnreachableError(f"cannot open {path}: {error.strerror}") from error


def read_reply(response, most: int) -> bytes:  # type: ignore[no-untyped-def]
    """Returns the body of a reply, or `most` + 1 bytes of it; memory grows with the received bytes."""
    pieces, left = [], most + 1
    while left > 0:
        piece = response.read(min(left, _PIECE_BYTES))
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


class HttpSource:
    """The HTTP service of `firstseen serve`, or a directory of `firstseen snapshot publish` on a web server."""

    def __init__(
        self,
        url: str,
        set_name: Optional[str] = None,
        timeout_seconds: float = 30.0,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """`set_name` selects the set if the service has several. `headers` are sent with each request, but not to redirects."""
        if urlsplit(url).scheme not in ("http", "https"):
            raise UnsupportedError(f"the source must have an address of http or https, got {url!r}")
        self.url = url if url.endswith("/") else url + "/"
        self.timeout_seconds = timeout_seconds
        self._headers = dict(headers or {})
        self._set = {} if set_name is None else {"set": set_name}
        self._etag: Optional[str] = None
        self._newest = b""
        # The path of a service, or of files; None until a manifest was read.
        self._place: Optional[str] = None

    def candidates(self) -> Iterator[bytes]:
        if self._place is None:
            try:
                self._read_manifest(_SERVICE)
            except MissingBlobError as error:
                try:
                    self._read_manifest(_FILES)
                except MissingBlobError:
                    raise UnreachableError(str(error)) from None
        else:
            try:
                self._read_manifest(self._place)
            except MissingBlobError as error:
                self._place = None
                raise UnreachableError(str(error)) from None
        yield self._newest

    def _read_manifest(self, place: str) -> None:
        """Reads the newest manifest; raises MissingBlobError if there is none at this place."""
        path, parameters = ("v1/manifest", self._set) if place == _SERVICE else ("manifest.bin", {})
        # An unchanged manifest is not sent again.
        unchanged = {} if self._etag is None else {"If-None-Match": self._etag}
        try:
            with self._open(path, parameters, unchanged) as response:
                data = self._read(response, _MAX_MANIFEST_BYTES)
                # A truncated reply is requested again.
                try:
                    Manifest(data)
                except MalformedError as error:
                    raise MalformedError(f"{self.url}: {error}") from None
                self._newest, self._etag = data, response.headers.get("ETag")
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 503:
                    raise NoSnapshotError(f"{self.url}: {_reason(error)}") from None
                if error.code != 304:
                    kind = MissingBlobError if error.code in (403, 404, 410) else UnreachableError
                    raise kind(f"{self.url}: {_reason(error)}") from None
        self._place = place

    def blob(self, reference: Reference) -> bytes:
        # A digest identifies one blob of any set.
        return self._fetch(f"{_SERVICE if self._place is None else self._place}blobs/{reference.name}", {}, reference.length)

    def substitute(self) -> Optional[bytes]:
        if self._place == _FILES:
            return None
        try:
            return self._fetch("v1/manifest", {**self._set, "bases": "true"}, _MAX_MANIFEST_BYTES)
        except MissingBlobError as error:
            raise UnreachableError(str(error)) from None

    def _fetch(self, path: str, parameters: Mapping[str, str], most: int) -> bytes:
        try:
            with self._open(path, parameters, {}) as response:
                return self._read(response, most)
        except urllib.error.HTTPError as error:
            with error:
                kind = MissingBlobError if error.code in (404, 410) else UnreachableError
                raise kind(f"{self.url}{path}: {_reason(error)}") from None

    def _read(self, response, most: int) -> bytes:  # type: ignore[no-untyped-def]
        try:
            return read_reply(response, most)
        except _BROKEN as error:
            raise UnreachableError(f"{self.url} broke off: {error!r}") from error

    def _open(self, path: str, parameters: Mapping[str, str], headers: Mapping[str, str]):  # type: ignore[no-untyped-def]
        query = "?" + urlencode(parameters) if parameters else ""
        request = urllib.request.Request(
            self.url + quote(path) + query,
            headers={"Accept": "application/octet-stream", **headers},
        )
        for name, value in self._headers.items():
            request.add_unredirected_header(name, value)
        try:
            return urllib.request.urlopen(request, timeout=self.timeout_seconds)
        except urllib.error.HTTPError:
            raise
        except _BROKEN as error:
            reason = getattr(error, "reason", error)
            raise UnreachableError(f"{self.url} cannot be reached: {reason}") from error

    def __repr__(self) -> str:
        return f"{'files at' if self._place == _FILES else 'service'} {self.url}"


def _reason(error: urllib.error.HTTPError) -> str:
    """Returns the status and the error message of the service."""
    try:
        sentence = json.loads(error.read(1 << 16).decode("utf-8"))["error"]
        return f"{error.code}, {sentence}"
    except (*_BROKEN, KeyError, TypeError, RecursionError):
        return f"{error.code} {error.reason}"


def blob_from(uri: str, reference: Reference, timeout_seconds: float = 30.0) -> bytes:
    """Reads a blob in the directory of a file, http or https URI."""
    parts = urlsplit(uri)
    if parts.scheme == "file":
        return file_blob(unquote(parts.path), reference)
    if parts.scheme not in ("http", "https"):
        raise OutOfReachError(f"blob {reference.name} is in {uri}, this reader supports file, http and https")
    url = (uri if uri.endswith("/") else uri + "/") + reference.name
    try:
        with urllib.request.urlopen(url, timeout=timeout_seconds) as response:
            return read_reply(response, reference.length)
    except urllib.error.HTTPError as error:
        with error:
            # An object store returns 403 for a missing object to clients without list permission.
            kind = MissingBlobError if error.code in (403, 404, 410) else UnreachableError
            what = "is missing" if kind is MissingBlobError else "cannot be read"
            raise kind(f"blob {reference.name} {what}: {url} answers {error.code}") from None
    except _BROKEN as error:
        raise UnreachableError(f"{url} cannot be reached: {getattr(error, 'reason', error)}") from error


def manifest_in(path: str, data: bytes) -> Manifest:
    """Returns the manifest in a file, whose name must match."""
    manifest = Manifest(data)
    require(
        sequence_of(os.path.basename(path)) in (None, manifest.sequence),
        f"the sequence must match the file's name, got {manifest.sequence}",
    )
    return manifest
