package firstseen

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const sets = repository + "conformance/files/sets/"

var background = context.Background()

// published copies sets of conformance/files/sets into a directory, as a publisher writes them.
func published(t testing.TB, directory string, names ...string) {
	t.Helper()
	for _, name := range names {
		err := filepath.WalkDir(sets+name, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			to := filepath.Join(directory, strings.TrimPrefix(path, sets+name))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(to+".tmp", data, 0o644); err != nil {
				return err
			}
			return os.Rename(to+".tmp", to)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func newFollower(t testing.TB, source Source, options Options) *Follower {
	t.Helper()
	f, err := NewFollower(source, options)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// poll requires an update to a sequence, by packs or by bases.
func poll(t testing.TB, f *Follower, sequence uint64, byPacks bool) *Update {
	t.Helper()
	update, err := f.Poll(background)
	if err != nil || update == nil || update.Set.Sequence != sequence || update.ByPacks != byPacks {
		t.Fatalf("sequence %d must be active, by packs %t, got %+v, %v", sequence, byPacks, update, err)
	}
	return update
}

func TestFollowByPacksAndBases(t *testing.T) {
	directory := t.TempDir()
	f := newFollower(t, NewDirectorySource(directory), Options{SetName: "example"})
	if _, err := f.Contains("http://example.com/key-0"); !errors.Is(err, ErrNotReady) {
		t.Fatalf("before the first set, a query must not be answered, got %v", err)
	}
	if _, _, err := f.Match("example.com"); !errors.Is(err, ErrNotReady) {
		t.Fatalf("before the first set, a query must not be answered, got %v", err)
	}
	if _, err := f.Poll(background); !errors.Is(err, ErrNotReady) || !errors.Is(f.Trouble(), ErrNotReady) {
		t.Fatalf("there is no manifest yet, got %v", err)
	}
	published(t, directory, "window-1")
	first := poll(t, f, 1, false).Set
	if found, err := f.Contains("http://example.com/key-0"); err != nil || !found || f.Trouble() != nil {
		t.Fatalf("the key must be found, got %t, %v, %v", found, err, f.Trouble())
	}
	if _, err := f.Contains(""); !errors.Is(err, ErrInvalidKey) {
		t.Errorf("an empty key must be invalid, got %v", err)
	}
	if _, _, err := f.Match("example.com"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("only lists match URLs, got %v", err)
	}
	if update, err := f.Poll(background); update != nil || err != nil {
		t.Errorf("nothing is new, got %v, %v", update, err)
	}
	published(t, directory, "window-2", "window-3", "window-4")
	update := poll(t, f, 4, true)
	opened, err := Open(background, sets+"window-4", Options{})
	if err != nil || update.Set.Len() != opened.Len() || treeRoot(update.Set.shards) != treeRoot(opened.shards) {
		t.Errorf("both ways must lead to the same set, got %v and %v, %v", update.Set, opened, err)
	}
	// A window without changes.
	published(t, directory, "window-5")
	if update := poll(t, f, 5, true); update.BytesRead != 0 {
		t.Errorf("nothing must be read, got %d bytes", update.BytesRead)
	}
	// The first set is what it was.
	if first.Len() != 54 || f.Manifest().Sequence != 5 {
		t.Errorf("got %v and %v", first, f.Manifest())
	}
}

func TestFollowKeepsTheLastValidSet(t *testing.T) {
	directory := t.TempDir()
	var troubles []string
	f := newFollower(t, NewDirectorySource(directory), Options{OnTrouble: func(err error) { troubles = append(troubles, err.Error()) }})
	published(t, directory, "window-2")
	poll(t, f, 2, false)
	// A damaged manifest is tried first, then the previous one.
	damaged := filepath.Join(directory, manifestName(9))
	if err := os.WriteFile(damaged, []byte("\x89FSM\x01 damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if update, err := f.Poll(background); update != nil || !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrMalformed) {
			t.Fatalf("got %v, %v", update, err)
		}
	}
	if len(troubles) != 1 {
		t.Errorf("a problem must be reported once, got %q", troubles)
	}
	published(t, directory, "window-3")
	if update, err := f.Poll(background); update == nil || update.Set.Sequence != 3 || err == nil {
		t.Fatalf("the previous manifest must become active, got %v, %v", update, err)
	}
	if err := os.RemoveAll(directory); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Poll(background); !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v", err)
	}
	if found, err := f.Contains("http://example.com/key-0"); err != nil {
		t.Errorf("the last valid set must answer, got %t, %v", found, err)
	}
	// An older sequence.
	published(t, directory, "window-1")
	if _, err := f.Poll(background); !errors.Is(err, ErrOutdated) || f.Manifest().Sequence != 3 {
		t.Errorf("got %v", err)
	}
}

func TestFollowRejectsWhatIsNotWanted(t *testing.T) {
	directory := t.TempDir()
	published(t, directory, "window-1")
	key := trustedKey(t)
	for name, options := range map[string]Options{
		"must be \"other\"": {SetName: "other"},
		"hash key":          {KeyHash: NewSipHash([16]byte{1})},
		"hashed by":         {KeyHash: NewXXH3(0)},
		"no signature":      {TrustedKeys: []*TrustedKey{key}},
	} {
		f := newFollower(t, NewDirectorySource(directory), options)
		if update, err := f.Poll(background); update != nil || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, %v", name, update, err)
		}
		ctx, cancel := context.WithTimeout(background, time.Millisecond)
		defer cancel()
		if err := f.Wait(ctx, 0); err == nil || errors.Is(err, context.DeadlineExceeded) == (name != "no signature") {
			t.Errorf("%s: Wait must return an unusable set at once, got %v", name, err)
		}
		if _, err := Open(background, directory, options); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func trustedKey(t testing.TB) *TrustedKey {
	t.Helper()
	der, err := base64.StdEncoding.DecodeString("MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
	if err != nil {
		t.Fatal(err)
	}
	key, err := NewTrustedKey(der)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestUnknownCanonicaliser(t *testing.T) {
	data, err := os.ReadFile(sets + "window-1/manifest-0000000001.bin")
	if err != nil {
		t.Fatal(err)
	}
	const rule = "\xaf\x00\x01\x04" // The end of keyCheck, the rule none of version 1, 4 shards.
	if strings.Count(string(data), rule) != 1 {
		t.Fatal("the manifest has another layout")
	}
	for change, message := range map[string]string{
		"\xaf\x07\x01\x04": "does not know the canonicaliser 7; use a newer version",
		"\xaf\x03\x09\x04": "the canonicaliser url-expression has version 9, the newest of this reader is 2",
	} {
		changed := []byte(strings.Replace(string(data), rule, change, 1))
		putChecksum(changed[len(changed)-4:], changed[:len(changed)-4])
		directory := t.TempDir()
		published(t, directory, "window-1")
		if err := os.WriteFile(filepath.Join(directory, manifestName(1)), changed, 0o644); err != nil {
			t.Fatal(err)
		}
		f := newFollower(t, NewDirectorySource(directory), Options{})
		if _, err := f.Poll(background); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), message) {
			t.Errorf("got %v", err)
		}
		if _, err := f.Contains("a"); !errors.Is(err, ErrNotReady) || !strings.Contains(err.Error(), message) {
			t.Errorf("a query must state the reason, got %v", err)
		}
		if _, err := Open(background, directory, Options{}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("got %v", err)
		}
	}
}

func TestSignatures(t *testing.T) {
	data, err := os.ReadFile(repository + "conformance/files/manifests/signed.bin")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ParseManifest(data)
	if err != nil {
		t.Fatal(err)
	}
	options := Options{TrustedKeys: []*TrustedKey{trustedKey(t)}}
	if err := options.requireWanted(m); err != nil {
		t.Error(err)
	}
	if got := options.elsewhere(m); got != m.Blobs {
		t.Errorf("the place of blobs in a signed manifest is used, got %q", got)
	}
	if got := (&Options{}).elsewhere(m); got != "" {
		t.Errorf("without trusted keys, the manifest must not choose a place, got %q", got)
	}
	m.signature[40] ^= 1
	if err := options.requireWanted(m); !errors.Is(err, ErrUntrusted) {
		t.Errorf("got %v", err)
	}
}

func TestStaleSets(t *testing.T) {
	directory := t.TempDir()
	published(t, directory, "window-1")
	f := newFollower(t, NewDirectorySource(directory), Options{StaleAfter: time.Hour})
	poll(t, f, 1, false)
	if _, err := f.Contains("a"); err != nil || !f.Stale() {
		t.Errorf("a stale set answers unless it is refused, got %v", err)
	}
	f.options.RefuseStale = true
	if _, err := f.Contains("a"); !errors.Is(err, ErrStale) {
		t.Errorf("got %v", err)
	}
	f.options.StaleAfter = 0
	if _, err := f.Contains("a"); err != nil || f.Stale() {
		t.Errorf("the manifest does not expire, got %v", err)
	}
}

func TestCache(t *testing.T) {
	directory := t.TempDir()
	options := Options{CacheDir: filepath.Join(t.TempDir(), "cache")}
	published(t, directory, "window-3")
	poll(t, newFollower(t, NewDirectorySource(directory), options), 3, false)
	f := newFollower(t, NewDirectorySource(t.TempDir()), options)
	if found, err := f.Contains("http://example.com/key-60"); err != nil || f.Manifest().Sequence != 3 {
		t.Fatalf("the cache must answer at once, got %t, %v", found, err)
	}
	// The next set is read by packs.
	published(t, directory, "window-4")
	f = newFollower(t, NewDirectorySource(directory), options)
	poll(t, f, 4, true)
	file := filepath.Join(options.CacheDir, cacheName)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(data); at += 7 {
		damaged := append([]byte(nil), data...)
		damaged[at] ^= 4
		if err := os.WriteFile(file, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		// Bits after the last value do not matter.
		f := newFollower(t, NewDirectorySource(directory), options)
		if set, err := f.Snapshot(); (err == nil) == (f.Trouble() != nil) || err == nil && treeRoot(set.shards) != f.Manifest().Root {
			t.Fatalf("the change of byte %d must be found, got %v, %v", at, set, err)
		}
	}
	writeFile(t, file, "another format")
	poll(t, newFollower(t, NewDirectorySource(directory), options), 4, false)
	left, err := os.ReadDir(options.CacheDir)
	if err != nil || len(left) != 1 {
		t.Errorf("no temporary files must stay, got %v, %v", left, err)
	}
	if _, err := NewFollower(NewDirectorySource(directory), Options{CacheDir: file}); err == nil {
		t.Error("a file is no directory")
	}
}

// Queries during updates come from one set each, whatever other goroutines do.
func TestQueriesDuringUpdates(t *testing.T) {
	keys := make([]string, 140)
	for i := range keys {
		keys[i] = fmt.Sprintf("http://example.com/key-%d", i)
	}
	wanted := map[uint64]string{}
	answers := func(set *Set) string {
		var bits strings.Builder
		for _, key := range keys {
			found, err := set.Contains(key)
			fmt.Fprint(&bits, found, err)
		}
		return bits.String()
	}
	for sequence := range uint64(5) {
		set, err := Open(background, fmt.Sprintf("%swindow-%d", sets, sequence+1), Options{})
		if err != nil {
			t.Fatal(err)
		}
		wanted[sequence+1] = answers(set)
	}
	directory := t.TempDir()
	published(t, directory, "window-1")
	ctx, cancel := context.WithTimeout(background, time.Minute)
	defer cancel()
	f, err := Follow(ctx, directory, Options{Poll: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Wait(ctx, 1); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	var seen [6]atomic.Bool
	for range 3 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for ctx.Err() == nil {
				set, err := f.Snapshot()
				if err != nil || answers(set) != wanted[set.Sequence] {
					t.Errorf("%v has wrong answers, %v", set, err)
					return
				}
				seen[set.Sequence].Store(true)
			}
		}()
	}
	for sequence := uint64(1); sequence <= 5; sequence++ {
		published(t, directory, fmt.Sprintf("window-%d", sequence))
		if err := f.Wait(ctx, sequence); err != nil {
			t.Error(err)
		}
		for end := time.Now().Add(10 * time.Second); !seen[sequence].Load() && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
	cancel()
	readers.Wait()
	for sequence := 1; sequence <= 5; sequence++ {
		if !seen[sequence].Load() {
			t.Errorf("no reader has seen sequence %d", sequence)
		}
	}
}

func TestWaitEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	f, err := Follow(ctx, t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Wait(ctx, 0); !errors.Is(err, ErrNotReady) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no manifest") {
		t.Errorf("got %v", err)
	}
}

// serviceOf is a handler as the HTTP service of Firstseen, for the newest set in a directory.
func serviceOf(directory string, requests *atomic.Int64) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/manifest", func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") != "Bearer secret" || r.FormValue("set") != "example" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"no token"}`)
			return
		}
		m, _, err := openManifest(directory)
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"error":"nothing is published"}`)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, m.Sequence))
		if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Write(m.data)
	})
	mux.Handle("GET /v1/blobs/", http.StripPrefix("/v1/", http.FileServer(http.Dir(directory))))
	return mux
}

