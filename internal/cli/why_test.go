package cli_test

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// reason finds a line that says why something was not done, in text or in JSON.
var reason = regexp.MustCompile(`(?m)^(error|warning): |^! |^project +kind .*not possible|"severity": ?"(error|warning)"|"(error|reason)": ?"`)

// saysWhy reports whether a run that ended with the exit code 3 says why.
func (rn ran) saysWhy() bool { return rn.code != 3 || reason.MatchString(rn.out+rn.err) }

// TestTheExitCode3ComesWithALineThatSaysWhy: no run ends with it in silence, in text or in JSON. Every run of these tests is held
// to it, too.
func TestTheExitCode3ComesWithALineThatSaysWhy(t *testing.T) {
	t.Parallel()
	project := func(more string) string {
		return "version: 1\nprojects: [{key: web, identifier: WEB, name: Web, labels: [L], " + more + "}]\n"
	}
	items := regexp.MustCompile(`/work-items/$`)
	without := func(req *http.Request, pattern string) {
		body, _ := io.ReadAll(req.Body) // the sandbox refuses a part
		body = regexp.MustCompile(pattern).ReplaceAll(body, []byte(`"nothing":null`))
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	for name, c := range map[string]struct {
		manifest string
		fault    func(*http.Request) sandboxtest.Fault
		want     string // a pattern of the text
		code     int    // of the apply
	}{
		"a failed step is named": {
			manifest: project(`work_items: [{key: a, name: A}]`), code: 3, want: `error: could not create work_item/web/a`,
			fault: func(req *http.Request) (f sandboxtest.Fault) {
				if req.Method == http.MethodPost && items.MatchString(req.URL.Path) {
					f.Before = sandboxtest.Break{Status: 403, Body: `{"detail":"no"}`}
				}
				return f
			},
		},
		"a step that is not possible is named": {
			manifest: project(`work_items: [{key: a, name: A, relations: {relates_to: [WEB-99]}}]`), code: 3, want: `(?s)^! .*WEB-99`,
		},
		"the service leaves a reference out": {
			manifest: project(`work_items: [{key: a, name: A, labels: [L]}]`), code: 3, want: `warning: the service left L out of the labels`,
			fault: func(req *http.Request) (f sandboxtest.Fault) {
				if req.Method != http.MethodGet && strings.Contains(req.URL.Path, "/work-items/") {
					without(req, `"labels":\[[^\]]*\]`)
				}
				return f
			},
		},
		"the service leaves a reference out, and its answer is lost": {
			manifest: project(`work_items: [{key: a, name: A, labels: [L]}]`), code: 3, want: `warning: the service left L out of the labels`,
			fault: func(req *http.Request) (f sandboxtest.Fault) {
				if req.Method != http.MethodGet && strings.Contains(req.URL.Path, "/work-items/") {
					without(req, `"labels":\[[^\]]*\]`)
					f.After.Cut = req.Method == http.MethodPost
				}
				return f
			},
		},
		"a second request completes what the first left out": {
			manifest: project(`work_items: [{key: a, name: A, labels: [L]}]`), want: `the answer was lost; a check showed that it was done`,
			fault: func(req *http.Request) (f sandboxtest.Fault) {
				if req.Method == http.MethodPost && items.MatchString(req.URL.Path) {
					without(req, `"labels":\[[^\]]*\]`)
					f.After.Cut = true
				}
				return f
			},
		},
	} {
		for _, format := range []string{"text", "json"} {
			t.Run(name+", "+format, func(t *testing.T) {
				t.Parallel()
				var fault func(*http.Request) sandboxtest.Fault
				s := newService(t, sandboxtest.Options{Fault: func(req *http.Request) sandboxtest.Fault {
					if fault == nil {
						return sandboxtest.Fault{}
					}
					return fault(req)
				}})
				file := s.write(t, "m.yaml", c.manifest)
				fault = c.fault
				args := []string{"apply", "-f", file, "--workspace", "acme", "--api", "v1", "--grace-period", "20ms", "--yes", "--output", format}
				r := s.run(t, args...)
				if r.code != c.code || !r.saysWhy() || format == "text" && !regexp.MustCompile(`(?m)`+c.want).MatchString(r.out+r.err) {
					t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
				}
				saved := s.dir + "/plan.json"
				s.must(t, "plan", "-f", file, "--workspace", "acme", "--api", "v1", "--out", saved)
				if r := s.run(t, "apply", saved, "--yes", "--output", format); !r.saysWhy() {
					t.Errorf("of a saved plan: exit %d\n%s%s", r.code, r.out, r.err)
				}
				if r := s.run(t, "plan", "-f", file, "--workspace", "acme", "--api", "v1", "--detailed-exitcode", "--output", format); !r.saysWhy() {
					t.Errorf("of a plan: exit %d\n%s%s", r.code, r.out, r.err)
				}
			})
		}
	}
}
