// Follower of a set: docs/http-api.md#manifest-and-blobs.

import { concat, equalBytes } from "./bytes.js";
import {
  FirstseenError,
  MalformedError,
  MissingError,
  NotReadyError,
  OutdatedError,
  UnreachableError,
  require,
} from "./errors.js";
import { HashKey } from "./hash.js";
import { Lookup } from "./lookup.js";
import { Manifest, missingBlob, requireSigned, trustedBlobs } from "./manifest.js";
import { SnapshotSet, catchUp } from "./set.js";

const DEFAULT_TIMEOUT_MILLIS = 30_000;
const DEFAULT_INTERVAL_MILLIS = 10_000;
const MAX_MANIFEST_BYTES = 16_384;
/** A reply gets one more timeout per this number of bytes. */
const STEP_BYTES = 1 << 20;
/** The cost of a request in bytes, in addition to the length of its blob. */
const REQUEST_BYTES = 512;
/** The service may publish between two requests. */
const ATTEMPTS = 3;

/** Reads the body of a reply; passes the received bytes to `onPart`; rejects a body above the limit. */
async function bodyOf(reply, most, onPart) {
  const parts = [];
  let length = 0;
  for (const reader = reply.body?.getReader(); reader !== undefined; ) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    length += value.length;
    onPart(length);
    if (length > most) {
      await reader.cancel();
      throw new MalformedError(`${reply.url} must have at most ${most} bytes`);
    }
    parts.push(value);
  }
  return concat(parts);
}

// The paths of the blobs of a service, and of files on a web server, are below these.
const SERVICE = "v1/";
const FILES = "";

/**
 * The HTTP service of `./firstseen serve`, or a directory of `./firstseen snapshot publish` on a web server, as a source
 * of manifests and blobs.
 */
export class HttpSource {
  #base;
  #set;
  #fetch;
  #timeoutMillis;
  #blobs;
  #headers;
  // Null until a manifest was read.
  #place = null;
  // The newest manifest and its entity tag, for conditional requests. Browsers send them themselves for their cache, and
  // other origins may not allow the header.
  #newest = { etag: null, bytes: null };
  #isBrowser = globalThis.location !== undefined;

  /**
   * @param url of the service, or of the directory
   * @param options `set`, if the service has several; `fetch` (default: the global one); `timeoutMillis`, the limit of
   *     a pause in a reply, and of the duration of each MiB; `blobs`, a trusted http or https URL with blobs that the
   *     service does not have; `headers`, an object or a function that returns one, which are sent with each request to
   *     the service only: redirects are then rejected
   */
  constructor(
    url,
    { set = null, fetch = globalThis.fetch, timeoutMillis = DEFAULT_TIMEOUT_MILLIS, blobs = null, headers = {} } = {}
  ) {
    this.#base = new URL(url, globalThis.location?.href);
    if (!this.#base.pathname.endsWith("/")) {
      this.#base.pathname += "/";
    }
    this.#set = set;
    // A browser requires fetch to be called on its window.
    this.#fetch = (...all) => fetch(...all);
    this.#timeoutMillis = timeoutMillis;
    const fixed = { ...headers };
    this.#headers = typeof headers === "function" ? headers : () => fixed;
    this.#blobs = blobs === null ? null : new URL(blobs, this.#base).href;
    if (this.#blobs !== null && !isHttp(this.#blobs)) {
      throw new RangeError(`blobs must be an http or https URL, got '${blobs}'`);
    }
    this.requestBytes = REQUEST_BYTES;
  }

  /** The name of the set; null for the only set of the service. */
  get setName() {
    return this.#set;
  }

