// Golomb-coded sets: docs/format/snapshot-v1.md, and the lists of docs/format/blob-v1.md.
//
// Values have up to 64 bits. They are Numbers if the range is below 2^53, as for common rates, otherwise BigInts. Code
// for both creates its constants with `number`.

import { bigBitsAt, bitAt, bitLength, bitsAt, onesBefore, onesFrom, padded, putBits } from "./bits.js";
import { FieldReader } from "./bytes.js";
import { require } from "./errors.js";
import { Sha256 } from "./sha256.js";
import { OUT, mulHigh, mulHigh64 } from "./words.js";

const LN_2 = 0xb17217f7d1cf79acn;
const MAX_BUCKETS = 2n ** 31n;
const MAX_WIDTH = 2n ** 62n;
const EXACT = 2n ** 53n;

/** The range of values of a set: K buckets of width w. */
export class Range {
  #widthHigh;
  #widthLow;

  /** Rejects invalid numbers. */
  constructor(buckets, width) {
    const all = BigInt(buckets);
    require(all >= 1n && all <= MAX_BUCKETS, () => `there must be 1 to 2^31 buckets, got ${buckets}`);
    require(width >= 1n && width <= MAX_WIDTH, () => `a bucket must have 1 to 2^62 values, got ${width}`);
    this.buckets = Number(buckets);
    this.width = width;
    this.size = all * width;
    require(this.size <= 1n << 64n, () => `there must be at most 2^64 values, got ${this.size}`);
    this.isWide = this.size > EXACT;
    this.number = this.isWide ? BigInt : Number;
    /** The width of a bucket, in the type of values. */
    this.step = this.number(width);
    this.#widthHigh = Number(width >> 32n) | 0;
    this.#widthLow = Number(width & 0xffffffffn) | 0;
  }

  /** Returns the bucket of a suffix in two halves; stores its offset in the bucket in OUT. */
  locate(high, low) {
    const buckets = this.buckets | 0;
    const carried = mulHigh(low, buckets);
    const placeHigh = (Math.imul(high, buckets) + carried) | 0;
    const carry = placeHigh >>> 0 < carried >>> 0 ? 1 : 0;
    const bucket = (mulHigh(high, buckets) + carry) >>> 0;
    mulHigh64(placeHigh, Math.imul(low, buckets), this.#widthHigh, this.#widthLow);
    return bucket;
  }

  /** Returns an array of values. */
  array(length) {
    return this.isWide ? new BigUint64Array(length) : new Float64Array(length);
  }

  requireFits(count) {
    require(
      this.buckets <= Math.max(65536, Math.floor(count / 8)),
      () => `a set of ${count} values cannot have ${this.buckets} buckets`
    );
  }

  /** Returns whether a number of values or hashes is at most the exact rate times the range. */
  keepsRate(count, rate) {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, rate);
    const bits = view.getBigUint64(0);
    const exponent = Number((bits >> 52n) & 0x7ffn);
    const mantissa = (bits & 0xfffffffffffffn) | (exponent === 0 ? 0n : 1n << 52n);
    return BigInt(count) << BigInt(1075 - Math.max(1, exponent)) <= mantissa * this.size;
  }
}

/** The Golomb code for a number of values below a bound. */
export class GolombCode {
  /** @param bound a BigInt */
  constructor(count, bound) {
    const k = BigInt(count);
    const parameter = k === 0n ? 1n : (LN_2 * 2n * bound + (k << 64n)) / (k << 65n);
    const m = parameter > 1n ? parameter : 1n;
    this.isWide = bound > EXACT;
    this.number = this.isWide ? BigInt : Number;
    this.fieldBits = m.toString(2).length - 1;
    this.parameter = m;
    this.m = this.number(m);
    this.cutoff = this.number((2n << BigInt(this.fieldBits)) - m);
  }

  field(bytes, position) {
    return this.isWide ? bigBitsAt(bytes, position, this.fieldBits) : bitsAt(bytes, position, this.fieldBits);
  }
}

/** Rejects more numbers than the bits can hold; `least` is the length of the shortest code. */
export function requireBits(count, least, bits) {
  require(
    count * least <= bits && (count > 0 || bits < 8),
    () => `${count} values cannot have codes of ${bits} bits`
  );
}

