package sandbox

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

// collectionProbe is a list of records of a project, and how one of them is made.
type collectionProbe struct {
	file, kind string
	list, one  string         // paths; one ends at the record of the name in braces
	watch      []string       // what else its writes may change
	needs      []operation    // what is there before
	names      map[string]int // of records made, by prefix
}

func get(path string) operation { return operation{as: admin, method: http.MethodGet, path: path} }

func sending(method, path string, body any) operation {
	return operation{as: admin, method: method, path: path, body: body}
}

func post(path string, body any, makes string) operation {
	return operation{as: admin, method: http.MethodPost, path: path, body: body, makes: makes}
}

// twoProjects returns the beginning of each scene: "p" has all people except the outsider, "q" only the admin.
func twoProjects() []operation {
	flags := fields{"cycle_view": true, "module_view": true, "intake_view": true, "page_view": true, "issue_views_view": true}
	with := func(name, identifier string) fields {
		out := maps.Clone(flags)
		out["name"], out["identifier"] = name, identifier
		return out
	}
	return []operation{
		post("projects/", with("Differential A", "AA"), "p"), post("projects/", with("Differential B", "BB"), "q"),
		{as: admin, method: http.MethodGet, path: at("p") + "states/", makes: "p"},
		{as: admin, method: http.MethodGet, path: at("q") + "states/", makes: "q"},
		post(at("p")+"project-members/", fields{"member": "{member}", "role": 15}, "membership"),
		post(at("p")+"project-members/", fields{"member": "{guest}", "role": 5}, "guesthood"),
	}
}

// probed is the collections that are gone through in the same way.
func probed() []collectionProbe {
	const item = "projects/{p}/work-items/{item}/"
	anItem := post(at("p")+"work-items/", fields{"name": "Item", "assignees": []any{"{member}"}, "external_id": "i", "external_source": "s"}, "item")
	return []collectionProbe{
		{file: "projects", kind: "project", list: "projects/", one: "projects/{project}/"},
		{file: "states", kind: "state", list: at("p") + "states/", one: at("p") + "states/{state}/"},
		{file: "labels", kind: "label", list: at("p") + "labels/", one: at("p") + "labels/{label}/"},
		{file: "cycles", kind: "cycle", list: at("p") + "cycles/", one: at("p") + "cycles/{cycle}/"},
		{file: "modules", kind: "module", list: at("p") + "modules/", one: at("p") + "modules/{module}/"},
		{
			file: "work-items", kind: "item", list: at("p") + "work-items/", one: at("p") + "work-items/{item}/",
			needs: []operation{post(at("p")+"labels/", fields{"name": "bug"}, "label"), post(at("q")+"labels/", fields{"name": "far"}, "far")},
		},
		{file: "links", kind: "link", list: item + "links/", one: item + "links/{link}/", needs: []operation{anItem}},
		{file: "comments", kind: "comment", list: item + "comments/", one: item + "comments/{comment}/", needs: []operation{anItem}},
		{file: "attachments", kind: "attachment", list: item + "attachments/", one: item + "attachments/{attachment}/", needs: []operation{anItem}},
		{file: "members", kind: "membership", list: at("q") + "project-members/", one: at("q") + "project-members/{membership}/"},
	}
}

// plays is every scene that is recorded.
func plays() []play {
	var out []play
	for _, p := range probed() {
		p.names = map[string]int{}
		for _, part := range []struct {
			name string
			ops  []operation
		}{
			{"fields of a new one", p.creations()},
			{"fields of a change", p.changes()},
			{"bodies", p.bodies()},
			{"people", p.people()},
			{"addresses", p.addresses()},
			{"questions", p.questions()},
			{"its life", p.life()},
		} {
			ops := slices.Concat(twoProjects(), p.needs, part.ops)
			out = append(out, play{p.file, part.name, p.watch, ops})
		}
		if strings.Contains(p.list, "{p}") {
			out = append(out, play{p.file, "strangers", p.watch, slices.Concat(twoProjects(), p.strangers())})
		}
	}
	return append(out, listPlays()...)
}

// body is a new record's, with a name of its own.
func (p *collectionProbe) body() fields {
	p.names["body"]++
	n := p.names["body"]
	name := fmt.Sprintf("Probe %d", n)
	switch p.kind {
	case "project":
		return fields{"name": fmt.Sprintf("Differential %d", n), "identifier": fmt.Sprintf("P%d", n)}
	case "state":
		return fields{"name": name, "color": "#ff0000"}
	case "cycle":
		return fields{"name": name, "project_id": "{p}"}
	case "link":
		return fields{"url": fmt.Sprintf("https://example.com/%d", n)}
	case "comment":
		return fields{"comment_html": fmt.Sprintf("<p>Probe %d</p>", n)}
	case "attachment":
		return fields{"name": fmt.Sprintf("probe%d.png", n), "type": "image/png", "size": 100}
	case "membership":
		return fields{"member": "{member}", "role": 15}
	}
	return fields{"name": name}
}

