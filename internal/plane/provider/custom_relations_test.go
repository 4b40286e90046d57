package provider_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// custom returns the custom relations of work items on the service, sorted: a implements b.
func (sv *service) custom() string {
	names := map[any]any{}
	for _, row := range sv.Rows("work_item") {
		names[row["id"]] = row["name"]
	}
	for _, row := range sv.Rows("relation_definition") {
		names[row["id"]] = row["outward"]
	}
	said := []string{}
	for _, row := range sv.Rows("relation") {
		if word := names[row["relation_type"]]; word != nil {
			said = append(said, fmt.Sprintf("%v %v %v", names[row["issue"]], word, names[row["related_issue"]]))
		}
	}
	slices.Sort(said)
	return strings.Join(said, ", ")
}

// related returns a manifest with two definitions, and the relations of a and b.
func related(a, b string) string {
	return `{version: 1, relation_definitions: [{name: Code, outward: implements, inward: is implemented by}, {name: Test, outward: tests, inward: is tested by}],
		projects: [{key: web, identifier: WEB, work_items: [{key: a, name: a, relations: {custom: ` + a + `}}, {key: b, name: b, relations: {custom: ` + b + `}},
		{key: c, name: c}]}]}`
}

// TestCustomRelationsMatchTheManifest changes relations on a service that adds the relations of a request, and on one that takes
// them for the whole list.
func TestCustomRelationsMatchTheManifest(t *testing.T) {
	t.Parallel()
	steps := []struct {
		when, a, b  string
		writes      int // without the first one, which creates the items
		want        string
		prune, lost bool
		does        func(t *testing.T, s *service)
	}{
		{when: "made with both items", a: "[{item: b, relation: implements}, {item: c, relation: implements}]", b: "[]", want: "a implements b, a implements c"},
		{
			when: "said from the other side", a: "[{item: c, relation: implements}]", b: "[{item: a, relation: is implemented by}]",
			want: "a implements b, a implements c",
		},
		{
			when: "said from both, without the state", a: "[{item: c, relation: implements}, {item: b, relation: implements}]",
			b: "[{item: a, relation: is implemented by}]", want: "a implements b, a implements c", lost: true,
		},
		{
			when: "changed", a: "[{item: b, relation: is tested by}]", b: "[{item: a, relation: tests}]", writes: 2,
			want: "a implements c, b tests a",
		},
		{
			when: "somebody changed it", a: "[{item: b, relation: is tested by}]", b: "[]", writes: 2,
			want: "a implements c, b tests a", does: func(t *testing.T, s *service) {
				t.Helper()
				s.relates(t, "a", "b", "Test", "tests")
			},
		},
		{
			when: "somebody took it away", a: "[{item: b, relation: is tested by}]", b: "[]", writes: 1,
			want: "a implements c, b tests a", does: func(t *testing.T, s *service) {
				t.Helper()
				s.relates(t, "a", "b", "", "")
			},
		},
		{when: "no more in the manifest", a: "[{item: b, relation: is tested by}]", b: "[]", want: "a implements c, b tests a"},
		{when: "one more", a: "[{item: b, relation: is tested by}, {item: c, relation: implements}]", b: "[{item: c, relation: tests}]", writes: 1, want: "a implements c, b tests a, b tests c"},
		{when: "pruned", a: "[{item: c, relation: implements}]", b: "[]", writes: 2, want: "a implements c", prune: true},
	}
	for name, replaces := range map[string]bool{"added": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServiceOf(t, resource.V2, sandboxtest.Options{ReplaceRelations: replaces})
			for i, step := range steps {
				if step.does != nil {
					step.does(t, s)
				}
				if step.lost {
					s.dir = t.TempDir()
				}
				run := applying{manifest: related(step.a, step.b), prune: step.prune}
				done := s.apply(t, run)
				if len(done.failed())+len(done.reasons())+len(done.warnings()) > 0 || i > 0 && done.writes != step.writes || s.custom() != step.want {
					t.Errorf("%s: %v %v %v, %d writes, %s", step.when, done.failed(), done.reasons(), done.warnings(), done.writes, s.custom())
				}
				if again := s.apply(t, run); again.writes > 0 || !again.plan.Empty() {
					t.Errorf("%s, again: %d writes, %+v", step.when, again.writes, again.plan.Summary)
				}
			}
		})
	}
}

