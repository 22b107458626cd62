// Near-duplicate texts: rules, bands and lookups (docs/format/near-v1.md).

import { require } from "./errors.js";
import { folded } from "./look-alikes.js";
import { OUT } from "./words.js";

const ENCODER = new TextEncoder();

const FORM = /^(characters|words):([1-9][0-9]?),([1-9][0-9]?)x([1-9][0-9]?),([12])(\+fold)?$/;
/** A band of this many live texts is boilerplate, and is ignored. */
const MAX_TEXTS_OF_BAND = 8;
const TAG_BITS = 12;
const BITS_ABOVE_TAG = 24;
const TAG_SHIFT = 64 - BITS_ABOVE_TAG - TAG_BITS;
const TAG_MASK = ((1n << BigInt(TAG_BITS)) - 1n) << BigInt(TAG_SHIFT);
const SPACE = 0x20;

/** The highest length of a rule in a file. */
export const MAX_RULE_BYTES = 30;

/** The least number of values, in all shards, in which each tag of a band has a separate value. */
const LEAST_RANGE = 1n << BigInt(BITS_ABOVE_TAG + TAG_BITS);

/** Parses a rule in a file; rejects non-canonical forms. */
export function parseRule(text) {
  const form = FORM.exec(text);
  const [shingle, bands, rows, matches] = (form ?? []).slice(2, 6).map(Number);
  require(
    form !== null && shingle <= 16 && bands <= 64 && rows <= 16 && matches <= bands,
    () => `the rule for near-duplicates must have all parameters, in their bounds, got ${JSON.stringify(text)}`
  );
  const folds = form[6] !== undefined;
  return { isOfWords: form[1] === "words", shingle, bands, rows, matches, folds, hasTags: matches > 1 };
}

/** Rejects a range in which a value does not imply the tag. */
export function requireRoomForTags(near, range, shards) {
  require(
    !near || !parseRule(near).hasTags || range.size * BigInt(shards) >= LEAST_RANGE,
    () => `a range of ${range.size} is too small for the tags of ${near}`
  );
}

/** Computes the bands of texts by a rule. */
export class TextSignature {
  #rule;
  #hashKey;
  #factors;
  #terms;

  constructor(rule, hashKey) {
    this.#rule = rule;
    this.#hashKey = hashKey;
    const mixed = Array.from({ length: rule.bands * rule.rows }, (_, c) => splitMix(BigInt(c + 1)));
    this.#factors = Int32Array.from(mixed, (z) => Number(z >> 32n) | 1);
    this.#terms = Int32Array.from(mixed, (z) => Number(z & 0xffffffffn) | 0);
  }

  /**
   * Returns the bands, BigInts.
   *
   * @param form a text in canonical form
   * @param scope the bytes of the scope
   */
  bands(form, scope) {
    const { bands, rows } = this.#rule;
    const { folds, isOfWords } = this.#rule;
    const least = this.#components(ENCODER.encode(folds ? folded(form, isOfWords) : form));
    const bytes = new Uint8Array(9 + 4 * rows);
    const view = new DataView(bytes.buffer);
    view.setBigUint64(0, this.#hashKey.hash(scope));
    return Array.from({ length: bands }, (_, band) => {
      bytes[8] = band;
      for (let row = 0; row < rows; row++) {
        view.setUint32(9 + 4 * row, least[band * rows + row]);
      }
      return this.#hashKey.hash(bytes);
    });
  }

  #components(text) {
    const factors = this.#factors;
    const terms = this.#terms;
    const least = new Int32Array(factors.length).fill(0x7fffffff);
    for (const [from, to] of this.#shingles(text)) {
      this.#hashKey.hashInto(text.subarray(from, to), to - from);
      const hash = OUT[1];
      for (let c = 0; c < least.length; c++) {
        const value = (Math.imul(factors[c], hash) + terms[c]) >>> 1;
        least[c] = value < least[c] ? value : least[c];
      }
    }
    return least;
  }

  /** Yields the begin and the end of each shingle. */
  *#shingles(text) {
    const { isOfWords, shingle } = this.#rule;
    const starts = [];
    text.forEach((byte, at) => {
      if (isOfWords ? byte !== SPACE && (at === 0 || text[at - 1] === SPACE) : (byte & 0xc0) !== 0x80) {
        starts.push(at);
      }
    });
    if (starts.length < shingle) {
      yield [0, text.length];
    }
    for (let i = 0; i + shingle <= starts.length; i++) {
      const next = starts[i + shingle];
      // The space before the next word is not part of the shingle.
      yield [starts[i], next === undefined ? text.length : isOfWords ? next - 1 : next];
    }
  }
}

/** Returns the output of SplitMix64 of the state n times the golden gamma. */
function splitMix(n) {
  let z = BigInt.asUintN(64, n * 0x9e3779b97f4a7c15n);
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

/**
 * Returns the highest number of bands with the same tag; 0 if it is below the matches of the rule.
 *
 * @param bands BigInts
 * @param snapshots of all shards in order; null for a shard without a set
 */
export function equalBands(rule, bands, snapshots, shardBits) {
  const counts = new Map();
  for (const band of bands) {
    const snapshot = snapshots[shardBits === 0 ? 0 : Number(band >> BigInt(64 - shardBits))];
    const tags = snapshot === null ? [] : tagsOf(rule, band, snapshot, shardBits);
    if (tags.length < MAX_TEXTS_OF_BAND) {
      tags.forEach((tag) => counts.set(tag, (counts.get(tag) ?? 0) + 1));
    }
  }
  const most = Math.max(0, ...counts.values());
  return most >= rule.matches ? most : 0;
}

/** Returns the tags of the live texts with a band, up to the number that makes the band boilerplate. */
function tagsOf(rule, band, snapshot, shardBits) {
  const { range } = snapshot.header;
  const suffixOf = (element) => BigInt.asUintN(64, element << BigInt(shardBits));
  const valueOf = (suffix) => (suffix * range.size) >> 64n;
  const first = suffixOf(rule.hasTags ? band & ~TAG_MASK : band);
  const last = suffixOf(rule.hasTags ? band | TAG_MASK : band);
  const least = range.number(valueOf(first));
  const most = range.number(valueOf(last));
  const step = 1n << BigInt(TAG_SHIFT + shardBits);
  const tags = [];
  snapshot.forEachBetween(first, last, (value) => {
    if (value >= least && value <= most) {
      // The least suffix with this value, and the first tag from there on.
      const suffix = ceilDiv(BigInt(value) << 64n, range.size);
      const tag = suffix > first ? ceilDiv(suffix - first, step) : 0n;
      if (first + tag * step <= last && valueOf(first + tag * step) === BigInt(value)) {
        tags.push(tag);
      }
    }
    return value < most && tags.length < MAX_TEXTS_OF_BAND;
  });
  return tags;
}

function ceilDiv(a, b) {
  return (a + b - 1n) / b;
}
