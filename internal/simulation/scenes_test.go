package simulation

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
)

// scenes returns the scenes by name. The small ones are for pairs of faults.
func scenes() map[string]*scene {
	apply, saved := []string{"apply -f @workspace.yaml"}, []string{"plan -f @workspace.yaml --out @plan.json", "apply @plan.json --yes"}
	pruned := []string{"apply -f @workspace.yaml --prune --yes --max-deletes 50"}
	taken, _, _ := strings.Cut(small, "pages:") // API v1 deletes no page
	one := func(text string) map[string]string { return map[string]string{"workspace.yaml": text} }
	all := map[string]*scene{
		"v1":                  {api: resource.V1, files: one(whole(resource.V1)), commands: apply},
		"documented":          {api: resource.Documented, files: one(whole(resource.Documented)), commands: apply},
		"v2":                  {api: resource.V2, files: one(whole(resource.V2)), commands: apply},
		"from nothing":        {api: resource.V1, empty: true, files: one(fresh), commands: apply},
		"from nothing, v2":    {api: resource.V2, empty: true, files: one(fresh), commands: apply},
		"thirty steps":        {api: resource.V1, empty: true, files: one(thirty), commands: apply},
		"thirty steps, v2":    {api: resource.V2, empty: true, files: one(thirty), commands: apply},
		"shared state":        {api: resource.V1, shared: true, files: one(whole(resource.V1)), commands: apply},
		"saved plan":          {api: resource.V1, files: one(whole(resource.V1)), commands: saved},
		"saved plan, shared":  {api: resource.V2, shared: true, files: one(whole(resource.V2)), commands: saved},
		"prune":               {api: resource.V1, empty: true, files: one(fresh), before: applied(less), commands: pruned},
		"prune, v2":           {api: resource.V2, empty: true, files: one(fresh), before: applied(less), commands: pruned},
		"undo":                {api: resource.V1, empty: true, files: one(less), before: applied(fresh), commands: []string{"undo -f @workspace.yaml --yes RUN"}},
		"undo, shared":        {api: resource.V2, empty: true, shared: true, files: one(less), before: applied(fresh), commands: []string{"undo -f @workspace.yaml --yes RUN"}},
		"apply and undo":      {api: resource.V1, files: one(taken), commands: []string{"apply -f @workspace.yaml", "undo -f @workspace.yaml --yes last"}, again: undone},
		"pull":                {api: resource.V1, empty: true, files: pulled(), before: people, commands: []string{"pull -f @workspace.yaml", "apply -f @workspace.yaml"}},
		"small, v1":           {api: resource.V1, files: one(small), commands: apply},
		"small, documented":   {api: resource.Documented, files: one(small), commands: apply},
		"small, v2":           {api: resource.V2, files: one(small), commands: apply},
		"small, shared state": {api: resource.V1, shared: true, files: one(small), commands: apply},
		"small, saved plan":   {api: resource.V1, files: one(small), commands: saved},
		"small, from nothing": {api: resource.V1, empty: true, files: one(tiny), commands: apply},
		"small, prune":        {api: resource.V1, empty: true, files: one(tiny), before: applied(none), commands: pruned},
		"small, members":      {api: resource.V1, empty: true, files: one(members), before: applied(swapped), commands: pruned},
		"small, placed, v2":   {api: resource.V2, empty: true, files: one(members), before: applied(placed), commands: pruned},
		"small, roles, v2":    {api: resource.V2, empty: true, files: one(promoted), before: applied(reviewed), commands: pruned},
		"small, relations":    {api: resource.V2, empty: true, files: one(joined), before: applied(otherwise), commands: pruned},
		"small, undo last":    {api: resource.V1, empty: true, files: one(none), before: applied(tiny), commands: []string{"undo -f @workspace.yaml --yes last"}},
		"small, undo":         {api: resource.V1, empty: true, files: one(none), before: applied(tiny), commands: []string{"undo -f @workspace.yaml --yes RUN"}},
	}
	more, fewer := strings.Replace(fresh, `, {name: Todo, color: "#0ea5e9"}`, "", 1), strings.Replace(less, ", priority: high", "", 1) // what one sets the other does, too
	for name, sc := range map[string]*scene{
		"edited":            {api: resource.V1, files: one(more), then: less},
		"edited, v2":        {api: resource.V2, files: one(more), then: less},
		"edited, back":      {api: resource.V1, files: one(fewer), then: fresh},
		"edited, shared":    {api: resource.V1, shared: true, files: one(more), then: less},
		"edited, pruned":    {api: resource.V1, files: one(fresh), before: applied(fewer), then: fresh},
		"small, edited":     {api: resource.V1, files: one(members), then: swapped},
		"small, edited, v2": {api: resource.V2, files: one(joined), then: otherwise},
		"small, thrice":     {api: resource.V1, before: applied(coloured("#ef4444")), files: one(coloured("#15803d")), then: coloured("#0ea5e9")},
		"small, either":     {api: resource.V1, files: one(coloured("#ef4444")), before: applied(item("name: Item")), then: coloured("#ef4444")},
		"small, back":       {api: resource.V1, files: one(item("name: Item")), before: applied(item("name: Another, priority: high")), then: item("name: Item, priority: none")},
	} {
		sc.empty, sc.commands = true, slices.Concat(pruned, pruned)
		all[name] = sc
	}
	for name, sc := range map[string]*scene{
		"edited, v1 then v2": {commands: []string{pruned[0] + " --api v1", pruned[0]}},
		"edited, v2 then v1": {commands: []string{pruned[0], pruned[0] + " --api v1"}},
	} {
		sc.api, sc.empty, sc.files, sc.then = resource.V2, true, one(more), less
		all[name] = sc
	}
	waiting := []string{"apply -f @workspace.yaml --lock-timeout 5h"}
	for name, sc := range map[string]*scene{
		"two at once":                 {beside: &beside{}},
		"two at once, elsewhere":      {shared: true, beside: &beside{elsewhere: true}},
		"two at once, v2":             {api: resource.V2, shared: true, beside: &beside{elsewhere: true}},
		"two at once, each its state": {empty: true, files: one(tiny), again: taking, beside: &beside{elsewhere: true}}, // pages would be double, and named
	} {
		if sc.api, sc.commands = cmp.Or(sc.api, resource.V1), waiting; sc.files == nil {
			sc.files = one(small)
		}
		sc.beside.commands, sc.beside.after = waiting, 50*time.Millisecond
		all[name] = sc
	}
	other := strings.NewReplacer("Public site and shop", "Shop", "Item A", "An item").Replace(small)
	over := &beside{commands: apply, after: -3 * time.Second, elsewhere: true, files: one(other), once: true}
	all["taken over"] = &scene{api: resource.V1, shared: true, files: one(small), commands: waiting, beside: over}
	all["taken over, slowly"] = &scene{api: resource.V1, shared: true, files: one(small), commands: waiting, beside: over, rate: 7}
	moved := &beside{commands: []string{"apply -f @moved.yaml"}, after: -3 * time.Second, elsewhere: true, once: true} // which is saved before anything is sent
	all["taken over after a save"] = &scene{
		api: resource.V1, shared: true, commands: waiting, beside: moved,
		files:  map[string]string{"workspace.yaml": strings.Replace(small, "Public", "The", 1), "moved.yaml": other},
		before: applied(small),
	}
	for name, sc := range all {
		sc.name = fmt.Sprintf("scenes()[%q]", name)
	}
	return all
}

