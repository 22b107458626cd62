package firstseen

import "math/big"

const (
	blobMagic = "\x89FSB"
	// maxChain is the limit of consecutive packs, and of sections per shard in a list of bases.
	maxChain = 4096
)

// Kinds of blobs.
const (
	packBlob     = 1
	baseBlob     = 2
	baseListBlob = 3
)

var blobNames = [...]string{packBlob: "a pack", baseBlob: "a base", baseListBlob: "a list of bases"}

// Kinds of sections.
const (
	changeSection = 1
	wholeSection  = 2
)

// A section has the changes of a window in one shard, or the whole set of the shard.
type section struct {
	kind   uint8
	hidden uint64
	// universe is that of a whole set.
	universe
	// added has the values of a whole set, or the values that a change adds; removed the places of
	// the values that a change removes.
	added, removed list
}

func parseSection(data []byte) (*section, error) {
	f := &fields{data: data}
	s := &section{kind: f.u8("the kind of a section")}
	if f.err == nil && s.kind != changeSection && s.kind != wholeSection {
		return nil, unsupported("the kind of a section must be 1 or 2, got %d", s.kind)
	}
	s.hidden = f.lebIn("the number of hashes that share a value", 0, maxCount)
	if s.kind == wholeSection {
		s.buckets = f.leb("the number of buckets")
		s.width = f.leb("the width of a bucket")
		if f.err == nil {
			f.err = s.universe.requireValid(0)
		}
	}
	s.added.count = f.lebIn("the number of values", 0, maxCount)
	addedBits := uint64(0)
	if s.kind == changeSection {
		s.removed.count = f.lebIn("the number of removed values", 0, maxCount)
		addedBits = f.leb("the number of bits of the added values")
	}
	if f.err != nil {
		return nil, f.err
	}
	size := 8 * uint64(len(f.data))
	s.added.codes, s.removed.codes = f.data, f.data
	if s.kind == wholeSection {
		s.added.end, s.added.padded = size, true
		if s.added.count == 0 && s.hidden > 0 {
			return nil, malformed("a set without values must have no hashes")
		}
		if err := s.requireFits(s.added.count); err != nil {
			return nil, err
		}
		return s, s.added.requireBits(s.universe.size())
	}
	if addedBits > size {
		return nil, malformed("the added values must end in %d bits, got %d", size, addedBits)
	}
	if s.added.count == 0 && addedBits > 0 {
		return nil, malformed("no values cannot have codes")
	}
	s.added.end = addedBits
	s.removed.start, s.removed.end, s.removed.padded = addedBits, size, true
	if err := s.added.requireBits(nil); err != nil {
		return nil, err
	}
	return s, s.removed.requireBits(nil)
}

// whole returns the set of a whole section.
func (s *section) whole(p *Parameters) (*shard, error) {
	hashCount := s.added.count + s.hidden
	if err := p.requireSet(s.universe, s.added.count, hashCount); err != nil {
		return nil, err
	}
	decoder, err := s.added.decode(s.universe.size(), s.last())
	if err != nil {
		return nil, err
	}
	builder, err := newShardBuilder(s.universe, s.added.count, hashCount)
	if err != nil {
		return nil, err
	}
	for value, ok := decoder.next(); ok; value, ok = decoder.next() {
		if err := builder.add(value); err != nil {
			return nil, err
		}
	}
	if decoder.err != nil {
		return nil, decoder.err
	}
	return builder.finish()
}

// change returns the set after a change.
func (s *section) change(p *Parameters, before *shard) (*shard, error) {
	if s.removed.count > before.count {
		return nil, malformed("%d values can be removed, got %d", before.count, s.removed.count)
	}
	added, err := s.added.decode(before.size(), before.last())
	if err != nil {
		return nil, err
	}
	removed, err := s.removed.decode(new(big.Int).SetUint64(before.count), before.count-1)
	if err != nil {
		return nil, err
	}
	count := before.count - s.removed.count + s.added.count
	hashCount := count + s.hidden
	if err := p.requireSet(before.universe, count, hashCount); err != nil {
		return nil, err
	}
	builder, err := newShardBuilder(before.universe, count, hashCount)
	if err != nil {
		return nil, err
	}
	held := values{shard: before}
	more, hasMore := added.next()
	place, hasPlace := removed.next()
	for value, ok := held.next(); ok; value, ok = held.next() {
		for ; hasMore && more < value; more, hasMore = added.next() {
			if err := builder.add(more); err != nil {
				return nil, err
			}
		}
		if hasMore && more == value {
			return nil, malformed("an added value must not be there before")
		}
		if hasPlace && place == held.index-1 {
			place, hasPlace = removed.next()
			continue
		}
		if err := builder.add(value); err != nil {
			return nil, err
		}
	}
	for ; hasMore; more, hasMore = added.next() {
		if err := builder.add(more); err != nil {
			return nil, err
		}
	}
	if added.err != nil {
		return nil, added.err
	}
	if removed.err != nil {
		return nil, removed.err
	}
	return builder.finish()
}

// requireSet checks the rules for a set that sections lead to.
func (p *Parameters) requireSet(u universe, count, hashCount uint64) error {
	if err := p.requireRoom(u, count, hashCount); err != nil {
		return err
	}
	return p.requireRate(u, hashCount)
}

