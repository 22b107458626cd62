package firstseen

import (
	"encoding/binary"
	"math"
	"math/bits"
)

const (
	snapshotMagic = "\x89FSSNAP\n"
	// The limits of headerBytes.
	minHeaderBytes = 218
	maxHeaderBytes = 1319
	maxStartBits   = 40
)

// snapshotFile is the set of one shard in a file (docs/format/snapshot-v1.md).
type snapshotFile struct {
	setName                            string
	parameters                         Parameters
	number                             int
	sequence                           uint64
	windowStartMillis, windowEndMillis int64
	golombParameter                    uint64
	payloadBits                        uint64
	startsBytes, payloadBytes          uint64
	setDigest                          [32]byte
	checksum                           uint32
	universe                           universe
	count, hashCount                   uint64

	code    golombCode
	payload []byte
}

// parseSnapshot reads and verifies a snapshot file.
func parseSnapshot(data []byte) (*snapshotFile, *shard, error) {
	s := &snapshotFile{}
	sections, err := s.readHeader(data)
	if err != nil {
		return nil, nil, err
	}
	if size := s.payloadBytes + s.startsBytes; s.payloadBytes > maxBytes || s.startsBytes > maxBytes || size != uint64(len(sections)) {
		return nil, nil, malformed("payload and bucket starts must have %d and %d bytes, the file has %d after the header",
			s.payloadBytes, s.startsBytes, len(sections))
	}
	if crc32c(sections) != s.checksum {
		return nil, nil, malformed("the checksum of the sections does not match their %d bytes", len(sections))
	}
	s.payload = sections[:s.payloadBytes]
	if err := s.openPayload(); err != nil {
		return nil, nil, err
	}
	starts, err := s.bucketStarts(sections[s.payloadBytes:])
	if err != nil {
		return nil, nil, err
	}
	set, err := s.decode(starts)
	return s, set, err
}

// readHeader returns the bytes after the header.
func (s *snapshotFile) readHeader(data []byte) ([]byte, error) {
	if len(data) < 12 {
		return nil, malformed("a snapshot must have at least %d bytes, got %d", minHeaderBytes, len(data))
	}
	f := &fields{data: data}
	if string(f.take(8, "the magic number")) != snapshotMagic {
		return nil, malformed("this is not a snapshot: the magic number is missing")
	}
	version, size := f.u16("the version"), int(f.u16("the length of the header"))
	switch {
	case version > 1:
		return nil, unsupported("the snapshot has format version %d, this reader knows version 1", version)
	case version == 0:
		return nil, malformed("the format version must be 1, got 0")
	case size < minHeaderBytes || size > maxHeaderBytes || size > len(data):
		return nil, malformed("the header must have %d to %d bytes, got %d in %d", minHeaderBytes, maxHeaderBytes, size, len(data))
	case binary.LittleEndian.Uint32(data[size-4:]) != crc32c(data[:size-4]):
		return nil, malformed("the checksum of the header does not match its %d bytes", size)
	}
	f.data = data[12 : size-4]
	flags, codec, reserved := f.u32("the required flags"), f.u8("the codec"), uint64(f.u8("a reserved byte"))
	p := &s.parameters
	p.HashAlgorithm, p.CanonicaliserCode = f.u8("the hash"), f.u8("the canonicaliser")
	p.CanonicaliserVersion = int(f.u16("the version of the canonicaliser"))
	if flags&^knownFlags != 0 {
		return nil, unsupported("the snapshot needs features 0x%02x, this reader knows 0x%02x; use a newer version of this package", flags, knownFlags)
	}
	if codec != 1 {
		return nil, unsupported("the codec must be 1, got %d", codec)
	}
	if err := p.requireKnown(); err != nil {
		return nil, err
	}
	reserved |= uint64(f.u16("reserved bytes"))
	s.number, p.Shards = int(f.u32("the shard")), int(f.u32("the number of shards"))
	p.KeyCheck = f.u64("keyCheck")
	p.FalsePositiveRate = math.Float64frombits(f.u64("the false-positive rate"))
	s.sequence = f.u64("the sequence")
	s.windowStartMillis, s.windowEndMillis = int64(f.u64("the start of the window")), int64(f.u64("the end of the window"))
	s.hashCount, s.count = f.u64("the number of hashes"), f.u64("the number of values")
	s.golombParameter = f.u64("the Golomb parameter")
	reserved |= f.u64("reserved bytes")
	s.payloadBits, s.startsBytes, s.payloadBytes = f.u64("the bits of the payload"), f.u64("the bytes of the bucket starts"), f.u64("the bytes of the payload")
	s.setDigest = f.digest("the set digest")
	for _, b := range f.digest("reserved bytes") {
		reserved |= uint64(b)
	}
	s.universe = universe{f.u64("the buckets"), f.u64("the width")}
	s.checksum = f.u32("the checksum of the sections")
	s.setName = f.setName()
	if flags != 0 {
		p.readRule(f, uint8(flags), uint64(f.u16("the length of "+ruleName(uint8(flags)))))
	}
	if reserved != 0 {
		f.fail("the reserved bytes must be 0")
	}
	if err := f.end(); err != nil {
		return nil, err
	}
	if err := p.requireValid(); err != nil {
		return nil, err
	}
	switch {
	case s.windowStartMillis > s.windowEndMillis:
		return nil, malformed("the window must not end before it starts")
	// An int of 32 bits may be negative.
	case uint32(s.number) >= uint32(p.Shards):
		return nil, malformed("the shard must be below %d, got %d", p.Shards, s.number)
	case s.sequence > math.MaxInt64 || s.hashCount > math.MaxInt64:
		return nil, malformed("sequence and number of hashes must be below 2^63")
	}
	return data[size:], p.requireRoom(s.universe, s.count, s.hashCount)
}

