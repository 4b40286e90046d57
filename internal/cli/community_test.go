package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// On the community edition the first apply of an example makes all that the edition has, and the second one nothing.
func TestTheCommunityEditionHoldsWhatItCanOfTheExamples(t *testing.T) {
	t.Parallel()
	for _, example := range []string{"workspace.yaml", "from-nothing.yaml", "split", "import.yaml"} {
		if !sample.TakesNamed(example, 2) {
			continue
		}
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			s := newService(t, sandboxtest.Options{Edition: sandbox.Community})
			if err := os.CopyFS(s.dir, sandboxtest.Examples("../..")); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(s.dir, example)
			s.must(t, "validate", "-f", file)
			first := s.must(t, "apply", "-f", file, "--workspace", "acme", "--parallelism", "8", "--allow-unsupported")
			if strings.Contains(last(first.out), " failed") || strings.Contains(last(first.out), " blocked") {
				t.Errorf("the first apply does not make all that is possible: %s\n%s", last(first.out), first.err)
			}
			before := len(s.Log())
			second := s.must(t, "apply", "-f", file, "--workspace", "acme", "--allow-unsupported")
			if _, writes := s.sent(before); writes > 0 {
				t.Errorf("the second apply makes %d writes:\n%s", writes, second.out)
			}
			lacking := strings.Contains(first.out, "not possible")
			for flag, want := range map[string]int{"--detailed-exitcode": 3, "--allow-unsupported": 0} {
				if !lacking {
					want = 0
				}
				if r := s.run(t, "plan", "-f", file, "--workspace", "acme", "--detailed-exitcode", flag); r.code != want {
					t.Errorf("%s: exit %d, want %d\n%s", flag, r.code, want, r.out)
				}
			}
		})
	}
}