// values returns the values with which each field is tried: right and wrong values of the differential test, and further
// wrong ones.
func (p *collectionProbe) values(more ...any) map[string][]any {
	g := &generator{rng: rand.New(rand.NewPCG(1, 1)), within: map[string][]string{
		"p/state": {"p.Todo"}, "p/label": {"label"}, "p/item": {"item"}, "/state": {"q.Todo"},
	}}
	out := map[string][]any{}
	for name, choice := range g.values(p.kind, "p") {
		for _, v := range slices.Concat(choice[0], choice[1], more) {
			if !slices.ContainsFunc(out[name], func(earlier any) bool { return inJSON(earlier) == inJSON(v) }) {
				out[name] = append(out[name], v)
			}
		}
	}
	switch p.kind {
	case "item":
		out["state"] = append(out["state"], "{q.Todo}")
		out["labels"] = append(out["labels"], []any{"{label}", "{label}"}, []any{"{far}"}, []any{"{label}", "{far}"}, []any{unknownID}, []any{nil})
		out["assignees"] = append(out["assignees"], []any{"{member}", "{member}"}, []any{"{member}", "{guest}"}, []any{nil})
		out["parent"] = append(out["parent"], "{first}", "{abroad}")
		for _, name := range []string{"cycle", "module", "state_id", "assignee_ids", "label_ids", "description", "description_stripped", "id", "project", "workspace", "deleted_at", "updated_at"} {
			out[name] = []any{nil, "", "x", unknownID, "2020-01-02T03:04:05Z"}
		}
	case "attachment":
		for name, more := range map[string][]any{
			"name": {"a b.png", "ä.png", "../x.png", "x.exe"}, "size": {0, -1, 1.5, "100", 10 << 20},
			"type":        {"text/plain", "text/html", "application/pdf", "application/x-sh", "image/svg+xml", "application/zip", "video/mp4", "nonsense"},
			"external_id": {"e1"}, "external_source": {"s"},
		} {
			out[name] = append(more, nil, "", 5, true, []any{}, fields{})
		}
	}
	return out
}

// creations makes one record for each value of each field.
func (p *collectionProbe) creations() []operation {
	out := []operation{}
	if p.kind == "item" {
		out = append(out, post(p.list, fields{"name": "First"}, "first"), post(at("q")+"work-items/", fields{"name": "Abroad"}, "abroad"))
	}
	if p.kind == "label" {
		out = append(out, post(p.list, fields{"name": "First"}, "label"))
	}
	values := p.values(nil, "", 5, true, []any{}, fields{}, "x", strings.Repeat("x", 256))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for i, v := range values[name] {
			body := p.body()
			body[name] = v
			made := fmt.Sprintf("%s %s%d", p.kind, letter(name), i)
			out = append(out, post(p.list, body, made))
			if p.kind == "membership" {
				out = append(out, operation{as: admin, method: http.MethodDelete, path: at("q") + "project-members/{" + made + "}/"})
			}
		}
	}
	full := p.body()
	for _, name := range slices.Sorted(maps.Keys(full)) {
		missing := maps.Clone(p.body())
		delete(missing, name)
		out = append(out, post(p.list, missing, p.kind+" without "+letter(name)))
	}
	return out
}

// letter is a name as names of records may have it.
func letter(name string) string { return strings.ReplaceAll(name, "_", "") }

// changes makes a record for each field and gives it each value.
func (p *collectionProbe) changes() []operation {
	out := []operation{}
	if p.kind == "item" {
		out = append(out, post(p.list, fields{"name": "First"}, "first"), post(at("q")+"work-items/", fields{"name": "Abroad"}, "abroad"))
	}
	if p.kind == "label" {
		out = append(out, post(p.list, fields{"name": "First"}, "label"))
	}
	values := p.values(nil, "")
	for _, name := range slices.Sorted(maps.Keys(values)) {
		made := p.kind + " " + letter(name)
		if p.kind == "membership" {
			made = "membership of " + letter(name)
			out = append(out, post(p.list, fields{"member": "{member}", "role": 15}, made))
		} else {
			out = append(out, post(p.list, p.body(), made))
		}
		one := p.named(made)
		for _, v := range values[name] {
			out = append(out, sending(http.MethodPatch, one, fields{name: v}))
		}
		if p.kind == "membership" {
			out = append(out, sending(http.MethodDelete, one, nil))
		}
	}
	return out
}

