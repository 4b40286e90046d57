package cli_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// origin fills a service as people do, and exports it: numbers with gaps, children before
// their parents, cycles of one name, comments, links and relations. It returns the folder.
func origin(t *testing.T) (s *service, folder string) {
	t.Helper()
	s = newService(t, sandboxtest.Options{})
	var b strings.Builder
	b.WriteString("version: 1\nworkspace: acme\nprojects:\n  - {identifier: SEC, name: Security, labels: [{name: Bug, color: \"#ff0000\"}], modules: [{name: Board}], cycles: [{key: one, name: Sprint}, {key: two, name: Two}], work_items: [\n")
	for i := range 24 {
		n := strconv.Itoa(i)
		b.WriteString("      {key: i" + n + ", name: Item " + n + ", description: \"Text of " + n + "\", links: [{url: \"https://example.com/" + n + "\"}], comments: [{key: c, text: First of " + n + "}]")
		if i < 12 {
			b.WriteString(", parent: i" + strconv.Itoa(23-i) + ", cycle: one, labels: [Bug]")
		} else {
			b.WriteString(", cycle: two, module: Board, relations: {blocked_by: [i" + strconv.Itoa(i-12) + "]}")
		}
		b.WriteString("},\n")
	}
	b.WriteString("  ]}\n")
	s.must(t, "apply", "-f", s.write(t, "m.yaml", b.String()))
	project := s.lookUp(t, "projects/", "identifier", "SEC")
	at := "projects/" + project + "/"
	two := s.lookUp(t, at+"cycles/", "name", "Two")
	s.send(t, "PATCH", at+"cycles/"+two+"/", `{"name":"Sprint","external_id":"x","external_source":"somebody"}`)
	for _, n := range []string{"3", "5"} { // numbers that nothing has any more
		id := s.lookUp(t, at+"work-items/", "name", "Item "+n)
		s.send(t, "DELETE", at+"work-items/"+id+"/", "")
	}
	items := s.rows(t, at+"work-items/")
	for _, row := range items { // and nobody's marks
		id := row["id"].(string) //nolint:forcetypeassert // as the sandbox answers
		s.send(t, "PATCH", at+"work-items/"+id+"/", `{"external_id":"x`+id+`","external_source":"somebody"}`)
		for _, comment := range s.rows(t, at+"work-items/"+id+"/comments/") {
			s.send(t, "PATCH", at+"work-items/"+id+"/comments/"+comment["id"].(string)+"/", `{"external_id":"x`+comment["id"].(string)+`","external_source":"somebody"}`) //nolint:forcetypeassert // likewise
		}
	}
	folder = filepath.Join(s.dir, "export")
	s.must(t, "export", "--workspace", "acme", "--to", folder, "--with", "links,comments,relations")
	return s, folder
}