// The whole story of a workspace of the community edition: seed, drift, archive, delete, export, apply elsewhere, prune.
// Each step goes on where the one before it ended.
func TestAWorkspaceOfTheCommunityEditionFromSeedToPrune(t *testing.T) {
	t.Parallel()
	const compared = "No changes in what was compared: "
	s := newService(t, sandboxtest.Options{Edition: sandbox.Community})
	file := s.write(t, "port.yaml", port)
	project := "" // the path of its routes
	find := func(list, name string) string { t.Helper(); return s.lookUp(t, project+list+"/", "name", name) }
	patch := func(t *testing.T, key, item, body string) {
		t.Helper()
		s.sendAs(t, key, "PATCH", project+"work-items/"+find("work-items", item)+"/", body)
	}
	// runs wants an exit code and these texts.
	runs := func(t *testing.T, code int, args []string, wants ...string) ran {
		t.Helper()
		r := s.run(t, args...)
		if r.code != code {
			t.Errorf("planform %s: exit %d, want %d", strings.Join(args, " "), r.code, code)
		}
		for _, want := range wants {
			if !strings.Contains(r.out+r.err, want) {
				t.Errorf("planform %s: no %q", strings.Join(args, " "), want)
			}
		}
		if t.Failed() {
			t.Fatalf("%s%s", r.out, r.err)
		}
		return r
	}
	plan := func(flags ...string) []string {
		return append([]string{"plan", "-f", file, "--detailed-exitcode"}, flags...)
	}
	apply := func(flags ...string) []string { return append([]string{"apply", "-f", file}, flags...) }
	// rests wants a command to write nothing.
	rests := func(t *testing.T, code int, args []string, wants ...string) {
		t.Helper()
		before := len(s.Log())
		runs(t, code, args, wants...)
		if written := s.written(before); written != "" {
			t.Errorf("planform %s writes:%s", strings.Join(args, " "), written)
		}
	}
	steps := []struct {
		name string
		then func(t *testing.T)
	}{
		{"what the manifest says is made in one run", func(t *testing.T) {
			t.Helper()
			runs(t, 0, []string{"validate", "-f", file}, "valid: 20 objects")
			runs(t, 0, apply("--full"), "Plan: 20 to create, 12 memberships.", "created work_item/port/board as PORT-1", "\nApplied: 20 created, 12 memberships added.")
			rests(t, 0, plan(), "No changes. All 20 objects match the manifest ")
			project = "projects/" + s.lookUp(t, "projects/", "identifier", "PORT") + "/"
			for _, row := range s.Rows("project_member") {
				if row["member"] == sandboxtest.UserEve && fmt.Sprint(row["role"]) != "5" {
					t.Errorf("the guest has role %v", row["role"])
				}
			}
			if got := s.namesIn(t, project+"cycles/"+find("cycles", "Autumn berths")+"/cycle-issues/"); !slices.Equal(got, []string{"Lay out the quays"}) {
				t.Errorf("in the finished cycle: %q", got)
			}
		}},
		{"what somebody changes is shown with who, and kept or overwritten", func(t *testing.T) {
			t.Helper()
			patch(t, sandboxtest.KeyBob, "Mend the crane", `{"name": "Mend both cranes", "priority": "urgent"}`)
			rests(t, 2, plan(), `name:      "Mend both cranes" -> "Mend the crane"     (changed on the service since the last apply by bob, 20`, "Plan: 1 to update; 19 unchanged.")
			rests(t, 0, apply("--on-drift", "keep"), "(kept, changed on the service since the last apply by bob, ", `the manifest says "Mend the crane")`)
			runs(t, 0, apply(), "\nApplied: 1 updated; 19 unchanged.")
			if row := s.item(t, "Mend the crane"); row["priority"] != "urgent" { // the manifest does not speak of it
				t.Errorf("the priority is %v", row["priority"])
			}
			rests(t, 0, plan(), "No changes")
		}},
		{"what somebody archives is named and left alone", func(t *testing.T) {
			t.Helper()
			patch(t, sandbox.Key, "Put the ships on their berths", `{"archived_at": "2026-11-20"}`)
			items := len(s.Rows("work_item"))
			for _, args := range [][]string{plan(), apply(), apply(), plan("--prune")} {
				rests(t, 0, args, "warning: work_item/port/ships (PORT-3) is archived on the service: left alone, with everything in it", "restore it on the service", "\n1 warning\n", compared+"19 of 20 objects match the manifest; not compared: 1 work item (archived or a draft, and left alone) ")
			}
			if n := len(s.Rows("work_item")); n != items {
				t.Errorf("%d work items, not %d", n, items)
			}
		}},
		{"what somebody deletes stops nothing else, though others name it as parent and in a relation", func(t *testing.T) {
			t.Helper()
			s.send(t, "DELETE", project+"work-items/"+find("work-items", "Buy a radar")+"/", "")
			s.write(t, "port.yaml", strings.Replace(port, "Wait for fog", "Wait for thick fog", 1))
			again := "warning: work_item/port/radar was deleted or archived on the service since the last apply and is created again"
			rests(t, 2, plan(), again, "PORT-3) is archived", "~ work_item/port/fog")
			runs(t, 0, apply("--full"), again, "created work_item/port/radar as PORT-8", "updated work_item/port/fog", "created link/port/radar/https://example.com/radar", "added 1 blocked by relation to work_item/port/fog")
			if echo, radar := s.item(t, "Hear the echo"), s.item(t, "Buy a radar"); echo["parent"] != radar["id"] {
				t.Errorf("the parent is %v, not %v", echo["parent"], radar["id"])
			}
			rests(t, 0, apply(), compared+"19 of 20 objects")
		}},
		{"what is exported is made elsewhere once, also if the state is lost", func(t *testing.T) {
			t.Helper()
			folder := filepath.Join(s.dir, "out")
			runs(t, 0, []string{"export", "--workspace", "acme", "--project", "PORT", "--to", folder, "--with", "relations,links,comments"},
				"warning: 1 work item left out: archived, or a draft", "this edition of the service does not have customers")
			rests(t, 0, []string{"plan", "-f", folder, "--detailed-exitcode"}, "No changes")
			elsewhere := newService(t, sandboxtest.Options{Edition: sandbox.Community, Workspace: "copy"})
			state := filepath.Join(elsewhere.dir, "copy.state.json")
			to := []string{"apply", "-f", folder, "--workspace", "copy", "--state", state, "--full"}
			first := elsewhere.must(t, to...)
			if strings.Contains(last(first.out), "failed") || strings.Contains(last(first.out), "not possible") {
				t.Errorf("the first: %s%s", first.out, first.err)
			}
			n := len(elsewhere.Log())
			if r := elsewhere.must(t, to...); elsewhere.written(n) != "" || !strings.Contains(r.out, "No changes") {
				t.Errorf("the second: %s%s%s", r.out, r.err, elsewhere.written(n))
			}
			if err := os.Remove(state); err != nil {
				t.Fatal(err)
			}
			if r := elsewhere.must(t, to...); elsewhere.written(n) != "" || !strings.Contains(r.out, "adopted work_item/port/board") {
				t.Errorf("with the state lost: %s%s%s", r.out, r.err, elsewhere.written(n))
			}
			if r := elsewhere.must(t, append([]string{"plan", "--detailed-exitcode"}, to[1:]...)...); !strings.Contains(r.out, "No changes") {
				t.Errorf("adopted: %s%s", r.out, r.err)
			}
			for _, kind := range []string{"state", "label", "cycle", "module", "link", "comment", "cycle_issue", "module_issue"} {
				// What belongs to the archived item was left behind with it.
				here, there := s.countIn(kind), elsewhere.countIn(kind)
				if kind == "module_issue" {
					here--
				}
				if here != there {
					t.Errorf("%d of %s here, %d there", here, kind, there)
				}
			}
		}},
		{"prune takes what planform made, and leaves what others use", func(t *testing.T) {
			t.Helper()
			bobs := `{"name": "Paint the boat of Bob", "state": "` + find("states", "Adrift") + `", "labels": ["` + find("labels", "quay") + `"]}`
			s.sendAs(t, sandboxtest.KeyBob, "POST", project+"work-items/", bobs)
			one := `{"issues": ["` + find("work-items", "Paint the boat of Bob") + `"]}`
			s.sendAs(t, sandboxtest.KeyBob, "POST", project+"cycles/"+find("cycles", "Winter berths")+"/cycle-issues/", one)
			s.sendAs(t, sandboxtest.KeyBob, "POST", project+"modules/"+find("modules", "Berth board")+"/module-issues/", one)
			before := s.item(t, "Paint the boat of Bob")

			s.write(t, "port.yaml", "version: 1\nworkspace: acme\nprojects:\n  - {identifier: PORT, members: [ada@example.com, bob@example.com, eve@example.com]}\n")
			used := []string{
				`! cycle/port/winter  "Winter berths": it would be deleted, but 1 work item added by others is in it: PORT-10`,
				`! module/port/board  "Berth board": it would be deleted, but 1 work item added by others is in it: PORT-10`,
				"! label/port/quay: it would be deleted, but 1 work item refers to it in labels: PORT-10",
				`! work_item/port/board  PORT-1  "Show every berth on one board": it would be deleted, but work item "Put the ships on their berths" below it stays`,
				"! state/port/adrift: it would be deleted, but 2 work items refer to it in state: PORT-",
				`! work_item/port/crane  PORT-4  "Mend the crane": it would be deleted, but somebody changed its priority after planform created it`,
			}
			rests(t, 3, plan("--prune"), append(used, "Plan: 9 to delete", "7 not possible", "warning: work_item/port/ships (PORT-3) is archived on the service: left alone")...)
			rests(t, 1, apply("--prune", "--yes"), "the plan deletes 9 objects of 20 that planform created; nothing was done", "give --max-deletes 9")
			runs(t, 3, apply("--prune", "--yes", "--max-deletes", "9"), append(used, "\nApplied: 9 deleted; ")...)
			for list, want := range map[string][]string{
				"states": {"Adrift", "Backlog", "Cancelled", "Done", "In Progress", "In Review", "Todo"}, "labels": {"quay"},
				"cycles": {"Winter berths"}, "modules": {"Berth board"}, "work-items": {"Mend the crane", "Paint the boat of Bob", "Show every berth on one board"},
				"cycles/" + find("cycles", "Winter berths") + "/cycle-issues":  {"Paint the boat of Bob", "Show every berth on one board"},
				"modules/" + find("modules", "Berth board") + "/module-issues": {"Paint the boat of Bob", "Show every berth on one board"},
			} {
				if got := s.namesIn(t, project+list+"/"); !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q", list, got, want)
				}
			}
			if diff := cmp.Diff(before, s.item(t, "Paint the boat of Bob")); diff != "" {
				t.Errorf("his item is not as it was (-before +after):\n%s", diff)
			}
			rests(t, 3, apply("--prune", "--yes"), "\n! 7 not possible, as before; --full shows them\n")
			rests(t, 3, apply("--prune", "--yes", "--full"), append(used, "7 not possible")...)
			rests(t, 0, plan(), "No changes. The 1 object matches")
		}},
		{"the doctor says that all is well, and what the edition lacks", func(t *testing.T) {
			t.Helper()
			rests(t, 0, []string{"doctor", "-f", file}, "lacks customers, ", "\nAll is well.")
		}},
	}
	for _, step := range steps {
		if !t.Run(step.name, step.then) {
			t.FailNow() // the next one goes on from here
		}
	}
}

