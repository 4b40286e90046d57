package provider_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// TestEveryKindIsPrunedAsFarAsTheServiceCanDeleteIt prunes an object of each kind that a manifest lists, as far as
// the service can delete it, and the members that its memberships added.
func TestEveryKindIsPrunedAsFarAsTheServiceCanDeleteIt(t *testing.T) {
	t.Parallel()
	for _, k := range resource.Kinds() {
		if k.Section == "" {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			api, edition := resource.V1, sandbox.Full
			if _, ok := k.Op(resource.List, api); !ok {
				api, edition = resource.V2, sandbox.Cloud
			}
			s := newServiceOf(t, api, sandboxtest.Options{Edition: edition, Governed: k.Governance.AtWorkspace})
			l := &life{t, s, k}
			base := l.base()
			with := l.text(base)
			l.done("creating", s.apply(t, applying{manifest: with}))
			there := len(l.rows())

			bare := l.plain(k, "one")
			for i := range k.Fields {
				if f := &k.Fields[i]; (f.Person != nil || f.CreateOnly()) && base[f.Name] != nil { // part of the text
					bare[f.Name] = base[f.Name]
				}
			}
			left := s.apply(t, applying{manifest: l.text(bare), prune: true})
			l.done("taking members out", left)
			for _, step := range left.plan.Steps {
				if step.Action != planner.RemoveMembers {
					t.Errorf("%s %s: %s", step.Action, step.Address, step.Reason())
				}
			}
			l.empty("members", l.text(bare))

			gone := s.apply(t, applying{manifest: without(t, with), prune: true})
			l.done("deleting", gone)
			if _, offered := k.Op(resource.Delete, api); !offered {
				if reasons := gone.reasons(); len(reasons) != 1 && !k.Singleton || gone.writes > 0 {
					t.Error(reasons, gone.writes)
				}
				return
			}
			if n := len(l.rows()); gone.plan.Summary.Delete != 1 || n != there-1 {
				t.Errorf("%d of %d are there: %+v %v", n, there, gone.plan.Summary, gone.reasons())
			}
			l.empty("the object", without(t, with))
		})
	}
}

// empty checks that a plan with pruning has nothing to do.
func (l *life) empty(what, manifest string) {
	l.Helper()
	if a := l.s.apply(l.T, applying{manifest: manifest, prune: true}); !a.plan.Empty() || a.writes > 0 {
		for _, step := range a.plan.Steps {
			l.Logf("%s %s", step.Action, step.Address)
		}
		l.Errorf("after %s went: %d writes, %+v, %v", what, a.writes, a.plan.Summary, a.plan.StateChanges)
	}
}

// without returns a manifest without the object under test.
func without(t *testing.T, text string) string {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	var strip func(v any) any
	strip = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for name := range v {
				v[name] = strip(v[name])
			}
		case []any:
			v = slices.DeleteFunc(v, func(e any) bool {
				o, ok := e.(map[string]any)
				return ok && o["key"] == "one"
			})
			for i := range v {
				v[i] = strip(v[i])
			}
			return v
		}
		return v
	}
	stripped, err := json.Marshal(strip(doc))
	if err != nil {
		t.Fatal(err)
	}
	return string(stripped)
}

// TestADeleteIsHarmlessToRepeat cuts answers off, and deletes the object as another user before.
func TestADeleteIsHarmlessToRepeat(t *testing.T) {
	t.Parallel()
	const with = `{version: 1, projects: [{identifier: WEB, cycles: [{key: s, name: Sprint 14}], work_items: [{name: A}, {name: B, cycle: s}, {name: C, links: ["https://example.com/c"]}]}]}`
	const bare = `{version: 1, projects: [{identifier: WEB, cycles: [{key: s, name: Sprint 14}], work_items: [{name: A}, {name: B}]}]}`
	for name, fault := range map[string]sandboxtest.Fault{
		"a delete whose request is lost is repeated":                 {Before: sandboxtest.Break{Cut: true}},
		"a delete whose answer is lost is repeated":                  {After: sandboxtest.Break{Cut: true}},
		"a delete that somebody else made first succeeds":            {After: sandboxtest.Break{Status: http.StatusNotFound, Body: `{"error": "The requested resource does not exist."}`}},
		"a delete is repeated if the service is away for the moment": {Before: sandboxtest.Break{Status: http.StatusBadGateway}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V1)
			s.apply(t, applying{manifest: with})
			first := map[string]bool{}
			a := s.apply(t, applying{manifest: bare, prune: true, retries: 3, workers: 1, fault: func(r *http.Request, _ run) sandboxtest.Fault {
				if r.Method != http.MethodDelete || first[r.URL.Path] {
					return sandboxtest.Fault{}
				}
				first[r.URL.Path] = true
				return fault
			}})
			if failed := a.failed(); len(failed) > 0 || len(first) != 2 {
				t.Error(strings.Join(failed, "\n"), first)
			}
			if a.plan.Summary.Delete != 2 || a.plan.Summary.RemoveMembers != 1 {
				t.Errorf("%+v", a.plan.Summary)
			}
			(&life{T: t, s: s}).empty("all of it", bare)
		})
	}
}

