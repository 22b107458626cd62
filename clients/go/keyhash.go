package firstseen

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"unsafe"

	"github.com/dchest/siphash"
	"github.com/zeebo/xxh3"

	"firstseen.io/firstseen/internal/canonical"
)

const (
	sipHash       = 1
	xxh3Hash      = 2
	maxScopeBytes = 65_536
	publicKey     = "firstseen-public"
	checkMessage  = "firstseen key check"
)

// A KeyHash is a keyed hash function for keys. It is immutable.
type KeyHash struct {
	algorithm uint8
	k0, k1    uint64
	check     uint64
}

func newKeyHash(algorithm uint8, k0, k1 uint64) *KeyHash {
	hash := &KeyHash{algorithm: algorithm, k0: k0, k1: k1}
	hash.check = hash.hash(checkMessage)
	return hash
}

// NewSipHash returns SipHash-2-4 with a key.
func NewSipHash(key [16]byte) *KeyHash {
	return newKeyHash(sipHash, binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:]))
}

// NewXXH3 returns the 64-bit XXH3 with a seed, for trusted keys only.
func NewXXH3(seed uint64) *KeyHash { return newKeyHash(xxh3Hash, seed, 0) }

// PublicKeyHash returns SipHash-2-4 with the public key, the default.
func PublicKeyHash() *KeyHash { return NewSipHash([16]byte([]byte(publicKey))) }

// ParseKeyHash returns SipHash-2-4 with a key of 32 hexadecimal digits.
func ParseKeyHash(digits string) (*KeyHash, error) {
	key, err := hex.DecodeString(digits)
	if err != nil || len(key) != 16 {
		// The text may be a mistyped secret, so the message does not contain it.
		return nil, unsupported("a hash key must be 32 hexadecimal digits, got %d characters that are not", len(digits))
	}
	return NewSipHash([16]byte(key)), nil
}

// KeyHashFromFile returns SipHash-2-4 with the key in a file of 32 hexadecimal digits, or the public key
// for the name "public". Keep the file readable by its owner only.
func KeyHashFromFile(path string) (*KeyHash, error) {
	if path == "public" {
		return PublicKeyHash(), nil
	}
	text, err := readLimited(path, 4096)
	if err != nil {
		return nil, err
	}
	hash, err := ParseKeyHash(strings.TrimSpace(string(text)))
	return hash, within(path, err)
}

func readLimited(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// String returns the algorithm and a check value, but not the key.
func (h *KeyHash) String() string {
	return fmt.Sprintf("%s (key check %016x)", hashName(h.algorithm), h.check)
}

func hashName(algorithm uint8) string {
	switch algorithm {
	case sipHash:
		return "siphash-2-4"
	case xxh3Hash:
		return "xxh3-64"
	}
	return ""
}

// Hash returns the hash of a canonical form in a scope, "" for none.
func (h *KeyHash) Hash(scope, form string) (uint64, error) {
	if scope == "" && !strings.HasPrefix(form, "\xff") {
		return h.hash(form), nil
	}
	prefix, err := scopePrefix(scope)
	if err != nil {
		return 0, err
	}
	return h.hash(string(prefix) + form), nil
}

func (h *KeyHash) hash(joined string) uint64 {
	data := unsafe.Slice(unsafe.StringData(joined), len(joined))
	if h.algorithm == xxh3Hash {
		return xxh3.HashSeed(data, h.k0)
	}
	return siphash.Hash(h.k0, h.k1, data)
}

// scopePrefix returns what a scope puts before a canonical form.
func scopePrefix(scope string) ([]byte, error) {
	if len(scope) > maxScopeBytes {
		return nil, fmt.Errorf("%w: scope must be at most %d bytes, got %d", canonical.ErrInvalid, maxScopeBytes, len(scope))
	}
	return append(binary.AppendUvarint([]byte{0xff}, uint64(len(scope))), scope...), nil
}
