package sandbox

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

// generator makes up a sequence of operations, most of them right, some wrong. It knows its requests and not their answers.
type generator struct {
	rng      *rand.Rand
	sequence []operation
	made     map[string]int      // how many records of a kind were asked for
	within   map[string][]string // names by container and kind, e.g. "project1/label"
	projects []string
}

// generate makes a sequence that begins with a project and its members.
func generate(rng *rand.Rand, length int) []operation {
	g := &generator{rng: rng, made: map[string]int{}, within: map[string][]string{}}
	g.addProject(admin, fields{"name": projectNames()[0], "identifier": "AA", "cycle_view": true, "module_view": true})
	g.add(operation{as: admin, method: http.MethodPost, path: "projects/{project1}/project-members/", body: fields{"member": "{member}", "role": 15}, makes: "membership1"})
	g.within["project1/membership"] = append(g.within["project1/membership"], "membership1")
	g.made["membership"]++
	for len(g.sequence) < length {
		g.step()
	}
	return g.sequence
}

type fields = map[string]any

// projectNames is the names that projects get here. No test may delete projects
// of other names on a real server.
func projectNames() []string {
	return []string{"Differential A", "Differential B", "Differential C"}
}

func (g *generator) add(op operation) { g.sequence = append(g.sequence, op) }

// chance is true in one of n cases.
func (g *generator) chance(n int) bool { return g.rng.IntN(n) == 0 }

func pick[T any](g *generator, from []T) T { return from[g.rng.IntN(len(from))] }

// someone is mostly the admin, who may do everything.
func (g *generator) someone() person {
	if g.chance(7) {
		return pick(g, []person{member, member, member, guest, guest, outsider, nobody, impostor})
	}
	return admin
}

// newName names a record that is asked for within a container.
func (g *generator) newName(kind, container string) string {
	g.made[kind]++
	name := fmt.Sprintf("%s%d", kind, g.made[kind])
	g.within[container+"/"+kind] = append(g.within[container+"/"+kind], name)
	return name
}

// one is a reference to a record of a container, now and then to one of
// elsewhere or to none.
func (g *generator) one(kind, container string) string {
	if g.chance(25) {
		if every := g.every(kind); len(every) > 0 && g.chance(2) {
			return "{" + pick(g, every) + "}"
		}
		return unknownID
	}
	names := g.within[container+"/"+kind]
	if len(names) == 0 {
		return unknownID
	}
	return "{" + pick(g, names) + "}"
}

// every is the names of all records of a kind.
func (g *generator) every(kind string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(g.within)) {
		if strings.HasSuffix(key, "/"+kind) {
			out = append(out, g.within[key]...)
		}
	}
	return out
}

// some is up to three references.
func (g *generator) some(kind, container string) []any {
	out := []any{}
	for range g.rng.IntN(4) {
		out = append(out, g.one(kind, container))
	}
	return out
}

func (g *generator) aProject() string {
	if g.chance(30) {
		return "nowhere"
	}
	return pick(g, g.projects)
}

