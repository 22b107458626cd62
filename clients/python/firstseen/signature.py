"""Signatures of manifests: Ed25519 (RFC 8032), in plain Python."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from typing import Iterable, Union

from .errors import UnsupportedError, UntrustedError
from .manifest import Manifest

_PEM = re.compile(r"-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]*)-----END PUBLIC KEY-----")
# The prefix of an X.509 SubjectPublicKeyInfo of Ed25519 before the 32 bytes of the key.
_DER_PREFIX = bytes.fromhex("302a300506032b6570032100")
_P = (1 << 255) - 19
_L = (1 << 252) + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT_OF_MINUS_1 = pow(2, (_P - 1) // 4, _P)

# A point as (X, Y, Z, T): x = X / Z, y = Y / Z, x · y = T / Z.
_Point = tuple[int, int, int, int]


class TrustedKey:
    """A public key, which verifies signatures. Immutable."""

    def __init__(self, der: bytes) -> None:
        """Returns the key in an X.509 SubjectPublicKeyInfo in DER."""
        point = _decompressed(der[-32:]) if len(der) == 44 and der.startswith(_DER_PREFIX) else None
        if point is None:
            raise UnsupportedError("the key must be a public Ed25519 key in X.509 form")
        self.der = der
        self._encoded = der[-32:]
        self._point = point
        self.id = hashlib.sha256(der).digest()[:8]

    @classmethod
    def parse(cls, pem: str) -> TrustedKey:
        """Returns the key in PEM text."""
        match = _PEM.search(pem)
        if match is None:
            raise UnsupportedError(
                "a key must be between '-----BEGIN PUBLIC KEY-----' and '-----END PUBLIC KEY-----'"
            )
        try:
            return cls(base64.b64decode("".join(match.group(1).split()), validate=True))
        except binascii.Error:
            raise UnsupportedError("a key must be in Base64") from None

    @classmethod
    def from_file(cls, path: Union[str, os.PathLike[str]]) -> TrustedKey:
        """Returns the key in a PEM file."""
        with open(path, encoding="latin-1") as file:
            return cls.parse(file.read(1 << 16))

    def verifies(self, message: bytes, signature: bytes) -> bool:
        """Returns whether a signature of a message was made with this key."""
        scalar = int.from_bytes(signature[32:], "little")
        if len(signature) != 64 or scalar >= _L:
            return False
        challenge = hashlib.sha512(signature[:32] + self._encoded + message).digest()
        factor = int.from_bytes(challenge, "little") % _L
        x, y, z, t = self._point
        # S · B = R + k · A, so R = S · B + k · (−A).
        point = _added(_times(scalar, _BASE), _times(factor, (-x % _P, y, z, -t % _P)))
        return _compressed(point) == signature[:32]

    def __repr__(self) -> str:
        return f"public key {self.id.hex()}"


def require_signed(manifest: Manifest, trusted: Iterable[TrustedKey]) -> None:
    """Raises UntrustedError if none of the keys signed the manifest."""
    if manifest.signature is None or manifest.signature_key is None:
        raise UntrustedError(f"{manifest} has no signature")
    for key in trusted:
        if key.id == manifest.signature_key and key.verifies(manifest.signed_bytes, manifest.signature):
            return
    raise UntrustedError(f"{manifest} has a signature of {manifest.signature_key.hex()}, which is not trusted or does not fit")


def _added(one: _Point, other: _Point) -> _Point:
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = other
    a, b = (y1 - x1) * (y2 - x2) % _P, (y1 + x1) * (y2 + x2) % _P
    c, d = 2 * t1 * t2 * _D % _P, 2 * z1 * z2 % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(factor: int, point: _Point) -> _Point:
    result: _Point = (0, 1, 1, 0)
    while factor:
        if factor & 1:
            result = _added(result, point)
        point = _added(point, point)
        factor >>= 1
    return result


def _compressed(point: _Point) -> bytes:
    x, y, z, _ = point
    inverse = pow(z, _P - 2, _P)
    x, y = x * inverse % _P, y * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _decompressed(encoded: bytes) -> Union[_Point, None]:
    number = int.from_bytes(encoded, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT_OF_MINUS_1 % _P
    if (x * x - square) % _P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


_BASE_Y = 4 * pow(5, _P - 2, _P) % _P
_base = _decompressed(_BASE_Y.to_bytes(32, "little"))
assert _base is not None
_BASE: _Point = _base
