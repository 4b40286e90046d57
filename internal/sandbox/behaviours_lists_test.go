package sandbox

import (
	"net/http"
	"slices"
	"strings"
)

// listPlays is the scenes of what is in lists of other records: items of cycles and modules, relations, and what the sandbox
// does not serve.
func listPlays() []play {
	items := []operation{
		post(at("p")+"work-items/", fields{"name": "A"}, "a"), post(at("p")+"work-items/", fields{"name": "B"}, "b"),
		post(at("p")+"work-items/", fields{"name": "C", "priority": "high"}, "c"), post(at("q")+"work-items/", fields{"name": "Far"}, "far"),
	}
	var out []play
	scene := func(file, name string, ops ...[]operation) {
		out = append(out, play{file: file, name: name, operations: slices.Concat(append([][]operation{twoProjects(), items}, ops...)...)})
	}
	for _, kind := range []string{"cycle", "module"} {
		file, list := "items-of-"+kind+"s", at("p")+kind+"s/{made}/"+kind+"-issues/"
		made := []operation{
			post(at("p")+kind+"s/", fields{"name": "One", "project_id": "{p}"}, "made"),
			post(at("p")+kind+"s/", fields{"name": "Two", "project_id": "{p}"}, "other"),
			post(at("q")+kind+"s/", fields{"name": "Far", "project_id": "{q}"}, "abroad"),
		}
		scene(file, "bodies", made, namingItems(list))
		scene(file, "addresses", made, listAddresses(list, kind))
		scene(file, "questions", made, []operation{sending(http.MethodPost, list, fields{"issues": []any{"{a}", "{b}", "{c}"}})}, listQuestions(list, list+"{a}/"))
		scene(file, "people", made, listPeople(list, kind))
		scene(file, "its life", made, listLife(list, kind))
	}
	relations := at("p") + "work-items/{a}/relations/"
	scene("relations", "bodies", relationBodies(relations))
	scene("relations", "questions", []operation{
		sending(http.MethodPost, relations, fields{"relation_type": "blocking", "issues": []any{"{b}"}}),
		sending(http.MethodPost, relations, fields{"relation_type": "relates_to", "issues": []any{"{c}", "{far}"}}),
	}, listQuestions(relations, relations))
	scene("relations", "people", relationPeople(relations))
	scene("relations", "its life", relationLife(relations))
	scene("unserved", "intake", intakeOperations())
	scene("unserved", "search", searches())
	scene("unserved", "invitations", invitations())
	return out
}

// namingItems is bodies of a request that puts items into a list.
func namingItems(list string) []operation {
	var out []operation
	for _, issues := range []any{
		[]any{"{a}"},
		[]any{"{a}"},
		[]any{"{a}", "{b}"},
		[]any{"{c}", "{c}"},
		[]any{},
		nil, "", "x", 5, true,
		fields{},
		[]any{"x"},
		[]any{""},
		[]any{nil},
		[]any{5},
		[]any{unknownID},
		[]any{"{a}", unknownID},
		[]any{"{far}"},
		[]any{"{a}", "{far}"},
		[]any{[]any{}},
		[]any{strings.ToUpper(unknownID)},
	} {
		out = append(out, sending(http.MethodPost, list, fields{"issues": issues}), get(list))
	}
	for _, body := range []any{fields{}, []any{}, []any{"{a}"}, "text", 5, fields{"work_items": []any{"{a}"}}} {
		out = append(out, sending(http.MethodPost, list, body))
	}
	for _, raw := range []string{"null", "{", " "} {
		out = append(out, operation{as: admin, method: http.MethodPost, path: list, raw: raw})
	}
	return append(out, operation{as: admin, method: http.MethodPost, path: list})
}

// listAddresses is methods that a list of items does not have, and IDs of something else.
func listAddresses(list, kind string) []operation {
	out := []operation{sending(http.MethodPost, list, fields{"issues": []any{"{a}", "{b}"}})}
	for _, path := range []string{list, list + "{a}/"} {
		for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodPut, http.MethodHead, http.MethodOptions} {
			out = append(out, sending(method, path, nil))
		}
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			out = append(out, sending(method, strings.TrimSuffix(path, "/"), nil))
		}
	}
	for _, wrong := range [][2]string{
		{"{p}", "{q}"}, {"{p}", unknownID}, {"{p}", "x"}, {"{made}", "{abroad}"}, {"{made}", unknownID}, {"{made}", "x"}, {"{made}", "{a}"}, {kind + "s/", "nosuch/"},
	} {
		path := strings.Replace(list, wrong[0], wrong[1], 1)
		out = append(out, get(path), sending(http.MethodPost, path, fields{"issues": []any{"{c}"}}), sending(http.MethodDelete, path+"{c}/", nil))
	}
	for _, item := range []string{"{c}", "{far}", unknownID, "x", "{made}"} {
		out = append(out, get(list+item+"/"), sending(http.MethodDelete, list+item+"/", nil))
	}
	return append(out, sending(http.MethodDelete, list+"{a}/", nil), get(list), sending(http.MethodDelete, list+"{a}/", nil), get(list+"{a}/"))
}

