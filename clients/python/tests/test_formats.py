"""Files: those that every reader must accept, damaged ones, and both ways of decoding."""

import hashlib
import random
import tempfile
import unittest
from array import array
from unittest import mock

import firstseen
from firstseen import FirstseenError, KeyHash, MalformedError, Manifest, Snapshot, SnapshotSet, UnsupportedError
from firstseen import golomb, shards
from firstseen.bits import Reference, crc32c
from firstseen.blobs import open_blob
from firstseen.catchup import CatchUp, Held
from firstseen.golomb import decoded, golomb_code
from firstseen.parameters import SetParameters
from firstseen.shards import Shard
from firstseen.snapshot import snapshot_bytes

from . import GOLDEN
from .publisher import Publisher, coded, packed

np = golomb.np


class plain:
    """Without NumPy, as if it were not installed."""

    modules = ("bits", "blobs", "golomb", "keyhash", "sets", "snapshot")

    def __enter__(self):
        self.patches = [mock.patch(f"firstseen.{module}.np", None) for module in self.modules]
        for patch in self.patches:
            patch.start()

    def __exit__(self, *_):
        for patch in self.patches:
            patch.stop()


def shard_of(count, rate=0.01, seed=1, buckets=None):
    values = random.Random(seed)
    buckets = buckets or max(1, -(-count // 36))
    width = -(-int(max(count, 1) / rate) // buckets) + 1
    return Shard(0, buckets, width, array("Q", sorted(values.sample(range(buckets * width), count))), count)


def parameters(rate=0.01, **other):
    fields = dict(
        hash_algorithm=1,
        key_check=KeyHash.public().key_check,
        canonicaliser_code=0,
        canonicaliser_version=1,
        shard_count=1,
        false_positive_rate=rate,
    )
    return SetParameters(**{**fields, **other})


class GoldenFiles(unittest.TestCase):
    def test_all_are_valid(self):
        for path in sorted(GOLDEN.iterdir()):
            with self.subTest(path.name):
                data = path.read_bytes()
                if path.suffix == ".snapshot":
                    read = Snapshot(data)
                    shard = read.decode()
                    with plain():
                        self.assertEqual(Snapshot(data).decode().values, shard.values)
                    again = snapshot_bytes(
                        read.set_name,
                        read.parameters,
                        read.sequence,
                        read.window_start_millis,
                        read.window_end_millis,
                        shard,
                    )
                    self.assertEqual(again, data)
                elif path.suffix == ".blob":
                    open_blob(data).verify()
                else:
                    self.assertEqual(Manifest(data).data, data)

    def test_the_sets_of_the_newest_manifest(self):
        blobs = {}
        for path in GOLDEN.glob("*.blob"):
            data = path.read_bytes()
            blobs[Reference(hashlib.sha256(data).digest(), len(data))] = data
        manifest = Manifest((GOLDEN / "manifest.bin").read_bytes())
        nothing = Manifest((GOLDEN / "manifest-of-nothing.bin").read_bytes())
        by_bases = CatchUp(manifest, blobs.__getitem__).by_bases()
        held = Held(nothing, CatchUp(nothing, blobs.__getitem__).by_bases())
        by_packs = CatchUp(manifest, blobs.__getitem__).by_packs(held)
        for one, other in zip(by_bases, by_packs):
            self.assertEqual(one and one.values, other and other.values)
        whole = SnapshotSet.of_manifest(manifest, by_bases, KeyHash.public())
        self.assertIn("http://example.com/key-125", whole)
        self.assertEqual(len(whole), manifest.count)

    def test_every_flipped_bit_is_refused(self):
        for name in ("sixty-four.snapshot", "manifest-signed.bin", "pack-of-window-2.blob"):
            good = (GOLDEN / name).read_bytes()
            read = {"snapshot": Snapshot, "bin": Manifest, "blob": open_blob}[name.split(".")[-1]]
            refused = 0
            for at in range(len(good)):
                damaged = bytearray(good)
                damaged[at] ^= 1 << at % 8
                try:
                    read(bytes(damaged))
                except (MalformedError, UnsupportedError):
                    refused += 1
            # No checksum covers the signature.
            self.assertEqual(refused, len(good) - (72 if name == "manifest-signed.bin" else 0), name)
            for length in range(len(good)):
                with self.assertRaises(FirstseenError):
                    read(good[:length])


class Decoding(unittest.TestCase):
    def test_lists_both_ways(self):
        for count, bound, seed in ((0, 1, 1), (1, 2, 2), (70, 70, 3), (500, 600, 4), (3000, 1 << 64, 5), (9000, 10**7, 6), (20000, 1 << 33, 7), (200, 1 << 63, 8)):
            rng = random.Random(seed)
            numbers = sorted({rng.randrange(bound) for _ in range(count)})
            if seed == 3:
                numbers = list(range(70))
            data = packed(coded(numbers, bound))
            with self.subTest(count=count, bound=bound):
                self.assertEqual(decoded(data, len(numbers), bound, 0).tolist(), numbers)
                with plain():
                    self.assertEqual(decoded(data, len(numbers), bound, 0).tolist(), numbers)
                # Behind another list.
                shifted = packed("1011" + coded(numbers, bound))
                self.assertEqual(decoded(shifted, len(numbers), bound, 4).tolist(), numbers)

    def test_a_long_gap_is_no_trouble(self):
        numbers = list(range(300)) + [(1 << 40) - 1]
        # m is about 2.5e9, so the last quotient has hundreds of ones; with fewer numbers, thousands.
        for bound in (1 << 40, 1 << 50):
            self.assertEqual(decoded(packed(coded(numbers, bound)), len(numbers), bound, 0).tolist(), numbers)
        clustered = list(range(100_000)) + [(1 << 34) - 1]
        data = packed(coded(clustered, 1 << 34))
        self.assertEqual(decoded(data, len(clustered), 1 << 34, 0).tolist(), clustered)

    def test_damaged_lists_are_refused_in_both_ways(self):
        rng = random.Random(9)
        numbers = sorted(rng.sample(range(10**6), 400))
        good = packed(coded(numbers, 10**6))
        outcomes = set()
        for _ in range(400):
            damaged = bytearray(good)
            damaged[rng.randrange(len(good))] ^= 1 << rng.randrange(8)

            def outcome():
                try:
                    return tuple(decoded(bytes(damaged), 400, 10**6, 0))
                except MalformedError:
                    return None

            one = outcome()
            with plain():
                self.assertEqual(outcome(), one)
            outcomes.add(one is None)
        self.assertEqual(outcomes, {True, False})

    def test_snapshots_both_ways(self):
        for count, rate, seed in ((0, 0.1, 1), (1, 0.1, 2), (36, 0.001, 3), (5000, 0.1, 4), (20000, 1e-6, 5), (300, 2.0**-48, 6)):
            shard = shard_of(count, rate, seed)
            data = snapshot_bytes("python", parameters(rate), 1, 0, 1, shard)
            with self.subTest(count=count, rate=rate):
                self.assertEqual(Snapshot(data).decode().values, shard.values)
                with plain():
                    self.assertEqual(Snapshot(data).decode().values, shard.values)

    def test_forged_codes_are_refused_in_both_ways(self):
        shard = shard_of(700, 0.01, 10)
        good = bytearray(snapshot_bytes("python", parameters(), 1, 0, 1, shard))
        rng = random.Random(11)
        for _ in range(150):
            damaged = bytearray(good)
            damaged[223 + rng.randrange(Snapshot(bytes(good)).header.payload_bytes)] ^= 1 << rng.randrange(8)
            damaged[208:212] = crc32c(bytes(damaged[223:])).to_bytes(4, "little")
            damaged[219:223] = crc32c(bytes(damaged[:219])).to_bytes(4, "little")
            for way in (plain, mock.MagicMock):
                with way():
                    with self.assertRaises(MalformedError):
                        Snapshot(bytes(damaged)).verify()
            # Unverified answers may be wrong, but come.
            try:
                opened = Snapshot(bytes(damaged))
            except MalformedError:
                continue
            for one in range(50):
                try:
                    opened.contains_hash(rng.getrandbits(64))
                except MalformedError:
                    pass

    def test_checksums_both_ways(self):
        self.assertEqual(crc32c(b"123456789"), 0xE3069283)
        for length in (0, 1, 16_383, 16_384, 50_001):
            data = random.Random(length).randbytes(length)
            fast = crc32c(data)
            with plain():
                self.assertEqual(crc32c(data), fast)

    def test_stripped_parameters_are_in_the_files(self):
        shard = shard_of(40)
        url = dict(canonicaliser_code=1, canonicaliser_version=2)
        data = snapshot_bytes("python", parameters(**url, stripped="gclid,utm_*"), 1, 0, 1, shard)
        read = Snapshot(data)
        self.assertEqual(read.parameters.stripped, "gclid,utm_*")
        self.assertEqual(read.decode().values, shard.values)
        self.assertEqual(read.parameters.canonicaliser().canonical("a.b?utm_x=1"), b"http://a.b/")
        for text in ("utm_*,gclid", "a,a", "a*b", "common"):
            with self.assertRaisesRegex(MalformedError, "one form"):
                Snapshot(snapshot_bytes("python", parameters(**url, stripped=text), 1, 0, 1, shard))
        with self.assertRaisesRegex(MalformedError, "only sets of the canonicaliser url"):
            Snapshot(snapshot_bytes("python", parameters(stripped="a"), 1, 0, 1, shard))


class Sets(unittest.TestCase):
    def test_all_ways_of_asking_agree(self):
        for canonicaliser, version, shards_count in ((0, 1, 1), (1, 2, 8), (2, 1, 2)):
            with tempfile.TemporaryDirectory() as directory:
                publisher = Publisher(directory, shards=shards_count, canonicaliser=canonicaliser, version=version)
                listed = [f"http://host{i}.example/" for i in range(900)]
                publisher.publish(listed)
                whole = firstseen.open_set(directory)
                asked = listed[::3] + [f"http://other{i}.example/" for i in range(3000)]
                one_by_one = [whole.contains(key) for key in asked]
                self.assertEqual(whole.contains_each(asked), one_by_one)
                self.assertTrue(all(one_by_one[:300]))
                self.assertLess(sum(one_by_one[300:]), 70)
                for invalid in ("", "x" * 70_000):
                    with self.assertRaises(firstseen.InvalidKeyError):
                        whole.contains(invalid)
                    with self.assertRaises(firstseen.InvalidKeyError):
                        whole.contains_each(["a.example", invalid])
                with plain():
                    self.assertEqual(firstseen.open_set(directory).contains_each(asked), one_by_one)
                # In a scope nothing of these is there.
                self.assertLess(sum(whole.contains_each(asked, "tenant")), 70)

    def test_scopes(self):
        with tempfile.TemporaryDirectory() as directory:
            publisher = Publisher(directory, rate=0.0001)
            key_hash = KeyHash.public()
            publisher.publish_hashes([publisher.parameters.hash("a", b"mail", key_hash), publisher.parameters.hash(b"\xffa", b"", key_hash)])
            whole = firstseen.open_set(directory)
            self.assertEqual(whole.contains_each(["a", "b"], "mail"), [True, False])
            self.assertEqual(whole.contains_each([b"\xffa", "a"]), [True, False])
            self.assertTrue(whole.contains("a", b"mail"))
            with self.assertRaisesRegex(firstseen.InvalidKeyError, "scope must be at most"):
                whole.contains("a", "s" * 65_537)

    def test_urls_of_lists(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other, tempfile.TemporaryDirectory() as third:
            rule = dict(canonicaliser=3, rate=0.0001)
            Publisher(one, "spam", **rule).publish(["s2-citi.com", "b.example/x/"])
            Publisher(other, "phish", key_hash=KeyHash.siphash(bytes(16)), **rule).publish(["www.s2-citi.com/login"])
            Publisher(third, "allow", **rule).publish(["ok.s2-citi.com"])
            spam = firstseen.open_set(one)
            phish = firstseen.open_set(other, KeyHash.siphash(bytes(16)))
            self.assertEqual(spam.match("https://www.s2-citi.com:8443/login?x=1"), "s2-citi.com/")
            self.assertEqual(spam.match_each(["http://b.example/", "http://b.example/x/y"]), [None, "b.example/x/"])
            with self.assertRaisesRegex(firstseen.InvalidKeyError, "e-mail address"):
                spam.match_each(["http://b.example/", "a@b"])
            invalid = firstseen.UrlLists([spam]).ask("a@b")
            self.assertIn("e-mail address", invalid.reason)
            with self.assertRaisesRegex(firstseen.InvalidKeyError, "e-mail address"):
                invalid.present
            lists = firstseen.UrlLists([spam, phish], [firstseen.open_set(third)])
            answer = lists.ask("https://www.s2-citi.com/login")
            found = [(match.set_name, match.entry) for match in answer.matches]
            self.assertEqual(found, [("spam", "s2-citi.com/"), ("phish", "www.s2-citi.com/login")])
            self.assertTrue(answer.present)
            self.assertEqual(answer.expressions, 4)
            self.assertAlmostEqual(answer.false_positive_rate, 1 - (1 - 0.0001) ** 8)
            allowed = lists.ask("https://ok.s2-citi.com/")
            self.assertFalse(allowed.present)
            self.assertEqual(allowed.allowed_by, (firstseen.Match("allow", "ok.s2-citi.com/"),))
            self.assertEqual(len(allowed.matches), 1)
            refused = lists.ask("@@x")
            self.assertEqual(refused.expressions, 0)
            self.assertIn("an at sign", refused.reason)
            exact = [f"http://h{i}.example/p?q" for i in range(9000)]
            self.assertEqual(sum(answer.present for answer in lists.ask_each(exact)), 0)

    def test_what_cannot_be_asked(self):
        with tempfile.TemporaryDirectory() as directory:
            publisher = Publisher(directory, version=2)
            publisher.publish_hashes([KeyHash.public().hash(b"a")])
            with self.assertRaisesRegex(UnsupportedError, "another hash key"):
                firstseen.open_set(directory, KeyHash.siphash(bytes(16)))
            with self.assertRaisesRegex(UnsupportedError, "hashed by siphash-2-4, got a key of xxh3-64"):
                firstseen.open_set(directory, KeyHash.xxh3(1))
            with self.assertRaisesRegex(UnsupportedError, "none has version 2, the newest of this reader is 1"):
                firstseen.open_set(directory)
            manifest, source = firstseen.open_manifest(directory)
            whole = SnapshotSet.of_manifest(manifest, CatchUp(manifest, source.blob).by_bases())
            self.assertEqual(whole.contains_hashes([KeyHash.public().hash(b"a"), 0]), [True, False])
            with self.assertRaisesRegex(UnsupportedError, "only for hashes"):
                whole.contains("a")
            with self.assertRaisesRegex(UnsupportedError, "must have the canonicaliser url-expression"):
                firstseen.UrlLists([whole])
            with self.assertRaisesRegex(UnsupportedError, "got shard 2 of 4"):
                SnapshotSet.of_snapshot(Snapshot((GOLDEN / "shard-2-of-4.snapshot").read_bytes()))


@unittest.skipIf(np is None, "NumPy is not installed")
class Values(unittest.TestCase):
    def test_products_of_128_bits(self):
        rng = random.Random(12)
        suffixes = [0, 1, (1 << 64) - 1, 1 << 63] + [rng.getrandbits(64) for _ in range(500)]
        for buckets, width in ((1, 1), (1 << 31, 1 << 33), (3, (1 << 62) // 3), (2**31 - 1, 2**33 + 1), (1, 1 << 62), (7, 12345)):
            expected = [suffix * buckets * width >> 64 for suffix in suffixes]
            self.assertEqual(shards.values_of(np.array(suffixes, np.uint64), buckets, width).tolist(), expected)


if __name__ == "__main__":
    unittest.main()
