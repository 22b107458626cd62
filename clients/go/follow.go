package firstseen

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxPause is the longest pause between polls during problems, unless Options.Poll is longer.
const maxPause = 30 * time.Second

// An Update is a set that has become active.
type Update struct {
	Set *Set
	// ByPacks is whether only changes were read.
	ByPacks bool
	// BytesRead is the number of bytes of all blobs that were read.
	BytesRead int64
}

// A Follower follows one set. It rejects data that is damaged, unsigned, or older than the active set,
// which stays active. Queries may be made from any goroutine, and never wait.
type Follower struct {
	source  Source
	options Options
	cache   *cache
	active  atomic.Pointer[active]

	// polling is held during a poll.
	polling sync.Mutex

	// mutex guards the following fields.
	mutex   sync.Mutex
	trouble error
	// changed is closed at the end of each poll.
	changed chan struct{}
}

// active is the set that answers.
type active struct {
	held
	set *Set
}

// NewFollower returns a follower, which serves the set in its cache at once. Call Run or Poll.
func NewFollower(source Source, options Options) (*Follower, error) {
	options.KeyHash = options.keyHash()
	if options.Poll == 0 {
		options.Poll = 10 * time.Second
		if _, ok := source.(*directory); ok {
			options.Poll = time.Second
		}
	}
	f := &Follower{source: source, options: options, changed: make(chan struct{})}
	if options.CacheDir == "" {
		return f, nil
	}
	var err error
	if f.cache, err = newCache(options.CacheDir); err != nil {
		return nil, fmt.Errorf("the cache cannot be created: %w", err)
	}
	if err := f.loadCache(); err != nil {
		f.report(fmt.Errorf("the cache %s is not used: %w", f.cache.path, err))
	}
	return f, nil
}

// Follow follows the set at an address, a directory or an http or https URL, until the context ends. It
// returns at once; call Wait for the first set.
func Follow(ctx context.Context, address string, options Options) (*Follower, error) {
	source := NewDirectorySource(address)
	if strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://") {
		source = NewHTTPSource(address, HTTPOptions{SetName: options.SetName})
	}
	f, err := NewFollower(source, options)
	if err != nil {
		return nil, err
	}
	go f.Run(ctx)
	return f, nil
}

func (f *Follower) loadCache() error {
	cached, err := f.cache.load()
	if err != nil || cached == nil {
		return err
	}
	if err := f.options.requireWanted(cached.manifest); err != nil {
		return err
	}
	_, err = f.activate(*cached)
	return err
}

