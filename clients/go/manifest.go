package firstseen

import (
	"bytes"
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"firstseen.io/firstseen/internal/canonical"
)

const (
	manifestMagic    = "\x89FSM"
	maxManifestBytes = 16_384
	// The end of the year 9999.
	maxMillis = 253_402_300_799_999
	// The bits of the required flags, each for one more field.
	strippedFlag = 1
	nearFlag     = 2
	knownFlags   = strippedFlag | nearFlag
)

// Bits of the parts of a manifest.
const (
	hasExpiry = 1 << iota
	hasBlobs
	hasPack
	hasSignature
	hasExtension
	allParts = 1<<iota - 1
)

// A Manifest describes a set at the end of a window. It is immutable.
type Manifest struct {
	SetName  string
	Sequence uint64
	// Times are in milliseconds since 1970. ExpiresMillis is 0 for a manifest that does not expire.
	WindowStartMillis, WindowEndMillis, PublishedMillis, ExpiresMillis int64
	Parameters                                                         Parameters
	// Count is the number of keys.
	Count uint64
	// Root identifies the sets of all shards.
	Root [32]byte
	// Pack is the newest pack; nil for a set that never held a key.
	Pack *Reference
	// PackBytes is the number of bytes of all packs up to the newest.
	PackBytes int64
	// Blobs is the URI of the directory of the blobs; "" if they are stored with the manifest.
	Blobs string

	data, signed, signature []byte
	signatureKey            [8]byte
}

// ParseManifest reads a manifest. It does not check the signature.
func ParseManifest(data []byte) (*Manifest, error) {
	f := &fields{data: data}
	if string(f.take(4, "the magic number")) != manifestMagic {
		return nil, malformed("this is not a manifest: the magic number is missing")
	}
	flags := f.version("manifest", knownFlags)
	parts := f.u8("the parts")
	if f.err != nil {
		return nil, f.err
	}
	if parts&^allParts != 0 {
		return nil, unsupported("the manifest has parts 0x%02x, of which this reader knows 0x%02x", parts, allParts)
	}
	checked := len(data) - 4
	if parts&hasSignature != 0 {
		checked -= 72
	}
	if checked < len(data)-len(f.data) {
		return nil, malformed("the manifest ends too early")
	}
	m := &Manifest{data: bytes.Clone(data)}
	m.signed = m.data[:checked+4]
	end := &fields{data: data[checked:]}
	if end.u32("the checksum") != crc32c(data[:checked]) {
		return nil, malformed("the checksum of the manifest does not match its bytes")
	}
	if parts&hasSignature != 0 {
		copy(m.signatureKey[:], end.take(8, "the id of the key"))
		m.signature = m.data[checked+12:]
	}
	f.data = f.data[:len(f.data)-(len(data)-checked)]
	m.read(f, flags, parts)
	if err := f.end(); err != nil {
		return nil, err
	}
	return m, m.check()
}

func (m *Manifest) read(f *fields, flags, parts uint8) {
	m.SetName = f.setName()
	m.Sequence = f.leb("sequence")
	m.WindowEndMillis = int64(f.u64("windowEndMillis"))
	window := int64(f.leb("the length of the window"))
	if m.WindowEndMillis < math.MinInt64+window {
		f.fail("the window must not begin before -2^63 ms")
	}
	m.WindowStartMillis = m.WindowEndMillis - window
	m.PublishedMillis = int64(f.lebIn("publishedMillis", 0, maxMillis))
	if parts&hasExpiry != 0 {
		m.ExpiresMillis = m.PublishedMillis + int64(f.lebIn("the time until the expiry", 1, maxMillis))
	}
	p := &m.Parameters
	p.HashAlgorithm, p.KeyCheck = f.u8("the hash"), f.u64("keyCheck")
	p.CanonicaliserCode = f.u8("the canonicaliser")
	if f.err == nil {
		f.err = p.requireKnown()
	}
	p.CanonicaliserVersion = int(f.lebIn("canonicaliserVersion", 0, 1<<16))
	if flags != 0 {
		most := uint64(canonical.MaxPatterns)
		if flags == nearFlag {
			most = maxNearRuleBytes
		}
		p.readRule(f, flags, f.lebIn("the length of "+ruleName(flags), 1, most))
	}
	p.Shards = int(f.lebIn("shards", 0, maxShards))
	p.FalsePositiveRate = math.Float64frombits(f.u64("falsePositiveRate"))
	m.Count = f.lebIn("count", 0, maxCount)
	m.Root = f.digest("the root")
	if parts&hasPack != 0 {
		pack := f.reference("the pack")
		m.Pack = &pack
		m.PackBytes = int64(f.lebIn("packBytes", 0, maxTotalBytes))
	}
	if parts&hasBlobs != 0 {
		m.Blobs = string(f.take(f.lebIn("the length of blobs", 1, 2000), "blobs"))
	}
	if parts&hasExtension != 0 {
		// Fields of later releases.
		f.take(f.lebIn("the length of the extension", 1, 4096), "the extension")
	}
}

