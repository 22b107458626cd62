// Plain JavaScript, because WebCrypto's digest is not incremental, and browsers only have it on secure
// origins.

const K = new Int32Array(64);
const INITIAL = new Int32Array(8);

/** The first 32 bits of the fractional parts of roots of the first primes. */
(() => {
  let found = 0;
  for (let n = 2; found < 64; n++) {
    let isPrime = true;
    for (let d = 2; d * d <= n; d++) {
      isPrime = isPrime && n % d !== 0;
    }
    if (isPrime) {
      if (found < 8) {
        INITIAL[found] = fraction(BigInt(n), 2n);
      }
      K[found++] = fraction(BigInt(n), 3n);
    }
  }
})();

/** Returns the first 32 fractional bits of the root of an integer. */
function fraction(n, degree) {
  const scaled = n << (32n * degree);
  let low = 0n;
  let high = 1n << 40n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** degree <= scaled) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return Number(BigInt.asIntN(32, low));
}

export class Sha256 {
  #state = INITIAL.slice();
  #words = new Int32Array(64);
  #rest = new Uint8Array(64);
  #restLength = 0;
  #length = 0;

  update(bytes) {
    this.#length += bytes.length;
    let at = 0;
    if (this.#restLength > 0) {
      at = Math.min(64 - this.#restLength, bytes.length);
      this.#rest.set(bytes.subarray(0, at), this.#restLength);
      this.#restLength += at;
      if (this.#restLength < 64) {
        return this;
      }
      this.#block(this.#rest, 0);
      this.#restLength = 0;
    }
    for (; at + 64 <= bytes.length; at += 64) {
      this.#block(bytes, at);
    }
    this.#rest.set(bytes.subarray(at), 0);
    this.#restLength = bytes.length - at;
    return this;
  }

  digest() {
    const padded = new Uint8Array(this.#restLength < 56 ? 64 : 128);
    padded.set(this.#rest.subarray(0, this.#restLength));
    padded[this.#restLength] = 0x80;
    new DataView(padded.buffer).setBigUint64(padded.length - 8, BigInt(this.#length) * 8n);
    for (let at = 0; at < padded.length; at += 64) {
      this.#block(padded, at);
    }
    const out = new Uint8Array(32);
    const view = new DataView(out.buffer);
    this.#state.forEach((word, i) => view.setInt32(4 * i, word));
    return out;
  }

  #block(bytes, from) {
    const w = this.#words;
    for (let i = 0, at = from; i < 16; i++, at += 4) {
      w[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
    }
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15];
      const b = w[i - 2];
      const s0 = ((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3);
      const s1 = ((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
    }
    const state = this.#state;
    let a = state[0], b = state[1], c = state[2], d = state[3];
    let e = state[4], f = state[5], g = state[6], h = state[7];
    for (let i = 0; i < 64; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
  }
}

export function sha256(bytes) {
  return new Sha256().update(bytes).digest();
}
