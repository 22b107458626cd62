package firstseen

import (
	"fmt"
	"math"

	"firstseen.io/firstseen/internal/canonical"
)

// A Snapshotter has a set to query: a [*Set] or a [*Follower].
type Snapshotter interface {
	// Snapshot returns the active set, or why there is none.
	Snapshot() (*Set, error)
}

// Lists are lists that are queried together. An entry of an allow set overrides the entries of all lists,
// even a more specific one. Lists are safe for concurrent use.
type Lists struct {
	Lists, Allow []Snapshotter
}

// A Match is an entry of a list that matches a URL.
type Match struct {
	Set   string `json:"set"`
	Entry string `json:"entry"`
}

// An Answer is the result of a query for a URL. In JSON it has the names of the HTTP service.
type Answer struct {
	// Present is whether a list matches the URL and no allow set does.
	Present bool `json:"present"`
	// Matches and AllowedBy have the most specific entry of each list and allow set that matches.
	Matches   []Match `json:"matches"`
	AllowedBy []Match `json:"allowedBy"`
	// Expressions is the number of expressions of the URL, which are looked up.
	Expressions int `json:"expressions"`
	// FalsePositiveRate is the highest probability that a list matches a URL of this number of
	// expressions although no entry lists it.
	FalsePositiveRate float64 `json:"falsePositiveRate"`
}

// Ask matches a URL or host. The error is ErrInvalidKey for a URL without a canonical form, and that of a
// list without a usable set. The URL is then neither present nor absent.
func (l *Lists) Ask(url string) (Answer, error) { return l.AskIn("", url) }

// AskIn is [Lists.Ask] for the entries of a scope.
func (l *Lists) AskIn(scope, url string) (Answer, error) {
	visit, err := canonical.Visited(url)
	if err != nil {
		return Answer{}, err
	}
	if len(l.Lists) == 0 {
		return Answer{}, fmt.Errorf("%w: there are no lists", ErrNotReady)
	}
	answer := Answer{Matches: []Match{}, AllowedBy: []Match{}}
	logAbsent := 0.0
	for i := range len(l.Lists) + len(l.Allow) {
		isAllow := i >= len(l.Lists)
		var one Snapshotter
		if isAllow {
			one = l.Allow[i-len(l.Lists)]
		} else {
			one = l.Lists[i]
		}
		set, err := one.Snapshot()
		if err != nil {
			return Answer{}, err
		}
		if err := set.requireList(); err != nil {
			return Answer{}, err
		}
		entry, err := set.match(scope, &visit)
		if err != nil {
			return Answer{}, err
		}
		count := 0
		expressions := visit.Expressions(set.Parameters.CanonicaliserVersion)
		for expressions.Next() != "" {
			count++
		}
		answer.Expressions = max(answer.Expressions, count)
		if !isAllow {
			// Logarithms keep the precision of small rates.
			logAbsent += float64(count) * math.Log1p(-set.Parameters.FalsePositiveRate)
		}
		switch {
		case entry == "":
		case isAllow:
			answer.AllowedBy = append(answer.AllowedBy, Match{set.Name, entry})
		default:
			answer.Matches = append(answer.Matches, Match{set.Name, entry})
		}
	}
	answer.FalsePositiveRate = -math.Expm1(logAbsent)
	answer.Present = len(answer.Matches) > 0 && len(answer.AllowedBy) == 0
	return answer, nil
}

// Expressions returns the entries that would list a URL or host, most specific first.
func Expressions(url string) ([]string, error) {
	visit, err := canonical.Visited(url)
	if err != nil {
		return nil, err
	}
	return expressionsOf(&visit, canonical.Newest(canonical.URLExpression).Version), nil
}

func expressionsOf(visit *canonical.Visit, version int) (all []string) {
	expressions := visit.Expressions(version)
	for expression := expressions.Next(); expression != ""; expression = expressions.Next() {
		all = append(all, expression)
	}
	return all
}

// Canonical returns the canonical form of a key by a rule: none, url, text or url-expression.
func Canonical(rule, key string) (string, error) {
	for code := uint8(canonical.None); ; code++ {
		newest := canonical.Newest(code)
		if newest == nil {
			return "", unsupported("canonicaliser must be one of none, url, text, url-expression, got %q", rule)
		}
		if newest.Name == rule {
			return newest.Form(key)
		}
	}
}