// step adds one random operation, or two that belong together.
func (g *generator) step() {
	steps := []struct {
		weight int
		do     func(project string)
	}{
		{1, func(string) {
			g.addProject(pick(g, []person{admin, admin, member, guest, outsider}), g.body("project", "", true))
		}},
		{2, func(p string) { g.change("project", p, at(p)) }},
		{1, func(p string) {
			g.add(operation{as: g.someone(), method: pick(g, []string{http.MethodPost, http.MethodDelete}), path: at(p) + "archive/"})
		}},
		{3, func(p string) { g.create("membership", p, at(p)+"project-members/") }},
		{2, func(p string) { g.changeOrDelete("membership", p, at(p)+"project-members/") }},
		{4, func(p string) { g.create("state", p, at(p)+"states/") }},
		{3, func(p string) { g.changeOrDelete("state", p, at(p)+"states/") }},
		{4, func(p string) { g.create("label", p, at(p)+"labels/") }},
		{3, func(p string) { g.changeOrDelete("label", p, at(p)+"labels/") }},
		{4, func(p string) { g.create("cycle", p, at(p)+"cycles/") }},
		{3, func(p string) { g.changeOrDelete("cycle", p, at(p)+"cycles/") }},
		{2, func(p string) { g.archive("cycle", p) }},
		{4, func(p string) { g.addTo("cycle", p) }},
		{5, func(p string) { g.create("module", p, at(p)+"modules/") }},
		{3, func(p string) { g.changeOrDelete("module", p, at(p)+"modules/") }},
		{2, func(p string) { g.archive("module", p) }},
		{4, func(p string) { g.addTo("module", p) }},
		{14, func(p string) { g.create("item", p, at(p)+"work-items/") }},
		{8, func(p string) { g.changeOrDelete("item", p, at(p)+"work-items/") }},
		{3, func(p string) { i := g.one("item", p); g.create("link", i, at(p)+"work-items/"+i+"/links/") }},
		{2, func(p string) {
			i := g.one("item", p)
			g.changeOrDelete("link", i, at(p)+"work-items/"+i+"/links/")
		}},
		{3, func(p string) { i := g.one("item", p); g.create("comment", i, at(p)+"work-items/"+i+"/comments/") }},
		{2, func(p string) {
			i := g.one("item", p)
			g.changeOrDelete("comment", i, at(p)+"work-items/"+i+"/comments/")
		}},
		{4, g.relate},
		{10, g.read},
	}
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	draw := g.rng.IntN(total)
	for _, s := range steps {
		if draw -= s.weight; draw < 0 {
			s.do(g.aProject())
			return
		}
	}
}

func at(project string) string { return "projects/{" + project + "}/" }

func (g *generator) addProject(as person, body fields) {
	name := g.newName("project", "")
	g.projects = append(g.projects, name)
	g.add(operation{as: as, method: http.MethodPost, path: "projects/", body: body, makes: name})
	g.add(operation{as: as, method: http.MethodGet, path: at(name) + "states/", makes: name})
	for _, state := range []string{"Backlog", "Todo", "In Progress", "Done", "Cancelled"} {
		g.within[name+"/state"] = append(g.within[name+"/state"], name+"."+state)
	}
}

func (g *generator) create(kind, container, list string) {
	body := g.body(kind, container, true)
	g.add(operation{as: g.someone(), method: http.MethodPost, path: list, body: body, makes: g.newName(kind, container)})
}

func (g *generator) change(kind, container, path string) {
	g.add(operation{as: g.someone(), method: http.MethodPatch, path: path, body: g.body(kind, container, false)})
}

func (g *generator) changeOrDelete(kind, container, list string) {
	if len(g.within[container+"/"+kind]) == 0 {
		g.create(kind, container, list)
		return
	}
	path := list + g.one(kind, container) + "/"
	if g.chance(4) {
		g.add(operation{as: g.someone(), method: http.MethodDelete, path: path})
		return
	}
	g.change(kind, container, path)
}

func (g *generator) archive(kind, project string) {
	if len(g.within[project+"/"+kind]) == 0 {
		g.create(kind, project, at(project)+kind+"s/")
		return
	}
	one := g.one(kind, project)
	if g.chance(3) {
		g.add(operation{as: g.someone(), method: http.MethodDelete, path: at(project) + "archived-" + kind + "s/" + one + "/unarchive/"})
		return
	}
	g.add(operation{as: g.someone(), method: http.MethodPost, path: at(project) + kind + "s/" + one + "/archive/"})
}

// addTo puts items into a cycle or a module, or takes one out.
func (g *generator) addTo(kind, project string) {
	for _, needed := range []struct{ kind, list string }{{kind, kind + "s/"}, {"item", "work-items/"}} {
		if len(g.within[project+"/"+needed.kind]) == 0 {
			g.create(needed.kind, project, at(project)+needed.list)
		}
	}
	list := at(project) + kind + "s/" + g.one(kind, project) + "/" + kind + "-issues/"
	if g.chance(4) {
		g.add(operation{as: g.someone(), method: http.MethodDelete, path: list + g.one("item", project) + "/"})
		return
	}
	var body any = fields{"issues": g.some("item", project)}
	if g.chance(12) {
		body = pick(g, []any{fields{}, fields{"issues": "x"}, fields{"issues": []any{"x"}}, fields{"issues": nil}})
	}
	g.add(operation{as: g.someone(), method: http.MethodPost, path: list, body: body})
}

