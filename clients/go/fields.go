package firstseen

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
)

const (
	maxBytes      = 1<<31 - 1
	maxTotalBytes = 1 << 53
	maxCount      = 1 << 40
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crc32c(data []byte) uint32 { return crc32.Checksum(data, castagnoli) }

// A Reference names a blob by its SHA-256 and its length in bytes.
type Reference struct {
	Digest [32]byte
	Length int64
}

// Name returns the digest in hexadecimal digits, which is the name of the blob.
func (r Reference) Name() string { return hex.EncodeToString(r.Digest[:]) }

// fields reads consecutive fields. After the first error it returns zeros.
type fields struct {
	data []byte
	err  error
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = malformed(format, args...)
	}
}

// take returns the next bytes, or nil if there are fewer.
func (f *fields) take(length uint64, what string) []byte {
	if f.err != nil {
		return nil
	}
	if length > uint64(len(f.data)) {
		f.fail("%s needs %d bytes, only %d are left", what, length, len(f.data))
		return nil
	}
	taken := f.data[:length:length]
	f.data = f.data[length:]
	return taken
}

func (f *fields) u8(what string) uint8 {
	if b := f.take(1, what); b != nil {
		return b[0]
	}
	return 0
}

func (f *fields) u16(what string) uint16 {
	if b := f.take(2, what); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (f *fields) u32(what string) uint32 {
	if b := f.take(4, what); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (f *fields) u64(what string) uint64 {
	if b := f.take(8, what); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (f *fields) digest(what string) (digest [32]byte) {
	copy(digest[:], f.take(32, what))
	return digest
}

// leb reads an unsigned LEB128 number below 2^63 in its shortest form.
func (f *fields) leb(what string) uint64 { return f.lebIn(what, 0, math.MaxInt64) }

func (f *fields) lebIn(what string, least, most uint64) uint64 {
	var number uint64
	for shift := 0; ; shift += 7 {
		b := f.u8(what)
		if f.err != nil {
			return 0
		}
		if shift > 56 {
			f.fail("%s must be below 2^63", what)
			return 0
		}
		number |= uint64(b&127) << shift
		if b < 128 {
			if b == 0 && shift > 0 {
				f.fail("%s must have no leading zeros", what)
				return 0
			}
			break
		}
	}
	if number < least || number > most {
		f.fail("%s must be in [%d, %d], got %d", what, least, most, number)
		return 0
	}
	return number
}

func (f *fields) setName() string {
	return requireSetName(f, f.take(uint64(f.u8("the length of the set name")), "the set name"))
}

func requireSetName(f *fields, name []byte) string {
	const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	if len(name) < 1 || len(name) > 100 || strings.Trim(string(name), characters) != "" {
		f.fail("a set name must be 1 to 100 of the characters A-Z a-z 0-9 . _ -, got %q", name)
	}
	return string(name)
}

func (f *fields) reference(what string) Reference {
	return Reference{f.digest("the digest of " + what), int64(f.lebIn("the length of "+what, 1, maxBytes))}
}

// end rejects further bytes, and returns the first error.
func (f *fields) end() error {
	if len(f.data) > 0 {
		f.fail("%d bytes follow the last field", len(f.data))
	}
	return f.err
}

// version reads the version and the required flags of a manifest or blob.
func (f *fields) version(what string, knownFlags uint8) (flags uint8) {
	version := f.u8("the version")
	switch {
	case f.err != nil:
		return 0
	case version > 1:
		f.err = unsupported("the %s has format version %d, this reader knows version 1", what, version)
	case version == 0:
		f.fail("the format version must be 1, got 0")
	}
	flags = f.u8("the required flags")
	if f.err == nil && flags&^knownFlags != 0 {
		f.err = unsupported("the %s needs features 0x%02x, this reader knows 0x%02x; use a newer version of this package", what, flags, knownFlags)
	}
	return flags
}

func within(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
