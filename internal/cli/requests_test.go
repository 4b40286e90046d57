package cli_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// items writes a manifest with that many work items, each with a link and in the cycle.
func items(n int) string {
	var b strings.Builder
	b.WriteString("version: 1\nworkspace: acme\nprojects:\n  - key: web\n    id: " + sandboxtest.ProjectWeb + "\n    identifier: WEB\n")
	b.WriteString("    cycles: [{key: c, id: " + sandboxtest.CycleSprint14 + "}]\n    work_items:\n")
	for i := range n {
		fmt.Fprintf(&b, "      - {key: i%d, name: Item %d, cycle: c, links: [{url: \"https://example.com/%d\"}]}\n", i, i, i)
	}
	return b.String()
}

func TestTheDefaultsOfANewProjectAreReadOnce(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	var text strings.Builder
	text.WriteString("version: 1\nworkspace: acme\nprojects:\n  - identifier: SHOP\n    name: Shop\n    states: [{name: Todo}, {name: Done}]\n    work_items:\n")
	for i := range 20 {
		fmt.Fprintf(&text, "      - {name: Item %d, state: %s}\n", i, []string{"Backlog", "In Progress"}[i%2])
	}
	s.must(t, "apply", "-f", s.write(t, "m.yaml", text.String()), "--parallelism", "8")
	lists, made := 0, false
	for _, e := range s.Log() {
		made = made || e.Method == "POST"
		if made && e.Method == "GET" && strings.HasSuffix(e.Path, "/states/") {
			lists++
		}
	}
	if lists != 1 {
		t.Errorf("the states of the new project were read %d times", lists)
	}
}

func TestAPlanReckonsWithTheLimitThatTheAnswersShow(t *testing.T) {
	t.Parallel()
	for rate, want := range map[int]string{
		0: `at 60/min`, 60: `at 60/min`, 240: `at 2[0-9][0-9]/min`, 1_000_000: `at 600/min`, // no server was seen to be faster
	} {
		t.Run(strconv.Itoa(rate), func(t *testing.T) { // at once, because --rate makes a run wait
			t.Parallel()
			s := newService(t, sandboxtest.Options{Rate: rate})
			file := s.write(t, "m.yaml", items(3))
			if out := s.must(t, "plan", "-f", file).out; !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("limit %d: no %q in\n%s", rate, want, out)
			}
			if out := s.must(t, "plan", "-f", file, "--rate", "50/m").out; !strings.Contains(out, "at 50/min") {
				t.Errorf("limit %d, with --rate: no %q in\n%s", rate, "at 50/min", out)
			}
			s.must(t, "plan", "-f", file, "--out", filepath.Join(s.dir, "p.json"))
			if out := s.must(t, "show", filepath.Join(s.dir, "p.json")).out; !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("limit %d, of a saved plan: no %q in\n%s", rate, want, out)
			}
		})
	}
}

func TestAFirstImportMakesExactlyTheRequestsOfThePlan(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		items   int
		api     string
		answers sandbox.Answers
		writes  int
	}{
		"one item":                            {1, "documented", sandbox.Contract, 1 + 1 + 1},
		"a full batch of members":             {100, "documented", sandbox.Contract, 100 + 100 + 1},
		"one member more than a batch":        {101, "documented", sandbox.Contract, 101 + 101 + 2},
		"the same with API v1":                {101, "v1", sandbox.Observed, 101 + 101 + 2},
		"the same with pages by offset":       {101, "v1", sandbox.Contract, 101 + 101 + 2},
		"the same where the API is found out": {250, "auto", sandbox.Observed, 250 + 250 + 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{Answers: tt.answers})
			manifest := s.write(t, "m.yaml", items(tt.items))

			first := s.must(t, "apply", "-f", manifest, "--api", tt.api, "--parallelism", "8")
			reads, writes := s.sent(0)
			if writes != tt.writes {
				t.Errorf("%d write requests, want %d", writes, tt.writes)
			}
			if want := strconv.Itoa(tt.writes) + " requests"; !strings.Contains(first.out, want) {
				t.Errorf("the plan does not say %q:\n%s", want, last(first.out))
			}
			if tt.api == "documented" && reads > 1 {
				t.Errorf("%d reads though nothing can be there yet: one makes sure of the workspace", reads)
			}

			before := len(s.Log())
			second := s.must(t, "apply", "-f", manifest, "--api", tt.api)
			if _, writes := s.sent(before); writes != 0 {
				t.Errorf("the second apply made %d write requests:\n%s", writes, second.out)
			}
			if got := len(s.Rows("work_item")) - 1; got != tt.items { // one is seeded
				t.Errorf("%d work items, want %d", got, tt.items)
			}
		})
	}
}

