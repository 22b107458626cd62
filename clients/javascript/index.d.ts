/**
 * Reads, follows and queries Firstseen's sets of keys and lists of URLs. Formats and rules are those of the pages of
 * docs/format. Numbers that may have 64 bits are BigInts; milliseconds of windows are since 1970.
 */

/** A key: a text, or its bytes. All rules but `none` need UTF-8. */
export type Key = string | Uint8Array;

export type Canonicaliser = "none" | "url" | "text" | "url-expression";

export const CANONICALISERS: readonly Canonicaliser[];

/**
 * The canonical form of a key, in bytes. By `url-expression` a key is a line of a list.
 *
 * @param options `strip`: patterns of query parameters that `url` leaves out, such as `gclid,utm_*`
 * @throws InvalidKeyError if it has none
 */
export function canonical(canonicaliser: Canonicaliser, key: Key, options?: { strip?: string | null }): Uint8Array;

/**
 * The match expressions of a URL: all entries of a list that would list it, from the most to the least specific.
 *
 * @param url with or without its scheme; not a line of a list, whose notation may mean more
 * @param version of the rule `url-expression` of the list; the newest if it is left out
 * @throws InvalidKeyError if it has no canonical form
 */
export function expressions(url: Key, version?: number): string[];

/** The version of the public suffix list of which this package has the ICANN section. */
export const PUBLIC_SUFFIX_LIST: string;

/** The registrable domain of a domain in canonical form; null for public suffixes. */
export function registrableDomain(domain: string): string | null;

/** The keyed hash of keys. */
export class HashKey {
  private constructor();
  /** The key that everyone knows; sets without a secret key have it. */
  static public(): HashKey;
  /** SipHash-2-4 under 16 bytes. */
  static sipHash(key: Uint8Array): HashKey;
  /** SipHash-2-4 under 32 hexadecimal digits, or the public key for `public`. */
  static parse(digits: string): HashKey;
  /** XXH3, 64 bits, under a seed; for trusted input only. */
  static xxh3(seed: bigint): HashKey;
  readonly algorithm: "siphash-2-4" | "xxh3-64";
  /** The hash of the ASCII text `firstseen key check`. */
  readonly keyCheck: bigint;
  /** The hash of bytes. */
  hash(bytes: Uint8Array): bigint;
  /** Whether a set was made with this hash and key. */
  fits(parameters: SetParameters): boolean;
}

/** What all snapshots of a set share. */
export interface SetParameters {
  readonly hash: "siphash-2-4" | "xxh3-64";
  readonly keyCheck: bigint;
  readonly canonicaliser: Canonicaliser;
  readonly canonicaliserVersion: number;
  /** Patterns of query parameters that the set leaves out of its URLs; null for none. */
  readonly strippedParameters: string | null;
  readonly shards: number;
  /** The highest probability that a key which is not in the set is answered by present. */
  readonly falsePositiveRate: number;
}

/** A blob by the SHA-256 of its bytes, in hexadecimal digits, and their number. */
export interface BlobReference {
  readonly digest: string;
  readonly bytes: number;
}

/** What a set is at the end of a window. */
export class Manifest {
  private constructor();
  /**
   * Reads a manifest; does not check a signature.
   *
   * @throws MalformedError or UnsupportedError
   */
  static read(bytes: Uint8Array): Manifest;
  readonly setName: string;
  readonly sequence: bigint;
  readonly windowStartMillis: bigint;
  readonly windowEndMillis: bigint;
  readonly publishedMillis: number;
  /** From when on it is stale; null for never. */
  readonly expiresMillis: number | null;
  readonly parameters: SetParameters;
  /** Live hashes of all shards. */
  readonly count: number;
  /** In hexadecimal digits. */
  readonly root: string;
  readonly pack: BlobReference | null;
  readonly packBytes: number;
  /**
   * The URI of the directory of the blobs; null if they are where the manifest is. Sources use it only after
   * `requireSigned` has accepted this manifest.
   */
  readonly blobs: string | null;
  readonly extension: Uint8Array | null;
  readonly signature: { readonly key: string; readonly value: Uint8Array } | null;
  /** The bytes as they were read. */
  readonly bytes: Uint8Array;
  /** Whether the other one says the same of the set. */
  isSameAs(other: Manifest): boolean;
  /** Whether the other one is of the same set with the same parameters. */
  hasParametersOf(other: Manifest): boolean;
  isExpired(nowMillis: number): boolean;
}

