// Package firstseen reads the sets that Firstseen publishes: it verifies and follows them, looks up keys
// and matches URLs.
//
//	spam, err := firstseen.Follow(ctx, "https://lists.example/spam", firstseen.Options{CacheDir: "cache-of-spam"})
//	…
//	if err := spam.Wait(ctx, 0); err != nil {
//		…
//	}
//	entry, listed, err := spam.Match("https://www.s2-citi.com/login")
//
// [Open] reads the set in a directory or a file once. [Follow] follows a directory, or the same files on a
// web server, or the HTTP service of Firstseen. [Lists] queries several lists and allow sets at once.
//
// A set that contains a key is always reported to contain it. Any other key is reported with at most the
// false-positive rate of the set. A query that cannot be evaluated returns an error, which must not be
// taken for an absent key: errors are [ErrInvalidKey] for a key without a canonical form, and
// [ErrNotReady] or [ErrStale] for a follower without a usable set.
package firstseen
