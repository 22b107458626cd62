package firstseen

import (
	"context"
	"crypto/sha256"
	"slices"
)

// requestBytes is the cost of a request, in addition to its bytes.
const requestBytes = 1024

// held is the sets of all shards in memory, and their manifest.
type held struct {
	manifest *Manifest
	shards   []*shard
}

// loader returns the unverified bytes of a blob.
type loader func(ctx context.Context, reference Reference) ([]byte, error)

// catchUp loads the set of one manifest (docs/format/blob-v1.md, How a reader gets to a set).
type catchUp struct {
	manifest  *Manifest
	load      loader
	packs     map[Reference]*pack
	bytesRead int64
}

func newCatchUp(manifest *Manifest, load loader) *catchUp {
	return &catchUp{manifest: manifest, load: load, packs: map[Reference]*pack{}}
}

// run loads packs or bases, whichever are smaller; bases if a pack is unreadable.
func (c *catchUp) run(ctx context.Context, from *held) (shards []*shard, byPacks bool, err error) {
	m := c.manifest
	if from != nil && from.manifest.leadsTo(m) {
		if from.manifest.Root == m.Root {
			shards, err = c.proven(from.shards)
			return shards, true, err
		}
		if m.Pack != nil {
			newest, err := c.newestPack(ctx)
			if err != nil {
				return nil, false, err
			}
			span := m.PackBytes - from.manifest.PackBytes
			bases := newest.basesBytes + newest.packsSince + m.Pack.Length
			// Packs take one request per window in between; bases also take many requests.
			if from.manifest.PackBytes >= newest.keptFrom && span <= bases+requestBytes {
				// Loading the bases shows whether the set itself is valid.
				if shards, err = c.byPacks(ctx, from); err == nil {
					return shards, true, nil
				}
				if ctx.Err() != nil {
					return nil, false, err
				}
			}
		}
	}
	shards, err = c.byBases(ctx)
	return shards, false, err
}

// byBases returns the sets of all shards, from the list of bases and the later packs.
func (c *catchUp) byBases(ctx context.Context) ([]*shard, error) {
	m := c.manifest
	shards := make([]*shard, m.Parameters.Shards)
	if m.Pack == nil {
		return c.proven(shards)
	}
	newest, err := c.newestPack(ctx)
	if err != nil {
		return nil, err
	}
	list, err := blobOf(ctx, c, newest.bases, func(data []byte) (*baseList, error) {
		return parseBaseList(data, m.SetName, m.Parameters.Shards)
	})
	if err != nil {
		return nil, err
	}
	size := newest.bases.Length
	for _, base := range list.bases {
		if base != nil {
			size += base.Length
		}
	}
	if size != newest.basesBytes {
		return nil, malformed("the list of bases and the bases must have %d bytes, got %d", newest.basesBytes, size)
	}
	packs, err := c.packsBefore(ctx, newest)
	if err != nil {
		return nil, err
	}
	if len(packs) == 1 && newest.sequence == list.sequence {
		packs = nil
	}
	if len(packs) > 0 && packs[0].sequence <= list.sequence {
		return nil, malformed("the list of bases is of sequence %d, the packs do not begin after it", list.sequence)
	}
	for number, base := range list.bases {
		var sections []*section
		if base != nil {
			whole, err := blobOf(ctx, c, *base, func(data []byte) (*section, error) {
				return parseBase(data, m.SetName, number)
			})
			if err != nil {
				return nil, err
			}
			sections = append([]*section{whole}, list.sections[number]...)
		}
		if shards[number], err = apply(&m.Parameters, nil, withPacks(sections, packs, number)); err != nil {
			return nil, err
		}
	}
	return c.proven(shards)
}

// packsBefore returns the newest pack and those before it that are not in its list of bases, oldest first.
func (c *catchUp) packsBefore(ctx context.Context, newest *pack) ([]*pack, error) {
	packs := []*pack{newest}
	for left := newest.packsSince; left > 0; {
		oldest := packs[len(packs)-1]
		if oldest.before == nil || oldest.before.Length > left {
			return nil, malformed("the packs do not lead back to the list of bases")
		}
		left -= oldest.before.Length
		before, err := c.packBefore(ctx, packs)
		if err != nil {
			return nil, err
		}
		packs = append(packs, before)
	}
	slices.Reverse(packs)
	return packs, nil
}

