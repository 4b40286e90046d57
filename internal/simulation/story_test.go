package simulation

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/planform/planform/internal/plane/resource"
)

// story is a workspace with a history: the manifest that was applied, the changes of people after that, and the manifest
// that is applied next.
type story struct {
	api         resource.API
	shared      bool
	first, next string
	last        string        // that is applied after next was once, whether or not that was done; "" = nothing
	other       string        // the manifest of another owner for the same project; "" = there is none
	beside      string        // who runs planform at the same time; "" = nobody
	after       time.Duration // that the scene's run began
	otherNext   string        // what the other owner applies then
	crossing    bool          // next is applied by API v1, and last by v2
	undone      bool          // what next did is taken back
	pace        uint
}

// who may run planform at the same time.
const (
	colleague = "a colleague in the same folder"
	pipeline  = "a pipeline on another machine"
	otherOne  = "the other owner"
)

func (sr story) scene() *scene {
	apply := "apply -f @workspace.yaml --prune --yes --max-deletes 50"
	if sr.beside != "" {
		apply += " --lock-timeout 2h"
	}
	sc := &scene{
		name: strings.TrimPrefix(fmt.Sprintf("%#v", sr), "simulation.") + ".scene()", api: sr.api, shared: sr.shared, empty: true, others: sr.other != "",
		files: map[string]string{"workspace.yaml": sr.first},
		before: func(w *world) {
			w.us.until("apply -f @workspace.yaml", nil)
			for id, name := range w.server.Called() {
				if name == "project SHOP" {
					for i := range 2 {
						w.people("POST", "/projects/"+id+"/work-items/", fmt.Sprintf(`{"name": "Of people %d"}`, i))
					}
				}
			}
			if sr.other != "" && w.others.command("apply -f @other.yaml") != 0 {
				w.Errorf("the other owner cannot apply")
			}
			if w.write("workspace.yaml", sr.next); sr.otherNext != "" {
				w.write("other.yaml", sr.otherNext)
			}
		},
		commands: []string{apply}, pace: sr.pace,
	}
	switch {
	case sr.crossing:
		sc.commands, sc.then = []string{apply + " --api v1", apply}, sr.last
	case sr.last != "":
		sc.commands, sc.then = []string{apply, apply}, sr.last
	case sr.undone:
		sc.commands, sc.again = []string{apply, "undo -f @workspace.yaml --yes last"}, undone
		if !dangles(sr.first, sr.next) {
			sc.files["former.yaml"] = sr.first
		}
	}
	switch sr.beside {
	case colleague, pipeline:
		sc.beside = &beside{commands: sc.commands, after: sr.after, elsewhere: sr.beside == pipeline}
	case otherOne:
		sc.beside = &beside{commands: []string{"apply -f @other.yaml"}, after: sr.after, state: "@other.json"}
	}
	if sr.other != "" {
		sc.files["other.yaml"] = sr.other
	}
	return sc
}

// drawStory draws a story. An object that a manifest leaves out never existed or must be deleted.
func drawStory(t *rapid.T) story {
	s := story{api: rapid.SampledFrom([]resource.API{resource.V1, resource.V2}).Draw(t, "api"), shared: rapid.Bool().Draw(t, "shared")}
	owner, labels, others := "", []string(nil), []string{"", colleague}
	edited := rapid.IntRange(0, 3).Draw(t, "edited") == 0
	if s.undone = !edited && rapid.IntRange(0, 3).Draw(t, "undone") == 0; s.undone {
		others = others[:1]
	} else if rapid.Bool().Draw(t, "others") {
		owner, others = "owner: ours\n", append(others, otherOne)
	}
	if s.shared && !s.undone {
		others = append(others, pipeline)
	}
	s.first, labels = drawManifest(t, "first", owner, false, !s.undone)
	s.next, _ = drawManifest(t, "next", owner, edited, !s.undone && !edited)
	if s.undone = s.undone && !reverses(s.first, s.next); s.undone { // which takes two runs: the last is the second only
		s.next = strings.Replace(s.next, "name: Shop\n", "name: The shop\n", 1) // else the last may be that before, if nothing changes
	}
	label := ""
	if owner != "" {
		if !edited && len(labels) > 0 && rapid.Bool().Draw(t, "label") { // which would stay as some run left it
			label = ", labels: [" + rapid.SampledFrom(labels).Draw(t, "which") + "]"
		}
		s.other = drawOthers(t, label)
	}
	if s.beside = rapid.SampledFrom(others).Draw(t, "beside"); s.beside != "" {
		s.after = time.Duration(rapid.IntRange(0, 1500).Draw(t, "after")) * time.Millisecond
	}
	if s.beside == otherOne {
		s.otherNext = drawOthers(t, label)
	}
	if edited && s.beside == "" { // whose processes may outlive a crash, which would take the edit away
		s.last, _ = drawManifest(t, "last", owner, edited, false)
		s.crossing = s.api == resource.V2 && rapid.Bool().Draw(t, "crossing")
	}
	s.pace = rapid.UintRange(0, 3).Draw(t, "pace")
	return s
}

