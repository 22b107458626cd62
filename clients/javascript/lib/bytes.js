import { InvalidKeyError, UnsupportedError, require } from "./errors.js";

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Returns whether a text has no lone surrogate. */
export function isWellFormed(text) {
  // The method is much faster; Node has it from 20 on.
  return text.isWellFormed === undefined ? !LONE_SURROGATE.test(text) : text.isWellFormed();
}

export function halfAPair(what) {
  return new InvalidKeyError(`${what} has half of a surrogate pair, which is no character`);
}

/** Returns the UTF-8 bytes of a text; rejects lone surrogates. */
export function utf8(text, what) {
  if (!isWellFormed(text)) {
    throw halfAPair(what);
  }
  return ENCODER.encode(text);
}

/** Decodes UTF-8. */
export function textOf(bytes, what) {
  try {
    return DECODER.decode(bytes);
  } catch {
    throw new InvalidKeyError(`${what} is not UTF-8`);
  }
}

export function hex(bytes) {
  let digits = "";
  for (const byte of bytes) {
    digits += (byte < 16 ? "0" : "") + byte.toString(16);
  }
  return digits;
}

/** Returns the bytes of hexadecimal digits; null for any other text. */
export function bytesOfHex(digits) {
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(digits)) {
    return null;
  }
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) => parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

export function equalBytes(a, b) {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

export function concat(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Four tables, to consume four bytes at once. */
const CRC32C_TABLES = (() => {
  const tables = new Int32Array(4 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    tables[byte] = crc;
  }
  for (let at = 256; at < 1024; at++) {
    const crc = tables[at - 256];
    tables[at] = (crc >>> 8) ^ tables[crc & 255];
  }
  return tables;
})();

/** Returns the CRC-32C, an unsigned 32-bit number. */
export function crc32c(bytes) {
  const tables = CRC32C_TABLES;
  let crc = -1;
  let at = 0;
  for (const end = bytes.length - 3; at < end; at += 4) {
    crc ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    crc =
      tables[768 + (crc & 255)] ^
      tables[512 + ((crc >>> 8) & 255)] ^
      tables[256 + ((crc >>> 16) & 255)] ^
      tables[crc >>> 24];
  }
  for (; at < bytes.length; at++) {
    crc = (crc >>> 8) ^ tables[(crc ^ bytes[at]) & 255];
  }
  return ~crc >>> 0;
}

/** Reads consecutive fields and rejects non-canonical encodings. */
export class FieldReader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  left() {
    return this.bytes.length - this.at;
  }

  take(length, what) {
    const from = this.#skip(length, what);
    return this.bytes.subarray(from, from + length);
  }

  #skip(length, what) {
    require(length <= this.left(), () => `${what} needs ${length} bytes, only ${this.left()} are left`);
    this.at += length;
    return this.at - length;
  }

  u8(what) {
    return this.bytes[this.#skip(1, what)];
  }

  u16(what) {
    return this.view.getUint16(this.#skip(2, what), true);
  }

  u32(what) {
    return this.view.getUint32(this.#skip(4, what), true);
  }

  u64(what) {
    return this.view.getBigUint64(this.#skip(8, what), true);
  }

  i64(what) {
    return this.view.getBigInt64(this.#skip(8, what), true);
  }

  f64(what) {
    return this.view.getFloat64(this.#skip(8, what), true);
  }

  /** Reads an unsigned LEB128 in its shortest form, below 2^63, as a BigInt. */
  bigLeb(what, least = 0n, most = MAX_LEB) {
    let number = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.u8(what);
      require(shift <= 56n, `${what} must be below 2^63`);
      number |= BigInt(byte & 127) << shift;
      if (byte < 128) {
        require(byte !== 0 || shift === 0n, `${what} must have no leading zeros`);
        break;
      }
    }
    require(number >= least && number <= most, () => `${what} must be in [${least}, ${most}], got ${number}`);
    return number;
  }

  /** Reads an unsigned LEB128 with a bound of at most 2^53, as a Number. */
  leb(what, least, most) {
    return Number(this.bigLeb(what, BigInt(least), BigInt(most)));
  }

  ascii(length, what) {
    return String.fromCharCode(...this.take(length, what));
  }

  setName() {
    return checkedSetName(this.ascii(this.u8("the length of the set name"), "the set name"));
  }

  /** Reads the digest of a blob, in hexadecimal digits, and its length. */
  reference(what) {
    const digest = hex(this.take(32, `the digest of ${what}`));
    return { digest, bytes: this.leb(`the length of ${what}`, 1, MAX_BYTES) };
  }

  end() {
    require(this.left() === 0, () => `${this.left()} bytes follow the last field`);
  }
}

export const MAX_LEB = 2n ** 63n - 1n;
/** The limit of a blob or a part of it. */
export const MAX_BYTES = 2 ** 31 - 1;

export function checkedSetName(name) {
  require(
    /^[A-Za-z0-9._-]{1,100}$/.test(name),
    () => `a set name must be 1 to 100 of the characters A-Z a-z 0-9 . _ -, got ${JSON.stringify(name)}`
  );
  return name;
}

/** Reads the version and the required flags of a manifest or blob; returns the flags. */
export function readVersion(fields, what, knownFlags = 0) {
  const version = fields.u8("the version");
  if (version > 1) {
    throw new UnsupportedError(`the ${what} has format version ${version}, this program reads version 1`);
  }
  require(version === 1, `the format version must be 1, got ${version}`);
  const flags = fields.u8("the required flags");
  requireFlags(flags, knownFlags, what);
  return flags;
}

/** Rejects an unknown required flag. */
export function requireFlags(flags, known, what) {
  if ((flags & ~known) !== 0) {
    throw new UnsupportedError(
      `the ${what} needs features 0x${flags.toString(16)}, of which this program knows 0x${known.toString(16)}`
    );
  }
}