// packBefore returns the pack before the last one of a chain.
func (c *catchUp) packBefore(ctx context.Context, chain []*pack) (*pack, error) {
	if len(chain) >= maxChain {
		return nil, malformed("a set must be reached by at most %d packs, there are more", maxChain)
	}
	after := chain[len(chain)-1]
	before, err := c.pack(ctx, *after.before)
	if err == nil && before.sequence >= after.sequence {
		err = malformed("a pack must have a higher sequence than the previous pack, %d", before.sequence)
	}
	return before, err
}

// byPacks returns the sets of all shards, from the sets of an earlier manifest and the later packs.
func (c *catchUp) byPacks(ctx context.Context, from *held) ([]*shard, error) {
	m := c.manifest
	left := m.PackBytes - from.manifest.PackBytes
	var packs []*pack
	for next := m.Pack; !equal(next, from.manifest.Pack); {
		if next == nil || next.Length > left {
			return nil, malformed("the packs do not lead back to the held set")
		}
		left -= next.Length
		var one *pack
		var err error
		if len(packs) == 0 {
			one, err = c.newestPack(ctx)
		} else {
			one, err = c.packBefore(ctx, packs)
		}
		if err != nil {
			return nil, err
		}
		packs = append(packs, one)
		next = one.before
	}
	slices.Reverse(packs)
	shards := slices.Clone(from.shards)
	for number := range shards {
		var err error
		if shards[number], err = apply(&m.Parameters, shards[number], withPacks(nil, packs, number)); err != nil {
			return nil, err
		}
	}
	return c.proven(shards)
}

func withPacks(sections []*section, packs []*pack, number int) []*section {
	for _, one := range packs {
		if s := one.sections[number]; s != nil {
			sections = append(sections, s)
		}
	}
	return sections
}

func equal(one, other *Reference) bool {
	if one == nil || other == nil {
		return one == other
	}
	return *one == *other
}

func (c *catchUp) newestPack(ctx context.Context) (*pack, error) {
	m := c.manifest
	newest, err := c.pack(ctx, *m.Pack)
	if err != nil {
		return nil, err
	}
	if most := m.PackBytes - m.Pack.Length - newest.packsSince; newest.keptFrom > most {
		return nil, malformed("keptFrom must be at most %d, got %d", most, newest.keptFrom)
	}
	return newest, nil
}

func (c *catchUp) pack(ctx context.Context, reference Reference) (*pack, error) {
	if known := c.packs[reference]; known != nil {
		return known, nil
	}
	read, err := blobOf(ctx, c, reference, func(data []byte) (*pack, error) {
		return parsePack(data, c.manifest.SetName, c.manifest.Parameters.Shards)
	})
	if err == nil {
		c.packs[reference] = read
	}
	return read, err
}

// blobOf loads a blob, checks its length and digest, and parses it.
func blobOf[T any](ctx context.Context, c *catchUp, reference Reference, parse func([]byte) (T, error)) (parsed T, err error) {
	data, err := c.load(ctx, reference)
	if err != nil {
		return parsed, err
	}
	c.bytesRead += int64(len(data))
	if err := requireBlob(reference, data); err != nil {
		return parsed, err
	}
	parsed, err = parse(data)
	return parsed, within("blob "+reference.Name(), err)
}

func requireBlob(reference Reference, data []byte) error {
	if int64(len(data)) != reference.Length {
		return malformed("blob %s must have %d bytes, got %d", reference.Name(), reference.Length, len(data))
	}
	if sha256.Sum256(data) != reference.Digest {
		return malformed("blob %s is damaged", reference.Name())
	}
	return nil
}

func (c *catchUp) proven(shards []*shard) ([]*shard, error) { return proven(c.manifest, shards) }

// proven returns the sets if they match the root and the count of the manifest.
func proven(m *Manifest, shards []*shard) ([]*shard, error) {
	if root := treeRoot(shards); root != m.Root {
		return nil, malformed("the shards must have the root %x, got %x", m.Root, root)
	}
	count := uint64(0)
	for _, s := range shards {
		if s != nil {
			count += s.hashCount
		}
	}
	if count != m.Count {
		return nil, malformed("the shards must have %d keys, got %d", m.Count, count)
	}
	return shards, nil
}