/** An Ed25519 key that may sign manifests. */
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
 * Refuses a manifest that none of these keys signed.
 *
 * @throws UntrustedError or UnsupportedError
 */
export function requireSigned(manifest: Manifest, publicKeys: readonly PublicKey[]): Promise<void>;

/** Sets WebCrypto where it is not `globalThis.crypto`. `firstseen/node` does so for Node 18. */
export function useCrypto(crypto: Crypto | undefined): void;

/** The set of one shard, from a file or from blobs. */
export class Snapshot {
  private constructor();
  /** Opens a file; checks all that can be checked without decoding values. */
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
  /** The values, ascending; BigInts if they may have more than 53 bits. */
  values(): Float64Array | BigUint64Array;
  /** The bytes of a file. */
  toBytes(): Uint8Array;
}

/** What can be asked for keys. */
export interface Asked {
  /**
   * Whether the set holds a key.
   *
   * @param scope the tenant, if keys have one
   * @throws InvalidKeyError if the key has no canonical form, so that no answer is right
   */
  contains(key: Key, scope?: Key): boolean;
  /** The same for many keys, in their order; ask one by one to learn which has no canonical form. */
  containsAll(keys: Iterable<Key>, scope?: Key): boolean[];
  /**
   * The entry of a list of `url-expression` that lists a URL, the most specific one; null if none does.
   *
   * @throws InvalidKeyError if the URL has no canonical form, so that no answer is right
   * @throws UnsupportedError if the set has another canonical form
   */
  match(url: Key, scope?: Key): string | null;
  /** The same for many URLs, in their order. */
  matchAll(urls: Iterable<Key>, scope?: Key): (string | null)[];
}

/** A set that can be asked. */
export class Lookup implements Asked {
  /**
   * @param snapshots of all shards in order; null for a shard without a set, undefined for one that is not here
   * @throws UnsupportedError if the set was made with another hash key, or with another version of its rule
   */
  constructor(parameters: SetParameters, snapshots: readonly (Snapshot | null | undefined)[], hashKey: HashKey);
  contains(key: Key, scope?: Key): boolean;
  containsAll(keys: Iterable<Key>, scope?: Key): boolean[];
  match(url: Key, scope?: Key): string | null;
  matchAll(urls: Iterable<Key>, scope?: Key): (string | null)[];
}

/** A list with the name by which it is told in answers. */
export interface NamedList {
  readonly name: string;
  readonly list: Pick<Asked, "match">;
}

export interface ListMatch {
  /** The name of the list. */
  readonly list: string;
  /** The most specific entry that lists the URL. */
  readonly entry: string;
}

/** Several lists as one. */
export class UrlLists {
  /** @param allow a match there overrides all lists, even if its entry is less specific */
  constructor(lists: Iterable<NamedList>, allow?: Iterable<NamedList>);
  ask(url: Key, scope?: Key): { url: Key; present: boolean; matches: ListMatch[]; allowedBy: ListMatch[] };
}

/** Where manifests and blobs are. */
export interface Source {
  /** The name of the set that is asked for, if the source has several. */
  readonly setName?: string | null;
  /** What a request costs beside its bytes. */
  readonly requestBytes?: number;
  /** The bytes of the newest manifest. */
  manifest(): Uint8Array | Promise<Uint8Array>;
  /** The bytes of a manifest of the same set by bases, for services that have no blobs of the publisher. */
  manifestOfBases?(): Promise<Uint8Array>;
  /** The bytes of a blob; what they must be is checked by the reader. */
  blob(reference: BlobReference, manifest: Manifest): Promise<Uint8Array>;
}

