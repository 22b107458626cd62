// Queries for keys and URLs.

import { halfAPair, isWellFormed, utf8 } from "./bytes.js";
import { MAX_KEY_BYTES, expressions, formOf, ruleOf } from "./canonical.js";
import { InvalidKeyError, UnsupportedError } from "./errors.js";
import { TextSignature, equalBands, parseRule } from "./near.js";
import { shardBits } from "./snapshot.js";
import { OUT } from "./words.js";

const NO_SCOPE = new Uint8Array(0);
const MARK = 0xff;
/** Space for the longest prefixed form: mark, length of the scope, scope, canonical form. */
const JOINED = new Uint8Array(4 + 2 * MAX_KEY_BYTES);
const ENCODER = new TextEncoder();
const SHORT = 256;

/** Writes a text into JOINED as UTF-8; returns the position after it. */
function putText(text, from) {
  if (text.length <= SHORT) {
    let at = 0;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code > 127) {
        break;
      }
      JOINED[from + at] = code;
    }
    if (at === text.length) {
      return from + at;
    }
  }
  if (!isWellFormed(text)) {
    throw halfAPair("key");
  }
  return from + ENCODER.encodeInto(text, JOINED.subarray(from)).written;
}

/** Stores the hash of a scope and a canonical form in OUT. */
function hashJoined(hashKey, scope, form) {
  const isText = typeof form === "string";
  let at = 0;
  if (scope.length > 0 || (!isText && form[0] === MARK)) {
    JOINED[at++] = MARK;
    let left = scope.length;
    for (; left > 127; left >>>= 7) {
      JOINED[at++] = (left & 127) | 128;
    }
    JOINED[at++] = left;
    JOINED.set(scope, at);
    at += scope.length;
  } else if (!isText) {
    hashKey.hashInto(form, form.length);
    return;
  }
  if (isText) {
    at = putText(form, at);
  } else {
    JOINED.set(form, at);
    at += form.length;
  }
  hashKey.hashInto(JOINED, at);
}

/** Returns the hash of a scope and a canonical form, a BigInt. */
export function joinedHash(hashKey, scope, form) {
  hashJoined(hashKey, scope, form);
  return (BigInt(OUT[0] >>> 0) << 32n) | BigInt(OUT[1] >>> 0);
}

function scopeBytes(scope) {
  if (scope === undefined || scope === null || scope.length === 0) {
    return NO_SCOPE;
  }
  const bytes = typeof scope === "string" ? utf8(scope, "scope") : scope;
  if (bytes.length > MAX_KEY_BYTES) {
    throw new InvalidKeyError(`scope must be at most ${MAX_KEY_BYTES} bytes, got ${bytes.length}`);
  }
  return bytes;
}

/** A set, or the snapshot of a shard, for queries. */
export class Lookup {
  #rule;
  #hashKey;
  #snapshots;
  #bits;
  #isWhole;
  #near;
  #signature;

  /**
   * @param parameters the parameters of the set
   * @param snapshots of all shards in order; null for a shard without a set, undefined for an unavailable one
   */
  constructor(parameters, snapshots, hashKey) {
    if (!hashKey.fits(parameters)) {
      const check = parameters.keyCheck.toString(16).padStart(16, "0");
      throw new UnsupportedError(
        `the set was made with another hash key: ${parameters.hash} (key check ${check}), the key here is ${hashKey}`
      );
    }
    this.#rule = ruleOf(parameters);
    this.#hashKey = hashKey;
    this.#snapshots = snapshots;
    this.#bits = shardBits(parameters.shards);
    this.#near = parameters.near ? parseRule(parameters.near) : null;
    this.#signature = this.#near === null ? null : new TextSignature(this.#near, hashKey);
    this.#isWhole = snapshots.length === parameters.shards && !snapshots.includes(undefined);
  }

  #holds(scope, form) {
    hashJoined(this.#hashKey, scope, form);
    const high = OUT[0];
    const low = OUT[1];
    const shard = this.#bits === 0 ? 0 : high >>> (32 - this.#bits);
    const snapshot = this.#snapshots[shard];
    if (snapshot === undefined) {
      throw new UnsupportedError(`the key is in shard ${shard}, which is not here`);
    }
    return snapshot !== null && snapshot.containsHalves(high, low);
  }

  /**
   * Returns whether the set contains a key.
   *
   * @param key a string, or a Uint8Array of its bytes
   * @param scope the scope (tenant) of the key
   * @throws InvalidKeyError if the key has no canonical form
   */
  contains(key, scope) {
    return this.#holds(scopeBytes(scope), formOf(this.#rule, key));
  }

  /** Queries many keys, in their order. To find a key without a canonical form, query them individually. */
  containsAll(keys, scope) {
    const bytes = scopeBytes(scope);
    return Array.from(keys, (key) => this.#holds(bytes, formOf(this.#rule, key)));
  }

  /**
   * Returns the most specific entry of this list that matches a URL, or null.
   *
   * @throws InvalidKeyError if the URL has no canonical form
   */
  match(url, scope) {
    return this.#match(url, scopeBytes(scope));
  }

  /** Matches many URLs, in their order. */
  matchAll(urls, scope) {
    const bytes = scopeBytes(scope);
    return Array.from(urls, (url) => this.#match(url, bytes));
  }

  /**
   * Returns the number of bands that a text shares with the live text that resembles it most: 0 if no live text resembles
   * it, all bands of the rule if the text itself is live.
   *
   * @throws InvalidKeyError if the text has no canonical form
   */
  resembles(text, scope) {
    if (this.#near === null) {
      throw new UnsupportedError("the set has no rule for near-duplicates: publish it with --near");
    }
    if (!this.#isWhole) {
      throw new UnsupportedError("a text is looked up in all shards of a set, here are only some");
    }
    const bytes = scopeBytes(scope);
    const form = formOf(this.#rule, text);
    if (this.#holds(bytes, form)) {
      return this.#near.bands;
    }
    return equalBands(this.#near, this.#signature.bands(form, bytes), this.#snapshots, this.#bits);
  }

  #match(url, scope) {
    if (this.#rule.id !== "url-expression") {
      throw new UnsupportedError(
        `the keys of the set are canonicalised by ${this.#rule.id}; only sets of url-expression are lists that match URLs`
      );
    }
    if (!this.#isWhole) {
      throw new UnsupportedError("a URL is looked up in all shards of a list, here are only some");
    }
    for (const expression of expressions(url, this.#rule.version)) {
      if (this.#holds(scope, expression)) {
        return expression;
      }
    }
    return null;
  }
}

/** Several lists that are queried together, and allow sets that override them. */
export class UrlLists {
  #lists;
  #allow;

  /**
   * @param lists objects with a name and a method match(url, scope): Lookups, followers
   * @param allow allow sets, likewise; a matching entry overrides all lists, even if it is less specific
   */
  constructor(lists, allow = []) {
    this.#lists = [...lists];
    this.#allow = [...allow];
  }

  /** Returns the lists that match a URL, with their entries. */
  ask(url, scope) {
    const found = (lists) =>
      lists
        .map(({ name, list }) => ({ list: name, entry: list.match(url, scope) }))
        .filter(({ entry }) => entry !== null);
    const matches = found(this.#lists);
    const allowedBy = found(this.#allow);
    return { url, present: matches.length > 0 && allowedBy.length === 0, matches, allowedBy };
  }
}
