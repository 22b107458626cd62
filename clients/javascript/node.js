// Files and directories of snapshots, which require Node, and all of index.js.

import { webcrypto } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { readBlob } from "./lib/blobs.js";
import { MAX_LEB } from "./lib/bytes.js";
import {
  FirstseenError,
  MissingError,
  ONLY_MANIFESTS,
  OutOfReachError,
  UnreachableError,
  UnsupportedError,
  require,
} from "./lib/errors.js";
import { HashKey } from "./lib/hash.js";
import { Lookup } from "./lib/lookup.js";
import { Manifest, missingBlob, requireSigned, trustedBlobs, useCrypto } from "./lib/manifest.js";
import { catchUp } from "./lib/set.js";
import { Snapshot } from "./lib/snapshot.js";

export * from "./index.js";

useCrypto(webcrypto);

const MANIFEST_MAGIC = Buffer.from("8946534d", "hex");
const BLOB_MAGIC = Buffer.from("89465342", "hex");

function cannotRead(file, error) {
  const Kind = error.code === "ENOENT" ? MissingError : UnreachableError;
  return new Kind(`cannot open ${file}: ${error.code ?? error.message}`, { cause: error });
}

function readBytes(file) {
  try {
    return readFileSync(file);
  } catch (error) {
    throw cannotRead(file, error);
  }
}

function manifestName(sequence) {
  return `manifest-${String(sequence).padStart(10, "0")}.bin`;
}

/** Returns the sequence in the name of a manifest, a BigInt; null for any other name. */
function sequenceOf(name) {
  const match = /^manifest-([0-9]{10,19})\.bin$/.exec(name);
  const sequence = match === null ? MAX_LEB + 1n : BigInt(match[1]);
  return sequence <= MAX_LEB && name === manifestName(sequence) ? sequence : null;
}

/** A directory of snapshots, as a source of manifests and blobs. */
export class DirectorySource {
  #blobs;

  /**
   * @param options `blobs`, a trusted directory, or its file: URL, of blobs that are not stored with the manifests
   */
  constructor(directory, { blobs = null } = {}) {
    this.directory = directory;
    this.#blobs = blobs;
    this.requestBytes = 0;
  }

  /** Returns the sequences of its manifests, ascending. */
  sequences() {
    let names;
    try {
      names = readdirSync(this.directory);
    } catch (error) {
      throw cannotRead(this.directory, error);
    }
    const sequences = names.map(sequenceOf).filter((sequence) => sequence !== null);
    return sequences.sort((a, b) => (a < b ? -1 : 1));
  }

  /** Returns the bytes of the newest manifest. */
  manifest() {
    const sequence = this.sequences().pop();
    if (sequence === undefined) {
      throw new MissingError(`there is no manifest in ${this.directory}`);
    }
    return this.manifestOf(sequence);
  }

  /** Returns the bytes of the manifest of a sequence. */
  manifestOf(sequence) {
    const file = path.join(this.directory, manifestName(sequence));
    const bytes = readBytes(file);
    requireSequence(Manifest.read(bytes), file);
    return bytes;
  }

  /** Returns the bytes of a blob: from here, from `blobs`, or from the directory that a verified manifest names. */
  async blob(reference, manifest) {
    const { digest } = reference;
    const place = this.#blobs ?? trustedBlobs(manifest);
    try {
      return await blobOf(path.join(this.directory, "blobs", digest), reference);
    } catch (error) {
      if (!(error instanceof MissingError)) {
        throw error;
      }
      if (place === null) {
        throw missingBlob(error, manifest);
      }
    }
    if (/^[a-z][a-z0-9+.-]+:/i.test(place) && !/^file:/i.test(place)) {
      throw new OutOfReachError(`the blob ${digest} is in ${place}, this program reads files alone`);
    }
    return blobOf(path.join(/^file:/i.test(place) ? fileURLToPath(place) : place, digest), reference);
  }
}

/** Reads a file that must have the size of a blob; reads no more bytes. */
async function blobOf(name, { digest, bytes }) {
  let file;
  try {
    file = await open(name);
    const { size } = await file.stat();
    require(size === bytes, () => `blob ${digest} must have ${bytes} bytes, got ${size}`);
    const buffer = Buffer.alloc(bytes);
    let length = 0;
    for (let read = 1; read > 0 && length < bytes; length += read) {
      read = (await file.read(buffer, length, bytes - length, length)).bytesRead;
    }
    return buffer.subarray(0, length);
  } catch (error) {
    throw error instanceof FirstseenError ? error : cannotRead(name, error);
  } finally {
    await file?.close();
  }
}

/** Rejects a manifest whose file name has a different sequence. */
function requireSequence(manifest, file) {
  const named = sequenceOf(path.basename(file));
  require(
    named === null || named === manifest.sequence,
    () => `the sequence must match the file's name, got ${manifest.sequence}`
  );
}

/**
 * Reads a path: a Snapshot, a blob or a Manifest; for a directory its newest manifest.
 *
 * @param options of the DirectorySource
 * @returns the content, and the source of its blobs, or null
 */
export function openPath(file, options) {
  let isDirectory;
  try {
    isDirectory = statSync(file).isDirectory();
  } catch (error) {
    throw cannotRead(file, error);
  }
  const source = isDirectory ? new DirectorySource(file, options) : null;
  const bytes = source === null ? readBytes(file) : source.manifest();
  if (bytes.subarray(0, 4).equals(MANIFEST_MAGIC)) {
    const manifest = Manifest.read(bytes);
    if (source === null) {
      requireSequence(manifest, file);
    }
    return { opened: manifest, source: source ?? new DirectorySource(path.dirname(file), options) };
  }
  const opened = bytes.subarray(0, 4).equals(BLOB_MAGIC) ? readBlob(bytes) : Snapshot.read(bytes);
  return { opened, source: null };
}

/**
 * Opens the set, or the snapshot of a shard, at a path for queries.
 *
 * @param options `blobs`, see DirectorySource; `publicKeys`, of which one must have signed the manifest; a snapshot has
 *   no signature
 */
export async function openLookup(file, hashKey = HashKey.public(), { blobs = null, publicKeys = [] } = {}) {
  const { opened, source } = openPath(file, { blobs });
  if (opened instanceof Manifest) {
    const keys = [...publicKeys];
    if (keys.length > 0) {
      await requireSigned(opened, keys);
    }
    new Lookup(opened.parameters, [], hashKey);
    return (await catchUp(opened, null, source)).set.lookup(hashKey);
  }
  if (!(opened instanceof Snapshot)) {
    throw new UnsupportedError(`this is ${opened.kind}; keys are looked up in a snapshot or a directory`);
  }
  if ([...publicKeys].length > 0) {
    throw new UnsupportedError(ONLY_MANIFESTS);
  }
  const { parameters, shard } = opened.header;
  const snapshots = [];
  snapshots[shard] = opened;
  return new Lookup(parameters, snapshots, hashKey);
}

/** Returns the hash key in a file of 32 hexadecimal digits, or the public key for `public`. */
export function readHashKey(file) {
  if (file === "public") {
    return HashKey.public();
  }
  const text = readBytes(file).toString("latin1").trim();
  try {
    return HashKey.parse(text === "public" ? "" : text);
  } catch (error) {
    throw new UnsupportedError(`${file}: ${error.message}`);
  }
}
