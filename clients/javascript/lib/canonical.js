// Keys to canonical forms (docs/format/snapshot-v1.md#from-a-key-to-its-value).

import { halfAPair, isWellFormed, textOf, utf8 } from "./bytes.js";
import { InvalidKeyError, UnsupportedError } from "./errors.js";
import { entryForm, entryForm1, expressionsOf, visitForm } from "./expressions.js";
import { foldedText } from "./text.js";
import { stripping } from "./stripping.js";
import { canonicalUrl, canonicalUrl2 } from "./urls.js";

/** Of keys, of forms and of scopes. */
export const MAX_KEY_BYTES = 65536;

/** The longest URL that Chromium opens. */
const MAX_URL_BYTES = 2 << 20;

/**
 * The newest version of each rule, by its code in files. `form` takes a text; null for the rule that takes bytes as
 * they are.
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

/** The newest version of a rule, or one such as `url-2`. */
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

/** A rule with the parameters that it leaves out of URLs; null for none. */
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

/** The rule of a set; refuses a version of it that is not here. */
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

/** The length in UTF-8, which is counted only where it may matter. */
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
 * The form of a key by a rule: a text, but by `none` what it was given, text or bytes.
 *
 * @param key a text, or bytes, for all rules but `none` of UTF-8
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

/** The bytes of the canonical form of a key; `strip` are patterns of parameters that `url` leaves out. */
export function canonical(canonicaliser, key, { strip = null } = {}) {
  const form = formOf(ruleWith(canonicaliser, strip), key);
  return typeof form === "string" ? utf8(form, "key") : form.slice();
}

/**
 * All entries of a list that would list a URL, from the most to the least specific.
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

/** The text of bytes; if they are not UTF-8, all bytes beyond ASCII as escapes. */
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
