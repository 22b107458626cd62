// Loading of the set of a manifest: docs/format/blob-v1.md#how-a-reader-gets-to-a-set.

import { Base, BaseList, MAX_CHAIN, Pack, applied } from "./blobs.js";
import { hex } from "./bytes.js";
import { FirstseenError, MissingError, OutOfReachError, require } from "./errors.js";
import { Lookup } from "./lookup.js";
import { treeRoot } from "./manifest.js";
import { sha256 } from "./sha256.js";

/** The minimum size of a pack. */
const MIN_PACK_BYTES = 64;
/** The number of concurrent requests for blobs. */
const AT_ONCE = 6;
const MAX_BUSY_MILLIS = 50;

/** The digest of the base from which a snapshot was built without other blobs. */
const BASES = new WeakMap();

/** The sets of all shards of a manifest, verified against its root and count. */
export class SnapshotSet {
  constructor(manifest, snapshots) {
    const root = treeRoot(snapshots);
    require(root === manifest.root, () => `the shards must have the root ${manifest.root}, got ${root}`);
    const count = snapshots.reduce((sum, snapshot) => sum + (snapshot?.header.hashCount ?? 0), 0);
    require(count === manifest.count, () => `the shards must have ${manifest.count} keys, got ${count}`);
    this.manifest = manifest;
    /** The snapshots of all shards in order; null for a shard that never had a key. */
    this.snapshots = Object.freeze([...snapshots]);
    Object.freeze(this);
  }

  /** Returns the set for queries; rejects a different hash key. */
  lookup(hashKey) {
    return new Lookup(this.manifest.parameters, this.snapshots, hashKey);
  }
}

/** Loads the blobs of a manifest and verifies each against its reference. */
class Blobs {
  #source;
  #manifest;
  bytes = 0;

  constructor(source, manifest) {
    this.#source = source;
    this.#manifest = manifest;
  }

