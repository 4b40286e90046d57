package sandbox

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// listPlays returns the scenes about lists of other records, such as items of cycles and relations, and about records
// outside of projects.
func listPlays() []play {
	items := []operation{ // no two are equal in anything that a list can be ordered by
		post(at("p")+"work-items/", fields{"name": "A", "start_date": "2030-01-05", "point": 3}, "a"),
		post(at("p")+"work-items/", fields{"name": "B", "priority": "low", "state": "{p.Todo}", "start_date": "2030-01-04"}, "b"),
		post(at("p")+"work-items/", fields{"name": "C", "priority": "high", "state": "{p.Done}", "start_date": "2030-01-06", "point": 1}, "c"),
		post(at("q")+"work-items/", fields{"name": "Far"}, "far"),
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
	scene("projects", "their default state", defaultStates())
	scene("comments", "with JSON", commentsWithJSON())
	scene("invitations", "fields", invitations())
	scene("invitations", "people", invitationPeople())
	scene("work-items", "by their keys", itemsByKey())
	scene("members", "of the workspace", readsOfPeople())
	scene("members", "with their roles", membersWithRoles())
	scene("projects", "archived and summed up", projectLife())
	scene("projects", "what names something in an archived one", namingArchived())
	return out
}

// membersWithRoles is reads of members by those who may and may not, before and after one has left.
func membersWithRoles() []operation {
	lists := []string{"members-lite/", at("p") + "project-members-lite/", at("q") + "project-members-lite/", "projects/" + unknownID + "/project-members-lite/"}
	var out []operation
	for _, list := range lists {
		for _, who := range []person{admin, member, guest, outsider, nobody} {
			out = append(out, operation{as: who, method: http.MethodGet, path: list})
		}
		out = append(out, get(list+"?per_page=1"), get(list+"?per_page=1&cursor=1:1:0"), get(list+"?per_page=x"), get(strings.TrimSuffix(list, "/")),
			sending(http.MethodPost, list, fields{}), sending(http.MethodDelete, list, nil))
	}
	out = append(out, sending(http.MethodDelete, at("p")+"project-members/{membership}/", nil))
	return append(out, get(lists[1]), operation{as: member, method: http.MethodGet, path: lists[1]})
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
		nil, "",
		[]any{"x"},
		[]any{""},
		[]any{unknownID},
		[]any{"{a}", unknownID},
		[]any{"{far}"},
		[]any{"{a}", "{far}"},
		[]any{"{a}", "x"},
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
		"search=A", "priority=high", "group_by=state", "limit=1", "nosuch=1",
	} {
		out = append(out, get(list+"?"+query))
	}
	for _, query := range []string{"", "fields=id"} {
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
			sending(http.MethodPatch, one, fields{"start_date": "2020-01-05", "end_date": "2020-01-20"}), in(list, "{c}"), get(list),
			sending(http.MethodDelete, list+"{a}/", nil), get(list), get(other),
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

// eachValue calls do with each value of each field.
func eachValue(values map[string][]any, do func(name string, value any)) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, v := range values[name] {
			do(name, v)
		}
	}
}

func invitations() []operation {
	const list, one = "invitations/", "invitations/{invited}/"
	out := []operation{get(list), post(list, fields{"email": "new@example.com", "role": 15}, "invited"), get(one), get(list)}
	eachValue(map[string][]any{
		"email":        {"new@example.com", "x", "", "  ", nil, 5, true, []any{}, "a@b", " padded@example.com ", "UP@Example.com", "ada@example.com", strings.Repeat("x", 250) + "@example.com"},
		"role":         {5, 15, 20, 10, 0, "15", "x", nil, true, 1.5},
		"accepted":     {true},
		"message":      {"Come in.", nil},
		"token":        {"x"},
		"id":           {unknownID},
		"workspace":    {unknownID},
		"nosuch":       {1},
		"responded_at": {"2020-01-02T03:04:05Z"},
	}, func(name string, value any) {
		body := fields{"email": fmt.Sprintf("new%d@example.com", len(out)), "role": 15}
		body[name] = value
		out = append(out, post(list, body, fmt.Sprintf("invited %d", len(out))))
	})
	for _, body := range []any{fields{}, fields{"email": "norole@example.com"}, fields{"role": 15}, []any{}, "text", 5} {
		out = append(out, post(list, body, fmt.Sprintf("invited %d", len(out))))
	}
	for _, query := range []string{"fields=id", "per_page=1", "cursor=x", "email=new@example.com"} {
		out = append(out, get(list+"?"+query), get(one+"?"+query))
	}
	out = append(out, get(one))
	for _, path := range []string{list, one} {
		if path == list {
			out = append(out, sending(http.MethodPut, path, nil))
		} else {
			out = append(out, sending(http.MethodPost, path, nil))
		}
		out = append(out, get(strings.TrimSuffix(path, "/")))
	}
	for _, other := range []string{unknownID, "x", "5", strings.ToUpper(unknownID)} {
		out = append(out, get(list+other+"/"), sending(http.MethodDelete, list+other+"/", nil))
	}
	return append(out, sending(http.MethodDelete, one, nil), sending(http.MethodDelete, one, nil), get(one), post(list, fields{"email": "new@example.com", "role": 5}, "again"),
		sending(http.MethodDelete, "invitations/{again}/", nil))
}

