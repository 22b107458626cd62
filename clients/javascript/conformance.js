#!/usr/bin/env node
// Reads one JSON object per line and writes one reply per line, so that readers in all languages can run the same
// cases: conformance/README.md. Additional operations: verify, and apply, which returns the snapshots that it builds.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { bytesOfHex, hex } from "./lib/bytes.js";
import { verifyBlob } from "./lib/blobs.js";
import { FirstseenError, InvalidKeyError, MalformedError, UnsupportedError } from "./lib/errors.js";
import { Range } from "./lib/gcs.js";
import { joinedHash } from "./lib/lookup.js";
import { shardBits } from "./lib/snapshot.js";
import { OUT } from "./lib/words.js";
import {
  DirectorySource,
  HashKey,
  Manifest,
  PublicKey,
  Snapshot,
  canonical,
  catchUp,
  expressions,
  openLookup,
  openPath,
  requireSigned,
  verifySet,
} from "./node.js";

const hexOf = (hash) => hash.toString(16).padStart(16, "0");

function bytesOf(digits) {
  const bytes = bytesOfHex(digits);
  if (bytes === null) {
    throw new RangeError(`bytes must be hexadecimal digits, got '${digits}'`);
  }
  return bytes;
}

function hashKeyOf({ algorithm = "siphash-2-4", hashKey }) {
  return algorithm === "xxh3-64" ? HashKey.xxh3(BigInt(hashKey)) : HashKey.parse(hashKey);
}

function manifestFields(manifest) {
  const { parameters } = manifest;
  return {
    set: manifest.setName,
    sequence: manifest.sequence,
    windowStartMillis: manifest.windowStartMillis,
    windowEndMillis: manifest.windowEndMillis,
    publishedMillis: manifest.publishedMillis,
    expiresMillis: manifest.expiresMillis,
    algorithm: parameters.hash,
    keyCheck: hexOf(parameters.keyCheck),
    canonicaliser: parameters.canonicaliser,
    canonicaliserVersion: parameters.canonicaliserVersion,
    strippedParameters: parameters.strippedParameters,
    near: parameters.near,
    shards: parameters.shards,
    falsePositiveRate: parameters.falsePositiveRate,
    count: manifest.count,
    root: manifest.root,
    pack: manifest.pack?.digest ?? null,
    packBytes: manifest.packBytes,
    blobs: manifest.blobs,
  };
}

async function newestSet(directory, held) {
  const source = new DirectorySource(directory);
  return catchUp(Manifest.read(source.manifest()), held, source);
}

/** Names of the protocol without a version mean the first released version of a rule. */
const ruleOf = (name) => ({ url: "url-2", "url-expression": "url-expression-1" })[name] ?? name;

/** Returns the answers and the indices of keys without a canonical form, whose answer is `nothing`. */
function each(asked, nothing, ask) {
  const invalid = [];
  const answers = asked.map((one, index) =>
    orIf(InvalidKeyError, nothing, () => ask(one), () => invalid.push(index))
  );
  return { answers, invalid };
}

