// The command `firstseen`.

import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { Base, BaseList, Pack, verifyBlob } from "./lib/blobs.js";
import { expressions } from "./lib/canonical.js";
import {
  FirstseenError,
  InvalidKeyError,
  MalformedError,
  MissingError,
  ONLY_MANIFESTS,
  UnsupportedError,
  UntrustedError,
} from "./lib/errors.js";
import {
  DirectorySource,
  HashKey,
  HttpSource,
  Manifest,
  PublicKey,
  SetFollower,
  Snapshot,
  UrlLists,
  catchUp,
  openLookup,
  openPath,
  readHashKey,
  requireSigned,
  verifySet,
} from "./node.js";

const USAGE = `usage:
  firstseen query PATH [KEY...|-] [--scope SCOPE] [--hash-key-file FILE] [--public-key FILE]... [--set NAME]
      [--blobs PLACE] [--json]
  firstseen match PATH [URL...|TEXT...|-] [--list PATH]... [--allow PATH]... [--scope SCOPE] [--hash-key-file FILE]
      [--set NAME] [--blobs PLACE] [--json]
  firstseen info PATH
  firstseen verify PATH [--public-key FILE]... [--blobs PLACE]
  firstseen apply PATH OUTPUT [--from PATH] [--blobs PLACE]
  firstseen follow URL|DIRECTORY [--set NAME] [--hash-key-file FILE] [--public-key FILE]... [--blobs PLACE]
      [--interval SECONDS] [--once] [--json]

PATH is a directory of snapshots, which stands for its newest manifest, or a manifest in one, or the snapshot of a
shard; for query and match also the URL of a service (its set with --set); lists whose sets have one name are named by
their places; for info and verify also a blob. Without
keys, or with -, they are read from standard input, one a line. FILE of a hash key is 32 hexadecimal digits, or
the word public, the default. verify builds a set from its bases, proves root and count, and reads the packs that are
kept; a signature is checked with --public-key. PLACE is a trusted directory, for a service a URL, of blobs that
it does not have itself; the place that a manifest names is used only if --public-key verifies the manifest. apply
writes the snapshot of each shard into OUTPUT.

The exit status is 0 if all is well, 1 if verify finds something invalid or not signed by a trusted key, 4 if a key or
URL of query or match could not be evaluated, 2 for
anything else that is wrong.
`;

const OPTIONS = {
  scope: { type: "string" },
  "hash-key-file": { type: "string" },
  "public-key": { type: "string", multiple: true, default: [] },
  list: { type: "string", multiple: true, default: [] },
  allow: { type: "string", multiple: true, default: [] },
  set: { type: "string" },
  blobs: { type: "string" },
  from: { type: "string" },
  interval: { type: "string", default: "10" },
  once: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
};

/** The options and the number of arguments of a command. */
const VERBS = {
  query: { run: query, options: ["scope", "hash-key-file", "public-key", "set", "blobs", "json"], most: Infinity },
  match: {
    run: match,
    options: ["list", "allow", "scope", "hash-key-file", "public-key", "set", "blobs", "json"],
    most: Infinity,
  },
  info: { run: info, options: [], most: 1 },
  verify: { run: verify, options: ["public-key", "blobs"], most: 1 },
  apply: { run: apply, options: ["from", "blobs"], least: 2, most: 2 },
  follow: {
    run: follow,
    options: ["set", "hash-key-file", "public-key", "interval", "once", "blobs", "json"],
    most: 1,
  },
};

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

class UsageError extends Error {}

