package canonical

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Entries of lists and the match expressions of URLs (docs/format/url-expression-v2.md).

// MaxURLBytes is the maximum length of a URL in Chromium.
const MaxURLBytes = 2 << 20

const (
	maxHosts       = 128
	maxHosts1      = 5
	maxDirectories = 16
	// Of version 1.
	maxDirectories1 = 4
	maxLabels       = maxHosts - 1
)

var (
	listSchemes = map[string]bool{"http": true, "https": true, "ftp": true, "ws": true, "wss": true}
	// At the start or after a list of domains, and before a selector.
	cosmetic = regexp.MustCompile(`^(?:[A-Za-z0-9_.*,~\x{80}-\x{10ffff}-]*#[@?$%]*##?[^# \t]|[A-Za-z0-9_.*,~\x{80}-\x{10ffff}-]+#[@?$%]*#\z)`)
	// In version 1 anywhere.
	cosmeticMark = regexp.MustCompile(`#[@?$%]*#`)
	rangeInPage  = regexp.MustCompile(`\.?(?::[0-9]*)?/([0-9]{1,3})/?\z`)
	backslash    = strings.NewReplacer("%5C", "/", "%5c", "/")
	plainQuery   = bytesOf(pchar + "/?")
	optionSet    = bytesOf(letters + digits + "~_,=|.-")
	// Options that do not narrow which visits of a page a filter blocks.
	wideOptions = wordsOf("all doc document important")
	options     = wordsOf(`third-party 3p strict3p first-party 1p strict1p script image stylesheet css object
		object-subrequest xmlhttprequest xhr subdocument frame popup popunder media font websocket webrtc
		ping other badfilter important all document doc domain from to method header ipaddress
		denyallow sitekey app csp permissions redirect redirect-rule rewrite replace removeparam
		removeheader uritransform urltransform urlskip empty mp4 cookie cname match-case generichide
		ghide genericblock specifichide shide elemhide ehide urlblock content jsinject extension stealth
		inline-script inline-font network`)
	// Addresses that hosts files use to block a name.
	nowhere = wordsOf("0.0.0.0 127.0.0.1 [::] [::1]")
)

const regularExpressionMarks = "\"<>[]^`{|}"

func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(text) {
		words[word] = true
	}
	return words
}

// entry returns the canonical form host[:port]/path[?query] of a line of a list.
func entry(line string) (string, error) {
	form, err := entryForm(line, 2)
	if err != nil {
		return "", err
	}
	host, path, _ := strings.Cut(form, "/")
	if labels := strings.Count(host, ".") + 1; labels > maxLabels {
		return "", invalid("an entry's host must have at most %d labels, as URLs have, got %d", maxLabels, labels)
	}
	segments := strings.Count(path, "/")
	if strings.HasSuffix(form, "/") && !strings.Contains(form, "?") && segments >= maxDirectories {
		return "", invalid("an entry's directory must have at most %d segments, by which URLs are looked up, got %d",
			maxDirectories-1, segments)
	}
	return form, nil
}

// entry1 returns the canonical form in version 1.
func entry1(line string) (string, error) { return entryForm(line, 1) }

func cutListed(text string) (parts, error) {
	return cutURL(text, func(scheme string) bool { return listSchemes[scheme] }, "ftp://, http://, https://, ws://, wss://")
}

func entryForm(line string, version int) (string, error) {
	text, err := listed(line, version)
	if err != nil {
		return "", err
	}
	cut, err := cutListed(cleaned(text))
	if err != nil {
		return "", err
	}
	if cut.scheme == "" {
		path := cut.path
		if cut.query == "" && strings.HasSuffix(path, "/*") {
			path = path[:len(path)-1]
		}
		if strings.Contains(path+cut.query, "*") {
			return "", invalid("%q is a pattern; list its directory, or the page with http:// before it", text)
		}
		if version > 1 {
			if err := requireHost(cut.host); err != nil {
				return "", err
			}
		}
	} else {
		cut.host = withoutWildcard(cut.host)
		if strings.Contains(cut.host, "*") {
			return "", invalid("host %q is a pattern; list the domain", cut.host)
		}
	}
	form, err := listForm(cut)
	if err != nil {
		return "", err
	}
	if strings.HasSuffix(form, "/*") && !strings.Contains(form, "?") {
		form = form[:len(form)-1]
	}
	return form, nil
}

func listForm(cut parts) (string, error) {
	form, err := hostForm(cut.host, true)
	if err != nil {
		return "", err
	}
	if cut.port >= 0 && cut.port != 80 && cut.port != 443 && (cut.port != 21 || cut.scheme != "ftp") {
		form += ":" + strconv.Itoa(cut.port)
	}
	form += withoutDots(escapeListPath(backslash.Replace(cut.path)))
	if cut.query != "" {
		form += "?" + escapeListQuery(cut.query)
	}
	return form, nil
}

