"""Entries of lists and the match expressions of URLs (docs/format/url-expression-v2.md)."""

from __future__ import annotations

import re
from typing import Optional

from ..errors import InvalidKeyError
from . import hosts, ip, suffixes, url

SCHEMES = ("http", "https", "ftp", "ws", "wss")
# Limits for URLs that are looked up, by the version of the set.
_MAX_HOSTS = {1: 5, 2: 128}
_MAX_DIRECTORIES = {1: 4, 2: 16}
_MAX_LABELS = _MAX_HOSTS[2] - 1

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[/\\]")
# In version 1 anywhere; later at the start or after a list of domains, and before a selector.
_COSMETIC_MARK = re.compile(r"#[@?$%]*#")
_COSMETIC = re.compile(r"[A-Za-z0-9_.*,~\x80-\U0010ffff-]*#[@?$%]*##?[^# \t]|[A-Za-z0-9_.*,~\x80-\U0010ffff-]+#[@?$%]*#\Z")
_ADBLOCK_HEADER = re.compile(r"\[Adblock", re.IGNORECASE | re.ASCII)
_LINE_BREAK = re.compile(r"[\r\n]")
# A backslash, or a character in path or query that URLs escape.
_REGULAR_EXPRESSION = re.compile(r"""\\|^[^/?]*[/?][^"<>\[\]^`{|}]*["<>\[\]^`{|}]""")
# A filter for a part of a name, such as .ad.page. or .com/ads/
_PART_OF_NAME = re.compile(r"\.(?:.*[/?:].*|.*\.)", re.DOTALL)
_OPTION_PATTERN = (
    r"~?(?:third-party|3p|strict3p|first-party|1p|strict1p|script|image|stylesheet|css|object"
    r"|object-subrequest|xmlhttprequest|xhr|subdocument|frame|popup|popunder|media|font|websocket|webrtc"
    r"|ping|other|badfilter|important|all|document|doc|domain|from|to|method|header|ipaddress"
    r"|denyallow|sitekey|app|csp|permissions|redirect|redirect-rule|rewrite|replace|removeparam"
    r"|removeheader|uritransform|urltransform|urlskip|empty|mp4|cookie|cname|match-case|generichide"
    r"|ghide|genericblock|specifichide|shide|elemhide|ehide|urlblock|content|jsinject|extension|stealth"
    r"|inline-script|inline-font|network)(?:=.*)?"
)
_OPTION = re.compile(_OPTION_PATTERN, re.DOTALL)
_PAGE_AND_OPTION = re.compile(rf".*\${_OPTION_PATTERN}", re.DOTALL)
_COMMENT = re.compile(r"[ \t]#.*", re.DOTALL)
_SPACES = re.compile(r"[ \t]+")
# Unicode's White_Space, and control characters.
_SPACE_OR_CONTROL = re.compile("[\\x00- \\x7f-\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]")
_OPTIONS = re.compile(r"\$([A-Za-z0-9~_,=|.-]+)\Z")
# Options that do not narrow which visits of a page a filter blocks.
_WIDE_OPTIONS = {"all", "doc", "document", "important"}
_NOT_PLAIN = re.compile(r"[\^*|?]")
# Addresses that hosts files use to block a name.
_NOWHERE = {"0.0.0.0", "127.0.0.1", "[::]", "[::1]"}
# Bytes that are not UTF-8 in a URL that is looked up.
_ESCAPED_BYTES = {0xDC00 + byte: f"%{byte:02X}" for byte in range(0x80, 0x100)}
_MARKS = re.compile(r"[~$&'()+;=]")
_RANGE_IN_PAGE = re.compile(r"\.?(?::[0-9]*)?/([0-9]{1,3})/?\Z")
_BACKSLASH = re.compile("%5[Cc]")

# A possible address, and a possible prefix length.
_RANGE = re.compile(r"([^/]+)/([0-9]{1,3})(?=[ \t#]|\Z)")

PLAIN_FORM = re.compile(url.PLAIN_HOST_AND_PATH.encode("ascii"))
# A star may be a pattern, a dollar sign may begin options, and a form may be too deep.
PLAIN_ENTRY = re.compile(rb"(?=[^*$]*\Z)(?!(?:[^/]*/){17})(?!(?:[^.]*\.){127})" + PLAIN_FORM.pattern)


