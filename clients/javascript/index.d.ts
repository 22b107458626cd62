/**
 * Reads, follows and queries Firstseen's sets of keys and lists of URLs. docs/format specifies formats and rules.
 * Numbers that may have 64 bits are BigInts; milliseconds of windows are since 1970.
 */

/** A key: a string or bytes. All rules except `none` require UTF-8. */
export type Key = string | Uint8Array;

export type Canonicaliser = "none" | "url" | "text" | "url-expression";

export const CANONICALISERS: readonly Canonicaliser[];

/**
 * Returns the bytes of the canonical form of a key. With `url-expression`, a key is a line of a list.
 *
 * @param options `strip`: patterns of query parameters that `url` removes, such as `gclid,utm_*`
 * @throws InvalidKeyError if the key has no canonical form
 */
export function canonical(canonicaliser: Canonicaliser, key: Key, options?: { strip?: string | null }): Uint8Array;

/**
 * Returns the match expressions of a URL: all list entries that match it, most specific first.
 *
 * @param url with or without its scheme; it is not parsed as a line of a list
 * @param version of the rule `url-expression` of the list (default: the newest)
 * @throws InvalidKeyError if the URL has no canonical form
 */
export function expressions(url: Key, version?: number): string[];

/** The version of the public suffix list whose ICANN section this package contains. */
export const PUBLIC_SUFFIX_LIST: string;

/** Returns the registrable domain of a domain in canonical form; null for public suffixes. */
export function registrableDomain(domain: string): string | null;

/** The keyed hash of keys. */
export class HashKey {
  private constructor();
  /** The public key, for sets without a secret key. */
  static public(): HashKey;
  /** SipHash-2-4 with a key of 16 bytes. */
  static sipHash(key: Uint8Array): HashKey;
  /** SipHash-2-4 with a key of 32 hexadecimal digits, or the public key for `public`. */
  static parse(digits: string): HashKey;
  /** 64-bit XXH3 with a seed, for trusted input only. */
  static xxh3(seed: bigint): HashKey;
  readonly algorithm: "siphash-2-4" | "xxh3-64";
  /** The hash of the ASCII text `firstseen key check`. */
  readonly keyCheck: bigint;
  /** Returns the hash of bytes. */
  hash(bytes: Uint8Array): bigint;
  /** Returns whether a set has this hash and key. */
  fits(parameters: SetParameters): boolean;
}

/** The parameters that all snapshots of a set share. */
export interface SetParameters {
  readonly hash: "siphash-2-4" | "xxh3-64";
  readonly keyCheck: bigint;
  readonly canonicaliser: Canonicaliser;
  readonly canonicaliserVersion: number;
  /** Patterns of query parameters that the set removes from its URLs, or null. */
  readonly strippedParameters: string | null;
  /** The rule for near-duplicates, such as `characters:4,32x5,2`, or null. */
  readonly near: string | null;
  readonly shards: number;
  /** The highest probability that a key outside of the set is reported as present. */
  readonly falsePositiveRate: number;
}

/** The SHA-256 of a blob in hexadecimal digits, and its length in bytes. */
export interface BlobReference {
  readonly digest: string;
  readonly bytes: number;
}

/** The description of a set at the end of a window. */
export class Manifest {
  private constructor();
  /**
   * Reads a manifest without verifying its signature.
   *
   * @throws MalformedError or UnsupportedError
   */
  static read(bytes: Uint8Array): Manifest;
  readonly setName: string;
  readonly sequence: bigint;
  readonly windowStartMillis: bigint;
  readonly windowEndMillis: bigint;
  readonly publishedMillis: number;
  /** The time of expiry, or null. */
  readonly expiresMillis: number | null;
  readonly parameters: SetParameters;
  /** The number of live hashes in all shards. */
  readonly count: number;
  /** In hexadecimal digits. */
  readonly root: string;
  readonly pack: BlobReference | null;
  readonly packBytes: number;
  /**
   * The URI of the directory of the blobs; null if they are stored with the manifest. Sources use it only after
   * `requireSigned` has accepted this manifest.
   */
  readonly blobs: string | null;
  readonly extension: Uint8Array | null;
  readonly signature: { readonly key: string; readonly value: Uint8Array } | null;
  /** The bytes of the manifest. */
  readonly bytes: Uint8Array;
  /** Returns whether another manifest describes the same set. */
  isSameAs(other: Manifest): boolean;
  /** Returns whether another manifest has the same set name and parameters. */
  hasParametersOf(other: Manifest): boolean;
  isExpired(nowMillis: number): boolean;
}

