// Query parameters that a set removes from its URLs (docs/format/url-v3.md#stripped-parameters).

import { require } from "./errors.js";

const PATTERN = /^(?:[A-Za-z0-9._~-]+\*?|\*)$/;
const MAX_TEXT = 1000;

/** Splits comma-separated patterns; rejects invalid patterns. */
function patternsOf(text) {
  const patterns = text.split(",");
  const wrong = patterns.find((pattern) => !PATTERN.test(pattern) || pattern === "common");
  require(
    wrong === undefined,
    () => `a pattern of stripped parameters must be a name, or the start of one and *, got ${JSON.stringify(wrong)}`
  );
  return patterns;
}

/** Rejects patterns of a file that are not in canonical form: sorted and distinct. */
export function requireOneForm(text) {
  require(
    text.length >= 1 && text.length <= MAX_TEXT,
    () => `stripped parameters must have 1 to ${MAX_TEXT} characters, got ${text.length}`
  );
  const patterns = patternsOf(text);
  require(
    patterns.every((pattern, i) => i === 0 || patterns[i - 1] < pattern),
    () => `stripped parameters must be sorted, each once, got ${JSON.stringify(text)}`
  );
}

/** Returns a function that decides whether to remove a parameter with a name. */
export function stripping(text) {
  const names = new Set();
  const starts = [];
  for (const pattern of patternsOf(text)) {
    if (pattern.endsWith("*")) {
      starts.push(pattern.slice(0, -1));
    } else {
      names.add(pattern);
    }
  }
  return (name) => names.has(name) || starts.some((start) => name.startsWith(start));
}