  async #get(url, most, headers = this.#headers(), newest = { etag: null }) {
    const isSecret = Object.keys(headers).length > 0;
    const controller = new AbortController();
    const silence = this.#timeoutMillis;
    const began = performance.now();
    let timer;
    const waitFor = (length) => {
      clearTimeout(timer);
      const allowed = silence * (1 + Math.floor(length / STEP_BYTES));
      const left = began + allowed - performance.now();
      const why = left < silence && length > 0 ? `only ${length} bytes came in ${allowed} ms` : `nothing came for ${silence} ms`;
      timer = setTimeout(() => controller.abort(new Error(why)), Math.max(0, Math.min(silence, left)));
    };
    waitFor(0);
    let reply;
    let body;
    try {
      reply = await this.#fetch(url, {
        headers: {
          accept: "application/octet-stream",
          ...(newest.etag === null ? {} : { "if-none-match": newest.etag }),
          ...headers,
        },
        // Otherwise fetch would also send the headers there.
        redirect: isSecret ? "manual" : "follow",
        signal: controller.signal,
      });
      if (reply.status === 304 && newest.etag !== null) {
        return newest.bytes;
      }
      if (reply.type === "opaqueredirect" || (reply.status >= 300 && reply.status < 400)) {
        await reply.body?.cancel();
        throw new UnreachableError(`${url} leads to another address, to which no headers are sent: give that address`);
      }
      body = await bodyOf(reply, reply.ok ? most : MAX_MANIFEST_BYTES, waitFor);
    } catch (error) {
      if (error instanceof FirstseenError) {
        throw error;
      }
      throw new UnreachableError(`${url} does not answer: ${error.cause?.message ?? error.message}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
    if (!reply.ok) {
      const Kind = [403, 404, 410].includes(reply.status) ? MissingError : UnreachableError;
      throw new Kind(`${url} answers ${reply.status}: ${sentenceOf(body)}`);
    }
    newest.bytes = body;
    newest.etag = this.#isBrowser ? null : reply.headers.get("etag");
    return body;
  }

  #manifestUrl(isOfBases) {
    const url = new URL("v1/manifest", this.#base);
    if (this.#set !== null) {
      url.searchParams.set("set", this.#set);
    }
    if (isOfBases) {
      url.searchParams.set("bases", "true");
    }
    return url;
  }

  async #manifestAt(place) {
    const url = place === SERVICE ? this.#manifestUrl(false) : new URL("manifest.bin", this.#base);
    try {
      const bytes = await this.#get(url, MAX_MANIFEST_BYTES, this.#headers(), this.#newest);
      this.#place = place;
      return bytes;
    } catch (error) {
      if (error instanceof MissingError) {
        this.#place = null;
        this.#newest = { etag: null, bytes: null };
      }
      throw error;
    }
  }

  /** Returns the bytes of the newest manifest. */
  async manifest() {
    if (this.#place !== null) {
      return this.#manifestAt(this.#place);
    }
    try {
      return await this.#manifestAt(SERVICE);
    } catch (missing) {
      if (!(missing instanceof MissingError)) {
        throw missing;
      }
      try {
        return await this.#manifestAt(FILES);
      } catch (error) {
        throw error instanceof MissingError ? missing : error;
      }
    }
  }

  /** Returns a manifest of the same set with bases that the service has. */
  manifestOfBases() {
    if (this.#place === FILES) {
      return this.manifest();
    }
    return this.#get(this.#manifestUrl(true), MAX_MANIFEST_BYTES);
  }

  /** Returns the bytes of a blob: from the service, from `blobs`, or from the place in a verified manifest. */
  async blob({ digest, bytes }, manifest) {
    try {
      return await this.#get(new URL(`${this.#place ?? SERVICE}blobs/${digest}`, this.#base), bytes);
    } catch (error) {
      const place = this.#blobs ?? trustedBlobs(manifest);
      if (!(error instanceof MissingError)) {
        throw error;
      }
      if (place === null || !isHttp(place)) {
        throw missingBlob(error, manifest);
      }
      return this.#get(new URL(place + (place.endsWith("/") ? "" : "/") + digest), bytes, {});
    }
  }
}

function isHttp(place) {
  return /^https?:/i.test(place);
}

function sentenceOf(body) {
  try {
    return String(JSON.parse(new TextDecoder().decode(body)).error);
  } catch {
    return "no reason is given";
  }
}

/** Keeps a set up to date. The last valid set stays active after any error. */
export class SetFollower {
  #source;
  #hashKey;
  #publicKeys;
  #setName;
  #set = null;
  #lookup = null;
  // The set as loaded: its manifest may refer to bases that the service has built.
  #loaded = null;
  #running = null;
  #timer = null;

  /**
   * @param source an HttpSource or another source
   * @param options `hashKey` (default: the public key); `publicKeys`, one of which must have signed every manifest;
   *     `set`, its name, if the source does not name it
   */
  constructor(source, { hashKey = HashKey.public(), publicKeys = [], set = source.setName ?? null } = {}) {
    this.#source = source;
    this.#hashKey = hashKey;
    this.#publicKeys = [...publicKeys];
    this.#setName = set;
    /** The newest problem, an error; null if the last poll succeeded. */
    this.trouble = null;
  }

  /** The active set; null before the first one. */
  get set() {
    return this.#set;
  }

  /** The manifest of the active set; null before the first one. */
  get manifest() {
    return this.#set?.manifest ?? null;
  }

  /** Returns whether the manifest has expired. */
  isStale(nowMillis = Date.now()) {
    return this.manifest !== null && this.manifest.isExpired(nowMillis);
  }