/** An Ed25519 public key that verifies manifests. */
export class PublicKey {
  /** @param der X.509's SubjectPublicKeyInfo, 44 bytes */
  constructor(der: Uint8Array);
  /** From PEM, or from the Base64 of DER. */
  static parse(text: string): PublicKey;
  readonly der: Uint8Array;
  /** The first 8 bytes of the SHA-256 of the DER, in hexadecimal digits. */
  readonly id: string;
  /** @throws UnsupportedError if the runtime's WebCrypto has no Ed25519 */
  verifies(signature: Uint8Array, bytes: Uint8Array): Promise<boolean>;
}

/**
 * Rejects a manifest that none of these keys signed.
 *
 * @throws UntrustedError or UnsupportedError
 */
export function requireSigned(manifest: Manifest, publicKeys: readonly PublicKey[]): Promise<void>;

/** Sets WebCrypto for runtimes without `globalThis.crypto`. `firstseen/node` calls it for Node 18. */
export function useCrypto(crypto: Crypto | undefined): void;

/** The set of one shard, from a file or from blobs. */
export class Snapshot {
  private constructor();
  /** Opens a file; performs all checks that do not require decoding values. */
  static read(bytes: Uint8Array): Snapshot;
  readonly header: {
    readonly setName: string;
    readonly shard: number;
    readonly sequence: bigint;
    readonly windowStartMillis: bigint;
    readonly windowEndMillis: bigint;
    readonly parameters: SetParameters;
    /** The number of values. */
    readonly count: number;
    readonly hashCount: number;
    readonly setDigest: string;
  };
  /** Decodes everything and checks that the content matches the header. */
  verify(): void;
  /** Returns the ascending values; BigInts if they may have more than 53 bits. */
  values(): Float64Array | BigUint64Array;
  /** Returns the bytes of a file. */
  toBytes(): Uint8Array;
}

/** Queries for keys and URLs. */
export interface Asked {
  /**
   * Returns whether the set contains a key.
   *
   * @param scope the scope (tenant) of the key
   * @throws InvalidKeyError if the key has no canonical form
   */
  contains(key: Key, scope?: Key): boolean;
  /** Queries many keys, in their order. To find a key without a canonical form, query them individually. */
  containsAll(keys: Iterable<Key>, scope?: Key): boolean[];
  /**
   * Returns the most specific entry of a list (`url-expression`) that matches a URL, or null.
   *
   * @throws InvalidKeyError if the URL has no canonical form
   * @throws UnsupportedError if the set has a different canonicaliser
   */
  match(url: Key, scope?: Key): string | null;
  /** Matches many URLs, in their order. */
  matchAll(urls: Iterable<Key>, scope?: Key): (string | null)[];
  /**
   * Returns the number of bands that a text shares with the live text that resembles it most: 0 if no live text resembles
   * it, all bands of the rule if the text itself is live.
   *
   * @throws InvalidKeyError if the text has no canonical form
   * @throws UnsupportedError if the set was published without a rule for near-duplicates
   */
  resembles(text: Key, scope?: Key): number;
}

/** A set for queries. */
export class Lookup implements Asked {
  /**
   * @param snapshots of all shards in order; null for a shard without a set, undefined for an unavailable one
   * @throws UnsupportedError if the set has a different hash key or an unknown version of its rule
   */
  constructor(parameters: SetParameters, snapshots: readonly (Snapshot | null | undefined)[], hashKey: HashKey);
  contains(key: Key, scope?: Key): boolean;
  containsAll(keys: Iterable<Key>, scope?: Key): boolean[];
  match(url: Key, scope?: Key): string | null;
  matchAll(urls: Iterable<Key>, scope?: Key): (string | null)[];
  resembles(text: Key, scope?: Key): number;
}

/** A list with its name in answers. */
export interface NamedList {
  readonly name: string;
  readonly list: Pick<Asked, "match">;
}

export interface ListMatch {
  /** The name of the list. */
  readonly list: string;
  /** The most specific entry that matches the URL. */
  readonly entry: string;
}

/** Several lists that are queried together. */
export class UrlLists {
  /** @param allow allow sets; a match overrides all lists, even if its entry is less specific */
  constructor(lists: Iterable<NamedList>, allow?: Iterable<NamedList>);
  ask(url: Key, scope?: Key): { url: Key; present: boolean; matches: ListMatch[]; allowedBy: ListMatch[] };
}

/** A source of manifests and blobs. */
export interface Source {
  /** The name of the set, if the source has several. */
  readonly setName?: string | null;
  /** The cost of a request in bytes, in addition to the length of its blob. */
  readonly requestBytes?: number;
  /** Returns the bytes of the newest manifest. */
  manifest(): Uint8Array | Promise<Uint8Array>;
  /** Returns a manifest of the same set with bases, for services without the blobs of the publisher. */
  manifestOfBases?(): Promise<Uint8Array>;
  /** Returns the unverified bytes of a blob. */
  blob(reference: BlobReference, manifest: Manifest): Promise<Uint8Array>;
}