// listed returns the host or URL of a line of a list, without the surrounding notation.
func listed(line string, version int) (string, error) {
	text := strings.TrimFunc(line, isControlOrSpace)
	if version == 1 {
		if _, _, ok := cutScheme(text); ok {
			return text, nil
		}
	}
	isCosmetic := cosmetic.MatchString(text)
	switch {
	case version > 1 && strings.ContainsAny(text, "\r\n"):
		return "", invalid("%q has a line break", text)
	case text == "" || text[0] == '!' || text[0] == '#' && !isCosmetic ||
		len(text) >= 8 && lowerASCII(text[:8]) == "[adblock":
		return "", invalid("%q is a comment", text)
	case strings.HasPrefix(text, "@@"):
		return "", invalid("%q is an exception, which lists nothing", text)
	case version > 1 && isCosmetic || version == 1 && cosmeticMark.MatchString(text):
		return "", invalid("%q is a cosmetic filter, which lists parts of pages", text)
	}
	rest := withoutComment(text)
	if text[0] == '|' {
		if version == 1 {
			return filtered(text)
		}
		if err := requireOneColumn(rest); err != nil {
			return "", err
		}
		body, err := filtered(rest)
		if err != nil {
			return "", err
		}
		return requireNoRange(body, version)
	}
	if version > 1 {
		// A URL to look up also has no fragment.
		rest, _, _ = strings.Cut(rest, "#")
		rest = strings.TrimRightFunc(rest, isControlOrSpace)
	}
	if _, _, ok := cutScheme(rest); ok {
		if version > 1 {
			return rest, requireOneColumn(rest)
		}
		return rest, nil
	}
	name, err := named(rest, version)
	if err != nil {
		return "", err
	}
	if version > 1 {
		column := rest
		if name != "" {
			column = name
		}
		if err := requireOneColumn(column); err != nil {
			return "", err
		}
		if isPattern(rest) {
			return "", invalid("%q is a pattern or a regular expression; list the host, or the page with http:// before it", rest)
		}
	}
	if name != "" {
		rest = name
	}
	if plus, ok := strings.CutPrefix(rest, "+."); ok && version > 1 {
		rest = plus
	} else {
		rest = withoutWildcard(rest)
	}
	return requireNoRange(rest, version)
}