// applied is a manifest that was applied before another took its place.
func applied(next string) func(w *world) {
	return func(w *world) {
		w.us.until("apply -f @workspace.yaml", nil)
		time.Sleep(time.Hour) //nolint:forbidigo // in a bubble it takes no time: runs are told apart by when they began
		w.write("workspace.yaml", next)
		if strings.HasPrefix(w.scene.commands[0], "undo") {
			w.us.until("apply -f @workspace.yaml", nil)
		}
	}
}

// lastRun is the ID of the newest run in the history.
func (w *world) lastRun() string {
	w.Helper()
	var ids []string
	entries, _ := os.ReadDir(filepath.Join(w.us.disk.root, "state.json.history"))
	for _, e := range entries {
		ids = append(ids, strings.TrimSuffix(e.Name(), ".jsonl"))
	}
	for name := range w.store.objects {
		if id, yes := strings.CutPrefix(name, ".history/"); yes {
			ids = append(ids, strings.TrimSuffix(id, ".jsonl"))
		}
	}
	if len(ids) == 0 {
		w.Fatal("there is no history")
	}
	return slices.Max(ids)
}

// taking returns the next command of a user whose objects another run created, so that the user's state does not know them.
func taking(u *user, command string, _ int) string {
	if strings.Contains(u.said, "--take-over takes it") {
		return command + " --take-over"
	}
	return command
}

// undone returns the next command of a user whose undo was interrupted: if everything had been undone, nothing is left to
// undo.
func undone(u *user, command string, _ int) string {
	if strings.HasPrefix(command, "undo") && strings.Contains(u.said, "the history has no run") {
		return ""
	}
	return command
}

