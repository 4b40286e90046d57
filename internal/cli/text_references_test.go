package cli_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// namingNext writes a manifest with that many work items, of which each names the next one.
func namingNext(n int) string {
	var b strings.Builder
	b.WriteString("version: 1\nworkspace: acme\nprojects:\n  - key: web\n    id: " + sandboxtest.ProjectWeb + "\n    identifier: WEB\n    work_items:\n")
	for i := range n {
		fmt.Fprintf(&b, "      - {key: i%d, name: Item %d, description: \"after it [the next](planform:work_item/web/i%d)\"}\n", i, i, (i+1)%n)
	}
	return b.String()
}

func TestTextsGetTheirLinksInTheRequestsOfThePlan(t *testing.T) {
	t.Parallel()
	const items = 60
	for api, tt := range map[string]struct{ creates, updates int }{
		"v1": {items, items - 1}, // the last one names the first, which is there
		"v2": {2, 2},
	} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			var refuse atomic.Bool
			refuse.Store(true)
			s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud, Fault: func(r *http.Request) (f sandboxtest.Fault) {
				if refuse.Load() && (r.Method == http.MethodPatch || strings.HasSuffix(r.URL.Path, "/bulk-update/")) {
					f.Before.Status = http.StatusForbidden
				}
				return f
			}})
			plan := s.dir + "/plan.json" // the second run goes on with it
			s.must(t, "plan", "-f", s.write(t, "m.yaml", namingNext(items)), "--api", api, "--out", plan)
			args := []string{"apply", plan}
			if first := s.run(t, args...); first.code == 0 || !strings.Contains(first.out, fmt.Sprintf(" %d requests", tt.creates+tt.updates)) {
				t.Fatalf("exit %d\n%s%s", first.code, last(first.out), first.err)
			}
			refuse.Store(false)
			before := len(s.Log())
			s.must(t, args...)
			if _, writes := s.sent(before); writes != tt.updates {
				t.Errorf("%d writes instead of %d:%s", writes, tt.updates, requests(s, before))
			}
			names, next := map[any]string{}, map[string]string{}
			for _, row := range s.Rows("work_item") {
				names[row["id"]] = fmt.Sprint(row["name"])
			}
			for _, row := range s.Rows("work_item") {
				_, page, _ := strings.Cut(fmt.Sprint(row["description_html"]), s.url+"/acme/projects/"+sandboxtest.ProjectWeb+"/issues/")
				id, _, _ := strings.Cut(page, `"`)
				next[names[row["id"]]] = names[id]
			}
			for i := range items {
				if got, want := next[fmt.Sprint("Item ", i)], fmt.Sprint("Item ", (i+1)%items); got != want {
					t.Errorf("item %d names %q", i, got)
				}
			}
			before = len(s.Log())
			s.must(t, "apply", "-f", s.dir+"/m.yaml", "--api", api)
			if _, writes := s.sent(before); writes != 0 {
				t.Errorf("the next apply writes:%s", requests(s, before))
			}

			fresh := newService(t, sandboxtest.Options{Edition: sandbox.Cloud})
			if done := fresh.must(t, "apply", "-f", fresh.write(t, "m.yaml", namingNext(items)), "--api", api, "--full"); strings.Count(done.out, " as WEB-") != items {
				t.Errorf("not every item is told with its number:\n%s", done.out)
			}
			if _, writes := fresh.sent(0); writes != tt.creates+tt.updates {
				t.Errorf("%d writes instead of %d:%s", writes, tt.creates+tt.updates, requests(fresh, 0))
			}
		})
	}
}
