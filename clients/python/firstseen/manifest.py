"""Manifests (docs/format/manifest-v1.md)."""

from __future__ import annotations

import ipaddress
import re
from typing import Optional

from .bits import MAX_LEB, MAX_TOTAL_BYTES, Fields, crc32c, require
from .blobs import MAX_COUNT, require_version
from .errors import UnsupportedError
from .parameters import KNOWN_FLAGS, SetParameters, most_rule_bytes, require_known, require_window, rule_name, with_rule

MANIFEST_MAGIC = b"\x89FSM"
# Message for trusted keys with a snapshot.
ONLY_MANIFESTS = "only manifests have signatures"
MAX_MILLIS = 253_402_300_799_999
_EXPIRES, _BLOBS, _HAS_PACK, _SIGNED, _EXTENSION = 1, 2, 4, 8, 16
_NAME = re.compile(r"manifest-([0-9]{10,19})\.bin")
# A scheme, an authority without a user, and a path without %00, in the characters of RFC 2396. The
# groups are the scheme, the authority and an IPv6 address in it.
_DIRECTORY_URI = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*):"
    r"(//(?:[A-Za-z0-9_.!~*'(),;:$&+=-]+|\[([0-9A-Fa-f:.]+)\](?::[0-9]*)?)(?=/|$)|(?=/(?!/)|///))"
    r"([A-Za-z0-9_.!~*'(),;:$&+=@/-]|%(?!00)[0-9A-Fa-f]{2})*"
)


class Manifest:
    """The description of a set at the end of a window. Immutable."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        fields = Fields(data)
        require(data[:4] == MANIFEST_MAGIC, "this is not a manifest: the magic number is missing")
        fields.take(4, "the magic number")
        flags = require_version(fields, "manifest", KNOWN_FLAGS)
        parts = fields.u8("the parts")
        if parts & ~(_EXPIRES | _BLOBS | _HAS_PACK | _SIGNED | _EXTENSION):
            raise UnsupportedError(f"the manifest has parts 0x{parts:02x}, of which this reader knows 0x1f")
        checked = len(data) - 4 - (72 if parts & _SIGNED else 0)
        require(checked >= fields.at, "the manifest ends too early")
        end = Fields(data[checked:])
        require(
            end.u32("the checksum") == crc32c(data[:checked]),
            "the checksum of the manifest does not match its bytes",
        )
        self.signed_bytes = data[: checked + 4]
        self.signature_key = end.take(8, "the id of the key") if parts & _SIGNED else None
        self.signature = end.take(64, "the signature") if parts & _SIGNED else None
        fields.data = data[:checked]
        self._read(fields, flags, parts)
        self._check()

    def _read(self, fields: Fields, flags: int, parts: int) -> None:
        self.set_name = fields.set_name()
        self.sequence = fields.leb("sequence")
        self.window_end_millis = fields.i64("windowEndMillis")
        self.window_start_millis = self.window_end_millis - fields.leb("the length of the window")
        require(self.window_start_millis >= -1 << 63, "the window must not begin before -2^63 ms")
        self.published_millis = fields.leb("publishedMillis", 0, MAX_MILLIS)
        self.expires_millis: Optional[int] = None
        if parts & _EXPIRES:
            self.expires_millis = self.published_millis + fields.leb(
                "the time until the expiry", 1, MAX_MILLIS
            )
        hash_algorithm, key_check = fields.u8("the hash"), fields.u64("keyCheck")
        canonicaliser = fields.u8("the canonicaliser")
        require_known(hash_algorithm, canonicaliser)
        version = fields.leb("canonicaliserVersion")
        rule = b""
        if flags:
            length = fields.leb(f"the length of {rule_name(flags)}", 1, most_rule_bytes(flags))
            rule = fields.take(length, rule_name(flags))
        parameters = SetParameters(
            hash_algorithm,
            key_check,
            canonicaliser,
            version,
            fields.leb("shards"),
            fields.f64("falsePositiveRate"),
        )
        self.parameters = with_rule(parameters, flags, rule)
        self.count = fields.leb("count")
        self.root = fields.take(32, "the root")
        self.pack = fields.reference("the pack") if parts & _HAS_PACK else None
        self.pack_bytes = fields.leb("packBytes", 0, MAX_TOTAL_BYTES) if parts & _HAS_PACK else 0
        self.blobs: Optional[str] = None
        if parts & _BLOBS:
            self.blobs = fields.take(fields.leb("the length of blobs", 1, 2000), "blobs").decode("latin-1")
        self.extension: Optional[bytes] = None
        if parts & _EXTENSION:
            # Fields of later releases.
            self.extension = fields.take(fields.leb("the length of the extension", 1, 4096), "the extension")
        fields.end()

    def _check(self) -> None:
        self.parameters.require_valid()
        require_window(self.window_start_millis, self.window_end_millis)
        require((self.expires_millis or 0) <= MAX_MILLIS, f"expiresMillis must be at most {MAX_MILLIS}")
        require(self.count <= MAX_COUNT, f"count must be in [0, 2^40], got {self.count}")
        if self.pack is None:
            require(self.count == 0, f"count must be 0 without a pack, got {self.count}")
        else:
            require(
                self.pack_bytes >= self.pack.length,
                f"packBytes must be at least {self.pack.length}, got {self.pack_bytes}",
            )
        if self.blobs is not None:
            require(is_directory_uri(self.blobs), f"blobs must be the URI of a directory, got {self.blobs!r}")

    def __repr__(self) -> str:
        return f"sequence {self.sequence} of set {self.set_name!r}"


def is_directory_uri(uri: str) -> bool:
    match = _DIRECTORY_URI.fullmatch(uri)
    if match is None:
        return False
    scheme, authority, address = match.group(1, 2, 3)
    try:
        ipaddress.IPv6Address(address or "::")
    except ValueError:
        return False
    return scheme != "file" or not authority


def manifest_name(sequence: int) -> str:
    """Returns the file name of a manifest."""
    return f"manifest-{sequence:010d}.bin"


def sequence_of(name: str) -> Optional[int]:
    """Returns the sequence in the file name of a manifest; None for any other name."""
    match = _NAME.fullmatch(name)
    sequence = int(match.group(1)) if match else MAX_LEB + 1
    return sequence if sequence <= MAX_LEB and name == manifest_name(sequence) else None
