// The rule `url-expression`, versions 1 and 2, and match expressions (docs/format/url-expression-v2.md).

import { bracketed, endsInNumber, ipv4, ipv6 } from "./addresses.js";
import { InvalidKeyError, quoted } from "./errors.js";
import { IN_PATH, IN_QUERY, normaliser } from "./escapes.js";
import { canonicalHost } from "./hosts.js";
import { registrableStart } from "./suffixes.js";
import { cut, cutVisit, normalParts, resolved, trimmed } from "./urls.js";

const SCHEMES = ["http", "https", "ftp", "ws", "wss"];
/** Options that do not narrow which visits of a page an Adblock filter blocks. */
const WIDE_OPTIONS = ["all", "doc", "document", "important"];
/** Addresses that hosts files use to block a name. */
const NOWHERE = ["0.0.0.0", "127.0.0.1", "[::]", "[::1]"];
/** Limits for URLs that are looked up, by the version of the set. */
const MAX_HOSTS = { 1: 5, 2: 128 };
const MAX_DIRECTORIES = { 1: 4, 2: 16 };
const MAX_LABELS = MAX_HOSTS[2] - 1;

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:[/\\]/;
/** No domain or a list of domains, the mark, and a selector; `##` and a space start a comment. */
const COSMETIC = /^[A-Za-z0-9_.*,~\x80-\u{10ffff}-]*#[@?$%]*##?[^# \t]|^[A-Za-z0-9_.*,~\x80-\u{10ffff}-]+#[@?$%]*#$/u;
/** A backslash, or a character in path or query that URLs escape. */
const REGULAR_EXPRESSION = /\\|^[^/?]*[/?][^"<>[\]^`{|}]*["<>[\]^`{|}]/;
/** A filter for a part of a name, such as `.ad.page.` or `.com/ads/`. */
const PART_OF_NAME = /^\.(?:.*[/?:].*|.*\.)$/s;
/** Unicode's White_Space, and control characters. */
const SPACE_OR_CONTROL = /[\x00- \x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
const OPTION_PATTERN =
  "~?(?:third-party|3p|strict3p|first-party|1p|strict1p|script|image|stylesheet|css|object" +
  "|object-subrequest|xmlhttprequest|xhr|subdocument|frame|popup|popunder|media|font|websocket|webrtc" +
  "|ping|other|badfilter|important|all|document|doc|domain|from|to|method|header|ipaddress" +
  "|denyallow|sitekey|app|csp|permissions|redirect|redirect-rule|rewrite|replace|removeparam" +
  "|removeheader|uritransform|urltransform|urlskip|empty|mp4|cookie|cname|match-case|generichide" +
  "|ghide|genericblock|specifichide|shide|elemhide|ehide|urlblock|content|jsinject|extension|stealth" +
  "|inline-script|inline-font|network)(?:=.*)?";
const OPTION = new RegExp(`^${OPTION_PATTERN}$`, "s");
const PAGE_AND_OPTION = new RegExp(`^.*\\$${OPTION_PATTERN}$`, "s");

const normalPath = normaliser(IN_PATH, IN_PATH);
const normalQuery = normaliser(IN_QUERY, IN_QUERY.replace(/[&=+;]/g, ""));

/** Returns the host or URL of a line of a list. */
function listed(line, version) {
  const text = trimmed(line);
  if (version === 1 && SCHEME.test(text)) {
    return text;
  }
  if (version > 1 && /[\r\n]/.test(text)) {
    throw new InvalidKeyError(`${quoted(text)} has a line break`);
  }
  if (isComment(text)) {
    throw new InvalidKeyError(`${quoted(text)} is a comment`);
  }
  if (text.startsWith("@@")) {
    throw new InvalidKeyError(`${quoted(text)} is an exception, which lists nothing`);
  }
  if (version === 1 ? /#[@?$%]*#/.test(text) : COSMETIC.test(text)) {
    throw new InvalidKeyError(`${quoted(text)} is a cosmetic filter, which lists parts of pages`);
  }
  let entry = withoutComment(text);
  if (text.startsWith("|")) {
    return version === 1 ? filtered(text) : withoutRange(filtered(ofOneColumn(entry)), version);
  }
  if (version > 1) {
    // A URL to look up also has no fragment.
    entry = trimmed(entry.split("#", 1)[0]);
  }
  const isUrl = SCHEME.test(entry);
  const name = isUrl ? null : namedByHostsFile(entry, version);
  if (version > 1) {
    ofOneColumn(name ?? entry);
  }
  if (isUrl) {
    return entry;
  }
  if (version > 1 && (REGULAR_EXPRESSION.test(entry) || PART_OF_NAME.test(entry) || hasOptions(entry))) {
    throw new InvalidKeyError(
      `${quoted(entry)} is a pattern or a regular expression; list the host, or the page with http:// before it`
    );
  }
  const named = name ?? entry;
  return withoutRange(version > 1 && named.startsWith("+.") ? named.slice(2) : withoutWildcard(named), version);
}

