// IPv4 addresses as browsers parse them, and IPv6 literals (WHATWG URL, sections 3.5 and 3.6).

const IPV4_END = 2 ** 32;
const DIGITS = { 8: /^[0-7]+$/, 10: /^[0-9]+$/, 16: /^[0-9A-Fa-f]+$/ };

/** Returns whether a host must be an IPv4 address because its last label is a number. */
export function endsInNumber(host) {
  return /^(?:[0-9]+|0x[0-9A-Fa-f]*)$/.test(host.slice(host.lastIndexOf(".") + 1));
}

function dotted(address) {
  return [24, 16, 8, 0].map((bits) => (address >>> bits) & 255).join(".");
}

/** The value of a number, or a NaN. */
function numberOf(text) {
  if (text === "0x") {
    return 0;
  }
  const radix = text.startsWith("0x") ? 16 : text.length > 1 && text.startsWith("0") ? 8 : 10;
  const digits = radix === 16 ? text.slice(2) : radix === 8 ? text.slice(1) : text;
  return DIGITS[radix].test(digits) ? parseInt(digits, radix) : NaN;
}

/**
 * Returns the dotted decimal form of one to four decimal, octal or hexadecimal numbers, the last of which fills
 * the remaining bytes; null if they are not an address.
 */
export function ipv4(host) {
  const parts = host.split(".");
  if (parts.length > 4) {
    return null;
  }
  let address = 0;
  for (const [i, part] of parts.entries()) {
    const size = i < parts.length - 1 ? 256 : 256 ** (5 - parts.length);
    const number = numberOf(part);
    if (!(number < size)) {
      return null;
    }
    address = address * size + number;
  }
  return address < IPV4_END ? dotted(address) : null;
}

/** Returns the eight pieces of an IPv6 address without brackets; null for other text. */
export function ipv6(text) {
  const gap = text.indexOf("::");
  if (gap < 0) {
    const pieces = piecesOf(text);
    return pieces !== null && pieces.length === 8 ? pieces : null;
  }
  const left = piecesOf(text.slice(0, gap));
  const right = piecesOf(text.slice(gap + 2));
  if (left === null || right === null || left.length + right.length >= 8 || text.slice(0, gap).includes(".")) {
    return null;
  }
  return [...left, ...new Array(8 - left.length - right.length).fill(0), ...right];
}

/** Parses pieces between colons; the last two may be a dotted IPv4 address. */
function piecesOf(text) {
  if (text === "") {
    return [];
  }
  const groups = text.split(":");
  const pieces = [];
  if (groups[groups.length - 1].includes(".")) {
    const last = groups.pop();
    // Four decimal numbers without leading zeros are in dotted form already.
    if (ipv4(last) !== last) {
      return null;
    }
    const bytes = last.split(".").map(Number);
    pieces.push(bytes[0] * 256 + bytes[1], bytes[2] * 256 + bytes[3]);
  }
  if (!groups.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group))) {
    return null;
  }
  return [...groups.map((group) => parseInt(group, 16)), ...pieces];
}

/** Returns the form of RFC 5952, section 4, in brackets. */
export function bracketed(pieces) {
  let gap = -1;
  let gapLength = 1;
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && pieces[end] === 0) {
      end++;
    }
    if (end - i > gapLength) {
      gap = i;
      gapLength = end - i;
    }
    i = Math.max(i, end - 1);
  }
  const digits = pieces.map((piece) => piece.toString(16));
  if (gap < 0) {
    return "[" + digits.join(":") + "]";
  }
  return "[" + digits.slice(0, gap).join(":") + "::" + digits.slice(gap + gapLength).join(":") + "]";
}

/** Returns the IPv4 address in a mapped (RFC 4291) or NAT64 (RFC 6052) IPv6 address; null for others. */
export function embeddedIpv4(pieces) {
  const start = pieces.slice(0, 6).map((piece) => piece.toString(16)).join(":");
  return start === "0:0:0:0:0:ffff" || start === "64:ff9b:0:0:0:0" ? dotted(pieces[6] * 65536 + pieces[7]) : null;
}
