// Command listcheck is an example of a service that answers from lists and follows them.
//
//	listcheck -list https://lists.example/phishing -allow /var/lib/allowed -cache /var/cache/listcheck
//
// GET /check?url=U answers with JSON and the status 200 if the URL or host U could be evaluated, 400 if it has
// no canonical form, and 503 if a list is not usable. GET /readyz is 200 while all lists are usable.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"firstseen.io/firstseen"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, arguments []string) error {
	var lists, allow []string
	var options firstseen.Options
	flags := flag.NewFlagSet("listcheck", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:8090", "`address` of the service")
	cache := flags.String("cache", "", "`directory` that keeps the last valid lists for the next start")
	appendTo := func(all *[]string) func(string) error {
		return func(address string) error {
			*all = append(*all, address)
			return nil
		}
	}
	flags.Func("list", "directory or `URL` of a list; may be repeated", appendTo(&lists))
	flags.Func("allow", "directory or `URL` of an allow set, which overrides the lists; may be repeated", appendTo(&allow))
	flags.Func("hash-key-file", "`file` with the hash key of the publisher (default public)", func(path string) (err error) {
		options.KeyHash, err = firstseen.KeyHashFromFile(path)
		return err
	})
	flags.Func("public-key", "`file` with a public key in PEM, which must have signed the lists; may be repeated", func(path string) error {
		key, err := firstseen.TrustedKeyFromFile(path)
		options.TrustedKeys = append(options.TrustedKeys, key)
		return err
	})
	flags.DurationVar(&options.Poll, "poll", 0, "pause between polls (default 1s for a directory, 10s for a URL)")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if len(lists) == 0 || flags.NArg() > 0 {
		return errors.New("usage: listcheck -list URL [-list URL]... [-allow URL]... ; see -help")
	}
	answers := &firstseen.Lists{}
	for i, address := range append(lists, allow...) {
		follower, err := follow(ctx, address, *cache, options)
		if err != nil {
			return err
		}
		if i < len(lists) {
			answers.Lists = append(answers.Lists, follower)
		} else {
			answers.Allow = append(answers.Allow, follower)
		}
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	log.Printf("listening on http://%s/", listener.Addr())
	server := &http.Server{Handler: handler(answers), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() {
		// Requests in flight have a moment to end.
		ending, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		server.Shutdown(ending)
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func follow(ctx context.Context, address, cache string, options firstseen.Options) (*firstseen.Follower, error) {
	if cache != "" {
		options.CacheDir = filepath.Join(cache, url.PathEscape(address))
	}
	options.OnUpdate = func(update firstseen.Update) {
		log.Printf("%s: %s, %d bytes read", address, update.Set, update.BytesRead)
	}
	options.OnTrouble = func(err error) { log.Printf("%s: %v", address, err) }
	return firstseen.Follow(ctx, address, options)
}

func handler(lists *firstseen.Lists) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /check", func(w http.ResponseWriter, r *http.Request) {
		answer, err := lists.Ask(r.URL.Query().Get("url"))
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.WriteHeader(statusOf(err))
			json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
			return
		}
		json.NewEncoder(w).Encode(answer)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		// Any host needs all lists.
		if _, err := lists.Ask("example.com"); err != nil {
			http.Error(w, err.Error(), statusOf(err))
			return
		}
		fmt.Fprintln(w, "ready")
	})
	return mux
}

func statusOf(err error) int {
	if errors.Is(err, firstseen.ErrInvalidKey) {
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}
