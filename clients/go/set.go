package firstseen

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"firstseen.io/firstseen/internal/canonical"
)

// Options select and verify a set. The zero value reads any unsigned set under the public hash key.
type Options struct {
	// SetName is the set to follow. Default: the first set that is read.
	SetName string
	// KeyHash is the publisher's hash key. Default: PublicKeyHash.
	KeyHash *KeyHash
	// TrustedKeys reject manifests that none of them signed. Default: signatures are not checked.
	TrustedKeys []*TrustedKey
	// Blobs is the URI (file, http or https) of a directory with blobs that the source does not have.
	// Default: the directory that the manifest names, if a trusted key signed the manifest.
	Blobs string

	// The remaining options are those of a Follower.

	// CacheDir is a directory for this set only, which keeps the last valid set for the next start.
	CacheDir string
	// Poll is the pause between two polls. Default: 1 s for a directory, 10 s otherwise.
	Poll time.Duration
	// StaleAfter makes a set stale when this time has passed since its publication. Default: only an
	// expired manifest makes a set stale.
	StaleAfter time.Duration
	// RefuseStale makes queries of a stale set return ErrStale.
	RefuseStale bool
	// OnUpdate is called for each newer set. It must not block for long.
	OnUpdate func(Update)
	// OnTrouble is called once for each new problem.
	OnTrouble func(error)
}

func (o *Options) keyHash() *KeyHash {
	if o.KeyHash == nil {
		return PublicKeyHash()
	}
	return o.KeyHash
}

// elsewhere returns the directory of blobs that the source does not have, or "".
func (o *Options) elsewhere(m *Manifest) string {
	if o.Blobs == "" && len(o.TrustedKeys) > 0 {
		return m.Blobs
	}
	return o.Blobs
}

// requireWanted rejects a manifest of a different set, signer or hash key.
func (o *Options) requireWanted(m *Manifest) error {
	if o.SetName != "" && m.SetName != o.SetName {
		return unsupported("the set must be %q, got %q", o.SetName, m.SetName)
	}
	if len(o.TrustedKeys) > 0 {
		if err := requireSigned(m, o.TrustedKeys); err != nil {
			return err
		}
	}
	return m.Parameters.requireHash(o.keyHash())
}

// A Set is the sets of all shards at the end of a window. It is immutable and safe for concurrent use.
type Set struct {
	// Name, Sequence and WindowEndMillis are those of the manifest or snapshot.
	Name            string
	Sequence        uint64
	WindowEndMillis int64
	// Parameters map keys to values.
	Parameters Parameters

	rule      *canonical.Rule
	hash      *KeyHash
	near      *nearRule // nil for none
	shards    []*shard
	shardBits int
}

func newSet(name string, sequence uint64, windowEnd int64, p Parameters, shards []*shard, hash *KeyHash) (*Set, error) {
	rule, err := p.rule()
	if err != nil {
		return nil, err
	}
	if err := p.requireHash(hash); err != nil {
		return nil, err
	}
	set := &Set{name, sequence, windowEnd, p, rule, hash, nil, shards, p.shardBits()}
	if p.Near != "" {
		set.near, err = parseNearRule(p.Near)
	}
	return set, err
}

func setOf(m *Manifest, shards []*shard, hash *KeyHash) (*Set, error) {
	return newSet(m.SetName, m.Sequence, m.WindowEndMillis, m.Parameters, shards, hash)
}

// Open reads and verifies the set of the newest manifest in a directory, of a manifest in one, or in a
// snapshot file that is a whole set.
func Open(ctx context.Context, path string, options Options) (*Set, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		data, err := readFile(path, maxBytes)
		if err != nil {
			return nil, err
		}
		if len(data) < 4 || string(data[:4]) != manifestMagic {
			set, err := openSnapshot(data, options)
			return set, within(path, err)
		}
	}
	manifest, directory, err := openManifest(path)
	if err != nil {
		return nil, err
	}
	if err := options.requireWanted(manifest); err != nil {
		return nil, within(path, err)
	}
	load := withElsewhere(directory.Blob, options.elsewhere(manifest))
	shards, err := newCatchUp(manifest, load).byBases(ctx)
	if err != nil {
		return nil, within(path, err)
	}
	return setOf(manifest, shards, options.keyHash())
}

