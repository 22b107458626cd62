package firstseen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// candidates is the number of newest manifests in a directory to try.
const candidates = 4

// A Source has manifests and blobs.
type Source interface {
	// Manifests yields the newest manifests, highest sequence first, and reads each one lazily. It yields
	// ErrNotReady if there are none, and ErrUnreachable if the source cannot be read.
	Manifests(ctx context.Context) iter.Seq2[[]byte, error]
	// Blob returns the unverified bytes of a blob, or ErrMissing if the source does not have it.
	Blob(ctx context.Context, reference Reference) ([]byte, error)
}

// directory is a directory of snapshots that a job, snapshot publish or snapshot pull writes.
type directory struct{ path string }

// NewDirectorySource returns a directory of snapshots as a source. It may not exist yet.
func NewDirectorySource(path string) Source { return &directory{path} }

func (d *directory) String() string { return "directory " + d.path }

// sequences returns the sequences of the manifests, highest first; at least one.
func (d *directory) sequences() ([]uint64, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	var sequences []uint64
	for _, entry := range entries {
		if sequence, ok := sequenceOf(entry.Name()); ok {
			sequences = append(sequences, sequence)
		}
	}
	if len(sequences) == 0 {
		return nil, fmt.Errorf("%w: there is no manifest in %s", ErrNotReady, d.path)
	}
	slices.Sort(sequences)
	slices.Reverse(sequences)
	return sequences, nil
}

func (d *directory) Manifests(context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		sequences, err := d.sequences()
		if err != nil {
			yield(nil, err)
			return
		}
		for _, sequence := range sequences[:min(candidates, len(sequences))] {
			if !yield(readFile(filepath.Join(d.path, manifestName(sequence)), maxManifestBytes)) {
				return
			}
		}
	}
}

func (d *directory) Blob(_ context.Context, reference Reference) ([]byte, error) {
	return fileBlob(filepath.Join(d.path, "blobs"), reference)
}

// readFile reads a file of at most a number of bytes.
func readFile(path string, most int64) ([]byte, error) {
	data, err := readLimited(path, most+1)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if int64(len(data)) > most {
		return nil, malformed("%s must have at most %d bytes", path, most)
	}
	return data, nil
}

func fileBlob(directory string, reference Reference) ([]byte, error) {
	data, err := readLimited(filepath.Join(directory, reference.Name()), reference.Length+1)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %w", ErrMissing, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return data, nil
}

// withElsewhere returns a loader that reads missing blobs from the directory of a URI, if there is one.
func withElsewhere(load loader, uri string) loader {
	if uri == "" {
		return load
	}
	return func(ctx context.Context, reference Reference) ([]byte, error) {
		data, err := load(ctx, reference)
		if !errors.Is(err, ErrMissing) {
			return data, err
		}
		return blobAt(ctx, uri, reference)
	}
}

// blobAt reads a blob in the directory of a file, http or https URI.
func blobAt(ctx context.Context, uri string, reference Reference) ([]byte, error) {
	parsed, err := url.Parse(uri)
	if err != nil {
		return nil, unsupported("blobs must be the URI of a directory, got %q", uri)
	}
	switch parsed.Scheme {
	case "file":
		return fileBlob(filepath.FromSlash(parsed.Path), reference)
	case "http", "https":
		source := &httpSource{base: withSlash(uri), client: defaultClient}
		data, _, err := source.get(ctx, reference.Name(), reference.Length, "")
		return data, err
	}
	return nil, unsupported("blob %s is in %s, this reader supports file, http and https", reference.Name(), uri)
}

func withSlash(address string) string { return strings.TrimSuffix(address, "/") + "/" }

// stallTimeout is how long a server may send nothing.
const stallTimeout = 30 * time.Second

var defaultClient = &http.Client{}

// HTTPOptions are the options of an HTTP source.
type HTTPOptions struct {
	// SetName selects the set if a service has several.
	SetName string
	// Header is sent with each request. Go does not send Authorization on to other hosts.
	Header http.Header
	// Client sends the requests. Default: a client without a limit of time; a server that sends nothing
	// for 30 s is unreachable in any case.
	Client *http.Client
}

// Where a web server has the newest manifest and the blobs.
type httpLayout struct{ manifest, blobs string }

var (
	staticFiles = httpLayout{"manifest.bin", "blobs/"}
	service     = httpLayout{"v1/manifest", "v1/blobs/"}
)

// httpSource is a web server with the files of a directory, or the HTTP service.
type httpSource struct {
	base   string
	set    url.Values
	header http.Header
	client *http.Client
	// layout is the layout of the last manifest; newest and etag are this manifest and its entity tag.
	layout httpLayout
	newest []byte
	etag   string
}