// TestContentOfADeletedParentDoesNotStopAPlan, although the service refuses to list it.
func TestContentOfADeletedParentDoesNotStopAPlan(t *testing.T) {
	t.Parallel()
	for name, protect := range map[string]string{"a project that planform did not make is forgotten": "", "a project that was protected is forgotten": ", protect: true"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V1)
			s.apply(t, applying{manifest: `{version: 1, projects: [{key: web, identifier: WEB, description: New, members: [bob@example.com], work_items: [{name: A, links: ["https://example.com/c"]}]` + protect + `}]}`})
			s.otherUser(t, http.MethodDelete, "projects/"+sandboxtest.ProjectWeb+"/", "")
			s.apply(t, applying{manifest: `{version: 1}`, prune: true})
			if known, _ := s.remembered(t); len(known) > 0 {
				t.Error(known)
			}
			(&life{T: t, s: s}).empty("all", `{version: 1}`)
		})
	}
}

// TestObjectsCreatedByALostRunArePrunedToo removes objects from the manifest that may have been created.
func TestObjectsCreatedByALostRunArePrunedToo(t *testing.T) {
	t.Parallel()
	s := newService(t, resource.V1)
	const bare = `{version: 1, projects: [{key: web, identifier: WEB}]}`
	lost := false
	s.apply(t, applying{manifest: `{version: 1, projects: [{key: web, identifier: WEB, work_items: [{name: A}]}]}`, killed: true, fault: func(r *http.Request, now run) sandboxtest.Fault {
		if r.Method != http.MethodPost {
			return sandboxtest.Fault{}
		}
		lost = true
		now.kill()
		return sandboxtest.Fault{After: sandboxtest.Break{Cut: true}}
	}})
	a := s.apply(t, applying{manifest: bare, prune: true})
	if known, _ := s.remembered(t); !lost || len(a.failed()) > 0 || a.plan.Summary.Delete != 1 || s.named("work_item", "A") > 0 || len(known) > 0 {
		t.Error(lost, a.failed(), a.plan.Summary, known)
	}
	(&life{T: t, s: s}).empty("it", bare)
}

// TestAnObjectThatOthersUseIsNotDeleted prunes a cycle, module, label and state that planform made and that the item of another user uses.
func TestAnObjectThatOthersUseIsNotDeleted(t *testing.T) {
	t.Parallel()
	const with = `{version: 1, projects: [{key: web, identifier: WEB, cycles: [{name: Cyc}], modules: [{name: Mod}], labels: [{name: l1}], states: [{name: S, color: "#ff0000"}]}]}`
	const bare = `{version: 1, projects: [{key: web, identifier: WEB}]}`
	s := newService(t, resource.V1)
	s.apply(t, applying{manifest: with})
	id := func(kind, name string) string {
		for _, row := range s.Rows(kind) {
			if row["name"] == name {
				return row["id"].(string) //nolint:forcetypeassert // it is a text
			}
		}
		return ""
	}
	const web = "projects/" + sandboxtest.ProjectWeb + "/"
	item := s.Rows("work_item")[0]["id"].(string) //nolint:forcetypeassert // it is a text
	s.otherUser(t, http.MethodPost, web+"cycles/"+id("cycle", "Cyc")+"/cycle-issues/", `{"issues": ["`+item+`"]}`)
	s.otherUser(t, http.MethodPost, web+"modules/"+id("module", "Mod")+"/module-issues/", `{"issues": ["`+item+`"]}`)
	s.otherUser(t, http.MethodPatch, web+"work-items/"+item+"/", `{"labels": ["`+id("label", "l1")+`"], "state": "`+id("state", "S")+`"}`)
	a := s.apply(t, applying{manifest: bare, prune: true})
	if reasons := a.reasons(); len(reasons) != 4 || a.writes > 0 || a.plan.Summary.Delete > 0 {
		t.Error(a.writes, a.plan.Summary, reasons)
	}
}

