package simulation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// builtVariable is the environment variable that names the older build.
const builtVariable = "PLANFORM_ORACLE"

// TestThisBuildPlansAndAppliesAsTheOlderOne lets both builds plan and apply each case. The order of the steps is checked without the older build, too.
func TestThisBuildPlansAndAppliesAsTheOlderOne(t *testing.T) {
	t.Parallel()
	older, cases := os.Getenv(builtVariable), cases(t)
	newer := filepath.Join(t.TempDir(), "planform")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", newer, "../..").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var mu sync.Mutex
	var different int
	explained := map[string]int{}
	t.Cleanup(func() {
		t.Logf("%d cases, %d of them different", len(cases), different)
		for _, r := range onPurposes() {
			if t.Logf("%5d  %s", explained[r.why], r.why); explained[r.why] == 0 && older != "" {
				t.Errorf("no case shows the difference that %q explains: remove the rule", r.why)
			}
		}
	})
	for _, folder := range cases {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			at := newPlace(t)
			now := play(t, newer, folder, at)
			for _, d := range now.plans {
				for _, v := range Violations(d) {
					t.Errorf("order: %s", v)
				}
			}
			if older == "" {
				return
			}
			found := now.differences(play(t, older, folder, at))
			if len(found) == 0 {
				return
			}
			why, rest := explain(found)
			mu.Lock()
			defer mu.Unlock()
			different++
			for _, w := range why {
				explained[w]++
			}
			if len(rest) > 0 {
				t.Errorf("different:\n%s", strings.Join(rest, "\n"))
			}
		})
	}
}

// cases are the folders of the cases. The test skips without them.
func cases(t *testing.T) []string {
	t.Helper()
	root := os.Getenv(Folder)
	if root == "" {
		t.Skipf("%s names no folder of cases, which the tests of internal/simulation write", Folder)
	}
	all, err := filepath.Glob(filepath.Join(root, "*"))
	if err != nil || len(all) == 0 {
		t.Fatalf("%s has no cases: %v", root, err)
	}
	return all
}

// played is the result of a case: the meaning of each stage, by line. Text after a tab in a line is for people.
type played struct {
	plans  []*planfile.Document
	stages map[string][]string
}

// place is an address at which one service after the other is: texts that link to an object contain it.
type place struct {
	*httptest.Server

	service atomic.Pointer[sandboxtest.Server]
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { p.service.Load().ServeHTTP(w, req) }))
	t.Cleanup(p.Close)
	return p
}

