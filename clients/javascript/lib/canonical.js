// Canonical forms of keys (docs/format/snapshot-v1.md#from-a-key-to-its-value).

import { halfAPair, isWellFormed, textOf, utf8 } from "./bytes.js";
import { InvalidKeyError, UnsupportedError } from "./errors.js";
import { entryForm, entryForm1, expressionsOf, visitForm } from "./expressions.js";
import { foldedText } from "./text.js";
import { stripping } from "./stripping.js";
import { canonicalUrl, canonicalUrl2 } from "./urls.js";

/** The limit of keys, forms and scopes. */
export const MAX_KEY_BYTES = 65536;

/** The maximum length of a URL in Chromium. */
const MAX_URL_BYTES = 2 << 20;

/**
 * The newest version of each rule, by its code in files. `form` takes a text; null for the rule that keeps bytes
 * unchanged.
 */
const RULES = [
  { id: "none", version: 1, form: null },
  { id: "url", version: 3, form: canonicalUrl },
  { id: "text", version: 1, form: foldedText },
  { id: "url-expression", version: 2, form: entryForm },
];
const OLDER = [
  { id: "url", version: 2, form: canonicalUrl2 },
  { id: "url-expression", version: 1, form: entryForm1 },
];

export const CANONICALISERS = Object.freeze(RULES.map((rule) => rule.id));

/** Returns the newest version of a rule, or a version such as `url-2`. */
export function ruleNamed(name) {
  const rule = [...RULES, ...OLDER].find((each) => each.id === name || `${each.id}-${each.version}` === name);
  if (rule === undefined) {
    throw new RangeError(
      `canonicaliser must be one of ${CANONICALISERS.join(", ")}, or an older version, url-2 or url-expression-1, ` +
        `got '${name}'`
    );
  }
  return rule;
}

/** Returns a rule that removes parameters from URLs, or null. */
function ruleWith(name, strip) {
  const rule = ruleNamed(name);
  if (strip === null) {
    return rule;
  }
  if (rule.id !== "url") {
    throw new RangeError(`only the canonicaliser url strips parameters, got '${name}'`);
  }
  const isStripped = stripping(strip);
  return { ...rule, form: (key) => rule.form(key, isStripped) };
}

/** Returns the rule of a set; rejects an unknown version. */
export function ruleOf(parameters) {
  const { canonicaliser, canonicaliserVersion, strippedParameters } = parameters;
  const rule = [...RULES, ...OLDER].find(
    ({ id, version }) => id === canonicaliser && version === canonicaliserVersion
  );
  if (rule === undefined) {
    throw new UnsupportedError(
      `the keys went through version ${canonicaliserVersion} of the canonicaliser ${canonicaliser}, the newest of ` +
        `this program is version ${ruleNamed(canonicaliser).version}`
    );
  }
  return ruleWith(`${rule.id}-${rule.version}`, strippedParameters);
}

function checkLength(bytes, what, most = MAX_KEY_BYTES) {
  if (bytes > most) {
    throw new InvalidKeyError(`${what} must be at most ${most} bytes, got ${bytes}`);
  }
}

/** Returns the length in UTF-8, counted only if it may exceed the limit. */
function checkText(text, what, most = MAX_KEY_BYTES) {
  if (3 * text.length > most) {
    checkLength(utf8(text, what).length, what, most);
  }
}

function checkGiven(key, what, most) {
  if (typeof key !== "string" && !(key instanceof Uint8Array)) {
    throw new TypeError(`a key must be a string or a Uint8Array, got ${typeof key}`);
  }
  if (key.length === 0) {
    throw new InvalidKeyError("key is empty");
  }
  if (typeof key === "string") {
    checkText(key, what, most);
  } else {
    checkLength(key.length, what, most);
  }
}

/**
 * Returns the form of a key: a text, or for `none` the key itself, text or bytes.
 *
 * @param key a text, or bytes, which must be UTF-8 for all rules except `none`
 */
export function formOf(rule, key) {
  checkGiven(key, "key", MAX_KEY_BYTES);
  if (rule.form === null) {
    return key;
  }
  const text = typeof key === "string" ? key : textOf(key, "key");
  if (typeof key === "string" && !isWellFormed(text)) {
    throw halfAPair("key");
  }
  const form = rule.form(text);
  checkText(form, "canonical key");
  return form;
}

/** Returns the bytes of the canonical form of a key; `strip` are patterns of parameters that `url` removes. */
export function canonical(canonicaliser, key, { strip = null } = {}) {
  const form = formOf(ruleWith(canonicaliser, strip), key);
  return typeof form === "string" ? utf8(form, "key") : form.slice();
}

/**
 * Returns all list entries that match a URL, most specific first.
 *
 * @param version of the rule `url-expression` of the list
 */
export function expressions(url, version = 2) {
  checkGiven(url, "URL", MAX_URL_BYTES);
  if (typeof url === "string" && !isWellFormed(url)) {
    throw halfAPair("key");
  }
  const form = visitForm(typeof url === "string" ? url : textOrEscapes(url));
  return expressionsOf(form, version).filter((each) => each.length <= MAX_KEY_BYTES);
}

/** Decodes bytes; if they are not UTF-8, escapes all bytes beyond ASCII. */
function textOrEscapes(bytes) {
  try {
    return textOf(bytes, "key");
  } catch (error) {
    if (!(error instanceof InvalidKeyError)) {
      throw error;
    }
    return Array.from(bytes, (byte) =>
      byte < 0x80 ? String.fromCharCode(byte) : "%" + byte.toString(16).toUpperCase()
    ).join("");
  }
}