// apply returns the set of a shard after sections, oldest first.
func apply(p *Parameters, before *shard, sections []*section) (*shard, error) {
	// Sections before a whole set have no effect.
	for i := len(sections) - 1; i >= 0; i-- {
		if sections[i].kind == wholeSection {
			sections = sections[i:]
			break
		}
	}
	for _, s := range sections {
		var err error
		switch {
		case s.kind == wholeSection:
			before, err = s.whole(p)
		case before == nil:
			err = malformed("the section changes a set, but there is no previous set")
		default:
			before, err = s.change(p, before)
		}
		if err != nil {
			return nil, err
		}
	}
	return before, nil
}

// openBlob checks the frame of a blob, and returns the fields of its body. A setName of "" is any.
func openBlob(data []byte, setName string, kind uint8) (*fields, error) {
	f := &fields{data: data}
	if string(f.take(4, "the magic number")) != blobMagic {
		return nil, malformed("this is not a blob: the magic number is missing")
	}
	f.version("blob", 0)
	given := f.u8("the kind")
	if f.err == nil && (given < packBlob || given > baseListBlob) {
		return nil, unsupported("the kind of a blob must be 1 to 3, got %d", given)
	}
	name := f.setName()
	body := f.take(uint64(max(0, len(f.data)-4)), "the body")
	checksum := f.u32("the checksum")
	switch {
	case f.err != nil:
		return nil, f.err
	case checksum != crc32c(data[:len(data)-4]):
		return nil, malformed("the checksum of the blob does not match its %d bytes", len(data))
	case given != kind:
		return nil, malformed("this must be %s, it is %s", blobNames[kind], blobNames[given])
	case setName != "" && name != setName:
		return nil, malformed("the blob must be of set %q, got %q", setName, name)
	}
	return &fields{data: body}, nil
}

// A pack has the changes of one window, and references to the previous pack and the bases.
type pack struct {
	sequence   uint64
	before     *Reference
	keptFrom   int64
	bases      Reference
	basesBytes int64
	packsSince int64
	sections   map[int]*section
}

func parsePack(data []byte, setName string, shards int) (*pack, error) {
	f, err := openBlob(data, setName, packBlob)
	if err != nil {
		return nil, err
	}
	p := &pack{sequence: f.leb("the sequence"), sections: map[int]*section{}}
	mark := f.u8("the mark of the previous pack")
	if mark > 1 {
		f.fail("the mark of the previous pack must be 0 or 1, got %d", mark)
	}
	if mark == 1 {
		before := f.reference("the previous pack")
		p.before = &before
	}
	p.keptFrom = int64(f.lebIn("keptFrom", 0, maxTotalBytes))
	p.bases = f.reference("the list of bases")
	p.basesBytes = int64(f.lebIn("basesBytes", uint64(p.bases.Length), maxTotalBytes))
	p.packsSince = int64(f.lebIn("packsSince", 0, maxTotalBytes))
	count := f.lebIn("the number of sections", 1, uint64(shards))
	type place struct {
		shard  int
		length uint64
	}
	var places []place
	for next := 0; f.err == nil && count > 0; count-- {
		if next == shards {
			f.fail("a section must be of a shard below %d", shards)
			break
		}
		shard := next + int(f.lebIn("the gap to the next shard", 0, uint64(shards-1-next)))
		places = append(places, place{shard, f.lebIn("the length of a section", 1, maxBytes)})
		next = shard + 1
	}
	for _, one := range places {
		p.sections[one.shard] = f.section(one.length)
	}
	return p, f.end()
}

// section reads a section of a length.
func (f *fields) section(length uint64) *section {
	data := f.take(length, "a section")
	if f.err != nil {
		return nil
	}
	s, err := parseSection(data)
	f.err = err
	return s
}

// parseBase reads the whole set of one shard, any shard if it is negative.
func parseBase(data []byte, setName string, shard int) (*section, error) {
	f, err := openBlob(data, setName, baseBlob)
	if err != nil {
		return nil, err
	}
	number := int(f.lebIn("the shard", 0, maxShards-1))
	if shard >= 0 && number != shard {
		f.fail("the base must be of shard %d, got %d", shard, number)
	}
	s := f.section(uint64(len(f.data)))
	if f.err == nil && s.kind != wholeSection {
		f.fail("a base must have a whole set")
	}
	return s, f.end()
}

// A baseList names the base of each shard, and has the later sections.
type baseList struct {
	sequence uint64
	// bases has nil for a shard without a base.
	bases    []*Reference
	sections [][]*section
}

// parseBaseList reads a list of bases, of any number of shards if it is 0.
func parseBaseList(data []byte, setName string, shards int) (*baseList, error) {
	f, err := openBlob(data, setName, baseListBlob)
	if err != nil {
		return nil, err
	}
	l := &baseList{sequence: f.leb("the sequence")}
	count := int(f.lebIn("the number of shards", 1, maxShards))
	if shards != 0 && count != shards {
		f.fail("there must be all %d shards, got %d", shards, count)
	}
	var lengths [][]uint64
	for range count {
		length := f.lebIn("the length of the base", 0, maxBytes)
		var base *Reference
		var each []uint64
		if length > 0 {
			base = &Reference{f.digest("the digest of the base"), int64(length)}
			for left := f.lebIn("the number of sections", 0, maxChain); left > 0 && f.err == nil; left-- {
				each = append(each, f.lebIn("the length of a section", 1, maxBytes))
			}
		}
		if f.err != nil {
			return nil, f.err
		}
		l.bases, lengths = append(l.bases, base), append(lengths, each)
	}
	for _, each := range lengths {
		var sections []*section
		for _, length := range each {
			sections = append(sections, f.section(length))
		}
		l.sections = append(l.sections, sections)
	}
	return l, f.end()
}