// named is the path of the record of a name.
func (p *collectionProbe) named(name string) string {
	return strings.Replace(p.one, "{"+p.kind+"}", "{"+name+"}", 1)
}

// bodies is bodies that are no object, no JSON or of another type.
func (p *collectionProbe) bodies() []operation {
	one := p.named("made")
	out := []operation{post(p.list, p.body(), "made")}
	for _, target := range []struct{ method, path string }{{http.MethodPost, p.list}, {http.MethodPatch, one}} {
		for i, body := range []any{fields{}, []any{}, []any{p.body()}, "text", 5, true, fields{"nosuch": 1}, fields{"id": unknownID, "created_at": "x"}} {
			op := sending(target.method, target.path, body)
			if target.method == http.MethodPost {
				op.makes = fmt.Sprintf("%s of body %d", p.kind, i)
			}
			out = append(out, op)
		}
		name := slices.Sorted(maps.Keys(p.body()))[0]
		for i, raw := range []string{"null", "{", `{"` + name + `":`, "\ufeff{}", `{"` + name + `":NaN}`, " ", `{"` + name + `":"a","` + name + `":"b"}`, "{} {}", name + "=b"} {
			out = append(out, operation{as: admin, method: target.method, path: target.path, raw: raw, makes: fmt.Sprintf("%s of raw %d", p.kind, i)})
		}
		for i, media := range []string{"", "text/plain", "application/json; charset=utf-8", "application/xml", "nonsense"} {
			op := sending(target.method, target.path, p.body())
			op.headers = map[string]string{"Content-Type": media}
			op.makes = fmt.Sprintf("%s of type %d", p.kind, i)
			out = append(out, op)
		}
		for _, accept := range []string{"text/html", "application/xml", "*/*", "image/png"} {
			op := sending(target.method, target.path, fields{})
			op.headers = map[string]string{"Accept": accept}
			out = append(out, op)
		}
		out = append(out, operation{as: admin, method: target.method, path: target.path})
	}
	return out
}

// people is everybody who asks for everything, in a project that they are in
// and in one that they are not in.
func (p *collectionProbe) people() []operation {
	var out []operation
	out = append(out, post(p.list, p.body(), "made"))
	for _, who := range []person{admin, member, guest, outsider, nobody, impostor} {
		as := func(op operation) { op.as = who; out = append(out, op) }
		fresh := fmt.Sprintf("%s for %s", p.kind, who)
		if p.kind != "membership" {
			out = append(out, post(p.list, p.body(), fresh))
		} else {
			fresh = "made"
		}
		as(get(p.list))
		as(get(p.named("made")))
		as(post(p.list, p.body(), fmt.Sprintf("%s by %s", p.kind, who)))
		as(sending(http.MethodPatch, p.named(fmt.Sprintf("%s by %s", p.kind, who)), p.body()))
		as(sending(http.MethodDelete, p.named(fmt.Sprintf("%s by %s", p.kind, who)), nil))
		change := p.body()
		as(sending(http.MethodPatch, p.named("made"), change))
		as(sending(http.MethodPatch, p.named(fresh), fields{}))
		as(sending(http.MethodDelete, p.named(fresh), nil))
		if p.kind == "membership" {
			out = append(out, post(p.list, p.body(), "made"))
		}
		if strings.Contains(p.list, "{p}") {
			far := strings.Replace(p.list, "{p}", "{q}", 1)
			as(get(far))
			as(post(far, p.body(), fmt.Sprintf("%s afar by %s", p.kind, who)))
		}
		as(operation{method: http.MethodPut, path: p.list, body: p.body()})
	}
	return out
}