func (g *generator) relate(project string) {
	path := at(project) + "work-items/" + g.one("item", project) + "/relations/"
	if g.chance(8) {
		g.add(operation{as: g.someone(), method: http.MethodPost, path: path + "remove/", body: fields{"related_issue": g.one("item", project)}})
		return
	}
	g.add(operation{as: g.someone(), method: http.MethodPost, path: path, body: fields{
		"relation_type": pick(g, []string{
			"blocking", "blocked_by", "duplicate", "relates_to", "start_before", "start_after", "finish_before", "finish_after", "implements", "x",
		}),
		"issues": g.some("item", project),
	}})
}

// read asks for a list or a record, with parameters that change the answer.
func (g *generator) read(project string) {
	item := g.one("item", project)
	path := pick(g, []string{
		"projects/", at(project), at(project) + "project-members/", at(project) + "states/", at(project) + "labels/",
		at(project) + "cycles/", at(project) + "modules/", at(project) + "work-items/", at(project) + "work-items/",
		at(project) + "work-items/" + item + "/", at(project) + "work-items/" + item + "/", "work-items/AA-1/", "work-items/AA-2/", "work-items/aa-1/", "work-items/ZZ-1/",
		at(project) + "cycles/" + g.one("cycle", project) + "/cycle-issues/", at(project) + "modules/" + g.one("module", project) + "/module-issues/",
		at(project) + "states/" + g.one("state", project) + "/", at(project) + "labels/" + g.one("label", project) + "/",
		at(project) + "project-members/" + g.one("membership", project) + "/", "members/",
		at(project) + "estimates/", at(project) + "work-item-types/", at(project) + "features/", at(project) + "pages/", "pages/", "customers/", "initiatives/", "teamspaces/",
		at(project) + "work-items/" + item + "/links/", at(project) + "work-items/" + item + "/comments/", at(project) + "work-items/" + item + "/relations/",
	})
	query := pick(g, []string{
		"", "", "?per_page=2", "?per_page=2&cursor=2:1:0", "?per_page=0", "?per_page=x", "?per_page=1001", "?cursor=1:x:0", "?fields=id,name", "?fields=id,nosuch", "?fields=nosuch",
		"?fields=id,assignees,labels", "?external_id=e1&external_source=s", "?external_id=e2&external_source=s", "?external_id=e1",
	})
	g.add(operation{as: g.someone(), method: http.MethodGet, path: path + query})
}

// body is the fields of a new record, or some of them for a change. One body in
// six is careless: it has wrong values and may lack what it must have.
func (g *generator) body(kind, container string, creates bool) fields {
	out := fields{}
	careless := g.chance(6)
	values, required := g.values(kind, container), requiredOf(kind)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		needed := creates && slices.Contains(required, name)
		if !needed && !g.chance(4) || needed && careless && g.chance(4) {
			continue
		}
		right, wrong := values[name][0], values[name][1]
		out[name] = pick(g, right)
		if careless && len(wrong) > 0 && g.chance(3) {
			out[name] = pick(g, wrong)
		}
	}
	return out
}

func requiredOf(kind string) []string {
	return map[string][]string{
		"project": {"name", "identifier", "cycle_view", "module_view"}, "membership": {"member", "role"}, "state": {"name", "color"}, "label": {"name"},
		"cycle": {"name", "project_id"}, "module": {"name"}, "item": {"name"}, "link": {"url"}, "comment": {"comment_html"},
	}[kind]
}

// choices is the right and the wrong values of a field.
type choices = [2][]any