// relates changes the relation of one item to another, like another program; it does nothing without a definition.
func (sv *service) relates(t *testing.T, from, to, definition, word string) {
	t.Helper()
	ids := map[string]string{}
	project := ""
	for _, kind := range []string{"work_item", "relation_definition"} {
		for _, row := range sv.Rows(kind) {
			if ids[fmt.Sprint(row["name"])] = fmt.Sprint(row["id"]); row["name"] == from {
				project = fmt.Sprint(row["project"])
			}
		}
	}
	path := "/api/v2/workspaces/acme/projects/" + project + "/work-items/" + ids[from] + "/relations/"
	sv.otherUser(t, http.MethodDelete, path+ids[to]+"/", "")
	if definition != "" {
		sv.otherUser(t, http.MethodPost, path, fmt.Sprintf(`{"relation_definition_id":%q,"direction":%q,"work_item_ids":[%q]}`, ids[definition], word, ids[to]))
	}
}

func TestAnImpossibleCustomRelationIsReported(t *testing.T) {
	t.Parallel()
	without := func(_, path string) bool { return !strings.Contains(path, "relation-definitions") }
	for name, tt := range map[string]struct{ a, b, address, reason string }{
		"a second relation between two items is reported":               {"[{item: b, relation: implements}, {item: b, relation: tests}]", "[]", "a", "are already related as implements"},
		"two relations that contradict each other are reported":         {"[{item: b, relation: implements}]", "[{item: a, relation: implements}]", "b", "are already related as is implemented by"},
		"a relation that no definition names is reported":               {"[{item: b, relation: implement}]", "[]", "a", `no relation definition says "implement": did you mean "implements"?`},
		"a relation is reported if the service has no custom relations": {"[{item: b, relation: implements}]", "[]", "a", "it needs relation_definition/code: API v1 cannot create"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := sandboxtest.Options{}
			if strings.Contains(tt.reason, "needs") {
				o.HasOperation = without
			}
			s := newServiceOf(t, resource.V2, o)
			for range 2 {
				done := s.apply(t, applying{manifest: related(tt.a, tt.b)})
				address := resource.Address("work_item/web/" + tt.address + "#custom")
				reasons := done.reasons()
				if len(reasons) == 0 {
					t.Fatal("nothing is reported")
				}
				found := false
				for at, reason := range reasons {
					found = found || strings.HasPrefix(string(at), string(address)) && strings.Contains(reason, tt.reason)
				}
				if !found || len(done.failed()) > 0 {
					t.Error(reasons, done.failed())
				}
			}
		})
	}
}

// TestCustomRelationsFollowTheWordsOfTheirDefinition: a definition with changed words stays the same definition.
func TestCustomRelationsFollowTheWordsOfTheirDefinition(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{})
	const one = "[{item: b, relation: implements}]"
	s.apply(t, applying{manifest: related(one, "[]")})
	renamed := strings.NewReplacer("is implemented by", "is realised by", "implements", "realises").Replace(related("[{item: b, relation: implements}, {item: c, relation: implements}]", "[]"))
	if done := s.apply(t, applying{manifest: renamed}); done.writes != 2 || len(done.failed()) > 0 || s.custom() != "a realises b, a realises c" {
		t.Error(done.writes, done.failed(), s.custom())
	}
	s.unchangedBy(t, renamed)
	// A definition of the service need not be in the manifest.
	s.otherUser(t, http.MethodPost, "/api/v2/workspaces/acme/work-item-relation-definitions/", `{"name":"Pair","outward":"goes with","inward":"goes with"}`)
	pair := strings.Replace(renamed, "{item: c, relation: realises}", "{item: c, relation: goes with}", 1)
	if done := s.apply(t, applying{manifest: pair}); done.writes != 2 || s.custom() != "a goes with c, a realises b" {
		t.Error(done.writes, done.failed(), done.reasons(), s.custom())
	}
	s.unchangedBy(t, pair)
}

// TestAnotherWordIsSentThoughNothingIsReadAgain, because the state knows the former one.
func TestAnotherWordIsSentThoughNothingIsReadAgain(t *testing.T) {
	t.Parallel()
	s := newServiceOf(t, resource.V2, sandboxtest.Options{})
	s.apply(t, applying{manifest: related("[{item: b, relation: implements}]", "[]")})
	for _, writes := range []int{2, 0} {
		done := s.apply(t, applying{manifest: related("[{item: b, relation: is tested by}]", "[]"), trust: true})
		if done.writes != writes || len(done.failed()) > 0 || s.custom() != "b tests a" {
			t.Error(done.writes, done.failed(), s.custom())
		}
	}
}
