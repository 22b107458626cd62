"""Canonical forms of keys, so that different spellings become one key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Optional, Union

from ..errors import InvalidKeyError, UnsupportedError
from . import expressions, text, url

MAX_KEY_BYTES = 65_536
Key = Union[str, bytes]


def key_bytes(key: Key) -> bytes:
    """Returns a key as bytes; a str is encoded as UTF-8."""
    if isinstance(key, bytes):
        return key
    try:
        return key.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidKeyError("key is not UTF-8: it has half a surrogate pair") from None


def _decoded(
    rule: Callable[[str], str], is_form: Optional[Callable[[bytes], object]] = None
) -> Callable[[bytes], bytes]:
    """Wraps a rule for bytes; `is_form` quickly detects most keys in canonical form."""

    def apply(key: bytes) -> bytes:
        if is_form is not None and is_form(key):
            return key
        try:
            return rule(key.decode("utf-8")).encode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidKeyError(f"key is not UTF-8: malformed at byte {error.start}") from None

    return apply


@dataclass(frozen=True)
class Canonicaliser:
    """A rule that maps keys to canonical forms. It is idempotent."""

    code: int
    """The code in binary headers."""
    name: str
    version: int
    rule: Callable[[bytes], bytes]
    stripped: str = ""
    """Patterns of the query parameters to remove; only for the rule url."""

    def canonical(self, key: Key) -> bytes:
        """Returns the canonical form of a key; raises InvalidKeyError if it has none."""
        given = key if isinstance(key, bytes) else key_bytes(key)
        if not 0 < len(given) <= MAX_KEY_BYTES:
            if not given:
                raise InvalidKeyError("key is empty")
            raise _too_long("key", given)
        form = self.rule(given)
        if len(form) > MAX_KEY_BYTES:
            raise _too_long("canonical key", form)
        return form

    def stripping(self, patterns: str) -> Canonicaliser:
        """Returns the rule url that also removes the parameters matching patterns, such as `gclid,utm_*`."""
        if self.code != URL.code:
            raise UnsupportedError(f"only the canonicaliser url strips parameters, got {self.name}")
        try:
            form = url.patterns(patterns)
        except ValueError as error:
            raise UnsupportedError(str(error)) from None
        return replace(self, rule=_decoded(url.stripping(form, self.version)), stripped=form)


def _too_long(what: str, key: bytes) -> InvalidKeyError:
    return InvalidKeyError(f"{what} must be at most {MAX_KEY_BYTES} bytes, got {len(key)}")


NONE = Canonicaliser(0, "none", 1, lambda key: key)
URL = Canonicaliser(1, "url", 3, _decoded(url.canonical, url.PLAIN_FORM.match))
TEXT = Canonicaliser(2, "text", 1, _decoded(text.canonical))
URL_EXPRESSION = Canonicaliser(3, "url-expression", 2, _decoded(expressions.entry, expressions.PLAIN_ENTRY.match))
_OLDER = (
    replace(URL, version=2, rule=_decoded(url.canonical_2, url.PLAIN_FORM.match)),
    replace(URL_EXPRESSION, version=1, rule=_decoded(expressions.entry_1, expressions.PLAIN_ENTRY.match)),
)
# The newest version of each rule, by its code.
ALL = {rule.code: rule for rule in (NONE, URL, TEXT, URL_EXPRESSION)}
VERSIONS = {(rule.code, rule.version): rule for rule in (*ALL.values(), *_OLDER)}
# The maximum length of a URL in Chromium.
MAX_URL_BYTES = 2 << 20


def canonicaliser(name: str) -> Canonicaliser:
    """Returns the rule with a name: none, url, text, url-expression, or a version such as url-2."""
    for rule in (*ALL.values(), *_OLDER):
        if name in (rule.name, f"{rule.name}-{rule.version}"):
            return rule
    raise UnsupportedError(
        f"canonicaliser must be one of {', '.join(rule.name for rule in ALL.values())}, or an older version,"
        f" url-2 or url-expression-1, got {name!r}"
    )


def url_expressions(url_of_user: Key, version: int = URL_EXPRESSION.version) -> list[str]:
    """Returns all list entries that match a URL, most specific first, for a version of url-expression.

    The URL may lack its scheme. It is not parsed as a line of a list.
    """
    given = key_bytes(url_of_user)
    if not given:
        raise InvalidKeyError("key is empty")
    if len(given) > MAX_URL_BYTES:
        raise InvalidKeyError(f"URL must be at most {MAX_URL_BYTES} bytes, got {len(given)}")
    form = given.decode("ascii") if expressions.PLAIN_FORM.match(given) else expressions.visit(given)
    return [one for one in expressions.of_canonical(form, version) if len(one) <= MAX_KEY_BYTES]