func (s *snapshotFile) openPayload() error {
	if s.payloadBytes != (s.payloadBits+7)/8 {
		return malformed("a payload of %d bits must have %d bytes, got %d", s.payloadBits, (s.payloadBits+7)/8, s.payloadBytes)
	}
	if bitsAt(s.payload, s.payloadBits, int(-s.payloadBits&7)) != 0 {
		return malformed("the padding of the payload must be zero")
	}
	s.code = golombCodeOf(s.count, s.universe.size())
	if s.code.m != s.golombParameter {
		return malformed("the Golomb parameter must be %d, got %d", s.code.m, s.golombParameter)
	}
	if s.count > s.payloadBits/uint64(s.code.fieldBits+1) || s.count == 0 && s.payloadBits > 0 {
		return malformed("%d values cannot have codes of %d bits", s.count, s.payloadBits)
	}
	return nil
}

// bucketStarts returns the bit positions at which the buckets begin, and the end of the last one.
func (s *snapshotFile) bucketStarts(data []byte) ([]uint64, error) {
	buckets := s.universe.buckets
	if buckets == 1 {
		if len(data) != 0 {
			return nil, malformed("the bucket starts must have 0 bytes, got %d", len(data))
		}
		return []uint64{0, s.payloadBits}, nil
	}
	if len(data) < 18 {
		return nil, malformed("the bucket starts must have at least 18 bytes, got %d", len(data))
	}
	end := &fields{data: data[len(data)-18:]}
	groupBase, memberBase := int64(end.u64("gBase")), int64(end.u64("dBase"))
	groupWidth, memberWidth := int(end.u8("gWidth")), int(end.u8("dWidth"))
	if groupWidth > maxStartBits || memberWidth > maxStartBits {
		return nil, malformed("a bucket start must have at most %d bits", maxStartBits)
	}
	groups := (buckets + 7) / 8
	record := uint64(groupWidth + 7*memberWidth)
	size := groups*record + uint64(groupWidth)
	if uint64(len(data)) != (size+7)/8+18 {
		return nil, malformed("the bucket starts must have %d bytes, got %d", (size+7)/8+18, len(data))
	}
	if bitsAt(data, size, int(-size&7)) != 0 {
		return nil, malformed("the padding of the bucket starts must be zero")
	}
	// A position is below 2^34, so a base that matters is below 2^45 and its sums do not overflow.
	const far = 1 << 50
	if groupBase < -far || groupBase > far || memberBase < -far || memberBase > far {
		return nil, malformed("the bases of the bucket starts are too large")
	}
	slope := s.payloadBits << 19 / buckets
	// Below 2^31 · 2^34, and the quotient below 2^34.
	line := func(group uint64) int64 { return int64(group * slope >> 16) }
	group := func(j uint64) int64 {
		return line(j) + groupBase + int64(bitsAt(data, j*record, groupWidth))
	}
	mean := s.payloadBits / buckets
	starts := make([]uint64, 0, 8*groups+1)
	least := [2]int64{math.MaxInt64, math.MaxInt64}
	greatest := [2]int64{math.MinInt64, math.MinInt64}
	before := int64(0)
	add := func(start int64, kind int, deviation int64) error {
		at := uint64(len(starts))
		sound := start >= before && start <= int64(s.payloadBits) && (at > 0 || start == 0)
		if at >= buckets {
			sound = start == int64(s.payloadBits+(at-buckets)*mean)
		}
		if !sound {
			return malformed("bucket %d must not start at bit %d", at, start)
		}
		starts, before = append(starts, uint64(start)), start
		least[kind], greatest[kind] = min(least[kind], deviation), max(greatest[kind], deviation)
		return nil
	}
	for j := range groups {
		begin, next := group(j), group(j+1)
		if err := add(begin, 0, begin-line(j)); err != nil {
			return nil, err
		}
		for k := range int64(7) {
			deviation := memberBase + int64(bitsAt(data, j*record+uint64(groupWidth)+uint64(k)*uint64(memberWidth), memberWidth))
			if err := add(begin+(next-begin)*(k+1)>>3+deviation, 1, deviation); err != nil {
				return nil, err
			}
		}
	}
	end8 := group(groups)
	if err := add(end8, 0, end8-line(groups)); err != nil {
		return nil, err
	}
	for kind, base := range []int64{groupBase, memberBase} {
		width := []int{groupWidth, memberWidth}[kind]
		if least[kind] != base || bits.Len64(uint64(greatest[kind]-base)) != width {
			return nil, malformed("the bucket starts must be in their least form")
		}
	}
	return starts[:buckets+1], nil
}