// strangers is an admin and a guest of the workspace in a member's project that they are not in.
func (p *collectionProbe) strangers() []operation {
	theirs := func(path string) string { return strings.Replace(path, "{p}", "{r}", 1) }
	out := []operation{post("projects/", fields{"name": "Differential C", "identifier": "CC", "cycle_view": true, "module_view": true}, "r")}
	for _, op := range append(slices.Clone(p.needs), post(p.list, p.body(), "made")) {
		if op.path = theirs(op.path); op.makes != "far" {
			out = append(out, op)
		}
	}
	for i := range out {
		out[i].as = member
	}
	for _, who := range []person{admin, guest} {
		fresh := fmt.Sprintf("%s by %s", p.kind, who)
		for _, op := range []operation{
			get(p.list), get(p.named("made")), sending(http.MethodPatch, p.named("made"), p.body()), post(p.list, p.body(), fresh), get(p.list), get(p.named(fresh)),
			sending(http.MethodPatch, p.named(fresh), p.body()), sending(http.MethodDelete, p.named(fresh), nil), sending(http.MethodDelete, p.named("made"), nil),
		} {
			op.as, op.path = who, theirs(op.path)
			out = append(out, op)
		}
	}
	for i := range out {
		if body, ok := out[i].body.(fields); ok && body["project_id"] != nil {
			body["project_id"] = "{r}"
		}
	}
	return append(out, operation{as: member, method: http.MethodGet, path: theirs(p.list)})
}

// addresses is IDs that are of nothing, of something else or none, methods that
// a route does not have, and paths without their slash.
func (p *collectionProbe) addresses() []operation {
	out := []operation{post(p.list, p.body(), "made"), post(at("q")+"labels/", fields{"name": "elsewhere"}, "elsewhere")}
	one := p.named("made")
	for _, path := range []string{p.list, one} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodPut, http.MethodHead, http.MethodOptions} {
			if path == p.list && method == http.MethodPost || path == one && method == http.MethodDelete {
				continue
			}
			var body any
			if method != http.MethodGet && method != http.MethodHead {
				body = fields{}
			}
			out = append(out, sending(method, path, body))
		}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodPut, http.MethodHead} {
			out = append(out, sending(method, strings.TrimSuffix(path, "/"), nil))
			out = append(out, sending(method, strings.TrimSuffix(path, "/")+"?per_page=1", nil))
		}
		for _, id := range anyParameter.FindAllString(path, -1) {
			for _, other := range []string{unknownID, "x", "5", "{q}", "{elsewhere}", strings.ToUpper(unknownID), "AA-1"} {
				wrong := strings.Replace(path, id, other, 1)
				if other == "{q}" && id == "{project}" {
					continue
				}
				out = append(out, get(wrong))
				if path == p.list {
					out = append(out, post(wrong, p.body(), fmt.Sprintf("%s misplaced %d", p.kind, len(out))))
				} else {
					out = append(out, sending(http.MethodPatch, wrong, p.body()))
					if other != "{q}" {
						out = append(out, sending(http.MethodDelete, wrong, nil))
					}
				}
			}
		}
		out = append(out, get(path+"nosuch/"), get(path+"/"), get(strings.Replace(path, "projects/", "projects//", 1)))
	}
	out = append(out, sending(http.MethodDelete, one, nil), sending(http.MethodDelete, one, nil), get(one), sending(http.MethodPatch, one, fields{}))
	return out
}

// questions is queries of a list and of a record.
func (p *collectionProbe) questions() []operation {
	var out []operation
	if p.kind == "membership" {
		out = append(out, post(p.list, p.body(), "made"))
	} else {
		for i := range 3 {
			body := p.body()
			if p.kind != "link" && p.kind != "project" {
				body["external_id"], body["external_source"] = fmt.Sprintf("e%d", i), "s"
			}
			out = append(out, post(p.list, body, []string{"one", "made", "three"}[i]))
		}
	}
	for _, query := range []string{
		"", "per_page=1", "per_page=2", "per_page=2&cursor=2:1:0", "per_page=2&cursor=2:1:1", "per_page=2&cursor=2:9:0", "cursor=2:1:0", "per_page=0", "per_page=-1", "per_page=x", "per_page=",
		"per_page=1000", "per_page=1001", "per_page=2.5", "cursor=1:x:0", "cursor=x", "cursor=1:-1:0", "cursor=", "cursor=1:0", "cursor=0:0:0",
		"fields=id", "fields=id,name", "fields=id,nosuch", "fields=nosuch", "fields=", "fields=id,%20name", "fields=id&fields=name", "fields=created_by", "fields=id,external_id,external_source",
		"order_by=-created_at", "order_by=-updated_at",
		"external_id=e1&external_source=s", "external_id=e9&external_source=s", "external_id=e1", "external_source=s", "external_id=&external_source=",
		"search=Probe", "name=Probe%201", "state={p.Todo}", "priority=none", "assignees={admin}", "labels=x", "limit=1", "offset=1", "page=2", "page_size=1", "created_at__gt=2030-01-01", "group_by=state", "sub_group_by=priority", "state_group=backlog",
		"include_archived=true", "archived=true", "is_draft=true", "type=all", "member={member}", "role=15", "identifier=AA", "project_id={p}", "parent=null", "sub_issue=false", "ordering=name",
	} {
		if p.kind != "project" || !strings.HasPrefix(query, "order_by=") { // projects have an order of their own
			out = append(out, get(p.list+"?"+query))
		}
	}
	for _, query := range []string{
		"", "fields=id", "fields=id,name", "fields=nosuch", "fields=",
		"per_page=x", "cursor=x", "external_id=e1",
		"nosuch=1",
	} {
		out = append(out, get(p.named("made")+"?"+query))
	}
	return out
}

