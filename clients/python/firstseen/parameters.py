"""The parameters of a set in the headers of snapshots and manifests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Optional

from . import canonical
from .bits import require
from .canonical import url
from .errors import UnsupportedError
from .keyhash import HASH_NAMES, KeyHash, joined
from .near import MAX_RULE_CHARS, NearRule

MAX_SHARDS = 65_536


@dataclass(frozen=True)
class SetParameters:
    """The mapping of keys to hashes, and of hashes to values. Packs require equal parameters."""

    hash_algorithm: int
    key_check: int
    canonicaliser_code: int
    canonicaliser_version: int
    shard_count: int
    false_positive_rate: float
    """The configured rate per key, an upper bound of the actual rate."""
    stripped: str = ""
    """Patterns of the query parameters that are removed from URLs; may be empty."""
    near: Optional[NearRule] = None
    """The rule whose bands the set contains in addition to the texts."""

    def require_valid(self) -> None:
        version, shards, rate = self.canonicaliser_version, self.shard_count, self.false_positive_rate
        require(
            1 <= version <= 65_535,
            f"the version of the canonicaliser must be in [1, 65535], got {version}",
        )
        require(
            1 <= shards <= MAX_SHARDS and shards & (shards - 1) == 0,
            f"the number of shards must be a power of two up to {MAX_SHARDS}, got {shards}",
        )
        require(
            not self.stripped or self.canonicaliser_code == canonical.URL.code,
            "only sets of the canonicaliser url have stripped parameters",
        )
        require(
            self.near is None or self.canonicaliser_code == canonical.TEXT.code,
            "only sets of the canonicaliser text have a rule for near-duplicates",
        )
        require(0 < rate <= 0.1, f"the false-positive rate must be above 0, at most 0.1, got {rate}")

    @property
    def shard_bits(self) -> int:
        return self.shard_count.bit_length() - 1

    @property
    def hash_name(self) -> str:
        return HASH_NAMES[self.hash_algorithm]

    @property
    def canonicaliser_name(self) -> str:
        return canonical.ALL[self.canonicaliser_code].name

    def canonicaliser(self) -> canonical.Canonicaliser:
        """Returns the canonicaliser; raises UnsupportedError for an unknown version."""
        rule = canonical.VERSIONS.get((self.canonicaliser_code, self.canonicaliser_version))
        if rule is None:
            raise UnsupportedError(
                f"the canonicaliser {self.canonicaliser_name} has version {self.canonicaliser_version},"
                f" the newest of this reader is {canonical.ALL[self.canonicaliser_code].version}"
            )
        return rule.stripping(self.stripped) if self.stripped else rule

    def require_hash(self, key_hash: KeyHash) -> None:
        """Raises UnsupportedError for a different hash key."""
        if key_hash.algorithm != self.hash_algorithm:
            raise UnsupportedError(f"the keys are hashed by {self.hash_name}, got a key of {key_hash.name}")
        if key_hash.key_check != self.key_check:
            raise UnsupportedError("the snapshot was made with another hash key")

    def hash(self, key: canonical.Key, scope: bytes, key_hash: KeyHash) -> int:
        """Returns the hash of a key; raises InvalidKeyError if the key has no canonical form."""
        return key_hash.hash(joined(scope, self.canonicaliser().canonical(key)))

    def shard_and_suffix(self, hash_of_key: int) -> tuple[int, int]:
        bits = self.shard_bits
        return hash_of_key >> (64 - bits), hash_of_key << bits & (1 << 64) - 1


def require_known(hash_algorithm: int, canonicaliser_code: int) -> None:
    """Raises UnsupportedError for an unknown hash or canonicaliser."""
    if hash_algorithm not in HASH_NAMES:
        raise UnsupportedError(f"the hash must be 1 or 2, got {hash_algorithm}")
    if canonicaliser_code not in canonical.ALL:
        raise UnsupportedError(
            f"the canonicaliser must be 0 to {max(canonical.ALL)}, got {canonicaliser_code}"
        )


# Bits of the required flags of snapshots and manifests.
_STRIPPED, _NEAR = 1, 2
KNOWN_FLAGS = _STRIPPED | _NEAR


def rule_name(flags: int) -> str:
    """Returns the name of the field that a flag announces."""
    return "the rule for near-duplicates" if flags == _NEAR else "the stripped parameters"


def most_rule_bytes(flags: int) -> int:
    """Returns the highest length of the field that a flag announces."""
    return MAX_RULE_CHARS if flags == _NEAR else url.MAX_PATTERNS


def with_rule(parameters: SetParameters, flags: int, rule: bytes) -> SetParameters:
    """Returns the parameters with the field that a flag announces."""
    require(flags != KNOWN_FLAGS, "a set must have one of the features 1 and 2")
    if flags == _STRIPPED:
        return replace(parameters, stripped=stripped_parameters(rule))
    return replace(parameters, near=NearRule.read(rule)) if flags == _NEAR else parameters


def rule_of(parameters: SetParameters) -> tuple[int, bytes]:
    """Returns the required flags, and the field that they announce."""
    if parameters.near is not None:
        return _NEAR, str(parameters.near).encode("ascii")
    return _STRIPPED if parameters.stripped else 0, parameters.stripped.encode("ascii")


def stripped_parameters(text: bytes) -> str:
    """Reads the patterns in a file; rejects non-canonical forms."""
    try:
        given = text.decode("ascii")
        is_form = url.patterns(given) == given
    except ValueError:
        is_form = False
    require(is_form, f"the stripped parameters must be patterns in their one form, got {text!r}")
    return given


def require_window(start: int, end: int) -> None:
    require(start <= end, "the window must not end before it starts")


def require_universe(buckets: int, width: int) -> None:
    require(1 <= buckets <= 1 << 31, f"there must be 1 to 2^31 buckets, got {buckets}")
    require(1 <= width <= 1 << 62, f"a bucket must have 1 to 2^62 values, got {width}")
    require(buckets * width <= 1 << 64, f"there must be at most 2^64 values, got {buckets * width}")


def require_fits(count: int, buckets: int) -> None:
    require(
        buckets <= max(65_536, count // 8),
        f"a set of {count} values cannot have {buckets} buckets",
    )


def require_room(parameters: SetParameters, buckets: int, width: int, count: int, hash_count: int) -> None:
    """Checks that the range of a set fits the shard and its hashes."""
    most = 64 - parameters.shard_bits
    require(buckets * width <= 1 << most, f"there must be at most 2^{most} values, got {buckets * width}")
    least = parameters.near.least_range if parameters.near else 0
    require(
        buckets * width * parameters.shard_count >= least,
        f"a range of {buckets * width} is too small for the tags of {parameters.near}",
    )
    require(
        hash_count >= count and (hash_count == 0) == (count == 0),
        f"the number of hashes must be at least {count}, and 0 if that is, got {hash_count}",
    )
    require_rate(parameters, buckets, width, count)
    require_fits(count, buckets)


def require_rate(parameters: SetParameters, buckets: int, width: int, count: int) -> None:
    rate = parameters.false_positive_rate
    require(
        count <= Fraction(rate) * buckets * width,
        f"a range of {buckets * width} is too small for {count} keys at the rate {rate}",
    )
