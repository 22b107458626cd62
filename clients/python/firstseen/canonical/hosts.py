"""The canonical form of hosts (docs/format/url-v3.md, Hosts)."""

from __future__ import annotations

import re
import unicodedata

from ..errors import InvalidKeyError
from . import ip
from .text import IGNORABLE, simple_lower

MAX_INTERNATIONAL = 1024
# Characters that are escaped in a label, and that lists and tables use around hosts.
MARKS = '!*,"`{}'
_LAST = re.compile(r"[a-z0-9_\x80-\U0010ffff-]*\Z")
_INNER = re.compile(r"""[a-z0-9_~$&'()+;=!*,"`{}\x80-\U0010ffff-]*\Z""")
_MARK = re.compile(f"[{re.escape(MARKS)}]")
_PLAIN = re.compile(r"(?:[a-z0-9_-]+\.)*[a-z_-][a-z0-9_-]*\Z")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
# Joiners distinguish words in some scripts and are kept.
_IGNORED = re.compile("[" + IGNORABLE.replace("\u200b-\u200f", "\u200b\u200e\u200f") + "]+")
_STYLED_SIGMAS = re.compile("[\u03f2\U0001d6d3\U0001d70d\U0001d747\U0001d781\U0001d7bb]")
_LOWER_ASCII = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_OWN_FOLDING = {"ß": "ß", "ς": "ς", "ı": "ı", "ẞ": "ß", "İ": "i\u0307"}


def canonical(host: str, embedded: bool = False) -> str:
    """Returns the form of a host; `embedded` converts an IPv6 address with an embedded IPv4 address to IPv4."""
    if _PLAIN.match(host):
        return host
    if host.startswith("["):
        pieces = ip.ipv6(host[1:-1]) if host.endswith("]") else None
        if pieces is None:
            raise InvalidKeyError(f"host {host!r} must be an IPv6 address between [ and ]")
        return (ip.embedded_ipv4(pieces) if embedded else None) or ip.bracketed(pieces)
    written = _decoded(host) if "%" in host else host
    if len(written) > MAX_INTERNATIONAL and not written.isascii():
        raise InvalidKeyError(
            f"host beyond ASCII must have at most {MAX_INTERNATIONAL} characters, got {len(written)}"
        )
    domain = mapped(written)
    if domain.endswith("."):
        domain = domain[:-1]
    if not domain:
        raise InvalidKeyError("URL has no host")
    labels = domain.split(".")
    for index, label in enumerate(labels):
        labels[index] = _label(label, index == len(labels) - 1, host)
    form = ".".join(labels)
    if not ip.ends_in_number(form):
        return form
    address = ip.ipv4(form)
    if address is None:
        raise InvalidKeyError(f"host {host!r} ends in a number and is not an IPv4 address")
    return address


def _decoded(host: str) -> str:
    try:
        raw = _ESCAPE.sub(lambda escape: bytes([int(escape.group(1), 16)]), host.encode("utf-8"))
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidKeyError(f"host {host!r} is not UTF-8") from None


def mapped(domain: str) -> str:
    """The mapping of UTS #46 without transitional processing."""
    if domain.isascii():
        return domain.translate(_LOWER_ASCII)
    seen = _STYLED_SIGMAS.sub("σ", _IGNORED.sub("", domain))
    folded = "".join(map(_folded, unicodedata.normalize("NFKC", seen)))
    return unicodedata.normalize("NFKC", folded).replace("\u3002", ".")


def _folded(character: str) -> str:
    own = _OWN_FOLDING.get(character)
    if own is not None:
        return own
    # Cherokee letters fold to upper case, which was encoded first.
    return "".join(
        upper if "\u13a0" <= upper <= "\u13f5" else simple_lower(upper) for upper in character.upper()
    )


def _label(label: str, last: bool, host: str) -> str:
    if not label:
        raise InvalidKeyError(f"host {host!r} has an empty label")
    if not (_LAST if last else _INNER).match(label):
        place = " in its last label" if last else ""
        raise InvalidKeyError(f"host {host!r} has a character that none may have{place}")
    if not label.isascii():
        if label.startswith("xn--"):
            raise InvalidKeyError(f"host {host!r} mixes Punycode and other characters in a label")
        label = "xn--" + label.encode("punycode").decode("ascii")
    return _MARK.sub(lambda mark: f"%{ord(mark.group()):02X}", label)


def require_plain(host: str) -> None:
    """Rejects a host without a scheme that contains a mark with a different meaning in a list."""
    mark = _MARK.search(host)
    if mark:
        raise InvalidKeyError(f"host {host!r} without a scheme must not hold {mark.group()!r}")
