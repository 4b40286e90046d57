package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// A request in an intake is a work item from the start, in a state that no list shows; the entry of the intake says what was decided. So it is in the community edition; others have been seen only by their reference (see [kinds.intake]).

func (k *kinds) intakeEntries() {
	k.intakeEntry = k.add(&kind{
		name: "intake_entry",
		columns: audit("issue_detail", "inbox", "status", "snoozed_till", "source", "source_email", "external_source", "external_id", "extra",
			"created_by", "updated_by", "project", "workspace", "intake", "issue", "duplicate_to"),
		computed: []string{"issue_detail", "inbox"},
		indexes:  []index{{name: "intake entry", fields: []string{"issue"}}},
		fields: []field{
			{name: "status", check: intakeStatus},
			{name: "snoozed_till", check: moment, null: true},
			{name: "duplicate_to", ref: &k.workItem, null: true},
			{name: "source", check: str(255, true), null: true},
			{name: "source_email", check: prose(), null: true},
		},
		scope: inProject,
		show: func(c *call, t *tx, r row, _ bool) row {
			r = clone(r)
			r["inbox"] = r["intake"]
			if item, ok := c.itemOrDeleted(t, text(r, "issue")); ok {
				r["issue_detail"] = c.askedItem(t, item.row)
			}
			return r
		},
	})
}

const triageColour = "#4E5355"

// askedItem is the item of an entry as the entry shows it.
func (c *call) askedItem(t *tx, item row) row {
	r := c.kinds.workItem.visible(item)
	delete(r, "type_id")
	state, ok := c.expandOne(t, "state", text(item, "state"))
	if flag(item, "in_triage") {
		state, ok = row{"id": item["state"], "name": "Triage", "color": triageColour, "group": "triage"}, true
	}
	if r["state"] = nil; ok {
		r["state"] = state
	}
	r["description_json"] = row{}
	if item["description_json"] != nil {
		r["description_json"] = item["description_json"]
	}
	r["description"] = r["description_json"]
	r["description_stripped"] = withoutTags(text(item, "description_html"))
	return r
}

