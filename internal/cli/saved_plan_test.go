//go:build unix

package cli_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// manyItems are so many work items that are to be created, and one that is there.
func manyItems(n int) string {
	var b strings.Builder
	b.WriteString("version: 1\nworkspace: acme\nprojects:\n  - identifier: WEB\n    work_items:\n      - {identifier: WEB-1, key: first, priority: high}\n")
	for i := range n {
		fmt.Fprintf(&b, "      - {key: i%d, name: Item %d, priority: low}\n", i, i)
	}
	return b.String()
}

// TestTheLifeOfAPullRequest plans, is reviewed, is overtaken by a colleague, planned again, and killed while it is applied.
func TestTheLifeOfAPullRequest(t *testing.T) {
	t.Parallel()
	const items = 499 // in the end; to apply all takes seconds
	gate := make(chan struct{})
	reached, writes := make(chan struct{}), atomic.Int64{}
	open := sync.OnceFunc(func() { close(gate) })
	s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud, Fault: func(r *http.Request) sandboxtest.Fault {
		if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/v2/") && writes.Add(1) == 6 {
			close(reached)
			<-gate
			return sandboxtest.Fault{Before: sandboxtest.Break{Cut: true}} // it never arrives
		}
		return sandboxtest.Fault{}
	}})
	t.Cleanup(open)
	manifest, plan := s.write(t, "m.yaml", manyItems(4999)), s.dir+"/plan.json"
	theirs := s.write(t, "theirs.yaml", "version: 1\nworkspace: acme\nprojects: [{identifier: WEB, work_items: [{identifier: WEB-1, priority: urgent}]}]\n")

	first := s.must(t, "plan", "-f", manifest, "--out", plan, "--output", "markdown")
	if n := len(first.out); n > 65_000 || !strings.Contains(first.out, "4999 to create, 1 to update") {
		t.Errorf("%d characters of Markdown:\n%.500s", n, first.out)
	}
	if info, err := os.Stat(plan); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the plan: %v %v", info.Mode(), err)
	}
	s.must(t, "apply", "-f", theirs, "--state", s.dir+"/theirs.json")

	before := len(s.Log())
	stale := s.run(t, "apply", plan)
	if stale.code != 1 || !strings.Contains(stale.err, `priority of work_item/web/first: planned "none" -> "high", now "urgent" -> "high"`) ||
		!strings.Contains(stale.err, manifest+":6:9  priority") || !strings.Contains(stale.err, "1 error\n") || !strings.Contains(stale.err, "make a new plan and review it: planform plan -f "+manifest+" --out "+plan) {
		t.Errorf("exit %d:\n%.2000s", stale.code, stale.err)
	}
	if _, writes := s.sent(before); writes > 0 {
		t.Errorf("%d writes for a stale plan", writes)
	}

	s.write(t, "m.yaml", manyItems(items))
	second := s.must(t, "plan", "-f", manifest, "--out", plan, "--output", "markdown")
	hash := regexp.MustCompile("sha256:[0-9a-f]{64}")
	if a, b := hash.FindString(first.out), hash.FindString(second.out); a == "" || a == b {
		t.Errorf("hashes %s and %s", a, b)
	}
	writes.Store(0)
	p := start(t, s, "apply", plan)
	<-reached
	p.signal(t, syscall.SIGKILL)
	if code, said := p.ends(); code != -1 {
		t.Fatalf("exit %d:\n%s", code, said)
	}
	open()

	r := s.must(t, "apply", plan, "--grace-period", "0s")
	if got := len(s.Rows("work_item")) - 1; got != items {
		t.Errorf("%d work items, want %d", got, items)
	}
	if !strings.Contains(r.err, "an earlier run of this plan began at ") || strings.Contains(r.out, "Item 498") {
		t.Errorf("it does not say that it goes on, or shows all steps again:\n%s\n%.1000s", r.err, r.out)
	}
	if r := s.must(t, "apply", plan); !strings.Contains(r.out, "No changes.") {
		t.Errorf("once more:\n%s", r.out)
	}
}