/** The HTTP service of `./firstseen serve`. */
export class HttpSource implements Source {
  /**
   * @param url of the service, or of a directory on a web server; in a browser it may be relative to the page
   * @param options `timeoutMillis` (default: 30,000) limits the pauses in a reply, and its duration, which may be one
   *     `timeoutMillis` longer per received MiB; `blobs` is a trusted http or https URL with blobs that the service does
   *     not have; `headers` are sent with each request to the service only; a function is called for each request
   * @throws RangeError if `blobs` is not an http or https URL
   */
  constructor(
    url: string | URL,
    options?: {
      set?: string | null;
      fetch?: typeof fetch;
      timeoutMillis?: number;
      blobs?: string | URL | null;
      headers?: Record<string, string> | (() => Record<string, string>);
    }
  );
  readonly setName: string | null;
  readonly requestBytes: number;
  manifest(): Promise<Uint8Array>;
  manifestOfBases(): Promise<Uint8Array>;
  blob(reference: BlobReference, manifest: Manifest): Promise<Uint8Array>;
}

/** The sets of all shards of a manifest, verified against its root and count. */
export class SnapshotSet {
  constructor(manifest: Manifest, snapshots: readonly (Snapshot | null)[]);
  readonly manifest: Manifest;
  readonly snapshots: readonly (Snapshot | null)[];
  lookup(hashKey: HashKey): Lookup;
}

/** The blobs from which a set was loaded. */
export interface CatchUp {
  readonly way: "nothing" | "packs" | "bases";
  /** The bytes of the loaded blobs. */
  readonly bytes: number;
  /** The reason why packs were not usable; null if they were used or not smaller. */
  readonly refusal: string | null;
}

/**
 * Loads the set of a manifest: by the packs since a held set, or by the bases, whichever is smaller.
 *
 * @throws MalformedError, UnsupportedError, MissingError, or errors of the source
 */
export function catchUp(
  manifest: Manifest,
  held: SnapshotSet | null,
  source: Pick<Source, "blob" | "requestBytes">
): Promise<CatchUp & { readonly set: SnapshotSet }>;

/** Loads and verifies all blobs that a reader of a manifest may need. */
export function verifySet(manifest: Manifest, source: Pick<Source, "blob">): Promise<SnapshotSet>;

export interface Update extends CatchUp {
  readonly manifest: Manifest;
}

/** Keeps a set up to date. The last valid set stays active after any error. */
export class SetFollower implements Asked {
  /**
   * @param options `hashKey` (default: the public key); `publicKeys`, one of which must have signed every manifest;
   *     `set`, the required name of the set
   */
  constructor(source: Source, options?: { hashKey?: HashKey; publicKeys?: Iterable<PublicKey>; set?: string | null });
  /** The active set; null before the first one. */
  readonly set: SnapshotSet | null;
  readonly manifest: Manifest | null;
  /** The newest problem; null if the last poll succeeded. */
  readonly trouble: Error | null;
  /** Returns whether the manifest has expired. */
  isStale(nowMillis?: number): boolean;
  /** Polls once; resolves to the update, or to null without a newer set. Rejects with the problem. */
  refresh(): Promise<Update | null>;
  /** Polls immediately and then every `intervalMillis` (default: 10,000). */
  start(options?: {
    intervalMillis?: number;
    onUpdate?: (update: Update) => void;
    onTrouble?: (error: Error) => void;
  }): void;
  /** Stops polling. The set stays active. */
  stop(): void;
  /** @throws NotReadyError if there is no set yet, like the other four methods */
  contains(key: Key, scope?: Key): boolean;
  containsAll(keys: Iterable<Key>, scope?: Key): boolean[];
  match(url: Key, scope?: Key): string | null;
  matchAll(urls: Iterable<Key>, scope?: Key): (string | null)[];
  resembles(text: Key, scope?: Key): number;
}

/** The base class of all errors. */
export class FirstseenError extends Error {}
/** The bytes violate the format. */
export class MalformedError extends FirstseenError {}
/** The bytes may be valid, but this reader does not support them. */
export class UnsupportedError extends FirstseenError {}
/** A blob is in a place that this reader does not support. */
export class OutOfReachError extends UnsupportedError {}
/** None of the trusted keys signed the manifest. */
export class UntrustedError extends FirstseenError {}
/** A key has no canonical form and cannot be looked up. */
export class InvalidKeyError extends FirstseenError {}
/** The manifest is older than the active one, or contradicts it. */
export class OutdatedError extends FirstseenError {}
/** A blob or a manifest does not exist. */
export class MissingError extends FirstseenError {}
/** The source is unreadable. */
export class UnreachableError extends FirstseenError {}
/** There is no set yet. */
export class NotReadyError extends FirstseenError {}
