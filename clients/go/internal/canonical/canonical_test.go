package canonical

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const repository = "../../../../"

type vectors struct {
	Canonicaliser string
	Version       int
	Keys          []struct {
		Key, KeyHex, Strip string
		Form               *string
	}
	URLs []struct {
		URL         string
		Expressions []string
	}
	RegistrableDomains []struct {
		Host              string
		RegistrableDomain *string
	}
}

func readVectors(t testing.TB, name string) vectors {
	t.Helper()
	data, err := os.ReadFile(repository + "conformance/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var file vectors
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestVectors(t *testing.T) {
	for _, name := range []string{"url.json", "url-3.json", "url-expression.json", "url-expression-2.json", "text.json"} {
		t.Run(name, func(t *testing.T) {
			file := readVectors(t, name)
			rule := ruleNamed(t, file.Canonicaliser, file.Version)
			for _, vector := range file.Keys {
				key := vector.Key
				if vector.KeyHex != "" {
					data, err := hex.DecodeString(vector.KeyHex)
					if err != nil {
						t.Fatal(err)
					}
					key = string(data)
				}
				used := rule
				if vector.Strip != "" {
					var err error
					if used, err = rule.Stripping(vector.Strip); err != nil {
						t.Fatal(err)
					}
				}
				form, err := used.Form(key)
				switch {
				case vector.Form == nil && !errors.Is(err, ErrInvalid):
					t.Errorf("%q must be invalid, got %q, %v", key, form, err)
				case vector.Form != nil && (err != nil || form != *vector.Form):
					t.Errorf("%q must have the form %q, got %q, %v", key, *vector.Form, form, err)
				case vector.Form != nil:
					// With its scheme again, an entry is not a pattern.
					if rule.Code == URLExpression {
						form = "http://" + form
					}
					if again, err := used.Form(form); err != nil || again != *vector.Form {
						t.Errorf("the form of %q must be itself, got %q, %v", form, again, err)
					}
				}
			}
			if len(file.Keys) < 5 {
				t.Errorf("%d keys", len(file.Keys))
			}
			for _, vector := range file.URLs {
				expressions, err := expressionsOf(vector.URL, file.Version)
				if vector.Expressions == nil != errors.Is(err, ErrInvalid) || !slices.Equal(expressions, vector.Expressions) {
					t.Errorf("%q must have the expressions %q, got %q, %v", vector.URL, vector.Expressions, expressions, err)
				}
			}
			for _, vector := range file.RegistrableDomains {
				domain := ""
				if start := registrableStart(vector.Host); start >= 0 {
					domain = vector.Host[start:]
				}
				if vector.RegistrableDomain == nil && domain != "" || vector.RegistrableDomain != nil && domain != *vector.RegistrableDomain {
					t.Errorf("the registrable domain of %s is wrong: %q", vector.Host, domain)
				}
			}
		})
	}
}

func ruleNamed(t testing.TB, name string, version int) *Rule {
	t.Helper()
	for _, rule := range rules {
		if (name == rule.Name || name == fmt.Sprintf("%s-%d", rule.Name, version)) && rule.Version == version {
			return rule
		}
	}
	t.Fatalf("no rule %s of version %d", name, version)
	return nil
}

func expressionsOf(url string, version int) ([]string, error) {
	visit, err := Visited(url)
	if err != nil {
		return nil, err
	}
	var all []string
	expressions := visit.Expressions(version)
	for expression := expressions.Next(); expression != ""; expression = expressions.Next() {
		all = append(all, expression)
	}
	return all, nil
}

func TestExpressionsOfDeepURLs(t *testing.T) {
	host := strings.Repeat("a.", 200) + "example.com"
	all, err := expressionsOf("http://"+host+":81/"+strings.Repeat("d/", 40)+"page?q", 2)
	if err != nil || len(all) != 128*18 {
		t.Fatalf("there must be %d expressions, got %d, %v", 128*18, len(all), err)
	}
	if last := all[len(all)-1]; last != "example.com/" {
		t.Errorf("the last expression must be of the registrable domain, got %q", last)
	}
	if got := all[2]; got != host+":81/"+strings.Repeat("d/", 15) {
		t.Errorf("the deepest directory must have 15 segments, got %q", got)
	}
	// Hosts of many labels take no longer for the public suffix list.
	if all, err = expressionsOf(strings.Repeat("a.", 1<<19)+"com", 2); err != nil || len(all) != 127 {
		t.Errorf("hosts of more than %d bytes are left out, got %d, %v", MaxKeyBytes, len(all), err)
	}
}

func TestSuffixRules(t *testing.T) {
	rules, longest := suffixRules()
	lines := 0
	for line := range strings.Lines(suffixList) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
			if _, err := hostForm(strings.TrimPrefix(strings.TrimPrefix(line, "!"), "*."), false); err != nil {
				t.Errorf("the rule %q has no form: %v", line, err)
			}
		}
	}
	if len(rules) < lines*9/10 || lines < 5000 || longest < 5 {
		t.Errorf("%d lines, %d names, %d labels", lines, len(rules), longest)
	}
	// The clients have the same list.
	theirs, err := os.ReadFile(repository + "clients/python/firstseen/canonical/public_suffix_list_icann.dat")
	if err != nil || string(theirs) != suffixList {
		t.Errorf("the list must be the one of the client in Python: %v", err)
	}
}

