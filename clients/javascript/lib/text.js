// The rule `text`, version 1 (docs/format/text-v1.md), and properties of characters.

import { InvalidKeyError } from "./errors.js";

const MAX_ROUNDS = 8;
const MAX_MARKS = 30;

// Default_Ignorable_Code_Point of Unicode 16, fixed by the rule.
const IGNORABLE = [
  0x00ad, 0x00ad, 0x034f, 0x034f, 0x061c, 0x061c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180f, 0x200b, 0x200f,
  0x202a, 0x202e, 0x2060, 0x206f, 0x3164, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xfeff, 0xffa0, 0xffa0, 0xfff0, 0xfff8,
  0x1bca0, 0x1bca3, 0x1d173, 0x1d17a, 0xe0000, 0xe0fff,
];

const MARK = /^[\p{M}\uff9e\uff9f]$/u;
const DIGIT = /^\p{Nd}$/u;
const SIGN = /^[\p{P}\p{S}]$/u;

/** Returns whether a code point is invisible. */
export function isIgnorable(codePoint) {
  if (codePoint < IGNORABLE[0]) {
    return false;
  }
  for (let at = 0; at < IGNORABLE.length && codePoint >= IGNORABLE[at]; at += 2) {
    if (codePoint <= IGNORABLE[at + 1]) {
      return true;
    }
  }
  return false;
}

function isSpace(c) {
  return (
    c === 0x20 || (c >= 0x9 && c <= 0xd) || (c >= 0x1c && c <= 0x1f) || c === 0x85 || c === 0xa0 || c === 0x1680 ||
    (c >= 0x2000 && c <= 0x200a) || c === 0x2028 || c === 0x2029 || c === 0x202f || c === 0x205f || c === 0x3000
  );
}

function isControl(c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/** Returns the simple lower-case mapping of a code point. */
export function simpleLower(character) {
  return character === "\u0130" ? "i" : character.toLowerCase();
}

function withoutInvisible(text) {
  let out = "";
  let marks = 0;
  for (const character of text) {
    const codePoint = character.codePointAt(0);
    if (isIgnorable(codePoint) || (isControl(codePoint) && !isSpace(codePoint))) {
      continue;
    }
    marks = codePoint >= 0x300 && MARK.test(character) ? marks + 1 : 0;
    if (marks <= MAX_MARKS) {
      out += character;
    }
  }
  return out;
}

function foldedOne(character) {
  const codePoint = character.codePointAt(0);
  if (isSpace(codePoint)) {
    return " ";
  }
  if (DIGIT.test(character)) {
    return "0";
  }
  return SIGN.test(character) ? "." : simpleLower(character);
}

function shortened(text) {
  let out = "";
  let before = " ";
  for (const character of text) {
    const folded = foldedOne(character);
    if (folded !== before || (folded !== " " && folded !== "0" && folded !== ".")) {
      out += folded;
    }
    before = folded;
  }
  return out.endsWith(" ") ? out.slice(0, -1) : out;
}

/** Returns the canonical form of a text. */
export function foldedText(text) {
  let current = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const upper = withoutInvisible(current).normalize("NFKC").toUpperCase();
    const next = shortened(upper).normalize("NFKC");
    if (next === "") {
      throw new InvalidKeyError("text is empty after folding");
    }
    if (next === current) {
      return next;
    }
    current = next;
  }
  throw new InvalidKeyError(`text still changes after ${MAX_ROUNDS} rounds of folding`);
}
