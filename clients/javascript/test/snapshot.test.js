import assert from "node:assert/strict";
import { test } from "node:test";
import { bitsAt, bigBitsAt, onesBefore, onesFrom, padded, putBits } from "../lib/bits.js";
import { readBlob, verifyBlob } from "../lib/blobs.js";
import { crc32c } from "../lib/bytes.js";
import { GolombCodedSet, Range } from "../lib/gcs.js";
import { FirstseenError, HashKey, Lookup, Manifest, Snapshot, openLookup } from "../node.js";
import { GOLDEN, temporary } from "./support/files.js";
import { golden, goldenNames, goldenSet } from "./support/golden.js";

/** Numbers that look random, and are always the same. */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test("golden snapshots are valid, and are written with the same bytes", () => {
  assert.ok(goldenNames(".snapshot").length >= 5);
  for (const name of goldenNames(".snapshot")) {
    const bytes = golden(name);
    const snapshot = Snapshot.read(bytes);
    snapshot.verify();
    assert.deepEqual(snapshot.toBytes(), bytes, name);
    const { range, hashCount } = snapshot.header;
    assert.deepEqual(Snapshot.of(snapshot.header, range, snapshot.values(), hashCount).toBytes(), bytes, name);
  }
});

test("the examples of the page hold what it says", async () => {
  const one = await openLookup(`${GOLDEN}/one.snapshot`);
  assert.equal(one.contains("http://example.com/key-0"), true);
  assert.equal(one.contains("http://example.com/key-1"), false);
  assert.equal(HashKey.public().hash(new TextEncoder().encode("http://example.com/key-0")), 0x15a912ff5bb393ffn);
  const many = await openLookup(`${GOLDEN}/sixty-four.snapshot`);
  const keys = Array.from({ length: 1000 }, (_, i) => `http://example.com/key-${i}`);
  const answers = many.containsAll(keys);
  assert.ok(answers.slice(0, 64).every(Boolean));
  assert.ok(answers.slice(64).filter(Boolean).length < 10);
  assert.deepEqual(
    answers,
    keys.map((key) => many.contains(new TextEncoder().encode(key)))
  );
});

test("keys of another shard, another hash key and sets that are not lists are rejected", async () => {
  const shard = await openLookup(`${GOLDEN}/shard-2-of-4.snapshot`, HashKey.xxh3(42n));
  assert.throws(() => shard.containsAll(Array.from({ length: 50 }, (_, i) => `${i}`)), /in shard \d, which is not here/);
  await assert.rejects(openLookup(`${GOLDEN}/one.snapshot`, HashKey.parse("00".repeat(16))), {
    name: "UnsupportedError",
    message: /the set was made with another hash key: siphash-2-4 \(key check af95951d42abdfd0\)/,
  });
  const one = await openLookup(`${GOLDEN}/one.snapshot`);
  assert.throws(() => one.match("http://example.com/"), /canonicalised by none; only sets of url-expression/);
  await assert.rejects(openLookup(`${GOLDEN}/pack-of-window-1.blob`), /this is a pack; keys are looked up/);
});

test("a flipped bit of a golden file is rejected", () => {
  const readers = [
    [".snapshot", (bytes) => Snapshot.read(bytes)],
    [".blob", (bytes) => verifyBlob(readBlob(bytes))],
    ["manifest.bin", (bytes) => Manifest.read(bytes)],
  ];
  for (const [ending, read] of readers) {
    for (const name of goldenNames(ending)) {
      const good = golden(name);
      read(good);
      for (let bit = 0; bit < 8 * good.length; bit += 3) {
        const flipped = good.slice();
        flipped[bit >> 3] ^= 1 << (bit & 7);
        assert.throws(() => read(flipped), FirstseenError, `${name}, bit ${bit}`);
      }
      for (let length = 0; length < good.length; length += 7) {
        assert.throws(() => read(good.subarray(0, length)), FirstseenError, `${name}, ${length} bytes`);
      }
    }
  }
});

