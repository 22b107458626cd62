package firstseen

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"firstseen.io/firstseen/internal/canonical"
)

// setOfForms returns a set of one shard of the canonical forms, with K and w as our writer chooses them.
func setOfForms(tb testing.TB, rule *canonical.Rule, rate float64, count int, form func(int) string) *Set {
	tb.Helper()
	u := universe{buckets: uint64(count+37) / 38}
	u.width = uint64(math.Ceil(float64(count)/rate))/u.buckets + 1
	hash := PublicKeyHash()
	all := make([]uint64, count)
	for i := range all {
		all[i] = u.value(hash.hash(form(i)))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	builder, err := newShardBuilder(u, uint64(len(all)), uint64(count))
	if err != nil {
		tb.Fatal(err)
	}
	for _, value := range all {
		if err := builder.add(value); err != nil {
			tb.Fatal(err)
		}
	}
	built, err := builder.finish()
	if err != nil {
		tb.Fatal(err)
	}
	set, err := newSet("benchmark", 1, 0, Parameters{
		HashAlgorithm: sipHash, KeyCheck: hash.check, CanonicaliserCode: rule.Code, CanonicaliserVersion: rule.Version,
		Shards: 1, FalsePositiveRate: rate,
	}, []*shard{built}, hash)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

func listOf(t testing.TB, scope string, rate float64, entries ...string) *Set {
	t.Helper()
	rule := canonical.Newest(canonical.URLExpression)
	return setOfForms(t, rule, rate, len(entries), func(i int) string {
		form, err := rule.Form(entries[i])
		if err != nil {
			t.Fatal(err)
		}
		if scope == "" {
			return form
		}
		prefix, err := scopePrefix(scope)
		if err != nil {
			t.Fatal(err)
		}
		return string(prefix) + form
	})
}

func TestLists(t *testing.T) {
	spam := listOf(t, "", 1e-9, "s2-citi.com", "evil.example/login/", "192.0.2.7")
	phishing := listOf(t, "", 1e-9, "login.s2-citi.com")
	ours := listOf(t, "", 1e-9, "good.s2-citi.com", "evil.example")
	lists := Lists{Lists: []Snapshotter{spam, phishing}, Allow: []Snapshotter{ours}}
	answer, err := lists.Ask("https://a.login.s2-citi.com:8443/x/y?q")
	if err != nil || !answer.Present || !slices.Equal(answer.Matches, []Match{{"benchmark", "s2-citi.com/"}, {"benchmark", "login.s2-citi.com/"}}) {
		t.Errorf("got %+v, %v", answer, err)
	}
	if answer.Expressions != 4*4 || math.Abs(answer.FalsePositiveRate-32e-9) > 1e-12 {
		t.Errorf("got %+v", answer)
	}
	// An allow set overrides lists, also with a less specific entry.
	for _, url := range []string{"good.s2-citi.com", "http://evil.example/login/x"} {
		answer, err := lists.Ask(url)
		if err != nil || answer.Present || len(answer.Matches) != 1 || len(answer.AllowedBy) != 1 {
			t.Errorf("%s: got %+v, %v", url, answer, err)
		}
	}
	if answer, err := lists.Ask("http://[::ffff:192.0.2.7]/"); err != nil || !answer.Present {
		t.Errorf("got %+v, %v", answer, err)
	}
	if answer, err := lists.Ask("example.com"); err != nil || answer.Present {
		t.Errorf("got %+v, %v", answer, err)
	}
	for _, url := range []string{"", "hxxp://s2-citi.com/", "http://host:x/"} {
		if _, err := lists.Ask(url); !errors.Is(err, ErrInvalidKey) {
			t.Errorf("%q must be invalid, got %v", url, err)
		}
		if _, _, err := spam.Match(url); !errors.Is(err, ErrInvalidKey) {
			t.Errorf("%q must be invalid, got %v", url, err)
		}
	}
	// A list that is not ready leaves the answer open, also if another list matches.
	lists.Lists = append(lists.Lists, newFollower(t, NewDirectorySource(t.TempDir()), Options{}))
	if _, err := lists.Ask("s2-citi.com"); !errors.Is(err, ErrNotReady) {
		t.Errorf("got %v", err)
	}
	none := *spam
	none.Parameters.CanonicaliserCode = canonical.None
	lists = Lists{Lists: []Snapshotter{spam}, Allow: []Snapshotter{&none}}
	if _, err := lists.Ask("s2-citi.com"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	lists = Lists{Allow: []Snapshotter{ours}}
	if _, err := lists.Ask("s2-citi.com"); !errors.Is(err, ErrNotReady) {
		t.Errorf("without a list, nothing is absent, got %v", err)
	}
}

func TestScopes(t *testing.T) {
	list := listOf(t, "tenant", 1e-9, "s2-citi.com")
	if entry, listed, err := list.MatchIn("tenant", "www.s2-citi.com"); err != nil || !listed || entry != "s2-citi.com/" {
		t.Errorf("got %q, %v", entry, err)
	}
	if _, listed, err := list.Match("www.s2-citi.com"); err != nil || listed {
		t.Errorf("without its scope, an entry is not found, got %v", err)
	}
	if found, err := list.ContainsIn("tenant", "*.s2-citi.com"); err != nil || !found {
		t.Errorf("got %v", err)
	}
	long := strings.Repeat("s", maxScopeBytes+1)
	if _, err := list.ContainsIn(long, "a"); !errors.Is(err, ErrInvalidKey) {
		t.Errorf("got %v", err)
	}
	if _, _, err := list.MatchIn(long, "a"); !errors.Is(err, ErrInvalidKey) {
		t.Errorf("got %v", err)
	}
}

func TestOpen(t *testing.T) {
	files := repository + "conformance/files/"
	set, err := Open(background, files+"snapshots/expressions-2.snapshot", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if entry, listed, err := set.Match("https://www.s2-citi.com/login"); err != nil || !listed || entry != "s2-citi.com/" {
		t.Errorf("got %q, %v", entry, err)
	}
	if set, err = Open(background, files+"sets/window-4/manifest-0000000004.bin", Options{}); err != nil || set.Sequence != 4 {
		t.Errorf("got %v, %v", set, err)
	}
	for path, kind := range map[string]error{
		"snapshots/shard-2-of-4.snapshot": ErrUnsupported,
		"snapshots/none":                  ErrUnreachable,
		"sets":                            ErrNotReady,
		"sets/base-missing":               ErrMissing,
		"sets/base-damaged":               ErrMalformed,
	} {
		if _, err := Open(background, files+path, Options{}); !errors.Is(err, kind) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	if _, err := set.Resembles("text"); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "publish it with --near") {
		t.Errorf("a set without a rule for near-duplicates cannot be queried for them, got %v", err)
	}
	if _, err := Open(background, files+"snapshots/one.snapshot", Options{TrustedKeys: []*TrustedKey{trustedKey(t)}}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a snapshot has no signature, got %v", err)
	}
}

func TestForms(t *testing.T) {
	if form, err := Canonical("url", "HTTP://Example.org:80/a/../b"); err != nil || form != "http://example.org/b" {
		t.Errorf("got %q, %v", form, err)
	}
	if _, err := Canonical("urls", "a"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if all, err := Expressions("a.b.example.com/x"); err != nil || len(all) != 6 || all[0] != "a.b.example.com/x" || all[5] != "example.com/" {
		t.Errorf("got %q, %v", all, err)
	}
}

func TestKeys(t *testing.T) {
	path := t.TempDir() + "/hash.key"
	writeFile(t, path, "66697273747365656e2d7075626c6963\n")
	if hash, err := KeyHashFromFile(path); err != nil || hash.check != PublicKeyHash().check || hash.check != 0xaf95951d42abdfd0 {
		t.Errorf("got %v, %v", hash, err)
	}
	writeFile(t, path, "secret-but-mistyped")
	if _, err := KeyHashFromFile(path); !errors.Is(err, ErrUnsupported) || strings.Contains(err.Error(), "mistyped") {
		t.Errorf("the message must not have the secret, got %v", err)
	}
	if hash, err := KeyHashFromFile("public"); err != nil || hash.check != PublicKeyHash().check {
		t.Errorf("got %v, %v", hash, err)
	}
	writeFile(t, path, "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n")
	if key, err := TrustedKeyFromFile(path); err != nil || key.id != trustedKey(t).id {
		t.Errorf("got %v, %v", key, err)
	}
	for _, text := range []string{"", "no key", "-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----\n"} {
		if _, err := ParseTrustedKey([]byte(text)); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}