// everyWay is a manifest whose steps wait for each other in every way: members, parents, texts that link to what comes later.
const everyWay = `version: 1
workspace: acme
projects:
  - identifier: NEW
    name: New
    states: [{name: Ready, group: unstarted, color: "#112233"}]
    labels: [{name: a, color: "#112233"}]
    cycles: [{key: c, name: C}]
    modules: [{name: M}]
    work_items:
      - {key: one, name: One, description: "see [two](planform:work_item/new/two) and [three](planform:work_item/new/three)", cycle: c, labels: [a], module: M, state: Ready}
      - {key: two, name: Two, description: "see [one](planform:work_item/new/one)", cycle: c, relations: {blocked_by: [one]}}
      - {key: three, name: Three, parent: two, comments: [{key: k, text: hi}], links: ["https://example.com/x"]}
`

func TestAPlanThatWasKilledAnywhereIsGoneOnWith(t *testing.T) {
	t.Parallel()
	for _, edition := range []sandbox.Edition{sandbox.Full, sandbox.Cloud} {
		for nth := int64(2); nth < 12; nth += 3 {
			t.Run(fmt.Sprintf("edition %d, write %d", edition, nth), func(t *testing.T) {
				t.Parallel()
				var writes atomic.Int64
				reached := make(chan struct{})
				s := newService(t, sandboxtest.Options{Edition: edition, Fault: func(r *http.Request) (f sandboxtest.Fault) {
					if r.Method == http.MethodGet || writes.Add(1) != nth {
						return f
					}
					close(reached)
					if stall := (sandboxtest.Break{Stall: true}); nth%2 == 0 {
						f.Before = stall
					} else {
						f.After = stall
					}
					return f
				}})
				manifest, plan := s.write(t, "m.yaml", everyWay), s.dir+"/plan.json"
				s.must(t, "plan", "-f", manifest, "--out", plan)
				p := start(t, s, "apply", plan)
				p.reaches(t, &gate{reached: reached})
				p.signal(t, syscall.SIGKILL)
				p.ends()
				s.must(t, "apply", plan, "--grace-period", "0s")
				if r := s.must(t, "plan", "-f", manifest); !strings.Contains(r.out, "No changes.") {
					t.Error(r.out)
				}
			})
		}
	}
}

func TestWhatWasChangedAfterAPlanWasKilledIsNotOverwritten(t *testing.T) {
	t.Parallel()
	for name, done := range map[string]bool{"the update was not done": false, "the update was done": true} {
		for _, changed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, changed %v", name, changed), func(t *testing.T) {
				t.Parallel()
				reached := make(chan struct{})
				var armed, writes atomic.Int64
				s := newService(t, sandboxtest.Options{Fault: func(r *http.Request) (f sandboxtest.Fault) {
					if r.Method != http.MethodPatch || armed.Load() == 0 || writes.Add(1) != 1 {
						return f
					}
					close(reached)
					if f.Before = (sandboxtest.Break{Stall: true}); done {
						f.Before, f.After = sandboxtest.Break{}, f.Before
					}
					return f
				}})
				const text = "version: 1\nworkspace: acme\nprojects: [{identifier: WEB, work_items: [{key: a, name: A, priority: low}]}]\n"
				manifest, plan := s.write(t, "m.yaml", text), s.dir+"/plan.json"
				s.must(t, "apply", "-f", manifest)
				s.write(t, "m.yaml", strings.Replace(text, "low", "high", 1))
				s.must(t, "plan", "-f", manifest, "--out", plan)
				armed.Store(1)
				p := start(t, s, "apply", plan)
				p.reaches(t, &gate{reached: reached})
				p.signal(t, syscall.SIGKILL)
				p.ends()
				want, code := "high", 0
				project := "projects/" + s.lookUp(t, "projects/", "identifier", "WEB")
				item := project + "/work-items/" + s.lookUp(t, project+"/work-items/", "name", "A") + "/"
				if changed {
					want, code = "urgent", 1
					s.send(t, "PATCH", item, `{"priority":"urgent"}`)
				}
				r := s.run(t, "apply", plan, "--grace-period", "0s")
				if r.code != code || changed && !strings.Contains(r.err, `priority of work_item/web/a: planned `) {
					t.Errorf("exit code %d\n%s%s", r.code, r.out, r.err)
				}
				if got := s.item(t, "A")["priority"]; got != want {
					t.Errorf("the priority is %v, want %s", got, want)
				}
			})
		}
	}
}
