#!/usr/bin/env node
// Measures look-ups: node tools/bench.js [KEYS]

import { Snapshot, HashKey, Lookup, canonical } from "../index.js";
import { Range } from "../lib/gcs.js";
import { joinedHash } from "../lib/lookup.js";

const KEYS = Number(process.argv[2] ?? 1_000_000);
const RATE = 0.001;
const ASKED = 200_000;
const ROUNDS = 5;
const NO_SCOPE = new Uint8Array(0);
const hashKey = HashKey.public();

/** Returns a set of one shard with these keys. */
function lookupOf(canonicaliser, keys) {
  const parameters = {
    hash: hashKey.algorithm,
    keyCheck: hashKey.keyCheck,
    canonicaliser,
    canonicaliserVersion: canonicaliser === "url" ? 2 : 1,
    strippedParameters: null,
    shards: 1,
    falsePositiveRate: RATE,
  };
  const buckets = Math.ceil(keys.length / 36);
  let width = BigInt(Math.ceil(keys.length / RATE / buckets));
  while (!new Range(buckets, width).keepsRate(keys.length, RATE)) {
    width++;
  }
  const range = new Range(buckets, width);
  const values = new Set();
  for (const key of keys) {
    const hash = joinedHash(hashKey, NO_SCOPE, canonical(canonicaliser, key));
    values.add(Number((hash * range.size) >> 64n));
  }
  const about = { setName: "bench", shard: 0, sequence: 1n, windowStartMillis: 0n, windowEndMillis: 1n, parameters };
  const snapshot = Snapshot.of(about, range, Float64Array.from(values).sort(), keys.length);
  return { lookup: new Lookup(parameters, [snapshot], hashKey), bytes: snapshot.toBytes().length };
}

/** Returns the best of several rounds, in calls per second of CPU time. */
function report(what, asked, ask) {
  let best = Infinity;
  let present = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const started = process.cpuUsage();
    present = ask();
    const { user, system } = process.cpuUsage(started);
    best = Math.min(best, user + system);
  }
  const rate = Math.round((asked.length / best) * 1e6);
  console.log(`${what.padEnd(44)} ${rate.toLocaleString("en-US").padStart(12)} a second, ${present} present`);
}

function singly(asked, ask) {
  return () => asked.reduce((present, key) => present + (ask(key) ? 1 : 0), 0);
}

function measure(canonicaliser, keyOf, askedOf) {
  const keys = Array.from({ length: KEYS }, (_, i) => keyOf(i));
  const { lookup, bytes } = lookupOf(canonicaliser, keys);
  console.log(`${canonicaliser}: ${KEYS} keys at ${RATE}, ${(8 * bytes / KEYS).toFixed(2)} bits a key`);
  // Half of them are listed.
  const asked = Array.from({ length: ASKED }, (_, i) => askedOf(Math.floor(((i * 7919) % ASKED) * KEYS * 2 / ASKED)));
  if (canonicaliser === "url-expression") {
    report("  match, one URL per call", asked, singly(asked, (url) => lookup.match(url)));
    report("  matchAll", asked, () => lookup.matchAll(asked).filter((entry) => entry !== null).length);
  } else {
    report("  contains, one key per call", asked, singly(asked, (key) => lookup.contains(key)));
    report("  containsAll", asked, () => lookup.containsAll(asked).filter(Boolean).length);
  }
}

console.log(`Node ${process.version}`);
measure("none", (i) => `user${i}@mail.example`, (i) => `user${i}@mail.example`);
measure("url", (i) => `http://host-${i}.example/a/b?id=${i}`, (i) => `HTTP://Host-${i}.example:80/a/./b?id=${i}`);
measure("url-expression", (i) => `host-${i}.example.com`, (i) => `https://www.host-${i}.example.com/login/index.php?id=${i}`);
