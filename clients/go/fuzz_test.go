package firstseen

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// seeds adds the conformance and golden files that start with a magic number.
func seeds(f *testing.F, magic string) {
	f.Helper()
	for _, root := range []string{"conformance/files", "filters/src/test/resources/io/firstseen/filters/snapshot/golden-v1"} {
		err := filepath.WalkDir(repository+root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if strings.HasPrefix(string(data), magic) {
				f.Add(data)
			}
			return err
		})
		if err != nil {
			f.Fatal(err)
		}
	}
}

// requireKind fails for an error that is of no kind.
func requireKind(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrUnsupported) {
		t.Fatalf("an error must have a kind: %v", err)
	}
}

func FuzzManifest(f *testing.F) {
	seeds(f, manifestMagic)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data)
		requireKind(t, err)
		if err == nil && requireSigned(m, nil) == nil {
			t.Fatal("no key has signed it")
		}
	})
}

func FuzzSnapshot(f *testing.F) {
	seeds(f, snapshotMagic)
	f.Fuzz(func(t *testing.T, data []byte) {
		_, set, err := parseSnapshot(data)
		requireKind(t, err)
		if err == nil {
			set.contains(1 << 63)
		}
	})
}

// FuzzSnapshotWithChecksums corrects the checksums, so that the checks behind them are reached.
func FuzzSnapshotWithChecksums(f *testing.F) {
	seeds(f, snapshotMagic)
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append([]byte(nil), data...)
		if len(data) >= minHeaderBytes {
			size := int(data[10]) | int(data[11])<<8
			if size >= minHeaderBytes && size <= len(data) {
				putChecksum(data[208:], data[size:])
				putChecksum(data[size-4:], data[:size-4])
			}
		}
		_, set, err := parseSnapshot(data)
		requireKind(t, err)
		if err == nil {
			set.contains(1 << 63)
		}
	})
}

func putChecksum(at, data []byte) {
	sum := crc32c(data)
	for i := range 4 {
		at[i] = byte(sum >> (8 * i))
	}
}

func FuzzBlob(f *testing.F) {
	seeds(f, blobMagic)
	p := &Parameters{HashAlgorithm: sipHash, CanonicaliserVersion: 1, Shards: 4, FalsePositiveRate: 0.001}
	all := make([]uint64, 60)
	for i := range all {
		all[i] = uint64(i) * 900
	}
	before := shardOf(f, universe{2, 32_000}, all)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4 {
			data = append([]byte(nil), data...)
			putChecksum(data[len(data)-4:], data[:len(data)-4])
		}
		var sections []*section
		read, err := parsePack(data, "", p.Shards)
		requireKind(t, err)
		if err == nil {
			for _, s := range read.sections {
				sections = append(sections, s)
			}
		}
		base, err := parseBase(data, "", -1)
		requireKind(t, err)
		if err == nil {
			sections = append(sections, base)
		}
		list, err := parseBaseList(data, "", 0)
		requireKind(t, err)
		if err == nil {
			for _, each := range list.sections {
				sections = append(sections, each...)
			}
		}
		for _, s := range sections {
			after, err := apply(p, before, []*section{s})
			requireKind(t, err)
			if err == nil {
				after.contains(1 << 63)
			}
		}
	})
}

func FuzzCache(f *testing.F) {
	directory := f.TempDir()
	c, err := newCache(directory)
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"window-1", "window-4", "window-0", "expressions"} {
		manifest, source, err := openManifest(repository + "conformance/files/sets/" + name)
		if err != nil {
			f.Fatal(err)
		}
		shards, err := newCatchUp(manifest, source.Blob).byBases(context.Background())
		if err != nil {
			f.Fatal(err)
		}
		if err := c.store(&held{manifest, shards}); err != nil {
			f.Fatal(err)
		}
		data, err := os.ReadFile(c.path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(c.path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := c.load()
		requireKind(t, err)
	})
}
