// Manifests: docs/format/manifest-v1.md.

import { MAX_COUNT, MAX_TOTAL_BYTES } from "./blobs.js";
import { ipv6 } from "./addresses.js";
import { FieldReader, bytesOfHex, concat, crc32c, equalBytes, hex, readVersion } from "./bytes.js";
import { MissingError, UnsupportedError, UntrustedError, require } from "./errors.js";
import { sha256 } from "./sha256.js";
import { KNOWN_FLAGS, knownCanonicaliser, knownHash, readRule, requireParameters } from "./snapshot.js";

const MAGIC = "8946534d";
const EXPIRES = 1;
const BLOBS = 2;
const PACK = 4;
const SIGNED = 8;
const EXTENSION = 16;
const KNOWN_PARTS = 31;
const SIGNATURE_BYTES = 72;
/** The end of the year 9999. */
const MAX_MILLIS = 253402300799999;

/** The description of a set at the end of a window. */
export class Manifest {
  /** Reads a manifest without verifying its signature. */
  static read(bytes) {
    const fields = new FieldReader(bytes);
    require(
      bytes.length >= 4 && hex(fields.take(4, "the magic number")) === MAGIC,
      "this is not a manifest: the magic number is missing"
    );
    const flags = readVersion(fields, "manifest", KNOWN_FLAGS);
    const parts = fields.u8("the parts");
    if (parts > KNOWN_PARTS) {
      throw new UnsupportedError(`the manifest has parts 0x${parts.toString(16)}, of which this program knows 0x1f`);
    }
    const checked = bytes.length - 4 - (parts & SIGNED ? SIGNATURE_BYTES : 0);
    require(checked >= fields.at, "the manifest ends too early");
    const end = new FieldReader(bytes.subarray(checked));
    require(
      end.u32("the checksum") === crc32c(bytes.subarray(0, checked)),
      "the checksum of the manifest does not match its bytes"
    );
    const manifest = new Manifest();
    manifest.signature = parts & SIGNED ? { key: hex(end.take(8, "the key")), value: end.take(64, "the signature").slice() } : null;
    /** The bytes of the manifest. */
    manifest.bytes = bytes.slice();
    manifest.#readFields(new FieldReader(bytes.subarray(fields.at, checked)), flags, parts);
    return Object.freeze(manifest);
  }

  #readFields(fields, flags, parts) {
    this.setName = fields.setName();
    this.sequence = fields.bigLeb("sequence");
    this.windowEndMillis = fields.i64("windowEndMillis");
    this.windowStartMillis = this.windowEndMillis - fields.bigLeb("the length of the window");
    require(this.windowStartMillis >= -(2n ** 63n), "the window must not begin before -2^63 ms");
    this.publishedMillis = fields.leb("publishedMillis", 0, MAX_MILLIS);
    this.expiresMillis =
      parts & EXPIRES ? this.publishedMillis + fields.leb("the time until the expiry", 1, MAX_MILLIS) : null;
    const hash = knownHash(fields.u8("the hash"));
    const keyCheck = fields.u64("keyCheck");
    const canonicaliser = knownCanonicaliser(fields.u8("the canonicaliser"));
    const canonicaliserVersion = Number(fields.bigLeb("canonicaliserVersion"));
    const rule = readRule(fields, flags, canonicaliser, (name, most) => fields.leb(`the length of ${name}`, 1, most));
    const shards = Number(fields.bigLeb("shards"));
    const falsePositiveRate = fields.f64("falsePositiveRate");
    this.parameters = Object.freeze({
      hash,
      keyCheck,
      canonicaliser,
      canonicaliserVersion,
      ...rule,
      shards,
      falsePositiveRate,
    });
    requireParameters(this.parameters);
    this.count = fields.leb("count", 0, MAX_COUNT);
    this.root = hex(fields.take(32, "the root"));
    this.pack = parts & PACK ? fields.reference("the pack") : null;
    this.packBytes = parts & PACK ? fields.leb("packBytes", this.pack.bytes, MAX_TOTAL_BYTES) : 0;
    this.blobs = parts & BLOBS ? fields.ascii(fields.leb("the length of blobs", 1, 2000), "blobs") : null;
    this.extension =
      parts & EXTENSION ? fields.take(fields.leb("the length of the extension", 1, 4096), "the extension").slice() : null;
    fields.end();
    require((this.expiresMillis ?? 0) <= MAX_MILLIS, () => `expiresMillis must be at most ${MAX_MILLIS}`);
    require(this.pack !== null || this.count === 0, () => `count must be 0 without a pack, got ${this.count}`);
    require(
      this.blobs === null || isDirectoryUri(this.blobs),
      () => `blobs must be the URI of a directory, got ${JSON.stringify(this.blobs)}`
    );
  }

  /** Returns whether another manifest describes the same set; publication times may differ. */
  isSameAs(other) {
    return (
      this.sequence === other.sequence &&
      this.hasParametersOf(other) &&
      this.windowStartMillis === other.windowStartMillis &&
      this.windowEndMillis === other.windowEndMillis &&
      this.count === other.count &&
      this.root === other.root
    );
  }

  /** Returns whether another manifest has the same set name and parameters. */
  hasParametersOf(other) {
    return (
      this.setName === other.setName &&
      Object.keys(this.parameters).every((name) => this.parameters[name] === other.parameters[name])
    );
  }

  isExpired(nowMillis) {
    return this.expiresMillis !== null && nowMillis >= this.expiresMillis;
  }
}