// play plans a copy of a case, applies it, and plans again, with a service that has the contents of the case.
func play(t *testing.T, program, folder string, at *place) *played {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	c, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	server, err := sandboxtest.Open(sandboxtest.Options{Path: filepath.Join(dir, Contents), Edition: c.Edition, Answers: c.Answers})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	at.service.Store(server)
	state := filepath.Join(dir, StateFile)
	if text, err := os.ReadFile(state); err == nil {
		text = regexp.MustCompile(`"base_url":"[^"]*"`).ReplaceAll(text, []byte(`"base_url":"`+at.URL+`"`))
		if err := os.WriteFile(state, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(command string, more ...string) (out []byte, code int) {
		args := slices.Concat([]string{command}, c.Args, []string{"--state", StateFile}, more)
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Env = dir, []string{"PLANE_BASE_URL=" + at.URL, "PLANE_API_KEY=" + sandbox.Key, "HOME=" + dir}
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		if stdout.Len() == 0 { // then there is no plan, but errors
			stdout = stderr
		}
		return stdout.Bytes(), cmd.ProcessState.ExitCode()
	}
	p := &played{stages: map[string][]string{}}
	plan := func(stage string, ids bool) {
		out, code := run("plan", "--output", "json", "--detailed-exitcode")
		d := &planfile.Document{}
		if err := json.Unmarshal(out, d); err != nil {
			t.Errorf("%s: %v\n%s", stage, err, out)
		}
		if d.Steps != nil {
			p.plans = append(p.plans, d)
		}
		lines := meaning(d, out)
		for i := range lines {
			if !ids {
				lines[i] = anID.ReplaceAllString(lines[i], "*")
			}
		}
		p.stages[stage] = append(lines, fmt.Sprint("exit ", code))
	}
	plan("plan", true)
	_, code := run("apply", "--yes", "--max-deletes", "1000", "--parallelism", "1")
	p.stages["apply"] = []string{fmt.Sprint("exit ", code)}
	server.Drain()
	p.stages["contents"] = slices.Concat(server.Picture(), numbers(server))
	p.stages["state"] = records(t, state, server.Called())
	plan("second plan", false)
	return p
}

// differences are the lines that one build has and the other has not.
func (pd *played) differences(before *played) (all []string) {
	for _, stage := range slices.Sorted(maps.Keys(pd.stages)) {
		for _, side := range []struct {
			sign     string
			of, than []string
		}{{"-", before.stages[stage], pd.stages[stage]}, {"+", pd.stages[stage], before.stages[stage]}} {
			left := map[string]int{}
			for _, line := range side.than {
				key, _, _ := strings.Cut(line, "\t")
				left[key]++
			}
			for _, line := range side.of {
				key, _, _ := strings.Cut(line, "\t")
				if left[key]--; left[key] < 0 {
					all = append(all, stage+" "+side.sign+" "+line)
				}
			}
		}
	}
	return all
}

var anID, aDigest = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`), regexp.MustCompile(`^=?sha256:[0-9a-f]{64}$|^[0-9a-f]{12} `)

// meaning are lines that say what a plan does, whatever its order, its words and its batches.
func meaning(d *planfile.Document, out []byte) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	change := func(c *planfile.Change) string {
		return fmt.Sprintf("%s: %v -> %v %s %s possible=%t", c.Path, c.Before, c.After, c.SHA256, c.Origin, c.Possible == nil)
	}
	for i := range d.Steps {
		s := &d.Steps[i]
		cause, reason := "", ""
		if s.Action == "not_possible" {
			cause = fmt.Sprintf(" unsupported=%q not_offered=%t", s.Unsupported, s.NotOffered)
			reason = "\t" + *s.Reason
		}
		if _, _, first, ok := s.Address.ParseMembership(); ok {
			for _, m := range s.AllMembers() {
				note := ""
				if m.Leaves != "" || m.Drift {
					note = fmt.Sprintf(" leaves=%s drift=%t", m.Leaves, m.Drift)
				}
				add("%s %s: %s%s%s %s %s%s%s%s", s.Action, first, m.Address, m.ID, m.Text, m.Before, m.Value, note, cause, reason)
			}
			continue
		}
		if !s.Continues {
			id := ""
			if s.ID != nil {
				id = *s.ID
			}
			add("%s %s %s adopted=%t replaces=%s%s%s", s.Action, s.Address, id, s.Adopted != nil, s.Replaces, cause, reason)
		}
		for k := range s.Changes {
			add("%s %s %s%s", s.Action, s.Address, change(&s.Changes[k]), reason)
		}
	}
	for i := range d.Kept {
		add("kept %s %s", d.Kept[i].Address, change(&d.Kept[i].Change))
	}
	for _, c := range d.StateChanges {
		to := resource.Address("")
		if c.To != nil {
			to = *c.To
		}
		add("correction %s -> %s\t%s", c.From, to, c.Why)
	}
	for _, o := range d.Orphans {
		to := resource.Address("nothing")
		if o.RenamedTo != nil {
			to = *o.RenamedTo
		}
		add("orphan %s renamed to %s", o.Address, to)
	}
	for _, n := range d.NotCompared {
		add("not compared %s %s %d", n.Kind, n.Field, n.Count)
	}
	var failed struct {
		Diagnostics []struct{ Severity, Code, Address, Summary string }
	}
	if json.Unmarshal(out, &failed) == nil {
		for _, f := range failed.Diagnostics {
			if f.Severity == "error" {
				add("error %s %s\t%s", f.Code, f.Address, f.Summary)
			}
		}
	}
	return all
}

// numbers are lines with the readable number of each work item.
func numbers(server *sandboxtest.Server) (all []string) {
	called := server.Called()
	for _, r := range server.Rows("work_item") {
		all = append(all, fmt.Sprintf("number %v of %s: %v", r["sequence_id"], called[fmt.Sprint(r["project"])], r["name"]))
	}
	return all
}

// records are lines that say what the state knows, with addresses and names in place of IDs.
func records(t *testing.T, path string, called map[string]string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var state struct{ Objects []map[string]any }
	if err := errors.Join(err, json.Unmarshal(text, &state)); err != nil {
		t.Fatal(err)
	}
	for _, r := range state.Objects {
		if id, ok := r["id"].(string); ok {
			called[id] = fmt.Sprint(r["address"])
		}
	}
	for _, r := range state.Objects {
		delete(r, "applied_at")
		delete(r, "late")
		var named func(v any) any
		named = func(v any) any {
			switch v := v.(type) {
			case string:
				// A text may link to an object with another ID: the service has the same text, and the next plan tells whether the ID is
				// known.
				v = aDigest.ReplaceAllString(v, "sha256 ")
				ids := anID.FindAllString(v, -1)
				v = anID.ReplaceAllStringFunc(v, func(id string) string {
					if called[id] == "" {
						return id
					}
					return called[id]
				})
				if len(ids) > 1 { // a list, in the order of the IDs
					list := strings.Split(v, ",")
					slices.Sort(list)
					v = strings.Join(list, ",")
				}
				return v
			case []any:
				list := make([]string, len(v))
				for i := range v {
					list[i] = fmt.Sprint(named(v[i]))
				}
				slices.Sort(list)
				return list
			case map[string]any:
				all := map[string]any{}
				for key := range v {
					all[fmt.Sprint(named(key))] = named(v[key])
				}
				return all
			}
			return v
		}
		line, err := json.Marshal(named(r))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(line))
	}
	return all
}