func (m *Manifest) check() error {
	if err := m.Parameters.requireValid(); err != nil {
		return err
	}
	switch {
	case m.ExpiresMillis > maxMillis:
		return malformed("expiresMillis must be at most %d", int64(maxMillis))
	case m.Pack == nil && m.Count > 0:
		return malformed("count must be 0 without a pack, got %d", m.Count)
	case m.Pack != nil && m.PackBytes < m.Pack.Length:
		return malformed("packBytes must be at least %d, got %d", m.Pack.Length, m.PackBytes)
	case m.Blobs != "" && !isDirectoryURI(m.Blobs):
		return malformed("blobs must be the URI of a directory, got %q", m.Blobs)
	}
	return nil
}

// String returns the sequence and the name of the set.
func (m *Manifest) String() string {
	return fmt.Sprintf("sequence %d of set %q", m.Sequence, m.SetName)
}

// leadsTo returns whether packs can lead from the set of this manifest to the set of a later one.
func (m *Manifest) leadsTo(later *Manifest) bool {
	return m.SetName == later.SetName && m.Parameters == later.Parameters
}

// directoryURI is the expression in docs/format/manifest-v1.md without its assertions, which isDirectoryURI
// checks. The groups are the scheme, the authority, an IPv6 address in it, and the path.
var directoryURI = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):` +
	`(//(?:[A-Za-z0-9_.!~*'(),;:$&+=-]+|\[([0-9A-Fa-f:.]+)\](?::[0-9]*)?)|)` +
	`((?:/(?:[A-Za-z0-9_.!~*'(),;:$&+=@/-]|%[0-9A-Fa-f]{2})*)?)$`)

func isDirectoryURI(uri string) bool {
	match := directoryURI.FindStringSubmatch(uri)
	if match == nil {
		return false
	}
	scheme, authority, address, path := match[1], match[2], match[3], match[4]
	if address != "" {
		if ip, err := netip.ParseAddr(address); err != nil || !ip.Is6() {
			return false
		}
	}
	if authority == "" {
		// Without an authority, the path starts with one slash, or with an empty authority.
		if path == "" || strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "///") {
			return false
		}
	}
	for rest := path; ; {
		_, after, escaped := strings.Cut(rest, "%")
		if !escaped {
			break
		}
		if strings.HasPrefix(after, "00") {
			return false
		}
		rest = after
	}
	return scheme != "file" || authority == ""
}

// manifestName returns the file name of a manifest.
func manifestName(sequence uint64) string { return fmt.Sprintf("manifest-%010d.bin", sequence) }

// sequenceOf returns the sequence in the file name of a manifest.
func sequenceOf(name string) (uint64, bool) {
	digits := strings.TrimSuffix(strings.TrimPrefix(name, "manifest-"), ".bin")
	sequence, err := strconv.ParseUint(digits, 10, 63)
	return sequence, err == nil && name == manifestName(sequence)
}