/** The parsed command line: command, arguments and options. */
function parsed(words) {
  const [name, ...rest] = words;
  if (name === undefined || name === "--help" || name === "help") {
    return null;
  }
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (verb === undefined) {
    throw new UsageError(`there is no command '${name}'`);
  }
  const options = Object.fromEntries([...verb.options, "help"].map((option) => [option, OPTIONS[option]]));
  let read;
  try {
    read = parseArgs({ args: rest, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error.message);
  }
  if (read.values.help) {
    return null;
  }
  const places = read.positionals;
  if (places.length < (verb.least ?? 1) || places.length > verb.most) {
    const { least = 1, most } = verb;
    const range = most === least ? least : most === Infinity ? `${least} or more` : `${least} to ${most}`;
    throw new UsageError(`${name} takes ${range} argument${range === 1 ? "" : "s"}, got ${places.length}`);
  }
  return { verb, places, options: read.values };
}

/**
 * Runs a command.
 *
 * @param io `input`, an async iterable of Buffers; `out` and `error`, which accept text or bytes
 * @returns the exit status
 */
export async function main(words, io) {
  let command;
  try {
    command = parsed(words);
  } catch (error) {
    if (!(error instanceof UsageError)) {
      throw error;
    }
    io.error(`${error.message}\n${USAGE}`);
    return 2;
  }
  if (command === null) {
    io.out(USAGE);
    return 0;
  }
  try {
    return (await command.verb.run(command.places, command.options, io)) ?? 0;
  } catch (error) {
    if (!(error instanceof FirstseenError)) {
      throw error;
    }
    io.error(`${command.places[0]}: ${error.message}\n`);
    return 2;
  }
}

/** Returns the hash key in a file; warns if other users can access it. */
function hashKeyOf(options, io) {
  const file = options["hash-key-file"] ?? "public";
  const ofEnvironment = options["hash-key-file"] === undefined ? process.env.FIRSTSEEN_HASH_KEY ?? "" : "";
  if (ofEnvironment !== "") {
    try {
      // Only options accept the word.
      return HashKey.parse(ofEnvironment === "public" ? "" : ofEnvironment.trim());
    } catch (error) {
      throw new UnsupportedError(`FIRSTSEEN_HASH_KEY: ${error.message}`);
    }
  }
  const key = readHashKey(file);
  if (file !== "public" && process.platform !== "win32") {
    const status = statSync(file);
    const isOwn = status.uid === process.geteuid();
    // The group may read a file of a different owner.
    if (status.isFile() && status.mode & (isOwn ? 0o077 : 0o037)) {
      const mode = (status.mode & 0o7777).toString(8).padStart(4, "0");
      io.error(
        `warning: users other than its owner have access to the secret file ${file} (mode ${mode}): ` +
          `chmod ${isOwn ? "600" : "640"} ${file}\n`
      );
    }
  }
  return key;
}

function publicKeysOf(options) {
  return options["public-key"].map((file) => {
    try {
      return PublicKey.parse(readFileSync(file, "latin1"));
    } catch (error) {
      throw new UnsupportedError(`the public key in ${file} cannot be used: ${error.message}`);
    }
  });
}

const isUrl = (place) => /^https?:\/\//i.test(place);

/** Returns the header with the token in the environment, if set. */
function tokenHeader() {
  // The service may have several tokens, one per line; a client sends the first.
  const token = process.env.FIRSTSEEN_HTTP_TOKEN?.trim().split("\n")[0].trim();
  return token ? { authorization: `Bearer ${token}` } : {};
}

/** Returns the source at a place, with the set and the blobs of the options. */
function sourceOf(place, { set = null, blobs = null }) {
  try {
    return isUrl(place) ? new HttpSource(place, { set, blobs, headers: tokenHeader() }) : new DirectorySource(place, { blobs });
  } catch (error) {
    throw new UnsupportedError(error.message);
  }
}

/** Opens a place: returns a name, the parameters of the set, and the lookup. */
async function opened(place, hashKey, options) {
  if (isUrl(place)) {
    const follower = new SetFollower(sourceOf(place, options), { hashKey, publicKeys: publicKeysOf(options) });
    await follower.refresh();
    const { setName, parameters } = follower.manifest;
    return { name: setName, parameters, list: follower };
  }
  const about = openPath(place).opened;
  const { setName, parameters } = about instanceof Snapshot ? about.header : about;
  if (options.set !== undefined && options.set !== setName) {
    throw new UnsupportedError(`set '${options.set}' is not the one in ${place}, which is '${setName}'`);
  }
  return { name: setName, parameters, list: await openLookup(place, hashKey, { blobs: options.blobs, publicKeys: publicKeysOf(options) }) };
}

/** Yields the keys of the command line, or the lines of standard input, as bytes. */
async function* keysOf(words, io) {
  if (words.length > 0 && !(words.length === 1 && words[0] === "-")) {
    for (const word of words) {
      yield Buffer.from(word, "utf8");
    }
    return;
  }
  let rest = Buffer.alloc(0);
  let isFirst = true;
  // The first line may start with a byte order mark.
  const withoutMark = (line) => {
    const isMarked = isFirst && line.indexOf(BYTE_ORDER_MARK) === 0;
    isFirst = false;
    return isMarked ? line.subarray(BYTE_ORDER_MARK.length) : line;
  };
  for await (const chunk of io.input) {
    const bytes = Buffer.concat([rest, chunk]);
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      yield withoutReturn(withoutMark(bytes.subarray(from, end)));
      from = end + 1;
    }
    rest = bytes.subarray(from);
  }
  const last = withoutMark(rest);
  if (last.length > 0) {
    yield withoutReturn(last);
  }
}

