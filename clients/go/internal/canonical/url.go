package canonical

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxPatterns is the limit of the text of stripped parameters.
const MaxPatterns = 1000

const (
	maxPort    = 65_535
	unreserved = letters + digits + "._~-"
	pchar      = unreserved + "!$&'()*+,;=:@"
)

var (
	schemeName  = bytesOf(letters + digits + "+.-")
	pcharSet    = bytesOf(pchar)
	pageSchemes = map[string]int{"http": 80, "https": 443, "ftp": 21}
)

// parts are the parts of a URL. The scheme may be empty, the port -1.
type parts struct {
	scheme, host string
	port         int
	path, query  string
}

// plainPath returns whether a text is a path in canonical form without escapes.
func plainPath(text string) bool {
	if text == "" || text[0] != '/' {
		return false
	}
	start := 1
	for i := 1; i < len(text); i++ {
		if pcharSet[text[i]] {
			continue
		}
		if text[i] != '/' || isDots(text[start:i]) {
			return false
		}
		start = i + 1
	}
	return start == len(text) || !isDots(text[start:])
}

// isDots returns whether path normalisation removes a segment.
func isDots(segment string) bool {
	return segment == "" || segment == "." || segment == ".."
}

func urlRule(escape func(string) string, stripped func(name string) bool) func(string) (string, error) {
	return func(key string) (string, error) {
		for scheme := range pageSchemes {
			if rest, ok := strings.CutPrefix(key, scheme); ok && strings.HasPrefix(rest, "://") {
				if host := plainHost(rest[3:]); host > 0 && plainPath(rest[3+host:]) {
					return key, nil
				}
			}
		}
		return urlForm(key, escape, stripped)
	}
}

func urlForm(key string, escape func(string) string, stripped func(name string) bool) (string, error) {
	cut, err := cutURL(cleaned(key), func(scheme string) bool { return pageSchemes[scheme] != 0 }, "ftp://, http://, https://")
	if err != nil {
		return "", err
	}
	scheme := cmp.Or(cut.scheme, "http")
	host, err := hostForm(cut.host, false)
	if err != nil {
		return "", err
	}
	form := scheme + "://" + host
	if cut.port >= 0 && cut.port != pageSchemes[scheme] {
		form += ":" + strconv.Itoa(cut.port)
	}
	form += withoutDots(escapePath(cut.path))
	type parameter struct{ name, text string }
	var kept []parameter
	for _, text := range strings.Split(escape(cut.query), "&") {
		name, value, _ := strings.Cut(text, "=")
		if name == "" || stripped != nil && stripped(name) {
			continue
		}
		if value == "" {
			text = name
		}
		kept = append(kept, parameter{name, text})
	}
	slices.SortStableFunc(kept, func(a, b parameter) int { return strings.Compare(a.name, b.name) })
	var query strings.Builder
	for i, one := range kept {
		query.WriteByte("?&"[min(i, 1)])
		query.WriteString(one.text)
	}
	return form + query.String(), nil
}

func isControlOrSpace(r rune) bool { return r <= ' ' }

func cleaned(key string) string {
	key = strings.TrimFunc(key, isControlOrSpace)
	if strings.ContainsAny(key, "\t\n\r") {
		key = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(key)
	}
	key, _, _ = strings.Cut(key, "#")
	return key
}

// cutURL splits a URL with a known scheme, or without a scheme, into its parts.
func cutURL(url string, known func(scheme string) bool, names string) (parts, error) {
	if scheme, rest, ok := cutScheme(url); ok {
		if !known(scheme) {
			return parts{}, invalid("URL must start with %s or a host, got '%s:'", names, scheme)
		}
		return fromHost(scheme, rest)
	}
	if isBareIPv6(url) {
		return parts{host: "[" + url + "]", port: -1}, nil
	}
	return fromHost("", url)
}

