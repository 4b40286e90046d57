package provider_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/text/diag"
)

// TestAMemberWhoIsInTheProjectAlreadyIsNotAFailure covers the creator and the lead of a project, who are members from the start.
func TestAMemberWhoIsInTheProjectAlreadyIsNotAFailure(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	const manifest = `
projects:
  - {identifier: NEW, name: New, lead: bob@example.com, members: [ada@example.com, bob@example.com, eve@example.com],
     work_items: [{name: A, assignees: [bob@example.com, ada@example.com]}]}`
	r := s.apply(t, applying{manifest: manifest})
	if len(r.failed()) > 0 || len(r.warnings()) > 0 {
		t.Error(r.failed(), r.warnings())
	}
	roles := map[any]int{}
	for _, row := range s.Rows("project_member") {
		if row["project"] == s.Rows("project")[2]["id"] {
			roles[row["role"]]++
		}
	}
	if len(roles) != 2 {
		t.Errorf("roles: %v", roles)
	}
	if again := s.apply(t, applying{manifest: manifest}); again.writes > 0 || !again.plan.Empty() {
		t.Errorf("%d writes, %+v", again.writes, again.plan.Summary)
	}
}

// TestAllRelationsOfAnItemAreReadWithOneRequest, because one answer contains the lists of all relations.
func TestAllRelationsOfAnItemAreReadWithOneRequest(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	const manifest = `
projects:
  - key: web
    identifier: WEB
    work_items:
      - {key: a, name: A, relations: {blocking: [b], relates_to: [WEB-1], duplicate: [ops/c]}}
      - {key: b, name: B, relations: {blocked_by: [a]}}
  - {key: ops, identifier: OPS, work_items: [{key: c, name: C}]}`
	first := s.apply(t, applying{manifest: manifest})
	if len(first.failed()) > 0 || first.plan.Summary.AddMembers != 3 || len(s.Rows("relation")) != 3 {
		t.Errorf("%v %+v %v", first.failed(), first.plan.Summary, s.Rows("relation"))
	}
	before := len(s.Log())
	again := s.apply(t, applying{manifest: manifest})
	reads := 0
	for _, e := range s.Log()[before:] {
		if strings.HasSuffix(e.Path, "/relations/") {
			reads++
		}
	}
	if again.writes > 0 || !again.plan.Empty() || reads != 1 {
		t.Errorf("%d writes, %d reads of relations, %+v", again.writes, reads, again.plan.Summary)
	}
}

// TestRelationsThatAreListedAsIDsAreSentOnce, because some editions list IDs instead of items.
func TestRelationsThatAreListedAsIDsAreSentOnce(t *testing.T) {
	t.Parallel()
	for api, edition := range map[resource.API]sandbox.Edition{resource.V1: sandbox.Full, resource.V2: sandbox.Cloud} {
		t.Run(api.String(), func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, api, sandboxtest.Options{Edition: edition, RelationIDs: true})
			const all = `{version: 1, projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A, relations: %}, {key: b, name: B}, {key: c, name: C}]}]}`
			for _, step := range []struct {
				relations string
				relates   int
			}{{"{blocking: [b], relates_to: [c]}", 2}, {"{blocking: [b]}", 2}, {"{blocking: [], relates_to: [c]}", 1}} {
				text := strings.Replace(all, "%", step.relations, 1)
				a := s.apply(t, applying{manifest: text})
				again := s.apply(t, applying{manifest: text})
				if len(a.failed()) > 0 || len(a.warnings()) > 0 || again.writes > 0 || !again.plan.Empty() || len(s.Rows("relation")) != step.relates {
					t.Errorf("%s: %v %v, again %d writes; %d relations", step.relations, a.failed(), a.warnings(), again.writes, len(s.Rows("relation")))
				}
			}
			other := *s
			other.dir = t.TempDir()
			lost := other.apply(t, applying{manifest: strings.Replace(strings.Replace(all, "%", "{relates_to: [c]}", 1), "blocking: [b], ", "", 1)})
			if lost.writes > 0 || lost.plan.Summary.AddMembers > 0 {
				t.Error(lost.writes, lost.plan.Summary)
			}
		})
	}
}

// TestAnArchivedObjectIsNotCreatedAgain although only another list shows it.
func TestAnArchivedObjectIsNotCreatedAgain(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	const manifest = `
projects:
  - {key: web, identifier: WEB, modules: [{name: Tide tables}], work_items: [{name: A, module: tide-tables}]}`
	s.apply(t, applying{manifest: manifest})
	var id any
	for _, row := range s.Rows("module") {
		if row["name"] == "Tide tables" {
			id = row["id"]
		}
	}
	s.otherUser(t, http.MethodPost, fmt.Sprintf("projects/%s/modules/%s/archive/", sandboxtest.ProjectWeb, id), "")
	for _, when := range []string{"at once", "after losing the state"} {
		a := s.apply(t, applying{manifest: manifest})
		if sum := a.plan.Summary; a.writes > 0 || sum.Create+sum.Update+sum.AddMembers > 0 {
			t.Errorf("%s: %d writes, %+v", when, a.writes, sum)
		}
		s.dir = t.TempDir()
	}
}

