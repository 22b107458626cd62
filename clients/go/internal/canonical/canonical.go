// Package canonical maps keys to their canonical forms, so that different spellings become one key.
package canonical

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrInvalid is the kind of all errors about keys without a canonical form.
var ErrInvalid = errors.New("invalid key")

// MaxKeyBytes is the limit of keys and of canonical forms.
const MaxKeyBytes = 65_536

// Codes of the rules in binary headers.
const (
	None          = 0
	URL           = 1
	Text          = 2
	URLExpression = 3
)

// A Rule maps keys to canonical forms. It is idempotent and immutable.
type Rule struct {
	Code    uint8
	Name    string
	Version int
	// Stripped has the patterns of the query parameters that the rule url removes.
	Stripped string
	form     func(key string) (string, error)
}

var rules = []*Rule{
	{Code: None, Name: "none", Version: 1},
	{Code: URL, Name: "url", Version: 3, form: urlRule(escapeQuery, nil)},
	{Code: Text, Name: "text", Version: 1, form: textForm},
	{Code: URLExpression, Name: "url-expression", Version: 2, form: entry},
	{Code: URL, Name: "url", Version: 2, form: urlRule(escapeQuery2, nil)},
	{Code: URLExpression, Name: "url-expression", Version: 1, form: entry1},
}

// Newest returns the newest version of the rule with a code, or nil.
func Newest(code uint8) *Rule {
	for _, rule := range rules {
		if rule.Code == code {
			return rule
		}
	}
	return nil
}

// Find returns the rule with a code and a version, or nil.
func Find(code uint8, version int) *Rule {
	for _, rule := range rules {
		if rule.Code == code && rule.Version == version {
			return rule
		}
	}
	return nil
}

// Stripping returns the rule url that also removes the query parameters of the patterns.
func (r *Rule) Stripping(patterns string) (*Rule, error) {
	if r.Code != URL {
		return nil, fmt.Errorf("only the canonicaliser url strips parameters, got %s", r.Name)
	}
	form, err := Patterns(patterns)
	if err != nil {
		return nil, err
	}
	escape := escapeQuery
	if r.Version == 2 {
		escape = escapeQuery2
	}
	return &Rule{r.Code, r.Name, r.Version, form, urlRule(escape, matcher(form))}, nil
}

// Form returns the canonical form of a key. Its errors are ErrInvalid.
func (r *Rule) Form(key string) (string, error) {
	if key == "" {
		return "", invalid("key is empty")
	}
	if len(key) > MaxKeyBytes {
		return "", invalid("key must be at most %d bytes, got %d", MaxKeyBytes, len(key))
	}
	if r.form == nil {
		return key, nil
	}
	if err := requireUTF8(key); err != nil {
		return "", err
	}
	form, err := r.form(key)
	if err != nil {
		return "", err
	}
	if len(form) > MaxKeyBytes {
		return "", invalid("canonical key must be at most %d bytes, got %d", MaxKeyBytes, len(form))
	}
	return form, nil
}

func requireUTF8(key string) error {
	if utf8.ValidString(key) {
		return nil
	}
	for i, r := range key {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(key[i:]); size == 1 {
				return invalid("key is not UTF-8: malformed at byte %d", i)
			}
		}
	}
	return nil
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

// A byteSet is a set of ASCII characters.
type byteSet [256]bool

func bytesOf(characters string) *byteSet {
	var set byteSet
	for i := 0; i < len(characters); i++ {
		set[characters[i]] = true
	}
	return &set
}

func (set *byteSet) hasAll(text string) bool {
	for i := 0; i < len(text); i++ {
		if !set[text[i]] {
			return false
		}
	}
	return true
}

func (set *byteSet) hasAny(text string) bool {
	for i := 0; i < len(text); i++ {
		if set[text[i]] {
			return true
		}
	}
	return false
}

const (
	digits  = "0123456789"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	letters = lower + upper
)

func isASCII(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func lowerASCII(text string) string {
	for i := 0; i < len(text); i++ {
		if 'A' <= text[i] && text[i] <= 'Z' {
			lowered := []byte(text)
			for ; i < len(lowered); i++ {
				if 'A' <= lowered[i] && lowered[i] <= 'Z' {
					lowered[i] += 'a' - 'A'
				}
			}
			return string(lowered)
		}
	}
	return text
}
