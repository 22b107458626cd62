// The snapshot of a shard: docs/format/snapshot-v1.md.

import { FieldReader, MAX_LEB, bytesOfHex, checkedSetName, concat, crc32c, hex, requireFlags } from "./bytes.js";
import { CANONICALISERS } from "./canonical.js";
import { UnsupportedError, require } from "./errors.js";
import { GolombCodedSet, Range, setDigest } from "./gcs.js";
import { ALGORITHMS } from "./hash.js";
import { MAX_RULE_BYTES, parseRule, requireRoomForTags } from "./near.js";
import { requireOneForm } from "./stripping.js";

const MAGIC = "894653534e41500a";
const FIXED_HEADER_BYTES = 217;
const MAX_HEADER_BYTES = 1319;
/** The required flags of sets that remove parameters from URLs, and of sets with a rule for near-duplicates. */
const STRIPPED = 1;
const NEAR = 2;
export const KNOWN_FLAGS = STRIPPED | NEAR;
const MAX_SHARDS = 65536;
const MAX_RATE = 0.1;
/** Above the number of bits of any file. */
const MAX_VALUES = 2n ** 40n;

/** Returns the name of a hash or canonicaliser code; rejects unknown codes. */
export function knownHash(code) {
  if (!(code in ALGORITHMS)) {
    throw new UnsupportedError(`the hash must be 1 or 2, got ${code}`);
  }
  return ALGORITHMS[code];
}

export function knownCanonicaliser(code) {
  if (code >= CANONICALISERS.length) {
    throw new UnsupportedError(`the canonicaliser must be 0 to ${CANONICALISERS.length - 1}, got ${code}`);
  }
  return CANONICALISERS[code];
}

/** Reads the field that a flag announces; `readLength` returns its length, given its name and its highest length. */
export function readRule(fields, flags, canonicaliser, readLength) {
  require(flags !== KNOWN_FLAGS, "a set must have one of the features 1 and 2");
  let strippedParameters = null;
  let near = null;
  if (flags === STRIPPED) {
    require(canonicaliser === "url", () => `only the canonicaliser url strips parameters, got ${canonicaliser}`);
    strippedParameters = fields.ascii(readLength("strippedParameters", 1000), "strippedParameters");
    requireOneForm(strippedParameters);
  } else if (flags === NEAR) {
    require(canonicaliser === "text", () => `near-duplicates need the canonicaliser text, got ${canonicaliser}`);
    near = fields.ascii(readLength("nearRule", MAX_RULE_BYTES), "nearRule");
    parseRule(near);
  }
  return { strippedParameters, near };
}

/** Rejects parameters of a set that violate the common rules of snapshots and manifests. */
export function requireParameters(parameters) {
  const { canonicaliserVersion, shards, falsePositiveRate } = parameters;
  require(
    canonicaliserVersion >= 1 && canonicaliserVersion <= 65535,
    () => `the version of the canonicaliser must be in [1, 65535], got ${canonicaliserVersion}`
  );
  require(
    shards >= 1 && shards <= MAX_SHARDS && (shards & (shards - 1)) === 0,
    () => `the number of shards must be a power of two up to ${MAX_SHARDS}, got ${shards}`
  );
  require(
    falsePositiveRate > 0 && falsePositiveRate <= MAX_RATE,
    () => `the false-positive rate must be above 0, at most ${MAX_RATE}, got ${falsePositiveRate}`
  );
}

export function shardBits(shards) {
  return Math.log2(shards);
}

/** Rejects a range that does not fit the numbers of values and hashes of a shard. */
export function requireRoom(parameters, range, count, hashCount) {
  const bits = 64 - shardBits(parameters.shards);
  require(range.size <= 1n << BigInt(bits), () => `there must be at most 2^${bits} values, got ${range.size}`);
  require(
    hashCount >= count && (hashCount === 0) === (count === 0),
    () => `the number of hashes must be at least ${count}, and 0 if that is, got ${hashCount}`
  );
  require(
    range.keepsRate(count, parameters.falsePositiveRate),
    () => `a range of ${range.size} is too small for ${count} values at the rate ${parameters.falsePositiveRate}`
  );
  requireRoomForTags(parameters.near, range, parameters.shards);
  range.requireFits(count);
}

/** Rejects more hashes than the rate allows. */
export function requireRate(parameters, range, hashCount) {
  require(
    range.keepsRate(hashCount, parameters.falsePositiveRate),
    () => `a range of ${range.size} is too small for ${hashCount} keys at the rate ${parameters.falsePositiveRate}`
  );
}

/** The set of one shard, with look-ups of hashes. */
export class Snapshot {
  #set;
  #shardBits;

  constructor(header, set) {
    this.header = header;
    this.#set = set;
    this.#shardBits = shardBits(header.parameters.shards);
    Object.freeze(this);
  }