// TestTheStateKeepsAddedMembersThoughOthersWereRefused, because otherwise they would never be removed.
func TestTheStateKeepsAddedMembersThoughOthersWereRefused(t *testing.T) {
	t.Parallel()
	const manifest = `
projects:
  - {key: web, identifier: WEB, cycles: [{key: s, name: Sprint 14}], work_items: [{name: A, cycle: s}, {name: B, cycle: s}, {key: old, identifier: WEB-1, cycle: s}]}`
	s := newService(t, resource.V1)
	first := s.apply(t, applying{manifest: manifest, fault: func(req *http.Request, _ run) sandboxtest.Fault {
		body, _ := io.ReadAll(req.Body)
		req.Body = io.NopCloser(bytes.NewReader(body))
		if strings.HasSuffix(req.URL.Path, "/cycle-issues/") && bytes.Contains(body, []byte(sandboxtest.WorkItemWeb1)) {
			return sandboxtest.Fault{Before: sandboxtest.Break{Status: 400, Body: `{"error":"The payload is not valid"}`}}
		}
		return sandboxtest.Fault{}
	}})
	file := s.open(t)
	defer func() { _ = file.Close() }() // only read
	if r := file.Prior()["cycle/web/s#work_items"]; len(first.failed()) != 1 || len(r.Members) != 2 || r.PendingIntent != nil {
		t.Errorf("%q %+v", first.failed(), r)
	}
}

// TestTheStateKeepsThePredefinedObjectsOfANewProject, because otherwise a later change by people would not be noticed.
func TestTheStateKeepsThePredefinedObjectsOfANewProject(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	s.apply(t, applying{manifest: `{projects: [{key: new, identifier: NEW, name: New, states: [{name: Todo, color: "#123456"}]}]}`})
	file := s.open(t)
	defer func() { _ = file.Close() }() // only read
	if r := file.Prior()["state/new/todo"]; r.ID == "" || r.CreatedByUs || r.Values["color"] != resource.Digest("#123456") {
		t.Errorf("%+v", r)
	}
}

// TestAnObjectCreatedByOthersMeanwhileIsAdoptedAndStaysTheirs creates the object as another user just before the run does.
func TestAnObjectCreatedByOthersMeanwhileIsAdoptedAndStaysTheirs(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	faster := true
	a := s.apply(t, applying{
		manifest: `{projects: [{key: web, identifier: WEB, labels: [{key: tide, name: Tide}]}]}`,
		fault: func(req *http.Request, _ run) sandboxtest.Fault {
			if req.Method == http.MethodPost && faster {
				faster = false
				s.otherUser(t, http.MethodPost, "projects/"+sandboxtest.ProjectWeb+"/labels/", `{"name":"Tide"}`)
			}
			return sandboxtest.Fault{}
		},
	})
	file := s.open(t)
	defer func() { _ = file.Close() }() // only read
	if r := file.Prior()["label/web/tide"]; len(a.failed()) > 0 || s.named("label", "Tide") != 1 || r.ID == "" || r.CreatedByUs {
		t.Errorf("%q %+v", a.failed(), r)
	}
}

// TestARefusalOfACompletedCycleIsExplained if the plan does not know the day. The service refuses changes of the cycle too.
func TestARefusalOfACompletedCycleIsExplained(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	r := s.apply(t, applying{manifest: `
projects:
  - key: web
    identifier: WEB
    cycles: [{key: past, name: Past, start_date: "2020-01-01", end_date: "2020-01-14"}]
    work_items: [{key: a, name: A, cycle: past}]`})
	failed := r.failed()
	if len(failed) != 1 || !strings.HasSuffix(failed[0], ": cycle/web/past has ended, and the service adds nothing to a finished cycle") {
		t.Fatal(failed)
	}
	for _, step := range r.Steps {
		const hint = "use a cycle that has not ended, or none"
		if step.Err != nil && diag.HintOf(step.Err) != hint {
			t.Errorf("hint: %s", diag.HintOf(step.Err))
		}
	}
}

// TestAPastCycleGetsItsItemsBeforeItsDates, over two runs.
func TestAPastCycleGetsItsItemsBeforeItsDates(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	const manifest = `
projects:
  - key: web
    identifier: WEB
    cycles: [{key: past, name: PastDATES}]
    work_items: [{key: a, name: A, cycle: past}]`
	for _, dates := range []string{"", `, start_date: "2020-01-01", end_date: "2020-01-14"`, `, start_date: "2020-01-01", end_date: "2020-01-14"`} {
		if r := s.apply(t, applying{manifest: strings.Replace(manifest, "DATES", dates, 1)}); len(r.failed()) > 0 {
			t.Fatal(dates, r.failed())
		}
	}
}