// countIn counts the rows of a kind that are in the project PORT.
func (s *service) countIn(kind string) int {
	n := 0
	for _, project := range s.Rows("project") {
		for _, row := range s.Rows(kind) {
			if project["identifier"] == "PORT" && row["project"] == project["id"] {
				n++
			}
		}
	}
	return n
}

// item is the work item that bears a name.
func (s *service) item(t *testing.T, name string) map[string]any {
	t.Helper()
	for _, row := range s.Rows("work_item") {
		if row["name"] == name {
			return row
		}
	}
	t.Fatalf("there is no work item %q", name)
	return nil
}

// namesIn lists the names in a list, sorted.
func (s *service) namesIn(t *testing.T, path string) []string {
	t.Helper()
	names := []string{}
	for _, row := range s.rows(t, path) {
		names = append(names, fmt.Sprint(row["name"]))
	}
	slices.Sort(names)
	return names
}

// port is a project with something of all that the community edition has.
const port = `version: 1
workspace: acme
projects:
  - identifier: PORT
    name: Port
    description: Who berths where, and when
    members: [ada@example.com, bob@example.com, {user: eve@example.com, role: guest}]
    cycle_view: true
    module_view: true
    states:
      - {name: In Review, group: started, color: "#3b82f6"}
      - {name: Adrift, group: backlog, color: "#14b8a6"}
    labels:
      - {name: quay, color: "#0ea5e9"}
      - {name: tide, color: "#6366f1"}
    modules:
      - {key: board, name: Berth board, members: [bob@example.com]}
      - {key: duty, name: Duty desk}
    cycles:
      - {key: autumn, name: Autumn berths, start_date: 2024-09-02, end_date: 2024-09-27}
      - {key: winter, name: Winter berths, start_date: 2031-01-06, end_date: 2031-01-31}
      - {key: spring, name: Spring tides}
    work_items:
      - key: board
        name: Show every berth on one board
        description: "The harbour master sees **all** berths."
        state: In Review
        priority: high
        assignees: [bob@example.com]
        labels: [quay]
        module: board
        cycle: winter
        target_date: 2031-01-20
        links: [{url: "https://example.com/board", title: Sketch}]
        comments: [{key: decision, text: "**One** board."}]
        work_items:
          - {key: layout, name: Lay out the quays, state: Done, cycle: autumn}
          - {key: ships, name: Put the ships on their berths, module: board, labels: [tide]}
      - {key: crane, name: Mend the crane, state: Adrift, module: duty, cycle: spring, relations: {blocked_by: [layout]}}
      - {key: radar, name: Buy a radar, links: ["https://example.com/radar"]}
      - {key: echo, name: Hear the echo, parent: radar, relations: {relates_to: [radar]}}
      - {key: fog, name: Wait for fog, relations: {blocked_by: [radar]}}
`
