"""URLs of pages, versions 2 and 3 (docs/format/url-v3.md)."""

from __future__ import annotations

import re
from typing import Callable, NamedTuple, Optional

from ..errors import InvalidKeyError
from . import hosts

MAX_PORT = 65_535
_PORTS = {"http": 80, "https": 443, "ftp": 21}
CONTROLS_AND_SPACE = "".join(map(chr, range(0x21)))
_DROPPED = dict.fromkeys(map(ord, "\t\n\r"))
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):[/\\]+")
# Before a URL that a browser opens. Its scheme may lack the slash, or be omitted.
_VISITED_SCHEME = re.compile(r"(https?|ftp|wss?):[/\\]*", re.IGNORECASE | re.ASCII)
_VIEW_SOURCE = re.compile(r"\A(?:view-source:[\x00- ]*)+", re.IGNORECASE | re.ASCII)
_NO_SCHEME = re.compile(r"[/\\]{2,}")
_BARE_IPV6 = re.compile(r"[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\Z")
_AUTHORITY = re.compile(r"[^/\\?]*")
_PORT = re.compile(r"0*([0-9]{1,5})\Z")

_UNRESERVED = r"A-Za-z0-9._~\-"
_PCHAR = _UNRESERVED + "!$&'()*+,;=:@"

# A host whose last label is not a number, and a path without escapes, empty segments and dot segments.
PLAIN_HOST_AND_PATH = (
    r"(?:[a-z0-9_-]+\.)*[a-z_-][a-z0-9_-]*(?:/|(?:/(?!\.{1,2}(?:/|\Z))[" + _PCHAR + r"]+)+/?)\Z"
)
PLAIN_FORM = re.compile(("(?:https?|ftp)://" + PLAIN_HOST_AND_PATH).encode("ascii"))


class Cut(NamedTuple):
    """The parts of a URL. The scheme may be None."""

    scheme: Optional[str]
    host: str
    port: Optional[int]
    path: str
    query: str


def cut(key: str, schemes: tuple[str, ...]) -> Cut:
    """Splits a URL with one of the schemes, or without a scheme, into its parts."""
    return _cut(_cleaned(key), schemes)


def cut_visit(key: str, schemes: tuple[str, ...]) -> Cut:
    """Splits a URL that a browser opens, which is more tolerant about schemes."""
    url = _VIEW_SOURCE.sub("", _cleaned(key))
    match = _VISITED_SCHEME.match(url)
    if match:
        return _from_host(match.group(1).lower(), url[match.end() :])
    match = _NO_SCHEME.match(url)
    return _from_host("http", url[match.end() :]) if match else _cut(url, schemes)


def _cleaned(key: str) -> str:
    return key.strip(CONTROLS_AND_SPACE).translate(_DROPPED).partition("#")[0]


def _cut(url: str, schemes: tuple[str, ...]) -> Cut:
    match = _SCHEME.match(url)
    if match:
        scheme = match.group(1).lower()
        if scheme not in schemes:
            known = ", ".join(f"{name}://" for name in sorted(schemes))
            raise InvalidKeyError(f"URL must start with {known} or a host, got '{scheme}:'")
        return _from_host(scheme, url[match.end() :])
    if _BARE_IPV6.match(url):
        return Cut(None, f"[{url}]", None, "", "")
    return _from_host(None, url)


def _from_host(scheme: Optional[str], rest: str) -> Cut:
    match = _AUTHORITY.match(rest)
    assert match is not None
    authority = match.group()
    user, at, server = authority.rpartition("@")
    if at and scheme is None:
        raise InvalidKeyError(f"{authority!r} has an at sign and no scheme, as an e-mail address has")
    port_at = server.find(":", max(0, server.find("]")) if server.startswith("[") else 0)
    host = server if port_at < 0 else server[:port_at]
    if not host:
        raise InvalidKeyError("URL has no host")
    if scheme is None:
        hosts.require_plain(host)
    port = None if port_at < 0 else _port(server[port_at + 1 :], scheme is not None)
    path, _, query = rest[len(authority) :].partition("?")
    return Cut(scheme, host, port, path.replace("\\", "/"), query)


