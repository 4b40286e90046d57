package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// stopwatch notes when the first and the last write request came.
type stopwatch struct {
	mu          sync.Mutex
	first, last time.Time
	writes      int
}

func (w *stopwatch) fault(r *http.Request) sandboxtest.Fault {
	if r.Method == http.MethodPost {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.last = time.Now()
		if w.writes == 0 {
			w.first = w.last
		}
		w.writes++
	}
	return sandboxtest.Fault{}
}

// perSecond is the throughput between the first and the last write.
func (w *stopwatch) perSecond() float64 {
	return float64(w.writes-1) / w.last.Sub(w.first).Seconds()
}

// BenchmarkApply compares the throughput of apply with that of a bare loop that
// makes the same POSTs over loopback, both with 16 requests in flight:
//
//	go test ./internal/cli -run xxx -bench Apply -benchtime 5x
func BenchmarkApply(b *testing.B) {
	const n, inFlight = 5000, 16
	var names strings.Builder
	fmt.Fprintf(&names, "version: 1\nworkspace: acme\nprojects:\n  - key: web\n    id: %s\n    identifier: WEB\n    work_items:\n", sandboxtest.ProjectWeb)
	for i := range n {
		fmt.Fprintf(&names, "      - {key: i%d, name: Item %d, priority: high, description_html: <p>Item %d of the import</p>}\n", i, i, i)
	}
	var apply, bare float64
	for b.Loop() {
		apply += applied(b, names.String(), inFlight)
		bare += looped(b, n, inFlight)
	}
	b.ReportMetric(apply/float64(b.N), "apply-posts/s")
	b.ReportMetric(bare/float64(b.N), "bare-posts/s")
	b.ReportMetric(apply/bare, "ratio")
}

func applied(b *testing.B, manifest string, inFlight int) float64 {
	b.Helper()
	var w stopwatch
	s := newService(b, sandboxtest.Options{Fault: w.fault})
	s.must(b, "apply", "-f", s.write(b, "m.yaml", manifest), "--parallelism", strconv.Itoa(inFlight))
	_ = s.Close()
	return w.perSecond()
}

func looped(b *testing.B, n, inFlight int) float64 {
	b.Helper()
	var w stopwatch
	s := newService(b, sandboxtest.Options{Fault: w.fault})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: inFlight}}
	defer client.CloseIdleConnections()
	url := s.url + "/api/v1/workspaces/acme/projects/" + sandboxtest.ProjectWeb + "/work-items/"
	var group errgroup.Group
	group.SetLimit(inFlight)
	for i := range n {
		group.Go(func() error {
			body := fmt.Appendf(nil, `{"name":"Item %d","description_html":"<p>Item %d of the import</p>","priority":"high","external_source":"bare","external_id":"acme/work_item/web/i%d"}`, i, i, i)
			req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, bytes.NewReader(body))
			if err != nil {
				return err
			}
			req.Header.Set("X-Api-Key", sandbox.Key)
			req.Header.Set("Content-Type", "application/json")
			resp, err := client.Do(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				return err
			}
			var row map[string]any
			return json.Unmarshal(text, &row)
		})
	}
	if err := group.Wait(); err != nil {
		b.Fatal(err)
	}
	_ = s.Close()
	return w.perSecond()
}
