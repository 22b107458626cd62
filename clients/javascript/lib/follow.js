// Follows a set: docs/http-api.md#manifest-and-blobs.

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
/** For so many bytes a reply has as long again. */
const STEP_BYTES = 1 << 20;
/** What a request costs beside the bytes of its blob. */
const REQUEST_BYTES = 512;
/** A service may publish while it is asked. */
const ATTEMPTS = 3;

/** The body of a reply; tells `onPart` after each part how many bytes there are; refuses one that is longer than it may be. */
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

/** The service that `./firstseen serve` is, as a source of manifests and blobs. */
export class HttpSource {
  #base;
  #set;
  #fetch;
  #timeoutMillis;
  #blobs;
  #headers;

  /**
   * @param url of the service
   * @param options `set`, where the service has several; `fetch`, if not the global one; `timeoutMillis`, how
   *     long a reply may say nothing, and how long each MiB of it may take; `blobs`, a trusted http or https URL that has
   *     the blobs which the service does not have; `headers`, an object or a function that gives one, which go with
   *     each request to the service and nowhere else: a reply that leads elsewhere is then refused
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
    // A browser's fetch must be called on its window.
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

  /** The name of the set that is asked for; null for the only one of the service. */
  get setName() {
    return this.#set;
  }

  async #get(url, most, headers = this.#headers()) {
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
        headers: { accept: "application/octet-stream", ...headers },
        // Otherwise the headers would go there as well.
        redirect: isSecret ? "manual" : "follow",
        signal: controller.signal,
      });
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
      const Kind = reply.status === 404 ? MissingError : UnreachableError;
      throw new Kind(`${url} answers ${reply.status}: ${sentenceOf(body)}`);
    }
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

  /** The bytes of the newest manifest. */
  manifest() {
    return this.#get(this.#manifestUrl(false), MAX_MANIFEST_BYTES);
  }

  /** The bytes of a manifest of the same set by bases that the service has. */
  manifestOfBases() {
    return this.#get(this.#manifestUrl(true), MAX_MANIFEST_BYTES);
  }

  /** The bytes of a blob: from the service, from `blobs`, or from where a manifest that is verified says that it is. */
  async blob({ digest, bytes }, manifest) {
    try {
      return await this.#get(new URL("v1/blobs/" + digest, this.#base), bytes);
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

/** Keeps a set up to date. Whatever goes wrong, the last good set goes on answering. */
export class SetFollower {
  #source;
  #hashKey;
  #publicKeys;
  #setName;
  #set = null;
  #lookup = null;
  // The set as it was loaded: its manifest may be one of bases that the service made.
  #loaded = null;
  #running = null;
  #timer = null;

  /**
   * @param source an HttpSource, or another one
   * @param options `hashKey`, the public one if not given; `publicKeys`, of which one must have signed every manifest;
   *     `set`, its name, where the source does not say it
   */
  constructor(source, { hashKey = HashKey.public(), publicKeys = [], set = source.setName ?? null } = {}) {
    this.#source = source;
    this.#hashKey = hashKey;
    this.#publicKeys = [...publicKeys];
    this.#setName = set;
    /** The newest problem, an error; null if the last look went well. */
    this.trouble = null;
  }

  /** The set that answers; null before the first one. */
  get set() {
    return this.#set;
  }

  /** The manifest of the set that answers; null before the first one. */
  get manifest() {
    return this.#set?.manifest ?? null;
  }

  /** Whether the manifest says that its set should no longer be used. */
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

  /**
   * Looks once whether there is a newer set, and loads it.
   *
   * @returns what became of it, or null if there was nothing newer
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

  /** Reads a manifest; refuses it if it is of another set, not signed, or of another hash key. */
  async #trusted(bytes) {
    const manifest = Manifest.read(bytes);
    const name = this.#setName ?? this.manifest?.setName ?? manifest.setName;
    require(manifest.setName === name, () => `the manifest is of the set '${manifest.setName}', not of '${name}'`);
    if (this.#publicKeys.length > 0) {
      await requireSigned(manifest, this.#publicKeys);
    }
    // Refuses another hash key before anything is loaded.
    new Lookup(manifest.parameters, [], this.#hashKey);
    return manifest;
  }

  /** Whether a manifest is newer than the one that answers; refuses one that is older. */
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
    // The service follows a topic, and so has no blobs of the publisher.
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
   * Looks at once and then again and again.
   *
   * @param options `intervalMillis` between two looks; `onUpdate`, which takes what refresh returns; `onTrouble`, which
   *     takes an error, and takes the same one only once in a row
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

  /** Ends what start began. The set goes on answering. */
  stop() {
    clearTimeout(this.#timer?.timeout);
    this.#timer = null;
  }
}
