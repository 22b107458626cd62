// The rule `url-expression`, version 1, and match expressions (docs/format/url-expression-v1.md).

import { bracketed, endsInNumber, ipv4, ipv6 } from "./addresses.js";
import { InvalidKeyError, quoted } from "./errors.js";
import { IN_PATH, IN_QUERY, normaliser } from "./escapes.js";
import { canonicalHost } from "./hosts.js";
import { registrableStart } from "./suffixes.js";
import { cut, normalParts, resolved, trimmed } from "./urls.js";

const SCHEMES = ["http", "https", "ftp", "ws", "wss"];
/** Options that do not narrow which visits of a page an Adblock filter blocks. */
const WIDE_OPTIONS = ["all", "doc", "document", "important"];
/** Addresses by which hosts files send a name nowhere. */
const NOWHERE = ["0.0.0.0", "127.0.0.1", "[::]", "[::1]"];
const MAX_HOSTS = 5;
const MAX_DIRECTORIES = 4;
/** The largest number of match expressions of a URL: each host with the path, with its query, and directories. */
export const MAX_EXPRESSIONS = MAX_HOSTS * (MAX_DIRECTORIES + 2);

const normalPath = normaliser(IN_PATH, IN_PATH);
const normalQuery = normaliser(IN_QUERY, IN_QUERY.replace(/[&=+;]/g, ""));

/** The host or URL that a line of a list names. */
function listed(line) {
  const text = trimmed(line);
  if (/^[A-Za-z][A-Za-z0-9+.-]*:[/\\]/.test(text)) {
    return text;
  }
  if (text.startsWith("#") || text.startsWith("!")) {
    throw new InvalidKeyError(`${quoted(text)} is a comment`);
  }
  if (text.startsWith("@@")) {
    throw new InvalidKeyError(`${quoted(text)} is an exception, which lists nothing`);
  }
  if (/#[@?$%]*#/.test(text)) {
    throw new InvalidKeyError(`${quoted(text)} is a cosmetic filter, which lists parts of pages`);
  }
  if (text.startsWith("|")) {
    return filtered(text);
  }
  const entry = withoutComment(text);
  const named = withoutWildcard(namedByHostsFile(entry) ?? entry);
  if (isRange(named)) {
    throw new InvalidKeyError(
      `${quoted(named)} is a range of addresses; list them one by one, or a page with http:// before it`
    );
  }
  return named;
}

