package firstseen

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// ln 2 · 2^64, to the nearest.
var ln2 = new(big.Int).SetUint64(0xB17217F7D1CF79AC)

// A golombCode is the parameter m for a number of values in a range, and what follows from it.
type golombCode struct {
	m uint64
	// fieldBits is floor(log2 m), cutoff is 2^(fieldBits+1) − m.
	fieldBits int
	cutoff    uint64
}

// golombCodeOf returns the code of count values below bound (docs/format/blob-v1.md, Lists).
func golombCodeOf(count uint64, bound *big.Int) golombCode {
	m := uint64(1)
	if count > 0 {
		n := new(big.Int).SetUint64(count)
		sum := new(big.Int).Mul(ln2, bound)
		sum.Add(sum.Lsh(sum, 1), new(big.Int).Lsh(n, 64))
		if quotient := sum.Div(sum, n.Lsh(n, 65)); quotient.Sign() > 0 {
			m = quotient.Uint64()
		}
	}
	fieldBits := bits.Len64(m) - 1
	return golombCode{m, fieldBits, 1<<(fieldBits+1) - m}
}

// distance returns quotient · m + remainder, if it is below 2^64.
func (c *golombCode) distance(quotient, remainder uint64) (uint64, bool) {
	high, low := bits.Mul64(quotient, c.m)
	sum, carry := bits.Add64(low, remainder, 0)
	return sum, high == 0 && carry == 0
}

// bitsAt returns the number in up to 63 bits at a bit position; bits beyond the end are 0.
func bitsAt(data []byte, position uint64, width int) uint64 {
	if width == 0 {
		return 0
	}
	at, skip := position>>3, int(position&7)
	var first, ninth uint64
	if at+9 <= uint64(len(data)) {
		first, ninth = binary.BigEndian.Uint64(data[at:]), uint64(data[at+8])
	} else if at < uint64(len(data)) {
		var tail [9]byte
		copy(tail[:], data[at:])
		first, ninth = binary.BigEndian.Uint64(tail[:]), uint64(tail[8])
	}
	return (first<<skip | ninth>>(8-skip)) >> (64 - width)
}

// A list is a sequence of ascending numbers below a bound in Golomb codes.
type list struct {
	codes []byte
	count uint64
	// The bits of the codes in codes, from start up to end.
	start, end uint64
	// padded is whether up to 7 zero bits follow the codes.
	padded bool
}

// requireBits rejects more numbers than the bits can hold. Without a bound, each takes at least one bit.
func (l *list) requireBits(bound *big.Int) error {
	least := uint64(1)
	if bound != nil {
		least += uint64(golombCodeOf(l.count, bound).fieldBits)
	}
	// count is at most 2^40 and least at most 64.
	if size := l.end - l.start; l.count*least > size || l.count == 0 && size >= 8 {
		return malformed("%d values cannot have codes of %d bits", l.count, size)
	}
	return nil
}

// numbers decodes a list. After the last number, or a failure, ok is false.
type numbers struct {
	list
	golombCode
	last     uint64
	position uint64
	least    uint64
	err      error
}

// decode begins to decode the numbers of a list, which are at most last, the bound less one.
func (l *list) decode(bound *big.Int, last uint64) (*numbers, error) {
	if err := l.requireBits(bound); err != nil {
		return nil, err
	}
	return &numbers{list: *l, golombCode: golombCodeOf(l.count, bound), last: last, position: l.start}, nil
}

func (n *numbers) next() (number uint64, ok bool) {
	if n.count == 0 || n.err != nil {
		n.finish()
		return 0, false
	}
	n.count--
	quotient := n.ones()
	field := bitsAt(n.codes, n.position, n.fieldBits)
	n.position += uint64(n.fieldBits)
	if field >= n.cutoff {
		field = field<<1 + bitsAt(n.codes, n.position, 1) - n.cutoff
		n.position++
	}
	if n.position > n.end {
		n.err = malformed("a code must end with its list")
		return 0, false
	}
	distance, ok := n.distance(quotient, field)
	number, carry := bits.Add64(n.least, distance, 0)
	if !ok || carry > 0 || number > n.last {
		n.err = malformed("a number must be at most %d", n.last)
		return 0, false
	}
	if number == n.last && n.count > 0 {
		n.err = malformed("%d numbers follow the greatest", n.count)
		return 0, false
	}
	n.least = number + 1
	return number, true
}

// ones reads one bits and the zero bit after them.
func (n *numbers) ones() (count uint64) {
	for n.position < n.end {
		ahead := bitsAt(n.codes, n.position, 63) << 1
		run := uint64(bits.LeadingZeros64(^ahead))
		if run < 63 {
			n.position += run + 1
			return count + run
		}
		n.position += 63
		count += 63
	}
	n.position = n.end + 1
	return count
}

// finish checks what follows the codes.
func (n *numbers) finish() {
	if n.err != nil {
		return
	}
	left := n.end - n.position
	if left > 0 && (!n.padded || left >= 8) {
		n.err = malformed("the codes must end at bit %d, they end at bit %d", n.end, n.position)
	} else if bitsAt(n.codes, n.position, int(left)) != 0 {
		n.err = malformed("the bits from bit %d on must be 0", n.position)
	}
}