func invitationPeople() []operation {
	const list, one = "invitations/", "invitations/{invited}/"
	out := []operation{post(list, fields{"email": "new@example.com", "role": 15}, "invited")}
	for _, who := range []person{member, guest, outsider, nobody, impostor, admin} {
		as := func(op operation) { op.as = who; out = append(out, op) }
		as(get(list))
		as(get(one))
		as(post(list, fields{"email": string(who) + "s@example.com", "role": 5}, "by "+string(who)))
		as(sending(http.MethodDelete, one, nil))
	}
	return append(out, sending(http.MethodDelete, "invitations/{by admin}/", nil))
}

// itemsByKey is reads of items by the keys that people know them by.
func itemsByKey() []operation {
	var out []operation
	const list = "work-items/"
	for _, key := range []string{"AA-1", "AA-2", "AA-9", "BB-1", "aa-1", "ZZ-1", "AA-01", "AA-0", "AA-x", "AA-1-1", "AA-", "-1", "AA", "AA--1", "AA-1x", "A%20A-1", "AA-99999999999999999999", unknownID} {
		out = append(out, get(list+key+"/"))
	}
	for _, query := range []string{
		"fields=id", "fields=id,name,state", "fields=nosuch", "expand=state,project", "expand=labels", "expand=assignees", "expand=parent", "expand=created_by,updated_by", "expand=name", "expand=priority",
		"expand=nosuch", "external_id=x", "per_page=x", "expand=type,estimate_point", "expand=workspace",
	} {
		out = append(out, get(list+"AA-1/?"+query))
	}
	for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodOptions} {
		out = append(out, sending(method, list+"AA-1/", nil))
	}
	out = append(out, get(list+"AA-1"))
	for _, who := range []person{member, guest, outsider, nobody, impostor} {
		out = append(out, operation{as: who, method: http.MethodGet, path: list + "AA-1/"}, operation{as: who, method: http.MethodGet, path: list + "BB-1/"})
	}
	return append(out,
		sending(http.MethodPatch, at("p")+"work-items/{a}/", fields{"archived_at": "2020-01-02"}), get("work-items/AA-1/"), sending(http.MethodDelete, at("p")+"work-items/{b}/", nil), get("work-items/AA-2/"),
		sending(http.MethodPatch, at("p")+"work-items/{c}/", fields{"sequence_id": 700}), get("work-items/AA-3/"), get("work-items/AA-700/"),
		sending(http.MethodPatch, at("p"), fields{"identifier": "NEW"}), get("work-items/AA-700/"), get("work-items/NEW-700/"),
		sending(http.MethodPost, at("p")+"archive/", nil), get("work-items/NEW-700/"), sending(http.MethodDelete, at("p")+"archive/", nil), get("work-items/NEW-700/"),
		sending(http.MethodPatch, at("p")+"work-items/{c}/", fields{"is_draft": true}), get("work-items/NEW-700/"),
	)
}