// drawOthers draws the manifest of another owner, who uses the project and what is in it.
func drawOthers(t *rapid.T, label string) string {
	fields := []string{"key: a", "name: Item of others"}
	for _, more := range []string{"cycle: c", "module: m", "comments: [{key: c, text: Ours.}]", "priority: high"} {
		if rapid.Bool().Draw(t, more) {
			fields = append(fields, more)
		}
	}
	return "version: 1\nowner: other\n" + shop + `    cycles: [{key: c, name: Weeks}]
    modules: [{key: m, name: Checkout}]
    work_items: [{` + strings.Join(fields, ", ") + label + "}]\n"
}

// shop begins the project of stories.
const shop = `workspace: acme
projects:
  - key: shop
    identifier: SHOP
    name: Shop
    cycle_view: true
    module_view: true
    is_issue_type_enabled: true
`

// drawManifest draws one of the project. One that is whole says of each object what another may have said of it. It has links only where
// it does not matter who made them: nobody can tell if a run died. It has values of custom fields, which no list shows, where it is taken back.
func drawManifest(t *rapid.T, name, owner string, whole, links bool) (manifest string, named []string) {
	var b strings.Builder
	b.WriteString("version: 1\n" + owner + shop)
	var labels, items []string
	for _, key := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"bug", "new", "ops"}), rapid.ID[string]).Draw(t, name+" labels") {
		color := rapid.SampledFrom([]string{"#ef4444", "#15803d"}).Draw(t, "color")
		labels = append(labels, fmt.Sprintf("{name: %s, color: %q}", key, color))
		items = append(items, key)
	}
	var types []string
	kinds := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"fix", "wish"}), rapid.ID[string]).Draw(t, name+" types")
	effort := ""
	if !whole && !links {
		effort = ", properties: [{name: Effort, type: decimal}]"
	}
	for _, key := range kinds {
		types = append(types, "{name: "+key+effort+"}")
	}
	points := []string{"1"} // an estimate is never deleted
	if rapid.Bool().Draw(t, name+" point") {
		points = append(points, "2")
	}
	fmt.Fprintf(&b, "    work_item_types: [%s]\n    estimate: Points\n    estimates: [{name: Points, points: [%s]}]\n", strings.Join(types, ", "), strings.Join(points, ", "))
	cycle, module := rapid.SampledFrom([]string{"Months", "Quarters"}).Draw(t, name+" cycle"), rapid.SampledFrom([]string{"Money", "Goods"}).Draw(t, name+" module")
	fmt.Fprintf(&b, "    labels: [%s]\n    cycles: [{key: c, name: Weeks}, {key: d, name: %s}]\n", strings.Join(labels, ", "), cycle)
	fmt.Fprintf(&b, "    modules: [{key: m, name: Checkout, description: %s}]\n    work_items:\n", module)
	known := items
	root := []string{"key: root", "name: Root"} // which stays, and comes into containers and leaves them
	for _, more := range []string{"cycle: c", "module: m"} {
		if rapid.Bool().Draw(t, "root "+more) {
			root = append(root, more)
		}
	}
	fmt.Fprintf(&b, "      - {%s}\n", strings.Join(root, ", "))
	earlier := []string{"root"}
	for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 4, rapid.ID[string]).Draw(t, name+" items") {
		fields := []string{"key: " + key, fmt.Sprintf("name: Item %s%s", key, rapid.SampledFrom([]string{"", ", larger"}).Draw(t, "name"))}
		fields[1] = strings.Replace(fields[1], "name: ", `name: "`, 1) + `"`
		if len(known) > 0 && rapid.Bool().Draw(t, "label") {
			fields = append(fields, "labels: ["+rapid.SampledFrom(known).Draw(t, "which")+"]")
		} else if whole {
			fields = append(fields, "labels: []")
		}
		another, above := rapid.SampledFrom(earlier).Draw(t, "another"), "root"
		if whole { // else it would keep what is above it from being deleted
			above = another
		}
		kind := rapid.SampledFrom(append(kinds, "null")).Draw(t, "type")
		if effort != "" && kind != "null" && rapid.Bool().Draw(t, "effort") {
			kind += ", fields: {Effort: 3}"
		}
		for _, more := range []string{
			"priority: high", "parent: " + above, rapid.SampledFrom([]string{"cycle: c", "cycle: d"}).Draw(t, "cycle"), "module: m", "state: Todo",
			"comments: [{key: c, text: " + rapid.SampledFrom([]string{"Looks good.", "Looks bad."}).Draw(t, "text") + "}]",
			`description: "See [another](planform:work_item/shop/` + another + `)."`, "start_date: 2026-03-02",
			"estimate_point: " + rapid.SampledFrom(points).Draw(t, "point"), "type: " + kind,
			`links: [{url: "https://example.com/` + key + `"}]`, "relations: {blocked_by: [" + another + "]}",
		} {
			field, _, _ := strings.Cut(more, ":")
			if rapid.IntRange(0, 2).Draw(t, field) == 0 {
				if links || field != "links" {
					fields = append(fields, more)
				}
			} else if without, simple := map[string]string{
				"priority": "none", "parent": "null", "state": "Backlog", "description": `""`, "start_date": "null", "estimate_point": "null", "type": "null",
			}[field]; whole && simple {
				fields = append(fields, field+": "+without)
			}
		}
		fmt.Fprintf(&b, "      - {%s}\n", strings.Join(fields, ", "))
		earlier = append(earlier, key)
	}
	return b.String(), items
}

