"""Hashes: values that their authors published, and batches."""

import os
import random
import stat
import tempfile
import unittest
import warnings

from firstseen import InvalidKeyError, KeyHash, UnsupportedError
from firstseen.keyhash import joined

from .test_formats import plain


class Hashes(unittest.TestCase):
    def test_siphash_of_the_reference(self):
        # vectors.h of github.com/veorq/SipHash (Aumasson and Bernstein, CC0).
        key_hash = KeyHash.siphash(bytes(range(16)))
        self.assertEqual(key_hash.hash(b""), 0x726FDB47DD0E0E31)
        self.assertEqual(key_hash.hash(bytes(range(15))), 0xA129CA6149BE45E5)
        self.assertEqual(KeyHash.public().key_check, 0xAF95951D42ABDFD0)

    def test_xxh3(self):
        # Of each length class; computed by hash4j, the library of the Java code.
        expected = {
            0: 0x2D06800538D394C2,
            1: 0xE12EF9D2EB86CEEB,
            3: 0xB7391E018153D37A,
            4: 0x43DE45B7450A6563,
            8: 0xBCB3564EA273195D,
            9: 0x388F1DAB6E174F79,
            16: 0x9A9A7C8AF11CB0D1,
            17: 0x6331A7347274566F,
            128: 0x4388A1A31A919C42,
            129: 0x619DC1115E4D15AD,
            240: 0x880604936179A23B,
            241: 0xF6ECCCEB68535F08,
            1032: 0xAA31B8F2CA576660,
            1032: 0xAA31B8F2CA576660,
            2557: 0x79AE4224B2CFE65D,
        }
        for length, value in expected.items():
            with self.subTest(length=length):
                message = bytes((i * i * 31 + i * 7 + length) & 255 for i in range(length))
                self.assertEqual(KeyHash.xxh3(0).hash(message), value)

    def test_batches(self):
        rng = random.Random(1)
        keys = [rng.randbytes(rng.randrange(80)) for _ in range(9000)] + [rng.randbytes(9001)]
        for key_hash in (KeyHash.public(), KeyHash.xxh3(7)):
            each = list(map(int, key_hash.hash_each(keys)))
            self.assertEqual(each, list(map(key_hash.hash, keys)))
            with plain():
                self.assertEqual(list(key_hash.hash_each(keys)), each)
            self.assertEqual(len(key_hash.hash_each([])), 0)

    def test_joined(self):
        self.assertEqual(joined(b"", b"a"), b"a")
        self.assertEqual(joined(b"", b"\xffa"), b"\xff\x00\xffa")
        self.assertEqual(joined(b"s" * 200, b"a"), b"\xff\xc8\x01" + b"s" * 200 + b"a")
        with self.assertRaises(InvalidKeyError):
            joined(b"s" * 65_537, b"a")


class Files(unittest.TestCase):
    def test_a_key_in_a_file(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "hash.key")
            with open(path, "w", encoding="ascii") as file:
                file.write("000102030405060708090A0b0c0d0e0f\n")
            os.chmod(path, 0o600)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                key_hash = KeyHash.from_file(path)
            self.assertEqual(key_hash.key_check, KeyHash.siphash(bytes(range(16))).key_check)
            self.assertNotIn("0001", repr(key_hash))
            if os.name == "posix":
                os.chmod(path, 0o600 | stat.S_IRGRP)
                with self.assertWarnsRegex(UserWarning, "mode 0640"):
                    KeyHash.from_file(path)
            with open(path, "w", encoding="ascii") as file:
                file.write("secret")
            os.chmod(path, 0o600)
            with self.assertRaisesRegex(UnsupportedError, "must be 32 hexadecimal digits") as refused:
                KeyHash.from_file(path)
            self.assertNotIn("secret", str(refused.exception))
        self.assertEqual(KeyHash.from_file("public").key_check, KeyHash.public().key_check)


if __name__ == "__main__":
    unittest.main()
