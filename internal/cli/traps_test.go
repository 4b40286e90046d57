package cli_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// evilJSON is what a terminal would act on: it clears the screen, turns the direction of writing, and ends the line.
const evilJSON = `Evil\u001b[2J\u202e\u009b31m\r\nPlan: 0 to create.`

func TestNamesFromTheServiceReachTheTerminalHarmless(t *testing.T) {
	t.Parallel()
	var on atomic.Bool
	s := newService(t, sandboxtest.Options{Fault: func(req *http.Request) sandboxtest.Fault {
		if !on.Load() {
			return sandboxtest.Fault{}
		}
		row := `{"id":"` + sandboxtest.ProjectWeb + `","name":"` + evilJSON + `","identifier":"WEB","description":"` + evilJSON + `"}`
		switch {
		case req.Method == http.MethodPatch:
			return sandboxtest.Fault{Before: sandboxtest.Break{Status: 400, Body: `{"` + evilJSON + `":["` + evilJSON + `"]}`}}
		case strings.HasSuffix(req.URL.Path, "/projects/"):
			return sandboxtest.Fault{Before: sandboxtest.Break{Status: 200, Body: `{"results":[` + row + `]}`}}
		case strings.HasSuffix(req.URL.Path, "/links/"):
			return sandboxtest.Fault{Before: sandboxtest.Break{Status: 200, Body: `[{"id":"` + sandboxtest.LinkWeb1 + `","title":"` + evilJSON + `","url":"` + evilJSON + `"}]`}}
		case strings.HasSuffix(req.URL.Path, "/labels/"):
			return sandboxtest.Fault{Before: sandboxtest.Break{Status: 200, Body: `[{"id":"` + sandboxtest.LabelBug + `","name":"` + evilJSON + `"}]`}}
		}
		return sandboxtest.Fault{}
	}})
	project := "version: 1\nworkspace: acme\nprojects:\n  - {key: web, id: " + sandboxtest.ProjectWeb + ", name: Website"
	plain := s.write(t, "plain.yaml", project+"}\n")
	named := s.write(t, "named.yaml", project+", work_items: [{name: A, labels: [Evil]}]}\n")
	on.Store(true)
	for what, args := range map[string][]string{
		"a plan that shows what was there": {"plan", "-f", plain},
		"a refusal":                        {"apply", "-f", plain},
		"a name that is near":              {"plan", "-f", named},
		"a table":                          {"get", "links", "--project", sandboxtest.ProjectWeb, "--work-item", sandboxtest.WorkItemWeb1},
	} {
		for _, output := range []string{"text", "json"} {
			r := s.run(t, append(args, "--workspace", "acme", "--output", output)...)
			got := r.out + r.err
			if strings.ContainsAny(got, "\x1b\r\u202e\u009b") || strings.Contains(got, "\nPlan: 0 to create.") {
				t.Errorf("%s as %s: %q", what, output, got)
			}
			if !strings.Contains(got, "Evil") {
				t.Errorf("%s as %s shows nothing of it: %q", what, output, got)
			}
		}
	}
}

func TestACredentialThatIsRefusedInTheMiddleEndsTheCommandAndKeepsWhatWasDone(t *testing.T) {
	t.Parallel()
	var writes atomic.Int32
	var revoked atomic.Bool
	s := newService(t, sandboxtest.Options{Fault: func(req *http.Request) sandboxtest.Fault {
		if req.Method != http.MethodGet && revoked.Load() && writes.Add(1) > 2 {
			return sandboxtest.Fault{Before: sandboxtest.Break{Status: 401, Body: `{"detail":"Authentication credentials were not provided."}`}}
		}
		return sandboxtest.Fault{}
	}})
	file := s.write(t, "m.yaml", "version: 1\nworkspace: acme\nprojects:\n  - key: web\n    id: "+sandboxtest.ProjectWeb+
		"\n    work_items: [{name: A}, {name: B}, {name: C}, {name: D}, {name: E}]\n")
	revoked.Store(true)
	r := s.run(t, "apply", "-f", file, "--parallelism", "1")
	if r.code != 4 || writes.Load() != 3 || !strings.Contains(r.err, "PLANE_API_KEY") {
		t.Errorf("exit %d after %d writes\n%s%s", r.code, writes.Load(), r.out, r.err)
	}
	revoked.Store(false)
	before := len(s.Log())
	s.must(t, "apply", "-f", file)
	if _, sent := s.sent(before); sent != 3 || len(s.Rows("work_item")) != 6 {
		t.Errorf("%d writes, %d items", sent, len(s.Rows("work_item")))
	}
}