/** With checksums that fit, opening may succeed; then answers may be wrong, but there are some, and soon. */
test("forged payloads neither crash nor hang", () => {
  const next = random(3);
  const good = golden("sixty-five.snapshot");
  const headerBytes = good[10] | (good[11] << 8);
  let opened = 0;
  for (let i = 0; i < 3000; i++) {
    const forged = good.slice();
    for (let flips = 1 + Math.floor(next() * 4); flips > 0; flips--) {
      const at = headerBytes + Math.floor(next() * (good.length - headerBytes));
      forged[at] = Math.floor(next() * 256);
    }
    const view = new DataView(forged.buffer);
    view.setUint32(208, crc32c(forged.subarray(headerBytes)), true);
    view.setUint32(headerBytes - 4, crc32c(forged.subarray(0, headerBytes - 4)), true);
    try {
      const snapshot = Snapshot.read(forged);
      opened++;
      for (let ask = 0; ask < 5; ask++) {
        snapshot.containsHalves(Math.floor(next() * 2 ** 32) | 0, Math.floor(next() * 2 ** 32) | 0);
      }
      snapshot.verify();
    } catch (error) {
      assert.ok(error instanceof FirstseenError, error.stack);
    }
  }
  assert.ok(opened > 100, `${opened}`);
});

test("values of all ranges are found, and no others", () => {
  const next = random(7);
  const ranges = [
    new Range(1, 1n),
    new Range(1, 1000n),
    new Range(9, 37n),
    new Range(64, 2n ** 26n + 3n),
    new Range(300, 2n ** 44n - 1n),
    new Range(1 << 16, 2n ** 48n),
    new Range(2 ** 31, 2n ** 33n),
    new Range(7, 2n ** 60n + 1n),
  ];
  for (const range of ranges.filter(({ buckets }) => buckets < 2 ** 20)) {
    const wanted = Math.min(500, Number(range.size));
    const chosen = new Set();
    while (chosen.size < wanted) {
      chosen.add(wanted === Number(range.size) ? BigInt(chosen.size) : (BigInt(Math.floor(next() * 2 ** 53)) * range.size) >> 53n);
    }
    const values = range.array(wanted);
    values.set(Array.from(chosen, range.number));
    values.sort();
    const set = GolombCodedSet.of(range, values);
    assert.deepEqual(set.values(), values);
    const contains = (suffix) => set.contains(Number(suffix >> 32n) | 0, Number(suffix & 0xffffffffn) | 0);
    for (const value of values) {
      // The least suffix of the value's bucket and place.
      const bucket = BigInt(value) / range.width;
      const place = BigInt(value) % range.width;
      const ceil = (a, b) => (a + b - 1n) / b;
      const suffix = ceil((bucket << 64n) + ceil(place << 64n, range.width), BigInt(range.buckets));
      assert.equal(contains(suffix), true, `${value} of ${range.size}`);
    }
    for (let i = 0; i < 300; i++) {
      const suffix = (BigInt(Math.floor(next() * 2 ** 32)) << 32n) | BigInt(Math.floor(next() * 2 ** 32));
      const product = suffix * BigInt(range.buckets);
      const place = ((product & (2n ** 64n - 1n)) * range.width) >> 64n;
      assert.equal(contains(suffix), chosen.has((product >> 64n) * range.width + place));
    }
  }
});

/** A snapshot of two URLs whose set leaves parameters out. */
function strippedSnapshot(strippedParameters, canonicaliser = "url") {
  const hashKey = HashKey.public();
  const parameters = {
    hash: hashKey.algorithm,
    keyCheck: hashKey.keyCheck,
    canonicaliser,
    canonicaliserVersion: canonicaliser === "url" ? 2 : 1,
    strippedParameters,
    near: null,
    shards: 1,
    falsePositiveRate: 0.001,
  };
  const about = { setName: "s", shard: 0, sequence: 1n, windowStartMillis: 0n, windowEndMillis: 1n, parameters };
  const range = new Range(1, 1000000n);
  const hashes = ["http://a.example/", "http://b.example/?x=1"].map((key) => hashKey.hash(new TextEncoder().encode(key)));
  const values = Float64Array.from(hashes, (hash) => Number((hash * range.size) >> 64n)).sort();
  return { hashKey, snapshot: Snapshot.of(about, range, values, 2) };
}

test("a set with stripped parameters has them in its header, and queries strip them", () => {
  const { hashKey, snapshot } = strippedSnapshot("gclid,utm_*");
  const bytes = snapshot.toBytes();
  assert.equal(bytes[12], 1);
  const read = Snapshot.read(bytes);
  read.verify();
  assert.deepEqual(read.toBytes(), bytes);
  assert.deepEqual(read.header.parameters, snapshot.header.parameters);
  const lookup = new Lookup(read.header.parameters, [read], hashKey);
  const asked = ["a.example?utm_source=y&gclid=1", "http://b.example?x=1&utm_a", "http://b.example?y=1", "a.example?gclid2"];
  assert.deepEqual(lookup.containsAll(asked), [true, true, false, false]);
  const without = strippedSnapshot(null);
  assert.equal(without.snapshot.toBytes().length, bytes.length - 2 - "gclid,utm_*".length);
  const plain = new Lookup(without.snapshot.header.parameters, [without.snapshot], hashKey);
  assert.deepEqual(plain.containsAll(asked), [false, false, false, false]);
});

