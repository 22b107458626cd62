"""Follower of a set, which always serves the newest valid snapshot."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Optional, Sequence

from .cache import Cache
from .canonical import Key
from .catchup import CatchUp, CaughtUp, Held, proven
from .errors import (
    FirstseenError,
    MalformedError,
    MissingBlobError,
    NoSnapshotError,
    OutdatedError,
    UnreachableError,
    UnsupportedError,
)
from .kafka import KafkaSource
from .keyhash import KeyHash
from .manifest import Manifest
from .sets import SnapshotSet
from .signature import TrustedKey, require_signed
from .sources import Source, blob_from

# The longest pause between polls during problems.
_MAX_PAUSE_SECONDS = 30.0


@dataclass(frozen=True)
class Update:
    """A set that has become active."""

    snapshot: SnapshotSet
    by_packs: bool
    """Whether only changes were read; false for bases and for the first set."""
    bytes_read: int
    """The number of bytes of all blobs that were read."""


class Follower:
    """Follows one set. Rejects data that is damaged, unsigned, or older than the active set, which stays
    active.

    As a context manager, it polls for newer sets in a separate thread. Otherwise, call poll().
    Queries may be made from any thread and never block.
    """

    def __init__(
        self,
        source: Source,
        *,
        set_name: Optional[str] = None,
        key_hash: Optional[KeyHash] = None,
        trusted_keys: Sequence[TrustedKey] = (),
        blobs: Optional[str] = None,
        cache: Optional[Cache] = None,
        poll_seconds: float = 1.0,
        on_update: Optional[Callable[[Update], Any]] = None,
        on_trouble: Optional[Callable[[str], Any]] = None,
    ) -> None:
        """
        set_name: the set to follow (default: the first set that is read). Other sets are rejected.
        key_hash: without it, only hashes can be queried.
        trusted_keys: rejects manifests that none of these keys signed.
        blobs: the URI (file, http, https) of a directory with blobs that the source does not have.
            Default: the directory that a manifest names, if a trusted key signed the manifest.
        cache: keeps the last valid set, which is served immediately. Older sets are rejected.
        on_update, on_trouble: called for each newer snapshot, and once for each new problem.
        """
        self.source = source
        self.key_hash = key_hash
        self.poll_seconds = poll_seconds
        self.trouble: Optional[str] = None
        """The newest problem, until a set is read without one."""
        self._unusable: Optional[UnsupportedError] = None
        self._set_name = set_name
        self._trusted = tuple(trusted_keys)
        if self._trusted and isinstance(source, KafkaSource):
            source.trusted_keys = self._trusted
        self._blobs = blobs
        self._cache = cache
        self._on_update = on_update
        self._on_trouble = on_trouble
        self._held: Optional[Held] = None
        self._current: Optional[SnapshotSet] = None
        # The active set, once on_update has been called for it.
        self._told: Optional[SnapshotSet] = None
        self._polling = threading.Lock()
        self._stop = threading.Event()
        self._thread: Optional[threading.Thread] = None
        if cache is not None:
            self._from_cache(cache)

    @property
    def current(self) -> Optional[SnapshotSet]:
        """The active set; None before the first."""
        return self._current

    @property
    def manifest(self) -> Optional[Manifest]:
        """The manifest of the active set."""
        held = self._held
        return None if held is None else held.manifest

    def is_stale(self) -> bool:
        """Returns whether the manifest of the active set has expired. The set stays active."""
        manifest = self.manifest
        expires = None if manifest is None else manifest.expires_millis
        return expires is not None and expires <= time.time() * 1000

    def snapshot(self) -> SnapshotSet:
        """Returns the active set; raises NoSnapshotError before the first."""
        current = self._current
        if current is None:
            raise NoSnapshotError(f"there is no snapshot yet: {self.trouble or 'nothing was read so far'}")
        return current

    def contains(self, key: Key, scope: Key = b"") -> bool:
        """Calls SnapshotSet.contains of the active set."""
        return self.snapshot().contains(key, scope)

    def contains_each(self, keys: Iterable[Key], scope: Key = b"") -> list[bool]:
        """Calls SnapshotSet.contains_each of the active set."""
        return self.snapshot().contains_each(keys, scope)

    def match(self, url: Key, scope: Key = b"") -> Optional[str]:
        """Calls SnapshotSet.match of the active set."""
        return self.snapshot().match(url, scope)

    def resembles(self, text: Key, scope: Key = b"") -> int:
        """Calls SnapshotSet.resembles of the active set."""
        return self.snapshot().resembles(text, scope)

    def poll(self) -> Optional[Update]:
        """Polls once for a newer set. Reports problems of the source in `trouble` and does not raise them."""
        with self._polling:
            problem: Optional[str] = None
            unusable: Optional[UnsupportedError] = None
            update = None
            try:
                for data in self.source.candidates():
                    try:
                        update = self._advance(data)
                        break
                    except (OutdatedError, NoSnapshotError, UnreachableError) as error:
                        problem = problem or str(error)
                        break
                    except FirstseenError as error:
                        # If this set is not usable, the previous one may be.
                        problem = problem or f"refused: {error}"
                        if isinstance(error, UnsupportedError):
                            unusable = error
            except FirstseenError as error:
                problem = str(error)
            except Exception as error:  # The last valid set stays active after any error.
                problem = f"following failed: {error!r}"
            if update is not None and self._cache is not None and self._held is not None:
                try:
                    self._cache.store(self._held)
                except OSError as error:
                    problem = problem or f"the cache {self._cache.path} cannot be written: {error.strerror}"
            self._unusable = unusable
            self._say(problem)
        if update is not None and self._on_update is not None:
            self._on_update(update)
        self._told = self._current
        return update

    def _say(self, problem: Optional[str]) -> None:
        before, self.trouble = self.trouble, problem
        if problem is not None and problem != before and self._on_trouble is not None:
            self._on_trouble(problem)

    def _from_cache(self, cache: Cache) -> None:
        try:
            held = cache.load()
            if held is not None:
                self._require_wanted(held.manifest)
                self._answer(held)
                self._told = self._current
        except FirstseenError as error:
            self._say(f"the cache {cache.path} is not used: {error}")
        except OSError as error:
            self._say(f"the cache {cache.path} is not used: {error.strerror}")

    def _require_wanted(self, manifest: Manifest) -> None:
        if self._set_name not in (None, manifest.set_name):
            raise UnsupportedError(f"the set must be {self._set_name!r}, got {manifest.set_name!r}")
        if self._trusted:
            require_signed(manifest, self._trusted)
        if self.key_hash is not None:
            manifest.parameters.require_hash(self.key_hash)

    def _advance(self, data: bytes) -> Optional[Update]:
        """Returns the newer set of a manifest; None if it is the active set."""
        held = self._held
        if held is not None and data == held.manifest.data:
            return None
        manifest = Manifest(data)
        self._require_wanted(manifest)
        if held is not None:
            if manifest.sequence < held.manifest.sequence:
                raise OutdatedError(f"{manifest} is rejected, because sequence {held.manifest.sequence} is active")
            if manifest.sequence == held.manifest.sequence:
                if (manifest.root, manifest.parameters) != (held.manifest.root, held.manifest.parameters):
                    raise OutdatedError(f"{manifest} is rejected: it contradicts the active manifest")
                # It differs in its times or in the place of its blobs. An attacker may replay an earlier one.
                if manifest.published_millis > held.manifest.published_millis:
                    self._held = Held(manifest, held.shards)
                return None
        caught = self._caught_up(manifest, held)
        self._answer(Held(manifest, caught.shards))
        return Update(self.snapshot(), caught.by_packs and held is not None, caught.bytes_read)

    def _answer(self, held: Held) -> None:
        current = SnapshotSet.of_manifest(held.manifest, held.shards, self.key_hash)
        self._held, self._current = held, current
        self._set_name = held.manifest.set_name

    def _caught_up(self, manifest: Manifest, held: Optional[Held]) -> CaughtUp:
        elsewhere = self._blobs or (manifest.blobs if self._trusted else None)

        def load(reference: Any) -> bytes:
            try:
                return self.source.blob(reference)
            except MissingBlobError:
                if elsewhere is None:
                    raise
                return blob_from(elsewhere, reference)

        try:
            return CatchUp(manifest, load).run(held)
        except (MissingBlobError, MalformedError):
            data = self.source.substitute()
            if data is None:
                raise
        other = Manifest(data)
        # The substitute is not signed, but has the same root as the manifest, which may be signed.
        if (other.set_name, other.root, other.parameters) != (
            manifest.set_name,
            manifest.root,
            manifest.parameters,
        ):
            raise UnreachableError(f"{manifest} was replaced while it was being read")
        caught = CatchUp(other, self.source.blob).run()
        return CaughtUp(proven(manifest, caught.shards), False, caught.bytes_read)

    def start(self) -> Follower:
        """Starts polling in a separate thread."""
        if self._thread is None:
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, name="firstseen-follower", daemon=True)
            self._thread.start()
        return self

    def stop(self) -> None:
        """Stops the thread. The last set stays active."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        pause = self.poll_seconds
        while not self._stop.is_set():
            try:
                self.poll()
            except Exception as error:  # If the thread ended, the set would silently become outdated.
                self._say(f"following failed: {error!r}")
            # Failures are retried with backoff.
            longer = max(self.poll_seconds, min(2 * pause, _MAX_PAUSE_SECONDS))
            pause = self.poll_seconds if self.trouble is None else longer
            self._stop.wait(pause)

    def wait(self, timeout_seconds: float, sequence: int = 0) -> SnapshotSet:
        """
        Waits until a set with at least this sequence is active and on_update has been called for it.

        Raises NoSnapshotError after the timeout. Raises UnsupportedError immediately if no set is active
        and the newest one is not usable, for example because of a different hash key.
        """
        end = time.monotonic() + timeout_seconds
        while True:
            told = self._told
            if told is not None and told.sequence >= sequence:
                return told
            if told is None and self._unusable is not None:
                raise self._unusable
            if time.monotonic() >= end:
                raise NoSnapshotError(
                    f"no snapshot of sequence {sequence} or above came within {timeout_seconds} s:"
                    f" {self.trouble or 'nothing newer was published'}"
                )
            time.sleep(0.02)

    def __enter__(self) -> Follower:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
