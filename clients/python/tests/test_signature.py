"""Signatures: vectors of RFC 8032, and manifests that are and are not signed."""

import base64
import tempfile
import unittest

import firstseen
from firstseen import Manifest, TrustedKey, UnsupportedError, UntrustedError
from firstseen.signature import _L, require_signed

from . import GOLDEN
from .publisher import Publisher, Signer

PREFIX = bytes.fromhex("302a300506032b6570032100")


class Rfc8032(unittest.TestCase):
    def test_section_7_1(self):
        # Tests 2 and 3.
        for key, message, signature in (
            (
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
                "72",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
            ),
            (
                "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
                "af82",
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
            ),
        ):
            trusted = TrustedKey(PREFIX + bytes.fromhex(key))
            good, text = bytes.fromhex(signature), bytes.fromhex(message)
            self.assertTrue(trusted.verifies(text, good))
            self.assertFalse(trusted.verifies(text + b"x", good))
            for at in (0, 31, 32, 63):
                damaged = bytearray(good)
                damaged[at] ^= 1
                self.assertFalse(trusted.verifies(text, bytes(damaged)))
            # The same point, but S is not below L.
            large = good[:32] + (int.from_bytes(good[32:], "little") + _L).to_bytes(32, "little")
            self.assertFalse(trusted.verifies(text, large))
            self.assertFalse(trusted.verifies(text, good[:63]))


class Keys(unittest.TestCase):
    def test_pem(self):
        der = Signer(b"a").trusted.der
        body = base64.encodebytes(der).decode()
        pem = f"x\n-----BEGIN PUBLIC KEY-----\n{body}-----END PUBLIC KEY-----\n"
        self.assertEqual(TrustedKey.parse(pem).der, der)
        for text, sentence in (
            ("", "must be between"),
            (pem.replace(body, "A"), "in Base64"),
            (pem.replace(body, body[8:]), "public Ed25519 key in X.509 form"),
        ):
            with self.assertRaisesRegex(UnsupportedError, sentence):
                TrustedKey.parse(text)
        with self.assertRaises(UnsupportedError):
            # y is not a coordinate of a point.
            TrustedKey(PREFIX + b"\x02" + bytes(31))


class Manifests(unittest.TestCase):
    def test_who_signed(self):
        with tempfile.TemporaryDirectory() as directory:
            signer, other = Signer(b"one"), Signer(b"other")
            publisher = Publisher(directory)
            publisher.publish(["a"], signer=signer)
            trusted = [other.trusted, signer.trusted]
            self.assertIn("a", firstseen.open_set(directory, trusted_keys=trusted))
            with self.assertRaisesRegex(UntrustedError, "which is not trusted or does not fit"):
                firstseen.open_set(directory, trusted_keys=[other.trusted])
            manifest, _ = firstseen.open_manifest(directory)
            data = bytearray(manifest.data)
            data[-1] ^= 1
            with self.assertRaises(UntrustedError):
                require_signed(Manifest(bytes(data)), trusted)
            # Another manifest with this signature.
            publisher.publish(["a", "b"], signer=signer)
            newer, _ = firstseen.open_manifest(directory)
            with self.assertRaises(UntrustedError):
                require_signed(Manifest(newer.signed_bytes + manifest.data[-72:]), trusted)
        with self.assertRaisesRegex(UntrustedError, "has no signature"):
            require_signed(Manifest((GOLDEN / "manifest.bin").read_bytes()), trusted)


if __name__ == "__main__":
    unittest.main()