var blockedBy = regexp.MustCompile(`key: (\w+),.*blocked_by: \[(\w+)\]`)

// reverses reports whether some item is blocked by another in one manifest, and the other by it in the next.
func reverses(first, next string) bool {
	before := map[[2]string]bool{}
	for _, m := range blockedBy.FindAllStringSubmatch(first, -1) {
		before[[2]string{m[2], m[1]}] = true
	}
	return slices.ContainsFunc(blockedBy.FindAllStringSubmatch(next, -1), func(m []string) bool { return before[[2]string{m[1], m[2]}] })
}

var itemOfShop = regexp.MustCompile(`- {key: (\w+),.*`)

// dangles reports whether an item that stays links in its text to one that goes: what the state has of a text does not tell.
func dangles(first, next string) bool {
	stays := map[string]string{}
	for _, m := range itemOfShop.FindAllStringSubmatch(next, -1) {
		stays[m[1]] = m[0]
	}
	return slices.ContainsFunc(itemOfShop.FindAllStringSubmatch(first, -1), func(m []string) bool {
		line, there := stays[m[1]]
		_, to, links := strings.Cut(m[0], "(planform:work_item/shop/")
		to, _, _ = strings.Cut(to, ")")
		return links && there && stays[to] == "" && !strings.Contains(line, "description: ")
	})
}

// requests are the edges at the service.
func requests(visits []visit) (all []edge) {
	for _, v := range visits {
		if v.kind == edgeOfRead || v.kind == edgeOfWrite {
			all = append(all, v.edge)
		}
	}
	return all
}

// TestAfterAnyTwoFaultsInAnyStoryTheNextRunsReachTheSameEnd draws stories and faults; -rapid.checks says how many, and a failure
// says with which -rapid.seed it comes again.
func TestAfterAnyTwoFaultsInAnyStoryTheNextRunsReachTheSameEnd(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs thousands of commands")
	}
	rapid.Check(t, func(rt *rapid.T) {
		s, problem := drawStory(rt), ""
		sc := s.scene()
		sc.tell = func(text string) { problem = text }
		st := prepare(t, sc)
		defer os.RemoveAll(st.folder) //nolint:errcheck // there are many
		if problem != "" {
			rt.Fatal(problem)
		}
		possible, asked := st.faults(st.visits), requests(st.visits)
		during := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) fault {
			at := rapid.SampledFrom(asked).Draw(rt, "at")
			return fault{at, rapid.SampledFrom(slices.Sorted(maps.Keys(deeds()))).Draw(rt, "deed")}
		}), 0, 1).Draw(rt, "during")
		if s.undone { // changes of people may need a run of their own, which is then the last one
			during = nil
		}
		if len(during) > 0 {
			st.rehearse(t, during...)
		}
		if problem != "" {
			rt.Fatal(problem)
		}
		free := rapid.SampledFrom(possible).Filter(func(f fault) bool {
			return !slices.ContainsFunc(during, func(d fault) bool { return d.at == f.at })
		})
		for range *endings {
			faults := rapid.SliceOfNDistinct(free, 1, 2, func(f fault) edge { return f.at }).Draw(rt, "faults")
			if st.suffer(t, faults...); problem != "" {
				rt.Fatal(problem)
			}
		}
	})
}