def entry(line: str) -> str:
    """Returns the canonical form host[:port]/path[?query] of a line of a list."""
    form = _entry(listed(line), 2)
    host, _, path = form.partition("/")
    labels = host.count(".") + 1
    if labels > _MAX_LABELS:
        raise InvalidKeyError(f"an entry's host must have at most {_MAX_LABELS} labels, as URLs have, got {labels}")
    segments = path.count("/")
    if form.endswith("/") and "?" not in form and segments >= _MAX_DIRECTORIES[2]:
        raise InvalidKeyError(
            f"an entry's directory must have at most {_MAX_DIRECTORIES[2] - 1} segments, by which URLs are looked up,"
            f" got {segments}"
        )
    return form


def entry_1(line: str) -> str:
    """Returns the canonical form in version 1."""
    return _entry(listed(line, 1), 1)


def _entry(text: str, version: int) -> str:
    parts = url.cut(text, SCHEMES)
    if parts.scheme is None:
        directory = parts.path.endswith("/*") and not parts.query
        if "*" in (parts.path[:-1] if directory else parts.path) + parts.query:
            raise InvalidKeyError(f"{text!r} is a pattern; list its directory, or the page with http:// before it")
        if version > 1:
            _require_host(parts.host)
    else:
        parts = parts._replace(host=_without_wildcard(parts.host))
        if "*" in parts.host:
            raise InvalidKeyError(f"host {parts.host!r} is a pattern; list the domain")
    form = _form(parts)
    return form[:-1] if form.endswith("/*") and "?" not in form else form


def visit(url_of_user: bytes) -> str:
    """Returns the canonical form host[:port]/path[?query] of a URL to look up."""
    text = url_of_user.decode("utf-8", "surrogateescape").translate(_ESCAPED_BYTES)
    return _form(url.cut_visit(text, SCHEMES))


def _form(parts: url.Cut) -> str:
    scheme, host, port, path, query = parts
    form = hosts.canonical(host, embedded=True)
    if port not in (None, 80, 443) and not (port == 21 and scheme == "ftp"):
        form += f":{port}"
    form += url.without_dots(url.escaped_list_path(_BACKSLASH.sub("/", path)))
    return form + ("?" + url.escaped_list_query(query) if query else "")


def listed(line: str, version: int = 2) -> str:
    """Returns the host or URL of a line of a list, without the surrounding notation."""
    text = line.strip(url.CONTROLS_AND_SPACE)
    if version == 1 and _SCHEME.match(text):
        return text
    if version > 1 and _LINE_BREAK.search(text):
        raise InvalidKeyError(f"{text!r} has a line break")
    if is_comment(text):
        raise InvalidKeyError(f"{text!r} is a comment")
    if text.startswith("@@"):
        raise InvalidKeyError(f"{text!r} is an exception, which lists nothing")
    if _COSMETIC_MARK.search(text) if version == 1 else _COSMETIC.match(text):
        raise InvalidKeyError(f"{text!r} is a cosmetic filter, which lists parts of pages")
    rest = _without_comment(text)
    if text.startswith("|"):
        if version == 1:
            return _filtered(text)
        _require_one_column(rest)
        return _require_no_range(_filtered(rest), version)
    if version > 1:
        # A URL to look up also has no fragment.
        rest = rest.partition("#")[0].rstrip(url.CONTROLS_AND_SPACE)
    is_url = _SCHEME.match(rest)
    name = None if is_url else _named(rest, version)
    if version > 1:
        _require_one_column(name or rest)
    if is_url:
        return rest
    if version > 1 and (
        _REGULAR_EXPRESSION.search(rest) or _PART_OF_NAME.fullmatch(rest) or _has_options(rest)
    ):
        raise InvalidKeyError(
            f"{rest!r} is a pattern or a regular expression; list the host, or the page with http:// before it"
        )
    rest = name or rest
    return _require_no_range(rest[2:] if version > 1 and rest.startswith("+.") else _without_wildcard(rest), version)


def _has_options(entry: str) -> bool:
    """Whether a line ends with a dollar sign and options of filters between commas."""
    for part in reversed(entry.split(",")):
        if _PAGE_AND_OPTION.fullmatch(part):
            return True
        if not _OPTION.fullmatch(part):
            return False
    return False


def _require_one_column(entry: str) -> None:
    if _SPACE_OR_CONTROL.search(entry):
        raise InvalidKeyError(f"{entry!r} has more than one column; select one, or write a space in a URL as %20")


def _require_no_range(text: str, version: int) -> str:
    # In version 2 also with a dot or a port after the address, or a slash after the length.
    if _is_range(text) or version > 1 and _is_range(_RANGE_IN_PAGE.sub(r"/\1", text)):
        raise InvalidKeyError(
            f"{text!r} is a range of addresses; list them one by one, or a page with http:// before it"
        )
    return text