// life is one record from its creation to its deletion, beside others of its
// name and of its external ID.
func (p *collectionProbe) life() []operation {
	if p.kind == "membership" {
		return []operation{
			post(p.list, p.body(), "made"), post(p.list, p.body(), "again"), get(p.list), sending(http.MethodPatch, p.named("made"), fields{"role": 20}),
			{as: member, method: http.MethodPatch, path: at("q"), body: fields{"description": "by the member"}},
			sending(http.MethodPatch, p.named("made"), fields{"role": 5}),
			{as: member, method: http.MethodPost, path: at("q") + "work-items/", body: fields{"name": "x"}},
			sending(http.MethodDelete, p.named("made"), nil), get(p.list), get(p.named("made")),
			{as: member, method: http.MethodGet, path: at("q") + "work-items/"},
			post(p.list, p.body(), "third"), sending(http.MethodPatch, p.named("made"), fields{"role": 15}), sending(http.MethodDelete, p.named("made"), nil),
		}
	}
	first := p.body()
	marked := func() fields {
		b := p.body()
		b["external_id"], b["external_source"] = "e", "s"
		return b
	}
	out := []operation{
		post(p.list, first, "made"), get(p.named("made")), post(p.list, first, "again"), post(p.list, marked(), "marked"), post(p.list, marked(), "marked again"),
		get(p.list + "?external_id=e&external_source=s"), get(p.list + "?external_id=e2&external_source=s"),
		post(p.list, p.body(), "third"), sending(http.MethodPatch, p.named("third"), fields{"external_id": "e", "external_source": "s"}), sending(http.MethodPatch, p.named("third"), fields{"external_id": "e"}),
		sending(http.MethodPatch, p.named("third"), first), sending(http.MethodPatch, p.named("marked"), fields{"external_id": nil, "external_source": nil}), post(p.list, marked(), "marked anew"),
		sending(http.MethodPatch, p.named("marked anew"), fields{"external_id": "e", "external_source": "s"}), sending(http.MethodPatch, p.named("marked anew"), fields{"external_id": "e5"}),
		sending(http.MethodPatch, p.named("made"), first), sending(http.MethodPatch, p.named("made"), fields{}), get(p.named("made")),
		sending(http.MethodDelete, p.named("made"), nil), get(p.named("made")), sending(http.MethodPatch, p.named("made"), fields{}), sending(http.MethodDelete, p.named("made"), nil), get(p.list),
		post(p.list, first, "anew"), sending(http.MethodDelete, p.named("marked anew"), nil), post(p.list, marked(), "marked at last"),
	}
	if strings.Contains(p.list, "{p}") && !strings.Contains(p.list, "{item}") {
		far := strings.Replace(p.list, "{p}", "{q}", 1)
		body, double := p.body(), marked()
		if p.kind == "cycle" {
			body["project_id"], double["project_id"] = "{q}", "{q}"
		}
		out = append(out, post(far, body, "abroad"), post(far, double, "marked abroad"), get(strings.Replace(p.one, "{"+p.kind+"}", "{abroad}", 1)),
			sending(http.MethodPatch, strings.Replace(p.one, "{"+p.kind+"}", "{abroad}", 1), fields{"name": "Moved"}), sending(http.MethodDelete, strings.Replace(p.one, "{"+p.kind+"}", "{abroad}", 1), nil))
		if p.kind != "project" {
			out = append(out, sending(http.MethodPost, at("p")+"archive/", nil), get(p.list), get(p.named("anew")), post(p.list, p.body(), "in the archive"),
				sending(http.MethodPatch, p.named("anew"), p.body()), sending(http.MethodDelete, p.named("anew"), nil), sending(http.MethodDelete, at("p")+"archive/", nil), get(p.list),
				sending(http.MethodDelete, at("q"), nil), get(far), post(far, body, "too late"))
		}
	}
	return out
}