function isDirectoryUri(uri) {
  const match =
    /^([A-Za-z][A-Za-z0-9+.-]*):(\/\/(?:[A-Za-z0-9_.!~*'(),;:$&+=-]+|\[([0-9A-Fa-f:.]+)\](?::[0-9]*)?)(?=\/|$)|(?=\/(?!\/)|\/\/\/))(?:[A-Za-z0-9_.!~*'(),;:$&+=@/-]|%(?!00)[0-9A-Fa-f]{2})*$/.exec(
      uri
    );
  if (match === null) {
    return false;
  }
  const [, scheme, authority, address] = match;
  return (address === undefined || ipv6(address) !== null) && (scheme !== "file" || authority === "");
}

/** Returns the root over the sets of all shards; null is a shard that never had a key. */
export function treeRoot(snapshots) {
  let level = snapshots.map((snapshot) => {
    const leaf = new Uint8Array(41);
    if (snapshot !== null) {
      leaf.set(bytesOfHex(snapshot.header.setDigest), 1);
      new DataView(leaf.buffer).setBigUint64(33, BigInt(snapshot.header.hashCount), true);
    }
    return sha256(leaf);
  });
  while (level.length > 1) {
    level = Array.from({ length: level.length / 2 }, (_, i) =>
      sha256(concat([Uint8Array.of(1), level[2 * i], level[2 * i + 1]]))
    );
  }
  return hex(level[0]);
}

// --- Signatures --------------------------------------------------------------------------------------------

let webCrypto = globalThis.crypto;

/** Sets WebCrypto for runtimes without `globalThis.crypto`, such as Node 18. */
export function useCrypto(crypto) {
  webCrypto = crypto;
}

// The DER of an Ed25519 key is this prefix and 32 bytes (RFC 8410).
const ED25519_PREFIX = bytesOfHex("302a300506032b6570032100");

/** A public key that verifies manifests. */
export class PublicKey {
  /** @param der the key in DER, X.509's SubjectPublicKeyInfo: 44 bytes */
  constructor(der) {
    if (!(der instanceof Uint8Array) || der.length !== 44 || !equalBytes(der.subarray(0, 12), ED25519_PREFIX)) {
      throw new RangeError("a public key must be an Ed25519 key in DER, X.509's SubjectPublicKeyInfo, of 44 bytes");
    }
    this.der = der.slice();
    /** Returns the id of the key: the first 8 bytes of the SHA-256, in hexadecimal digits. */
    this.id = hex(sha256(der).subarray(0, 8));
    Object.freeze(this);
  }

  /** Parses PEM, or Base64 of DER. */
  static parse(text) {
    const digits = text.replace(/-----(BEGIN|END) PUBLIC KEY-----/g, "").replace(/\s+/g, "");
    let binary;
    try {
      binary = atob(digits);
    } catch {
      throw new RangeError("a public key must be Base64 or PEM");
    }
    return new PublicKey(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
  }

  /** Returns whether a signature of bytes was made with this key. */
  async verifies(signature, bytes) {
    const subtle = webCrypto?.subtle;
    if (subtle === undefined) {
      throw new UnsupportedError(
        "signatures cannot be checked: this runtime has no WebCrypto here; browsers have it on https and on localhost alone"
      );
    }
    let key;
    try {
      key = await subtle.importKey("spki", this.der, { name: "Ed25519" }, false, ["verify"]);
    } catch (error) {
      if (error.name === "NotSupportedError") {
        throw new UnsupportedError(
          "signatures cannot be checked: the WebCrypto of this runtime has no Ed25519; Node has it from 18 on, Chromium from 137 on, Firefox from 129 on, Safari from 17 on",
          { cause: error }
        );
      }
      throw new UntrustedError(`the public key ${this.id} is no point of the curve`, { cause: error });
    }
    return subtle.verify({ name: "Ed25519" }, key, signature, bytes);
  }
}

/** Manifests with a verified signature of a trusted key. */
const VERIFIED = new WeakSet();

/**
 * Returns the place of the blobs in a manifest; null if it names none, or if no trusted key has signed the manifest,
 * because any writer may have forged it.
 */
export function trustedBlobs(manifest) {
  return VERIFIED.has(manifest) ? manifest.blobs : null;
}

/** Describes where a blob is missing, and why the place in its manifest was not used. */
export function missingBlob(error, manifest) {
  return manifest.blobs === null || VERIFIED.has(manifest)
    ? error
    : new MissingError(
        `${error.message}; the manifest names ${manifest.blobs}, which is asked only if a trusted key signed the manifest`,
        { cause: error }
      );
}

/** Rejects a manifest that none of these keys signed. */
export async function requireSigned(manifest, publicKeys) {
  const { signature } = manifest;
  if (signature === null) {
    throw new UntrustedError("the manifest has no signature");
  }
  const known = publicKeys.filter((key) => key.id === signature.key);
  if (known.length === 0) {
    throw new UntrustedError(`the manifest is signed by the key ${signature.key}, which is not trusted`);
  }
  const signed = manifest.bytes.subarray(0, manifest.bytes.length - SIGNATURE_BYTES);
  for (const key of known) {
    if (await key.verifies(signature.value, signed)) {
      VERIFIED.add(manifest);
      return;
    }
  }
  throw new UntrustedError(`the manifest is not what the key ${signature.key} signed`);
}