/**
 * Decodes an ascending list of numbers below a bound: docs/format/blob-v1.md#lists.
 *
 * @param bytes padded
 * @param end the bit position after the list
 * @param isFilled whether it is padded to whole bytes with zeros
 */
export function decodedList(bytes, from, end, isFilled, count, bound) {
  const code = new GolombCode(count, bound);
  const { m, cutoff, fieldBits, number } = code;
  requireBits(count, fieldBits + 1, end - from);
  const limit = number(bound);
  const one = number(1);
  const two = number(2);
  const numbers = code.isWide ? new BigUint64Array(count) : new Float64Array(count);
  let least = number(0);
  let position = from;
  for (let i = 0; i < count; i++) {
    const quotient = onesFrom(bytes, position);
    position += quotient + 1;
    let remainder = code.field(bytes, position);
    position += fieldBits;
    if (remainder >= cutoff) {
      remainder = two * remainder + number(bitAt(bytes, position)) - cutoff;
      position++;
    }
    require(position <= end, "a code must end with its list");
    const value = least + number(quotient) * m + remainder;
    require(value < limit, () => `a number must be below ${bound}, got ${value}`);
    numbers[i] = value;
    least = value + one;
  }
  const left = end - position;
  require(
    left === 0 || (isFilled && left < 8),
    () => `the codes must end at bit ${end}, they end at bit ${position}`
  );
  require(bitsAt(bytes, position, left) === 0, () => `the bits from bit ${position} on must be 0`);
  return numbers;
}

/** Returns the SHA-256 of the range and the values: 32 bytes. */
export function setDigest(range, values) {
  const digest = new Sha256();
  const block = new Uint8Array(8192);
  const view = new DataView(block.buffer);
  view.setBigUint64(0, BigInt(range.buckets));
  view.setBigUint64(8, range.width);
  let at = 16;
  for (let i = 0; i < values.length; i++) {
    if (at === block.length) {
      digest.update(block);
      at = 0;
    }
    const value = values[i];
    if (range.isWide) {
      view.setBigUint64(at, value);
    } else {
      view.setUint32(at, Math.floor(value / 4294967296));
      view.setUint32(at + 4, value >>> 0);
    }
    at += 8;
  }
  return digest.update(block.subarray(0, at)).digest();
}

/** The starts of the codes of buckets in a payload. Its memory depends on the codes, not on the buckets. */
class BucketStarts {
  /**
   * @param filled the buckets with codes, ascending; null if each bucket has a start
   * @param starts their starts, followed by the end of the payload
   */
  constructor(filled, starts) {
    this.filled = filled;
    this.starts = starts;
  }

  /** Stores the starts of ascending buckets, or of all buckets if most have codes. */
  static of(buckets, filled, starts) {
    if (4 * filled.length < buckets) {
      return new BucketStarts(filled, starts);
    }
    const all = startsArray(buckets, starts[filled.length]);
    spread(filled, starts, all);
    return new BucketStarts(null, all);
  }

  /** Stores the required part of the starts of all buckets. */
  static ofAll(buckets, all) {
    let count = 0;
    for (let bucket = 0; bucket < buckets; bucket++) {
      count += all[bucket] < all[bucket + 1] ? 1 : 0;
    }
    if (4 * count >= buckets) {
      const starts = startsArray(buckets, all[buckets]);
      starts.set(all.subarray(0, buckets + 1));
      return new BucketStarts(null, starts);
    }
    const filled = new Uint32Array(count);
    const starts = startsArray(count, all[buckets]);
    for (let bucket = 0, at = 0; bucket < buckets; bucket++) {
      if (all[bucket] < all[bucket + 1]) {
        filled[at] = bucket;
        starts[at++] = all[bucket];
      }
    }
    starts[count] = all[buckets];
    return new BucketStarts(filled, starts);
  }