  async #load(reference, Kind, ...more) {
    const bytes = await this.#source.blob(reference, this.#manifest);
    require(
      bytes.length === reference.bytes,
      () => `blob ${reference.digest} must have ${reference.bytes} bytes, got ${bytes.length}`
    );
    require(hex(sha256(bytes)) === reference.digest, () => `blob ${reference.digest} is damaged`);
    this.bytes += bytes.length;
    return at(`blob ${reference.digest}`, () => new Kind(bytes, this.#manifest, ...more));
  }

  async newestPack() {
    const manifest = this.#manifest;
    const newest = await this.#load(manifest.pack, Pack);
    const most = manifest.packBytes - manifest.pack.bytes - newest.packsSince;
    require(newest.keptFrom <= most, () => `keptFrom must be at most ${most}, got ${newest.keptFrom}`);
    return newest;
  }

  async packBefore(pack) {
    const before = await this.#load(pack.before, Pack);
    require(
      before.sequence < pack.sequence,
      () => `a pack must have a higher sequence than the previous pack, ${before.sequence}, got ${pack.sequence}`
    );
    return before;
  }

  async baseList(newest) {
    const list = await this.#load(newest.bases, BaseList);
    require(
      list.totalBytes() === newest.basesBytes,
      () => `the list of bases and the bases must have ${newest.basesBytes} bytes, got ${list.totalBytes()}`
    );
    return list;
  }

  async base(reference, shard) {
    return (await this.#load(reference, Base, shard)).section;
  }

  /** Returns the packs after a held manifest, oldest first. */
  async packsAfter(newest, held) {
    const packs = [newest];
    let left = this.#manifest.packBytes - held.packBytes - this.#manifest.pack.bytes;
    while (!isSameReference(packs[0].before, held.pack)) {
      const { before } = packs[0];
      require(before !== null && before.bytes <= left, "the packs do not lead back to the held set");
      left -= before.bytes;
      requireShort(packs);
      packs.unshift(await this.packBefore(packs[0]));
    }
    return packs;
  }

  /** Returns the packs after the list of bases, oldest first. */
  async packsSince(newest, list) {
    const packs = [newest];
    let left = newest.packsSince;
    while (left > 0) {
      const { before } = packs[0];
      require(before !== null && before.bytes <= left, "the packs do not lead back to the list of bases");
      left -= before.bytes;
      requireShort(packs);
      packs.unshift(await this.packBefore(packs[0]));
    }
    if (newest.sequence === list.sequence && packs.length === 1) {
      return [];
    }
    require(
      packs[0].sequence > list.sequence,
      () => `the list of bases must be of a sequence below ${packs[0].sequence}, got ${list.sequence}`
    );
    return packs;
  }
}

function isSameReference(one, other) {
  return one?.digest === other?.digest && one?.bytes === other?.bytes;
}

function requireShort(packs) {
  require(packs.length < MAX_CHAIN, `a set must be reached by at most ${MAX_CHAIN} packs, there are more`);
}

/** Adds the place to the message of an error. */
function at(place, read) {
  try {
    return read();
  } catch (error) {
    if (error instanceof FirstseenError) {
      throw new error.constructor(`${place}: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

/** Yields to other work of the thread from time to time. */
class Turns {
  #since = Date.now();

  async next() {
    if (Date.now() - this.#since > MAX_BUSY_MILLIS) {
      await new Promise((resolve) => setTimeout(resolve));
      this.#since = Date.now();
    }
  }
}

function sectionsOf(packs, shard) {
  return packs.map((pack) => pack.sections.get(shard)).filter((section) => section !== undefined);
}

function about(manifest, shard) {
  const { setName, sequence, windowStartMillis, windowEndMillis, parameters } = manifest;
  return { setName, shard, sequence, windowStartMillis, windowEndMillis, parameters };
}

function snapshotAfter(manifest, shard, before, sections) {
  return at(`shard ${shard}`, () => applied(about(manifest, shard), before, sections));
}

async function byPacks(manifest, newest, held, blobs) {
  const packs = await blobs.packsAfter(newest, held.manifest);
  const snapshots = [...held.snapshots];
  const turns = new Turns();
  for (let shard = 0; shard < snapshots.length; shard++) {
    const sections = sectionsOf(packs, shard);
    if (sections.length > 0) {
      snapshots[shard] = snapshotAfter(manifest, shard, snapshots[shard], sections);
      await turns.next();
    }
  }
  return new SnapshotSet(manifest, snapshots);
}

async function byBases(manifest, newest, held, blobs) {
  const list = await blobs.baseList(newest);
  const packs = await blobs.packsSince(newest, list);
  const snapshots = new Array(list.shards.length).fill(null);
  const turns = new Turns();
  let next = 0;
  const oneAfterAnother = async () => {
    while (next < snapshots.length) {
      const shard = next++;
      const { base, sections } = list.shards[shard];
      const since = [...sections, ...sectionsOf(packs, shard)];
      const before = held?.snapshots[shard] ?? null;
      if (base !== null && since.length === 0 && before !== null && BASES.get(before) === base.digest) {
        snapshots[shard] = before;
      } else if (base !== null) {
        const whole = await blobs.base(base, shard);
        snapshots[shard] = snapshotAfter(manifest, shard, null, [whole, ...since]);
        if (since.length === 0) {
          BASES.set(snapshots[shard], base.digest);
        }
      } else if (since.length > 0) {
        snapshots[shard] = snapshotAfter(manifest, shard, null, since);
      }
      await turns.next();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, snapshots.length) }, oneAfterAnother));
  } finally {
    // After a failure the other workers start no more requests.
    next = snapshots.length;
  }
  return new SnapshotSet(manifest, snapshots);
}

/** Returns whether the packs after a held set are available and smaller than the bases. */
function goesByPacks(manifest, newest, held, requestBytes) {
  const position = held.manifest.packBytes;
  const windows = Number(manifest.sequence - held.manifest.sequence);
  if (position < newest.keptFrom || position >= manifest.packBytes || windows <= 0) {
    return false;
  }
  const packBytes = manifest.packBytes - position;
  // Windows without a change have no pack.
  const packs = Math.min(windows, Math.floor(packBytes / MIN_PACK_BYTES) + 1);
  const bases = newest.basesBytes + newest.packsSince + manifest.pack.bytes;
  return packBytes + requestBytes * packs <= bases + requestBytes * (manifest.parameters.shards + 1);
}

/**
 * Loads the set of a manifest: by the packs after a held set, or by the bases, whichever is smaller. If the packs are
 * not usable, by the bases.
 *
 * @param held the set of an earlier manifest, or null
 * @param source with a method blob(reference, manifest) and `requestBytes`, the cost of a request in addition to its bytes
 * @returns set, way (`nothing`, `packs` or `bases`), bytes, and refusal: the reason why packs were not usable, or null
 */
export async function catchUp(manifest, held, source) {
  const usable = held !== null && held.manifest.hasParametersOf(manifest) ? held : null;
  if (usable !== null && usable.manifest.root === manifest.root) {
    return { set: new SnapshotSet(manifest, usable.snapshots), way: "nothing", bytes: 0, refusal: null };
  }
  if (manifest.pack === null) {
    const nothing = new Array(manifest.parameters.shards).fill(null);
    return { set: new SnapshotSet(manifest, nothing), way: "bases", bytes: 0, refusal: null };
  }
  const blobs = new Blobs(source, manifest);
  const newest = await blobs.newestPack();
  let refusal = null;
  if (usable !== null && goesByPacks(manifest, newest, usable, source.requestBytes ?? 0)) {
    try {
      const set = await byPacks(manifest, newest, usable, blobs);
      return { set, way: "packs", bytes: blobs.bytes, refusal };
    } catch (error) {
      if (!(error instanceof FirstseenError)) {
        throw error;
      }
      refusal = error.message;
    }
  }
  const set = await byBases(manifest, newest, usable, blobs);
  return { set, way: "bases", bytes: blobs.bytes, refusal };
}

/** Loads and verifies all blobs that a reader of a manifest may need, except deleted packs. */
export async function verifySet(manifest, source) {
  const { set } = await catchUp(manifest, null, source);
  if (manifest.pack === null) {
    return set;
  }
  const blobs = new Blobs(source, manifest);
  const newest = await blobs.newestPack();
  let pack = newest;
  let position = manifest.packBytes - manifest.pack.bytes;
  while (pack.before !== null && position > newest.keptFrom) {
    position -= pack.before.bytes;
    try {
      pack = await blobs.packBefore(pack);
    } catch (error) {
      if (error instanceof MissingError || error instanceof OutOfReachError) {
        break;
      }
      throw error;
    }
  }
  return set;
}

