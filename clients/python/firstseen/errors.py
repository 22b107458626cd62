"""Errors of the package, one class per reason."""


class FirstseenError(Exception):
    """Base class of all errors."""


class InvalidKeyError(FirstseenError, ValueError):
    """The key has no canonical form and cannot be looked up."""


class MalformedError(FirstseenError):
    """The bytes violate the format: they are damaged or forged."""


class UnsupportedError(FirstseenError):
    """The bytes may be valid, but this reader does not support them."""


class OutOfReachError(UnsupportedError):
    """A blob is in a place that this reader does not support."""


class UntrustedError(FirstseenError):
    """No trusted key has signed the manifest."""


class OutdatedError(FirstseenError):
    """The manifest is older than the active one, or contradicts it."""


class MissingBlobError(FirstseenError):
    """A blob does not exist at its place."""


class UnreachableError(FirstseenError):
    """The source is unreachable."""


class NoSnapshotError(FirstseenError):
    """A query was made before the first snapshot."""