  /**
   * Returns the snapshot of values.
   *
   * @param about setName, shard, sequence, windowStartMillis, windowEndMillis and parameters
   */
  static of(about, range, values, hashCount) {
    requireRoom(about.parameters, range, values.length, hashCount);
    requireRate(about.parameters, range, hashCount);
    const digest = hex(setDigest(range, values));
    const header = { ...about, range, count: values.length, hashCount, setDigest: digest };
    return new Snapshot(Object.freeze(header), GolombCodedSet.of(range, values));
  }

  /** Opens a file; performs all checks that do not require decoding values. */
  static read(bytes) {
    require(bytes.length >= 12, () => `a snapshot must have at least 218 bytes, got ${bytes.length}`);
    const fields = new FieldReader(bytes);
    require(hex(fields.take(8, "the magic number")) === MAGIC, "this is not a snapshot: the magic number is missing");
    const version = fields.u16("the version");
    if (version > 1) {
      throw new UnsupportedError(`the snapshot has format version ${version}, this program reads version 1`);
    }
    require(version === 1, () => `the format version must be 1, got ${version}`);
    const headerBytes = fields.u16("the length of the header");
    require(
      headerBytes > FIXED_HEADER_BYTES && headerBytes <= MAX_HEADER_BYTES,
      () => `the header must have 218 to ${MAX_HEADER_BYTES} bytes, got ${headerBytes}`
    );
    require(
      headerBytes <= bytes.length,
      () => `the header has ${headerBytes} bytes, the file only ${bytes.length}`
    );
    const checksum = new FieldReader(bytes.subarray(headerBytes - 4)).u32("the checksum");
    require(
      checksum === crc32c(bytes.subarray(0, headerBytes - 4)),
      () => `the checksum of the header does not match its ${headerBytes} bytes`
    );
    return readSections(bytes, headerBytes, readHeader(fields, headerBytes));
  }

