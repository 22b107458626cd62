package canonical

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The table of docs/format/near-v1.md, from Unicode's confusables.txt, © Unicode, Inc.
//
//go:embed look-alikes.txt
var lookAlikes string

// lettersOf returns the letters that a code point is replaced by.
var lettersOf = sync.OnceValue(func() map[rune]string {
	all := map[rune]string{}
	for line := range strings.Lines(lookAlikes) {
		fields := strings.Fields(line)
		for _, field := range fields[1:] {
			codePoint, err := strconv.ParseInt(field, 16, 32)
			if err != nil {
				panic(err)
			}
			all[rune(codePoint)] = fields[0]
		}
	}
	return all
})

// FoldLookAlikes returns a form of the rule text with folded letters, and with spaced-out letters joined.
func FoldLookAlikes(form string, ofWords bool) string {
	var letters strings.Builder
	for _, r := range norm.NFD.String(form) {
		if replacement, ok := lettersOf()[r]; ok {
			letters.WriteString(replacement)
		} else if !isAccent(r) {
			letters.WriteRune(r)
		}
	}
	form = norm.NFC.String(letters.String())
	if ofWords {
		return joinSpacedOut(form)
	}
	return withoutSeparators(form)
}

func isAccent(r rune) bool {
	return r >= 0x0300 && r <= 0x036f || r >= 0x1ab0 && r <= 0x1aff || r >= 0x1dc0 && r <= 0x1dff ||
		r >= 0x20d0 && r <= 0x20ff || r >= 0xfe20 && r <= 0xfe2f
}

func isSeparator(r rune) bool { return r == ' ' || r == '.' }

func withoutSeparators(text string) string {
	return strings.Map(func(r rune) rune {
		if isSeparator(r) {
			return -1
		}
		return r
	}, text)
}

// joinSpacedOut removes the separators of each run of at least three letters on their own.
func joinSpacedOut(text string) string {
	var joined strings.Builder
	// A run of letters on their own begins at run, and its last letter ends at end.
	run, end, letters := 0, 0, 0
	flush := func() {
		part := text[run:end]
		if letters >= 3 {
			part = withoutSeparators(part)
		}
		joined.WriteString(part)
		run, letters = end, 0
	}
	for at := 0; at < len(text); {
		word := strings.IndexFunc(text[at:], isSeparator)
		if word < 0 {
			word = len(text) - at
		}
		if word == 0 {
			at++
			continue
		}
		if utf8.RuneCountInString(text[at:at+word]) != 1 {
			flush()
			end = at + word
			flush()
		} else {
			if letters == 0 {
				end = at
				flush()
			}
			letters++
			end = at + word
		}
		at += word
	}
	flush()
	joined.WriteString(text[end:])
	return joined.String()
}