// NewHTTPSource returns as a source the directory of snapshots that a web server has at a URL, or the HTTP
// service of Firstseen at this URL.
func NewHTTPSource(address string, options HTTPOptions) Source {
	s := &httpSource{base: withSlash(address), set: url.Values{}, header: options.Header, client: options.Client}
	if s.client == nil {
		s.client = defaultClient
	}
	if options.SetName != "" {
		s.set.Set("set", options.SetName)
	}
	return s
}

func (s *httpSource) String() string { return s.base }

func (s *httpSource) Manifests(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		yield(s.manifest(ctx))
	}
}

// manifest returns the newest manifest. An unchanged manifest is not sent again.
func (s *httpSource) manifest(ctx context.Context) ([]byte, error) {
	layouts := []httpLayout{staticFiles, service}
	if s.layout == service {
		slices.Reverse(layouts)
	}
	for _, layout := range layouts {
		path, etag := layout.manifest, ""
		if layout == service && len(s.set) > 0 {
			path += "?" + s.set.Encode()
		}
		if layout == s.layout {
			etag = s.etag
		}
		data, etag, err := s.get(ctx, path, maxManifestBytes, etag)
		switch {
		case errors.Is(err, ErrMissing):
			continue
		case err != nil:
			return nil, err
		case data == nil:
			return s.newest, nil
		}
		// A damaged reply is requested again.
		if _, err := ParseManifest(data); errors.Is(err, ErrMalformed) {
			return nil, within(s.base, err)
		}
		s.layout, s.newest, s.etag = layout, data, etag
		return data, nil
	}
	return nil, fmt.Errorf("%w: %s has neither %s nor %s", ErrNotReady, s.base, staticFiles.manifest, service.manifest)
}

func (s *httpSource) Blob(ctx context.Context, reference Reference) ([]byte, error) {
	// A digest identifies one blob of any set.
	data, _, err := s.get(ctx, s.layout.blobs+reference.Name(), reference.Length, "")
	return data, err
}

// substitute returns a manifest of the newest set with blobs that the service itself has.
func (s *httpSource) substitute(ctx context.Context) ([]byte, error) {
	if s.layout != service {
		return nil, fmt.Errorf("%w: static files have no other manifest", ErrMissing)
	}
	query := url.Values{"bases": {"true"}}
	for name, values := range s.set {
		query[name] = values
	}
	data, _, err := s.get(ctx, service.manifest+"?"+query.Encode(), maxManifestBytes, "")
	return data, err
}

// get returns the body, at most one byte more than allowed, and the entity tag; nil if it is unchanged.
func (s *httpSource) get(ctx context.Context, path string, most int64, etag string) ([]byte, string, error) {
	address := s.base + path
	unreachable := func(err error) error { return fmt.Errorf("%w: %s: %w", ErrUnreachable, address, err) }
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(stallTimeout, func() { cancel(fmt.Errorf("no bytes for %s", stallTimeout)) })
	defer stalled.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", unsupported("%q is no address: %v", address, err)
	}
	for name, values := range s.header {
		request.Header[name] = values
	}
	request.Header.Set("Accept", "application/octet-stream")
	if etag != "" {
		request.Header.Set("If-None-Match", etag)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, "", unreachable(causeOf(ctx, err))
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotModified:
		return nil, etag, nil
	// An object store answers 403 for a missing object to clients that may not list it.
	case http.StatusNotFound, http.StatusGone, http.StatusForbidden:
		return nil, "", fmt.Errorf("%w: %s: %s", ErrMissing, address, reason(response))
	case http.StatusServiceUnavailable:
		return nil, "", fmt.Errorf("%w: %s: %s", ErrNotReady, address, reason(response))
	default:
		return nil, "", unreachable(errors.New(reason(response)))
	}
	data, err := io.ReadAll(io.LimitReader(watched{response.Body, stalled}, most+1))
	if err != nil {
		return nil, "", unreachable(causeOf(ctx, err))
	}
	return data, response.Header.Get("ETag"), nil
}

// watched postpones a time-out with each read.
type watched struct {
	io.Reader
	stalled *time.Timer
}

func (w watched) Read(buffer []byte) (int, error) {
	n, err := w.Reader.Read(buffer)
	w.stalled.Reset(stallTimeout)
	return n, err
}

func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// reason returns the status and the message of the service.
func reason(response *http.Response) string {
	var body struct{ Error string }
	if json.NewDecoder(io.LimitReader(response.Body, 1<<16)).Decode(&body) == nil && body.Error != "" {
		return response.Status + ", " + body.Error
	}
	return response.Status
}