  #answering() {
    if (this.#lookup === null) {
      throw new NotReadyError(`there is no set yet${this.trouble === null ? "" : ": " + this.trouble.message}`);
    }
    return this.#lookup;
  }

  /** See Lookup. */
  contains(key, scope) {
    return this.#answering().contains(key, scope);
  }

  /** See Lookup. */
  containsAll(keys, scope) {
    return this.#answering().containsAll(keys, scope);
  }

  /** See Lookup. */
  match(url, scope) {
    return this.#answering().match(url, scope);
  }

  /** See Lookup. */
  matchAll(urls, scope) {
    return this.#answering().matchAll(urls, scope);
  }

  /** See Lookup. */
  resembles(text, scope) {
    return this.#answering().resembles(text, scope);
  }

  /**
   * Polls once for a newer set and loads it.
   *
   * @returns the update, or null without a newer set
   */
  refresh() {
    this.#running ??= this.#refresh().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #refresh() {
    try {
      const update = await this.#look();
      this.trouble = null;
      return update;
    } catch (error) {
      this.trouble = error;
      throw error;
    }
  }

  async #look() {
    for (let attempt = 1; ; attempt++) {
      const bytes = await this.#source.manifest();
      if (this.manifest !== null && equalBytes(bytes, this.manifest.bytes)) {
        return null;
      }
      const manifest = await this.#trusted(bytes);
      if (this.manifest !== null && !this.#isNewer(manifest)) {
        return null;
      }
      try {
        return this.#answerBy(manifest, await this.#load(manifest));
      } catch (error) {
        if (attempt === ATTEMPTS || !(error instanceof MissingError || error instanceof OutdatedError)) {
          throw error;
        }
      }
    }
  }

  /** Reads a manifest; rejects a different set, a missing signature, or a different hash key. */
  async #trusted(bytes) {
    const manifest = Manifest.read(bytes);
    const name = this.#setName ?? this.manifest?.setName ?? manifest.setName;
    require(manifest.setName === name, () => `the manifest is of the set '${manifest.setName}', not of '${name}'`);
    if (this.#publicKeys.length > 0) {
      await requireSigned(manifest, this.#publicKeys);
    }
    // Rejects a different hash key before loading anything.
    new Lookup(manifest.parameters, [], this.#hashKey);
    return manifest;
  }

  /** Returns whether a manifest is newer than the active one; rejects an older one. */
  #isNewer(manifest) {
    const held = this.manifest;
    if (manifest.sequence > held.sequence) {
      return true;
    }
    if (manifest.sequence < held.sequence) {
      throw new OutdatedError(
        `the manifest of sequence ${manifest.sequence} is older than that of sequence ${held.sequence}, which answers`
      );
    }
    if (!manifest.isSameAs(held)) {
      throw new OutdatedError(`the manifest of sequence ${manifest.sequence} is another one than that which answers`);
    }
    return manifest.publishedMillis >= held.publishedMillis;
  }

  async #load(manifest) {
    try {
      return await catchUp(manifest, this.#loaded, this.#source);
    } catch (error) {
      if (!(error instanceof MissingError) || this.#source.manifestOfBases === undefined) {
        throw error;
      }
    }
    // The service follows a topic and does not have the blobs of the publisher.
    const ofBases = Manifest.read(await this.#source.manifestOfBases());
    if (!ofBases.isSameAs(manifest)) {
      throw new OutdatedError(`the service has gone on from sequence ${manifest.sequence} to ${ofBases.sequence}`);
    }
    return catchUp(ofBases, this.#loaded, this.#source);
  }

  #answerBy(manifest, { set, ...rest }) {
    this.#loaded = set;
    this.#set = set.manifest === manifest ? set : new SnapshotSet(manifest, set.snapshots);
    this.#lookup = this.#set.lookup(this.#hashKey);
    return { ...rest, manifest };
  }

  /**
   * Polls immediately and then periodically.
   *
   * @param options `intervalMillis` between two polls; `onUpdate`, called with the result of refresh; `onTrouble`,
   *     called with an error, once for consecutive equal errors
   */
  start({ intervalMillis = DEFAULT_INTERVAL_MILLIS, onUpdate = () => {}, onTrouble = () => {} } = {}) {
    this.stop();
    const turn = {};
    this.#timer = turn;
    let told = null;
    const look = async () => {
      try {
        const update = await this.refresh();
        told = null;
        if (update !== null && this.#timer === turn) {
          onUpdate(update);
        }
      } catch (error) {
        if (this.#timer === turn && error.message !== told) {
          told = error.message;
          onTrouble(error);
        }
      }
      if (this.#timer === turn) {
        turn.timeout = setTimeout(look, intervalMillis);
      }
    };
    look();
  }

  /** Stops polling. The set stays active. */
  stop() {
    clearTimeout(this.#timer?.timeout);
    this.#timer = null;
  }
}
