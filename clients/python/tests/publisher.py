"""Publishes sets for the tests: manifests, packs, bases and lists of bases, written from the specification."""

import base64
import hashlib
import os
import struct
from array import array
from fractions import Fraction
from pathlib import Path

from firstseen import Manifest, TrustedKey
from firstseen.bits import Reference, crc32c
from firstseen.golomb import golomb_code
from firstseen.keyhash import KeyHash
from firstseen.parameters import SetParameters
from firstseen.shards import Shard, tree_root
from firstseen.signature import _BASE, _L, _compressed, _times


def leb(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def coded(numbers, bound):
    """A list of numbers as text of bits."""
    m, field_bits, cutoff = golomb_code(len(numbers), bound)
    bits, least = [], 0
    for number in numbers:
        quotient, remainder = divmod(number - least, m)
        bits.append("1" * quotient + "0")
        if remainder >= cutoff:
            bits.append(format(remainder + cutoff, f"0{field_bits + 1}b"))
        elif field_bits:
            bits.append(format(remainder, f"0{field_bits}b"))
        least = number + 1
    return "".join(bits)


def packed(bits):
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))


class Signer:
    """An Ed25519 key pair (RFC 8032)."""

    def __init__(self, seed):
        digest = hashlib.sha512(seed).digest()
        self.scalar = int.from_bytes(digest[:32], "little") & ~7 & (1 << 254) - 1 | 1 << 254
        self.prefix = digest[32:]
        self.encoded = _compressed(_times(self.scalar, _BASE))
        self.trusted = TrustedKey(bytes.fromhex("302a300506032b6570032100") + self.encoded)

    def pem(self):
        """The public key as a file has it."""
        body = base64.encodebytes(self.trusted.der).decode()
        return f"-----BEGIN PUBLIC KEY-----\n{body}-----END PUBLIC KEY-----\n"

    def sign(self, message):
        nonce = int.from_bytes(hashlib.sha512(self.prefix + message).digest(), "little") % _L
        point = _compressed(_times(nonce, _BASE))
        challenge = int.from_bytes(hashlib.sha512(point + self.encoded + message).digest(), "little") % _L
        return point + ((nonce + challenge * self.scalar) % _L).to_bytes(32, "little")


