"""IPv4 addresses as browsers parse them, and IPv6 literals (docs/format/url-v3.md, Hosts)."""

from __future__ import annotations

import re
from typing import Optional

_NUMBER = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)\Z")
_HEX = re.compile(r"[0-9A-Fa-f]{1,4}\Z")


def ends_in_number(host: str) -> bool:
    """Returns whether a host must be an IPv4 address because its last label is a number."""
    return _NUMBER.match(host, host.rfind(".") + 1) is not None


def ipv4(host: str) -> Optional[str]:
    """Returns the dotted decimal form of one to four numbers; None if they are not an address."""
    parts = host.split(".")
    if len(parts) > 4:
        return None
    address = 0
    for index, part in enumerate(parts):
        bits = 8 if index < len(parts) - 1 else 8 * (5 - len(parts))
        number = _number(part)
        if number is None or number >> bits:
            return None
        address = address << bits | number
    return _dotted(address)


def _dotted(address: int) -> str:
    return ".".join(str(byte) for byte in address.to_bytes(4, "big"))


def _number(text: str) -> Optional[int]:
    radix, digits = 10, text
    if text.startswith("0x"):
        radix, digits = 16, text[2:] or "0"
    elif len(text) > 1 and text.startswith("0"):
        radix, digits = 8, text[1:]
    allowed = "0123456789abcdefABCDEF" if radix == 16 else "0123456789"[:radix]
    digits = digits.lstrip("0") or digits[:1]
    # The numbers of an address have at most eleven (octal) digits.
    if not digits or len(digits) > 11 or not all(digit in allowed for digit in digits):
        return None
    return int(digits, radix)


def ipv6(text: str) -> Optional[list[int]]:
    """Returns the eight pieces of an address without brackets; None if it is not an address."""
    before, gap, after = text.partition("::")
    if not gap:
        pieces = _pieces(text)
        return pieces if pieces is not None and len(pieces) == 8 else None
    left, right = _pieces(before), _pieces(after)
    if left is None or right is None or "." in before or len(left) + len(right) > 7:
        return None
    return left + [0] * (8 - len(left) - len(right)) + right


def _pieces(text: str) -> Optional[list[int]]:
    pieces: list[int] = []
    groups = text.split(":") if text else []
    for index, group in enumerate(groups):
        if "." in group and index == len(groups) - 1:
            # Only four decimal numbers without leading zeros are in dotted form already.
            if ipv4(group) != group:
                return None
            high, mid, low, last = (int(byte) for byte in group.split("."))
            pieces += [high << 8 | mid, low << 8 | last]
        elif _HEX.match(group):
            pieces.append(int(group, 16))
        else:
            return None
    return pieces


def bracketed(pieces: list[int]) -> str:
    """Returns the form of RFC 5952, section 4, in brackets."""
    start, length = 0, 1
    for at in range(8):
        end = at
        while end < 8 and pieces[end] == 0:
            end += 1
        if end - at > length:
            start, length = at, end - at
    groups = [format(piece, "x") for piece in pieces]
    if length == 1:
        text = ":".join(groups)
    else:
        text = ":".join(groups[:start]) + "::" + ":".join(groups[start + length :])
    return f"[{text}]"


def embedded_ipv4(pieces: list[int]) -> Optional[str]:
    """Returns the IPv4 address in an address of ::ffff:0:0/96 (mapped) or 64:ff9b::/96 (NAT64)."""
    if pieces[:6] in ([0, 0, 0, 0, 0, 0xFFFF], [0x64, 0xFF9B, 0, 0, 0, 0]):
        return _dotted(pieces[6] << 16 | pieces[7])
    return None
