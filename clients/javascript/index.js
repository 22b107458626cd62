// The reader without Node dependencies, for browsers and other runtimes.

export { canonical, expressions, CANONICALISERS } from "./lib/canonical.js";
export {
  FirstseenError,
  InvalidKeyError,
  MalformedError,
  MissingError,
  NotReadyError,
  OutOfReachError,
  OutdatedError,
  UnreachableError,
  UnsupportedError,
  UntrustedError,
} from "./lib/errors.js";
export { HttpSource, SetFollower } from "./lib/follow.js";
export { HashKey } from "./lib/hash.js";
export { Lookup, UrlLists } from "./lib/lookup.js";
export { Manifest, PublicKey, requireSigned, useCrypto } from "./lib/manifest.js";
export { SnapshotSet, catchUp, verifySet } from "./lib/set.js";
export { Snapshot } from "./lib/snapshot.js";
export { PUBLIC_SUFFIX_LIST, registrableDomain } from "./lib/suffixes.js";
