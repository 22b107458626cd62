package firstseen

import (
	"errors"
	"fmt"

	"firstseen.io/firstseen/internal/canonical"
)

// The kinds of errors, for [errors.Is].
var (
	// ErrInvalidKey is returned for a key or URL without a canonical form, or a scope that is too long.
	ErrInvalidKey = canonical.ErrInvalid
	// ErrMalformed is returned for bytes that violate the format: they are damaged or forged.
	ErrMalformed = errors.New("malformed")
	// ErrUnsupported is returned for bytes that may be valid, but that this package does not support, such
	// as sets with a different hash key or an unknown canonicaliser.
	ErrUnsupported = errors.New("unsupported")
	// ErrUntrusted is returned for a manifest that no trusted key has signed.
	ErrUntrusted = errors.New("untrusted")
	// ErrOutdated is returned for a manifest that is older than the active one, or contradicts it.
	ErrOutdated = errors.New("outdated")
	// ErrMissing is returned for a blob that does not exist at its place.
	ErrMissing = errors.New("missing")
	// ErrUnreachable is returned if a source cannot be read.
	ErrUnreachable = errors.New("unreachable")
	// ErrNotReady is returned by queries before the first set, and by a source without a manifest.
	ErrNotReady = errors.New("no snapshot")
	// ErrStale is returned by queries of a stale set if [Options.RefuseStale] is set.
	ErrStale = errors.New("stale")
)

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}