// readsOfPeople is reads of who is in the workspace, and of oneself.
func readsOfPeople() []operation {
	var out []operation
	for _, query := range []string{"", "fields=id", "fields=id,role", "per_page=1", "cursor=x", "role=20", "search=x"} {
		out = append(out, get("members/?"+query), get("../../users/me/?"+query))
	}
	for _, path := range []string{"members/", "../../users/me/"} {
		for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete, http.MethodHead, http.MethodOptions} {
			out = append(out, sending(method, path, nil))
		}
		for _, who := range []person{member, guest, outsider, nobody, impostor} {
			out = append(out, operation{as: who, method: http.MethodGet, path: path})
		}
		out = append(out, get(strings.TrimSuffix(path, "/")), get(path+"{admin}/"), get(path+"nosuch/"))
	}
	return out
}

// projectLife is a project that goes to the archive and comes back, and what its summary counts.
func projectLife() []operation {
	one := at("p")
	out := []operation{get(one + "summary/"), get(one + "summary/?fields=members"), get(one + "summary/?fields=issues,%20states"), get(one + "summary/?fields=nosuch"), get(one + "summary/?fields=")}
	for _, path := range []string{one + "summary/", one + "archive/"} {
		for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodPut, http.MethodHead, http.MethodOptions} {
			out = append(out, sending(method, path, nil))
		}
		for _, who := range []person{member, guest, outsider, nobody, impostor} {
			out = append(out, operation{as: who, method: http.MethodGet, path: path}, operation{as: who, method: http.MethodPost, path: path}, operation{as: who, method: http.MethodDelete, path: path})
		}
		for _, other := range []string{unknownID, "x", "{a}"} {
			out = append(out, get(strings.Replace(path, "{p}", other, 1)), sending(http.MethodPost, strings.Replace(path, "{p}", other, 1), nil), sending(http.MethodDelete, strings.Replace(path, "{p}", other, 1), nil))
		}
		out = append(out, get(strings.TrimSuffix(path, "/")))
	}
	return append(out,
		sending(http.MethodPost, one+"archive/", nil), sending(http.MethodPost, one+"archive/", nil), get(one), get("projects/"), get(one+"summary/"), get(one+"project-members/"), get(one+"archived-cycles/"),
		sending(http.MethodPatch, one, fields{"name": "Differential C"}), sending(http.MethodDelete, one+"archive/", nil), sending(http.MethodDelete, one+"archive/", nil), get(one),
		sending(http.MethodPost, one+"archive/", fields{"archived_at": "2020-01-02"}), sending(http.MethodDelete, one, nil), get(one), get("projects/"),
	)
}

