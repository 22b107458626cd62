package canonical

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

const (
	maxInternational = 1024
	// Characters that are escaped in a label, and that lists and tables use around hosts.
	hostMarks = "!*,\"`{}"
)

var (
	plainLabel = bytesOf(lower + digits + "_-")
	innerLabel = bytesOf(lower + digits + "_-~$&'()+;=" + hostMarks)
	markSet    = bytesOf(hostMarks)
)

func init() {
	for b := utf8.RuneSelf; b < 256; b++ {
		innerLabel[b] = true
	}
}

// plainHost returns the length of the host at the start of a text, if it is in canonical form and its
// last label does not start with a digit, and 0 otherwise.
func plainHost(text string) int {
	start := 0
	i := 0
	for ; i < len(text); i++ {
		if plainLabel[text[i]] {
			continue
		}
		if text[i] != '.' {
			break
		}
		if i == start {
			return 0
		}
		start = i + 1
	}
	if i == start || '0' <= text[start] && text[start] <= '9' {
		return 0
	}
	return i
}

// hostForm returns the form of a host (docs/format/url-v3.md, Hosts); embedded converts an IPv6 address
// with an embedded IPv4 address to IPv4.
func hostForm(host string, embedded bool) (string, error) {
	if host != "" && plainHost(host) == len(host) {
		return host, nil
	}
	if strings.HasPrefix(host, "[") {
		if !strings.HasSuffix(host, "]") {
			return "", invalid("host %q must be an IPv6 address between [ and ]", host)
		}
		address, ok := ipv6(host[1 : len(host)-1])
		if !ok {
			return "", invalid("host %q must be an IPv6 address between [ and ]", host)
		}
		if embedded {
			if inner := embeddedIPv4(address); inner != "" {
				return inner, nil
			}
		}
		return bracketed(address), nil
	}
	written := unescape(host)
	if !utf8.ValidString(written) {
		return "", invalid("host %q is not UTF-8", host)
	}
	if len(written) > maxInternational && !isASCII(written) {
		if count := utf8.RuneCountInString(written); count > maxInternational {
			return "", invalid("host beyond ASCII must have at most %d characters, got %d", maxInternational, count)
		}
	}
	domain := strings.TrimSuffix(mapped(written), ".")
	if domain == "" {
		return "", invalid("URL has no host")
	}
	labels := strings.Split(domain, ".")
	for i, label := range labels {
		form, err := labelForm(label, i == len(labels)-1, host)
		if err != nil {
			return "", err
		}
		labels[i] = form
	}
	form := strings.Join(labels, ".")
	if !endsInNumber(form) {
		return form, nil
	}
	address := ipv4(form)
	if address == "" {
		return "", invalid("host %q ends in a number and is not an IPv4 address", host)
	}
	return address, nil
}

// unescape decodes each escape once.
func unescape(host string) string {
	if !strings.Contains(host, "%") {
		return host
	}
	decoded := make([]byte, 0, len(host))
	for i := 0; i < len(host); i++ {
		if isEscape(host, i) {
			decoded = append(decoded, escapedByte(host, i))
			i += 2
		} else {
			decoded = append(decoded, host[i])
		}
	}
	return string(decoded)
}

// mapped applies the mapping of UTS #46 without transitional processing.
func mapped(domain string) string {
	if isASCII(domain) {
		return lowerASCII(domain)
	}
	seen := strings.Map(func(r rune) rune {
		switch r {
		// Joiners distinguish words in some scripts and are kept.
		case '\u200c', '\u200d':
			return r
		case '\u03f2', '\U0001d6d3', '\U0001d70d', '\U0001d747', '\U0001d781', '\U0001d7bb':
			return 'σ'
		}
		if unicode.Is(ignorable, r) {
			return -1
		}
		return r
	}, domain)
	var folded strings.Builder
	upper := upperCaser()
	for _, r := range norm.NFKC.String(seen) {
		switch r {
		case 'ß', 'ς', 'ı':
			folded.WriteRune(r)
		case 'ẞ':
			folded.WriteRune('ß')
		case 'İ':
			folded.WriteString("i\u0307")
		default:
			for _, u := range upper.String(string(r)) {
				// Cherokee letters fold to upper case, which was encoded first.
				if u < 0x13a0 || u > 0x13f5 {
					u = unicode.ToLower(u)
				}
				folded.WriteRune(u)
			}
		}
	}
	return strings.ReplaceAll(norm.NFKC.String(folded.String()), "\u3002", ".")
}

func labelForm(label string, last bool, host string) (string, error) {
	if label == "" {
		return "", invalid("host %q has an empty label", host)
	}
	ascii := true
	for i := 0; i < len(label); i++ {
		c := label[i]
		if c >= utf8.RuneSelf {
			ascii = false
			continue
		}
		if last && !plainLabel[c] {
			return "", invalid("host %q has a character that none may have in its last label", host)
		}
		if !innerLabel[c] {
			return "", invalid("host %q has a character that none may have", host)
		}
	}
	if !ascii {
		if strings.HasPrefix(label, "xn--") {
			return "", invalid("host %q mixes Punycode and other characters in a label", host)
		}
		encoded, err := idna.Punycode.ToASCII(label)
		if err != nil {
			return "", invalid("host %q cannot be encoded: %v", host, err)
		}
		label = encoded
	}
	if !markSet.hasAny(label) {
		return label, nil
	}
	var escaped strings.Builder
	for i := 0; i < len(label); i++ {
		if markSet[label[i]] {
			writeEscape(&escaped, label[i])
		} else {
			escaped.WriteByte(label[i])
		}
	}
	return escaped.String(), nil
}

// requirePlainHost rejects a host without a scheme that contains a mark with a different meaning in a list.
func requirePlainHost(host string) error {
	if at := strings.IndexAny(host, hostMarks); at >= 0 {
		return invalid("host %q without a scheme must not hold %q", host, host[at])
	}
	return nil
}