const OPERATIONS = {
  canonical({ canonicaliser, key, keyHex, strip }) {
    return { form: hex(canonical(ruleOf(canonicaliser), key ?? bytesOf(keyHex), { strip })) };
  },

  expressions({ canonicaliser = "url-expression", url }) {
    return { expressions: expressions(url, Number(ruleOf(canonicaliser).at(-1))) };
  },

  hash({ scopeHex = "", formHex, ...keyed }) {
    return { hash: hexOf(joinedHash(hashKeyOf(keyed), bytesOf(scopeHex), bytesOf(formHex))) };
  },

  value({ hash, shards, buckets, width }) {
    const range = new Range(BigInt(buckets), BigInt(width));
    const suffix = BigInt.asUintN(64, BigInt("0x" + hash) << BigInt(shardBits(shards)));
    const bucket = range.locate(Number(suffix >> 32n) | 0, Number(suffix & 0xffffffffn) | 0);
    const place = (BigInt(OUT[0] >>> 0) << 32n) | BigInt(OUT[1] >>> 0);
    const shard = BigInt("0x" + hash) >> BigInt(64 - shardBits(shards));
    return { shard: Number(shard), value: BigInt(bucket) * range.width + place };
  },

  snapshot({ file, verify }) {
    const { opened: snapshot } = openPath(file);
    if (!(snapshot instanceof Snapshot)) {
      throw new UnsupportedError("this is not a snapshot");
    }
    const { setName, shard, count, hashCount, setDigest } = snapshot.header;
    const fields = { set: setName, shard, count, hashCount, setDigest };
    if (!verify) {
      return fields;
    }
    snapshot.verify();
    return { ...fields, values: Array.from(snapshot.values().subarray(0, 100), String) };
  },

  async query({ file, directory, keys, scope, ...keyed }) {
    const lookup = await openLookup(file ?? directory, hashKeyOf(keyed));
    const { answers, invalid } = each(keys, false, (key) =>
      // The snapshot of a shard has no keys of other shards.
      directory === undefined
        ? orIf(UnsupportedError, false, () => lookup.contains(key, scope))
        : lookup.contains(key, scope)
    );
    return { present: answers, invalid };
  },

  async match({ file, directory, urls, scope, ...keyed }) {
    const lookup = await openLookup(file ?? directory, hashKeyOf(keyed));
    const { answers, invalid } = each(urls, null, (url) => lookup.match(url, scope));
    return { entries: answers, invalid };
  },

  async resembles({ file, directory, texts, scope, ...keyed }) {
    const lookup = await openLookup(file ?? directory, hashKeyOf(keyed));
    const { answers, invalid } = each(texts, 0, (text) => lookup.resembles(text, scope));
    return { equalBands: answers, invalid };
  },

  async manifest({ file, publicKeys = [] }) {
    const manifest = Manifest.read(readFileSync(file));
    if (publicKeys.length > 0) {
      await requireSigned(manifest, publicKeys.map(PublicKey.parse));
    }
    return manifestFields(manifest);
  },

  async follow({ from, to }) {
    const held = from === undefined ? null : (await newestSet(from, null)).set;
    const { set, way, bytes } = await newestSet(to, held);
    return { root: set.manifest.root, count: set.manifest.count, way, bytes };
  },

  async verify({ file }) {
    const { opened, source } = openPath(file);
    if (opened instanceof Manifest) {
      await verifySet(opened, source);
    } else if (opened instanceof Snapshot) {
      opened.verify();
    } else {
      verifyBlob(opened);
    }
    return { valid: true };
  },

  async apply({ file, from }) {
    const { opened: manifest, source } = openPath(file);
    const held = from === undefined ? null : (await catchUp(openPath(from).opened, null, source)).set;
    const { set, way, bytes } = await catchUp(manifest, held, source);
    const snapshots = set.snapshots.map((snapshot) => (snapshot === null ? null : hex(snapshot.toBytes())));
    return { snapshots, way, bytes };
  },
};

function orIf(Kind, otherwise, ask, note = () => {}) {
  try {
    return ask();
  } catch (error) {
    if (error instanceof Kind) {
      note();
      return otherwise;
    }
    throw error;
  }
}

async function answer(request) {
  const operation = Object.hasOwn(OPERATIONS, request.op) ? OPERATIONS[request.op] : undefined;
  if (operation === undefined) {
    return { unsupported: true };
  }
  try {
    return await operation(request);
  } catch (error) {
    if (error instanceof FirstseenError || error instanceof RangeError) {
      return { refused: error.message, kind: error instanceof MalformedError ? "malformed" : "unsupported" };
    }
    return { failed: error.stack };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const text = JSON.stringify(await answer(JSON.parse(line)), (_, value) =>
    typeof value === "bigint" ? String(value) : value
  );
  process.stdout.write(text + "\n");
}