// isPattern returns whether a line is a regular expression, a part of a name, or a filter with options.
func isPattern(line string) bool {
	if strings.Contains(line, `\`) {
		return true
	}
	if at := strings.IndexAny(line, "/?"); at >= 0 && strings.ContainsAny(line[at+1:], regularExpressionMarks) {
		return true
	}
	if rest, ok := strings.CutPrefix(line, "."); ok && (strings.ContainsAny(rest, "/?:") || strings.HasSuffix(rest, ".")) {
		return true
	}
	return hasOptions(line)
}

// hasOptions returns whether a line ends with a dollar sign and options of filters between commas.
func hasOptions(line string) bool {
	each := strings.Split(line, ",")
	for i := len(each) - 1; i >= 0; i-- {
		for at := 0; at < len(each[i]); at++ {
			if each[i][at] == '$' && isOption(each[i][at+1:]) {
				return true
			}
		}
		if !isOption(each[i]) {
			return false
		}
	}
	return false
}

func isOption(text string) bool {
	const longest = 18
	text = strings.TrimPrefix(text, "~")
	name, _, _ := strings.Cut(text[:min(longest+1, len(text))], "=")
	return options[name]
}

func requireOneColumn(text string) error {
	for _, r := range text {
		if r <= ' ' || r >= 0x7f && r <= 0xa0 || unicode.Is(unicode.White_Space, r) {
			return invalid("%q has more than one column; select one, or write a space in a URL as %%20", text)
		}
	}
	return nil
}

func requireNoRange(text string, version int) (string, error) {
	// In version 2 also with a dot or a port after the address, or a slash after the length.
	if isRange(text) || version > 1 && isRange(rangeInPage.ReplaceAllString(text, "/$1")) {
		return "", invalid("%q is a range of addresses; list them one by one, or a page with http:// before it", text)
	}
	return text, nil
}

// requireHost rejects marks and numbers that other notations use in place of a host.
func requireHost(host string) error {
	if strings.HasPrefix(host, "[") {
		return nil
	}
	if strings.ContainsAny(host, "~$&'()+;=") {
		return invalid("host %q without a scheme must not have any of ~$&'()+;=", host)
	}
	plain := strings.TrimSuffix(host, ".")
	if strings.Count(plain, ".") != 3 && endsInNumber(plain) {
		return invalid("%q is a number; an address has four parts, or http:// before it", host)
	}
	return nil
}

func withoutComment(text string) string {
	for at := strings.IndexByte(text, '#'); at >= 0; {
		if at > 0 && (text[at-1] == ' ' || text[at-1] == '\t') {
			return strings.TrimRight(text[:at], " \t")
		}
		next := strings.IndexByte(text[at+1:], '#')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return text
}

// isRange returns whether a text is an IP address, a slash and a prefix length.
func isRange(text string) bool {
	address, rest, ok := strings.Cut(text, "/")
	if !ok || address == "" {
		return false
	}
	end := 0
	for end < len(rest) && decimal[rest[end]] {
		end++
	}
	if end < 1 || end > 3 || end < len(rest) && strings.IndexByte(" \t#", rest[end]) < 0 {
		return false
	}
	length, err := strconv.Atoi(rest[:end])
	if err != nil {
		return false
	}
	hasBrackets := strings.HasPrefix(address, "[") && strings.HasSuffix(address, "]")
	plain := address
	if hasBrackets {
		plain = address[1 : len(address)-1]
	}
	if _, ok := ipv6(plain); ok {
		return length <= 128
	}
	return !hasBrackets && ipv4(address) != "" && length <= 32
}

func withoutWildcard(text string) string {
	if rest, ok := strings.CutPrefix(text, "*."); ok {
		return rest
	}
	return strings.TrimPrefix(text, ".")
}

// filtered returns the entry of an Adblock network filter: ||host^, ||host/directory/ or ||host/directory/*.
func filtered(text string) (string, error) {
	body := text
	if at := strings.LastIndexByte(text, '$'); at >= 0 && at+1 < len(text) && optionSet.hasAll(text[at+1:]) {
		for _, option := range strings.Split(text[at+1:], ",") {
			if !wideOptions[option] {
				return "", invalid("an Adblock filter must not have options that narrow it, got %q", option)
			}
		}
		body = text[:at]
	}
	if rest, ok := strings.CutPrefix(body, "||"); ok {
		body = withoutWildcard(rest)
	} else {
		body = ""
	}
	isHost := strings.HasSuffix(body, "^") && !strings.Contains(body, "/")
	rest := body
	if isHost || strings.HasSuffix(body, "/*") {
		rest = body[:len(body)-1]
	}
	if !isHost && !strings.HasSuffix(rest, "/") || rest == "" || strings.ContainsAny(rest, "^*|?") {
		return "", invalid("an Adblock filter must be ||host^ or ||host/directory/, got %q", text)
	}
	return rest, nil
}

// named returns the name in a line of a hosts file; "" for any other line.
func named(text string, version int) (string, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) < 2 {
		return "", nil
	}
	address := addressForm(words[0])
	if address == "" {
		return "", nil
	}
	if !nowhere[address] {
		return "", invalid("a hosts-file line must have the address 0.0.0.0, 127.0.0.1, :: or ::1, got %q", words[0])
	}
	if len(words) > 2 {
		return "", invalid("a hosts-file line must name one host, got %d", len(words)-1)
	}
	name := words[1]
	plain := name
	if version > 1 {
		plain = strings.TrimSuffix(strings.ToLower(name), ".")
	}
	if !strings.Contains(plain, ".") || plain == "localhost.localdomain" || addressForm(plain) != "" ||
		version > 1 && ipv4(plain) != "" {
		return "", invalid("a hosts-file line must name a domain of the Internet, got %q", name)
	}
	return name, nil
}

func addressForm(word string) string {
	if strings.Contains(word, ":") {
		if address, ok := ipv6(word); ok {
			return bracketed(address)
		}
		return ""
	}
	if ipv4(word) != word {
		return ""
	}
	return word
}

// A Visit is a URL that is looked up in lists, in canonical form.
type Visit struct {
	// form is host[:port]/path[?query]; plain is the same without a port.
	form, plain string
	// The end of the host, of the path, and of the whole text in plain.
	host, page int
	// registrable is the start of the registrable domain in plain, or -1.
	registrable int
}

// Visited returns a URL in canonical form. Its errors are ErrInvalid.
func Visited(url string) (Visit, error) {
	if url == "" {
		return Visit{}, invalid("key is empty")
	}
	if len(url) > MaxURLBytes {
		return Visit{}, invalid("URL must be at most %d bytes, got %d", MaxURLBytes, len(url))
	}
	form := plainVisit(url)
	if form == "" {
		cut, err := cutVisit(cleaned(escapeOtherBytes(url)))
		if err != nil {
			return Visit{}, err
		}
		if form, err = listForm(cut); err != nil {
			return Visit{}, err
		}
	}
	host := strings.IndexByte(form, '/')
	plain := form
	address := strings.IndexByte(form[:host], ']') + 1
	if colon := strings.IndexByte(form[address:host], ':'); colon >= 0 {
		plain = form[:address+colon] + form[host:]
		host = address + colon
	}
	page := len(plain)
	if query := strings.IndexByte(plain, '?'); query >= 0 {
		page = query
	}
	registrable := -1
	if plain[0] != '[' && !endsInNumber(plain[:host]) {
		registrable = registrableStart(plain[:host])
	}
	return Visit{form, plain, host, page, registrable}, nil
}

// plainVisit returns the form of a host or URL that is in canonical form except for its scheme, or "".
func plainVisit(url string) string {
	rest := url
	if after, ok := strings.CutPrefix(url, "https://"); ok {
		rest = after
	} else if after, ok := strings.CutPrefix(url, "http://"); ok {
		rest = after
	}
	host := plainHost(rest)
	if host == 0 {
		return ""
	}
	if host == len(rest) {
		return rest + "/"
	}
	path, query, hasQuery := strings.Cut(rest[host:], "?")
	if plainPath(path) && (!hasQuery || query != "" && plainQuery.hasAll(query)) {
		return rest
	}
	return ""
}

// escapeOtherBytes replaces bytes that are not UTF-8 by escapes.
func escapeOtherBytes(url string) string {
	if utf8.ValidString(url) {
		return url
	}
	var escaped strings.Builder
	for len(url) > 0 {
		r, size := utf8.DecodeRuneInString(url)
		if r == utf8.RuneError && size == 1 {
			writeEscape(&escaped, url[0])
		} else {
			escaped.WriteString(url[:size])
		}
		url = url[size:]
	}
	return escaped.String()
}

// cutVisit splits a URL that a browser opens, which is more tolerant about schemes.
func cutVisit(url string) (parts, error) {
	const source = "view-source:"
	for len(url) >= len(source) && lowerASCII(url[:len(source)]) == source {
		url = strings.TrimLeftFunc(url[len(source):], isControlOrSpace)
	}
	if colon := strings.IndexByte(url, ':'); colon >= 0 && colon <= len("https") {
		if scheme := lowerASCII(url[:colon]); listSchemes[scheme] {
			return fromHost(scheme, strings.TrimLeft(url[colon+1:], `/\`))
		}
	}
	if rest := strings.TrimLeft(url, `/\`); len(rest) <= len(url)-2 {
		return fromHost("http", rest)
	}
	return cutListed(url)
}

// Expressions returns the expressions of a URL for a version of url-expression.
func (v *Visit) Expressions(version int) Expressions {
	hosts, directories := maxHosts, maxDirectories
	if version == 1 {
		hosts, directories = maxHosts1, maxDirectories1
	}
	e := Expressions{visit: v, hasPort: len(v.form) != len(v.plain), end: len(v.plain)}
	if e.hasPort {
		hosts--
	}
	if v.registrable > 0 {
		e.skipped = max(0, strings.Count(v.plain[:v.registrable], ".")-(hosts-1))
	}
	// The limits keep the shortest hosts and directories, which are looked up last.
	e.deepest = strings.LastIndexByte(v.plain[v.host:v.page-1], '/') + v.host + 1
	for deeper := strings.Count(v.plain[v.host:v.page-1], "/") - directories; deeper > 0; deeper-- {
		e.deepest = strings.LastIndexByte(v.plain[v.host:e.deepest-1], '/') + v.host + 1
	}
	return e
}

// Expressions are the entries that match a URL, most specific first.
type Expressions struct {
	visit *Visit
	// hasPort is whether the next host is the one with the port.
	hasPort bool
	// start is the start of the next host in the form without a port, -1 after the last one.
	start int
	// skipped is the number of hosts below the first one that are not looked up.
	skipped int
	// end is the end of the next path, and deepest the end of the longest directory.
	end, deepest int
}

// Next returns the next expression; "" after the last one.
func (e *Expressions) Next() string {
	v := e.visit
	for e.start >= 0 {
		expression := v.plain[e.start:e.end]
		if e.hasPort {
			expression = v.form[:e.end+len(v.form)-len(v.plain)]
		}
		e.step()
		// No entry is longer.
		if len(expression) <= MaxKeyBytes {
			return expression
		}
	}
	return ""
}

func (e *Expressions) step() {
	v := e.visit
	switch {
	case e.end > v.page:
		e.end = v.page
	case e.end == v.page && e.deepest > v.host:
		e.end = e.deepest
	case e.end < v.page && e.end > v.host+1:
		e.end = v.host + strings.LastIndexByte(v.plain[v.host:e.end-1], '/') + 1
	default:
		e.end = len(v.plain)
		e.nextHost()
	}
}

func (e *Expressions) nextHost() {
	v := e.visit
	switch {
	case e.hasPort:
		e.hasPort = false
	case e.start >= v.registrable:
		e.start = -1
	default:
		for e.start += strings.IndexByte(v.plain[e.start:], '.') + 1; e.skipped > 0; e.skipped-- {
			e.start += strings.IndexByte(v.plain[e.start:], '.') + 1
		}
	}
}
