// Percent-escapes (docs/format/url-v3.md#escapes).

import { utf8 } from "./bytes.js";

const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
export const UNRESERVED = ALPHANUMERIC + "-._~";
const PCHAR = UNRESERVED + "!$&'()*+,;=:@";
export const IN_PATH = PCHAR + "/";
export const IN_QUERY = PCHAR + "/?";

const ESCAPES = Array.from({ length: 256 }, (_, byte) => "%" + byte.toString(16).toUpperCase().padStart(2, "0"));

function hexDigit(byte) {
  if (byte >= 0x30 && byte <= 0x39) {
    return byte - 0x30;
  }
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** Returns the byte of the escape at an index, or -1. */
function escapedByte(bytes, at) {
  if (bytes[at] !== 0x25 || at + 2 >= bytes.length) {
    return -1;
  }
  const high = hexDigit(bytes[at + 1]);
  const low = hexDigit(bytes[at + 2]);
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

/** Replaces each escape with its byte. */
export function decodedEscapes(bytes) {
  const out = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = escapedByte(bytes, at);
    out[length++] = byte < 0 ? bytes[at] : byte;
    at += byte < 0 ? 0 : 2;
  }
  return out.subarray(0, length);
}

/** Returns a function that normalises the escapes of a text. */
export function normaliser(literal, unescaped) {
  const isLiteral = new Uint8Array(256);
  const isUnescaped = new Uint8Array(256);
  for (const character of literal) {
    isLiteral[character.charCodeAt(0)] = 1;
  }
  for (const character of unescaped) {
    isUnescaped[character.charCodeAt(0)] = 1;
  }
  const isNormal = (text) => {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code > 127 || isLiteral[code] === 0) {
        return false;
      }
    }
    return true;
  };
  return (text) => {
    if (isNormal(text)) {
      return text;
    }
    const bytes = utf8(text, "key");
    let out = "";
    for (let at = 0; at < bytes.length; at++) {
      const escaped = escapedByte(bytes, at);
      if (escaped >= 0) {
        out += isUnescaped[escaped] === 1 ? String.fromCharCode(escaped) : ESCAPES[escaped];
        at += 2;
      } else {
        out += isLiteral[bytes[at]] === 1 ? String.fromCharCode(bytes[at]) : ESCAPES[bytes[at]];
      }
    }
    return out;
  };
}