def _require_host(host: str) -> None:
    """Rejects marks and numbers that other notations use in place of a host."""
    if host.startswith("["):
        return
    if _MARKS.search(host):
        raise InvalidKeyError(f"host {host!r} without a scheme must not have any of ~$&'()+;=")
    plain = host[:-1] if host.endswith(".") else host
    if plain.count(".") != 3 and ip.ends_in_number(plain):
        raise InvalidKeyError(f"{host!r} is a number; an address has four parts, or http:// before it")


def is_comment(text: str) -> bool:
    """Returns whether a stripped line is a comment or empty."""
    return (
        not text
        or text.startswith("!")
        or (text.startswith("#") and not _COSMETIC.match(text))
        or _ADBLOCK_HEADER.match(text) is not None
    )


def _without_comment(text: str) -> str:
    comment = _COMMENT.search(text)
    return text if comment is None else text[: comment.start()].rstrip(" \t")


def _is_range(text: str) -> bool:
    """Returns whether a text is an IP address, a slash and a prefix length."""
    found = _RANGE.match(text)
    if not found:
        return False
    address, length = found.group(1), int(found.group(2))
    bracketed = address.startswith("[") and address.endswith("]")
    if ip.ipv6(address[1:-1] if bracketed else address) is not None:
        return length <= 128
    return not bracketed and ip.ipv4(address) is not None and length <= 32


def _without_wildcard(text: str) -> str:
    if text.startswith("*."):
        return text[2:]
    return text[1:] if text.startswith(".") else text


def _filtered(text: str) -> str:
    """Returns the entry of an Adblock network filter: ||host^, ||host/directory/ or ||host/directory/*."""
    body = text
    options = _OPTIONS.search(text)
    if options:
        for option in options.group(1).split(","):
            if option not in _WIDE_OPTIONS:
                raise InvalidKeyError(
                    f"an Adblock filter must not have options that narrow it, got {option!r}"
                )
        body = text[: options.start()]
    body = _without_wildcard(body[2:]) if body.startswith("||") else ""
    is_host = body.endswith("^") and "/" not in body
    rest = body[:-1] if is_host or body.endswith("/*") else body
    if not (is_host or rest.endswith("/")) or not rest or _NOT_PLAIN.search(rest):
        raise InvalidKeyError(f"an Adblock filter must be ||host^ or ||host/directory/, got {text!r}")
    return rest


def _named(text: str, version: int) -> Optional[str]:
    """Returns the name in a line of a hosts file; None for any other line."""
    words = _SPACES.split(text)
    if len(words) < 2:
        return None
    address = _address(words[0])
    if address is None:
        return None
    if address not in _NOWHERE:
        raise InvalidKeyError(
            f"a hosts-file line must have the address 0.0.0.0, 127.0.0.1, :: or ::1, got {words[0]!r}"
        )
    if len(words) > 2:
        raise InvalidKeyError(f"a hosts-file line must name one host, got {len(words) - 1}")
    name = words[1]
    plain = name if version == 1 else name.lower().removesuffix(".")
    if (
        "." not in plain
        or plain == "localhost.localdomain"
        or _address(plain) is not None
        or (version > 1 and ip.ipv4(plain) is not None)
    ):
        raise InvalidKeyError(f"a hosts-file line must name a domain of the Internet, got {name!r}")
    return name


def _address(word: str) -> Optional[str]:
    if ":" in word:
        pieces = ip.ipv6(word)
        return None if pieces is None else ip.bracketed(pieces)
    return word if ip.ipv4(word) == word else None


def of_canonical(form: str, version: int) -> list[str]:
    """Returns the expressions of a URL in canonical form, most specific first."""
    path_at = form.index("/")
    authority, path = form[:path_at], form[path_at:]
    port_at = authority.find(":", authority.find("]") + 1)
    host = authority if port_at < 0 else authority[:port_at]

    all_hosts = [authority] if port_at < 0 else [authority, host]
    start = -1 if host.startswith("[") or ip.ends_in_number(host) else suffixes.registrable_start(host)
    parents: list[str] = []
    while start > 0 and len(all_hosts) + len(parents) < _MAX_HOSTS[version]:
        parents.insert(0, host[start:])
        start = host.rfind(".", 0, start - 1) + 1
    all_hosts += parents

    page, mark, _ = path.partition("?")
    paths = [path, page] if mark else [page]
    directories: list[str] = []
    end = 1
    while 0 < end < len(page) and len(directories) < _MAX_DIRECTORIES[version]:
        directories.insert(0, page[:end])
        end = page.find("/", end) + 1
    paths += directories
    return [one + other for one in all_hosts for other in paths]
