// XXH3, 64 bits, from its specification (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).

import { bytesOfHex } from "./bytes.js";
import { OUT, mul64, mulHigh, mulHigh64 } from "./words.js";

const SECRET = bytesOfHex(
  "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f" +
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c" +
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8" +
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364" +
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e" +
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
);

// High and low halves of the primes.
const P1 = [0x9e3779b1, 0x85ebca87];
const P2 = [0xc2b2ae3d, 0x27d4eb4f];
const P3 = [0x165667b1, 0x9e3779f9];
const P4 = [0x85ebca77, 0xc2b2ae63];
const P5 = [0x27d4eb2f, 0x165667c5];
const PRIME32_1 = 0x9e3779b1;
const PRIME32_2 = 0x85ebca77;
const PRIME32_3 = 0xc2b2ae3d;
const INITIAL = [[0, PRIME32_3], P1, P2, P3, P4, [0, PRIME32_2], P5, [0, PRIME32_1]];

const STRIPE = 64;
const BLOCK = 1024;

function u32(bytes, at) {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
}

function add(ah, al, bh, bl) {
  const low = (al + bl) | 0;
  OUT[0] = (ah + bh + ((low >>> 0) < (al >>> 0) ? 1 : 0)) | 0;
  OUT[1] = low;
}

function subtract(ah, al, bh, bl) {
  OUT[0] = (ah - bh - ((al >>> 0) < (bl >>> 0) ? 1 : 0)) | 0;
  OUT[1] = (al - bl) | 0;
}

/** OUT ^= OUT >>> bits, for bits in [32, 63]. */
function shiftIn(bits) {
  OUT[1] ^= bits === 32 ? OUT[0] : OUT[0] >>> (bits - 32);
}

/** Computes the XOR of the two halves of a 128-bit product. */
function fold(ah, al, bh, bl) {
  mul64(ah, al, bh, bl);
  const h = OUT[0];
  const l = OUT[1];
  mulHigh64(ah, al, bh, bl);
  OUT[0] ^= h;
  OUT[1] ^= l;
}

function avalanche() {
  shiftIn(37);
  mul64(OUT[0], OUT[1], 0x16566791, 0x9e3779f9);
  shiftIn(32);
}

function avalancheOfXxh64() {
  shiftIn(33);
  mul64(OUT[0], OUT[1], P2[0], P2[1]);
  const h = OUT[0];
  OUT[1] ^= (OUT[1] >>> 29) | (h << 3);
  OUT[0] ^= h >>> 29;
  mul64(OUT[0], OUT[1], P3[0], P3[1]);
  shiftIn(32);
}

function swapped(word) {
  return (word >>> 24) | ((word >>> 8) & 0xff00) | ((word << 8) & 0xff0000) | (word << 24);
}

export class XXH3 {
  #seedHigh;
  #seedLow;
  #secret = SECRET;
  #accumulators = new Int32Array(16);

  /** @param seed a BigInt of 64 bits */
  constructor(seed) {
    this.#seedHigh = Number(seed >> 32n) | 0;
    this.#seedLow = Number(seed & 0xffffffffn) | 0;
    if (seed !== 0n) {
      this.#secret = SECRET.slice();
      const view = new DataView(this.#secret.buffer);
      for (let at = 0; at < 192; at += 16) {
        view.setBigUint64(at, view.getBigUint64(at, true) + seed, true);
        view.setBigUint64(at + 8, view.getBigUint64(at + 8, true) - seed, true);
      }
    }
  }

  /** Stores the hash of the first bytes of an array in OUT. */
  hashInto(bytes, length) {
    if (length <= 16) {
      this.#upTo16(bytes, length);
    } else if (length <= 240) {
      this.#upTo240(bytes, length);
    } else {
      this.#long(bytes, length);
    }
  }

  #upTo16(bytes, length) {
    const sh = this.#seedHigh;
    const sl = this.#seedLow;
    if (length === 0) {
      OUT[0] = sh ^ u32(SECRET, 60) ^ u32(SECRET, 68);
      OUT[1] = sl ^ u32(SECRET, 56) ^ u32(SECRET, 64);
      avalancheOfXxh64();
    } else if (length <= 3) {
      const combined = (bytes[0] << 16) | (bytes[length >> 1] << 24) | bytes[length - 1] | (length << 8);
      add(0, u32(SECRET, 0) ^ u32(SECRET, 4), sh, sl);
      OUT[1] ^= combined;
      avalancheOfXxh64();
    } else if (length <= 8) {
      const flipHigh = u32(SECRET, 12) ^ u32(SECRET, 20);
      const flipLow = u32(SECRET, 8) ^ u32(SECRET, 16);
      subtract(flipHigh, flipLow, sh ^ swapped(sl), sl);
      const h = OUT[0] ^ u32(bytes, 0);
      const l = OUT[1] ^ u32(bytes, length - 4);
      // h ^= h <<< 49 ^ h <<< 24
      const turnedHigh = ((l << 17) | (h >>> 15)) ^ ((h << 24) | (l >>> 8));
      const turnedLow = ((h << 17) | (l >>> 15)) ^ ((l << 24) | (h >>> 8));
      mul64(h ^ turnedHigh, l ^ turnedLow, 0x9fb21c65, 0x1e98df25);
      // The shifted number has 29 bits.
      OUT[1] ^= (OUT[0] >>> 3) + length;
      mul64(OUT[0], OUT[1], 0x9fb21c65, 0x1e98df25);
      const high = OUT[0];
      OUT[1] ^= (OUT[1] >>> 28) | (high << 4);
      OUT[0] ^= high >>> 28;
    } else {
      add(u32(SECRET, 28) ^ u32(SECRET, 36), u32(SECRET, 24) ^ u32(SECRET, 32), sh, sl);
      const lowHigh = OUT[0] ^ u32(bytes, 4);
      const lowLow = OUT[1] ^ u32(bytes, 0);
      subtract(u32(SECRET, 44) ^ u32(SECRET, 52), u32(SECRET, 40) ^ u32(SECRET, 48), sh, sl);
      const highHigh = OUT[0] ^ u32(bytes, length - 4);
      const highLow = OUT[1] ^ u32(bytes, length - 8);
      fold(lowHigh, lowLow, highHigh, highLow);
      add(OUT[0], OUT[1], highHigh, highLow);
      add(OUT[0], OUT[1], swapped(lowLow), swapped(lowHigh));
      add(OUT[0], OUT[1], 0, length);
      avalanche();
    }
  }