/** Removes a CR at the end of a line. */
function withoutReturn(line) {
  return line[line.length - 1] === 13 ? line.subarray(0, -1) : line;
}

/** Calls a function; returns the reason instead if the key has no canonical form. */
function answerOf(ask) {
  try {
    return { answer: ask() };
  } catch (error) {
    if (!(error instanceof InvalidKeyError)) {
      throw error;
    }
    return { reason: error.message };
  }
}

/** Returns the exit status after some keys or URLs. */
function statusOf(invalid, io) {
  if (invalid === 0) {
    return 0;
  }
  io.error(`invalid: ${invalid} could not be evaluated, so whether they are present is unknown\n`);
  return 4;
}

async function query([place, ...words], options, io) {
  const { list } = await opened(place, hashKeyOf(options, io), options);
  let invalid = 0;
  for await (const key of keysOf(words, io)) {
    const { answer, reason } = answerOf(() => list.contains(key, options.scope));
    const word = reason !== undefined ? "invalid" : answer ? "present" : "absent";
    invalid += reason === undefined ? 0 : 1;
    if (options.json) {
      io.out(JSON.stringify({ key: key.toString(), answer: word, reason }) + "\n");
    } else {
      io.out(Buffer.concat([key, Buffer.from(`\t${word}`), reasonField(reason), Buffer.from("\n")]));
    }
  }
  return statusOf(invalid, io);
}

/** Replaces characters that would end a field or line of the output. */
const field = (url) => Buffer.from(url.map((byte) => ([9, 10, 13].includes(byte) ? 32 : byte)));
const reasonField = (reason) => (reason === undefined ? Buffer.of() : Buffer.concat([Buffer.from("\t"), field(Buffer.from(reason))]));

async function match([place, ...words], options, io) {
  const hashKey = hashKeyOf(options, io);
  const places = [place, ...options.list, ...options.allow];
  const twice = places.find((each, i) => places.indexOf(each) < i);
  if (twice !== undefined) {
    throw new UnsupportedError(`${twice} must be given once`);
  }
  // With a service, --set selects the set; other places contain one set.
  const ofPaths = places.some(isUrl) ? { ...options, set: undefined } : options;
  const all = await Promise.all(places.map((each) => opened(each, hashKey, isUrl(each) ? options : ofPaths)));
  if (all[0].parameters.near) {
    return matchTexts(all, words, options, io);
  }
  const hasNames = all.length > 1;
  if (new Set(all.map(({ name }) => name)).size < all.length) {
    all.forEach((one, i) => {
      one.name = places[i];
    });
  }
  const allowFrom = 1 + options.list.length;
  const lists = all.slice(0, allowFrom);
  const asked = new UrlLists(lists, all.slice(allowFrom));
  let invalid = 0;
  for await (const url of keysOf(words, io)) {
    const { answer, reason } = answerOf(() => asked.ask(url, options.scope));
    if (reason !== undefined) {
      invalid++;
      io.out(
        options.json
          ? JSON.stringify({ url: url.toString(), answer: "invalid", reason }) + "\n"
          : Buffer.concat([field(url), Buffer.from("\tinvalid"), reasonField(reason), Buffer.from("\n")])
      );
      continue;
    }
    const word = answer.present ? "present" : "absent";
    if (options.json) {
      const named = (matches) => matches.map(({ list, entry }) => ({ set: list, entry }));
      const count = (version) => expressions(url, version).length;
      const rate = -Math.expm1(
        lists.reduce(
          (sum, { parameters: { canonicaliserVersion, falsePositiveRate } }) =>
            sum + count(canonicaliserVersion) * Math.log1p(-falsePositiveRate),
          0
        )
      );
      const line = {
        url: url.toString(),
        answer: word,
        matches: named(answer.matches),
        allowedBy: named(answer.allowedBy),
        expressions: count(),
        falsePositiveRate: rate,
      };
      io.out(JSON.stringify(line) + "\n");
    } else {
      // The entries that make a URL present, or absent because of an allow set.
      const entries = answer.present || answer.matches.length === 0 ? answer.matches : answer.allowedBy;
      const fields = entries.flatMap(({ list, entry }) => (hasNames ? [entry, list] : [entry]));
      io.out(Buffer.concat([field(url), Buffer.from(["", word, ...fields].join("\t") + "\n")]));
    }
  }
  return statusOf(invalid, io);
}