// migrated is what an export of the project says but for names that the services gave.
func migrated(t *testing.T, s *service) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	s.must(t, "export", "--workspace", "acme", "--project", "SEC", "--to", dir, "--with", "links,comments,relations")
	data, err := os.ReadFile(filepath.Join(dir, "sec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.NewReplacer("{", "", "}", "", ", ", "\n").Replace(string(data)), "\n") // some mappings stand on one line
	kept := lines[:0]
	for _, line := range lines {
		line = serviceNames.ReplaceAllString(line, "")
		if strings.Trim(line, " -{},") != "" {
			kept = append(kept, strings.TrimLeft(line, " -"))
		}
	}
	return strings.Join(kept, "\n")
}

// serviceNames are what an export says of an object that another service names differently. Keys are among
// them: those of what planform made come from its marks.
// So are the authors of comments, which lead the texts of those that planform made.
var serviceNames = regexp.MustCompile(`(source|base_url|workspace|key|id|identifier|author): .*|\*\*ada\*\* · .*|text: (\|$)?|^ *[0-9]{2}:[0-9]{2}( UTC)?$`)

func TestAnExportCanBeAppliedElsewhereAgainAndAgain(t *testing.T) {
	t.Parallel()
	from, folder := origin(t)
	want := migrated(t, from)
	to := newService(t, sandboxtest.Options{Empty: true})
	r := to.must(t, "apply", "-f", folder, "--yes")
	if !strings.Contains(r.err+r.out, "23 identifiers") || strings.Count(r.err+r.out, "the manifest comes from") != 1 {
		t.Errorf("it is not said that the identifiers are names elsewhere:\n%s", r.err)
	}
	n := len(to.Log())
	if r = to.must(t, "apply", "-f", folder, "--yes"); to.written(n) != "" || !strings.Contains(r.out, "No changes.") {
		t.Errorf("the second apply: %s%s%s", r.out, r.err, to.written(n))
	}
	if diff := cmp.Diff(want, migrated(t, to)); diff != "" {
		t.Errorf("it is not the same (-there +here):\n%s", diff)
	}
	states, err := filepath.Glob(filepath.Join(folder, ".planform", "*"))
	if err != nil || len(states) < 2 {
		t.Fatal(states, err)
	}
	for _, state := range states {
		if err := os.RemoveAll(state); err != nil {
			t.Fatal(err)
		}
	}
	n = len(to.Log())
	if r = to.must(t, "apply", "-f", folder, "--yes"); to.written(n) != "" {
		t.Errorf("without the state: %s%s%s", r.out, r.err, to.written(n))
	}
	if r = from.must(t, "plan", "-f", folder); strings.Contains(r.out+r.err, "to create") || strings.Contains(r.out+r.err, "comes from") {
		t.Errorf("where it comes from, without the state: %s%s", r.out, r.err)
	}
}

func TestAMigrationThatIsKilledGoesOn(t *testing.T) {
	t.Parallel()
	from, folder := origin(t)
	want := migrated(t, from)
	to := newMortal(t)
	for kill := range 10 {
		if !to.kill(t, int64(3+2*kill), "apply", "-f", folder, "--yes") {
			break
		}
	}
	to.must(t, "apply", "-f", folder, "--yes", "--patience", "0s")
	n := len(to.Log())
	if r := to.must(t, "apply", "-f", folder, "--yes"); to.written(n) != "" {
		t.Errorf("the apply after the last: %s%s%s", r.out, r.err, to.written(n))
	}
	if diff := cmp.Diff(want, migrated(t, to.service)); diff != "" {
		t.Errorf("it is not the same (-there +here):\n%s", diff)
	}
}

// mortal is an empty service at which processes are killed.
type mortal struct {
	*service

	writes, last atomic.Int64 // of a run; after the last one nothing is answered; 0 = it is not killed
	state, left  string       // folder of the state, and what the process left there
}

func newMortal(t *testing.T) *mortal {
	t.Helper()
	m := &mortal{}
	m.service = newService(t, sandboxtest.Options{Empty: true, Fault: func(r *http.Request) sandboxtest.Fault {
		last := m.last.Load()
		if last == 0 || r.Method == http.MethodGet && m.writes.Load() < last {
			return sandboxtest.Fault{}
		}
		gone := sandboxtest.Break{Status: http.StatusBadRequest, Body: `{"error":"gone"}`}
		switch n := m.writes.Add(1); {
		case n == last: // what a killed process leaves behind
			if err := os.CopyFS(m.left, os.DirFS(m.state)); err != nil {
				t.Error(err)
			}
			return sandboxtest.Fault{After: gone}
		case n > last:
			return sandboxtest.Fault{Before: gone}
		default:
			return sandboxtest.Fault{}
		}
	}})
	return m
}

// kill applies a folder until the n-th write, whose answer is never seen, and reports whether it came so far.
func (mr *mortal) kill(t *testing.T, n int64, command, f, folder string, flags ...string) bool {
	t.Helper()
	mr.state, mr.left = filepath.Join(folder, ".planform"), filepath.Join(t.TempDir(), "left")
	mr.writes.Store(0)
	mr.last.Store(n)
	defer mr.last.Store(0)
	mr.run(t, append([]string{command, f, folder, "--patience", "0s"}, flags...)...)
	if mr.writes.Load() < n {
		return false
	}
	if err := errors.Join(os.RemoveAll(mr.state), os.Rename(mr.left, mr.state)); err != nil {
		t.Fatal(err)
	}
	return true
}

// send makes one request of somebody else than planform, below the workspace.
func (s *service) send(t *testing.T, method, path, body string) []byte {
	t.Helper()
	return s.sendAs(t, sandbox.Key, method, path, body)
}

// sendAs is send with the key of one user.
func (s *service) sendAs(t *testing.T, key, method, path, body string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+"/api/v1/workspaces/acme/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", somebody)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		t.Fatalf("%s %s %s: %s %s", method, path, body, res.Status, answer)
	}
	return answer
}

// rows reads a list.
func (s *service) rows(t *testing.T, path string) []map[string]any {
	t.Helper()
	var list struct{ Results []map[string]any }
	if err := json.Unmarshal(s.send(t, "GET", path, ""), &list); err != nil {
		t.Fatal(err)
	}
	return list.Results
}

// lookUp finds the ID of the row of a list that shows a text.
func (s *service) lookUp(t *testing.T, path, field, text string) string {
	t.Helper()
	for _, row := range s.rows(t, path) {
		if id, ok := row["id"].(string); ok && row[field] == text {
			return id
		}
	}
	t.Fatalf("%s has no %s %s", path, field, text)
	return ""
}

// somebody is whom the requests of send come from.
const somebody = "somebody"