func TestFollowService(t *testing.T) {
	directory := t.TempDir()
	var requests atomic.Int64
	server := httptest.NewServer(serviceOf(directory, &requests))
	defer server.Close()
	f := newFollower(t, NewHTTPSource(server.URL, HTTPOptions{SetName: "example"}), Options{})
	if _, err := f.Poll(background); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "no token") {
		t.Errorf("got %v", err)
	}
	header := http.Header{"Authorization": {"Bearer secret"}}
	f = newFollower(t, NewHTTPSource(server.URL, HTTPOptions{SetName: "example", Header: header}), Options{})
	if _, err := f.Poll(background); !errors.Is(err, ErrNotReady) || !strings.Contains(err.Error(), "nothing is published") {
		t.Errorf("got %v", err)
	}
	published(t, directory, "window-1")
	poll(t, f, 1, false)
	if update, err := f.Poll(background); update != nil || err != nil {
		t.Errorf("the manifest is unchanged, got %v, %v", update, err)
	}
	published(t, directory, "window-2")
	poll(t, f, 2, true)
	server.Close()
	if _, err := f.Poll(background); !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}

// A service that follows a topic has other blobs than those of the manifest.
func TestSubstitute(t *testing.T) {
	directory := t.TempDir()
	published(t, directory, "steady-1")
	var query atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/manifest":
			name := sets + "window-1/manifest-0000000001.bin"
			if r.FormValue("bases") == "true" {
				query.Store(r.URL.RawQuery)
				name = directory + "/manifest-0000000001.bin"
			}
			http.ServeFile(w, r, name)
		case strings.HasPrefix(r.URL.Path, "/v1/blobs/"):
			http.ServeFile(w, r, directory+"/blobs/"+filepath.Base(r.URL.Path))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	f := newFollower(t, NewHTTPSource(server.URL, HTTPOptions{SetName: "example"}), Options{})
	// It has another root.
	if _, err := f.Poll(background); !errors.Is(err, ErrUnreachable) || query.Load() != "bases=true&set=example" {
		t.Errorf("got %v after %v", err, query.Load())
	}
	published(t, directory, "window-1")
	poll(t, f, 1, false)
}