async function matchTexts(all, words, options, io) {
  const [{ list: texts, parameters }] = all;
  if (all.length > 1) {
    throw new UnsupportedError("--list and --allow need lists of URLs, the set contains texts");
  }
  let invalid = 0;
  for await (const text of keysOf(words, io)) {
    const { answer: equalBands, reason } = answerOf(() => texts.resembles(text, options.scope));
    const answer = reason !== undefined ? "invalid" : equalBands > 0 ? "present" : "absent";
    invalid += reason === undefined ? 0 : 1;
    if (options.json) {
      const bands = Number(/,(\d+)x/.exec(parameters.near)[1]);
      const rest = reason === undefined ? { equalBands, bands } : { reason };
      io.out(JSON.stringify({ text: text.toString(), answer, ...rest }) + "\n");
    } else {
      const count = equalBands > 0 ? `\t${equalBands}` : "";
      io.out(Buffer.concat([field(text), Buffer.from(`\t${answer}${count}`), reasonField(reason), Buffer.from("\n")]));
    }
  }
  return statusOf(invalid, io);
}

const millis = (number) => `${number} ms`;
const named = (reference) => (reference === null ? "none" : `${reference.digest}, ${reference.bytes} bytes`);
const checkOf = (parameters) => `${parameters.hash}, key check ${parameters.keyCheck.toString(16).padStart(16, "0")}`;

function parameterRows({ setName, sequence, windowStartMillis, windowEndMillis, parameters }) {
  return {
    set: setName,
    sequence,
    "window start": millis(windowStartMillis),
    "window end": millis(windowEndMillis),
    "false-positive rate": parameters.falsePositiveRate,
    hash: checkOf(parameters),
    canonicaliser: `${parameters.canonicaliser} ${parameters.canonicaliserVersion}`,
    ...(parameters.strippedParameters === null ? {} : { "stripped parameters": parameters.strippedParameters }),
    ...(parameters.near ? { near: parameters.near } : {}),
  };
}

function rangeRow(count, range) {
  return `${count} of ${range.size}, in ${range.buckets} buckets of ${range.width}`;
}

function snapshotRows(snapshot) {
  const { header } = snapshot;
  return {
    ...parameterRows(header),
    shard: `${header.shard} of ${header.parameters.shards}`,
    keys: header.hashCount,
    values: rangeRow(header.count, header.range),
    "set digest": header.setDigest,
  };
}

function manifestRows(manifest) {
  const { signature, extension } = manifest;
  return {
    ...parameterRows(manifest),
    published: millis(manifest.publishedMillis),
    expires: manifest.expiresMillis === null ? "never" : millis(manifest.expiresMillis),
    shards: manifest.parameters.shards,
    keys: manifest.count,
    root: manifest.root,
    "newest pack": named(manifest.pack),
    "bytes of all packs": manifest.packBytes,
    blobs: manifest.blobs ?? "with the manifest",
    extension: extension === null ? "none" : `${extension.length} bytes`,
    signature: signature === null ? "none" : `of the key ${signature.key}, not checked`,
  };
}

function blobRows(blob) {
  const rows = { kind: blob.kind, set: blob.setName, bytes: blob.bytes };
  if (blob instanceof Base) {
    const { section } = blob;
    return { ...rows, shard: blob.shard, keys: section.hashCount, values: rangeRow(section.count, section.range) };
  }
  const sections = blob.allSections();
  const changes = sections.filter((section) => !section.isWhole);
  const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);
  const bases = blob instanceof BaseList ? blob.shards.map(({ base }) => base).filter((base) => base !== null) : [];
  return {
    ...rows,
    sequence: blob.sequence,
    ...(blob instanceof Pack
      ? {
          "pack before": named(blob.before),
          "kept from": blob.keptFrom,
          "list of bases": named(blob.bases),
          "list and bases": `${blob.basesBytes} bytes`,
          "packs since": `${blob.packsSince} bytes`,
        }
      : {
          shards: blob.shards.length,
          bases: `${bases.length}, ${sum(bases.map((base) => base.bytes))} bytes`,
        }),
    sections: `${sections.length}, ${sum(sections.map((section) => section.bytes))} bytes`,
    "whole sets": sections.length - changes.length,
    "added values": sum(changes.map((section) => section.count)),
    "removed values": sum(changes.map((section) => section.removed)),
  };
}

