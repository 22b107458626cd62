/** What all errors of this package are. */
export class FirstseenError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The bytes break a rule of every version of the format. */
export class MalformedError extends FirstseenError {}

/** The bytes may be valid, but this reader cannot read them or cannot answer by them. */
export class UnsupportedError extends FirstseenError {}

/** Why keys are of no use with a snapshot or a blob. */
export const ONLY_MANIFESTS = "only manifests have signatures";

/** A blob is in a place of a kind that this reader does not know. */
export class OutOfReachError extends UnsupportedError {}

/** None of the trusted keys signed the manifest. */
export class UntrustedError extends FirstseenError {}

/** A key has no canonical form, so no set holds it. */
export class InvalidKeyError extends FirstseenError {}

/** What is published is older than what answers, or contradicts it. */
export class OutdatedError extends FirstseenError {}

/** A blob, or a manifest, is not where it should be. */
export class MissingError extends FirstseenError {}

/** The source cannot be read, for instance because the service does not answer. */
export class UnreachableError extends FirstseenError {}

/** There is no set yet that could answer. */
export class NotReadyError extends FirstseenError {}

export function require(holds, sentence) {
  if (!holds) {
    throw new MalformedError(typeof sentence === "function" ? sentence() : sentence);
  }
}

const MAX_QUOTED = 100;

/** A text of a user in a message: short, on one line. */
export function quoted(text) {
  const shown = text.length <= MAX_QUOTED ? text : text.slice(0, MAX_QUOTED) + "…";
  return "'" + shown.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "\ufffd") + "'";
}