// values is the fields of a kind with values to choose from.
func (g *generator) values(kind, container string) map[string]choices {
	var (
		people = choices{{"{admin}", "{member}"}, {"{guest}", "{outsider}", unknownID, "x", 5}}
		names  = choices{{"A", "B", "C", " padded ", "Ünïcode 😀"}, {"", "  ", nil, 5, true, []any{}, strings.Repeat("x", 256)}}
		prose  = choices{{"", "Some text.", " padded "}, {nil, 5, []any{}}}
		days   = choices{{"2030-01-05", "2030-01-20", "2020-01-05", nil}, {"2030-02-30", "", "2030-01-05T10:00:00Z", 5}}
		flags  = choices{{true, false}, {nil, "x", "true", 1}}
		ids    = choices{{"e1", "e2", "e3"}, {"", nil, 5, strings.Repeat("x", 256)}}
		source = choices{{"s", "s", "s2"}, {"", nil}}
		html   = choices{{
			"<p>One</p>", "<p>One</p><p>Two</p>", "plain", "<p></p>", `<p hidecontent="true" data-foo="1" class="c" style="color:red">x</p>`,
			`<div>a<iframe src="https://example.com"></iframe>b</div>`, `<div><svg><path d="M0"/></svg>c</div>`, `<div><form><input type="text">d</form></div>`,
			`<p>e</p><script>alert(1)</script>`, `<table><tr><th hidecontent="true">h</th></tr></table>`, `<a href="javascript:x">l</a>`, `<p>a &amp; b &lt;c&gt;</p>`,
		}, {"", "  ", nil, 5}}
	)
	switch kind {
	case "project":
		return map[string]choices{
			"name":             {{projectNames()[0], projectNames()[1], projectNames()[2]}, {"Differential & Co", "Differential (x)", "Differential v1.0", "a-b", "", nil, strings.Repeat("x", 256)}},
			"identifier":       {{"AA", "BB", "cc"}, {"A-B", "ABCDEFGHIJKLM", "", nil, " dd "}},
			"description":      prose,
			"cycle_view":       {{true, true, true, false}, {nil, "x"}},
			"module_view":      {{true, true, true, false}, {nil, "x"}},
			"intake_view":      flags,
			"page_view":        flags,
			"default_assignee": {{"{admin}", "{member}", nil}, {"{guest}", "{outsider}", unknownID, "x"}},
			"project_lead":     {{"{admin}", "{member}", nil}, {"{guest}", "{outsider}", unknownID, "x"}},
			"timezone":         {{"UTC", "Europe/Berlin", "Asia/Kolkata"}, {"Mars/Base", "", nil, "CET6"}},
			"archive_in":       {{0, 3, 12}, {13, -1, "x", nil}},
			"emoji":            {{"1", nil}, nil},
			"network":          {{0, 2}, nil},
			"external_id":      ids,
			"external_source":  source,
		}
	case "membership":
		return map[string]choices{
			"member": {{"{admin}", "{member}", "{guest}"}, {"{outsider}", unknownID, "x", nil, 5}},
			"role":   {{5, 15, 20}, {10, 0, "15", "x", nil}},
		}
	case "state":
		return map[string]choices{
			"name":        {{"Review", "Testing", "Todo", "Done", "review", "In Progress"}, {"Triage", "triage", "", nil, 5, strings.Repeat("x", 256)}},
			"color":       {{"#ff0000", "red"}, {"", nil, 5}},
			"group":       {{"backlog", "unstarted", "started", "completed", "cancelled"}, {"triage", "x", "", nil}},
			"description": prose, "default": {{true, false, false, false}, {nil, "x"}},
			"sequence": {{1, 2.5, 70000}, {nil, "x"}}, "external_id": ids, "external_source": source,
		}
	case "label":
		return map[string]choices{
			"name":        {{"bug", "Bug", "feature", "docs"}, {"", nil, 5, strings.Repeat("x", 256)}},
			"color":       {{"#ff0000", "red", ""}, {nil, 5}},
			"description": prose, "parent": {{g.one("label", container), nil}, {unknownID, "x"}},
			"sort_order": {{1, 2.5, 70000}, {nil, "x"}}, "external_id": ids, "external_source": source,
		}
	case "cycle":
		return map[string]choices{
			"name": names, "description": prose, "project_id": {{"{" + container + "}"}, {unknownID, "x", nil}},
			"start_date": {{"2030-01-05", "2020-01-05", "2030-03-01T10:00:00Z", nil}, {"2030-02-30", "", 5}},
			"end_date":   {{"2030-01-20", "2020-01-20", "2030-03-09", nil}, {"2029-01-01", "x", ""}},
			"owned_by":   people, "timezone": {{"UTC", "Europe/Berlin"}, {"Mars/Base", nil}}, "sort_order": {{1}, {"x"}}, "external_id": ids, "external_source": source,
		}
	case "module":
		return map[string]choices{
			"name": names, "description": prose, "start_date": days, "target_date": days,
			"status": {{"backlog", "planned", "in-progress", "paused", "completed", "cancelled"}, {"x", "", nil}},
			"lead":   {{"{admin}", "{member}", nil}, {"{guest}", "{outsider}", unknownID, "x"}},
			"members": {
				{[]any{}, []any{"{admin}"}, []any{"{member}"}, []any{"{admin}", "{member}"}, []any{"{admin}", "{admin}"}},
				{[]any{"{guest}"}, []any{"{outsider}"}, []any{unknownID}, []any{"x"}, nil, "x"},
			},
			"external_id": ids, "external_source": source,
		}
	case "item":
		return map[string]choices{
			"name": names, "description_html": html,
			"priority":   {{"urgent", "high", "medium", "low", "none"}, {"High", "", nil, 5}},
			"start_date": days, "target_date": days, "point": {{0, 5, 12, nil}, {13, -1, "x", 1.5}},
			"state":       {{g.one("state", container), g.one("state", container), nil}, {unknownID, "x"}},
			"parent":      {{g.one("item", container), nil}, {unknownID, "x"}},
			"assignees":   {{[]any{}, []any{"{admin}"}, []any{"{member}", "{admin}"}, []any{"{guest}"}, []any{"{outsider}"}}, {nil, []any{unknownID}, []any{"x"}, "x"}},
			"labels":      {{[]any{}, g.some("label", container), g.some("label", container)}, {nil, []any{"x"}, "x"}},
			"created_at":  {{"2020-01-02T03:04:05Z", "2021-02-03T04:05:06.789Z", "2020-01-01"}, {"x", 5, "", nil}},
			"created_by":  {{"{member}", "{guest}"}, {unknownID, "x", nil}},
			"archived_at": {{"2020-01-02", nil}, {"x", ""}},
			"is_draft":    {{true, false, false}, {nil, "x"}},
			"sort_order":  {{1, 2.5, 70000}, {nil, "x"}}, "external_id": ids, "external_source": source,
			"estimate_point": {{nil}, {unknownID, "x", 3}}, "type": {{nil}, {unknownID, "x"}}, "sequence_id": {{700}, nil}, "completed_at": {{"2020-01-02T03:04:05Z"}, nil},
		}
	case "link":
		return map[string]choices{
			"url": {
				{"https://example.com/a", "https://example.com/b", "http://localhost/x", "https://127.0.0.1:8/x"},
				{"", nil, "nope", "ftp://example.com/x", "http://intranet/x", "https://example.com/" + strings.Repeat("x", 3000), 5},
			},
			"title": {{"T", "", nil}, {5, strings.Repeat("x", 256)}},
		}
	case "comment":
		return map[string]choices{
			"comment_html": html, "access": {{"INTERNAL", "EXTERNAL"}, {"x", nil}}, "external_id": ids, "external_source": source,
			"created_at": {{"2020-01-02T03:04:05Z"}, {"x"}}, "created_by": {{"{member}"}, {unknownID}},
		}
	}
	return nil
}