// namingArchived is a project in the archive whose records are named by those that are made in it and in another one.
func namingArchived() []operation {
	item := at("p") + "work-items/{a}/"
	out := []operation{
		post(at("p")+"labels/", fields{"name": "area"}, "area"), post(at("p")+"labels/", fields{"name": "free"}, "free"), post(at("q")+"labels/", fields{"name": "area"}, "abroad"),
		post(at("p")+"cycles/", fields{"name": "One", "project_id": "{p}"}, "cycle"), post(at("q")+"cycles/", fields{"name": "One", "project_id": "{q}"}, "far cycle"),
		post(at("p")+"modules/", fields{"name": "One"}, "module"), post(at("q")+"modules/", fields{"name": "One"}, "far module"),
		post(item+"comments/", fields{"comment_html": "<p>One</p>"}, "comment"), post(item+"links/", fields{"url": "https://example.com/a"}, "link"),
		sending(http.MethodPost, at("p")+"archive/", nil),
	}
	for i, body := range []fields{
		{"parent": "{a}"}, {"parent": "{far}"}, {"state": "{p.Todo}"}, {"state": "{q.Todo}"}, {"labels": []any{"{area}"}}, {"labels": []any{"{abroad}"}}, {"assignees": []any{"{member}"}},
	} {
		body["name"] = "New"
		name := fmt.Sprintf("new %d", i)
		out = append(out, post(at("p")+"work-items/", body, name), post(at("q")+"work-items/", body, "far "+name), sending(http.MethodPatch, at("q")+"work-items/{far}/", body))
	}
	for _, to := range []string{"{p}", "{q}"} {
		one := strings.Replace(at("p"), "{p}", to, 1)
		for _, in := range []string{"cycles/{cycle}/cycle-issues/", "modules/{module}/module-issues/", "cycles/{far cycle}/cycle-issues/", "modules/{far module}/module-issues/"} {
			out = append(out, sending(http.MethodPost, one+in, fields{"issues": []any{"{a}"}}), sending(http.MethodPost, one+in, fields{"issues": []any{"{far}"}}), get(one+in))
		}
	}
	far := at("q") + "work-items/{far}/"
	for _, list := range []string{item, far} {
		for _, of := range []string{"{b}", "{far}", "{a}"} {
			out = append(out, sending(http.MethodPost, list+"relations/", fields{"relation_type": "blocking", "issues": []any{of}}), get(list+"relations/"))
		}
	}
	for kind, body := range map[string]fields{
		"labels": {"name": "part", "parent": "{area}"}, "states": {"name": "Odd", "color": "#ff0000"}, "modules": {"name": "Two", "lead": "{member}", "members": []any{"{member}"}},
		"cycles": {"name": "Two", "project_id": "{p}", "owned_by": "{member}"},
	} {
		out = append(out, post(at("p")+kind+"/", body, "made of "+kind), get(at("p")+kind+"/{made of "+kind+"}/"))
	}
	slices.SortStableFunc(out[len(out)-8:], func(a, b operation) int { return strings.Compare(a.path, b.path) })
	out = append(out,
		post(at("q")+"labels/", fields{"name": "part", "parent": "{area}"}, "far part"), sending(http.MethodPatch, at("q")+"labels/{abroad}/", fields{"parent": "{area}"}),
		sending(http.MethodPatch, at("p")+"labels/{free}/", fields{"parent": "{area}"}),
		post(item+"comments/", fields{"comment_html": "<p>Two</p>", "parent": "{comment}"}, "answer"), post(item+"links/", fields{"url": "https://example.com/b"}, "second"),
		post(item+"attachments/", fields{"name": "a.png", "type": "image/png", "size": 100}, "attachment"),
		sending(http.MethodPatch, item, fields{"parent": "{b}"}), sending(http.MethodPatch, item+"comments/{comment}/", fields{"comment_html": "<p>Three</p>"}),
		sending(http.MethodPatch, item+"links/{link}/", fields{"title": "T"}), sending(http.MethodDelete, item+"links/{link}/", nil),
		sending(http.MethodPatch, at("p"), fields{"default_assignee": "{member}"}), sending(http.MethodPatch, at("p"), fields{"default_state": "{p.Done}"}),
		post(at("p")+"project-members/", fields{"member": "{outsider}", "role": 15}, "joined"), get(at("p")+"project-members/"),
		get(item), get(item+"comments/"), get(item+"links/"), get(item+"attachments/"), get(item+"activities/"), get(at("p")+"work-items/"), get(at("q")+"work-items/"),
		get("work-items/AA-1/"),
		sending(http.MethodDelete, item, nil), sending(http.MethodDelete, at("p")+"archive/", nil),
	)
	for _, list := range []string{"work-items/", "labels/", "states/", "cycles/", "modules/", "cycles/{cycle}/cycle-issues/", "modules/{module}/module-issues/", "work-items/{a}/relations/"} {
		out = append(out, get(at("p")+list))
	}
	return append(out, get(far+"relations/"))
}

func defaultStates() []operation {
	out := []operation{post("projects/", fields{"name": "Differential C", "identifier": "CC", "default_state": "{p.Todo}"}, "third")}
	for _, state := range []any{"{p.Todo}", nil, "{q.Todo}", unknownID, "x", 5, ""} {
		out = append(out, sending(http.MethodPatch, at("p"), fields{"default_state": state}))
	}
	return append(out, sending(http.MethodPatch, at("p"), fields{"default_state": "{p.Todo}"}), get(at("p")), post(at("p")+"work-items/", fields{"name": "Where am I?"}, "d"),
		sending(http.MethodDelete, at("p")+"states/{p.Todo}/", nil), get(at("p")))
}

func commentsWithJSON() []operation {
	list := at("p") + "work-items/{a}/comments/"
	out := []operation{post(list, fields{"comment_html": "<p>One</p>"}, "one")}
	for _, v := range []any{fields{"type": "doc"}, fields{}, []any{}, nil, "x", "", 5, true} {
		out = append(out, post(list, fields{"comment_html": "<p>Two</p>", "comment_json": v}, fmt.Sprintf("comment %d", len(out))), sending(http.MethodPatch, list+"{one}/", fields{"comment_json": v}))
	}
	return append(out, post(list, fields{"comment_json": fields{"type": "doc"}}, "json only"), get(list))
}