// TestAnItemWithoutContainersLeavesThoseThatSomebodyPutItInto, if the manifest says that the item has none.
func TestAnItemWithoutContainersLeavesThoseThatSomebodyPutItInto(t *testing.T) {
	t.Parallel()
	for _, api := range []resource.API{resource.V1, resource.V2} {
		t.Run(api.String(), func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, api, sandboxtest.Options{Edition: sandbox.Full})
			fields, containers := "cycle: null, module: null", map[string]string{"cycles/": "cycle-issues/", "modules/": "module-issues/"}
			if api == resource.V2 {
				fields += ", milestone: null"
			}
			manifest := "projects: [{key: web, identifier: WEB, work_items: [{key: a, name: A, " + fields + "}, {key: b, name: B, " + fields + "}]}]"
			s.apply(t, applying{manifest: manifest})
			const web = "projects/" + sandboxtest.ProjectWeb + "/"
			ids := map[string]string{}
			for _, row := range s.Rows("work_item") {
				ids[fmt.Sprint(row["name"])] = fmt.Sprint(row["id"])
			}
			kinds := []string{"cycle_issue", "module_issue"}
			for path, members := range containers {
				for _, name := range []string{"One", "Two"} {
					made := s.otherUser(t, http.MethodPost, web+path, `{"name": "`+name+`", "project_id": "`+sandboxtest.ProjectWeb+`"}`)
					s.otherUser(t, http.MethodPost, web+path+fmt.Sprint(made["id"])+"/"+members, `{"issues": ["`+ids[map[string]string{"One": "A", "Two": "B"}[name]]+`"]}`)
				}
			}
			if api == resource.V2 {
				made := s.otherUser(t, http.MethodPost, web+"milestones/", `{"title": "Beta"}`)
				s.otherUser(t, http.MethodPost, "/api/v2/workspaces/acme/"+web+"milestones/"+fmt.Sprint(made["id"])+"/work-items/", `{"add": ["`+ids["A"]+`"]}`)
				kinds = append(kinds, "milestone_issue")
			}
			there := func() (n int) {
				for _, kind := range kinds {
					for _, row := range s.Rows(kind) {
						if row["issue"] == ids["A"] || row["issue"] == ids["B"] {
							n++
						}
					}
				}
				return n
			}
			if want := 2*len(containers) + len(kinds) - 2; there() != want {
				t.Fatal(there(), want)
			}
			out := s.apply(t, applying{manifest: manifest})
			if len(out.failed()) > 0 || there() > 0 {
				t.Error(out.failed(), there())
			}
			if again := s.apply(t, applying{manifest: manifest}); !again.plan.Empty() || len(again.plan.NotCompared) > 0 {
				t.Errorf("%+v %v", again.plan.Summary, again.plan.NotCompared)
			}
		})
	}
}

// TestANewItemWithoutContainersStaysWherePeoplePutItIfThePolicySaysSo, because the create records that the field is empty.
func TestANewItemWithoutContainersStaysWherePeoplePutItIfThePolicySaysSo(t *testing.T) {
	t.Parallel()
	for _, api := range []resource.API{resource.V1, resource.V2} {
		t.Run(api.String(), func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, api, sandboxtest.Options{Edition: sandbox.Cloud})
			text := `{version: 1, projects: [{key: web, identifier: WEB, cycles: [{key: one, name: One}], modules: [{key: front, name: Front}], work_items: [
				{key: a, name: A, cycle: null, module: null, on_drift: keep}, {key: b, name: B, cycle: null, module: null}]}]}`
			if api == resource.V2 {
				text = strings.NewReplacer("modules:", "milestones: [Beta], modules:", "module: null", "module: null, milestone: null").Replace(text)
			}
			made := s.apply(t, applying{manifest: text})
			if len(made.failed()) > 0 {
				t.Fatal(made.failed())
			}
			file := s.open(t)
			prior := file.Prior()
			_ = file.Close()
			id := func(a resource.Address) string { return prior[a].ID }
			items, project := `["`+id("work_item/web/a")+`", "`+id("work_item/web/b")+`"]`, "projects/"+sandboxtest.ProjectWeb
			s.otherUser(t, http.MethodPost, project+"/cycles/"+id("cycle/web/one")+"/cycle-issues/", `{"issues": `+items+`}`)
			s.otherUser(t, http.MethodPost, project+"/modules/"+id("module/web/front")+"/module-issues/", `{"issues": `+items+`}`)
			want := []string{"work_item/web/a module true", "work_item/web/a cycle true", "work_item/web/b module false", "work_item/web/b cycle false"}
			if api == resource.V2 {
				s.otherUser(t, http.MethodPost, "/api/v2/workspaces/acme/"+project+"/milestones/"+id("milestone/web/beta")+"/work-items/", `{"add": `+items+`}`)
				want = append(want, "work_item/web/a milestone true", "work_item/web/b milestone false")
			}
			var got []string
			for _, d := range s.apply(t, applying{manifest: text}).plan.Drift {
				got = append(got, fmt.Sprint(d.Object.Address, " ", d.Change.Path, " ", d.Kept))
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if again := s.apply(t, applying{manifest: text}).plan; again.Summary.Kept != len(want)/2 || !again.Empty() {
				t.Errorf("again: %+v", again.Summary)
			}
		})
	}
}
