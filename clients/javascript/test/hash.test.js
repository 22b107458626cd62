import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createHash } from "node:crypto";
import { crc32c } from "../lib/bytes.js";
import { HashKey } from "../lib/hash.js";
import { joinedHash } from "../lib/lookup.js";
import { Sha256, sha256 } from "../lib/sha256.js";
import { repository } from "./support/files.js";

const hexOf = (hash) => hash.toString(16).padStart(16, "0");
const KEY = "000102030405060708090a0b0c0d0e0f";

test("hashes are those of the conformance cases, SipHash's of its authors among them", () => {
  const { cases } = JSON.parse(readFileSync(repository("conformance/cases/hash.json"), "utf8"));
  assert.ok(cases.length > 150);
  for (const { request, answer } of cases) {
    const { algorithm, hashKey, scopeHex = "", formHex } = request;
    const key = algorithm === "xxh3-64" ? HashKey.xxh3(BigInt(hashKey)) : HashKey.parse(hashKey);
    const hash = joinedHash(key, Buffer.from(scopeHex, "hex"), Buffer.from(formHex, "hex"));
    assert.equal(hexOf(hash), answer.hash, JSON.stringify(request));
  }
});

/** From xxHash's own sanity check: its buffer of bytes, its lengths, the seeds 0 and PRIME64. */
test("XXH3 reproduces the sanity check of its author", () => {
  const vectors = `
    0 0 2D06800538D394C2
    0 9E3779B185EBCA8D A8A6B918B2F0364A
    1 0 C44BDFF4074EECDB
    1 9E3779B185EBCA8D 032BE332DD766EF8
    6 0 27B56A84CD2D7325
    12 0 A713DAF0DFBB77E7
    24 0 A3FE70BF9D3510EB
    48 0 397DA259ECBA1F11
    80 0 BCDEFBBB2C47C90A
    195 0 CD94217EE362EC3A
    403 0 CDEB804D65C6DEA4
    512 0 617E49599013CB6B
    2048 0 DD59E2C3A5F038E0
    2240 0 6E73A90539CF2948
    2367 0 CB37AEB9E5D361ED`;
  const bytes = new Uint8Array(2367);
  let generator = 2654435761n;
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = Number(generator >> 56n);
    generator = BigInt.asUintN(64, generator * 0x9e3779b185ebca8dn);
  }
  for (const [length, seed, expected] of vectors.trim().split("\n").map((line) => line.trim().split(" "))) {
    const hash = HashKey.xxh3(BigInt("0x" + seed)).hash(bytes.subarray(0, Number(length)));
    assert.equal(hexOf(hash).toUpperCase(), expected, `${length} bytes, seed ${seed}`);
  }
});

test("key checks are those that manifests carry", () => {
  assert.equal(HashKey.public().keyCheck, 0xaf95951d42abdfd0n);
  assert.equal(HashKey.parse("public").keyCheck, 0xaf95951d42abdfd0n);
  assert.equal(HashKey.parse(KEY).keyCheck, 0x445ce7001fe18326n);
  assert.equal(HashKey.xxh3(0n).keyCheck, 0xa8e9a36321086a13n);
});

test("an invalid hash key is rejected, and is not in the message", () => {
  assert.throws(() => HashKey.parse("00zz"), {
    message: "a hash key must be 32 hexadecimal digits or 'public', got 4 characters",
  });
  assert.throws(() => HashKey.sipHash(new Uint8Array(15)), RangeError);
});

test("SHA-256 matches the platform's, in one piece and in many", () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, i) => (i * 7919) & 255);
  for (let length = 0; length <= bytes.length; length++) {
    const expected = createHash("sha256").update(bytes.subarray(0, length)).digest("hex");
    assert.equal(Buffer.from(sha256(bytes.subarray(0, length))).toString("hex"), expected);
    const pieces = new Sha256();
    for (let at = 0; at < length; at += 37) {
      pieces.update(bytes.subarray(at, Math.min(length, at + 37)));
    }
    assert.equal(Buffer.from(pieces.digest()).toString("hex"), expected);
  }
});

test("CRC32C has the check value of the specification", () => {
  assert.equal(crc32c(Buffer.from("123456789")), 0xe3069283);
  assert.equal(crc32c(Buffer.from("12345678")), crc32c(Buffer.from("x12345678").subarray(1)));
});
