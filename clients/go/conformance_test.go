package firstseen

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"firstseen.io/firstseen/internal/canonical"
)

const (
	repository = "../../"
	// adapter makes the test binary answer requests of conformance/check.py.
	adapter = "FIRSTSEEN_CONFORMANCE"
)

func TestMain(m *testing.M) {
	if os.Getenv(adapter) == "" {
		os.Exit(m.Run())
	}
	if err := answerRequests(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestConformance(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 for conformance/check.py")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	check := exec.Command(python, "-B", repository+"conformance/check.py", "--strict", "--", self)
	check.Env = append(os.Environ(), adapter+"=1")
	if output, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	} else {
		t.Logf("\n%s", output)
	}
}

type request struct {
	Op, Canonicaliser, Key, KeyHex, Strip, URL, Algorithm, HashKey, ScopeHex, FormHex, Hash string
	Shards, Buckets, Width                                                                  json.RawMessage
	File, Directory, Scope                                                                  string
	Verify                                                                                  bool
	Keys, URLs, Texts, PublicKeys                                                           []string
	From, To                                                                                string
}

type reply = map[string]any

func answerRequests() error {
	in, out := bufio.NewReader(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil
		}
		var asked request
		if err := json.Unmarshal(line, &asked); err != nil {
			return err
		}
		answer, err := asked.answer()
		if err != nil {
			answer = reply{"refused": err.Error()}
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
}

func (r *request) answer() (reply, error) {
	switch r.Op {
	case "canonical":
		return r.canonical()
	case "expressions":
		visit, err := canonical.Visited(r.URL)
		if err != nil {
			return nil, err
		}
		return reply{"expressions": expressionsOf(&visit, r.rule("url-expression").Version)}, nil
	case "hash":
		hash, err := r.keyHash()
		if err != nil {
			return nil, err
		}
		value, err := hash.Hash(string(unhex(r.ScopeHex)), string(unhex(r.FormHex)))
		return reply{"hash": fmt.Sprintf("%016x", value)}, err
	case "value":
		hash, _ := strconv.ParseUint(r.Hash, 16, 64)
		shardBits := bits.Len64(integer(r.Shards)) - 1
		u := universe{integer(r.Buckets), integer(r.Width)}
		return reply{"shard": hash >> (64 - shardBits), "value": strconv.FormatUint(u.value(hash<<shardBits), 10)}, nil
	case "snapshot":
		return r.snapshot()
	case "query":
		return r.query()
	case "match":
		return r.match()
	case "resembles":
		return r.resembles()
	case "manifest":
		return r.manifest()
	case "follow":
		return r.follow()
	}
	return reply{"unsupported": true}, nil
}

func unhex(digits string) []byte {
	data, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return data
}

// integer reads a decimal string or number.
func integer(raw json.RawMessage) uint64 {
	number, err := strconv.ParseUint(strings.Trim(string(raw), `"`), 10, 64)
	if err != nil {
		panic(err)
	}
	return number
}

// rule returns the rule with a name of the protocol, which without a version is the first released one.
func (r *request) rule(name string) *canonical.Rule {
	if r.Canonicaliser != "" {
		name = r.Canonicaliser
	}
	switch name {
	case "none":
		return canonical.Find(canonical.None, 1)
	case "text":
		return canonical.Find(canonical.Text, 1)
	case "url":
		return canonical.Find(canonical.URL, 2)
	case "url-3":
		return canonical.Find(canonical.URL, 3)
	case "url-expression":
		return canonical.Find(canonical.URLExpression, 1)
	case "url-expression-2":
		return canonical.Find(canonical.URLExpression, 2)
	}
	panic("no rule " + name)
}

func (r *request) canonical() (reply, error) {
	rule := r.rule("")
	if r.Strip != "" {
		var err error
		if rule, err = rule.Stripping(r.Strip); err != nil {
			return nil, err
		}
	}
	key := r.Key
	if r.KeyHex != "" {
		key = string(unhex(r.KeyHex))
	}
	form, err := rule.Form(key)
	return reply{"form": hex.EncodeToString([]byte(form))}, err
}

func (r *request) keyHash() (*KeyHash, error) {
	if r.Algorithm == "xxh3-64" {
		seed, _ := strconv.ParseUint(r.HashKey, 10, 64)
		return NewXXH3(seed), nil
	}
	if r.HashKey == "" {
		return PublicKeyHash(), nil
	}
	return ParseKeyHash(r.HashKey)
}

func (r *request) snapshot() (reply, error) {
	data, err := os.ReadFile(r.File)
	if err != nil {
		return nil, err
	}
	file, set, err := parseSnapshot(data)
	if err != nil {
		return nil, err
	}
	answer := reply{
		"set": file.setName, "shard": file.number, "count": strconv.FormatUint(file.count, 10),
		"hashCount": strconv.FormatUint(file.hashCount, 10), "setDigest": hex.EncodeToString(file.setDigest[:]),
	}
	if r.Verify {
		least := []string{}
		iterator := values{shard: set}
		for value, ok := iterator.next(); ok && len(least) < 100; value, ok = iterator.next() {
			least = append(least, strconv.FormatUint(value, 10))
		}
		answer["values"] = least
	}
	return answer, nil
}

func (r *request) open() (*Set, error) {
	hash, err := r.keyHash()
	if err != nil {
		return nil, err
	}
	path := r.Directory
	if r.File != "" {
		path = r.File
		// The protocol also has queries of one shard, of whose set the other shards are empty.
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if r.Op == "query" && strings.HasPrefix(string(data), snapshotMagic) {
			file, set, err := parseSnapshot(data)
			if err != nil {
				return nil, err
			}
			shards := make([]*shard, file.parameters.Shards)
			shards[file.number] = set
			return newSet(file.setName, file.sequence, file.windowEndMillis, file.parameters, shards, hash)
		}
	}
	return Open(context.Background(), path, Options{KeyHash: hash})
}

func (r *request) query() (reply, error) {
	set, err := r.open()
	if err != nil {
		return nil, err
	}
	present, invalid := []bool{}, []int{}
	for i, key := range r.Keys {
		found, err := set.ContainsIn(r.Scope, key)
		if errors.Is(err, ErrInvalidKey) {
			invalid = append(invalid, i)
		} else if err != nil {
			return nil, err
		}
		present = append(present, found)
	}
	return reply{"present": present, "invalid": invalid}, nil
}

func (r *request) match() (reply, error) {
	set, err := r.open()
	if err != nil {
		return nil, err
	}
	entries, invalid := []any{}, []int{}
	for i, url := range r.URLs {
		entry, listed, err := set.MatchIn(r.Scope, url)
		switch {
		case errors.Is(err, ErrInvalidKey):
			invalid = append(invalid, i)
			entries = append(entries, nil)
		case err != nil:
			return nil, err
		case listed:
			entries = append(entries, entry)
		default:
			entries = append(entries, nil)
		}
	}
	return reply{"entries": entries, "invalid": invalid}, nil
}

func (r *request) resembles() (reply, error) {
	set, err := r.open()
	if err != nil {
		return nil, err
	}
	equal, invalid := []int{}, []int{}
	for i, text := range r.Texts {
		bands, err := set.ResemblesIn(r.Scope, text)
		if errors.Is(err, ErrInvalidKey) {
			invalid = append(invalid, i)
		} else if err != nil {
			return nil, err
		}
		equal = append(equal, bands)
	}
	return reply{"equalBands": equal, "invalid": invalid}, nil
}

func (r *request) manifest() (reply, error) {
	data, err := os.ReadFile(r.File)
	if err != nil {
		return nil, err
	}
	m, err := ParseManifest(data)
	if err != nil {
		return nil, err
	}
	var trusted []*TrustedKey
	for _, text := range r.PublicKeys {
		der, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, err
		}
		key, err := NewTrustedKey(der)
		if err != nil {
			return nil, err
		}
		trusted = append(trusted, key)
	}
	if len(trusted) > 0 {
		if err := requireSigned(m, trusted); err != nil {
			return nil, err
		}
	}
	answer := reply{
		"set": m.SetName, "sequence": m.Sequence, "windowStartMillis": strconv.FormatInt(m.WindowStartMillis, 10),
		"windowEndMillis": strconv.FormatInt(m.WindowEndMillis, 10), "publishedMillis": m.PublishedMillis, "expiresMillis": nil,
		"algorithm": m.Parameters.HashName(), "keyCheck": fmt.Sprintf("%016x", m.Parameters.KeyCheck),
		"canonicaliser": m.Parameters.Canonicaliser(), "canonicaliserVersion": m.Parameters.CanonicaliserVersion,
		"shards": m.Parameters.Shards, "falsePositiveRate": m.Parameters.FalsePositiveRate, "count": m.Count,
		"root": hex.EncodeToString(m.Root[:]), "pack": nil, "packBytes": m.PackBytes, "blobs": nil,
	}
	answer["sequence"] = strconv.FormatUint(m.Sequence, 10)
	if m.ExpiresMillis != 0 {
		answer["expiresMillis"] = m.ExpiresMillis
	}
	if m.Pack != nil {
		answer["pack"] = m.Pack.Name()
	}
	if m.Blobs != "" {
		answer["blobs"] = m.Blobs
	}
	if m.Parameters.Stripped != "" {
		answer["strip"] = m.Parameters.Stripped
	}
	if m.Parameters.Near != "" {
		answer["near"] = m.Parameters.Near
	}
	return answer, nil
}

func (r *request) follow() (reply, error) {
	ctx := context.Background()
	manifest, directory, err := openManifest(r.To)
	if err != nil {
		return nil, err
	}
	var from *held
	if r.From != "" {
		earlier, earlierDirectory, err := openManifest(r.From)
		if err != nil {
			return nil, err
		}
		shards, err := newCatchUp(earlier, earlierDirectory.Blob).byBases(ctx)
		if err != nil {
			return nil, err
		}
		from = &held{earlier, shards}
	}
	c := newCatchUp(manifest, directory.Blob)
	if _, _, err := c.run(ctx, from); err != nil {
		return nil, err
	}
	return reply{"root": hex.EncodeToString(manifest.Root[:]), "count": manifest.Count, "bytes": c.bytesRead}, nil
}
