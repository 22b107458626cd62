package canonical

import (
	_ "embed"
	"strings"
	"sync"
)

// The ICANN section of the public suffix list of publicsuffix.org, version 2025-11-27_13-27-58_UTC,
// Mozilla Public License 2.0 (https://mozilla.org/MPL/2.0/).
//
//go:embed public_suffix_list_icann.dat
var suffixList string

// Kinds of rules with the same name.
const (
	suffixRule = 1 << iota
	// Every name one label longer is a suffix.
	wildcardRule
	exceptionRule
)

var suffixRules = sync.OnceValues(func() (rules map[string]uint8, longest int) {
	rules = make(map[string]uint8, 8192)
	for line := range strings.Lines(suffixList) {
		name, kind := strings.TrimSpace(line), uint8(suffixRule)
		if name == "" || strings.HasPrefix(name, "//") {
			continue
		}
		if rest, ok := strings.CutPrefix(name, "!"); ok {
			name, kind = rest, exceptionRule
		} else if rest, ok := strings.CutPrefix(name, "*."); ok {
			name, kind = rest, wildcardRule
		}
		// A test checks that every rule has a form.
		if form, err := hostForm(name, false); err == nil {
			rules[form] |= kind
			// One more for the label of a wildcard.
			longest = max(longest, strings.Count(form, ".")+2)
		}
	}
	return rules, longest
})

// registrableStart returns the start of the registrable domain in a domain; -1 for a public suffix.
func registrableStart(domain string) int {
	rules, longest := suffixRules()
	suffix := strings.LastIndexByte(domain, '.') + 1
	kinds := rules[domain[suffix:]]
	for below, labels := suffix, 1; below > 0 && labels < longest; labels++ {
		longer := strings.LastIndexByte(domain[:below-1], '.') + 1
		wild := kinds&wildcardRule != 0
		kinds = rules[domain[longer:]]
		if kinds&exceptionRule != 0 {
			return longer
		}
		if wild || kinds&suffixRule != 0 {
			suffix = longer
		}
		below = longer
	}
	if suffix == 0 {
		return -1
	}
	return strings.LastIndexByte(domain[:suffix-1], '.') + 1
}