// whole is a manifest with every kind of write to a workspace with something in it.
func whole(api resource.API) string {
	renamed, linked := ", name: Renamed", `, description: "[b](planform:work_item/web/b)"`
	if api != resource.V1 {
		linked = ""
	}
	if api == resource.Documented {
		renamed = ""
	}
	return strings.NewReplacer("RENAMED", renamed, "LINKED", linked).Replace(`version: 1
workspace: acme
projects:
  - key: web
    id: ` + sandboxtest.ProjectWeb + `
    identifier: WEB
    description: Public site and shop
    cycles: [{key: c, id: ` + sandboxtest.CycleSprint14 + `}]
    work_items:
      - {key: old, id: ` + sandboxtest.WorkItemWeb1 + `, identifier: WEB-1RENAMED}
      - {key: first, name: First}
      - {key: a, name: Item ALINKED, cycle: c, links: [{url: "https://example.com/a"}]}
      - {key: b, name: Item B, cycle: c, parent: a, links: [{url: "https://example.com/b"}]}
initiative_labels: [{key: growth, id: ` + sandboxtest.InitiativeLabelGrowth + `, color: "#15803d"}]
initiatives: [{key: north, id: ` + sandboxtest.InitiativeNorth + `, labels: [growth], projects: [web]}]
teamspaces: [{key: platform, id: ` + sandboxtest.TeamspacePlatform + `, description: Keeps the lights on., projects: [web]}]
customers:
  - key: globex
    id: ` + sandboxtest.CustomerGlobex + `
    requests: [{key: export, title: Export, description: Once a month.}, {key: dark, id: ` + sandboxtest.RequestDarkMode + `, description: For night shifts.}]
pages: [{key: decisions, name: Decisions, description: Newest first.}]
`)
}

