"""Canonical forms of keys, so that different spellings become one key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable, Optional, Union

from ..errors import InvalidKeyError, UnsupportedError
from . import expressions, text, url

MAX_KEY_BYTES = 65_536
Key = Union[str, bytes]


def key_bytes(key: Key) -> bytes:
    """A key as bytes; a text is UTF-8."""
    if isinstance(key, bytes):
        return key
    try:
        return key.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidKeyError("key is not UTF-8: it has half a surrogate pair") from None


def _decoded(
    rule: Callable[[str], str], is_form: Optional[Callable[[bytes], object]] = None
) -> Callable[[bytes], bytes]:
    """A rule for bytes; `is_form` quickly recognises most keys that are in canonical form."""

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
    """A rule that gives a key its canonical form. No form has another one than itself."""

    code: int
    """The number in binary headers."""
    name: str
    version: int
    rule: Callable[[bytes], bytes]
    stripped: str = ""
    """Patterns of the query parameters that are left out; of the rule url alone."""

    def canonical(self, key: Key) -> bytes:
        """The canonical form; raises InvalidKeyError if there is none."""
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
        """The rule url without the parameters that patterns name, such as `gclid,utm_*`."""
        if self.name != "url":
            raise UnsupportedError(f"only the canonicaliser url strips parameters, got {self.name}")
        try:
            form = url.patterns(patterns)
        except ValueError as error:
            raise UnsupportedError(str(error)) from None
        return replace(self, rule=_decoded(url.stripping(form)), stripped=form)


def _too_long(what: str, key: bytes) -> InvalidKeyError:
    return InvalidKeyError(f"{what} must be at most {MAX_KEY_BYTES} bytes, got {len(key)}")


NONE = Canonicaliser(0, "none", 1, lambda key: key)
URL = Canonicaliser(1, "url", 2, _decoded(url.canonical, url.PLAIN_FORM.match))
TEXT = Canonicaliser(2, "text", 1, _decoded(text.canonical))
URL_EXPRESSION = Canonicaliser(3, "url-expression", 1, _decoded(expressions.entry, expressions.PLAIN_ENTRY.match))
# The same for a URL that is asked, which has no notation of lists.
_VISIT = replace(URL_EXPRESSION, rule=_decoded(expressions.visit, expressions.PLAIN_FORM.match))
ALL = {rule.code: rule for rule in (NONE, URL, TEXT, URL_EXPRESSION)}


def canonicaliser(name: str) -> Canonicaliser:
    """The rule called `name`: none, url, text or url-expression."""
    for rule in ALL.values():
        if rule.name == name:
            return rule
    raise UnsupportedError(
        f"canonicaliser must be one of {', '.join(rule.name for rule in ALL.values())}, got {name!r}"
    )


def url_expressions(url_of_user: Key) -> list[str]:
    """All entries of a list that would list a URL, the most specific first: 1 to 30.

    The URL may lack its scheme; it is no line of a list, whose notation may mean more.
    """
    form = _VISIT.canonical(url_of_user)
    return expressions.of_canonical(form.decode("ascii"))