// withoutTags is the text of a piece of HTML; of none it is nothing.
func withoutTags(html string) any {
	if html == "" {
		return nil
	}
	var b strings.Builder
	inside := false
	for _, r := range html {
		switch {
		case r == '<':
			inside = true
		case r == '>' && inside:
			inside = false
		case !inside:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// intakeOf is the intake of the route's project, "" if it has none: a project gets one when a change leaves it switched on.
func (c *call) intakeOf(t *tx) (intake string, on bool) {
	p, _ := t.get(c.kinds.project, c.vars["project"])
	return text(p.row, "intake"), flag(p.row, "intake_view")
}

// switchedIntake refuses a request to a project that has no intake.
func (c *call) switchedIntake(t *tx) *reply {
	switch intake, on := c.intakeOf(t); {
	case intake == "" && !on:
		return new(refuse(http.StatusBadRequest, "error", "Intake is not enabled for this project enable it through the project's api"))
	case intake == "":
		return new(serverError())
	}
	return nil
}

// shownEntries is what an intake shows, the newest first: what is put off is not there until its time.
func (c *call) shownEntries(t *tx) []stored {
	if intake, on := c.intakeOf(t); intake == "" || !on {
		return nil
	}
	found := slices.DeleteFunc(t.all(c.kinds.intakeEntry, inProject(c)), func(s stored) bool {
		until, ok := parseMoment(text(s.row, "snoozed_till"))
		return ok && until.Before(c.now)
	})
	slices.Reverse(found)
	return found
}

func listEntries(c *call, t *tx) reply {
	return renderPage(c, c.shownEntries(t), func(s stored) row { return c.kinds.intakeEntry.render(c, t, s.row) })
}

func readEntry(c *call, t *tx) reply {
	for _, s := range c.shownEntries(t) {
		if s.row["issue"] == c.vars["item"] {
			return reply{http.StatusOK, c.kinds.intakeEntry.render(c, t, s.row)}
		}
	}
	return notFound()
}

// createEntry makes a request: a work item and its entry. Most of the body is not looked at.
func createEntry(c *call, t *tx) reply {
	named, given := c.in["issue"]
	asked, ok := named.(row)
	switch {
	case c.notAnObject() != nil, given && !ok:
		return serverError()
	case falsy(asked["name"]):
		return refuse(http.StatusBadRequest, "error", "Name is required")
	}
	refused := c.switchedIntake(t)
	if refused != nil && refused.status == http.StatusBadRequest {
		return *refused
	}
	priority, given := asked["priority"]
	if !given {
		priority = "none"
	}
	if _, complaint := choice("urgent", "high", "medium", "low", "none")(t, priority); complaint != nil {
		return refuse(http.StatusBadRequest, "error", "Invalid priority")
	}
	html, given := asked["description_html"]
	if !given {
		html = "<p></p>"
	}
	name := pythonText(asked["name"])
	switch _, isText := html.(string); {
	case html == nil:
		return badPayload()
	case !isText, len([]rune(name)) > 255:
		return serverError()
	}
	item := row{"name": name, "description_html": html, "priority": priority, "is_draft": false, "assignees": []any{}, "labels": []any{}}
	c.setAudit(c.kinds.workItem, item)
	item["in_triage"], item["state"] = true, c.triageState(t)
	item["sequence_id"] = integer(t.add("sequence:"+c.vars["project"], 1))
	item["sort_order"] = c.lastInState(t, item)
	for _, name := range []string{"description_json", "description"} {
		if !falsy(asked[name]) {
			item["description_json"] = asked[name]
		}
	}
	t.insert(c.kinds.hiddenItem, inProject(c), item)
	c.indexWorkItem(t, nil, item)
	if refused != nil {
		return *refused // and the item is there
	}
	entry := row{"status": integer(-2), "source": "IN_APP", "extra": row{}, "issue": item["id"]}
	entry["intake"], _ = c.intakeOf(t)
	c.setAudit(c.kinds.intakeEntry, entry)
	t.insert(c.kinds.intakeEntry, inProject(c), entry)
	return reply{http.StatusCreated, c.kinds.intakeEntry.shown(c, t, entry, false)}
}

// triageState is the ID of the state of a project that no list shows.
func (c *call) triageState(t *tx) string {
	id := t.index("triage state", c.vars["project"])
	if id == "" {
		id = newID()
		t.setIndex(id, "triage state", c.vars["project"])
	}
	return id
}

// entryOf is the entry of the route's item, whether it is shown or not.
func (c *call) entryOf(t *tx) (stored, bool) {
	s, ok := t.get(c.kinds.intakeEntry, t.first("intake entry", c.vars["item"]))
	return s, ok && s.row["project"] == c.vars["project"]
}

// changeEntry changes the item for those who may, and the decision for admins of the project.
func changeEntry(c *call, t *tx) reply {
	if refused := c.switchedIntake(t); refused != nil {
		return *refused
	}
	entry, ok := c.entryOf(t)
	if !ok {
		return notFound()
	}
	role := projectRole(t, c.vars["project"], c.user)
	switch {
	case role == roleGuest && entry.row["created_by"] != c.user:
		return refuse(http.StatusBadRequest, "error", "You cannot edit intake work items")
	case c.notAnObject() != nil:
		return serverError()
	}
	set, complaints := c.kinds.intakeEntry.decode(t, c.in, true)
	if role < roleAdmin {
		set, complaints = row{}, nil
	}
	if wanted := c.in["issue"]; !falsy(wanted) {
		if refused := c.changeAsked(t, wanted, role, len(complaints) > 0); refused != nil {
			return *refused
		}
	}
	if len(complaints) > 0 {
		return invalid(complaints)
	}
	if role == roleAdmin {
		maps.Copy(entry.row, set)
		entry.row["updated_at"], entry.row["updated_by"] = c.stamp(), c.user
		t.save(c.kinds.intakeEntry, entry)
		if valueText(set["status"]) == "1" {
			c.accept(t)
		}
	}
	return reply{http.StatusOK, c.kinds.intakeEntry.shown(c, t, entry.row, true)}
}

// changeAsked changes the item of an entry, or only says whether it could. Guests change its name and its text.
func (c *call) changeAsked(t *tx, wanted any, role int, only bool) *reply {
	inner := *c
	inner.body = wanted
	inner.in, _ = wanted.(row)
	if role == roleGuest {
		if inner.in == nil {
			return new(serverError())
		}
		inner.in = clone(inner.in)
		maps.DeleteFunc(inner.in, func(name string, _ any) bool { return name != "name" && name != "description_html" })
		inner.body = inner.in
	}
	if refused := inner.notAnObject(); refused != nil {
		return refused
	}
	if _, complaints := c.kinds.workItem.decode(t, inner.in, true); len(complaints) > 0 {
		return new(invalid(complaints))
	}
	// The service looks for what is named in no project.
	switch {
	case inner.in["state"] != nil:
		return new(badRequest(textNoState))
	case inner.in["parent"] != nil:
		return new(badRequest(textNoParent))
	}
	inner.in = clone(inner.in)
	for _, name := range []string{"assignees", "labels"} {
		if _, given := inner.in[name]; given {
			inner.in[name] = []any{}
		}
	}
	if inner.body = inner.in; only {
		return nil
	}
	if answer := changeWorkItem(&inner, t); answer.status != http.StatusOK {
		return &answer
	}
	return nil
}

// accept puts the work item of a request among the others.
func (c *call) accept(t *tx) {
	s, ok := t.get(c.kinds.hiddenItem, c.vars["item"])
	if !ok || !flag(s.row, "in_triage") {
		return
	}
	old := clone(s.row)
	s.row["in_triage"], s.row["state"] = nil, c.defaultState(t, c.vars["project"])
	s.row["updated_at"], s.row["updated_by"] = c.stamp(), c.user
	c.indexWorkItem(t, old, s.row)
	if hidden(s.row) {
		t.save(c.kinds.hiddenItem, s)
		return
	}
	t.remove(c.kinds.hiddenItem, s)
	t.insert(c.kinds.workItem, inProject(c), s.row)
	t.setIndex("1", "out-of-order", c.vars["project"])
}

// removeEntry deletes an entry, and its item unless that was accepted.
func removeEntry(c *call, t *tx) reply {
	if refused := c.switchedIntake(t); refused != nil {
		return *refused
	}
	entry, ok := c.entryOf(t)
	if !ok {
		return notFound()
	}
	if valueText(entry.row["status"]) != "1" {
		item, ok := c.anyItem(t, c.vars["item"])
		if !ok {
			return serverError()
		}
		if item.row["created_by"] != c.user && projectRole(t, c.vars["project"], c.user) != roleAdmin {
			return refuse(http.StatusForbidden, "error", "Only admin or creator can delete the work item")
		}
		c.itemOfRoute(t).drop(c, t, item)
	}
	t.remove(c.kinds.intakeEntry, entry)
	return reply{status: http.StatusNoContent}
}
