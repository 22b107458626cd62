"""Sets in memory, and queries on them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Optional, Protocol, Sequence, Union

from . import canonical, near
from ._numeric import np
from .canonical import Key, url_expressions
from .errors import InvalidKeyError, UnsupportedError
from .keyhash import KeyHash, joined, joined_prefix
from .manifest import Manifest
from .parameters import SetParameters
from .shards import Shard
from .snapshot import Snapshot

# The number of URLs whose expressions are looked up together.
_URLS_AT_ONCE = 4096


class SnapshotSet:
    """The sets of all shards at the end of a window. Immutable and thread-safe.

    A key of the set is always found. Any other key is found at most at the false-positive rate. A key
    without a canonical form raises InvalidKeyError.
    """

    def __init__(
        self,
        set_name: str,
        sequence: int,
        window_end_millis: int,
        parameters: SetParameters,
        shards: Sequence[Optional[Shard]],
        key_hash: Optional[KeyHash] = None,
    ) -> None:
        """`shards` contains all shards in order, None for a shard that never had a key.

        Without `key_hash`, only hashes can be queried. A different hash key from the publisher's is rejected.
        """
        self.set_name = set_name
        self.sequence = sequence
        self.window_end_millis = window_end_millis
        self.parameters = parameters
        self.shards = tuple(shards)
        self.key_hash = key_hash
        if key_hash is not None:
            parameters.require_hash(key_hash)
            self._canonicaliser = parameters.canonicaliser()

    @classmethod
    def of_snapshot(cls, snapshot: Snapshot, key_hash: Optional[KeyHash] = None) -> SnapshotSet:
        """Decodes and verifies the set in a file. Raises UnsupportedError if it has several shards."""
        count = snapshot.parameters.shard_count
        if count != 1:
            raise UnsupportedError(f"a set must be queried in all its shards, got shard {snapshot.shard} of {count}")
        return cls(
            snapshot.set_name,
            snapshot.sequence,
            snapshot.window_end_millis,
            snapshot.parameters,
            [snapshot.decode()],
            key_hash,
        )

    @classmethod
    def of_manifest(
        cls, manifest: Manifest, shards: Sequence[Optional[Shard]], key_hash: Optional[KeyHash] = None
    ) -> SnapshotSet:
        """Returns the set that a manifest describes."""
        return cls(
            manifest.set_name,
            manifest.sequence,
            manifest.window_end_millis,
            manifest.parameters,
            shards,
            key_hash,
        )

    def __len__(self) -> int:
        """Returns the number of keys."""
        return sum(shard.hash_count for shard in self.shards if shard)

    def __contains__(self, key: Key) -> bool:
        return self.contains(key)

    def __repr__(self) -> str:
        return f"sequence {self.sequence} of set {self.set_name!r}, {len(self)} keys"

    def contains_hash(self, hash_of_key: int) -> bool:
        """Returns whether the set contains a hash."""
        number, suffix = self.parameters.shard_and_suffix(hash_of_key)
        shard = self.shards[number]
        return shard is not None and shard.contains(suffix)

    def contains_hashes(self, hashes: Any) -> list[bool]:
        """Returns whether the set contains each hash of a NumPy array of uint64 or a sequence of integers."""
        if np is None:
            return [self.contains_hash(one) for one in hashes]
        found = self._found(np.asarray(hashes, np.uint64))
        result: list[bool] = found.tolist()
        return result

    def _found(self, hashes: Any) -> Any:
        assert np is not None
        bits = self.parameters.shard_bits
        if bits == 0:
            only = self.shards[0]
            return only.contains_each(hashes) if only else np.zeros(len(hashes), bool)
        found = np.zeros(len(hashes), bool)
        numbers = (hashes >> np.uint64(64 - bits)).astype(np.int64)
        suffixes = hashes << np.uint64(bits)
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(len(self.shards) + 1))
        for number in np.flatnonzero(np.diff(ends)).tolist():
            shard = self.shards[number]
            if shard is not None:
                places = order[ends[number] : ends[number + 1]]
                found[places] = shard.contains_each(suffixes[places])
        return found

    def _hash(self) -> KeyHash:
        if self.key_hash is None:
            raise UnsupportedError(f"set {self.set_name!r} was opened without a hash key, so only for hashes")
        return self.key_hash

    def snapshot(self) -> SnapshotSet:
        """Returns this set."""
        return self

    def contains(self, key: Key, scope: Key = b"") -> bool:
        """Returns whether the set contains a key. A str is encoded as UTF-8."""
        key_hash = self._hash()
        prefix = _scope_bytes(scope)
        return self.contains_hash(key_hash.hash(joined(prefix, self._canonicaliser.canonical(key))))

    def contains_each(self, keys: Iterable[Key], scope: Key = b"") -> list[bool]:
        """Returns whether the set contains each key; with NumPy much faster than single queries.

        Raises InvalidKeyError if a key has no canonical form; query the keys individually to find it.
        """
        key_hash = self._hash()
        prefix = _scope_bytes(scope)
        forms = list(map(self._canonicaliser.canonical, keys))
        # Without a scope, the prefix only changes forms that start with FF.
        if prefix or self._canonicaliser is canonical.NONE:
            forms = [form if not prefix and form[0] != 0xFF else joined(prefix, form) for form in forms]
        return self.contains_hashes(key_hash.hash_each(forms))

    def match(self, url: Key, scope: Key = b"") -> Optional[str]:
        """Returns the most specific entry of this list that matches a URL, or None.

        Raises InvalidKeyError if the URL has no canonical form.
        """
        return self.match_each([url], scope)[0]

    def match_each(self, urls: Iterable[Key], scope: Key = b"") -> list[Optional[str]]:
        """Calls match for many URLs."""
        return [
            answer.matches[0].entry if answer.present else None
            for answer in UrlLists([self]).ask_each(urls, scope)
        ]

    def resembles(self, text: Key, scope: Key = b"") -> int:
        """Returns the number of bands that a text shares with the live text that resembles it most.

        0 if no live text resembles it; all bands of the rule if the text itself is live. Raises
        InvalidKeyError if the text has no canonical form, and UnsupportedError if the set was published
        without --near.
        """
        rule = self.parameters.near
        if rule is None:
            raise UnsupportedError(f"set {self.set_name!r} has no rule for near-duplicates: publish it with --near")
        key_hash = self._hash()
        prefix = _scope_bytes(scope)
        form = self._canonicaliser.canonical(text)
        if self.contains_hash(key_hash.hash(joined(prefix, form))):
            return rule.bands
        return near.equal_bands(rule, near.bands(rule, key_hash, form, prefix), self._tags)

    def _tags(self, band: int) -> Iterator[int]:
        """Returns the tags of the live texts with a band."""
        rule = self.parameters.near
        assert rule is not None
        number, first = self.parameters.shard_and_suffix(rule.first_element(band))
        shard = self.shards[number]
        if shard is None:
            return
        step = 1 << rule.tag_shift + self.parameters.shard_bits
        tags = 1 << rule.tag_bits
        width = shard.buckets * shard.width
        for value in shard.values_between(first, first + (tags - 1) * step):
            # The least suffix with this value, and the first tag from there on.
            suffix = -(-(value << 64) // width)
            tag = max(0, -(-(suffix - first) // step))
            if tag < tags and shard.value(first + tag * step) == value:
                yield tag

    def url_false_positive_rate(self, expressions: int) -> float:
        """Returns the highest false-positive rate of a URL with n expressions: 1 − (1 − ε)^n."""
        return -math.expm1(expressions * math.log1p(-self.parameters.false_positive_rate))


def _scope_bytes(scope: Key) -> bytes:
    given = canonical.key_bytes(scope)
    # Raises InvalidKeyError if the scope is too long.
    joined_prefix(given)
    return given


@dataclass(frozen=True)
class Match:
    """An entry of a list that matches a URL."""

    set_name: str
    entry: str


@dataclass(frozen=True)
class UrlAnswer:
    """The result of matching a URL against lists."""

    url: Key
    matches: tuple[Match, ...]
    """The most specific entry of each matching list, in the order of the lists."""
    allowed_by: tuple[Match, ...]
    expressions: int
    """The number of match expressions; 0 if the URL has no canonical form."""
    false_positive_rate: float
    """The highest false-positive probability of a URL with this number of expressions."""
    reason: Optional[str] = None
    """The reason why the URL has no canonical form and was not looked up."""

    @property
    def present(self) -> bool:
        """Whether a list matches the URL and no allow set does, even by a less specific entry.

        Raises InvalidKeyError if the URL has no canonical form.
        """
        if self.reason is not None:
            raise InvalidKeyError(self.reason)
        return bool(self.matches) and not self.allowed_by


class Snapshotter(Protocol):
    """A SnapshotSet or a Follower."""

    def snapshot(self) -> SnapshotSet:
        """Returns the active set."""


def _url_list(one: SnapshotSet) -> SnapshotSet:
    if one.parameters.canonicaliser_code != canonical.URL_EXPRESSION.code:
        raise UnsupportedError(
            f"set {one.set_name!r} must have the canonicaliser url-expression to look up URLs,"
            f" got {one.parameters.canonicaliser_name}"
        )
    one._hash()
    return one


class UrlLists:
    """Several lists that are queried together. An entry of an allow set overrides the entries of all lists.

    Lists may be sets or followers. Each call queries the active set of a follower, and raises NoSnapshotError before
    the first. Answers contain the names of the sets, or `names`, in the order of the lists and then the allow sets.
    """

    def __init__(
        self,
        lists: Sequence[Snapshotter],
        allow: Sequence[Snapshotter] = (),
        names: Optional[Sequence[str]] = None,
    ) -> None:
        self.lists = tuple(lists)
        self.allow = tuple(allow)
        self._names = None if names is None else list(names)
        if self._names is not None and len(self._names) != len(self.lists) + len(self.allow):
            raise ValueError(f"{len(self.lists) + len(self.allow)} sets require as many names, got {len(self._names)}")
        for one in self.lists + self.allow:
            if isinstance(one, SnapshotSet):
                _url_list(one)

    def ask(self, url: Key, scope: Key = b"") -> UrlAnswer:
        """Matches a URL against the lists."""
        return self.ask_each([url], scope)[0]

    def ask_each(self, urls: Iterable[Key], scope: Key = b"") -> list[UrlAnswer]:
        """Matches many URLs, whose expressions are looked up together."""
        prefix = _scope_bytes(scope)
        sets = [_url_list(one.snapshot()) for one in self.lists + self.allow]
        all_urls = list(urls)
        answers: list[UrlAnswer] = []
        for start in range(0, len(all_urls), _URLS_AT_ONCE):
            answers += self._ask(sets, all_urls[start : start + _URLS_AT_ONCE], prefix)
        return answers

    def _ask(self, lists: list[SnapshotSet], urls: list[Key], scope: bytes) -> list[UrlAnswer]:
        names = self._names or [one.set_name for one in lists]
        versions = {one.parameters.canonicaliser_version for one in lists}
        # The expressions of each URL, by the version of the queried lists.
        of_urls: list[Union[dict[int, list[str]], InvalidKeyError]] = []
        for url in urls:
            try:
                of_urls.append({version: url_expressions(url, version) for version in versions})
            except InvalidKeyError as error:
                of_urls.append(error)
        hashes: dict[tuple[int, int, int], Any] = {}
        found = []
        for one in lists:
            key_hash = one._hash()
            version = one.parameters.canonicaliser_version
            # Lists with the same hash key share the hashes.
            key = (key_hash.algorithm, key_hash.key_check, version)
            if key not in hashes:
                flat = [form for each in of_urls if isinstance(each, dict) for form in each[version]]
                hashes[key] = key_hash.hash_each([joined(scope, form.encode("ascii")) for form in flat])
            found.append(iter(one.contains_hashes(hashes[key])))
        answers = []
        for url, each in zip(urls, of_urls):
            if isinstance(each, InvalidKeyError):
                answers.append(UrlAnswer(url, (), (), 0, 0.0, str(each)))
                continue
            matches = []
            absent = 0.0
            for number, (one, name, listed) in enumerate(zip(lists, names, found)):
                forms = each[one.parameters.canonicaliser_version]
                hits = [form for form in forms if next(listed)]
                matches.append(Match(name, hits[0]) if hits else None)
                if number < len(self.lists):
                    # Logarithms keep the precision of small rates.
                    absent += len(forms) * math.log1p(-one.parameters.false_positive_rate)
            cut = len(self.lists)
            answers.append(
                UrlAnswer(
                    url,
                    tuple(match for match in matches[:cut] if match),
                    tuple(match for match in matches[cut:] if match),
                    len(each[max(versions)]),
                    -math.expm1(absent),
                )
            )
        return answers
