// Bit sequences, most significant bit of a byte first.

/** Returns the number in up to 53 bits at a bit position; bits beyond the end are 0. */
export function bitsAt(bytes, position, width) {
  if (width > 25) {
    return bitsAt(bytes, position, width - 25) * 33554432 + bitsAt(bytes, position + width - 25, 25);
  }
  if (width === 0) {
    return 0;
  }
  const at = (position / 8) | 0;
  const word = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
  return (word << (position & 7)) >>> (32 - width);
}

/** Returns the number in up to 64 bits, as a BigInt. */
export function bigBitsAt(bytes, position, width) {
  const low = Math.min(width, 32);
  return (BigInt(bitsAt(bytes, position, width - low)) << BigInt(low)) | BigInt(bitsAt(bytes, position + width - low, low));
}

export function bitAt(bytes, position) {
  return (bytes[(position / 8) | 0] >>> (7 - (position & 7))) & 1;
}

/** Returns the number of consecutive one bits before a bit position. */
export function onesBefore(bytes, position) {
  let at = position;
  while (at > 0 && bitAt(bytes, at - 1) === 1) {
    at--;
  }
  return position - at;
}

/** Returns the number of consecutive one bits from a bit position on. */
export function onesFrom(bytes, position) {
  let at = position;
  while (bitAt(bytes, at) === 1) {
    at++;
  }
  return at - position;
}

/** Writes a number of up to 64 bits, Number or BigInt, into bits that are 0. */
export function putBits(bytes, position, width, number) {
  if (typeof number === "bigint") {
    const low = Math.min(width, 32);
    putBits(bytes, position, width - low, Number(number >> BigInt(low)));
    putBits(bytes, position + width - low, low, Number(BigInt.asUintN(low, number)));
    return;
  }
  let end = position + width;
  let left = number;
  while (end > position) {
    const count = Math.min(end - position, end & 7 || 8);
    const chunk = left % 2 ** count;
    bytes[((end - 1) / 8) | 0] |= chunk << (-end & 7);
    left = (left - chunk) / 2 ** count;
    end -= count;
  }
}

/** Returns a copy padded with zeros, so that bits beyond the end are 0. */
export function padded(bytes) {
  const copy = new Uint8Array(bytes.length + 8);
  copy.set(bytes);
  return copy;
}

/** Returns the number of binary digits of a number; 0 for 0. */
export function bitLength(number) {
  return number === 0 ? 0 : number.toString(2).length;
}
