// Sets that the page has downloaded, by which it answers without the service.

import { HashKey, HttpSource, Manifest, SetFollower, canonical, expressions } from "./firstseen/index.js";

const REFRESH_MILLIS = 2000;
const PUBLIC = HashKey.public();

export class LocalSets {
  #sets = new Map();
  #allowSets = [];
  #changed;
  #headers = {};

  /** @param changed is called when there is something else to show */
  constructor(changed) {
    this.#changed = changed;
  }

  /** Says what goes with each request, also of the sets that were downloaded already. */
  useHeaders(headers) {
    this.#headers = headers;
  }

  #source(name) {
    return new HttpSource(".", { set: name, headers: () => this.#headers });
  }

  /**
   * Says that the service has a set of about so many bytes. Only sets under the public hash key can be asked here: for
   * others the page would need the secret.
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
      // Asked again with the next status.
      this.#sets.delete(name);
    }
    this.#changed();
  }

  /**
   * Says which allow sets the service has. The service overrides lists by them, which a page that has a list alone does
   * not, so lists that were downloaded are let go of.
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

  /** What there is to show of a set; null if the page cannot answer for it. */
  stateOf(name) {
    const set = this.#sets.get(name);
    if (set === undefined || !set.isPublic) return null;
    const { bytes, follower, update } = set;
    const { manifest = null, trouble = null } = follower ?? {};
    const allowSets = this.#isOverridden(set) ? this.#allowSets : [];
    return { bytes, isOn: follower !== null, allowSets, manifest, update, trouble };
  }

  /** Downloads a set and keeps it up to date, or lets go of it. */
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

  /** Whether the page can answer for a set. */
  answers(name) {
    return (this.#sets.get(name)?.follower?.set ?? null) !== null;
  }

  isStale(name) {
    return this.#sets.get(name).follower.isStale();
  }

  /** The answer for a key; of a list of URLs with the entry that matches. */
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
