// The registrable domain of a host, by the ICANN section of the public suffix list.

import { RULES } from "./suffix-rules.js";

/** The version of the list of which this has the ICANN section. */
export const PUBLIC_SUFFIX_LIST = "2025-11-27_13-27-58_UTC";

// What a rule says of its name.
const SUFFIX = 1;
const BELOW_IS_SUFFIX = 2;
const EXCEPTION = 4;

let rules = null;
// The labels of the longest rule, with its star.
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

/** Where the registrable domain starts in a domain in canonical form; -1 if it is a public suffix itself. */
export function registrableStart(domain) {
  rules ??= loaded();
  // The longest rule counts, an exception before all; without one the last label is the suffix.
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

/** The registrable domain; null if there is none. */
export function registrableDomain(domain) {
  const start = registrableStart(domain);
  return start < 0 ? null : domain.slice(start);
}