class Publisher:
    """One set with a directory; K and w of a shard stay from its first window on."""

    def __init__(self, directory, name="spam", shards=2, canonicaliser=0, version=1, rate=0.01, key_hash=None, room=4096):
        self.directory = Path(directory)
        (self.directory / "blobs").mkdir(parents=True, exist_ok=True)
        self.name = name
        self.key_hash = key_hash or KeyHash.public()
        self.parameters = SetParameters(self.key_hash.algorithm, self.key_hash.key_check, canonicaliser, version, shards, rate)
        self.buckets = -(-room // 36)
        self.width = -(-int(room / Fraction(rate)) // self.buckets) + 1
        self.sequence = 0
        self.shards = [None] * shards
        self.pack = None
        self.pack_bytes = 0
        self.list = self.listed = None
        self.since = 0

    def blob(self, kind, body):
        name = self.name.encode()
        frame = b"\x89FSB\x01\x00" + bytes([kind, len(name)]) + name + body
        data = frame + struct.pack("<I", crc32c(frame))
        reference = Reference(hashlib.sha256(data).digest(), len(data))
        (self.directory / "blobs" / reference.name).write_bytes(data)
        return reference

    def publish(self, keys, **manifest):
        """The next window, which has exactly these keys."""
        return self.publish_hashes([self.parameters.hash(key, b"", self.key_hash) for key in keys], **manifest)

    def publish_hashes(self, hashes, new_list=False, **manifest):
        self.sequence += 1
        bound = self.buckets * self.width
        of_shards = [set() for _ in self.shards]
        counts = [0] * len(self.shards)
        for one in set(hashes):
            shard, suffix = self.parameters.shard_and_suffix(one)
            of_shards[shard].add(suffix * bound >> 64)
            counts[shard] += 1
        sections = {}
        for number, values in enumerate(of_shards):
            before, after = self.shards[number], sorted(values)
            hidden = counts[number] - len(after)
            if before is None:
                if not after:
                    continue
                body = leb(self.buckets) + leb(self.width) + leb(len(after)) + packed(coded(after, bound))
                sections[number] = b"\x02" + leb(hidden) + body
            elif after != before.values.tolist() or counts[number] != before.hash_count:
                held = before.values.tolist()
                added = [value for value in after if value not in set(held)]
                removed = [place for place, value in enumerate(held) if value not in values]
                bits = coded(added, bound)
                lists = leb(len(added)) + leb(len(removed)) + leb(len(bits)) + packed(bits + coded(removed, len(held)))
                sections[number] = b"\x01" + leb(hidden) + lists
            else:
                continue
            self.shards[number] = Shard(number, self.buckets, self.width, array("Q", after), counts[number])
        if sections:
            self.write_pack(sections, new_list)
        return self.write_manifest(**manifest)

    def write_pack(self, sections, new_list):
        if self.list is None or new_list:
            # It holds this window, so this pack adds nothing to it.
            self.list, self.since, since = self.write_list(), 0, 0
        else:
            since = self.since
        reference, list_and_bases = self.list
        before = b"\x00" if self.pack is None else b"\x01" + self.pack.digest + leb(self.pack.length)
        body = leb(self.sequence) + before + leb(0) + reference.digest + leb(reference.length)
        body += leb(list_and_bases) + leb(since) + leb(len(sections))
        last = -1
        for number, section in sections.items():
            body += leb(number - last - 1) + leb(len(section))
            last = number
        is_new = reference is not self.listed
        self.pack = self.blob(1, body + b"".join(sections.values()))
        self.since += 0 if is_new else self.pack.length
        self.listed = reference
        self.pack_bytes += self.pack.length

    def write_list(self):
        """A list of new bases, and the bytes of all of them."""
        body, total = leb(self.sequence) + leb(len(self.shards)), 0
        for shard in self.shards:
            if shard is None:
                body += leb(0)
                continue
            values = shard.values.tolist()
            section = b"\x02" + leb(shard.hash_count - len(values)) + leb(self.buckets) + leb(self.width)
            codes = packed(coded(values, self.buckets * self.width))
            base = self.blob(2, leb(shard.number) + section + leb(len(values)) + codes)
            body += leb(base.length) + base.digest + leb(0)
            total += base.length
        reference = self.blob(3, body)
        return reference, reference.length + total

    def manifest_bytes(self, sequence=None, signer=None, expires=None, published=1_700_000_000_000, blobs=None):
        name, parameters = self.name.encode(), self.parameters
        parts = (expires is not None) | (blobs is not None) << 1 | (self.pack is not None) << 2 | (signer is not None) << 3
        sequence = self.sequence if sequence is None else sequence
        data = b"\x89FSM\x01\x00" + bytes([parts, len(name)]) + name + leb(sequence)
        data += struct.pack("<q", 1_700_000_000_000 + 3_600_000 * sequence) + leb(3_600_000) + leb(published)
        if expires is not None:
            data += leb(expires - published)
        data += struct.pack("<BQB", parameters.hash_algorithm, parameters.key_check, parameters.canonicaliser_code)
        data += leb(parameters.canonicaliser_version) + leb(parameters.shard_count)
        count = sum(shard.hash_count for shard in self.shards if shard)
        data += struct.pack("<d", parameters.false_positive_rate) + leb(count) + tree_root(self.shards)
        if self.pack is not None:
            data += self.pack.digest + leb(self.pack.length) + leb(self.pack_bytes)
        if blobs is not None:
            data += leb(len(blobs)) + blobs.encode()
        data += struct.pack("<I", crc32c(data))
        return data if signer is None else data + signer.trusted.id + signer.sign(data)

    def write_manifest(self, **fields):
        data = self.manifest_bytes(**fields)
        manifest = Manifest(data)
        path = self.directory / f"manifest-{manifest.sequence:010d}.bin"
        aside = path.with_name(f".{path.name}.tmp")
        aside.write_bytes(data)
        os.replace(aside, path)
        return manifest