// The digests are those that the Java code has on each JDK.
func TestUnicode13(t *testing.T) {
	for _, test := range []struct {
		name  string
		form  func(string) (string, error)
		count int
		want  string
	}{
		{"text", func(key string) (string, error) { return textForm("a" + key + "b") }, 281_392,
			"0ce86bb07c90096a8d1611c875aa3387f5a33e42907ebb9a82cc5c483d75549f"},
		{"host", func(key string) (string, error) { return hostForm("a"+key+"b.example", false) }, 281_241,
			"ce5420929ae86016af53091f56b54f4d32e1403d515df5eb03c50815daf527a6"},
	} {
		t.Run(test.name, func(t *testing.T) {
			digest, count := sha256.New(), 0
			for r := range charactersOfUnicode13(t) {
				form, err := test.form(string(r))
				if err == nil {
					count++
				}
				io.WriteString(digest, form+"\n")
			}
			if got := hex.EncodeToString(digest.Sum(nil)); count != test.count || got != test.want {
				t.Errorf("the digest of %d forms must be %s, got %s of %d", test.count, test.want, got, count)
			}
		})
	}
}

func charactersOfUnicode13(t *testing.T) func(yield func(rune) bool) {
	file, err := os.Open(repository + "filters/src/test/resources/io/firstseen/filters/key/unicode-13-assigned.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return func(yield func(rune) bool) {
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "#") {
				continue
			}
			var first, last rune
			if _, err := fmt.Sscanf(lines.Text(), "%X-%X", &first, &last); err != nil {
				t.Fatal(err)
			}
			for r := first; r <= last; r++ {
				if !yield(r) {
					return
				}
			}
		}
	}
}

func tableOfTexts(t *testing.T, heading string) (rows [][]string) {
	t.Helper()
	page, err := os.ReadFile(repository + "docs/format/text-v1.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		var cells []string
		for _, cell := range strings.Split(strings.Trim(line, "| \n"), " | ") {
			cell = strings.Trim(cell, "`")
			for {
				before, rest, ok := strings.Cut(cell, "{")
				code, after, ok2 := strings.Cut(rest, "}")
				number, err := strconv.ParseInt(code, 16, 32)
				if !ok || !ok2 || err != nil {
					break
				}
				cell = before + string(rune(number)) + after
			}
			cells = append(cells, cell)
		}
		rows = append(rows, cells)
	}
	if len(rows) < 10 {
		t.Fatalf("%d rows", len(rows))
	}
	return rows
}

