/** What needs Node: files and directories of snapshots, beside all of the package itself. */

import type { BlobReference, HashKey, Lookup, Manifest, PublicKey, Snapshot, Source } from "./index.js";

export * from "./index.js";

/** A directory of snapshots. */
export class DirectorySource implements Source {
  /** @param options `blobs`, a trusted directory, or its file: URL, of the blobs that are not in this one */
  constructor(directory: string, options?: { blobs?: string | null });
  readonly directory: string;
  readonly requestBytes: number;
  /** The sequences of the manifests in it, ascending. */
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

/** Reads what a path stands for; a directory stands for its newest manifest. */
export function openPath(
  file: string,
  options?: { blobs?: string | null }
): { opened: Snapshot | Manifest | Blob; source: DirectorySource | null };

/**
 * The set, or the snapshot of a shard, at a path; with the public hash key if none is given.
 *
 * @param options `blobs`, see DirectorySource; `publicKeys`, of which one must have signed the manifest; a snapshot has
 *   no signature
 */
export function openLookup(
  file: string,
  hashKey?: HashKey,
  options?: { blobs?: string | null; publicKeys?: Iterable<PublicKey> }
): Promise<Lookup>;

/** The hash key in a file of 32 hexadecimal digits, or the public one for `public`. */
export function readHashKey(file: string): HashKey;