/** Whether a line ends with a dollar sign and options of filters between commas. */
function hasOptions(entry) {
  const parts = entry.split(",");
  let last = parts.length - 1;
  while (last > 0 && !PAGE_AND_OPTION.test(parts[last]) && OPTION.test(parts[last])) {
    last--;
  }
  return PAGE_AND_OPTION.test(parts[last]);
}

function ofOneColumn(entry) {
  if (SPACE_OR_CONTROL.test(entry)) {
    throw new InvalidKeyError(
      `${quoted(entry)} has more than one column; select one, or write a space in a URL as %20`
    );
  }
  return entry;
}

function withoutRange(named, version) {
  // In version 2 also with a dot or a port after the address, or a slash after the length.
  if (isRange(named) || (version > 1 && isRange(named.replace(/\.?(?::[0-9]*)?\/([0-9]{1,3})\/?$/, "/$1")))) {
    throw new InvalidKeyError(
      `${quoted(named)} is a range of addresses; list them one by one, or a page with http:// before it`
    );
  }
  return named;
}

/** Rejects marks and numbers that other notations use in place of a host. */
function requireHost(host) {
  if (host.startsWith("[")) {
    return;
  }
  if (/[~$&'()+;=]/.test(host)) {
    throw new InvalidKeyError(`host ${quoted(host)} without a scheme must not have any of ~$&'()+;=`);
  }
  const plain = host.replace(/\.$/, "");
  if (plain.split(".").length !== 4 && endsInNumber(plain)) {
    throw new InvalidKeyError(`${quoted(host)} is a number; an address has four parts, or http:// before it`);
  }
}

/** Returns whether a trimmed line is a comment or empty. */
function isComment(text) {
  return (
    text === "" || text.startsWith("!") || (text.startsWith("#") && !COSMETIC.test(text)) || /^\[Adblock/i.test(text)
  );
}

/** Returns whether a text is an IP address, a slash and a prefix length. */
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

/** Removes spaces and a `#` with the following text from a line. */
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

/** Returns the name in a line of a hosts file; null for other lines. */
function namedByHostsFile(text, version) {
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
  const plain = version === 1 ? name : name.toLowerCase().replace(/\.$/, "");
  if (
    !plain.includes(".") ||
    plain === "localhost.localdomain" ||
    addressOf(plain) !== null ||
    (version > 1 && ipv4(plain) !== null)
  ) {
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

/** Returns the entry of an Adblock network filter: `||host^`, `||host/directory/` or `||host/directory/*`. */
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

/** Returns the canonical form of an entry, a line of a list. */
export function entryForm(line) {
  const form = (/[*$]/.test(line) ? null : normalForm(line)) ?? parsedEntry(line);
  const pathStart = form.indexOf("/");
  const labels = form.slice(0, pathStart).split(".").length;
  if (labels > MAX_LABELS) {
    throw new InvalidKeyError(`an entry's host must have at most ${MAX_LABELS} labels, as URLs have, got ${labels}`);
  }
  const segments = form.slice(pathStart).split("/").length - 2;
  if (form.endsWith("/") && !form.includes("?") && segments >= MAX_DIRECTORIES[2]) {
    throw new InvalidKeyError(
      `an entry's directory must have at most ${MAX_DIRECTORIES[2] - 1} segments, by which URLs are looked up, ` +
        `got ${segments}`
    );
  }
  return form;
}

/** Returns the canonical form in version 1. */
export function entryForm1(line) {
  return (line.includes("*") ? null : normalForm(line)) ?? parsedEntry(line, 1);
}

/** Returns the canonical form of a URL to look up. */
export function visitForm(url) {
  return normalForm(url) ?? parsedVisit(url);
}

/** Returns the form of a key that is nearly canonical; null for all others. */
function normalForm(key) {
  const normal = normalParts(key);
  if (normal === null) {
    return null;
  }
  const [, , host, path, query] = normal;
  return host + (path === "" ? "/" : path) + (query === undefined ? "" : "?" + query);
}

/** Computes `entryForm` by the steps of the rule, without the limits of depth. */
export function parsedEntry(line, version = 2) {
  const text = listed(line, version);
  const url = cut(text, SCHEMES);
  if (url.scheme === null) {
    const isDirectory = url.path.endsWith("/*") && url.query === "";
    if ((isDirectory ? url.path.slice(0, -1) : url.path + url.query).includes("*")) {
      throw new InvalidKeyError(
        `${quoted(text)} is a pattern; list its directory, or the page with http:// before it`
      );
    }
    if (version > 1) {
      requireHost(url.host);
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

/** Computes `visitForm` by the steps of the rule. */
export function parsedVisit(url) {
  return formOfParts(cutVisit(url, SCHEMES));
}

function formOfParts(url) {
  const host = canonicalHost(url.host, true);
  const isDefault = url.port < 0 || url.port === 80 || url.port === 443 || (url.port === 21 && url.scheme === "ftp");
  const path = resolved(normalPath(url.path.replace(/%5[Cc]/g, "/")));
  return host + (isDefault ? "" : ":" + url.port) + path + (url.query === "" ? "" : "?" + normalQuery(url.query));
}

/** Returns the match expressions of a canonical form, most specific first, for a version of the list. */
export function expressionsOf(canonical, version) {
  const pathStart = canonical.indexOf("/");
  const authority = canonical.slice(0, pathStart);
  const hosts = hostsOf(authority, MAX_HOSTS[version]);
  const paths = pathsOf(canonical.slice(pathStart), MAX_DIRECTORIES[version]);
  const expressions = [];
  for (const host of hosts) {
    for (const path of paths) {
      expressions.push(host + path);
    }
  }
  return expressions;
}

function hostsOf(authority, most) {
  const colon = authority.indexOf(":", authority.startsWith("[") ? authority.indexOf("]") : 0);
  const host = colon < 0 ? authority : authority.slice(0, colon);
  const hosts = colon < 0 ? [host] : [authority, host];
  const registrable = host.startsWith("[") || endsInNumber(host) ? -1 : registrableStart(host);
  const parents = [];
  for (let start = registrable; start > 0 && hosts.length + parents.length < most; ) {
    parents.push(host.slice(start));
    start = host.lastIndexOf(".", start - 2) + 1;
  }
  return [...hosts, ...parents.reverse()];
}

function pathsOf(pathAndQuery, most) {
  const mark = pathAndQuery.indexOf("?");
  const path = mark < 0 ? pathAndQuery : pathAndQuery.slice(0, mark);
  const directories = [];
  for (let end = 1; end > 0 && end < path.length && directories.length < most; ) {
    directories.push(path.slice(0, end));
    end = path.indexOf("/", end) + 1;
  }
  return [...(mark < 0 ? [] : [pathAndQuery]), path, ...directories.reverse()];
}