func openSnapshot(data []byte, options Options) (*Set, error) {
	if len(options.TrustedKeys) > 0 {
		return nil, unsupported("only manifests have signatures, a snapshot has none")
	}
	file, decoded, err := parseSnapshot(data)
	if err != nil {
		return nil, err
	}
	if file.parameters.Shards != 1 {
		return nil, unsupported("a set must be queried in all its shards, got shard %d of %d", file.number, file.parameters.Shards)
	}
	if options.SetName != "" && file.setName != options.SetName {
		return nil, unsupported("the set must be %q, got %q", options.SetName, file.setName)
	}
	return newSet(file.setName, file.sequence, file.windowEndMillis, file.parameters, []*shard{decoded}, options.keyHash())
}

// openManifest returns the manifest in a file, or the newest one in a directory, and the directory.
func openManifest(path string) (*Manifest, *directory, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		sequences, err := (&directory{path}).sequences()
		if err != nil {
			return nil, nil, err
		}
		path = filepath.Join(path, manifestName(sequences[0]))
	}
	data, err := readFile(path, maxManifestBytes)
	if err != nil {
		return nil, nil, err
	}
	manifest, err := ParseManifest(data)
	if err == nil {
		if sequence, ok := sequenceOf(filepath.Base(path)); ok && sequence != manifest.Sequence {
			err = malformed("the sequence must match the file's name, got %d", manifest.Sequence)
		}
	}
	return manifest, &directory{filepath.Dir(path)}, within(path, err)
}

// Len returns the number of keys.
func (s *Set) Len() int {
	count := uint64(0)
	for _, one := range s.shards {
		if one != nil {
			count += one.hashCount
		}
	}
	return int(count)
}

// String returns the sequence and the name of the set.
func (s *Set) String() string {
	return fmt.Sprintf("sequence %d of set %q, %d keys", s.Sequence, s.Name, s.Len())
}

// Contains returns whether the set contains a key: text in UTF-8, or any bytes if the canonicaliser is
// none. The error of a key without a canonical form is ErrInvalidKey.
func (s *Set) Contains(key string) (bool, error) { return s.ContainsIn("", key) }

// ContainsIn is [Set.Contains] for a key in a scope.
func (s *Set) ContainsIn(scope, key string) (bool, error) {
	form, err := s.rule.Form(key)
	if err != nil {
		return false, err
	}
	hash, err := s.hash.Hash(scope, form)
	return err == nil && s.ContainsHash(hash), err
}

// ContainsHash returns whether the set contains a hash of [KeyHash.Hash].
func (s *Set) ContainsHash(hash uint64) bool {
	one := s.shards[hash>>(64-s.shardBits)]
	return one != nil && one.contains(hash<<s.shardBits)
}

// Match returns the most specific entry of this list that matches a URL or host. The canonicaliser of a
// list is url-expression. The error of a URL without a canonical form is ErrInvalidKey.
func (s *Set) Match(url string) (entry string, listed bool, err error) { return s.MatchIn("", url) }

// MatchIn is [Set.Match] for the entries of a scope.
func (s *Set) MatchIn(scope, url string) (entry string, listed bool, err error) {
	if err := s.requireList(); err != nil {
		return "", false, err
	}
	visit, err := canonical.Visited(url)
	if err != nil {
		return "", false, err
	}
	entry, err = s.match(scope, &visit)
	return entry, entry != "", err
}

func (s *Set) requireList() error {
	if s.Parameters.CanonicaliserCode != canonical.URLExpression {
		return unsupported("set %q must have the canonicaliser url-expression to match URLs, got %s", s.Name, s.Parameters.Canonicaliser())
	}
	return nil
}

// match returns the first expression in the set, or "".
func (s *Set) match(scope string, visit *canonical.Visit) (string, error) {
	expressions := visit.Expressions(s.Parameters.CanonicaliserVersion)
	for expression := expressions.Next(); expression != ""; expression = expressions.Next() {
		hash, err := s.hash.Hash(scope, expression)
		if err != nil {
			return "", err
		}
		if s.ContainsHash(hash) {
			return expression, nil
		}
	}
	return "", nil
}

// Snapshot returns the set itself.
func (s *Set) Snapshot() (*Set, error) { return s, nil }
