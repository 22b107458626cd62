// The canonical form of a host (docs/format/url-v3.md#hosts).

import { bracketed, embeddedIpv4, endsInNumber, ipv4, ipv6 } from "./addresses.js";
import { textOf, utf8 } from "./bytes.js";
import { InvalidKeyError, quoted } from "./errors.js";
import { decodedEscapes } from "./escapes.js";
import { isIgnorable, simpleLower } from "./text.js";

/** Normalisation and Punycode take quadratic time. No name of the Internet is this long. */
const MAX_INTERNATIONAL = 1024;

const BEYOND_ASCII = /[^\u0000-\u007f]/;
const IN_LAST_LABEL = /^[a-z0-9_\u0080-\uffff-]*$/;
const IN_LABELS = /^[a-z0-9_~$&'()+;=!*,"`{}\u0080-\uffff-]*$/;
/** Characters that browsers allow, but that have a meaning in lists. */
const MARKS = /[!*,"`{}]/g;
const MARK = /[!*,"`{}]/;
const STYLED_FINAL_SIGMA = /[\u03f2\u{1d6d3}\u{1d70d}\u{1d747}\u{1d781}\u{1d7bb}]/gu;

/**
 * Returns the canonical form of a host in a URL.
 *
 * @param unwrap whether to convert an IPv6 address with an embedded IPv4 address to IPv4
 */
export function canonicalHost(host, unwrap) {
  if (host.startsWith("[")) {
    const pieces = host.endsWith("]") ? ipv6(host.slice(1, -1)) : null;
    if (pieces === null) {
      throw new InvalidKeyError(`host ${quoted(host)} is not an IPv6 address`);
    }
    return (unwrap && embeddedIpv4(pieces)) || bracketed(pieces);
  }
  const written = host.includes("%") ? textOf(decodedEscapes(utf8(host, "host")), "host " + quoted(host)) : host;
  if (BEYOND_ASCII.test(written) && written.length > MAX_INTERNATIONAL && [...written].length > MAX_INTERNATIONAL) {
    throw new InvalidKeyError(`host ${quoted(host)} beyond ASCII must have at most ${MAX_INTERNATIONAL} characters`);
  }
  let domain = mapped(written);
  if (domain.endsWith(".")) {
    domain = domain.slice(0, -1);
  }
  if (domain === "") {
    throw new InvalidKeyError("URL has no host");
  }
  const labels = domain.split(".");
  const ascii = labels.map((label, i) => canonicalLabel(label, i === labels.length - 1, host)).join(".");
  if (!endsInNumber(ascii)) {
    return ascii;
  }
  const address = ipv4(ascii);
  if (address === null) {
    throw new InvalidKeyError(`host ${quoted(host)} ends in a number and is not an IPv4 address`);
  }
  return address;
}

/** The mapping of UTS #46 without transitional processing. */
function mapped(domain) {
  if (!BEYOND_ASCII.test(domain)) {
    return domain.toLowerCase();
  }
  let seen = "";
  for (const character of domain) {
    const isJoiner = character === "\u200c" || character === "\u200d";
    if (isJoiner || !isIgnorable(character.codePointAt(0))) {
      seen += character;
    }
  }
  const normal = seen.replace(STYLED_FINAL_SIGMA, "\u03c3").normalize("NFKC");
  let folded = "";
  for (const character of normal) {
    folded += foldedCase(character);
  }
  return folded.normalize("NFKC").replaceAll("\u3002", ".");
}

function foldedCase(character) {
  switch (character) {
    case "\u00df":
    case "\u03c2":
    case "\u0131":
      return character;
    case "\u1e9e":
      return "\u00df";
    case "\u0130":
      return "i\u0307";
    default: {
      let folded = "";
      for (const upper of character.toUpperCase()) {
        // Cherokee letters fold to upper case, which was encoded first.
        folded += upper >= "\u13a0" && upper <= "\u13f5" ? upper : simpleLower(upper);
      }
      return folded;
    }
  }
}

function canonicalLabel(label, isLast, host) {
  if (label === "") {
    throw new InvalidKeyError(`host ${quoted(host)} has an empty label`);
  }
  if (!(isLast ? IN_LAST_LABEL : IN_LABELS).test(label)) {
    throw new InvalidKeyError(`host ${quoted(host)} has a character that no ${isLast ? "last label" : "label"} may have`);
  }
  let ascii = label;
  if (BEYOND_ASCII.test(label)) {
    if (label.startsWith("xn--")) {
      throw new InvalidKeyError(`host ${quoted(host)} mixes Punycode and other characters in a label`);
    }
    ascii = "xn--" + punycode(label);
  }
  return MARK.test(ascii) ? ascii.replace(MARKS, (mark) => "%" + mark.charCodeAt(0).toString(16).toUpperCase()) : ascii;
}

/** Rejects a host without a scheme that contains a mark with a different meaning in a list. */
export function requirePlain(host) {
  const mark = MARK.exec(host);
  if (mark !== null) {
    throw new InvalidKeyError(`host ${quoted(host)} without a scheme must not hold ${quoted(mark[0])}`);
  }
}

/** RFC 3492, with its parameters for host names. */
export function punycode(label) {
  const points = Array.from(label, (character) => character.codePointAt(0));
  const basic = points.filter((point) => point < 0x80);
  let out = String.fromCharCode(...basic) + (basic.length > 0 ? "-" : "");
  let next = 0x80;
  let delta = 0;
  let bias = 72;
  let done = basic.length;
  while (done < points.length) {
    let least = Infinity;
    for (const point of points) {
      if (point >= next && point < least) {
        least = point;
      }
    }
    delta += (least - next) * (done + 1);
    next = least;
    for (const point of points) {
      if (point < next) {
        delta++;
      } else if (point === next) {
        out += variableLength(delta, bias);
        bias = adapted(delta, done + 1, done === basic.length);
        delta = 0;
        done++;
      }
    }
    delta++;
    next++;
  }
  return out;
}

function variableLength(delta, bias) {
  let out = "";
  let left = delta;
  for (let k = 36; ; k += 36) {
    const threshold = Math.min(26, Math.max(1, k - bias));
    if (left < threshold) {
      return out + digit(left);
    }
    out += digit(threshold + ((left - threshold) % (36 - threshold)));
    left = Math.floor((left - threshold) / (36 - threshold));
  }
}

function digit(number) {
  return "abcdefghijklmnopqrstuvwxyz0123456789"[number];
}

function adapted(delta, count, isFirst) {
  let left = Math.floor(delta / (isFirst ? 700 : 2));
  left += Math.floor(left / count);
  let k = 0;
  while (left > 455) {
    left = Math.floor(left / 35);
    k += 36;
  }
  return k + Math.floor((36 * left) / (left + 38));
}