// cutScheme splits off a scheme, its colon and the slashes that follow, of which there must be one.
func cutScheme(url string) (scheme, rest string, ok bool) {
	colon := strings.IndexByte(url, ':')
	if colon < 1 || !schemeName.hasAll(url[:colon]) || strings.IndexByte(digits+"+.-", url[0]) >= 0 {
		return "", "", false
	}
	rest = strings.TrimLeft(url[colon+1:], `/\`)
	return lowerASCII(url[:colon]), rest, len(rest) < len(url)-colon-1
}

func isBareIPv6(text string) bool {
	colons := 0
	for i := 0; i < len(text); i++ {
		if text[i] == ':' {
			colons++
		} else if text[i] != '.' && !hexDigits[text[i]] {
			return false
		}
	}
	return colons >= 2
}

func fromHost(scheme, rest string) (parts, error) {
	end := strings.IndexAny(rest, `/\?`)
	if end < 0 {
		end = len(rest)
	}
	server := rest[:end]
	if at := strings.LastIndexByte(server, '@'); at >= 0 {
		if scheme == "" {
			return parts{}, invalid("%q has an at sign and no scheme, as an e-mail address has", server)
		}
		server = server[at+1:]
	}
	from := 0
	if strings.HasPrefix(server, "[") {
		from = max(0, strings.IndexByte(server, ']'))
	}
	host, digits, hasPort := server, "", false
	if colon := strings.IndexByte(server[from:], ':'); colon >= 0 {
		host, digits, hasPort = server[:from+colon], server[from+colon+1:], true
	}
	if host == "" {
		return parts{}, invalid("URL has no host")
	}
	if scheme == "" {
		if err := requirePlainHost(host); err != nil {
			return parts{}, err
		}
	}
	port := -1
	if hasPort && (digits != "" || scheme == "") {
		number, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || !decimal.hasAll(digits) {
			return parts{}, invalid("port must be a number in [0, %d], got %q", maxPort, digits)
		}
		port = int(number)
	}
	path, query, _ := strings.Cut(rest[end:], "?")
	return parts{scheme, host, port, strings.ReplaceAll(path, `\`, "/"), query}, nil
}

// escaper returns a function that normalises escapes (docs/format/url-v3.md, Escapes).
func escaper(literal, unescaped string) func(string) string {
	stays, decoded := bytesOf(literal), bytesOf(unescaped)
	return func(text string) string {
		if stays.hasAll(text) {
			return text
		}
		var form strings.Builder
		for i := 0; i < len(text); i++ {
			switch {
			case isEscape(text, i):
				if b := escapedByte(text, i); decoded[b] {
					form.WriteByte(b)
				} else {
					writeEscape(&form, b)
				}
				i += 2
			case stays[text[i]]:
				form.WriteByte(text[i])
			default:
				writeEscape(&form, text[i])
			}
		}
		return form.String()
	}
}

var (
	escapePath   = escaper(pchar+"/", unreserved)
	escapeQuery2 = escaper(pchar+"/?", unreserved)
	// Browsers escape the apostrophe in queries.
	escapeQuery = escaper(strings.ReplaceAll(pchar, "'", "")+"/?", unreserved)
	// Of match expressions.
	escapeListPath  = escaper(pchar+"/", pchar+"/")
	escapeListQuery = escaper(pchar+"/?", unreserved+"!$'()*,:@/?")
)

func isEscape(text string, at int) bool {
	return text[at] == '%' && at+2 < len(text) && hexDigits[text[at+1]] && hexDigits[text[at+2]]
}

func escapedByte(text string, at int) byte {
	return hexDigit(text[at+1])<<4 | hexDigit(text[at+2])
}

func hexDigit(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

func writeEscape(form *strings.Builder, b byte) {
	const upperHex = "0123456789ABCDEF"
	form.WriteByte('%')
	form.WriteByte(upperHex[b>>4])
	form.WriteByte(upperHex[b&15])
}

// withoutDots returns a path without empty segments and dot segments.
func withoutDots(path string) string {
	if plainPath(path) {
		return path
	}
	segments := strings.Split(path, "/")
	var kept []string
	for _, segment := range segments {
		if segment == ".." {
			kept = kept[:max(0, len(kept)-1)]
		} else if segment != "" && segment != "." {
			kept = append(kept, segment)
		}
	}
	form := "/" + strings.Join(kept, "/")
	if len(kept) > 0 && isDots(segments[len(segments)-1]) {
		form += "/"
	}
	return form
}

// Patterns returns the one form of the patterns of stripped parameters.
func Patterns(text string) (string, error) {
	each := strings.Split(text, ",")
	slices.Sort(each)
	each = slices.Compact(each)
	for _, pattern := range each {
		name := strings.TrimSuffix(pattern, "*")
		if pattern == "" || pattern == "common" || strings.Trim(name, unreserved) != "" || strings.Contains(name, "*") {
			return "", fmt.Errorf("a stripped parameter must be a name or a prefix and *, got %q", pattern)
		}
	}
	form := strings.Join(each, ",")
	if len(form) > MaxPatterns {
		return "", fmt.Errorf("stripped parameters must have at most %d characters, got %d", MaxPatterns, len(form))
	}
	return form, nil
}

func matcher(patterns string) func(name string) bool {
	names := map[string]bool{}
	var beginnings []string
	for _, pattern := range strings.Split(patterns, ",") {
		if beginning, ok := strings.CutSuffix(pattern, "*"); ok {
			beginnings = append(beginnings, beginning)
		} else {
			names[pattern] = true
		}
	}
	return func(name string) bool {
		return names[name] || slices.ContainsFunc(beginnings, func(beginning string) bool {
			return strings.HasPrefix(name, beginning)
		})
	}
}