/** Whether a text is an IP address, a slash and the length of a prefix. */
function isRange(text) {
  const range = /^([^/]+)\/([0-9]{1,3})(?=[ \t#]|$)/.exec(text);
  if (range === null) {
    return false;
  }
  const [, address, length] = range;
  const bracketed = address.startsWith("[") && address.endsWith("]");
  if (ipv6(bracketed ? address.slice(1, -1) : address) !== null) {
    return Number(length) <= 128;
  }
  return !bracketed && ipv4(address) !== null && Number(length) <= 32;
}

/** A line without what follows spaces and a `#`. */
function withoutComment(text) {
  let end = text.search(/[ \t]#/);
  if (end < 0) {
    return text;
  }
  while (text[end - 1] === " " || text[end - 1] === "\t") {
    end--;
  }
  return text.slice(0, end);
}

function withoutWildcard(text) {
  return text.startsWith("*.") ? text.slice(2) : text.startsWith(".") ? text.slice(1) : text;
}

/** The name in a line of a hosts file; null if it is none. */
function namedByHostsFile(text) {
  const words = text.split(/[ \t]+/);
  const address = words.length < 2 ? null : addressOf(words[0]);
  if (address === null) {
    return null;
  }
  if (!NOWHERE.includes(address)) {
    throw new InvalidKeyError(
      `a hosts-file line must have the address 0.0.0.0, 127.0.0.1, :: or ::1, got ${quoted(words[0])}`
    );
  }
  if (words.length > 2) {
    throw new InvalidKeyError(`a hosts-file line must name one host, got ${words.length - 1}`);
  }
  const name = words[1];
  if (!name.includes(".") || name === "localhost.localdomain" || addressOf(name) !== null) {
    throw new InvalidKeyError(`a hosts-file line must name a domain of the Internet, got ${quoted(name)}`);
  }
  return name;
}

function addressOf(word) {
  if (word.includes(":")) {
    const pieces = ipv6(word);
    return pieces === null ? null : bracketed(pieces);
  }
  return ipv4(word) === word ? word : null;
}

/** What an Adblock network filter lists: `||host^`, `||host/directory/` or `||host/directory/*`. */
function filtered(text) {
  let filter = text;
  const options = /\$([A-Za-z0-9~_,=|.-]+)$/.exec(text);
  if (options !== null) {
    const narrow = options[1].split(",").find((option) => !WIDE_OPTIONS.includes(option));
    if (narrow !== undefined) {
      throw new InvalidKeyError(`an Adblock filter must not have options that narrow it, got ${quoted(narrow)}`);
    }
    filter = text.slice(0, options.index);
  }
  const body = filter.startsWith("||") ? withoutWildcard(filter.slice(2)) : "";
  const isHost = body.endsWith("^") && !body.includes("/");
  const named = isHost || body.endsWith("/*") ? body.slice(0, -1) : body;
  if (!(isHost || named.endsWith("/")) || named === "" || /[\^*|?]/.test(named)) {
    throw new InvalidKeyError(`an Adblock filter must be ||host^ or ||host/directory/, got ${quoted(text)}`);
  }
  return named;
}

/** The canonical form of an entry, which is a line of a list. */
export function entryForm(line) {
  return (line.includes("*") ? null : normalForm(line)) ?? parsedEntry(line);
}

/** The canonical form of a URL that is asked of lists. */
export function visitForm(url) {
  return normalForm(url) ?? parsedVisit(url);
}

/** The form of a key that needs little work; null for all others. */
function normalForm(key) {
  const normal = normalParts(key);
  if (normal === null) {
    return null;
  }
  const [, , host, path, query] = normal;
  return host + (path === "" ? "/" : path) + (query === undefined ? "" : "?" + query);
}

/** What `entryForm` gives, by the steps of the rule alone. */
export function parsedEntry(line) {
  const text = listed(line);
  const url = cut(text, SCHEMES);
  if (url.scheme === null) {
    const isDirectory = url.path.endsWith("/*") && url.query === "";
    if ((isDirectory ? url.path.slice(0, -1) : url.path + url.query).includes("*")) {
      throw new InvalidKeyError(
        `${quoted(text)} is a pattern; list its directory, or the page with http:// before it`
      );
    }
  } else {
    url.host = withoutWildcard(url.host);
    if (url.host.includes("*")) {
      throw new InvalidKeyError(`host ${quoted(url.host)} is a pattern; list the domain`);
    }
  }
  const form = formOfParts(url);
  return form.endsWith("/*") && !form.includes("?") ? form.slice(0, -1) : form;
}

/** What `visitForm` gives, by the steps of the rule alone. */
export function parsedVisit(url) {
  return formOfParts(cut(url, SCHEMES));
}

function formOfParts(url) {
  const host = canonicalHost(url.host, true);
  const isDefault = url.port < 0 || url.port === 80 || url.port === 443 || (url.port === 21 && url.scheme === "ftp");
  const path = resolved(normalPath(url.path.replace(/%5[Cc]/g, "/")));
  return host + (isDefault ? "" : ":" + url.port) + path + (url.query === "" ? "" : "?" + normalQuery(url.query));
}

/** The match expressions of a canonical form, from the most to the least specific: 1 to 30. */
export function expressionsOf(canonical) {
  const pathStart = canonical.indexOf("/");
  const authority = canonical.slice(0, pathStart);
  const hosts = hostsOf(authority);
  const paths = pathsOf(canonical.slice(pathStart));
  const expressions = [];
  for (const host of hosts) {
    for (const path of paths) {
      expressions.push(host + path);
    }
  }
  return expressions;
}

function hostsOf(authority) {
  const colon = authority.indexOf(":", authority.startsWith("[") ? authority.indexOf("]") : 0);
  const host = colon < 0 ? authority : authority.slice(0, colon);
  const hosts = colon < 0 ? [host] : [authority, host];
  const registrable = host.startsWith("[") || endsInNumber(host) ? -1 : registrableStart(host);
  const parents = [];
  for (let start = registrable; start > 0 && hosts.length + parents.length < MAX_HOSTS; ) {
    parents.push(host.slice(start));
    start = host.lastIndexOf(".", start - 2) + 1;
  }
  return [...hosts, ...parents.reverse()];
}

function pathsOf(pathAndQuery) {
  const mark = pathAndQuery.indexOf("?");
  const path = mark < 0 ? pathAndQuery : pathAndQuery.slice(0, mark);
  const directories = [];
  for (let end = 1; end > 0 && end < path.length && directories.length < MAX_DIRECTORIES; ) {
    directories.push(path.slice(0, end));
    end = path.indexOf("/", end) + 1;
  }
  return [...(mark < 0 ? [] : [pathAndQuery]), path, ...directories.reverse()];
}