def _port(digits: str, may_be_empty: bool) -> Optional[int]:
    if not digits and may_be_empty:
        return None
    match = _PORT.match(digits)
    if not match or int(match.group(1)) > MAX_PORT:
        raise InvalidKeyError(f"port must be a number in [0, {MAX_PORT}], got {digits!r}")
    return int(match.group(1))


def escaper(literal: str, unescaped: str) -> Callable[[str], str]:
    """Returns a function that normalises escapes, for two sets in the syntax of character classes."""
    other = re.compile(f"%[0-9A-Fa-f]{{2}}|[^{literal}]".encode("ascii"))
    decoded = re.compile(f"[{unescaped}]".encode("ascii"))

    def normalised(found: re.Match[bytes]) -> bytes:
        text = found.group()
        if len(text) == 1:
            return b"%%%02X" % text[0]
        byte = bytes([int(text[1:], 16)])
        return byte if decoded.match(byte) else text.upper()

    return lambda text: other.sub(normalised, text.encode("utf-8")).decode("ascii")


_escaped_path = escaper(_PCHAR + "/", _UNRESERVED)
_escaped_query_2 = escaper(_PCHAR + "/?", _UNRESERVED)
# Browsers escape the apostrophe in queries.
_escaped_query = escaper(_PCHAR.replace("'", "") + "/?", _UNRESERVED)
# For match expressions.
escaped_list_path = escaper(_PCHAR + "/", _PCHAR + "/")
escaped_list_query = escaper(_PCHAR + "/?", _UNRESERVED + "!$'()*,:@/?")


def without_dots(path: str) -> str:
    """Returns a path without empty segments and dot segments."""
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment and segment != ".":
            kept.append(segment)
    end = "/" if kept and segments[-1] in ("", ".", "..") else ""
    return "/" + "/".join(kept) + end


# The name of a parameter, a prefix before a star, or a single star.
_PATTERN = re.compile(r"[A-Za-z0-9._~-]+\*?|\*")
MAX_PATTERNS = 1000


def patterns(text: str) -> str:
    """Returns the canonical form of patterns of stripped parameters; raises ValueError for invalid text."""
    each = sorted(set(text.split(",")))
    for pattern in each:
        if not _PATTERN.fullmatch(pattern) or pattern == "common":
            raise ValueError(f"a stripped parameter must be a name or a prefix and *, got {pattern!r}")
    form = ",".join(each)
    if len(form) > MAX_PATTERNS:
        raise ValueError(f"stripped parameters must have at most {MAX_PATTERNS} characters, got {len(form)}")
    return form


def stripping(text: str, version: int) -> Callable[[str], str]:
    """Returns the rule that removes the parameters matching patterns."""
    each = patterns(text).split(",")
    names = frozenset(pattern for pattern in each if not pattern.endswith("*"))
    beginnings = tuple(pattern[:-1] for pattern in each if pattern.endswith("*"))
    escaped = _escaped_query_2 if version == 2 else _escaped_query
    return lambda key: _canonical(key, escaped, lambda name: name in names or name.startswith(beginnings))


def canonical(key: str) -> str:
    return _canonical(key, _escaped_query)


def canonical_2(key: str) -> str:
    return _canonical(key, _escaped_query_2)


def _canonical(
    key: str, escaped_query: Callable[[str], str], is_stripped: Callable[[str], bool] = lambda name: False
) -> str:
    scheme, host, port, path, query = cut(key, ("http", "https", "ftp"))
    scheme = scheme or "http"
    form = f"{scheme}://{hosts.canonical(host)}"
    if port is not None and port != _PORTS[scheme]:
        form += f":{port}"
    form += without_dots(_escaped_path(path))
    parameters = []
    for parameter in escaped_query(query).split("&"):
        name, equals, value = parameter.partition("=")
        if name and not is_stripped(name):
            parameters.append((name, parameter if value else name))
    parameters.sort(key=lambda parameter: parameter[0])
    return form + ("?" + "&".join(parameter for _, parameter in parameters) if parameters else "")
