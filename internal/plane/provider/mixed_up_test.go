package provider_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// mixedUp is a manifest with several objects of each kind, whose IDs can be mixed up.
const mixedUp = header + `      - {key: old, id: ` + sandboxtest.WorkItemWeb1 + `}
      - {key: a, name: Item A, links: [{url: "https://example.com/a"}]}
      - {key: b, name: Item B, links: [{url: "https://example.com/b"}]}
      - {key: c, name: Item C}
    labels: [{name: L}]
`

// TestAnIDThatIsInvalidOrOfAnotherObjectIsNotTaken: the object exists, and is found by its mark or its natural key. Answers are
// wrong to every create of a kind, or to the last one.
func TestAnIDThatIsInvalidOrOfAnotherObjectIsNotTaken(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]any{
		"a path": "../../x", "a number": 7, "nothing": "", "null": nil,
		"that of an object of the manifest": sandboxtest.WorkItemWeb1,
	} {
		for _, api := range []resource.API{resource.V1, resource.V2} {
			for _, what := range []string{"/work-items/", "/links/", "/labels/"} {
				if name == "that of an object of the manifest" && what != "/work-items/" {
					continue // objects of different kinds may share an ID
				}
				t.Run(fmt.Sprint(api, what, name), func(t *testing.T) {
					t.Parallel()
					s := newService(t, api)
					s.replying = func(req *http.Request, row map[string]any) {
						single, bulk := strings.HasSuffix(req.URL.Path, what), strings.HasSuffix(req.URL.Path, what+"bulk-create/")
						if _, shown := row["id"]; shown && req.Method == http.MethodPost && (single || bulk) {
							row["id"] = id
						}
					}
					first := s.apply(t, applying{manifest: mixedUp})
					s.replying = nil
					if _, text := id.(string); !text && first.Stopped != nil && api == resource.V2 {
						first = s.apply(t, applying{manifest: mixedUp}) // the run ends at an undocumented answer
					}
					s.wholeAndKnown(t, first)
				})
			}
		}
	}
}

// TestAnInvalidIDInTheStateIsTreatedLikeAWrongOne: a damaged letter costs a lookup, and nothing is created twice.
func TestAnInvalidIDInTheStateIsTreatedLikeAWrongOne(t *testing.T) {
	t.Parallel()
	for letter, name := range map[string]string{"z": "no hexadecimal digit", "0": "another digit"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V1)
			s.apply(t, applying{manifest: mixedUp})
			file := s.open(t)
			for address, r := range file.Prior() {
				if address.Kind() == "work_item" || address.Kind() == "label" {
					r.ID = letter + r.ID[1:]
					file.Put(r)
				}
			}
			if err := errors.Join(file.Save(), file.Close()); err != nil {
				t.Fatal(err)
			}
			before := s.Picture()
			if r := s.apply(t, applying{manifest: mixedUp}); r.writes > 0 || len(r.failed()) > 0 || r.plan.Summary.Create > 0 {
				t.Errorf("%d writes, %q, %+v", r.writes, r.failed(), r.plan.Summary)
			}
			if diff := cmp.Diff(before, s.Picture()); diff != "" {
				t.Error(diff)
			}
			if r := s.apply(t, applying{manifest: mixedUp}); !r.plan.Empty() {
				t.Errorf("again: %+v", r.plan.Summary)
			}
		})
	}
}

