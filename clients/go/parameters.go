package firstseen

import (
	"math/big"
	"math/bits"

	"firstseen.io/firstseen/internal/canonical"
)

const maxShards = 65_536

// Parameters map keys to hashes, and hashes to values. Packs require equal parameters.
type Parameters struct {
	// HashAlgorithm is 1 for SipHash-2-4 and 2 for XXH3.
	HashAlgorithm uint8
	// KeyCheck identifies the hash key.
	KeyCheck uint64
	// CanonicaliserCode and CanonicaliserVersion identify the rule for canonical forms.
	CanonicaliserCode    uint8
	CanonicaliserVersion int
	// Shards is a power of two.
	Shards int
	// FalsePositiveRate is the configured rate per key, an upper bound of the actual rate.
	FalsePositiveRate float64
	// Stripped has the patterns of the query parameters that are removed from URLs.
	Stripped string
	// Near is the rule for near-duplicates; "" for none.
	Near string
}

// HashName returns the name of the hash algorithm.
func (p *Parameters) HashName() string { return hashName(p.HashAlgorithm) }

// Canonicaliser returns the name of the rule for canonical forms.
func (p *Parameters) Canonicaliser() string { return canonical.Newest(p.CanonicaliserCode).Name }

func (p *Parameters) shardBits() int { return bits.TrailingZeros(uint(p.Shards)) }

// requireKnown rejects an unknown hash or canonicaliser.
func (p *Parameters) requireKnown() error {
	if p.HashName() == "" {
		return unsupported("the hash must be 1 or 2, got %d", p.HashAlgorithm)
	}
	if canonical.Newest(p.CanonicaliserCode) == nil {
		return unsupported("this reader does not know the canonicaliser %d; use a newer version of this package", p.CanonicaliserCode)
	}
	return nil
}

func (p *Parameters) requireValid() error {
	switch {
	case p.CanonicaliserVersion < 1 || p.CanonicaliserVersion > 65_535:
		return malformed("the version of the canonicaliser must be in [1, 65535], got %d", p.CanonicaliserVersion)
	case p.Shards < 1 || p.Shards > maxShards || p.Shards&(p.Shards-1) != 0:
		return malformed("the number of shards must be a power of two up to %d, got %d", maxShards, p.Shards)
	case p.Stripped != "" && p.CanonicaliserCode != canonical.URL:
		return malformed("only sets of the canonicaliser url have stripped parameters")
	case p.Near != "" && p.CanonicaliserCode != canonical.Text:
		return malformed("only sets of the canonicaliser text have a rule for near-duplicates")
	case !(p.FalsePositiveRate > 0 && p.FalsePositiveRate <= 0.1):
		return malformed("the false-positive rate must be above 0, at most 0.1, got %g", p.FalsePositiveRate)
	}
	return nil
}

// rule returns the rule for canonical forms; ErrUnsupported for an unknown version.
func (p *Parameters) rule() (*canonical.Rule, error) {
	rule := canonical.Find(p.CanonicaliserCode, p.CanonicaliserVersion)
	if rule == nil {
		return nil, unsupported("the canonicaliser %s has version %d, the newest of this reader is %d",
			p.Canonicaliser(), p.CanonicaliserVersion, canonical.Newest(p.CanonicaliserCode).Version)
	}
	if p.Stripped == "" {
		return rule, nil
	}
	return rule.Stripping(p.Stripped)
}

// requireHash rejects a different hash key.
func (p *Parameters) requireHash(hash *KeyHash) error {
	if hash.algorithm != p.HashAlgorithm {
		return unsupported("the keys are hashed by %s, got a key of %s", p.HashName(), hashName(hash.algorithm))
	}
	if hash.check != p.KeyCheck {
		return unsupported("the set was made with another hash key; pass the publisher's key")
	}
	return nil
}

// A universe is the range of the values of a shard: buckets · width numbers, 1 to 2^64.
type universe struct{ buckets, width uint64 }

// last returns the greatest value.
func (u universe) last() uint64 { return u.buckets*u.width - 1 }

// value returns the value of a hash without its shard bits.
func (u universe) value(suffix uint64) uint64 {
	bucket, rest := bits.Mul64(suffix, u.buckets)
	place, _ := bits.Mul64(rest, u.width)
	return bucket*u.width + place
}

// requireValid checks that the range exists and fits the bits of a shard.
func (u universe) requireValid(shardBits int) error {
	if u.buckets < 1 || u.buckets > 1<<31 {
		return malformed("there must be 1 to 2^31 buckets, got %d", u.buckets)
	}
	if u.width < 1 || u.width > 1<<62 {
		return malformed("a bucket must have 1 to 2^62 values, got %d", u.width)
	}
	high, low := bits.Mul64(u.buckets, u.width)
	if shardBits > 0 && (high > 0 || low > 1<<(64-shardBits)) || high > 1 || high == 1 && low > 0 {
		return malformed("there must be at most 2^%d values, got %d · %d", 64-shardBits, u.buckets, u.width)
	}
	return nil
}

// requireFits checks that the number of buckets suits the number of values.
func (u universe) requireFits(count uint64) error {
	if u.buckets > max(65_536, count/8) {
		return malformed("a set of %d values cannot have %d buckets", count, u.buckets)
	}
	return nil
}

// size returns buckets · width, which may be 2^64.
func (u universe) size() *big.Int {
	return new(big.Int).Mul(new(big.Int).SetUint64(u.buckets), new(big.Int).SetUint64(u.width))
}

// requireRoom checks the rules for a set of count values and hashCount hashes.
func (p *Parameters) requireRoom(u universe, count, hashCount uint64) error {
	if err := u.requireValid(p.shardBits()); err != nil {
		return err
	}
	if err := p.requireRoomForTags(u); err != nil {
		return err
	}
	if hashCount < count || (hashCount == 0) != (count == 0) {
		return malformed("the number of hashes must be at least %d, and 0 if that is, got %d", count, hashCount)
	}
	if err := p.requireRate(u, count); err != nil {
		return err
	}
	return u.requireFits(count)
}

// requireRate checks exactly that count ≤ rate · buckets · width.
func (p *Parameters) requireRate(u universe, count uint64) error {
	most := new(big.Rat).SetFloat64(p.FalsePositiveRate)
	most.Mul(most, new(big.Rat).SetInt(u.size()))
	if new(big.Rat).SetInt(new(big.Int).SetUint64(count)).Cmp(most) > 0 {
		return malformed("a range of %d is too small for %d keys at the rate %g", u.size(), count, p.FalsePositiveRate)
	}
	return nil
}

// strippedParameters reads the patterns in a file, which must be in their one form.
func strippedParameters(f *fields, text []byte) string {
	if f.err != nil {
		return ""
	}
	if form, err := canonical.Patterns(string(text)); err != nil || form != string(text) {
		f.fail("the stripped parameters must be patterns in their one form, got %q", text)
	}
	return string(text)
}

// ruleName returns the name of the field that a required flag announces.
func ruleName(flags uint8) string {
	if flags == nearFlag {
		return "the rule for near-duplicates"
	}
	return "the stripped parameters"
}

// readRule reads the field that the required flags announce.
func (p *Parameters) readRule(f *fields, flags uint8, length uint64) {
	text := f.take(length, ruleName(flags))
	switch flags {
	case strippedFlag:
		p.Stripped = strippedParameters(f, text)
	case nearFlag:
		p.Near = nearRuleOf(f, text)
	default:
		f.fail("a set must have one of the features 1 and 2")
	}
}
