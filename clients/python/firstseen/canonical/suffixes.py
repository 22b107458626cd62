"""Registrable domains, using the ICANN section of the public suffix list.

The section is in public_suffix_list_icann.dat, copied from the list of publicsuffix.org that
crawler-commons 1.6 bundles; Mozilla Public License 2.0 (https://mozilla.org/MPL/2.0/).
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from . import hosts

VERSION = "2025-11-27_13-27-58_UTC"
"""The version in the list."""


class _Rules(NamedTuple):
    suffixes: frozenset[str]
    # Wildcard rules: every name one label longer is a suffix.
    wildcards: frozenset[str]
    # Exceptions to wildcard rules.
    exceptions: frozenset[str]
    # The number of labels of the longest rule, including its star.
    longest: int


@lru_cache(maxsize=1)
def _rules() -> _Rules:
    suffixes, wildcards, exceptions = set(), set(), set()
    section = files(__package__).joinpath("public_suffix_list_icann.dat").read_text(encoding="utf-8")
    for line in section.splitlines():
        rule = line.strip()
        if rule and not rule.startswith("//"):
            if rule.startswith("!"):
                exceptions.add(hosts.canonical(rule[1:]))
            elif rule.startswith("*."):
                wildcards.add(hosts.canonical(rule[2:]))
            else:
                suffixes.add(hosts.canonical(rule))
    longest = max(name.count(".") + 1 for name in suffixes | exceptions | {f"*.{name}" for name in wildcards})
    return _Rules(frozenset(suffixes), frozenset(wildcards), frozenset(exceptions), longest)


def registrable_start(domain: str) -> int:
    """Returns the start of the registrable domain in a domain; -1 for a public suffix."""
    rules = _rules()
    suffix = domain.rfind(".") + 1
    below = suffix
    labels = 1
    while below > 0 and labels < rules.longest:
        labels += 1
        longer = domain.rfind(".", 0, below - 1) + 1
        name = domain[longer:]
        if name in rules.exceptions:
            return longer
        if name in rules.suffixes or domain[below:] in rules.wildcards:
            suffix = longer
        below = longer
    return -1 if suffix == 0 else domain.rfind(".", 0, suffix - 1) + 1
