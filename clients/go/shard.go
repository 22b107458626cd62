package firstseen

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/bits"
)

// maxShardValues keeps positions below 2^32.
const maxShardValues = 1 << 30

// A shard is the set of one shard in memory: ascending values as an Elias-Fano code (Elias 1974; Fano 1971),
// about 2.5 bits per value more than the logarithm of range over count. It is immutable.
//
// The lowBits lowest bits of each value are in low. The rest of value i, high, is bit high + i of highs,
// so the values with the same rest are a run of ones that ends with the zero number high.
type shard struct {
	universe
	count, hashCount uint64
	lowBits          int
	low, highs       []uint64
	// zeros has the position of every 64th zero in highs.
	zeros  []uint32
	digest [32]byte
}

// contains returns whether a hash without its shard bits has a value in the set.
func (s *shard) contains(suffix uint64) bool {
	return s.count > 0 && s.holds(s.value(suffix))
}

func (s *shard) holds(value uint64) bool {
	position, high := s.seek(value)
	return s.isOne(position) && s.lowAt(position-high) == value&(1<<s.lowBits-1)
}

// seek returns the position in highs of the first value that is not below a value, or of the zero before it,
// and the number of zeros before this position.
func (s *shard) seek(value uint64) (position, high uint64) {
	high = value >> s.lowBits
	if high > 0 {
		position = s.zero(high-1) + 1
	}
	wanted := value & (1<<s.lowBits - 1)
	for s.isOne(position) && s.lowAt(position-high) < wanted {
		position++
	}
	return position, high
}

func (s *shard) isOne(position uint64) bool { return s.highs[position>>6]>>(position&63)&1 == 1 }

// lowAt returns the lowest bits of value i.
func (s *shard) lowAt(i uint64) uint64 {
	at := i * uint64(s.lowBits)
	skip := at & 63
	pair := s.low[at>>6:][:2]
	return (pair[0]>>skip | pair[1]<<(64-skip)) & (1<<s.lowBits - 1)
}

// zero returns the position of a zero in highs, counted from 0.
func (s *shard) zero(number uint64) uint64 {
	sample := uint64(s.zeros[number>>6])
	at := sample >> 6
	word := ^s.highs[at] >> (sample & 63) << (sample & 63)
	left := int(number & 63)
	for {
		ones := bits.OnesCount64(word)
		if left < ones {
			return at<<6 + uint64(selectOne(word, left))
		}
		left -= ones
		at++
		word = ^s.highs[at]
	}
}

// selectOne returns the position of a one in a word, counted from 0.
func selectOne(word uint64, number int) int {
	position := 0
	for width := 32; width >= 8; width /= 2 {
		half := word & (1<<width - 1)
		if ones := bits.OnesCount64(half); number >= ones {
			number -= ones
			word >>= width
			position += width
		} else {
			word = half
		}
	}
	for ; number > 0; number-- {
		word &= word - 1
	}
	return position + bits.TrailingZeros64(word)
}

// values iterates over the values of a shard.
type values struct {
	shard    *shard
	index    uint64
	position uint64
}

func (v *values) next() (value uint64, ok bool) {
	s := v.shard
	if v.index >= s.count {
		return 0, false
	}
	at := v.position >> 6
	word := s.highs[at] >> (v.position & 63)
	for word == 0 {
		at++
		v.position = at << 6
		word = s.highs[at]
	}
	v.position += uint64(bits.TrailingZeros64(word))
	value = (v.position-v.index)<<s.lowBits | s.lowAt(v.index)
	v.position++
	v.index++
	return value, true
}

// valuesFrom returns the values from a value on, of a shard that is not empty.
func (s *shard) valuesFrom(least uint64) *values {
	position, high := s.seek(least)
	return &values{s, position - high, position}
}

// A shardBuilder builds a shard from ascending values.
type shardBuilder struct {
	shard
	added  uint64
	digest hash.Hash
	buffer []byte
}

// newShardBuilder begins a shard of count values. The caller has proven that count values were read, or
// that count is in proportion to them.
func newShardBuilder(u universe, count, hashCount uint64) (*shardBuilder, error) {
	if count > maxShardValues {
		return nil, unsupported("a shard must have at most 2^30 values, got %d", count)
	}
	b := &shardBuilder{shard: shard{universe: u, count: count, hashCount: hashCount}, digest: sha256.New()}
	b.buffer = make([]byte, 0, 4096)
	b.hash(u.buckets)
	b.hash(u.width)
	if count == 0 {
		return b, nil
	}
	if ratio := u.last() / count; ratio > 0 {
		b.lowBits = bits.Len64(ratio) - 1
	}
	// One word more, so that each number is in two words.
	b.low = make([]uint64, (count*uint64(b.lowBits)+63)/64+1)
	b.highs = make([]uint64, (count+u.last()>>b.lowBits)/64+1)
	return b, nil
}

func (b *shardBuilder) hash(number uint64) {
	if b.buffer = binary.BigEndian.AppendUint64(b.buffer, number); len(b.buffer) == cap(b.buffer) {
		b.digest.Write(b.buffer)
		b.buffer = b.buffer[:0]
	}
}

// add adds the next value, which is above all others and in the range.
func (b *shardBuilder) add(value uint64) error {
	if b.added == b.count {
		return malformed("a set must have %d values, got more", b.count)
	}
	at := b.added * uint64(b.lowBits)
	low := value & (1<<b.lowBits - 1)
	b.low[at>>6] |= low << (at & 63)
	b.low[at>>6+1] |= low >> (64 - at&63)
	position := value>>b.lowBits + b.added
	b.highs[position>>6] |= 1 << (position & 63)
	b.added++
	b.hash(value)
	return nil
}

// finish returns the shard.
func (b *shardBuilder) finish() (*shard, error) {
	if b.added != b.count {
		return nil, malformed("a set must have %d values, got %d", b.count, b.added)
	}
	b.digest.Write(b.buffer)
	b.digest.Sum(b.shard.digest[:0])
	if b.count > 0 {
		b.sampleZeros()
	}
	built := b.shard
	return &built, nil
}

func (b *shardBuilder) sampleZeros() {
	count := b.last()>>b.lowBits + 1
	b.zeros = make([]uint32, 0, (count+63)/64)
	seen := uint64(0)
	for at, word := range b.highs {
		zeros := uint64(bits.OnesCount64(^word))
		if next := uint64(len(b.zeros)) << 6; next < seen+zeros {
			b.zeros = append(b.zeros, uint32(at<<6+selectOne(^word, int(next-seen))))
		}
		seen += zeros
	}
}

// treeRoot returns the root over the sets of all shards; nil is a shard that never had a key.
func treeRoot(shards []*shard) [32]byte {
	level := make([][32]byte, len(shards))
	for i, s := range shards {
		leaf := make([]byte, 41)
		if s != nil {
			copy(leaf[1:], s.digest[:])
			binary.LittleEndian.PutUint64(leaf[33:], s.hashCount)
		}
		level[i] = sha256.Sum256(leaf)
	}
	for len(level) > 1 {
		for i := range len(level) / 2 {
			node := append([]byte{1}, level[2*i][:]...)
			level[i] = sha256.Sum256(append(node, level[2*i+1][:]...))
		}
		level = level[:len(level)/2]
	}
	return level[0]
}
