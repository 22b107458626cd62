// Keys to canonical forms (docs/format/snapshot-v1.md#from-a-key-to-its-value).

import { halfAPair, isWellFormed, textOf, utf8 } from "./bytes.js";
import { InvalidKeyError, UnsupportedError } from "./errors.js";
import { entryForm, expressionsOf, visitForm } from "./expressions.js";
import { foldedText } from "./text.js";
import { stripping } from "./stripping.js";
import { canonicalUrl } from "./urls.js";

/** Of keys, of forms and of scopes. */
export const MAX_KEY_BYTES = 65536;

/** The rules by their codes in files. `form` takes a text; null for the rule that takes bytes as they are. */
const RULES = [
  { id: "none", version: 1, form: null },
  { id: "url", version: 2, form: canonicalUrl },
  { id: "text", version: 1, form: foldedText },
  { id: "url-expression", version: 1, form: entryForm },
];

/** The rule for a URL that is asked of lists: `url-expression` without the notation of lines. */
const VISITS = { ...RULES[3], form: visitForm };

export const CANONICALISERS = Object.freeze(RULES.map((rule) => rule.id));

export function ruleNamed(id) {
  const rule = RULES.find((each) => each.id === id);
  if (rule === undefined) {
    throw new RangeError(`canonicaliser must be one of ${CANONICALISERS.join(", ")}, got '${id}'`);
  }
  return rule;
}

/** A rule with the parameters that it leaves out of URLs; null for none. */
function ruleWith(id, strip) {
  const rule = ruleNamed(id);
  if (strip === null) {
    return rule;
  }
  if (id !== "url") {
    throw new RangeError(`only the canonicaliser url strips parameters, got '${id}'`);
  }
  const isStripped = stripping(strip);
  return { ...rule, form: (key) => canonicalUrl(key, isStripped) };
}

/** The rule of a set; refuses another version of it than the one that is here. */
export function ruleOf(parameters) {
  const rule = ruleWith(parameters.canonicaliser, parameters.strippedParameters);
  const { version } = rule;
  if (version !== parameters.canonicaliserVersion) {
    throw new UnsupportedError(
      `the keys went through version ${parameters.canonicaliserVersion} of the canonicaliser ` +
        `${parameters.canonicaliser}, this program has version ${version}`
    );
  }
  return rule;
}

function checkLength(bytes, what) {
  if (bytes > MAX_KEY_BYTES) {
    throw new InvalidKeyError(`${what} must be at most ${MAX_KEY_BYTES} bytes, got ${bytes}`);
  }
}

/** The length in UTF-8, which is counted only where it may matter. */
function checkText(text, what) {
  if (3 * text.length > MAX_KEY_BYTES) {
    checkLength(utf8(text, what).length, what);
  }
}

/**
 * The form of a key by a rule: a text, but by `none` what it was given, text or bytes.
 *
 * @param key a text, or bytes, for all rules but `none` of UTF-8
 */
export function formOf(rule, key) {
  if (typeof key !== "string" && !(key instanceof Uint8Array)) {
    throw new TypeError(`a key must be a string or a Uint8Array, got ${typeof key}`);
  }
  if (key.length === 0) {
    throw new InvalidKeyError("key is empty");
  }
  if (typeof key === "string") {
    checkText(key, "key");
  } else {
    checkLength(key.length, "key");
  }
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

/** All entries of a list that would list a URL, from the most to the least specific. */
export function expressions(url) {
  return expressionsOf(formOf(VISITS, url));
}