// last is the last line but the empty one.
func last(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

func TestDataOfOneRequestPerObjectIsReadAgainOnlyOnDemand(t *testing.T) {
	t.Parallel()
	s := newService(t, sandboxtest.Options{})
	manifest := s.write(t, "m.yaml", items(100))
	s.must(t, "apply", "-f", manifest, "--parallelism", "8")
	for name, tt := range map[string]struct {
		args  []string
		least int
		most  int
		want  string
	}{
		"by default the state is trusted for links": {[]string{"plan", "-f", manifest}, 1, 8, "No changes in what was compared: 102 of 202 objects match the manifest; not compared: 100 links (--refresh-all reads them) "},
		"unless all is to be read again":            {[]string{"plan", "-f", manifest, "--refresh-all"}, 101, 108, "No changes. All 202 objects match the manifest "},
		"or nothing but whose workspace it is":      {[]string{"plan", "-f", manifest, "--no-refresh", "--api", "v1"}, 2, 2, "No changes in what was compared: 2 of 202 objects match the manifest; not compared: 100 work items, cycle of 100 work items, 100 links (without --no-refresh they are read) "},
	} {
		before := len(s.Log())
		r := s.must(t, tt.args...)
		if reads, _ := s.sent(before); reads < tt.least || reads > tt.most {
			t.Errorf("%s: %d reads, want %d to %d\n%s%s", name, reads, tt.least, tt.most, r.out, r.err)
		}
		if !strings.HasPrefix(last(r.out), tt.want) {
			t.Errorf("%s:\n%s\nwant %s", name, r.out, tt.want)
		}
	}
}

// With 10,000 items it is 24 requests: 11 pages of items, 10 of the cycle, the project, the user, and whether there is an API v2.
func TestAPlanReadsUnchangedItemsByThePage(t *testing.T) {
	t.Parallel()
	page := sample.Of(100, 1000, 1000)
	refused := sample.Of(1, 0, 0) // the first list, which asks for longer pages
	s := newService(t, sandboxtest.Options{PerPage: page})
	manifest := s.write(t, "m.yaml", items(page+1))
	s.must(t, "apply", "-f", manifest, "--parallelism", "8")
	before := len(s.Log())
	r := s.must(t, "plan", "-f", manifest)
	if reads, _ := s.sent(before); reads != refused+1+2+2+1+1 {
		t.Errorf("%d requests:%s", reads, requests(s, before))
	}
	if !strings.Contains(r.out, fmt.Sprintf("No changes in what was compared: %d of %d objects match", page+3, 2*page+4)) {
		t.Error(last(r.out))
	}
	for _, e := range s.Log()[before:] {
		if strings.HasSuffix(e.Path, "/work-items/") && (!strings.Contains(e.Query, "fields=") || strings.Contains(e.Query, "description")) {
			t.Errorf("the list was asked for more than the manifest speaks of: %s?%s", e.Path, e.Query)
		}
	}
}

// TestAThousandItemsTakeFewRequests counts a request for each of 40 links, and one a page for the items: there are two with the seeded one.
func TestAThousandItemsTakeFewRequests(t *testing.T) {
	t.Parallel()
	var plain strings.Builder
	plain.WriteString("version: 1\nworkspace: acme\nprojects:\n  - key: web\n    identifier: WEB\n    name: Website\n" +
		"    cycles: [{name: C0}, {name: C1}, {name: C2}, {name: C3}, {name: C4}]\n" +
		"    modules: [{name: M0}, {name: M1}, {name: M2}, {name: M3}, {name: M4}]\n    work_items:\n")
	for i := range 1000 {
		fmt.Fprintf(&plain, "      - {key: i%d, name: Item %d, cycle: C%d, module: M%d}\n", i, i, i%5, i/5%5)
	}
	for name, tt := range map[string]struct {
		manifest, api    string
		first, unchanged int
	}{
		"with everything, by API v2":            {migration(1000, 40, 5, ""), "v2", 90, 56},
		"in five cycles and modules, by API v1": {plain.String(), "v1", 1037, 16},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{Edition: sandbox.Cloud, PerPage: 1000})
			manifest := s.write(t, "m.yaml", tt.manifest)
			s.must(t, "apply", "-f", manifest, "--api", tt.api, "--parallelism", "8")
			if reads, writes := s.sent(0); reads+writes > tt.first {
				t.Errorf("the first apply made %d requests, more than %d:%s", reads+writes, tt.first, requests(s, 0))
			}
			before := len(s.Log())
			s.must(t, "plan", "-f", manifest, "--api", tt.api)
			if reads, writes := s.sent(before); reads+writes != tt.unchanged {
				t.Errorf("the plan of unchanged items made %d requests, not %d:%s", reads+writes, tt.unchanged, requests(s, before))
			}
		})
	}
}
