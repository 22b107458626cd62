// Packs, bases and lists of bases: docs/format/blob-v1.md.

import { padded } from "./bits.js";
import { FieldReader, MAX_BYTES, crc32c, hex, readVersion } from "./bytes.js";
import { UnsupportedError, require } from "./errors.js";
import { GolombCode, Range, decodedList, requireBits } from "./gcs.js";
import { Snapshot, requireRate, requireRoom } from "./snapshot.js";

const MAGIC = "89465342";
const KINDS = { 1: "a pack", 2: "a base", 3: "a list of bases" };
const CHANGE = 1;
const WHOLE = 2;
export const MAX_COUNT = 2 ** 40;
/** The limit of sums of lengths. */
export const MAX_TOTAL_BYTES = 2 ** 53;
/** The limit of consecutive packs, and of sections per shard in a list of bases. */
export const MAX_CHAIN = 4096;
const MAX_SHARDS = 65536;

/** The changes of a window in one shard, or the whole set of the shard. */
export class Section {
  constructor(bytes) {
    const fields = new FieldReader(bytes);
    this.bytes = bytes.length;
    const kind = fields.u8("the kind of a section");
    if (kind !== CHANGE && kind !== WHOLE) {
      throw new UnsupportedError(`the kind of a section must be 1 or 2, got ${kind}`);
    }
    this.isWhole = kind === WHOLE;
    this.hidden = fields.leb("the number of hashes that share a value", 0, MAX_COUNT);
    if (this.isWhole) {
      const buckets = fields.bigLeb("the number of buckets");
      this.range = new Range(buckets, fields.bigLeb("the width of a bucket"));
    }
    this.count = fields.leb("the number of values", 0, MAX_COUNT);
    this.removed = this.isWhole ? 0 : fields.leb("the number of removed values", 0, MAX_COUNT);
    const addedBits = this.isWhole ? 0n : fields.bigLeb("the number of bits of the added values");
    this.codes = padded(fields.take(fields.left(), "the codes"));
    this.bits = 8 * (this.codes.length - 8);
    if (this.isWhole) {
      require(this.count > 0 || this.hidden === 0, "a set without values must have no hashes");
      this.range.requireFits(this.count);
      requireBits(this.count, new GolombCode(this.count, this.range.size).fieldBits + 1, this.bits);
    } else {
      require(addedBits <= BigInt(this.bits), () => `the added values must end in ${this.bits} bits, got ${addedBits}`);
      this.addedBits = Number(addedBits);
      require(this.count > 0 || this.addedBits === 0, "no values cannot have codes");
      requireBits(this.count, 1, this.addedBits);
      requireBits(this.removed, 1, this.bits - this.addedBits);
    }
  }

  get hashCount() {
    return this.count + this.hidden;
  }

  /** Returns the values of a whole set. */
  values() {
    return decodedList(this.codes, 0, this.bits, true, this.count, this.range.size);
  }

  /** Returns the values after a change. */
  after(before, range) {
    require(
      this.removed <= before.length,
      () => `${before.length} values can be removed, got ${this.removed}`
    );
    const added = decodedList(this.codes, 0, this.addedBits, false, this.count, range.size);
    const places = BigInt(before.length);
    const removed = decodedList(this.codes, this.addedBits, this.bits, true, this.removed, places);
    const after = range.array(before.length + added.length - removed.length);
    require(after.length > 0 || this.hidden === 0, "a set without values must have no hashes");
    let at = 0;
    let nextAdded = 0;
    let nextRemoved = 0;
    for (let place = 0; place < before.length; place++) {
      const value = before[place];
      while (nextAdded < added.length && added[nextAdded] < value) {
        after[at++] = added[nextAdded++];
      }
      require(
        nextAdded === added.length || added[nextAdded] !== value,
        () => `an added value must not be there before, got ${value}`
      );
      if (nextRemoved < removed.length && removed[nextRemoved] === place) {
        nextRemoved++;
      } else {
        after[at++] = value;
      }
    }
    after.set(added.subarray(nextAdded), at);
    return after;
  }
}

/**
 * Returns the snapshot of a shard after applying sections, oldest first.
 *
 * @param about the fields that sections lack, see Snapshot.of
 * @param before the previous snapshot, or null
 */
export function applied(about, before, sections) {
  let wholeAt = sections.length - 1;
  while (wholeAt >= 0 && !sections[wholeAt].isWhole) {
    wholeAt--;
  }
  let range;
  let values;
  if (wholeAt < 0) {
    require(before !== null, "the section changes a set, but there is no previous set");
    range = before.header.range;
    values = before.values();
  } else {
    const whole = sections[wholeAt];
    range = whole.range;
    requireRoom(about.parameters, range, whole.count, whole.hashCount);
    requireRate(about.parameters, range, whole.hashCount);
    values = whole.values();
  }
  for (const section of sections.slice(wholeAt + 1)) {
    values = section.after(values, range);
  }
  return Snapshot.of(about, range, values, values.length + sections[sections.length - 1].hidden);
}

/**
 * Reads the common frame of all blobs.
 *
 * @param kind the required kind; null for any
 * @param setName the required set; null for any
 * @returns kind and setName, and the fields of the body
 */