// TestAnIDThatSeveralAnswersShareIsCorrectedByTheNextPlan: the first answer looks right until the second has the same ID.
func TestAnIDThatSeveralAnswersShareIsCorrectedByTheNextPlan(t *testing.T) {
	t.Parallel()
	for _, api := range []resource.API{resource.V1, resource.V2} {
		t.Run(api.String(), func(t *testing.T) {
			t.Parallel()
			s := newService(t, api)
			s.replying = func(req *http.Request, row map[string]any) {
				if _, shown := row["id"]; shown && req.Method == http.MethodPost && (strings.HasSuffix(req.URL.Path, "/work-items/") || strings.HasSuffix(req.URL.Path, "/bulk-create/")) {
					row["id"] = "AAAAAAAA-1111-4111-8111-111111111111"
				}
			}
			text := header + "      - {key: a, name: Item A}\n      - {key: b, name: Item B}\n      - {key: c, name: Item C}\n"
			first := s.apply(t, applying{manifest: text, workers: 1})
			s.replying = nil
			if failed := first.failed(); len(failed) > 0 {
				t.Error(failed)
			}
			if next := s.apply(t, applying{manifest: text}); next.writes != 0 || len(next.failed()) > 0 {
				t.Errorf("the next run made %d writes: %q %+v", next.writes, next.failed(), next.plan.StateChanges)
			}
			known, _ := s.remembered(t)
			for _, item := range []string{"a", "b", "c"} {
				name := "Item " + strings.ToUpper(item)
				address := resource.Address("work_item/web/" + item)
				if n := s.named("work_item", name); n != 1 || known[address] != "work_item "+name+" [] protect=false open=false" {
					t.Errorf("%s is there %d times, and the state has %s", address, n, known[address])
				}
			}
			if end := s.apply(t, applying{manifest: text}); end.writes != 0 || !end.plan.Empty() {
				t.Errorf("the run after it made %d writes: %q %+v", end.writes, end.failed(), end.plan.StateChanges)
			}
		})
	}
}

// TestAnAnswerAboutAnotherObjectIsNotUsed, such as the answer to an earlier request from a cache or a proxy.
func TestAnAnswerAboutAnotherObjectIsNotUsed(t *testing.T) {
	t.Parallel()
	for name, method := range map[string]string{"a create": http.MethodPost, "a change": http.MethodPatch} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V1)
			if method == http.MethodPatch {
				s.apply(t, applying{manifest: strings.ReplaceAll(mixedUp, "name: Item", "name: Former")})
			}
			var mu sync.Mutex
			var before map[string]any
			s.replying = func(req *http.Request, row map[string]any) {
				mu.Lock()
				defer mu.Unlock()
				if _, item := row["sequence_id"]; !item || req.Method != method {
					return
				}
				if before == nil {
					before = row
					return
				}
				maps.Copy(row, before)
				before = nil // the next answer is right
			}
			first := s.apply(t, applying{manifest: mixedUp, workers: 1, retries: 2})
			s.replying = nil
			s.wholeAndKnown(t, first)
		})
	}
}

