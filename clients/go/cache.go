package firstseen

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
)

// Only this package reads the file. Its format may change together with the magic number.
const (
	cacheMagic = "\x89FSGO\x01"
	cacheName  = "last-good-set"
)

// cache is a directory with the last valid set of one follower.
type cache struct{ path string }

func newCache(directory string) (*cache, error) {
	return &cache{filepath.Join(directory, cacheName)}, os.MkdirAll(directory, 0o755)
}

// load returns the set, verified against the root of its manifest; nil if the cache is empty.
func (c *cache) load() (*held, error) {
	data, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := &fields{data: data}
	if string(f.take(uint64(len(cacheMagic)), "the magic number")) != cacheMagic {
		return nil, malformed("this is not a cache of this version of the package")
	}
	manifestBytes := f.take(uint64(f.u32("the length of the manifest")), "the manifest")
	if f.err != nil {
		return nil, f.err
	}
	manifest, err := ParseManifest(manifestBytes)
	if err != nil {
		return nil, err
	}
	shards := make([]*shard, manifest.Parameters.Shards)
	for number := range shards {
		if f.u8("the mark of a shard") != 0 {
			if shards[number], err = loadShard(f, &manifest.Parameters); err != nil {
				return nil, err
			}
		}
	}
	if err := f.end(); err != nil {
		return nil, err
	}
	shards, err = proven(manifest, shards)
	return &held{manifest, shards}, err
}

func loadShard(f *fields, p *Parameters) (*shard, error) {
	u := universe{f.u64("the buckets"), f.u64("the width")}
	count, hashCount := f.u64("the values"), f.u64("the hashes")
	low := f.take(8*f.u64("the words of low bits"), "the low bits")
	highs := f.take(8*f.u64("the words of high bits"), "the high bits")
	if f.err != nil {
		return nil, f.err
	}
	if count > 8*uint64(len(highs)) {
		return nil, malformed("%d bytes cannot have %d values", len(highs), count)
	}
	if err := p.requireSet(u, count, hashCount); err != nil {
		return nil, err
	}
	builder, err := newShardBuilder(u, count, hashCount)
	if err != nil {
		return nil, err
	}
	if len(low) != 8*len(builder.low) || len(highs) != 8*len(builder.highs) {
		return nil, malformed("a set of %d values must have %d and %d words, got %d and %d bytes",
			count, len(builder.low), len(builder.highs), len(low), len(highs))
	}
	// The values of a shard with these words are added again, which makes its digest and index.
	stored := builder.shard
	stored.low, stored.highs = wordsOf(low), wordsOf(highs)
	ones := uint64(0)
	for _, word := range stored.highs {
		ones += uint64(bits.OnesCount64(word))
	}
	if ones != count {
		return nil, malformed("there must be %d values, got %d", count, ones)
	}
	iterator := values{shard: &stored}
	least := uint64(0)
	for value, ok := iterator.next(); ok; value, ok = iterator.next() {
		if value < least || value > u.last() {
			return nil, malformed("the values must be ascending and at most %d, got %d", u.last(), value)
		}
		least = value + 1
		if err := builder.add(value); err != nil {
			return nil, err
		}
	}
	return builder.finish()
}

func wordsOf(data []byte) []uint64 {
	words := make([]uint64, len(data)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(data[8*i:])
	}
	return words
}

// store replaces the set. A crash leaves the old or the new set.
func (c *cache) store(set *held) (err error) {
	directory := filepath.Dir(c.path)
	file, err := os.CreateTemp(directory, "."+cacheName+"-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	if err := write(file, set); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), c.path); err != nil {
		return err
	}
	// Not every platform can open or sync a directory.
	if opened, err := os.Open(directory); err == nil {
		opened.Sync()
		opened.Close()
	}
	return nil
}

func write(file *os.File, set *held) error {
	// A bufio.Writer keeps its first error.
	out := bufio.NewWriter(file)
	number := func(number uint64) { out.Write(binary.LittleEndian.AppendUint64(out.AvailableBuffer(), number)) }
	words := func(words []uint64) {
		number(uint64(len(words)))
		for _, word := range words {
			number(word)
		}
	}
	out.WriteString(cacheMagic)
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(set.manifest.data))))
	out.Write(set.manifest.data)
	for _, s := range set.shards {
		if s == nil {
			out.WriteByte(0)
			continue
		}
		out.WriteByte(1)
		number(s.buckets)
		number(s.width)
		number(s.count)
		number(s.hashCount)
		words(s.low)
		words(s.highs)
	}
	return out.Flush()
}