// TestAnObjectThatOthersUseSinceThePlanIsNotDeleted adds the item of another user to a cycle between the plan and the delete.
func TestAnObjectThatOthersUseSinceThePlanIsNotDeleted(t *testing.T) {
	t.Parallel()
	const with = `{version: 1, projects: [{key: web, identifier: WEB, cycles: [{name: Cyc}]}]}`
	const bare = `{version: 1, projects: [{key: web, identifier: WEB}]}`
	s := newService(t, resource.V1)
	s.apply(t, applying{manifest: with})
	item := s.Rows("work_item")[0]["id"].(string) //nolint:forcetypeassert // it is a text
	put := false
	a := s.apply(t, applying{manifest: bare, prune: true, fault: func(r *http.Request, _ run) sandboxtest.Fault {
		if strings.HasSuffix(r.URL.Path, "/cycle-issues/") && !put {
			put = true
			s.otherUser(t, http.MethodPost, strings.TrimPrefix(r.URL.Path, "/api/v1/workspaces/"+sandbox.Workspace+"/"), `{"issues": ["`+item+`"]}`)
		}
		return sandboxtest.Fault{}
	}})
	if failed := a.failed(); len(failed) != 1 || !strings.Contains(failed[0], "was not deleted: it now contains 1 work item") || len(s.Rows("cycle")) == 0 {
		t.Error(failed)
	}
}

// TestAChangeByOthersSinceTheLastApplyKeepsAnObject unless its deletion is requested. The plan says what is lost.
func TestAChangeByOthersSinceTheLastApplyKeepsAnObject(t *testing.T) {
	t.Parallel()
	const with = `{version: 1, projects: [{key: web, identifier: WEB, cycles: [{key: cyc, name: Cyc}], modules: [{key: mod, name: Mod}], labels: [{key: lab, name: Lab, color: "#ff0000"}],
		states: [{key: sta, name: Sta, color: "#ff0000"}], work_items: [{key: a, name: Alpha, priority: low, links: [{url: "https://example.com/a", title: One}]}, {key: b, name: Beta, state: Sta, labels: [Lab]}]}]}`
	const all = `{version: 1, projects: [{key: web, identifier: WEB}]}`
	const web = "projects/" + sandboxtest.ProjectWeb + "/"
	for name, tt := range map[string]struct {
		did  func(t *testing.T, s *service, id func(kind, name string) string)
		kept map[resource.Address]string
		lost map[resource.Address][]planner.Content // lost contents if they are deleted nevertheless
		fail string                                 // the part that the service refuses
	}{
		"an item that others renamed and rewrote is kept": {
			did: func(t *testing.T, s *service, id func(kind, name string) string) {
				t.Helper()
				s.as(t, sandboxtest.KeyBob, http.MethodPatch, web+"work-items/"+id("work_item", "Alpha")+"/", `{"name": "Bob needs this", "description_html": "<p>Three pages</p>", "priority": "urgent"}`)
			},
			kept: map[resource.Address]string{"work_item/web/a": "somebody changed its name, description, priority since the last apply (last change by bob, 20"},
		},
		"an item with a field that others wrote and no manifest has is kept": {
			did: func(t *testing.T, s *service, id func(kind, name string) string) {
				t.Helper()
				s.otherUser(t, http.MethodPatch, web+"work-items/"+id("work_item", "Alpha")+"/", `{"description_html": "<p>Three pages</p>"}`)
			},
			kept: map[resource.Address]string{"work_item/web/a": "somebody changed its description since the last apply"},
		},
		"an item with a link that others changed is kept": {
			did: func(t *testing.T, s *service, id func(kind, name string) string) {
				t.Helper()
				s.as(t, sandboxtest.KeyBob, http.MethodPatch, web+"work-items/"+id("work_item", "Alpha")+"/links/"+id("link", "One")+"/", `{"title": "Two"}`)
			},
			kept: map[resource.Address]string{
				"work_item/web/a": "link/web/a/https://example.com/a in it stays", "link/web/a/https://example.com/a": "somebody changed its title since the last apply",
			},
			lost: map[resource.Address][]planner.Content{"work_item/web/a": {{Noun: "link", Where: planner.Inside, Count: 1}}},
		},
		"a cycle is kept if others changed a field that no manifest ever had": {
			did: func(t *testing.T, s *service, id func(kind, name string) string) {
				t.Helper()
				s.as(t, sandboxtest.KeyBob, http.MethodPatch, web+"cycles/"+id("cycle", "Cyc")+"/", `{"sort_order": 1}`)
			},
			kept: map[resource.Address]string{"cycle/web/cyc": "bob changed it since the last apply (20"},
		},
		"an item with a relation that others made is kept": {
			did: func(t *testing.T, s *service, id func(kind, name string) string) {
				t.Helper()
				s.as(t, sandboxtest.KeyBob, http.MethodPost, web+"work-items/"+sandboxtest.WorkItemWeb1+"/relations/", `{"relation_type": "blocked_by", "issues": ["`+id("work_item", "Alpha")+`"]}`)
			},
			kept: map[resource.Address]string{"work_item/web/a": "planform did not make its relation blocking WEB-1"},
			lost: map[resource.Address][]planner.Content{"work_item/web/a": {{Noun: "link", Where: planner.Inside, Count: 1}, {Noun: "relation", Where: planner.Inside, Count: 1}}},
		},
		"an object is kept if an archived item of others may use it": {
			did: func(t *testing.T, s *service, id func(kind, name string) string) {
				t.Helper()
				item := s.as(t, sandboxtest.KeyBob, http.MethodPost, web+"work-items/", `{"name": "Theirs", "state": "`+id("state", "Sta")+`"}`)
				s.as(t, sandboxtest.KeyBob, http.MethodPatch, web+"work-items/"+item["id"].(string)+"/", `{"archived_at": "2026-11-20"}`) //nolint:forcetypeassert // it is a text
			},
			kept: map[resource.Address]string{
				"cycle/web/cyc": "1 work item that no list shows (archived, or a draft) may use it", "module/web/mod": "may use it", "label/web/lab": "may use it", "state/web/sta": "may use it",
			},
			lost: map[resource.Address][]planner.Content{"label/web/lab": {{Noun: "work item", Where: planner.Unlisted, Count: 1}}},
			fail: "only empty states can be deleted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var later atomic.Bool
			s := newServiceOf(t, resource.V1, sandboxtest.Options{Now: func() time.Time {
				if later.Load() {
					return time.Now().Add(time.Hour)
				}
				return time.Now()
			}})
			s.apply(t, applying{manifest: with})
			later.Store(true)
			tt.did(t, s, func(kind, name string) string {
				for _, row := range s.Rows(kind) {
					if row["name"] == name || row["title"] == name {
						return row["id"].(string) //nolint:forcetypeassert // it is a text
					}
				}
				t.Fatal("no", kind, name)
				return ""
			})
			a := s.apply(t, applying{manifest: all, prune: true})
			reasons := a.reasons()
			for address, why := range tt.kept {
				if !strings.HasPrefix(reasons[address], "it would be deleted, but ") || !strings.Contains(reasons[address], why) {
					t.Errorf("%s: %s, not %s", address, reasons[address], why)
				}
			}
			if failed := a.failed(); len(failed) > 0 || len(reasons) != len(tt.kept) {
				t.Error(failed, reasons)
			}
			a = s.apply(t, applying{manifest: all, prune: true, changed: true})
			if len(a.reasons()) > 0 || a.plan.Summary.Delete < len(tt.kept) {
				t.Error(a.reasons(), a.plan.Summary)
			}
			if failed := strings.Join(a.failed(), "\n"); (tt.fail == "") != (failed == "") || !strings.Contains(failed, tt.fail) {
				t.Error(failed)
			}
			for _, r := range a.Steps {
				if hint := diag.HintOf(r.Err); r.Err != nil && !strings.Contains(hint, "1 work item may use it that no list shows (archived or a draft)") {
					t.Error(hint)
				}
			}
			for _, step := range a.plan.Steps {
				if want, told := tt.lost[step.Address]; told && !slices.Equal(step.Deletion.Loss.Contents, want) {
					t.Errorf("%s: %+v", step.Address, step.Deletion.Loss)
				}
			}
		})
	}
}