  /** Returns the index of a bucket in the starts; -1 if it has no codes. */
  placeOf(bucket) {
    const { filled } = this;
    if (filled === null) {
      return bucket;
    }
    let from = 0;
    for (let to = filled.length; from < to; ) {
      const middle = (from + to) >>> 1;
      if (filled[middle] < bucket) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return filled[from] === bucket ? from : -1;
  }

  /** Returns the starts of all buckets, and the end. */
  all(buckets) {
    return this.filled === null ? this.starts : spread(this.filled, this.starts, new Float64Array(buckets + 1));
  }
}

/** Writes the starts of some buckets into the starts of all buckets. */
function spread(filled, starts, all) {
  let bucket = 0;
  for (let i = 0; i < filled.length; i++) {
    all.fill(starts[i], bucket, filled[i] + 1);
    bucket = filled[i] + 1;
  }
  return all.fill(starts[filled.length], bucket);
}

/** Coded values with look-ups. */
export class GolombCodedSet {
  #range;
  #code;
  #payload;
  #starts;

  constructor(range, count, payload, payloadBits, starts) {
    this.#range = range;
    this.count = count;
    this.#code = new GolombCode(count, range.size);
    this.#payload = payload;
    this.payloadBits = payloadBits;
    this.#starts = starts;
  }

  /** Encodes ascending values. */
  static of(range, values) {
    const code = new GolombCode(values.length, range.size);
    const { filled, starts } = lengthsAdded(range, code, values);
    const payloadBits = starts[filled.length];
    const payload = new Uint8Array(Math.ceil(payloadBits / 8) + 8);
    let next = 0;
    let begin = 0;
    let end = 0;
    forEachDistance(range, values, (bucket, distance, isFirst) => {
      if (isFirst) {
        begin = starts[next++];
        end = starts[next];
      }
      const remainder = distance % code.m;
      const quotient = Number((distance - remainder) / code.m);
      for (let i = 1; i <= quotient; i++) {
        payload[((end - i) / 8) | 0] |= 128 >>> ((end - i) & 7);
      }
      end -= quotient + 1;
      let field = remainder;
      if (remainder >= code.cutoff) {
        const folded = remainder + code.cutoff;
        const more = folded % code.number(2);
        field = (folded - more) / code.number(2);
        end--;
        payload[(end / 8) | 0] |= Number(more) << (7 - (end & 7));
      }
      putBits(payload, begin, code.fieldBits, field);
      begin += code.fieldBits;
    });
    const kept = BucketStarts.of(range.buckets, filled, starts);
    return new GolombCodedSet(range, values.length, payload, payloadBits, kept);
  }

  /**
   * Opens a set from its sections in a file, with the checks of docs/format/snapshot-v1.md.
   *
   * @param golombParameter the BigInt in the file
   */
  static open(range, count, golombParameter, payloadBytes, payloadBits, startsBytes) {
    const needed = Math.ceil(payloadBits / 8);
    require(
      payloadBytes.length === needed,
      () => `the payload must have ${needed} bytes, got ${payloadBytes.length}`
    );
    const payload = padded(payloadBytes);
    require(bitsAt(payload, payloadBits, -payloadBits & 7) === 0, "the padding of the payload must be zero");
    const code = new GolombCode(count, range.size);
    require(
      code.parameter === golombParameter,
      () => `the Golomb parameter must be ${code.parameter}, got ${golombParameter}`
    );
    const least = code.fieldBits + 1;
    require(
      count <= Math.floor(payloadBits / least),
      () => `${count} values need at least ${least} bits each, the payload has ${payloadBits}`
    );
    require(count > 0 || payloadBits === 0, () => `the payload of an empty set must have 0 bits, got ${payloadBits}`);
    const starts = openedStarts(range.buckets, payloadBits, startsBytes);
    return new GolombCodedSet(range, count, payload, payloadBits, starts);
  }

  get golombParameter() {
    return this.#code.parameter;
  }

  /** Returns the payload of a file. */
  payloadBytes() {
    return this.#payload.subarray(0, Math.ceil(this.payloadBits / 8));
  }