// decode returns the set of the file.
func (s *snapshotFile) decode(starts []uint64) (*shard, error) {
	builder, err := newShardBuilder(s.universe, s.count, s.hashCount)
	if err != nil {
		return nil, err
	}
	for bucket := range s.universe.buckets {
		if err := s.decodeBucket(builder, bucket, starts[bucket], starts[bucket+1]); err != nil {
			return nil, err
		}
	}
	set, err := builder.finish()
	if err == nil && set.digest != s.setDigest {
		return nil, malformed("the set digest must be %x, got %x", set.digest, s.setDigest)
	}
	return set, err
}

func (s *snapshotFile) decodeBucket(builder *shardBuilder, bucket, from, to uint64) error {
	least, last := bucket*s.universe.width, (bucket+1)*s.universe.width-1
	for from < to {
		field := bitsAt(s.payload, from, s.code.fieldBits)
		from += uint64(s.code.fieldBits)
		quotient := onesBefore(s.payload, to)
		// Without a zero bit, to is now below from, also if it wraps around.
		used := quotient + 1
		more := field >= s.code.cutoff
		if more {
			used++
		}
		if used > to || to-used < from {
			return malformed("the codes of bucket %d must fill it", bucket)
		}
		to -= used
		if more {
			field = field<<1 + bitsAt(s.payload, to, 1) - s.code.cutoff
		}
		distance, ok := s.code.distance(quotient, field)
		value, carry := bits.Add64(least, distance, 0)
		if !ok || carry > 0 || value > last {
			return malformed("a value of bucket %d must be at most %d", bucket, last)
		}
		if value == last && from < to {
			return malformed("codes of bucket %d follow its greatest value", bucket)
		}
		if err := builder.add(value); err != nil {
			return err
		}
		least = value + 1
	}
	return nil
}

// onesBefore returns the number of consecutive one bits before a bit position.
func onesBefore(data []byte, position uint64) uint64 {
	start := position
	for position > 0 {
		width := min(63, position)
		run := uint64(bits.TrailingZeros64(^bitsAt(data, position-width, int(width))))
		if run = min(run, width); run < width {
			return start - position + run
		}
		position -= width
	}
	return start
}