function info([place], options, io) {
  const { opened: read } = openPath(place);
  const rows =
    read instanceof Snapshot ? snapshotRows(read) : read instanceof Manifest ? manifestRows(read) : blobRows(read);
  for (const [name, value] of Object.entries(rows)) {
    io.out(`${name.padEnd(20)} ${value}\n`);
  }
}

async function verify([place], options, io) {
  const publicKeys = publicKeysOf(options);
  let checked = "";
  let read = null;
  try {
    const { opened, source } = openPath(place, { blobs: options.blobs });
    read = opened;
    if (publicKeys.length > 0 && !(read instanceof Manifest)) {
      throw new UnsupportedError(ONLY_MANIFESTS);
    }
    if (read instanceof Manifest) {
      if (publicKeys.length > 0) {
        await requireSigned(read, publicKeys);
        checked = `, signed by the key ${read.signature.key}`;
      } else if (read.signature !== null) {
        checked = ", its signature is not checked";
      }
      await verifySet(read, source);
    } else if (read instanceof Snapshot) {
      read.verify();
    } else {
      verifyBlob(read);
    }
  } catch (error) {
    const isElsewhere = read instanceof Manifest && read.blobs !== null && publicKeys.length + (options.blobs ?? "").length === 0;
    const isMissingBlob = read !== null && !isElsewhere && error instanceof MissingError;
    if (!(isMissingBlob || error instanceof MalformedError || error instanceof UntrustedError)) {
      throw error;
    }
    io.out(`${place}: invalid: ${error.message}\n`);
    return 1;
  }
  io.out(`${place}: valid${checked}\n`);
  return 0;
}

/** Opens a manifest and the source of its blobs. */
function openedSet(place, { blobs }) {
  const { opened: manifest, source } = openPath(place, { blobs });
  if (!(manifest instanceof Manifest)) {
    throw new UnsupportedError("this is neither a manifest nor a directory of snapshots");
  }
  return { manifest, source };
}

async function apply([place, output], options, io) {
  const { manifest, source } = openedSet(place, options);
  let held = null;
  if (options.from !== undefined) {
    const from = openedSet(options.from, options);
    if (!from.manifest.hasParametersOf(manifest)) {
      throw new UnsupportedError("the manifests must be of one set and have the same parameters");
    }
    held = (await catchUp(from.manifest, null, from.source)).set;
  }
  const { set, way, bytes } = await catchUp(manifest, held, source);
  let written = 0;
  try {
    mkdirSync(output, { recursive: true });
    for (const snapshot of set.snapshots) {
      if (snapshot !== null) {
        const file = snapshot.toBytes();
        written += file.length;
        writeFileSync(path.join(output, `${snapshot.header.shard}.snapshot`), file);
      }
    }
  } catch (error) {
    throw error.code === undefined ? error : new FirstseenError(`cannot write to ${output}: ${error.code}`);
  }
  io.out(`${output}: ${written} bytes, by ${way} of ${bytes} bytes\n`);
}

async function follow([place], options, io) {
  const seconds = Number(options.interval);
  if (!(seconds > 0 && seconds <= 86400)) {
    throw new UnsupportedError(`the interval must be above 0, at most 86400 seconds, got '${options.interval}'`);
  }
  const follower = new SetFollower(sourceOf(place, options), {
    hashKey: hashKeyOf(options, io),
    publicKeys: publicKeysOf(options),
    set: options.set ?? null,
  });
  const tell = ({ manifest, way, bytes, refusal }) => {
    const { setName, sequence, windowEndMillis, count, root } = manifest;
    if (options.json) {
      const line = {
        set: setName,
        sequence: Number(sequence),
        windowEndMillis: Number(windowEndMillis),
        count,
        root,
        way,
        bytes,
        refusal: refusal ?? undefined,
      };
      io.out(JSON.stringify(line) + "\n");
    } else {
      io.out(`${setName}\tsequence ${sequence}\t${count} keys\tby ${way}, ${bytes} bytes\n`);
    }
  };
  if (options.once) {
    tell(await follower.refresh());
    return 0;
  }
  return new Promise(() => {
    follower.start({
      intervalMillis: 1000 * seconds,
      onUpdate: tell,
      onTrouble: (error) => io.error(`${place}: ${error.message}\n`),
    });
  });
}