// TestAnAnswerWithTheIDOfALaterObjectChangesOnlyTheNewOne: a proxy answers the create of a with the ID of b. The run
// sends nothing else about a, neither its parts nor its later text, and finds it at the end.
func TestAnAnswerWithTheIDOfALaterObjectChangesOnlyTheNewOne(t *testing.T) {
	t.Parallel()
	const items = "projects/" + sandboxtest.ProjectWeb + "/work-items/"
	text := func(a string) string {
		return header + "      - {key: a, name: Item A" + a + "}\n      - {key: b, name: Item B, description: text of B}\n"
	}
	for name, a := range map[string]string{
		"archived":         `, state: Done, archived: true`,
		"with a late link": `, description: "see [b](work_item/web/b)"`,
		"with parts":       `, links: [{url: "https://example.com/a"}], comments: [{key: c, text: Done}]`,
		"with a sub-item":  `, work_items: [{key: c, name: Item C}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, resource.V1)
			var id atomic.Value // of b
			s.replying = func(req *http.Request, row map[string]any) {
				if req.Method != http.MethodPost || id.Load() != nil || row["name"] != "Item A" {
					return
				}
				b := s.otherUser(t, http.MethodPost, items, `{"name": "Item B", "description_html": "<p>text of B</p>", "external_source": "planform", "external_id": "acme/work_item/web/b"}`)
				id.Store(b["id"])
				row["id"] = b["id"]
			}
			s.always = func(req *http.Request) sandboxtest.Fault {
				if of, made := id.Load().(string); made && req.Method != http.MethodGet && strings.Contains(req.URL.Path, of) {
					t.Errorf("%s %s is about the wrong object", req.Method, req.URL.Path)
				}
				return sandboxtest.Fault{}
			}
			first := s.apply(t, applying{manifest: text(a), workers: 1})
			s.replying, s.always = nil, nil
			if warned := fmt.Sprint(first.warnings()); !strings.Contains(warned, "of another object: it is ") {
				t.Error(warned)
			}
			if next := s.apply(t, applying{manifest: text(a)}); len(next.failed()) > 0 {
				t.Errorf("%q", next.failed())
			}
			if end := s.apply(t, applying{manifest: text(a)}); end.writes != 0 || !end.plan.Empty() || name != "archived" && s.named("work_item", "Item A") != 1 || s.named("work_item", "Item B") != 1 {
				t.Errorf("%d writes, %d of A, %d of B", end.writes, s.named("work_item", "Item A"), s.named("work_item", "Item B"))
			}
		})
	}
}

// TestAnObjectThatTakesTheNameOfANewOneIsNotTakenOver: people rename a managed object between plan and run, so that the service refuses the create.
func TestAnObjectThatTakesTheNameOfANewOneIsNotTakenOver(t *testing.T) {
	t.Parallel()
	for _, api := range []resource.API{resource.V1, resource.V2} {
		for list, kind := range map[string]string{"labels": "label", "states": "state"} {
			t.Run(list+", "+api.String(), func(t *testing.T) {
				t.Parallel()
				s := newService(t, api)
				group := map[string]string{"state": ", group: started"}[kind]
				text := "{version: 1, projects: [{key: web, id: " + sandboxtest.ProjectWeb + ", identifier: WEB, " + list + `: [{key: warm, name: Warm, color: "#333333"` + group + "}"
				s.apply(t, applying{manifest: text + "]}]}"})
				warm := func() map[string]any {
					for _, row := range s.Rows(kind) {
						if strings.HasSuffix(fmt.Sprint(row["external_id"]), "/warm") {
							return row
						}
					}
					return nil
				}
				both := text + `, {key: cold, name: Cold, color: "#444444"` + group + "}]}]}"
				a := s.apply(t, applying{manifest: both, file: func() {
					s.otherUser(t, http.MethodPatch, fmt.Sprintf("projects/%s/%s/%v/", sandboxtest.ProjectWeb, list, warm()["id"]), `{"name": "Cold"}`)
				}})
				if row := warm(); row["color"] != "#333333" || len(a.failed()) != 1 {
					t.Errorf("%v, %q", row["color"], a.failed())
				}
				s.apply(t, applying{manifest: both})
				if end := s.apply(t, applying{manifest: both}); !end.plan.Empty() || s.named(kind, "Warm") != 1 || s.named(kind, "Cold") != 1 {
					t.Errorf("%+v, %d warm, %d cold", end.plan.Summary, s.named(kind, "Warm"), s.named(kind, "Cold"))
				}
			})
		}
	}
}

// wholeAndKnown fails unless each object of mixedUp exists once, and the state has each under its own ID.
func (sv *service) wholeAndKnown(t *testing.T, first applied) {
	t.Helper()
	if failed := first.failed(); len(failed) > 0 {
		t.Errorf("not all was done: %q", failed)
	}
	known, made := sv.remembered(t)
	for _, item := range []string{"a", "b", "c"} {
		name := "Item " + strings.ToUpper(item)
		address := resource.Address("work_item/web/" + item)
		if n := sv.named("work_item", name); n != 1 || !strings.HasPrefix(known[address], "work_item "+name) || !made[address] {
			t.Errorf("%s is there %d times, and the state has %q, made %t", name, n, known[address], made[address])
		}
	}
	if sv.named("label", "L") != 1 || len(sv.Rows("link")) != 3 { // one is seeded
		t.Errorf("%d labels, %d links", sv.named("label", "L"), len(sv.Rows("link")))
	}
	if end := sv.apply(t, applying{manifest: mixedUp}); end.writes != 0 || !end.plan.Empty() {
		t.Errorf("the next run made %d writes: %q %+v", end.writes, end.failed(), end.plan.StateChanges)
	}
}
