/** Files and directories of snapshots, which require Node, and all of the package itself. */

import type { BlobReference, HashKey, Lookup, Manifest, PublicKey, Snapshot, Source } from "./index.js";

export * from "./index.js";

/** A directory of snapshots. */
export class DirectorySource implements Source {
  /** @param options `blobs`, a trusted directory, or its file: URL, of blobs that are not in this one */
  constructor(directory: string, options?: { blobs?: string | null });
  readonly directory: string;
  readonly requestBytes: number;
  /** Returns the sequences of its manifests, ascending. */
  sequences(): bigint[];
  manifest(): Uint8Array;
  manifestOf(sequence: bigint): Uint8Array;
  blob(reference: BlobReference, manifest: Manifest): Promise<Uint8Array>;
}

/** A pack, a base or a list of bases. */
export interface Blob {
  readonly kind: "a pack" | "a base" | "a list of bases";
  readonly setName: string;
  readonly bytes: number;
}

/** Reads a path; for a directory its newest manifest. */
export function openPath(
  file: string,
  options?: { blobs?: string | null }
): { opened: Snapshot | Manifest | Blob; source: DirectorySource | null };

/**
 * Opens the set, or the snapshot of a shard, at a path; the default hash key is the public key.
 *
 * @param options `blobs`, see DirectorySource; `publicKeys`, of which one must have signed the manifest; a snapshot has
 *   no signature
 */
export function openLookup(
  file: string,
  hashKey?: HashKey,
  options?: { blobs?: string | null; publicKeys?: Iterable<PublicKey> }
): Promise<Lookup>;

/** Returns the hash key in a file of 32 hexadecimal digits, or the public key for `public`. */
export function readHashKey(file: string): HashKey;