// TestAnObjectThatTheServiceStillShowsAfterItsDeletionIsNotForgotten answers deletions with success and carries none out.
func TestAnObjectThatTheServiceStillShowsAfterItsDeletionIsNotForgotten(t *testing.T) {
	t.Parallel()
	for _, api := range []resource.API{resource.V1, resource.V2} {
		t.Run(api.String(), func(t *testing.T) {
			t.Parallel()
			s := newService(t, api)
			const all = "version: 1\nprojects: [{key: rb, identifier: RB, name: Robots, labels: [{name: l}], cycles: [{name: c}], work_items: [{key: a, name: A}, {key: b, name: B}]}]\n"
			const less = "version: 1\nprojects: [{key: rb, identifier: RB, name: Robots, work_items: [{key: a, name: A}]}]\n"
			s.apply(t, applying{manifest: all})
			a := s.apply(t, applying{manifest: less, prune: true, fault: func(req *http.Request, _ run) sandboxtest.Fault {
				if req.Method == http.MethodDelete {
					return sandboxtest.Fault{Before: sandboxtest.Break{Status: http.StatusNoContent}}
				}
				return sandboxtest.Fault{}
			}})
			failed := a.failed()
			if len(failed) != 3 || !strings.Contains(strings.Join(failed, "\n"), "the service answered that it deleted label/rb/l, and still shows it") {
				t.Error(failed)
			}
			if again := s.apply(t, applying{manifest: less, prune: true}); again.plan.Summary.Delete != 3 || len(again.failed()) > 0 {
				t.Error(again.plan.Summary, again.failed())
			}
			if last := s.apply(t, applying{manifest: less, prune: true}); !last.plan.Empty() {
				t.Error(last.plan.Summary)
			}
		})
	}
}
