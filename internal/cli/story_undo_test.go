//go:build unix

package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"
)

const (
	kills = 6           // of a run of the story
	grace = time.Second // in which the service carries out what it got
)

// reaper is between planform and a service, and kills planform at a write.
type reaper struct {
	pass http.Handler

	mu     sync.Mutex
	nth    int // so many writes from now; 0 = never
	behind bool
	kill   func()
}

func newReaper(p *place) *reaper {
	p.t.Helper()
	to, err := url.Parse(p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	g := &reaper{pass: httputil.NewSingleHostReverseProxy(to)}
	s := httptest.NewServer(g)
	p.t.Cleanup(s.Close)
	p.url = s.URL
	return g
}

func (rr *reaper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rr.mu.Lock()
	defer rr.mu.Unlock()
	if r.Method != http.MethodGet && rr.nth > 0 {
		rr.nth--
		if rr.nth == 0 {
			if rr.behind {
				rr.pass.ServeHTTP(httptest.NewRecorder(), r)
			}
			rr.kill()
			return
		}
	}
	rr.pass.ServeHTTP(w, r)
}

// dying runs planform, and kills it at a write: before that reaches the service, or behind it. It is an error if it does not come to
// that. What planform printed is returned.
func (p *place) dying(g *reaper, nth int, behind bool, args ...string) string {
	p.t.Helper()
	died := false
	cmd := exec.CommandContext(p.t.Context(), program(p.t), args...)
	cmd.Env = append(os.Environ(), "PLANE_BASE_URL="+p.url, "PLANE_API_KEY="+p.key, "NO_COLOR=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	g.mu.Lock()
	g.nth, g.behind, g.kill = nth, behind, func() { died = cmd.Process.Kill() == nil }
	err := cmd.Start() // before a request may look for the process
	g.mu.Unlock()
	if err == nil {
		err = cmd.Wait()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.nth = 0
	p.t.Logf("planform %s: %v, killed: %t\n%s", strings.Join(args, " "), err, died, &out)
	if !died {
		p.t.Fatal("it came to its end")
	}
	return out.String()
}

// A team imports what it should not have, people go on working, and the import is taken back.
func TestStoryOfAnUndo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	g := newReaper(p)
	manifest := func(text string) string {
		return p.write("shop.yaml", "version: 1\nworkspace: "+p.workspace+"\nprojects:\n  - identifier: SRC\n    name: Source\n    cycle_view: true\n    module_view: true\n"+
			"    members: [bob@example.com]\n"+text)
	}
	file, state := manifest(`    description: Where people work
    states: [{name: Review, group: started, color: "#123456"}]
    labels: [{name: Area, color: "#00aa00"}, {name: Bug, color: "#aa0000", parent: area}, {name: Idea, color: "#0000aa"}]
    cycles: [{key: one, name: Sprint, description: The first, start_date: 2031-01-06, end_date: 2031-01-17}]
    modules: [{key: board, name: Board, status: planned}]
    work_items:
      - {key: shop, name: Open the shop, description: "With **all** of it", labels: [Bug], cycle: one, links: [{url: "https://example.com/shop", title: Shop}]}
      - {key: till, name: Buy a till, parent: shop, state: Review, priority: high, module: board, comments: [{key: c, text: Which one}]}
      - {key: sign, name: Paint the sign, assignees: [bob@example.com], start_date: 2031-02-01, target_date: 2031-02-03, relations: {blocked_by: [shop]}}
      - {key: sweep, name: Sweep, state: Done, labels: [Idea]}
`), filepath.Join(p.dir, "state.json")
	run := func(command string, flags ...string) []string {
		// The requests of a run that dies are carried out before that, or never.
		return append([]string{command, "-f", file, "--workspace", p.workspace, "--state", state, "--yes", "--grace-period", grace.String()}, flags...)
	}
	p.must(run("apply")...)
	before := p.content()

	t.Log("# an import that should not have been, killed again and again")
	items := strings.Builder{}
	for n := range 12 {
		fmt.Fprintf(&items, "      - {key: new-%d, name: New %d, labels: [Bug], state: Review, cycle: two, comments: [{key: c, text: Said %d}]}\n", n, n, n)
	}
	manifest(`    description: Where nobody works
    states: [{name: Review, group: started, color: "#654321"}]
    labels: [{name: Area, color: "#00aa00"}, {name: Bug, color: "#bb0000"}]
    cycles: [{key: two, name: Sprint 2, start_date: 2031-02-06, end_date: 2031-02-17}]
    modules: [{key: board, name: Boards, status: completed}]
    work_items:
      - {key: shop, name: Close the shop, description: "With **none** of it", labels: [], cycle: two}
      - {key: till, name: Buy a till, parent: null, state: Done, priority: low, module: null, comments: [{key: c, text: Which two}]}
` + items.String())
	pruning := run("apply", "--prune", "--max-deletes", "99", "--refresh-all")
	for n := range kills {
		p.dying(g, 1+2*n%7, n%2 == 0, pruning...)
	}
	p.must(pruning...)
	if diff.Equal(before, p.content()) {
		t.Fatal("nothing was imported")
	}

	t.Log("# people go on")
	at := p.project()
	theirs := at + "work-items/" + p.find(at+"work-items/", "New 3") + "/"
	comment := p.do(p.colleague, "POST", theirs+"comments/", row{"comment_html": "<p>Mine</p>"}).text("id")
	till := at + "work-items/" + p.find(at+"work-items/", "Buy a till") + "/"
	p.do(p.colleague, "PATCH", till, row{"priority": "urgent"})

	t.Log("# it is taken back, killed again and again")
	for n := range kills {
		said := p.dying(g, 1+n%4, n%2 == 1, run("undo", "last")...)
		var waits time.Duration
		for _, m := range regexp.MustCompile(`no answer to some requests; checking again in (\S+)`).FindAllStringSubmatch(said, -1) {
			d, err := time.ParseDuration(m[1])
			if err != nil {
				t.Error(err)
			}
			waits += d
		}
		if waits > grace+time.Second { // by rounding
			t.Errorf("it waits %v for requests that the service may carry out for %v", waits, grace)
		}
	}
	r := p.planform(run("undo", "last")...)
	for _, want := range []string{"planform did not create the comment \"Mine\" in it", "priority"} {
		if r.code != 3 || !strings.Contains(r.text(), want) {
			t.Errorf("exit %d, and it does not say %q:\n%s", r.code, want, r.text())
		}
	}
	p.do(p.colleague, "DELETE", theirs+"comments/"+comment+"/", nil)
	p.do(p.colleague, "PATCH", till, row{"priority": "high"})
	p.must(run("undo", "last")...)
	if d := diff.Diff(before, p.content()); d != "" {
		t.Errorf("it is not as it was (-before +after):\n%s", d)
	}
}
