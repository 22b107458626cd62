package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"firstseen.io/firstseen"
)

const files = "../../../../conformance/files/"

func ask(t *testing.T, handler http.Handler, target string) (int, string) {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, target, nil))
	return recorder.Code, strings.TrimSpace(recorder.Body.String())
}

func TestAnswers(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	hash, err := firstseen.ParseKeyHash("000102030405060708090a0b0c0d0e0f")
	if err != nil {
		t.Fatal(err)
	}
	list, err := follow(ctx, files+"sets/expressions", t.TempDir(), firstseen.Options{KeyHash: hash})
	if err != nil {
		t.Fatal(err)
	}
	if err := list.Wait(ctx, 0); err != nil {
		t.Fatal(err)
	}
	lists := handler(&firstseen.Lists{Lists: []firstseen.Snapshotter{list}})
	for query, want := range map[string]string{
		"https://www.s2-citi.com/login": `{"present":true,"matches":[{"set":"phishing","entry":"s2-citi.com/"}],"allowedBy":[],"expressions":4,"falsePositiveRate":`,
		"example.com":                   `{"present":false,"matches":[],"allowedBy":[],"expressions":1,"falsePositiveRate":`,
	} {
		if status, body := ask(t, lists, "/check?url="+url.QueryEscape(query)); status != 200 || !strings.HasPrefix(body, want) {
			t.Errorf("%s: got %d, %s", query, status, body)
		}
	}
	if status, body := ask(t, lists, "/check?url=hxxp://host/"); status != 400 || !strings.Contains(body, "invalid key") {
		t.Errorf("got %d, %s", status, body)
	}
	if status, _ := ask(t, lists, "/readyz"); status != 200 {
		t.Errorf("got %d", status)
	}
	missing, err := follow(ctx, filepath.Join(t.TempDir(), "none"), "", firstseen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// An allow set that is not there leaves every answer open.
	lists = handler(&firstseen.Lists{Lists: []firstseen.Snapshotter{list}, Allow: []firstseen.Snapshotter{missing}})
	for _, target := range []string{"/readyz", "/check?url=s2-citi.com"} {
		if status, body := ask(t, lists, target); status != 503 || !strings.Contains(body, "no snapshot") {
			t.Errorf("%s: got %d, %s", target, status, body)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, arguments := range [][]string{
		{}, {"-list", "a", "b"}, {"-list", "a", "-public-key", "/none"}, {"-list", "a", "-hash-key-file", os.DevNull},
		{"-list", "a", "-listen", "nowhere"},
	} {
		if err := run(context.Background(), arguments); err == nil {
			t.Errorf("%q must be rejected", arguments)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := run(ctx, []string{"-list", t.TempDir(), "-listen", "127.0.0.1:0"}); err != nil {
		t.Errorf("the service must end with its context, got %v", err)
	}
}