/** The service that `./firstseen serve` is. */
export class HttpSource implements Source {
  /**
   * @param url of the service; in a browser it may be relative to the page
   * @param options `timeoutMillis`, 30,000 if not given, is how long a reply may say nothing, and how long it may take:
   *     once, and once more for each whole MiB of it that has come; `blobs` is a trusted http or https URL that has the
   *     blobs which the service does not have; `headers` go with each request to the service and nowhere else; a
   *     function is asked for them each time
   * @throws RangeError if `blobs` is another URL
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

/** The sets of all shards of a manifest, which have its root and its count. */
export class SnapshotSet {
  constructor(manifest: Manifest, snapshots: readonly (Snapshot | null)[]);
  readonly manifest: Manifest;
  readonly snapshots: readonly (Snapshot | null)[];
  lookup(hashKey: HashKey): Lookup;
}

/** By which blobs a set was reached. */
export interface CatchUp {
  readonly way: "nothing" | "packs" | "bases";
  /** Of the blobs that were loaded. */
  readonly bytes: number;
  /** Why packs could not be used; null if they were, or were not the cheaper way. */
  readonly refusal: string | null;
}

/**
 * Loads the set of a manifest: by the packs since a held set, or by the bases, whichever is fewer bytes.
 *
 * @throws MalformedError, UnsupportedError, MissingError, or what the source throws
 */
export function catchUp(
  manifest: Manifest,
  held: SnapshotSet | null,
  source: Pick<Source, "blob" | "requestBytes">
): Promise<CatchUp & { readonly set: SnapshotSet }>;

/** Loads and checks all that a reader of a manifest may need. */
export function verifySet(manifest: Manifest, source: Pick<Source, "blob">): Promise<SnapshotSet>;

export interface Update extends CatchUp {
  readonly manifest: Manifest;
}

/** Keeps a set up to date. Whatever goes wrong, the last good set goes on answering. */
export class SetFollower implements Asked {
  /**
   * @param options `hashKey`, the public one if not given; `publicKeys`, of which one must have signed every manifest;
   *     `set`, the name that the set must have
   */
  constructor(source: Source, options?: { hashKey?: HashKey; publicKeys?: Iterable<PublicKey>; set?: string | null });
  /** The set that answers; null before the first one. */
  readonly set: SnapshotSet | null;
  readonly manifest: Manifest | null;
  /** The newest problem; null if the last look went well. */
  readonly trouble: Error | null;
  /** Whether the manifest says that its set should no longer be used. */
  isStale(nowMillis?: number): boolean;
  /** Looks once; what became of it, or null if there was nothing newer. Rejects with what is wrong. */
  refresh(): Promise<Update | null>;
  /** Looks at once and then every `intervalMillis`, 10,000 if not given. */
  start(options?: {
    intervalMillis?: number;
    onUpdate?: (update: Update) => void;
    onTrouble?: (error: Error) => void;
  }): void;
  /** Ends what start began. The set goes on answering. */
  stop(): void;
  /** @throws NotReadyError if there is no set yet; this holds for all four */
  contains(key: Key, scope?: Key): boolean;
  containsAll(keys: Iterable<Key>, scope?: Key): boolean[];
  match(url: Key, scope?: Key): string | null;
  matchAll(urls: Iterable<Key>, scope?: Key): (string | null)[];
}

/** What all errors of this package are. */
export class FirstseenError extends Error {}
/** Bytes break a rule of every version of the format. */
export class MalformedError extends FirstseenError {}
/** Bytes may be valid, but this reader cannot read them or cannot answer by them. */
export class UnsupportedError extends FirstseenError {}
/** A blob is in a place of a kind that this reader does not know. */
export class OutOfReachError extends UnsupportedError {}
/** None of the trusted keys signed the manifest. */
export class UntrustedError extends FirstseenError {}
/** A key has no canonical form, so no set holds it. */
export class InvalidKeyError extends FirstseenError {}
/** What is published is older than what answers, or contradicts it. */
export class OutdatedError extends FirstseenError {}
/** A blob or a manifest is not where it should be. */
export class MissingError extends FirstseenError {}
/** The source cannot be read. */
export class UnreachableError extends FirstseenError {}
/** There is no set yet that could answer. */
export class NotReadyError extends FirstseenError {}