// listQuestions is queries of a list, and some of one of its entries.
func listQuestions(list, one string) []operation {
	var out []operation
	for _, query := range []string{
		"", "per_page=1", "per_page=2&cursor=2:1:0", "per_page=x", "per_page=1001", "cursor=x", "fields=id", "fields=id,name", "fields=nosuch", "fields=id&fields=name",
		"expand=state", "expand=labels,assignees", "expand=project", "expand=issue", "expand=parent", "order_by=name", "order_by=-name", "order_by=created_at", "order_by=-created_at",
		"order_by=sequence_id", "order_by=-sequence_id", "order_by=priority", "order_by=sort_order", "order_by=state__name", "order_by=nosuch", "order_by=",
		"format=xml", "format=json", "search=A", "priority=high", "group_by=state", "limit=1", "nosuch=1",
	} {
		out = append(out, get(list+"?"+query))
	}
	for _, query := range []string{"", "fields=id", "expand=issue", "format=xml"} {
		out = append(out, get(one+"?"+query))
	}
	return out
}

// listPeople is everybody at a list of items, of a project that they are in and of one that they are not in.
func listPeople(list, kind string) []operation {
	out := []operation{sending(http.MethodPost, list, fields{"issues": []any{"{a}"}})}
	far := at("q") + kind + "s/{abroad}/" + kind + "-issues/"
	for _, who := range []person{admin, member, guest, outsider, nobody, impostor} {
		as := func(op operation) { op.as = who; out = append(out, op) }
		as(get(list))
		as(sending(http.MethodPost, list, fields{"issues": []any{"{b}"}}))
		as(sending(http.MethodDelete, list+"{b}/", nil))
		as(get(list + "{a}/"))
		as(get(far))
		as(sending(http.MethodPost, far, fields{"issues": []any{"{far}"}}))
		as(sending(http.MethodDelete, far+"{far}/", nil))
	}
	return out
}

// listLife is items that move, go and come back, and lists that end or go.
func listLife(list, kind string) []operation {
	other := strings.Replace(list, "{made}", "{other}", 1)
	one := at("p") + kind + "s/{made}/"
	in := func(list string, items ...any) operation {
		return sending(http.MethodPost, list, fields{"issues": items})
	}
	out := []operation{
		in(list, "{a}", "{b}"), in(other, "{b}", "{c}"), get(list), get(other), get(one),
		sending(http.MethodPatch, at("p")+"work-items/{a}/", fields{"archived_at": "2020-01-02"}), get(list), in(list, "{a}"), get(one),
		sending(http.MethodDelete, at("p")+"work-items/{b}/", nil), get(other), in(list, "{b}"), get(list),
	}
	if kind == "cycle" {
		out = append(out,
			sending(http.MethodPost, one+"transfer-issues/", fields{"new_cycle_id": "{other}"}), sending(http.MethodPost, one+"transfer-issues/", fields{}),
			sending(http.MethodPost, one+"transfer-issues/", fields{"new_cycle_id": unknownID}),
			sending(http.MethodPatch, one, fields{"start_date": "2020-01-05", "end_date": "2020-01-20"}), in(list, "{c}"), get(list),
			sending(http.MethodDelete, list+"{a}/", nil), sending(http.MethodPost, one+"transfer-issues/", fields{"new_cycle_id": "{other}"}), get(list), get(other),
		)
	} else {
		out = append(out, in(list, "{c}"), sending(http.MethodPatch, one, fields{"status": "completed"}))
	}
	return append(out,
		sending(http.MethodPost, one+"archive/", nil), get(list), in(list, "{c}"), sending(http.MethodDelete, list+"{c}/", nil),
		sending(http.MethodDelete, at("p")+"archived-"+kind+"s/{made}/unarchive/", nil), get(list),
		sending(http.MethodDelete, one, nil), get(list), in(list, "{c}"), sending(http.MethodDelete, list+"{c}/", nil),
		sending(http.MethodPatch, at("p"), fields{kind + "_view": false}), get(other), in(other, "{c}"), sending(http.MethodDelete, other+"{c}/", nil),
	)
}

