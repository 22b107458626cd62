/** The base class of all errors. */
export class FirstseenError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The bytes violate the format. */
export class MalformedError extends FirstseenError {}

/** The bytes may be valid, but this reader does not support them. */
export class UnsupportedError extends FirstseenError {}

/** Message for public keys with a snapshot or a blob. */
export const ONLY_MANIFESTS = "only manifests have signatures";

/** A blob is in a place that this reader does not support. */
export class OutOfReachError extends UnsupportedError {}

/** None of the trusted keys signed the manifest. */
export class UntrustedError extends FirstseenError {}

/** A key has no canonical form and cannot be looked up. */
export class InvalidKeyError extends FirstseenError {}

/** The manifest is older than the active one, or contradicts it. */
export class OutdatedError extends FirstseenError {}

/** A blob or a manifest does not exist. */
export class MissingError extends FirstseenError {}

/** The source is unreadable, for example because the service does not respond. */
export class UnreachableError extends FirstseenError {}

/** There is no set yet. */
export class NotReadyError extends FirstseenError {}

export function require(holds, sentence) {
  if (!holds) {
    throw new MalformedError(typeof sentence === "function" ? sentence() : sentence);
  }
}

const MAX_QUOTED = 100;

/** Returns user text for a message, shortened and on one line. */
export function quoted(text) {
  const shown = text.length <= MAX_QUOTED ? text : text.slice(0, MAX_QUOTED) + "…";
  return "'" + shown.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "\ufffd") + "'";
}
