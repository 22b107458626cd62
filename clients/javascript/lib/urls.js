// The rule `url`, versions 2 and 3 (docs/format/url-v3.md).

import { InvalidKeyError, quoted } from "./errors.js";
import { IN_PATH, IN_QUERY, UNRESERVED, normaliser } from "./escapes.js";
import { canonicalHost, requirePlain } from "./hosts.js";

const SCHEMES = ["http", "https", "ftp"];
const OWN_PORTS = { http: 80, https: 443, ftp: 21 };

const normalPath = normaliser(IN_PATH, UNRESERVED);
/** Browsers escape the apostrophe in queries. */
const normalQuery = normaliser(IN_QUERY.replace("'", ""), UNRESERVED);
const normalQuery2 = normaliser(IN_QUERY, UNRESERVED);

/** Trims characters up to U+0020. */
export function trimmed(text) {
  let from = 0;
  let to = text.length;
  while (from < to && text.charCodeAt(from) <= 0x20) {
    from++;
  }
  while (to > from && text.charCodeAt(to - 1) <= 0x20) {
    to--;
  }
  return text.slice(from, to);
}

/** Splits a key into scheme (or null), host, port (or -1), path and query. */
export function cut(key, schemes) {
  return cutCleaned(cleaned(key), schemes);
}

/** Splits a URL that a browser opens, which is more tolerant about schemes. */
export function cutVisit(key, schemes) {
  const url = cleaned(key).replace(/^(?:view-source:[\x00- ]*)+/i, "");
  const start = /^(https?|ftp|wss?):[/\\]*/i.exec(url);
  if (start !== null) {
    return parts(start[1].toLowerCase(), url.slice(start[0].length));
  }
  const none = /^[/\\]{2,}/.exec(url);
  return none === null ? cutCleaned(url, schemes) : parts("http", url.slice(none[0].length));
}

function cleaned(key) {
  const text = trimmed(key).replace(/[\t\n\r]/g, "");
  const hash = text.indexOf("#");
  return hash < 0 ? text : text.slice(0, hash);
}

function cutCleaned(text, schemes) {
  const start = /^([A-Za-z][A-Za-z0-9+.-]*):[/\\]+/.exec(text);
  let scheme = null;
  if (start !== null) {
    scheme = start[1].toLowerCase();
    if (!schemes.includes(scheme)) {
      throw new InvalidKeyError(`scheme must be one of ${schemes.join(", ")}, got ${quoted(scheme)}`);
    }
    return parts(scheme, text.slice(start[0].length));
  }
  if (/^[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f.:]*$/.test(text)) {
    return { scheme, host: `[${text}]`, port: -1, path: "", query: "" };
  }
  return parts(scheme, text);
}

function parts(scheme, text) {
  const end = text.search(/[/\\?]/);
  let authority = end < 0 ? text : text.slice(0, end);
  const rest = end < 0 ? "" : text.slice(end);
  const at = authority.lastIndexOf("@");
  if (at >= 0) {
    if (scheme === null) {
      throw new InvalidKeyError(`${quoted(authority)} without a scheme is an e-mail address`);
    }
    authority = authority.slice(at + 1);
  }
  const { host, port } = hostAndPort(authority, scheme);
  const mark = rest.indexOf("?");
  const path = (mark < 0 ? rest : rest.slice(0, mark)).replaceAll("\\", "/");
  return { scheme, host, port, path, query: mark < 0 ? "" : rest.slice(mark + 1) };
}

function hostAndPort(authority, scheme) {
  const bracket = authority.startsWith("[") ? authority.indexOf("]") : 0;
  const colon = bracket < 0 ? -1 : authority.indexOf(":", bracket);
  const host = colon < 0 ? authority : authority.slice(0, colon);
  let port = -1;
  if (colon >= 0 && !(scheme !== null && colon === authority.length - 1)) {
    const digits = authority.slice(colon + 1);
    port = /^[0-9]+$/.test(digits) ? Number(digits) : Infinity;
    if (port > 65535) {
      throw new InvalidKeyError(`port must be digits of a number up to 65535, got ${quoted(digits)}`);
    }
  }
  if (host === "") {
    throw new InvalidKeyError("URL has no host");
  }
  if (scheme === null) {
    requirePlain(host);
  }
  return { host, port };
}

/** Removes dot segments and empty segments from a path. */
export function resolved(path) {
  const segments = path.split("/");
  const kept = [];
  for (const segment of segments) {
    if (segment === "..") {
      kept.pop();
    } else if (segment !== "" && segment !== ".") {
      kept.push(segment);
    }
  }
  const last = segments[segments.length - 1];
  const isDirectory = kept.length > 0 && (last === "" || last === "." || last === "..");
  return "/" + kept.join("/") + (isDirectory ? "/" : "");
}

function nameOf(parameter) {
  const equals = parameter.indexOf("=");
  return equals < 0 ? parameter : parameter.slice(0, equals);
}

/** Removes an equals sign at the end of a parameter. */
function canonicalParameter(name, parameter) {
  return parameter.length === name.length + 1 ? name : parameter;
}

function sortedQuery(normal, isStripped) {
  const isLeft = (name) => name !== "" && !isStripped(name);
  if (!normal.includes("&")) {
    const name = nameOf(normal);
    return isLeft(name) ? canonicalParameter(name, normal) : "";
  }
  return normal
    .split("&")
    .map((parameter) => ({ name: nameOf(parameter), parameter }))
    .filter(({ name }) => isLeft(name))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .map(({ name, parameter }) => canonicalParameter(name, parameter))
    .join("&");
}

/**
 * Keys with a canonical host and path: scheme, host, path and query. A fast path for keys that the steps of the rule
 * do not change.
 */
const NORMAL =
  /^(?:(https?):\/\/)?((?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*)((?:\/[A-Za-z0-9_~!$&'()*+,;=:@-][A-Za-z0-9._~!$&'()*+,;=:@-]*)*\/?)(?:\?([A-Za-z0-9._~!$&'()*+,;=:@/?-]+))?$/;

/** Returns the parts of a key that is nearly canonical; null for all others. */
export function normalParts(key) {
  return NORMAL.exec(key);
}

const NONE = () => false;

/**
 * Returns the canonical form of the URL of a page.
 *
 * @param isStripped whether the set removes parameters with a name
 */
export function canonicalUrl(key, isStripped = NONE, escaped = normalQuery) {
  const normal = normalParts(key);
  if (normal !== null) {
    const [, scheme = "http", host, path, query] = normal;
    const sorted = query === undefined ? "" : sortedQuery(escaped(query), isStripped);
    return `${scheme}://${host}${path === "" ? "/" : path}${sorted === "" ? "" : "?" + sorted}`;
  }
  return parsedUrl(key, isStripped, escaped);
}

/** Returns the canonical form in version 2. */
export function canonicalUrl2(key, isStripped = NONE) {
  return canonicalUrl(key, isStripped, normalQuery2);
}

/** Computes `canonicalUrl` by the steps of the rule. */
export function parsedUrl(key, isStripped = NONE, escaped = normalQuery) {
  const url = cut(key, SCHEMES);
  const scheme = url.scheme ?? "http";
  const host = canonicalHost(url.host, false);
  const port = url.port < 0 || url.port === OWN_PORTS[scheme] ? "" : ":" + url.port;
  const query = url.query === "" ? "" : sortedQuery(escaped(url.query), isStripped);
  return `${scheme}://${host}${port}${resolved(normalPath(url.path))}${query === "" ? "" : "?" + query}`;
}
