package firstseen

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"regexp"
	"strconv"
	"unicode/utf8"

	"firstseen.io/firstseen/internal/canonical"
)

const (
	maxNearRuleBytes = 30
	// A band of this many live texts is boilerplate, and is ignored.
	maxTextsOfBand = 8
	tagBits        = 12
	bitsAboveTag   = 24
	tagShift       = 64 - bitsAboveTag - tagBits
)

var nearForm = regexp.MustCompile(`^(characters|words):([1-9][0-9]?),([1-9][0-9]?)x([1-9][0-9]?),([12])(\+fold)?$`)

// A nearRule states which texts resemble each other (docs/format/near-v1.md).
type nearRule struct {
	ofWords                       bool
	shingle, bands, rows, matches int
	folds                         bool
	// Component c of a shingle with the hash h is factors[c] · h + terms[c] without its lowest bit.
	factors, terms []uint32
}

// parseNearRule reads the parameters of a rule in their one form.
func parseNearRule(text string) (*nearRule, error) {
	form := nearForm.FindStringSubmatch(text)
	if form == nil {
		return nil, malformed("the rule for near-duplicates must have all parameters, got %q", text)
	}
	var numbers [4]int
	for i := range numbers {
		numbers[i], _ = strconv.Atoi(form[i+2])
	}
	r := &nearRule{form[1] == "words", numbers[0], numbers[1], numbers[2], numbers[3], form[6] != "", nil, nil}
	if r.shingle > 16 || r.bands > 64 || r.rows > 16 || r.matches > r.bands {
		return nil, malformed("the rule for near-duplicates must be in its bounds, got %q", text)
	}
	for c := range r.bands * r.rows {
		mixed := splitMix(uint64(c + 1))
		r.factors = append(r.factors, uint32(mixed>>32)|1)
		r.terms = append(r.terms, uint32(mixed))
	}
	return r, nil
}

// splitMix returns the output of SplitMix64 of the state n times the golden gamma.
func splitMix(n uint64) uint64 {
	z := n * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *nearRule) hasTags() bool { return r.matches > 1 }

// nearRuleOf reads the rule in a file.
func nearRuleOf(f *fields, text []byte) string {
	if f.err != nil {
		return ""
	}
	_, f.err = parseNearRule(string(text))
	return string(text)
}

// requireRoomForTags rejects a range in which two tags of a band share a value.
func (p *Parameters) requireRoomForTags(u universe) error {
	if p.Near == "" {
		return nil
	}
	rule, err := parseNearRule(p.Near)
	if err != nil || !rule.hasTags() {
		return err
	}
	if size := u.size(); size.Lsh(size, uint(p.shardBits())).Cmp(new(big.Int).Lsh(big.NewInt(1), bitsAboveTag+tagBits)) < 0 {
		return malformed("a range of %d · %d is too small for the tags of %s", u.buckets, u.width, p.Near)
	}
	return nil
}

// bandsOf returns the bands of a text in canonical form.
func (r *nearRule) bandsOf(hash *KeyHash, scope, form string) []uint64 {
	least := make([]uint32, len(r.factors))
	for c := range least {
		least[c] = math.MaxUint32
	}
	if r.folds {
		form = canonical.FoldLookAlikes(form, r.ofWords)
	}
	r.forEachShingle(form, func(shingle string) {
		low := uint32(hash.hash(shingle))
		for c := range least {
			least[c] = min(least[c], (r.factors[c]*low+r.terms[c])>>1)
		}
	})
	bands := make([]uint64, r.bands)
	prefix := binary.BigEndian.AppendUint64(nil, hash.hash(scope))
	for i := range bands {
		band := append(prefix[:8:8], uint8(i))
		for _, component := range least[i*r.rows : (i+1)*r.rows] {
			band = binary.BigEndian.AppendUint32(band, component)
		}
		bands[i] = hash.hash(string(band))
	}
	return bands
}

func (r *nearRule) forEachShingle(text string, visit func(string)) {
	var starts []int
	for at := range len(text) {
		if r.ofWords && text[at] != ' ' && (at == 0 || text[at-1] == ' ') || !r.ofWords && utf8.RuneStart(text[at]) {
			starts = append(starts, at)
		}
	}
	if len(starts) < r.shingle {
		visit(text)
		return
	}
	for i := range len(starts) - r.shingle + 1 {
		end := len(text)
		if i+r.shingle < len(starts) {
			end = starts[i+r.shingle]
			if r.ofWords {
				// The space before the next word is not part of the shingle.
				end--
			}
		}
		visit(text[starts[i]:end])
	}
}

// Resembles returns how many bands a text shares with the live text that resembles it most: 0 if no live
// text resembles it, all bands of the rule if the text itself is live. The error of a set that was
// published without --near is ErrUnsupported.
func (s *Set) Resembles(text string) (equalBands int, err error) { return s.ResemblesIn("", text) }

// ResemblesIn is [Set.Resembles] for the texts of a scope.
func (s *Set) ResemblesIn(scope, text string) (equalBands int, err error) {
	if s.near == nil {
		return 0, unsupported("set %q has no rule for near-duplicates: publish it with --near", s.Name)
	}
	form, err := s.rule.Form(text)
	if err != nil {
		return 0, err
	}
	whole, err := s.hash.Hash(scope, form)
	if err != nil {
		return 0, err
	}
	if s.ContainsHash(whole) {
		return s.near.bands, nil
	}
	counts := map[uint64]int{}
	for _, band := range s.near.bandsOf(s.hash, scope, form) {
		tags := s.tagsOf(band)
		if len(tags) == maxTextsOfBand {
			continue
		}
		for _, tag := range tags {
			counts[tag]++
			equalBands = max(equalBands, counts[tag])
		}
	}
	if equalBands < s.near.matches {
		return 0, nil
	}
	return equalBands, nil
}

// tagsOf returns the tags of the live texts with a band, at most maxTextsOfBand.
func (s *Set) tagsOf(band uint64) (tags []uint64) {
	if !s.near.hasTags() {
		if s.ContainsHash(band) {
			tags = append(tags, 0)
		}
		return tags
	}
	const mask = (1<<tagBits - 1) << tagShift
	one := s.shards[band>>(64-s.shardBits)]
	if one == nil || one.count == 0 {
		return nil
	}
	first, last := band&^mask<<s.shardBits, (band|mask)<<s.shardBits
	step := uint64(1) << (tagShift + s.shardBits)
	values := one.valuesFrom(one.value(first))
	for len(tags) < maxTextsOfBand {
		value, ok := values.next()
		if !ok || value > one.value(last) {
			break
		}
		// The least suffix with this value, and the first tag from there on.
		suffix := one.leastSuffix(value)
		tag := uint64(0)
		if suffix > first {
			tag = (suffix-first-1)/step + 1
		}
		if tag < 1<<tagBits && one.value(first+tag*step) == value {
			tags = append(tags, tag)
		}
	}
	return tags
}

// leastSuffix returns the least hash without its shard bits that has a value.
func (u universe) leastSuffix(value uint64) uint64 {
	size := u.buckets * u.width
	if size == 0 { // 2^64
		return value
	}
	quotient, rest := bits.Div64(value, 0, size)
	if rest > 0 {
		quotient++
	}
	return quotient
}