test("stripped parameters that violate a rule are rejected", () => {
  for (const patterns of ["utm_*,gclid", "a,a", "a,", ",", "a*b", "**", "common", "a b", "ü", "a".repeat(1001)]) {
    const bytes = strippedSnapshot(patterns).snapshot.toBytes();
    assert.throws(() => Snapshot.read(bytes), { name: "MalformedError", message: /stripped parameters/ }, patterns);
  }
  for (const patterns of ["*", "a", "a,a*,b", "-,.,_*,~", "a".repeat(1000)]) {
    Snapshot.read(strippedSnapshot(patterns).snapshot.toBytes()).verify();
  }
  const ofTexts = strippedSnapshot("a", "text").snapshot.toBytes();
  assert.throws(() => Snapshot.read(ofTexts), /only the canonicaliser url strips parameters, got text/);
  const unknown = strippedSnapshot("a").snapshot.toBytes();
  unknown[12] |= 4;
  const headerBytes = unknown[10] | (unknown[11] << 8);
  new DataView(unknown.buffer).setUint32(headerBytes - 4, crc32c(unknown.subarray(0, headerBytes - 4)), true);
  assert.throws(() => Snapshot.read(unknown), { name: "UnsupportedError" });
});

test("bits are read as they are written", () => {
  const next = random(11);
  for (let i = 0; i < 2000; i++) {
    const width = 1 + Math.floor(next() * 64);
    const position = Math.floor(next() * 40);
    const number = BigInt.asUintN(width, BigInt(Math.floor(next() * 2 ** 53)) * 2049n + BigInt(i));
    const bytes = new Uint8Array(24);
    putBits(bytes, position, width, number);
    assert.equal(bigBitsAt(bytes, position, width), number);
    assert.equal(bigBitsAt(bytes, 0, position), 0n);
    if (width <= 53) {
      assert.equal(bitsAt(bytes, position, width), Number(number));
      const other = new Uint8Array(24);
      putBits(other, position, width, Number(number));
      assert.deepEqual(other, bytes);
    }
  }
  const ones = padded(Uint8Array.of(0xff, 0xfe));
  assert.equal(onesFrom(ones, 3), 12);
  assert.equal(onesBefore(ones, 15), 15);
  assert.equal(onesBefore(ones, 16), 0);
});

test("a set in a directory is proven and asked", async (t) => {
  const set = await openLookup(goldenSet(temporary(t)));
  assert.equal(set.contains("http://example.com/key-125"), true);
  assert.equal(set.contains("http://example.com/key-1000"), false);
  assert.equal(set.contains("http://example.com/key-125", "mail"), false);
  assert.throws(() => set.contains("a", "x".repeat(65537)), { name: "InvalidKeyError" });
});

test("what a set keeps goes with its values, not with its buckets", () => {
  const range = new Range(65536, 2n ** 20n);
  for (const count of [0, 1, 2, 300, 20_000]) {
    const values = Float64Array.from({ length: count }, (_, i) => i * 3_000_017);
    const made = GolombCodedSet.of(range, values);
    const open = () =>
      GolombCodedSet.open(
        range, count, made.golombParameter, made.payloadBytes(), made.payloadBits, made.startsBytes()
      );
    for (const set of [made, open()]) {
      assert.ok(set.startCount <= 5 * count + 1, `${set.startCount} starts of ${count} values`);
      assert.deepEqual(set.values(), values);
      assert.deepEqual(set.startsBytes(), made.startsBytes());
    }
  }
  const kept = () => {
    globalThis.gc?.();
    return process.memoryUsage().arrayBuffers;
  };
  const before = kept();
  const empty = Array.from({ length: 4000 }, () => {
    const set = GolombCodedSet.of(range, new Float64Array(0));
    return GolombCodedSet.open(range, 0, set.golombParameter, set.payloadBytes(), 0, set.startsBytes());
  });
  assert.ok(kept() - before < 16 * 2 ** 20, `${kept() - before} bytes for ${empty.length} empty sets`);
});
