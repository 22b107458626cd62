import { bytesOfHex } from "./bytes.js";
import { OUT } from "./words.js";
import { XXH3 } from "./xxh3.js";

export const ALGORITHMS = Object.freeze({ 1: "siphash-2-4", 2: "xxh3-64" });

const ASCII = new TextEncoder();
const PUBLIC_KEY = ASCII.encode("firstseen-public");
const KEY_CHECK_MESSAGE = ASCII.encode("firstseen key check");

function little32(bytes, at) {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
}

/** SipHash-2-4 (Aumasson and Bernstein, 2012). Stores the hash in OUT. */
function sipHash(key, bytes, length) {
  let v0h = key[1] ^ 0x736f6d65, v0l = key[0] ^ 0x70736575;
  let v1h = key[3] ^ 0x646f7261, v1l = key[2] ^ 0x6e646f6d;
  let v2h = key[1] ^ 0x6c796765, v2l = key[0] ^ 0x6e657261;
  let v3h = key[3] ^ 0x74656462, v3l = key[2] ^ 0x79746573;
  const words = (length >>> 3) + 1;
  for (let word = 0; word <= words; word++) {
    let mh = 0, ml = 0;
    let rounds = 2;
    if (word === words) {
      v2l ^= 0xff;
      rounds = 4;
    } else {
      const at = word << 3;
      if (at + 8 <= length) {
        ml = little32(bytes, at);
        mh = little32(bytes, at + 4);
      } else {
        mh = length << 24;
        const left = length - at;
        for (let i = 0; i < left; i++) {
          if (i < 4) {
            ml |= bytes[at + i] << (8 * i);
          } else {
            mh |= bytes[at + i] << (8 * (i - 4));
          }
        }
      }
      v3h ^= mh;
      v3l ^= ml;
    }
    for (; rounds > 0; rounds--) {
      // v0 += v1; v1 = v1 <<< 13 ^ v0; v0 <<<= 32
      let l = (v0l + v1l) | 0;
      let h = (v0h + v1h + ((l >>> 0) < (v1l >>> 0) ? 1 : 0)) | 0;
      let t = ((v1h << 13) | (v1l >>> 19)) ^ h;
      v1l = ((v1l << 13) | (v1h >>> 19)) ^ l;
      v1h = t;
      v0h = l;
      v0l = h;
      // v2 += v3; v3 = v3 <<< 16 ^ v2
      l = (v2l + v3l) | 0;
      v2h = (v2h + v3h + ((l >>> 0) < (v3l >>> 0) ? 1 : 0)) | 0;
      v2l = l;
      t = ((v3h << 16) | (v3l >>> 16)) ^ v2h;
      v3l = ((v3l << 16) | (v3h >>> 16)) ^ v2l;
      v3h = t;
      // v0 += v3; v3 = v3 <<< 21 ^ v0
      l = (v0l + v3l) | 0;
      v0h = (v0h + v3h + ((l >>> 0) < (v3l >>> 0) ? 1 : 0)) | 0;
      v0l = l;
      t = ((v3h << 21) | (v3l >>> 11)) ^ v0h;
      v3l = ((v3l << 21) | (v3h >>> 11)) ^ v0l;
      v3h = t;
      // v2 += v1; v1 = v1 <<< 17 ^ v2; v2 <<<= 32
      l = (v2l + v1l) | 0;
      h = (v2h + v1h + ((l >>> 0) < (v1l >>> 0) ? 1 : 0)) | 0;
      t = ((v1h << 17) | (v1l >>> 15)) ^ h;
      v1l = ((v1l << 17) | (v1h >>> 15)) ^ l;
      v1h = t;
      v2h = l;
      v2l = h;
    }
    v0h ^= mh;
    v0l ^= ml;
  }
  OUT[0] = v0h ^ v1h ^ v2h ^ v3h;
  OUT[1] = v0l ^ v1l ^ v2l ^ v3l;
}

/** The keyed hash of keys: SipHash-2-4 with a key of 16 bytes, or 64-bit XXH3 with a seed. */
export class HashKey {
  #sipKey;
  #xxh3;

  /** Use one of the static methods. */
  constructor(algorithm, sipKey, xxh3) {
    this.algorithm = algorithm;
    this.#sipKey = sipKey;
    this.#xxh3 = xxh3;
    /** The hash of the ASCII text `firstseen key check`, a BigInt. */
    this.keyCheck = this.hash(KEY_CHECK_MESSAGE);
    Object.freeze(this);
  }

  /** The public key, for sets without a secret key. */
  static public() {
    return HashKey.sipHash(PUBLIC_KEY);
  }

  /** SipHash-2-4 with a key of 16 bytes. */
  static sipHash(key) {
    if (!(key instanceof Uint8Array) || key.length !== 16) {
      throw new RangeError(`a SipHash key must be a Uint8Array of 16 bytes, got ${key?.length}`);
    }
    const view = new DataView(key.buffer, key.byteOffset, 16);
    return new HashKey("siphash-2-4", Int32Array.from([0, 4, 8, 12], (at) => view.getInt32(at, true)), null);
  }

  /** SipHash-2-4 with a key of 32 hexadecimal digits, or `public`. Error messages do not contain the key. */
  static parse(digits) {
    if (digits === "public") {
      return HashKey.public();
    }
    const key = bytesOfHex(digits);
    if (key === null || key.length !== 16) {
      // The text may be a mistyped secret, so messages do not contain it.
      const found = digits.length === 32 ? `character ${1 + digits.search(/[^0-9a-f]/i)} is not one` : `got ${digits.length} characters`;
      throw new RangeError(`a hash key must be 32 hexadecimal digits or 'public', ${found}`);
    }
    return HashKey.sipHash(key);
  }

  /** XXH3 with a seed of 64 bits, a BigInt; for trusted input only. */
  static xxh3(seed) {
    return new HashKey("xxh3-64", null, new XXH3(BigInt.asUintN(64, BigInt(seed))));
  }

  /** Returns the hash of bytes, a BigInt. */
  hash(bytes) {
    this.hashInto(bytes, bytes.length);
    return (BigInt(OUT[0] >>> 0) << 32n) | BigInt(OUT[1] >>> 0);
  }

  /** Stores the hash of the first bytes of an array in OUT. */
  hashInto(bytes, length) {
    if (this.#sipKey !== null) {
      sipHash(this.#sipKey, bytes, length);
    } else {
      this.#xxh3.hashInto(bytes, length);
    }
  }

  /** Returns whether a set has this hash and key. */
  fits(parameters) {
    return parameters.hash === this.algorithm && parameters.keyCheck === this.keyCheck;
  }

  toString() {
    return `${this.algorithm} (key check ${this.keyCheck.toString(16).padStart(16, "0")})`;
  }
}
