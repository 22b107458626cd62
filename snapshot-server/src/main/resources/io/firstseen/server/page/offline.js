// Sets that the page has downloaded, which it can query without the service.

import { HashKey, HttpSource, Manifest, SetFollower, canonical, expressions } from "./firstseen/index.js";

const REFRESH_MILLIS = 2000;
const PUBLIC = HashKey.public();

export class LocalSets {
  #sets = new Map();
  #allowSets = [];
  #changed;
  #headers = {};

  /** @param changed is called when the displayed state changes */
  constructor(changed) {
    this.#changed = changed;
  }

  /** Sets the headers of each request, also for sets that are already downloaded. */
  useHeaders(headers) {
    this.#headers = headers;
  }

  #source(name) {
    return new HttpSource(".", { set: name, headers: () => this.#headers });
  }

  /**
   * Adds a set of the service with its approximate size in bytes. Only sets with the public hash key can be queried
   * locally; for others the page would need the secret key.
   */
  async know(name, bytes) {
    const known = this.#sets.get(name);
    if (known !== undefined) {
      known.bytes = bytes;
      return;
    }
    const set = { bytes, isPublic: false, isList: false, follower: null, update: null };
    this.#sets.set(name, set);
    try {
      const manifest = Manifest.read(await this.#source(name).manifest());
      set.isPublic = PUBLIC.fits(manifest.parameters);
      set.isList = manifest.parameters.canonicaliser === "url-expression";
    } catch {
      // Requested again with the next status.
      this.#sets.delete(name);
    }
    this.#changed();
  }

  /**
   * Sets the allow sets of the service. The service overrides lists with them, but a page with only a list cannot, so
   * downloaded lists are dropped.
   */
  knowAllowSets(names) {
    this.#allowSets = names;
    for (const set of this.#sets.values()) {
      if (this.#isOverridden(set)) {
        set.follower?.stop();
        set.follower = null;
      }
    }
  }

  #isOverridden(set) {
    return set.isList && this.#allowSets.length > 0;
  }

  /** Returns the displayed state of a set; null if the page cannot query it locally. */
  stateOf(name) {
    const set = this.#sets.get(name);
    if (set === undefined || !set.isPublic) return null;
    const { bytes, follower, update } = set;
    const { manifest = null, trouble = null } = follower ?? {};
    const allowSets = this.#isOverridden(set) ? this.#allowSets : [];
    return { bytes, isOn: follower !== null, allowSets, manifest, update, trouble };
  }

  /** Downloads a set and keeps it up to date, or drops it. */
  toggle(name) {
    const set = this.#sets.get(name);
    if (this.#isOverridden(set)) return;
    if (set.follower !== null) {
      set.follower.stop();
      set.follower = null;
    } else {
      set.follower = new SetFollower(this.#source(name), { hashKey: PUBLIC });
      set.follower.start({
        intervalMillis: REFRESH_MILLIS,
        onUpdate: (update) => {
          set.update = update;
          this.#changed();
        },
        onTrouble: () => this.#changed(),
      });
    }
    this.#changed();
  }

  /** Returns whether the page can query a set locally. */
  answers(name) {
    return (this.#sets.get(name)?.follower?.set ?? null) !== null;
  }

  isStale(name) {
    return this.#sets.get(name).follower.isStale();
  }

  /** Returns the result for a key; for a list of URLs with the matching entry. */
  ask(name, key, scope) {
    const { follower } = this.#sets.get(name);
    const { manifest } = follower;
    const { canonicaliser, canonicaliserVersion, strippedParameters: strip } = manifest.parameters;
    const isList = canonicaliser === "url-expression";
    const entry = isList ? follower.match(key, scope) : null;
    const present = isList ? entry !== null : follower.contains(key, scope);
    const rule = `${canonicaliser}-${canonicaliserVersion}`;
    const form = isList ? expressions(key)[0] : new TextDecoder().decode(canonical(rule, key, { strip }));
    return { present, entry, manifest, canonical: form };
  }
}
