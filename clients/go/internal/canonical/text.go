package canonical

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

const (
	maxRounds = 8
	maxMarks  = 30
)

// ignorable is Default_Ignorable_Code_Point of Unicode 16, fixed in docs/format/text-v1.md.
var ignorable = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00ad, 0x00ad, 1}, {0x034f, 0x034f, 1}, {0x061c, 0x061c, 1}, {0x115f, 0x1160, 1},
		{0x17b4, 0x17b5, 1}, {0x180b, 0x180f, 1}, {0x200b, 0x200f, 1}, {0x202a, 0x202e, 1},
		{0x2060, 0x206f, 1}, {0x3164, 0x3164, 1}, {0xfe00, 0xfe0f, 1}, {0xfeff, 0xfeff, 1},
		{0xffa0, 0xffa0, 1}, {0xfff0, 0xfff8, 1},
	},
	R32:         []unicode.Range32{{0x1bca0, 0x1bca3, 1}, {0x1d173, 0x1d17a, 1}, {0xe0000, 0xe0fff, 1}},
	LatinOffset: 1,
}

// upperCaser returns the full upper-case mapping without a locale. It must not be shared.
func upperCaser() cases.Caser { return cases.Upper(language.Und) }

func textForm(text string) (string, error) {
	for range maxRounds {
		folded := foldOnce(text)
		if folded == "" {
			return "", invalid("text is empty after folding")
		}
		// One round is sufficient for ASCII.
		if isASCII(folded) || folded == text {
			return folded, nil
		}
		text = folded
	}
	return "", invalid("text still changes after %d rounds of folding", maxRounds)
}

func foldOnce(text string) string {
	visible := strings.Map(func(r rune) rune {
		if !isSpace(r) && unicode.Is(unicode.Cc, r) || unicode.Is(ignorable, r) {
			return -1
		}
		return r
	}, text)
	return norm.NFKC.String(shortRuns(upperCaser().String(norm.NFKC.String(shortMarks(visible)))))
}

// shortMarks removes the marks of a run after the first 30.
func shortMarks(text string) string {
	marks := 0
	return strings.Map(func(r rune) rune {
		// NFKC maps half-width sound marks, which are letters, to marks.
		if r < utf8.RuneSelf || !unicode.Is(unicode.M, r) && r != '\uff9e' && r != '\uff9f' {
			marks = 0
			return r
		}
		if marks++; marks > maxMarks {
			return -1
		}
		return r
	}, text)
}

func shortRuns(text string) string {
	previous := ' '
	form := strings.Map(func(r rune) rune {
		folded := foldRune(r)
		if folded == previous && (folded == ' ' || folded == '0' || folded == '.') {
			return -1
		}
		previous = folded
		return folded
	}, text)
	return strings.TrimSuffix(form, " ")
}

func foldRune(r rune) rune {
	switch {
	case isSpace(r):
		return ' '
	case unicode.Is(unicode.Nd, r):
		return '0'
	case unicode.Is(unicode.P, r) || unicode.Is(unicode.S, r):
		return '.'
	}
	return unicode.ToLower(r)
}

func isSpace(r rune) bool {
	switch {
	case r >= '\t' && r <= '\r', r >= 0x1c && r <= ' ', r >= 0x2000 && r <= 0x200a:
		return true
	}
	switch r {
	case 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000:
		return true
	}
	return false
}