func relationBodies(list string) []operation {
	relate := func(name, issues any) operation {
		return sending(http.MethodPost, list, fields{"relation_type": name, "issues": issues})
	}
	var out []operation
	for _, name := range []any{
		"blocking", "blocked_by", "duplicate", "relates_to", "start_before", "start_after", "finish_before", "finish_after", "implements", "implemented_by", "x", "", nil, 5,
		true,
		[]any{},
		fields{},
	} {
		out = append(out, relate(name, []any{"{b}"}), get(list), get(strings.Replace(list, "{a}", "{b}", 1)))
	}
	for _, issues := range []any{
		[]any{"{b}"},
		[]any{"{b}", "{c}"},
		[]any{"{c}", "{c}"},
		[]any{"{a}"},
		[]any{"{far}"},
		[]any{unknownID},
		[]any{"{c}", unknownID},
		[]any{},
		nil, "", "x", 5,
		fields{},
		[]any{"x"},
		[]any{""},
		[]any{nil},
		[]any{5},
	} {
		out = append(out, relate("relates_to", issues))
	}
	for _, body := range []any{fields{}, fields{"issues": []any{"{b}"}}, fields{"relation_type": "blocking"}, []any{}, "text"} {
		out = append(out, sending(http.MethodPost, list, body))
	}
	for _, method := range []string{http.MethodPatch, http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodOptions} {
		out = append(out, sending(method, list, nil), sending(method, list+"{b}/", nil))
	}
	for _, wrong := range [][2]string{{"{p}", "{q}"}, {"{p}", unknownID}, {"{a}", "{far}"}, {"{a}", unknownID}, {"{a}", "x"}} {
		path := strings.Replace(list, wrong[0], wrong[1], 1)
		out = append(out, get(path), sending(http.MethodPost, path, fields{"relation_type": "blocking", "issues": []any{"{c}"}}))
	}
	return append(out, get(list), sending(http.MethodPost, list+"remove/", fields{"related_issue": "{b}"}))
}

func relationPeople(list string) []operation {
	var out []operation
	far := at("q") + "work-items/{far}/relations/"
	for _, who := range []person{admin, member, guest, outsider, nobody, impostor} {
		as := func(op operation) { op.as = who; out = append(out, op) }
		as(get(list))
		as(sending(http.MethodPost, list, fields{"relation_type": "relates_to", "issues": []any{"{b}"}}))
		as(get(far))
		as(sending(http.MethodPost, far, fields{"relation_type": "relates_to", "issues": []any{"{b}"}}))
	}
	return out
}

func relationLife(list string) []operation {
	back := strings.Replace(list, "{a}", "{b}", 1)
	return []operation{
		sending(http.MethodPost, list, fields{"relation_type": "blocking", "issues": []any{"{b}", "{c}"}}), get(back),
		sending(http.MethodPost, back, fields{"relation_type": "blocking", "issues": []any{"{a}"}}), get(list),
		sending(http.MethodPost, back, fields{"relation_type": "duplicate", "issues": []any{"{a}"}}), get(list), get(back),
		sending(http.MethodPatch, at("p")+"work-items/{b}/", fields{"archived_at": "2020-01-02"}), get(list), get(back),
		sending(http.MethodPatch, at("p")+"work-items/{c}/", fields{"is_draft": true}), get(list),
		sending(http.MethodPost, at("p")+"archive/", nil), get(list),
		sending(http.MethodPost, list, fields{"relation_type": "relates_to", "issues": []any{"{c}"}}), sending(http.MethodDelete, at("p")+"archive/", nil),
	}
}

func intakeOperations() []operation {
	list := at("p") + "intake-issues/"
	return []operation{
		get(list), post(list, fields{"issue": fields{"name": "Asked for"}}, "asked"), post(list, fields{}, "nothing"), get(list), get(list + "{a}/"),
		sending(http.MethodPatch, list+"{a}/", fields{"status": 1}), sending(http.MethodDelete, list+"{a}/", nil), get(at("q") + "intake-issues/"),
	}
}

func searches() []operation {
	var out []operation
	for _, list := range []string{"work-items/search/", "issues/search/"} {
		for _, query := range []string{"", "?search=A", "?search=nosuch", "?search=A&limit=1", "?search=A&project_id={p}&workspace_search=false"} {
			out = append(out, get(list+query))
		}
	}
	return out
}

func invitations() []operation {
	return []operation{
		get("invitations/"), post("invitations/", fields{"email": "new@example.com", "role": 15}, "invited"), post("invitations/", fields{"email": "x"}, "none"),
		get("invitations/{invited}/"), sending(http.MethodPatch, "invitations/{invited}/", fields{"role": 5}),
		{as: member, method: http.MethodGet, path: "invitations/"},
		sending(http.MethodDelete, "invitations/{invited}/", nil), get("invitations/"),
	}
}