const (
	// joined has custom relations; otherwise drops one of them and adds one. A changed relation needs a removal, which must
	// not come late.
	joined = `version: 1
workspace: acme
relation_definitions: [{name: Code, outward: implements, inward: is implemented by}]
projects:
  - key: shop
    identifier: SHOP
    name: Shop
    work_items:
      - {key: a, name: Item A, relations: {custom: [{item: b, relation: implements}, {item: c, relation: implements}]}}
      - {key: b, name: Item B, relations: {custom: [{item: a, relation: is implemented by}]}}
      - {key: c, name: Item C}
`
	otherwise = `version: 1
workspace: acme
relation_definitions: [{name: Code, outward: implements, inward: is implemented by}, {name: Test, outward: tests, inward: is tested by}]
projects:
  - key: shop
    identifier: SHOP
    name: Shop
    work_items:
      - {key: a, name: Item A, relations: {custom: [{item: b, relation: implements}, {item: d, relation: tests}]}}
      - {key: b, name: Item B}
      - {key: c, name: Item C, relations: {custom: [{item: b, relation: is implemented by}]}}
      - {key: d, name: Item D}
`
	// fresh creates a project with everything that it needs.
	fresh = `version: 1
workspace: acme
projects:
  - key: shop
    identifier: SHOP
    name: Shop
    cycle_view: true
    module_view: true
    states: [{name: Next, group: unstarted, color: "#a3a3a3"}, {name: Todo, color: "#0ea5e9"}]
    labels: [{name: bug, color: "#ef4444"}, {name: urgent, parent: bug}]
    cycles: [{key: first, name: First weeks}]
    modules: [{name: Checkout}]
    work_items:
      - {key: a, name: Item A, state: Next, labels: [bug], cycle: first, module: Checkout, links: [{url: "https://example.com/a", title: A}]}
      - {key: b, name: Item B, parent: a, labels: [bug, urgent], comments: [{key: c, text: Looks good.}]}
      - {key: c, name: Item C, cycle: first, relations: {blocked_by: [b]}}
pages: [{key: handbook, name: Handbook, description: How we work.}]
`
	// thirty makes as much as is played exhaustively.
	thirty = `version: 1
workspace: acme
projects:
  - key: shop
    identifier: SHOP
    name: Shop
    cycle_view: true
    module_view: true
    states: [{name: Next, group: unstarted}, {name: Todo, color: "#0ea5e9"}]
    labels: [{name: bug}, {name: urgent, parent: bug}, {name: idea}]
    cycles: [{key: first, name: First weeks}, {key: next, name: Next weeks}]
    modules: [{name: Checkout}, {name: Search}]
    work_items:
      - {key: a, name: Item A, state: Next, labels: [bug], cycle: first, module: Checkout, links: [{url: "https://example.com/a"}]}
      - {key: b, name: Item B, parent: a, labels: [bug, urgent], comments: [{key: c, text: Looks good.}]}
      - {key: c, name: Item C, cycle: first, relations: {blocked_by: [b]}}
      - {key: d, name: Item D, cycle: next, module: Search, labels: [idea], links: [{url: "https://example.com/d"}]}
      - {key: e, name: Item E, parent: d, cycle: next, comments: [{key: c, text: Not yet.}]}
      - {key: f, name: Item F, state: Todo, relations: {relates_to: [a]}}
pages: [{key: handbook, name: Handbook, description: How we work.}, {key: decisions, name: Decisions}]
`
	// less is fresh with fewer objects and other values.
	less = `version: 1
workspace: acme
projects:
  - key: shop
    identifier: SHOP
    name: Shop
    cycle_view: true
    module_view: true
    labels: [{name: bug, color: "#15803d"}]
    cycles: [{key: first, name: First weeks}]
    work_items:
      - {key: a, name: Item A, state: Todo, priority: high, labels: [], links: [{url: "https://example.com/a", title: First}]}
      - {key: d, name: Item D, cycle: first}
pages: [{key: handbook, name: Handbook, description: How we work.}]
`
	// small is a plan of a few steps.
	small = `version: 1
workspace: acme
projects:
  - key: web
    id: ` + sandboxtest.ProjectWeb + `
    identifier: WEB
    description: Public site and shop
    work_items:
      - {key: a, name: Item A, links: [{url: "https://example.com/a"}]}
pages: [{key: decisions, name: Decisions, description: Newest first.}]
`
	// members has items in containers, and swapped others.
	members = `version: 1
` + shop + `    cycles: [{key: c, name: Weeks}]
    work_items: [{key: a, name: Item A, cycle: c}, {key: b, name: Item B}]
`
	swapped = `version: 1
` + shop + `    cycles: [{key: c, name: Weeks}]
    work_items: [{key: a, name: Item A}, {key: b, name: Item B, cycle: c}]
`
	// placed has two more, which the create of API v2 puts into their container.
	placed = `version: 1
` + shop + `    cycles: [{key: c, name: Weeks}]
    work_items: [{key: a, name: Item A}, {key: b, name: Item B, cycle: c}, {key: d, name: Item D, cycle: c}, {key: e, name: Item E, cycle: c}]
`
	// reviewed has a member with a role that the workspace defines, and promoted gives her another one and brings somebody in.
	reviewed = `version: 1
` + shop + `    members: [{user: eve@example.com, role: reviewer}]
`
	promoted = `version: 1
` + shop + `    members: [{user: eve@example.com, role: Release manager}, {user: bob@example.com, role: commenter}]
`
	// tiny makes a project, and none leaves nothing in it.
	tiny = `version: 1
workspace: acme
projects:
  - {key: shop, identifier: SHOP, name: Shop, labels: [{name: bug}], work_items: [{key: a, name: Item A, labels: [bug]}]}
`
	none = `version: 1
workspace: acme
projects: [{key: shop, identifier: SHOP, name: The shop}]
`
)

// module is a manifest of a module and work items.
func module(items string) string {
	return "version: 1\n" + shop + "    modules: [{key: m, name: Checkout}]\n    work_items: [" + items + "]\n"
}

// coloured is a manifest of one label.
func coloured(color string) string {
	return "version: 1\n" + shop + "    labels: [{name: bug, color: \"" + color + "\"}]\n"
}

// item is a manifest of one work item.
func item(fields string) string {
	return "version: 1\n" + shop + "    work_items: [{key: a, " + fields + "}]\n"
}

// pulled is a manifest in two files that people change on the service.
func pulled() map[string]string {
	return map[string]string{
		"workspace.yaml": `version: 1
workspace: acme
projects:
  - key: shop
    identifier: SHOP
    name: Shop # the first
    work_items:
      - {key: a, name: Item A, priority: low}
      - {key: b, name: Item B}
pages: [{key: handbook, name: Handbook, file: handbook.md}]
`,
		"handbook.md": "How we work.\n",
	}
}

// people change what was applied.
func people(w *world) {
	w.us.until("apply -f @workspace.yaml", nil)
	ids := map[string]string{}
	for id, name := range w.server.Called() {
		ids[name] = id
	}
	project := "/projects/" + ids["project SHOP"] + "/"
	w.people("PATCH", project, `{"name": "The shop"}`)
	w.people("PATCH", project+"work-items/"+ids["work_item Item A"]+"/", `{"name": "Item A, larger", "priority": "urgent"}`)
}