// Any web server with the files of a directory is a source.
func TestFollowStaticFiles(t *testing.T) {
	directory := t.TempDir()
	var unchanged, sent atomic.Int64
	files := http.FileServer(http.Dir(directory))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/lists/spam/manifest.bin" {
			if data, err := os.ReadFile(directory + "/manifest.bin"); err == nil {
				w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(data)))
				if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
					unchanged.Add(1)
				} else {
					sent.Add(1)
				}
			}
		}
		http.StripPrefix("/lists/spam", files).ServeHTTP(w, r)
	}))
	defer server.Close()
	publish := func(number int) {
		name := fmt.Sprintf("window-%d", number)
		published(t, directory, name)
		data, err := os.ReadFile(filepath.Join(directory, manifestName(uint64(number))))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, directory+"/manifest.bin", string(data))
	}
	f := newFollower(t, NewHTTPSource(server.URL+"/lists/spam", HTTPOptions{}), Options{})
	if _, err := f.Poll(background); !errors.Is(err, ErrNotReady) {
		t.Errorf("nothing is published, got %v", err)
	}
	publish(1)
	poll(t, f, 1, false)
	for range 3 {
		if update, err := f.Poll(background); update != nil || err != nil {
			t.Errorf("got %v, %v", update, err)
		}
	}
	publish(4)
	if update := poll(t, f, 4, true); update.BytesRead == 0 {
		t.Error("the blobs must be read")
	}
	publish(5)
	poll(t, f, 5, true)
	if sent.Load() != 3 || unchanged.Load() != 3 {
		t.Errorf("an unchanged manifest must not be sent, got %d and %d", sent.Load(), unchanged.Load())
	}
	// A server that sends too much, or nothing.
	if data, _, err := f.source.(*httpSource).get(background, "manifest.bin", 10, ""); err != nil || len(data) != 11 {
		t.Errorf("a reply has a limit, got %d bytes, %v", len(data), err)
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	if _, err := f.Poll(ctx); !errors.Is(err, context.Canceled) || f.Trouble() != nil {
		t.Errorf("got %v, %v", err, f.Trouble())
	}
}

func TestBlobsElsewhere(t *testing.T) {
	directory, blobs := t.TempDir(), t.TempDir()
	published(t, directory, "window-2")
	if err := os.Rename(filepath.Join(directory, "blobs"), filepath.Join(blobs, "b")); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(blobs)))
	defer server.Close()
	for _, uri := range []string{server.URL + "/b", server.URL + "/b/", "file://" + blobs + "/b", "file:" + blobs + "/b"} {
		if set, err := Open(background, directory, Options{Blobs: uri}); err != nil || set.Sequence != 2 {
			t.Errorf("%s: got %v, %v", uri, set, err)
		}
	}
	for uri, kind := range map[string]error{"": ErrMissing, server.URL + "/c": ErrMissing, "file:" + blobs: ErrMissing, "ftp://host/b": ErrUnsupported} {
		if _, err := Open(background, directory, Options{Blobs: uri}); !errors.Is(err, kind) {
			t.Errorf("%s: got %v", uri, err)
		}
	}
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