func TestTablesOfTexts(t *testing.T) {
	form := func(text string) string {
		form, err := Find(Text, 1).Form(text)
		if err != nil {
			t.Error(err)
		}
		return form
	}
	for _, row := range tableOfTexts(t, "Texts with the same form") {
		if one, other := form(row[0]), form(row[1]); one != row[2] || other != row[2] {
			t.Errorf("%q and %q must have the form %q, got %q and %q", row[0], row[1], row[2], one, other)
		}
	}
	for _, row := range tableOfTexts(t, "Texts with different forms") {
		if form(row[0]) == form(row[1]) {
			t.Errorf("%q and %q must have different forms", row[0], row[1])
		}
	}
}

func TestLimits(t *testing.T) {
	for _, rule := range rules {
		for _, key := range []string{"", strings.Repeat("a", MaxKeyBytes+1)} {
			if _, err := rule.Form(key); !errors.Is(err, ErrInvalid) {
				t.Errorf("%s: a key of %d bytes must be invalid, got %v", rule.Name, len(key), err)
			}
		}
	}
	if _, err := Find(Text, 1).Form("a\xff"); err == nil || !strings.Contains(err.Error(), "malformed at byte 1") {
		t.Errorf("got %v", err)
	}
	for _, patterns := range []string{"", "a,,b", "a*b", "ä", "common", strings.Repeat("abcdefgh,", 10) + strings.Repeat("p", 1000)} {
		if _, err := Find(URL, 3).Stripping(patterns); err == nil {
			t.Errorf("the patterns %q must be rejected", patterns)
		}
	}
	if _, err := Find(Text, 1).Stripping("a"); err == nil {
		t.Error("only url strips parameters")
	}
}

// Plain URLs take a shorter path, which must give the same forms.
func FuzzForms(f *testing.F) {
	for _, name := range []string{"url-3.json", "url-expression-2.json"} {
		file := readVectors(f, name)
		for _, vector := range file.Keys {
			f.Add(vector.Key)
		}
		for _, vector := range file.URLs {
			f.Add(vector.URL)
		}
	}
	f.Add("http://a.b/./c")
	f.Add("a.b/c/..")
	f.Fuzz(func(t *testing.T, key string) {
		for _, rule := range rules {
			form, err := rule.Form(key)
			if err != nil {
				if !errors.Is(err, ErrInvalid) {
					t.Fatal(err)
				}
				continue
			}
			again := form
			if rule.Code == URLExpression {
				again = "http://" + form
			}
			if again, err = rule.Form(again); err != nil || again != form {
				t.Fatalf("%s-%d: the form of %q must be itself, got %q, %v", rule.Name, rule.Version, form, again, err)
			}
		}
		if form, err := Find(URL, 3).Form(key); err == nil {
			if slow, err := urlForm(key, escapeQuery, nil); err != nil || slow != form {
				t.Fatalf("%q has the forms %q and %q, %v", key, form, slow, err)
			}
		}
		visit, err := Visited(key)
		if form := plainVisit(key); form != "" {
			cut, err := cutVisit(cleaned(key))
			if err != nil {
				t.Fatal(err)
			}
			if slow, err := listForm(cut); err != nil || slow != form {
				t.Fatalf("the visit %q has the forms %q and %q, %v", key, form, slow, err)
			}
		}
		if err == nil {
			if again, err := Visited(visit.form); err != nil || again.form != visit.form {
				t.Fatalf("the form of %q must be itself, got %q, %v", visit.form, again.form, err)
			}
			all, err := expressionsOf(key, 2)
			if err != nil || len(all) > 128*18 || len(all) == 0 && len(visit.form) <= MaxKeyBytes {
				t.Fatalf("%q has %d expressions, %v", key, len(all), err)
			}
		}
	})
}