  /** Returns the bytes of a file. */
  toBytes() {
    const { header } = this;
    const payload = this.#set.payloadBytes();
    const sections = concat([payload, this.#set.startsBytes()]);
    const name = new TextEncoder().encode(header.setName);
    const { strippedParameters, near } = header.parameters;
    const rule = new TextEncoder().encode(near ?? strippedParameters ?? "");
    const headerBytes = FIXED_HEADER_BYTES + name.length + (rule.length === 0 ? 0 : 2 + rule.length);
    const bytes = new Uint8Array(headerBytes + sections.length);
    const view = new DataView(bytes.buffer);
    const codes = header.parameters;
    bytes.set(bytesOfHex(MAGIC));
    view.setUint16(8, 1, true);
    view.setUint16(10, headerBytes, true);
    view.setUint32(12, rule.length === 0 ? 0 : near ? NEAR : STRIPPED, true);
    view.setUint8(16, 1);
    view.setUint8(18, Number(Object.keys(ALGORITHMS).find((code) => ALGORITHMS[code] === codes.hash)));
    view.setUint8(19, CANONICALISERS.indexOf(codes.canonicaliser));
    view.setUint16(20, codes.canonicaliserVersion, true);
    view.setUint32(24, header.shard, true);
    view.setUint32(28, codes.shards, true);
    view.setBigUint64(32, codes.keyCheck, true);
    view.setFloat64(40, codes.falsePositiveRate, true);
    view.setBigInt64(48, header.sequence, true);
    view.setBigInt64(56, header.windowStartMillis, true);
    view.setBigInt64(64, header.windowEndMillis, true);
    view.setBigUint64(72, BigInt(header.hashCount), true);
    view.setBigUint64(80, BigInt(header.count), true);
    view.setBigUint64(88, this.#set.golombParameter, true);
    view.setBigUint64(104, BigInt(this.#set.payloadBits), true);
    view.setBigUint64(112, BigInt(sections.length - payload.length), true);
    view.setBigUint64(120, BigInt(payload.length), true);
    bytes.set(bytesOfHex(header.setDigest), 128);
    view.setBigUint64(192, BigInt(header.range.buckets), true);
    view.setBigUint64(200, header.range.width, true);
    view.setUint32(208, crc32c(sections), true);
    view.setUint8(212, name.length);
    bytes.set(name, 213);
    if (rule.length > 0) {
      view.setUint16(213 + name.length, rule.length, true);
      bytes.set(rule, 215 + name.length);
    }
    const end = headerBytes - 4;
    view.setUint32(end, crc32c(bytes.subarray(0, end)), true);
    bytes.set(sections, headerBytes);
    return bytes;
  }

  /** Decodes everything and checks that the content matches the header. */
  verify() {
    const digest = hex(setDigest(this.header.range, this.values()));
    require(
      digest === this.header.setDigest,
      () => `the set digest must be ${digest}, got ${this.header.setDigest}`
    );
  }

  /** Returns the ascending values: Numbers, or BigInts if they may have more than 53 bits. */
  values() {
    return this.#set.values();
  }

  /** Calls forEachBetween of the set. */
  forEachBetween(first, last, take) {
    this.#set.forEachBetween(first, last, take);
  }

  /** Returns whether the set contains a hash of this shard, given in two halves. */
  containsHalves(high, low) {
    const bits = this.#shardBits;
    return bits === 0
      ? this.#set.contains(high, low)
      : this.#set.contains((high << bits) | (low >>> (32 - bits)), low << bits);
  }
}

function readHeader(fields, headerBytes) {
  const flags = fields.u32("requiredFlags");
  requireFlags(flags, KNOWN_FLAGS, "snapshot");
  const codec = fields.u8("codec");
  if (codec !== 1) {
    throw new UnsupportedError(`the codec must be 1, got ${codec}`);
  }
  let reserved = BigInt(fields.u8("reserved"));
  const hash = knownHash(fields.u8("hashAlgorithm"));
  const canonicaliser = knownCanonicaliser(fields.u8("canonicaliser"));
  const canonicaliserVersion = fields.u16("canonicaliserVersion");
  reserved |= BigInt(fields.u16("reserved"));
  const shard = fields.u32("shard");
  const shards = fields.u32("shardCount");
  const keyCheck = fields.u64("keyCheck");
  const falsePositiveRate = fields.f64("falsePositiveRate");
  const header = { shard };
  header.sequence = fields.i64("sequence");
  header.windowStartMillis = fields.i64("windowStartMillis");
  header.windowEndMillis = fields.i64("windowEndMillis");
  header.hashCount = fields.u64("hashCount");
  header.count = fields.u64("count");
  header.golombParameter = fields.u64("golombParameter");
  reserved |= fields.u64("reserved");
  header.payloadBits = fields.u64("payloadBits");
  header.startsBytes = fields.u64("bucketStartsBytes");
  header.payloadBytes = fields.u64("payloadBytes");
  header.setDigest = hex(fields.take(32, "setDigest"));
  reserved |= fields.take(32, "reserved").some((byte) => byte !== 0) ? 1n : 0n;
  header.buckets = fields.u64("buckets");
  header.width = fields.u64("width");
  header.sectionsChecksum = fields.u32("sectionsChecksum");
  const nameBytes = fields.u8("setNameBytes");
  require(reserved === 0n, "the reserved bytes must be 0");
  header.setName = checkedSetName(fields.ascii(nameBytes, "the set name"));
  const rule = readRule(fields, flags, canonicaliser, (name) => fields.u16(`the length of ${name}`));
  require(headerBytes === fields.at + 4, () => `the header must have ${fields.at + 4} bytes, got ${headerBytes}`);
  const parameters = {
    hash,
    keyCheck,
    canonicaliser,
    canonicaliserVersion,
    ...rule,
    shards,
    falsePositiveRate,
  };
  header.parameters = Object.freeze(parameters);
  requireParameters(parameters);
  require(shard < shards, () => `the shard must be below ${shards}, got ${shard}`);
  require(header.sequence >= 0n, () => `the sequence must be at least 0, got ${header.sequence}`);
  require(header.windowStartMillis <= header.windowEndMillis, "the window must not end before it starts");
  require(header.hashCount <= MAX_LEB, "the number of hashes must be below 2^63");
  return header;
}

function readSections(bytes, headerBytes, read) {
  const { buckets, width, sectionsChecksum, golombParameter, payloadBits, startsBytes, payloadBytes, ...header } = read;
  require(header.count <= MAX_VALUES, () => `no file has room for ${header.count} values`);
  header.range = new Range(buckets, width);
  header.count = Number(header.count);
  header.hashCount = Number(header.hashCount);
  requireRoom(header.parameters, header.range, header.count, header.hashCount);
  const size = BigInt(headerBytes) + payloadBytes + startsBytes;
  require(size === BigInt(bytes.length), () => `the file must have ${size} bytes, got ${bytes.length}`);
  const sections = bytes.subarray(headerBytes);
  require(
    crc32c(sections) === sectionsChecksum,
    () => `the checksum of the sections does not match their ${sections.length} bytes`
  );
  require(
    (payloadBits + 7n) / 8n === payloadBytes,
    () => `the payload must have ${(payloadBits + 7n) / 8n} bytes, got ${payloadBytes}`
  );
  const set = GolombCodedSet.open(
    header.range,
    header.count,
    golombParameter,
    sections.subarray(0, Number(payloadBytes)),
    Number(payloadBits),
    sections.subarray(Number(payloadBytes))
  );
  return new Snapshot(Object.freeze(header), set);
}