function readFrame(bytes, kind, setName) {
  const fields = new FieldReader(bytes);
  require(
    bytes.length >= 4 && hex(fields.take(4, "the magic number")) === MAGIC,
    "this is not a blob: the magic number is missing"
  );
  readVersion(fields, "blob");
  const isKind = fields.u8("the kind");
  if (!(isKind in KINDS)) {
    throw new UnsupportedError(`the kind of a blob must be 1 to 3, got ${isKind}`);
  }
  const isOf = fields.setName();
  const body = fields.take(Math.max(0, fields.left() - 4), "the body");
  require(
    fields.u32("the checksum") === crc32c(bytes.subarray(0, bytes.length - 4)),
    () => `the checksum of the blob does not match its ${bytes.length} bytes`
  );
  require(kind === null || kind === isKind, () => `this must be ${KINDS[kind]}, it is ${KINDS[isKind]}`);
  require(setName === null || setName === isOf, () => `the blob must be of set '${setName}', got '${isOf}'`);
  return { kind: isKind, setName: isOf, fields: new FieldReader(body) };
}

/** The changes of one window, and references to the previous pack and the bases. */
export class Pack {
  /** @param manifest with the required set and number of shards; null for any */
  constructor(bytes, manifest) {
    const { setName, fields } = readFrame(bytes, 1, manifest?.setName ?? null);
    const shardCount = manifest?.parameters.shards ?? MAX_SHARDS;
    this.kind = KINDS[1];
    this.bytes = bytes.length;
    this.setName = setName;
    this.sequence = fields.bigLeb("the sequence");
    const mark = fields.u8("the mark of the previous pack");
    require(mark <= 1, () => `the mark of the previous pack must be 0 or 1, got ${mark}`);
    this.before = mark === 1 ? fields.reference("the previous pack") : null;
    this.keptFrom = fields.leb("keptFrom", 0, MAX_TOTAL_BYTES);
    this.bases = fields.reference("the list of bases");
    this.basesBytes = fields.leb("basesBytes", this.bases.bytes, MAX_TOTAL_BYTES);
    this.packsSince = fields.leb("packsSince", 0, MAX_TOTAL_BYTES);
    const lengths = [];
    let next = 0;
    for (let left = fields.leb("the number of sections", 1, shardCount); left > 0; left--) {
      const gap = fields.leb("the gap to the next shard", 0, Math.max(0, shardCount - 1 - next));
      require(next + gap < shardCount, () => `a shard must be below ${shardCount}, got ${next + gap}`);
      lengths.push([next + gap, fields.leb("the length of a section", 1, MAX_BYTES)]);
      next += gap + 1;
    }
    /** Sections by shard. */
    this.sections = new Map(lengths.map(([shard, length]) => [shard, new Section(fields.take(length, "a section"))]));
    fields.end();
  }

  allSections() {
    return [...this.sections.values()];
  }
}

/** The whole set of one shard. */
export class Base {
  /** @param shard the required shard; null for any */
  constructor(bytes, manifest, shard = null) {
    const { setName, fields } = readFrame(bytes, 2, manifest?.setName ?? null);
    this.kind = KINDS[2];
    this.bytes = bytes.length;
    this.setName = setName;
    this.shard = fields.leb("the shard", 0, MAX_SHARDS - 1);
    require(shard === null || this.shard === shard, () => `the base must be of shard ${shard}, got ${this.shard}`);
    this.section = new Section(fields.take(fields.left(), "the section"));
    require(this.section.isWhole, "a base must have a whole set");
  }

  allSections() {
    return [this.section];
  }
}

/** The base of each shard, and the later sections. */
export class BaseList {
  constructor(bytes, manifest) {
    const { setName, fields } = readFrame(bytes, 3, manifest?.setName ?? null);
    this.kind = KINDS[3];
    this.bytes = bytes.length;
    this.setName = setName;
    this.sequence = fields.bigLeb("the sequence");
    const shards = fields.leb("the number of shards", 1, MAX_SHARDS);
    require(
      manifest === null || shards === manifest.parameters.shards,
      () => `there must be ${manifest.parameters.shards} shards, got ${shards}`
    );
    const read = [];
    for (let shard = 0; shard < shards; shard++) {
      const length = fields.leb("the length of the base", 0, MAX_BYTES);
      if (length === 0) {
        read.push({ base: null, lengths: [] });
        continue;
      }
      const base = { digest: hex(fields.take(32, "the digest of the base")), bytes: length };
      const lengths = [];
      for (let left = fields.leb("the number of sections", 0, MAX_CHAIN); left > 0; left--) {
        lengths.push(fields.leb("the length of a section", 1, MAX_BYTES));
      }
      read.push({ base, lengths });
    }
    this.shards = read.map(({ base, lengths }) => ({
      base,
      sections: lengths.map((length) => new Section(fields.take(length, "a section"))),
    }));
    fields.end();
  }

  allSections() {
    return this.shards.flatMap((shard) => shard.sections);
  }

  /** Returns the bytes of the list and of all bases. */
  totalBytes() {
    return this.shards.reduce((sum, { base }) => sum + (base?.bytes ?? 0), this.bytes);
  }
}

/** Opens a blob of any kind and any set. */
export function readBlob(bytes) {
  const { kind } = readFrame(bytes, null, null);
  const Kind = { 1: Pack, 2: Base, 3: BaseList }[kind];
  return new Kind(bytes, null);
}

/** Decodes all content of a blob that does not depend on another blob. */
export function verifyBlob(blob) {
  for (const section of blob.allSections()) {
    if (section.isWhole) {
      section.values();
    }
  }
}