// readBack reads all that a sequence may have changed, as the admin sees it.
func readBack(sequence []operation) []operation {
	var out []operation
	read := func(path string) { out = append(out, operation{as: admin, method: http.MethodGet, path: path}) }
	read("projects/")
	for _, op := range sequence {
		if op.makes == "" || op.method != http.MethodPost {
			continue
		}
		list, _, _ := strings.Cut(op.path, "?")
		one := list + "{" + op.makes + "}/"
		switch {
		case strings.HasSuffix(list, "/project-members/"):
			read(list + "{" + op.makes + "}/")
		case list == "projects/":
			for _, part := range []string{
				"", "states/", "labels/", "cycles/", "modules/", "work-items/", "project-members/", "archived-cycles/", "archived-modules/",
				"work-items/?external_id=e1&external_source=s", "work-items/?order_by=-created_at",
			} {
				read(one + part)
			}
		case strings.HasSuffix(list, "/cycles/"):
			read(one)
			read(one + "cycle-issues/")
		case strings.HasSuffix(list, "/modules/"):
			read(one)
			read(one + "module-issues/")
		case strings.HasSuffix(list, "/work-items/"):
			for _, part := range []string{"", "links/", "comments/", "relations/"} {
				read(one + part)
			}
		default:
			read(one)
		}
	}
	return out
}
