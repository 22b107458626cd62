"""What the package refuses, and why: one class of error for each reason."""


class FirstseenError(Exception):
    """Something was refused; the message is one sentence."""


class InvalidKeyError(FirstseenError, ValueError):
    """The key has no canonical form, so it cannot be looked up."""


class MalformedError(FirstseenError):
    """The bytes violate every version of the format: they are damaged or forged."""


class UnsupportedError(FirstseenError):
    """The bytes may be valid, but this reader cannot read them, or cannot answer from them."""


class OutOfReachError(UnsupportedError):
    """A blob is in a place of a kind that this reader does not know."""


class UntrustedError(FirstseenError):
    """No trusted key has signed the manifest."""


class OutdatedError(FirstseenError):
    """The manifest is older than the one that answers, or contradicts it."""


class MissingBlobError(FirstseenError):
    """A blob is not where it should be."""


class UnreachableError(FirstseenError):
    """The source cannot be read now."""


class NoSnapshotError(FirstseenError):
    """A question came before the first snapshot."""
