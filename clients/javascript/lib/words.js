// 64-bit numbers as two halves of 32 bits, because BigInt is slow. Results are stored in OUT.

/** The high and the low half of the result of the last operation. */
export const OUT = new Int32Array(2);

/** Returns the high half of the unsigned product of two halves; Math.imul returns the low half. */
export function mulHigh(a, b) {
  const a0 = a & 0xffff;
  const a1 = a >>> 16;
  const b0 = b & 0xffff;
  const b1 = b >>> 16;
  const low = Math.imul(a0, b0) >>> 16;
  const middle = (Math.imul(a1, b0) >>> 0) + low;
  const other = (Math.imul(a0, b1) >>> 0) + (middle & 0xffff);
  return (Math.imul(a1, b1) + (middle >>> 16) + (other >>> 16)) | 0;
}

/** Computes the low 64 bits of a product. */
export function mul64(ah, al, bh, bl) {
  OUT[0] = (mulHigh(al, bl) + Math.imul(ah, bl) + Math.imul(al, bh)) | 0;
  OUT[1] = Math.imul(al, bl);
}

/** Computes the high 64 bits of a product. */
export function mulHigh64(ah, al, bh, bl) {
  const first = mulHigh(al, bl) >>> 0;
  const second = (Math.imul(ah, bl) >>> 0) + first;
  const third = (Math.imul(al, bh) >>> 0) + (second >>> 0);
  const carry = Math.floor(second / 4294967296) + Math.floor(third / 4294967296);
  const low = (mulHigh(ah, bl) >>> 0) + (mulHigh(al, bh) >>> 0) + (Math.imul(ah, bh) >>> 0) + carry;
  OUT[1] = low | 0;
  OUT[0] = (mulHigh(ah, bh) + Math.floor(low / 4294967296)) | 0;
}
