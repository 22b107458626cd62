package firstseen

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"firstseen.io/firstseen/internal/canonical"
)

func nearPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(repository + "docs/format/near-v1.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestBandsOfThePage(t *testing.T) {
	rules := map[string]string{"short": "characters:4,32x5,2", "long": "words:3,20x9,1"}
	rows := regexp.MustCompile("(?m)^\\| `(short|long)(\\+fold)?` \\| `([0-9a-f]{16})` \\|$").FindAllStringSubmatch(nearPage(t), -1)
	if len(rows) != 4 {
		t.Fatalf("got %d rows", len(rows))
	}
	for _, row := range rows {
		rule, err := parseNearRule(rules[row[1]] + row[2])
		if err != nil {
			t.Fatal(err)
		}
		form, _ := Canonical("text", "claim your free prize now.")
		if first := fmt.Sprintf("%016x", rule.bandsOf(PublicKeyHash(), "", form)[0]); first != row[3] {
			t.Errorf("%s%s: got %s", row[1], row[2], first)
		}
	}
}

func TestFoldingOfThePage(t *testing.T) {
	page := nearPage(t)
	table, err := os.ReadFile("internal/canonical/look-alikes.txt")
	if err != nil || !strings.Contains(page, "```text\n"+string(table)+"```") {
		t.Errorf("the page must have the table, got %v", err)
	}
	rows := regexp.MustCompile("(?m)^\\| `(.+)` \\| `(.+)` \\| `(.+)` \\|$").FindAllStringSubmatch(page, -1)
	if len(rows) != 8 {
		t.Fatalf("got %d rows", len(rows))
	}
	codePoints := regexp.MustCompile(`\{[0-9A-F]{4}\}`)
	for _, row := range rows {
		text := codePoints.ReplaceAllStringFunc(row[1], func(code string) string {
			number, _ := strconv.ParseInt(code[1:5], 16, 32)
			return string(rune(number))
		})
		form, err := Canonical("text", text)
		if err != nil {
			t.Fatal(err)
		}
		for i, ofWords := range []bool{false, true} {
			if folded := canonical.FoldLookAlikes(form, ofWords); folded != row[2+i] {
				t.Errorf("%q: got %q, want %q", text, folded, row[2+i])
			}
		}
	}
	for text, want := range map[string]string{"a b": "a b", "a b c": "abc", "ab c d e.": "ab cde.", " . a.b.c . d ": " . abcd ", "a b cd e f": "a b cd e f"} {
		if folded := canonical.FoldLookAlikes(text, true); folded != want {
			t.Errorf("%q: got %q, want %q", text, folded, want)
		}
	}
}

func TestRulesHaveOneForm(t *testing.T) {
	for _, wrong := range []string{"short", "characters:04,32x5,2", "words:3,18x8,3", "words:17,18x8,1", "words:3,1x8,2", "\xe9"} {
		if _, err := parseNearRule(wrong); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: got %v", wrong, err)
		}
	}
}