  /** Returns the section of bucket starts. */
  startsBytes() {
    return codedStarts(this.#starts, this.#range.buckets, this.payloadBits);
  }

  /** Returns how many numbers are stored in addition to the payload. */
  get startCount() {
    return this.#starts.starts.length + (this.#starts.filled?.length ?? 0);
  }

  /** Returns whether the set contains the value of a suffix: the bits of a hash after its shard bits, left-aligned. */
  contains(high, low) {
    if (this.count === 0) {
      return false;
    }
    const bucket = this.#range.locate(high, low);
    const at = this.#starts.placeOf(bucket);
    if (at < 0) {
      return false;
    }
    return this.#range.isWide
      ? this.#containsWide(bucket, at, (BigInt(OUT[0] >>> 0) << 32n) | BigInt(OUT[1] >>> 0))
      : this.#containsPlace(at, (OUT[0] >>> 0) * 4294967296 + (OUT[1] >>> 0));
  }

  // The hot loop of look-ups, inlined, with positions that are small integers: bits after `base`.
  #containsPlace(at, place) {
    const payload = this.#payload;
    const { starts } = this.#starts;
    const { m, cutoff, fieldBits } = this.#code;
    const start = starts[at];
    const base = (start / 8) | 0;
    let from = start & 7;
    let to = (starts[at + 1] - 8 * base) | 0;
    let next = 0;
    while (from < to) {
      let remainder = 0;
      if (fieldBits > 25) {
        remainder = bitsAt(payload, 8 * base + from, fieldBits);
      } else if (fieldBits > 0) {
        const at = base + (from >> 3);
        const word = (payload[at] << 24) | (payload[at + 1] << 16) | (payload[at + 2] << 8) | payload[at + 3];
        remainder = (word << (from & 7)) >>> (32 - fieldBits);
      }
      from += fieldBits;
      to--;
      while (to >= 0 && (payload[base + (to >> 3)] << (to & 7)) & 128) {
        next += m;
        to--;
      }
      if (remainder >= cutoff) {
        to--;
        const more = to >= 0 ? (payload[base + (to >> 3)] >> (7 - (to & 7))) & 1 : 0;
        remainder = 2 * remainder + more - cutoff;
      }
      next += remainder;
      if (next >= place) {
        return next === place;
      }
      next++;
    }
    return false;
  }