// Run polls until the context ends. Failures are retried with backoff.
func (f *Follower) Run(ctx context.Context) {
	pause := f.options.Poll
	for ctx.Err() == nil {
		if _, err := f.Poll(ctx); err != nil {
			pause = max(f.options.Poll, min(2*pause, maxPause))
		} else {
			pause = f.options.Poll
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// Poll looks once for a newer set. It returns the set that has become active, or nil, and the current
// problem, which is also returned by Trouble.
func (f *Follower) Poll(ctx context.Context) (*Update, error) {
	f.polling.Lock()
	defer f.polling.Unlock()
	update, problem := f.advance(ctx)
	if update != nil && f.cache != nil {
		if err := f.cache.store(&f.active.Load().held); err != nil && problem == nil {
			problem = fmt.Errorf("the cache %s cannot be written: %w", f.cache.path, err)
		}
	}
	if ctx.Err() != nil && update == nil {
		return nil, ctx.Err()
	}
	if update != nil && f.options.OnUpdate != nil {
		f.options.OnUpdate(*update)
	}
	f.report(problem)
	return update, problem
}

// advance tries the newest manifests. If one is not usable, the previous one may be.
func (f *Follower) advance(ctx context.Context) (*Update, error) {
	var problem error
	for data, err := range f.source.Manifests(ctx) {
		var update *Update
		if err == nil {
			if update, err = f.advanceTo(ctx, data); err == nil {
				return update, problem
			}
		}
		if problem == nil {
			problem = err
		}
		if errors.Is(err, ErrOutdated) || errors.Is(err, ErrNotReady) || errors.Is(err, ErrUnreachable) || ctx.Err() != nil {
			break
		}
	}
	return nil, problem
}

// advanceTo returns the newer set of a manifest; nil if it is the active set.
func (f *Follower) advanceTo(ctx context.Context, data []byte) (*Update, error) {
	now := f.active.Load()
	if now != nil && string(data) == string(now.manifest.data) {
		return nil, nil
	}
	manifest, err := ParseManifest(data)
	if err != nil {
		return nil, err
	}
	if err := f.options.requireWanted(manifest); err != nil {
		return nil, err
	}
	if _, err := manifest.Parameters.rule(); err != nil {
		return nil, err
	}
	var from *held
	if now != nil {
		from = &now.held
		switch {
		case manifest.SetName != now.manifest.SetName:
			return nil, unsupported("the set must be %q, got %q", now.manifest.SetName, manifest.SetName)
		case manifest.Sequence < now.manifest.Sequence:
			return nil, fmt.Errorf("%w: %s is rejected, because sequence %d is active", ErrOutdated, manifest, now.manifest.Sequence)
		case manifest.Sequence == now.manifest.Sequence:
			if manifest.Root != now.manifest.Root || manifest.Parameters != now.manifest.Parameters {
				return nil, fmt.Errorf("%w: %s is rejected: it contradicts the active manifest", ErrOutdated, manifest)
			}
			// It differs in its times or in the place of its blobs. An attacker may replay an earlier one.
			if manifest.PublishedMillis > now.manifest.PublishedMillis {
				f.active.Store(&active{held{manifest, now.shards}, now.set})
			}
			return nil, nil
		}
	}
	shards, byPacks, bytesRead, err := f.load(ctx, manifest, from)
	if err != nil {
		return nil, err
	}
	set, err := f.activate(held{manifest, shards})
	if err != nil {
		return nil, err
	}
	return &Update{set, byPacks, bytesRead}, nil
}

func (f *Follower) load(ctx context.Context, manifest *Manifest, from *held) ([]*shard, bool, int64, error) {
	c := newCatchUp(manifest, withElsewhere(f.source.Blob, f.options.elsewhere(manifest)))
	shards, byPacks, err := c.run(ctx, from)
	server, ok := f.source.(*httpSource)
	if err == nil || !ok || !errors.Is(err, ErrMissing) && !errors.Is(err, ErrMalformed) {
		return shards, byPacks, c.bytesRead, err
	}
	data, substituteErr := server.substitute(ctx)
	if substituteErr != nil {
		return nil, false, 0, err
	}
	other, err := ParseManifest(data)
	if err != nil {
		return nil, false, 0, err
	}
	// The substitute is not signed, but has the same root as the manifest, which may be signed.
	if !other.leadsTo(manifest) || other.Root != manifest.Root {
		return nil, false, 0, fmt.Errorf("%w: %s was replaced while it was being read", ErrUnreachable, manifest)
	}
	c = newCatchUp(other, f.source.Blob)
	if shards, err = c.byBases(ctx); err == nil {
		shards, err = proven(manifest, shards)
	}
	return shards, false, c.bytesRead, err
}

// activate makes a set the active one.
func (f *Follower) activate(set held) (*Set, error) {
	opened, err := setOf(set.manifest, set.shards, f.options.KeyHash)
	if err == nil {
		f.active.Store(&active{set, opened})
	}
	return opened, err
}

// report remembers the problem, and ends the waiting of Wait.
func (f *Follower) report(problem error) {
	f.mutex.Lock()
	before := f.trouble
	f.trouble = problem
	close(f.changed)
	f.changed = make(chan struct{})
	f.mutex.Unlock()
	if problem != nil && f.options.OnTrouble != nil && (before == nil || before.Error() != problem.Error()) {
		f.options.OnTrouble(problem)
	}
}

// Trouble returns the current problem; nil if the last poll had none.
func (f *Follower) Trouble() error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.trouble
}

// Manifest returns the manifest of the active set; nil before the first.
func (f *Follower) Manifest() *Manifest {
	if now := f.active.Load(); now != nil {
		return now.manifest
	}
	return nil
}

// Stale returns whether the active set is stale. Without [Options.RefuseStale] it still answers.
func (f *Follower) Stale() bool {
	now := f.active.Load()
	return now != nil && f.isStale(now.manifest)
}

func (f *Follower) isStale(m *Manifest) bool {
	now := time.Now()
	return m.ExpiresMillis != 0 && now.UnixMilli() >= m.ExpiresMillis ||
		f.options.StaleAfter > 0 && now.Sub(time.UnixMilli(m.PublishedMillis)) >= f.options.StaleAfter
}

// Snapshot returns the active set. The error is ErrNotReady before the first, and ErrStale if it is stale
// and [Options.RefuseStale] is set.
func (f *Follower) Snapshot() (*Set, error) {
	now := f.active.Load()
	if now == nil {
		if trouble := f.Trouble(); trouble != nil {
			return nil, fmt.Errorf("%w yet: %w", ErrNotReady, trouble)
		}
		return nil, fmt.Errorf("%w yet", ErrNotReady)
	}
	if f.options.RefuseStale && f.isStale(now.manifest) {
		return nil, fmt.Errorf("%w: %s was published too long ago", ErrStale, now.manifest)
	}
	return now.set, nil
}

// Contains is [Set.Contains] of the active set.
func (f *Follower) Contains(key string) (bool, error) {
	set, err := f.Snapshot()
	if err != nil {
		return false, err
	}
	return set.Contains(key)
}

// Resembles is [Set.Resembles] of the active set.
func (f *Follower) Resembles(text string) (equalBands int, err error) {
	set, err := f.Snapshot()
	if err != nil {
		return 0, err
	}
	return set.Resembles(text)
}

// Match is [Set.Match] of the active set.
func (f *Follower) Match(url string) (entry string, listed bool, err error) {
	set, err := f.Snapshot()
	if err != nil {
		return "", false, err
	}
	return set.Match(url)
}

// Wait waits until a set with at least this sequence is active. Before the first set, it also returns if
// the newest set is not usable, for example because of a different hash key.
func (f *Follower) Wait(ctx context.Context, sequence uint64) error {
	for {
		f.mutex.Lock()
		changed, trouble := f.changed, f.trouble
		f.mutex.Unlock()
		now := f.active.Load()
		if now != nil && now.set.Sequence >= sequence {
			return nil
		}
		if now == nil && errors.Is(trouble, ErrUnsupported) {
			return trouble
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if trouble == nil {
				trouble = errors.New("nothing newer was published")
			}
			return fmt.Errorf("%w of sequence %d or above: %w: %w", ErrNotReady, sequence, ctx.Err(), trouble)
		}
	}
}
