// The registrable domain of a host, using the ICANN section of the public suffix list.

import { RULES } from "./suffix-rules.js";

/** The version of the list whose ICANN section this package contains. */
export const PUBLIC_SUFFIX_LIST = "2025-11-27_13-27-58_UTC";

// Kinds of rules.
const SUFFIX = 1;
const BELOW_IS_SUFFIX = 2;
const EXCEPTION = 4;

let rules = null;
// The number of labels of the longest rule, including its star.
let longest = 1;

function loaded() {
  const read = new Map();
  for (const rule of RULES.trim().split(" ")) {
    const kind = rule.startsWith("!") ? EXCEPTION : rule.startsWith("*.") ? BELOW_IS_SUFFIX : SUFFIX;
    const name = kind === SUFFIX ? rule : rule.slice(kind === EXCEPTION ? 1 : 2);
    read.set(name, (read.get(name) ?? 0) | kind);
    longest = Math.max(longest, rule.split(".").length);
  }
  return read;
}

/** Returns the start of the registrable domain in a domain in canonical form; -1 for a public suffix. */
export function registrableStart(domain) {
  rules ??= loaded();
  // Exceptions take precedence, then the longest rule. Without a rule, the last label is the suffix.
  let suffix = domain.lastIndexOf(".") + 1;
  let parent = 0;
  let labels = 1;
  for (let start = suffix; labels <= longest; start = domain.lastIndexOf(".", start - 2) + 1, labels++) {
    const rule = rules.get(domain.slice(start)) ?? 0;
    if (rule & EXCEPTION) {
      return start;
    }
    if (rule & SUFFIX || parent & BELOW_IS_SUFFIX) {
      suffix = start;
    }
    if (start === 0) {
      break;
    }
    parent = rule;
  }
  return suffix === 0 ? -1 : domain.lastIndexOf(".", suffix - 2) + 1;
}

/** Returns the registrable domain, or null. */
export function registrableDomain(domain) {
  const start = registrableStart(domain);
  return start < 0 ? null : domain.slice(start);
}