  /** Adds the mix of 16 bytes to a number. */
  #mix(high, low, bytes, at, secretAt) {
    add(u32(SECRET, secretAt + 4), u32(SECRET, secretAt), this.#seedHigh, this.#seedLow);
    const ah = OUT[0] ^ u32(bytes, at + 4);
    const al = OUT[1] ^ u32(bytes, at);
    subtract(u32(SECRET, secretAt + 12), u32(SECRET, secretAt + 8), this.#seedHigh, this.#seedLow);
    fold(ah, al, OUT[0] ^ u32(bytes, at + 12), OUT[1] ^ u32(bytes, at + 8));
    add(OUT[0], OUT[1], high, low);
  }

  #upTo240(bytes, length) {
    mul64(0, length, P1[0], P1[1]);
    if (length <= 128) {
      for (let i = (length - 1) >> 5; i >= 0; i--) {
        this.#mix(OUT[0], OUT[1], bytes, 16 * i, 32 * i);
        this.#mix(OUT[0], OUT[1], bytes, length - 16 * (i + 1), 32 * i + 16);
      }
    } else {
      const rounds = length >> 4;
      for (let i = 0; i < 8; i++) {
        this.#mix(OUT[0], OUT[1], bytes, 16 * i, 16 * i);
      }
      avalanche();
      for (let i = 8; i < rounds; i++) {
        this.#mix(OUT[0], OUT[1], bytes, 16 * i, 16 * (i - 8) + 3);
      }
      this.#mix(OUT[0], OUT[1], bytes, length - 16, 136 - 17);
    }
    avalanche();
  }

  #accumulate(bytes, from, secretFrom) {
    const acc = this.#accumulators;
    const secret = this.#secret;
    for (let i = 0; i < 8; i++) {
      const at = from + 8 * i;
      const low = u32(bytes, at);
      const high = u32(bytes, at + 4);
      const keyLow = low ^ u32(secret, secretFrom + 8 * i);
      const keyHigh = high ^ u32(secret, secretFrom + 8 * i + 4);
      const other = 2 * (i ^ 1);
      add(acc[other], acc[other + 1], high, low);
      acc[other] = OUT[0];
      acc[other + 1] = OUT[1];
      add(acc[2 * i], acc[2 * i + 1], mulHigh(keyLow, keyHigh), Math.imul(keyLow, keyHigh));
      acc[2 * i] = OUT[0];
      acc[2 * i + 1] = OUT[1];
    }
  }

  #scramble() {
    const acc = this.#accumulators;
    const from = SECRET.length - STRIPE;
    for (let i = 0; i < 8; i++) {
      const high = acc[2 * i];
      mul64(
        high ^ u32(this.#secret, from + 8 * i + 4),
        acc[2 * i + 1] ^ (high >>> 15) ^ u32(this.#secret, from + 8 * i),
        0,
        PRIME32_1
      );
      acc[2 * i] = OUT[0];
      acc[2 * i + 1] = OUT[1];
    }
  }

  #long(bytes, length) {
    const acc = this.#accumulators;
    INITIAL.forEach(([high, low], i) => {
      acc[2 * i] = high;
      acc[2 * i + 1] = low;
    });
    const blocks = Math.floor((length - 1) / BLOCK);
    for (let block = 0; block < blocks; block++) {
      for (let stripe = 0; stripe < BLOCK / STRIPE; stripe++) {
        this.#accumulate(bytes, block * BLOCK + stripe * STRIPE, 8 * stripe);
      }
      this.#scramble();
    }
    const stripes = (length - 1 - blocks * BLOCK) >> 6;
    for (let stripe = 0; stripe < stripes; stripe++) {
      this.#accumulate(bytes, blocks * BLOCK + stripe * STRIPE, 8 * stripe);
    }
    this.#accumulate(bytes, length - STRIPE, SECRET.length - STRIPE - 7);
    mul64(0, length, P1[0], P1[1]);
    for (let i = 0; i < 4; i++) {
      const high = OUT[0];
      const low = OUT[1];
      const at = 11 + 16 * i;
      fold(
        acc[4 * i] ^ u32(this.#secret, at + 4),
        acc[4 * i + 1] ^ u32(this.#secret, at),
        acc[4 * i + 2] ^ u32(this.#secret, at + 12),
        acc[4 * i + 3] ^ u32(this.#secret, at + 8)
      );
      add(OUT[0], OUT[1], high, low);
    }
    avalanche();
  }
}