  #containsWide(bucket, at, place) {
    const value = BigInt(bucket) * this.#range.width + place;
    let holds = false;
    this.#decode(bucket, at, false, (found) => {
      holds = found === value;
      return found < value;
    });
    return holds;
  }

  /** Passes the ascending values of a bucket to a function until it returns false. */
  #decode(bucket, at, isStrict, take) {
    const payload = this.#payload;
    const { starts } = this.#starts;
    const { m, cutoff, fieldBits, number } = this.#code;
    let from = starts[at];
    let to = starts[at + 1];
    let least = number(bucket) * this.#range.step;
    const limit = least + this.#range.step;
    while (from < to) {
      let remainder = this.#code.field(payload, from);
      from += fieldBits;
      const quotient = onesBefore(payload, to);
      to -= quotient + 1;
      if (remainder >= cutoff) {
        to--;
        remainder = number(2) * remainder + number(to >= 0 ? bitAt(payload, to) : 0) - cutoff;
      }
      const value = least + number(quotient) * m + remainder;
      if (isStrict) {
        require(from <= to, () => `the codes of bucket ${bucket} must fill it`);
        require(value < limit, () => `a value of bucket ${bucket} must be below ${limit}, got ${value}`);
      }
      if (!take(value)) {
        return;
      }
      least = value + number(1);
    }
  }

  /**
   * Passes the ascending values of the buckets of two suffixes, BigInts, and of the buckets between them to a function
   * until it returns false.
   */
  forEachBetween(first, last, take) {
    const bucketOf = (suffix) => Number((suffix * BigInt(this.#range.buckets)) >> 64n);
    const end = bucketOf(last);
    let continues = this.count > 0;
    for (let bucket = bucketOf(first); continues && bucket <= end; bucket++) {
      const at = this.#starts.placeOf(bucket);
      if (at >= 0) {
        this.#decode(bucket, at, false, (value) => (continues = take(value)));
      }
    }
  }

  /** Returns all values, ascending; rejects codes that no writer produces. */
  values() {
    const values = this.#range.array(this.count);
    let at = 0;
    const take = (value) => {
      require(at < this.count, () => `the payload must hold ${this.count} values, got more`);
      values[at++] = value;
      return true;
    };
    const { filled } = this.#starts;
    const places = filled?.length ?? this.#range.buckets;
    for (let i = 0; i < places; i++) {
      this.#decode(filled === null ? i : filled[i], i, true, take);
    }
    require(at === this.count, () => `the payload must hold ${this.count} values, got ${at}`);
    return values;
  }
}

/** Passes each value to a function: its bucket, its distance, and whether it is the first of its bucket. */
function forEachDistance(range, values, take) {
  const { step } = range;
  const one = range.number(1);
  let bucket = -1;
  let least = range.number(0);
  let end = range.number(0);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    const isFirst = value >= end;
    if (isFirst) {
      least = value - (value % step);
      end = least + step;
      bucket = Number(least / step);
    }
    take(bucket, value - least, isFirst);
    least = value + one;
  }
}

/** Returns the buckets with values, their starts in the payload, and the end of the payload. */
function lengthsAdded(range, code, values) {
  let count = 0;
  let position = 0;
  forEachDistance(range, values, (bucket, distance, isFirst) => {
    count += isFirst ? 1 : 0;
    position += codeLength(code, distance);
  });
  const filled = new Uint32Array(count);
  const starts = startsArray(count, position);
  starts[count] = position;
  count = 0;
  position = 0;
  forEachDistance(range, values, (bucket, distance, isFirst) => {
    if (isFirst) {
      filled[count] = bucket;
      starts[count++] = position;
    }
    position += codeLength(code, distance);
  });
  return { filled, starts };
}

function codeLength(code, distance) {
  const remainder = distance % code.m;
  return code.fieldBits + Number((distance - remainder) / code.m) + (remainder >= code.cutoff ? 2 : 1);
}

function startsArray(buckets, payloadBits) {
  return payloadBits < 2 ** 32 ? new Uint32Array(buckets + 1) : new Float64Array(buckets + 1);
}

// --- Bucket starts: a line through the payload, and the deviation of each start -------------------------------

/** The bytes after the bits: two bases, two widths. If all buckets are empty, the section has only these, all 0. */
const STARTS_END = 18;

function lineAt(group, slope) {
  return Math.floor((group * slope) / 65536);
}

/** Encodes numbers as deviations from the minimum, in the bits of the maximum. */
function deviations(numbers) {
  let base = Infinity;
  let most = -Infinity;
  for (const number of numbers) {
    base = Math.min(base, number);
    most = Math.max(most, number);
  }
  return { base, width: bitLength(most - base) };
}

/** Returns the starts up to the end of the last group of eight. */
function filledUp(starts, buckets, payloadBits) {
  const groups = Math.ceil(buckets / 8);
  const mean = Math.floor(payloadBits / buckets);
  const all = new Float64Array(8 * groups + 1);
  all.set(starts);
  for (let t = 1; buckets + t < all.length; t++) {
    all[buckets + t] = payloadBits + t * mean;
  }
  return all;
}

/** Yields the content of the section: deviations of groups and of their members, in order. */
function deviationsOf(all, slope) {
  const groups = (all.length - 1) / 8;
  const ofGroups = new Float64Array(groups + 1);
  const ofMembers = new Float64Array(7 * groups);
  for (let group = 0; group <= groups; group++) {
    const begin = all[8 * group];
    ofGroups[group] = begin - lineAt(group, slope);
    for (let member = 1; group < groups && member < 8; member++) {
      const line = Math.floor(((all[8 * group + 8] - begin) * member) / 8);
      ofMembers[7 * group + member - 1] = all[8 * group + member] - begin - line;
    }
  }
  return { ofGroups, ofMembers };
}

function codedStarts(starts, buckets, payloadBits) {
  if (buckets <= 1) {
    return new Uint8Array(0);
  }
  if (payloadBits === 0) {
    return new Uint8Array(STARTS_END);
  }
  const slope = Math.floor((payloadBits * 524288) / buckets);
  const { ofGroups, ofMembers } = deviationsOf(filledUp(starts.all(buckets), buckets, payloadBits), slope);
  const group = deviations(ofGroups);
  const member = deviations(ofMembers);
  const recordBits = group.width + 7 * member.width;
  const bits = (ofGroups.length - 1) * recordBits + group.width;
  const bytes = new Uint8Array(Math.ceil(bits / 8) + STARTS_END);
  ofGroups.forEach((number, i) => putBits(bytes, i * recordBits, group.width, number - group.base));
  ofMembers.forEach((number, i) => {
    const record = Math.floor(i / 7);
    const position = record * recordBits + group.width + (i - 7 * record) * member.width;
    putBits(bytes, position, member.width, number - member.base);
  });
  const view = new DataView(bytes.buffer, bytes.length - STARTS_END);
  view.setBigInt64(0, BigInt(group.base), true);
  view.setBigInt64(8, BigInt(member.base), true);
  view.setUint8(16, group.width);
  view.setUint8(17, member.width);
  return bytes;
}

function openedStarts(buckets, payloadBits, bytes) {
  if (buckets <= 1) {
    require(bytes.length === 0, () => `the bucket starts must have 0 bytes, got ${bytes.length}`);
    return new BucketStarts(null, startsArray(1, payloadBits).fill(payloadBits, 1));
  }
  if (payloadBits === 0 && bytes.length === STARTS_END && bytes.every((byte) => byte === 0)) {
    return new BucketStarts(new Uint32Array(0), new Uint32Array(1));
  }
  require(bytes.length >= STARTS_END, () => `the bucket starts must have at least ${STARTS_END} bytes, got ${bytes.length}`);
  const fields = new FieldReader(bytes.subarray(bytes.length - STARTS_END));
  // Larger ones lead to starts beyond the payload.
  const groupBase = Number(fields.i64("gBase"));
  const memberBase = Number(fields.i64("dBase"));
  const groupWidth = fields.u8("gWidth");
  const memberWidth = fields.u8("dWidth");
  require(groupWidth <= 40 && memberWidth <= 40, "a bucket start must have at most 40 bits");
  const groups = Math.ceil(buckets / 8);
  const recordBits = groupWidth + 7 * memberWidth;
  const bits = groups * recordBits + groupWidth;
  const needed = Math.ceil(bits / 8) + STARTS_END;
  require(bytes.length === needed, () => `the bucket starts must have ${needed} bytes, got ${bytes.length}`);
  const records = padded(bytes.subarray(0, needed - STARTS_END));
  require(bitsAt(records, bits, -bits & 7) === 0, "the padding of the bucket starts must be zero");
  const slope = Math.floor((payloadBits * 524288) / buckets);
  const mean = Math.floor(payloadBits / buckets);
  const all = new Float64Array(8 * groups + 1);
  const groupStart = (group) => lineAt(group, slope) + groupBase + bitsAt(records, group * recordBits, groupWidth);
  let begin = groupStart(0);
  for (let group = 0; group < groups; group++) {
    const end = groupStart(group + 1);
    all[8 * group] = begin;
    for (let member = 1; member < 8; member++) {
      const position = group * recordBits + groupWidth + (member - 1) * memberWidth;
      const line = Math.floor(((end - begin) * member) / 8);
      all[8 * group + member] = begin + line + memberBase + bitsAt(records, position, memberWidth);
    }
    begin = end;
  }
  all[8 * groups] = begin;
  all.forEach((start, bucket) => {
    const isSound =
      bucket >= buckets
        ? start === payloadBits + (bucket - buckets) * mean
        : start <= payloadBits && (bucket === 0 ? start === 0 : start >= all[bucket - 1]);
    require(isSound, () => `bucket ${bucket} must not begin at bit ${start}`);
  });
  const { ofGroups, ofMembers } = deviationsOf(all, slope);
  const group = deviations(ofGroups);
  const member = deviations(ofMembers);
  require(
    group.base === groupBase && group.width === groupWidth && member.base === memberBase && member.width === memberWidth,
    "the bucket starts must be in their least form"
  );
  return BucketStarts.ofAll(buckets, all);
}
