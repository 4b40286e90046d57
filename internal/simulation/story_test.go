package simulation

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/planform/planform/internal/resource"
)

// story is a workspace with a history: a manifest that was applied, what people did then, and the manifest that is applied next.
type story struct {
	api         resource.API
	shared      bool
	first, next string
	people      []string // bodies of what they create
}

func (s story) scene() *scene {
	return &scene{
		name: strings.TrimPrefix(fmt.Sprintf("%#v", s), "simulation.") + ".scene()", api: s.api, shared: s.shared, empty: true, files: map[string]string{"workspace.yaml": s.first},
		before: func(w *world) {
			w.until("apply -f @workspace.yaml", nil)
			for id, name := range w.server.Called() {
				if name == "project SHOP" {
					for _, body := range s.people {
						w.people("POST", "/projects/"+id+"/work-items/", body)
					}
				}
			}
			w.write("workspace.yaml", s.next)
		},
		commands: []string{"apply -f @workspace.yaml --prune --yes --max-deletes 50"},
	}
}

// drawStory draws one. What is left out of a manifest was never there or is to go.
func drawStory(t *rapid.T) story {
	s := story{api: rapid.SampledFrom([]resource.API{resource.V1, resource.V2}).Draw(t, "api"), shared: rapid.Bool().Draw(t, "shared")}
	s.first, s.next = drawManifest(t, "first"), drawManifest(t, "next")
	for i := range rapid.IntRange(0, 2).Draw(t, "people") {
		s.people = append(s.people, fmt.Sprintf(`{"name": "Of people %d"}`, i))
	}
	return s
}

func drawManifest(t *rapid.T, name string) string {
	var b strings.Builder
	b.WriteString("version: 1\nworkspace: acme\nprojects:\n  - key: shop\n    identifier: SHOP\n    name: Shop\n    cycle_view: true\n    module_view: true\n")
	var labels, items []string
	for _, key := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"bug", "new", "ops"}), rapid.ID[string]).Draw(t, name+" labels") {
		color := rapid.SampledFrom([]string{"#ef4444", "#15803d"}).Draw(t, "color")
		labels = append(labels, fmt.Sprintf("{name: %s, color: %q}", key, color))
		items = append(items, key)
	}
	fmt.Fprintf(&b, "    labels: [%s]\n    cycles: [{key: c, name: Weeks}]\n    modules: [{key: m, name: Checkout}]\n    work_items:\n", strings.Join(labels, ", "))
	known := items
	b.WriteString("      - {key: root, name: Root}\n")
	for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 4, rapid.ID[string]).Draw(t, name+" items") {
		fields := []string{"key: " + key, fmt.Sprintf("name: Item %s%s", key, rapid.SampledFrom([]string{"", ", larger"}).Draw(t, "name"))}
		fields[1] = strings.Replace(fields[1], "name: ", `name: "`, 1) + `"`
		if len(known) > 0 && rapid.Bool().Draw(t, "label") {
			fields = append(fields, "labels: ["+rapid.SampledFrom(known).Draw(t, "which")+"]")
		}
		for _, more := range []string{
			"priority: high", "parent: root", "cycle: c", "module: m", "state: Todo", "comments: [{key: c, text: Looks good.}]",
			`links: [{url: "https://example.com/` + key + `"}]`, "relations: {blocked_by: [root]}",
		} {
			if rapid.IntRange(0, 2).Draw(t, more) == 0 {
				fields = append(fields, more)
			}
		}
		fmt.Fprintf(&b, "      - {%s}\n", strings.Join(fields, ", "))
	}
	return b.String()
}

// endings is how many times a story is played with other faults: to draw and prepare one takes longer than to play it.
const endings = 4

// TestAfterAnyTwoFaultsInAnyStoryTheNextRunsReachTheSameEnd draws stories and faults; -rapid.checks says how many, and a failure
// says with which -rapid.seed it comes again.
func TestAfterAnyTwoFaultsInAnyStoryTheNextRunsReachTheSameEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		sc, problem := drawStory(rt).scene(), ""
		sc.tell = func(text string) { problem = text }
		st := prepare(t, sc)
		if problem != "" {
			rt.Fatal(problem)
		}
		possible := st.faults(st.visits)
		for range endings {
			faults := rapid.SliceOfNDistinct(rapid.SampledFrom(possible), 1, 2, func(f fault) edge { return f.at }).Draw(rt, "faults")
			if st.suffer(t, faults...); problem != "" {
				rt.Fatal(problem)
			}
		}
	})
}
