package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (ks *kinds) describeWorkItems() {
	ks.workItem = ks.add(&kind{
		name: "work_item",
		columns: names("id type_id created_at updated_at deleted_at point name description_html description_binary priority " +
			"start_date target_date sequence_id sort_order completed_at archived_at is_draft external_source external_id created_by " +
			"updated_by project workspace parent state estimate_point type assignees labels"),
		indexes: []index{uniqueExternalID("work_item", "project", "Issue"), {name: "sequence", fields: []string{"project", "sequence_id"}}},
		fields: bodyFields("name*=line start_date=date? target_date=date? archived_at=date? is_draft=off"+externalPair,
			field{name: "description_html", check: markup, initial: "<p></p>"},
			field{name: "priority", check: choice("urgent", "high", "medium", "low", "none"), initial: "none"},
			field{name: "point", check: whole(0, 12), null: true},
			field{name: "state", ref: &ks.state, null: true},
			field{name: "parent", ref: &ks.workItem, null: true},
			ks.estimatePointField(),
			field{name: "type", ref: &ks.itemType, null: true},
			field{name: "type_id", ref: &ks.itemType, null: true},
			field{name: "assignees", ref: &ks.user, many: true, initial: []any{}},
			field{name: "labels", ref: &ks.label, many: true, initial: []any{}},
			field{name: "created_by", ref: &ks.user, null: true, derived: true},
			field{name: "completed_at", check: moment, null: true, derived: true},
			field{name: "sort_order", check: real, derived: true},
			field{name: "sequence_id", check: whole(math.MinInt32, math.MaxInt32), derived: true},
			field{name: "deleted_at", check: moment, null: true, derived: true},
		),
		param: "item", scope: inProject,
		hideFromReferences: func(t *tx, r row) bool { return ks.isArchived(t, text(r, "project")) },
		prepare:            prepareWorkItem,
		afterWrite: func(c *call, t *tx, old, r row) {
			c.indexWorkItem(t, old, r)
			c.logChanges(t, old, r)
		},
		beforeDelete: onlyByCreator("created_by", "work item"),
		afterDelete:  (*call).forgetWorkItem,
	})
	if ks.documented {
		// ?expand=module is documented; nothing else shows the module.
		ks.workItem.columns = append(ks.workItem.columns, "module")
		ks.workItem.computed = []string{"module"}
	}
	// Drafts and archived items are stored apart, because lists and reads by ID do not show them.
	hiddenItem := *ks.workItem
	hiddenItem.name = "hidden_work_item"
	ks.hiddenItem = ks.add(&hiddenItem)
	// Deleted items are kept for the relations that still refer to them.
	ks.deletedItem = ks.add(&kind{name: "deleted_work_item", columns: ks.workItem.columns, computed: ks.workItem.computed})
}

// isHidden reports whether lists and reads hide an item. The service finds it only by its external ID, and still changes
// and deletes it by its ID.
func isHidden(r row) bool { return flag(r, "is_draft") || r["archived_at"] != nil }

// anyItem returns an item, hidden or not.
func (c *call) anyItem(t *tx, id string) (stored, bool) {
	if s, ok := t.get(c.kinds.workItem, id); ok {
		return s, true
	}
	return t.get(c.kinds.hiddenItem, id)
}

// itemOrDeleted returns an item, hidden, deleted or neither.
func (c *call) itemOrDeleted(t *tx, id string) (stored, bool) {
	if s, ok := c.anyItem(t, id); ok {
		return s, true
	}
	return t.get(c.kinds.deletedItem, id)
}

// everExisted reports whether s is the ID of a work item of any project, possibly hidden. In the community edition
// deleted items count as well, because it keeps their rows and refers to them.
func (c *call) everExisted(t *tx, s string) bool {
	return t.find(c.kinds.workItem, s) != nil || t.find(c.kinds.hiddenItem, s) != nil || c.isCommunity() && t.find(c.kinds.deletedItem, s) != nil
}

// itemOfRoute returns the kind that holds the route's item.
func (c *call) itemOfRoute(t *tx) *kind {
	if t.find(c.kinds.hiddenItem, c.vars["item"]) != nil {
		return c.kinds.hiddenItem
	}
	return c.kinds.workItem
}

func removeWorkItem(c *call, t *tx) reply { return c.itemOfRoute(t).remove(c, t) }

// changeWorkItem changes an item, and moves it between the shown and the hidden items if necessary.
func changeWorkItem(c *call, t *tx) reply {
	c.ignoreCompletion()
	from := c.itemOfRoute(t)
	answer := from.change(c, t)
	s, ok := t.get(from, c.vars["item"])
	if answer.status != http.StatusOK || !ok {
		return answer
	}
	if s.row["deleted_at"] != nil { // deleted, but its contents stay
		t.remove(from, s)
		t.insert(c.kinds.deletedItem, nil, s.row)
		c.indexWorkItem(t, s.row, nil)
		return answer
	}
	to := c.kinds.workItem
	if isHidden(s.row) {
		to = c.kinds.hiddenItem
	}
	if to != from {
		t.remove(from, s)
		t.insert(to, inProject(c), s.row)
		t.setIndex("1", "out-of-order", text(s.row, "project"))
	}
	return answer
}

// ignoreCompletion drops the completion time from the body, as the service does since 1.4.
func (c *call) ignoreCompletion() {
	if c.since14() {
		delete(c.in, "completed_at")
	}
}

const (
	textNoState  = "State is not valid please pass a valid state_id"
	textNoParent = "Parent is not valid issue_id please pass a valid issue_id"
)

// prepareWorkItem checks the fields against each other, and silently drops the values that the service drops.
func prepareWorkItem(c *call, t *tx, old, r row) *reply {
	project := text(r, "project")
	if refused := c.reversedDates(r); refused != nil {
		return refused
	}
	if _, given := c.in["description_html"]; given {
		html, ok := sanitise(text(r, "description_html"))
		if !ok {
			return new(badRequest("Invalid HTML passed"))
		}
		r["description_html"] = html
	}
	r["assignees"] = filterIDs(r, "assignees", func(id string) bool { return projectRole(t, project, id) >= roleMember })
	r["labels"] = filterIDs(r, "labels", func(id string) bool { return t.has(c.kinds.label, scope(project), id) })
	if _, given := c.in["state"]; given && r["state"] != nil && !c.kinds.state.isAvailable(c, t, text(r, "state")) {
		return new(badRequest(textNoState))
	}
	if parent := text(r, "parent"); parent != "" {
		if _, ok := t.getWithin(c.kinds.workItem, scope(project), parent); !ok {
			return new(badRequest(textNoParent))
		}
	}
	// "type" and "type_id" are two names of one field.
	for _, name := range []string{"type", "type_id"} {
		if _, given := c.in[name]; given {
			r["type"], r["type_id"] = r[name], r[name]
		}
	}
	if old != nil {
		return prepareWorkItemChange(c, t, old, r)
	}
	if len(r["assignees"].([]any)) == 0 {
		r["assignees"] = c.defaultAssignees(t, project)
	}
	return nil
}

// reversedDates refuses a target date before the start date. If a change sends only one date, the service does not compare
// it with the other, stored date.
func (c *call) reversedDates(r row) *reply {
	start, end := text(r, "start_date"), text(r, "target_date")
	if c.in["start_date"] != nil && c.in["target_date"] != nil && end != "" && start > end {
		return new(badRequest("Start date cannot exceed target date"))
	}
	return nil
}

// defaultAssignees returns the assignees of a new item that names none: the project's default assignee, if that user is a
// member of the project.
func (c *call) defaultAssignees(t *tx, project string) []any {
	p, _ := t.get(c.kinds.project, project)
	if assignee := text(p.row, "default_assignee"); projectRole(t, project, assignee) >= roleMember {
		return []any{assignee}
	}
	return []any{}
}

func prepareWorkItemChange(c *call, t *tx, old, r row) *reply {
	if by := text(c.in, "created_by"); by != "" && t.find(c.kinds.user, by) != nil {
		r["created_by"] = by
	}
	if r["state"] == nil {
		r["state"] = c.defaultState(t, text(r, "project"))
	}
	if r["state"] != old["state"] {
		r["completed_at"] = c.completionTime(t, r)
	}
	return nil
}

// completionTime returns the completion time for an item's state: now, or null if the state is not completed.
func (c *call) completionTime(t *tx, r row) any {
	if c.groupOf(t, text(r, "state")) == "completed" {
		return c.stamp()
	}
	return nil
}

// filterIDs returns the IDs under name that keep accepts.
func filterIDs(r row, name string, keep func(string) bool) []any {
	out := []any{}
	for _, id := range list(r, name) {
		if keep(id) {
			out = append(out, id)
		}
	}
	return out
}

// createWorkItem creates a work item in the project of the route.
func createWorkItem(c *call, t *tx) reply {
	c.ignoreCompletion()
	if refused := c.notAnObject(); refused != nil {
		return *refused
	}
	k := c.kinds.workItem
	r, complaints := k.decode(t, c.in, false)
	if len(complaints) > 0 {
		return invalid(complaints)
	}
	project := c.vars["project"]
	c.setAudit(k, r)
	r["created_by"] = c.user
	if refused := c.kinds.workItem.check(c, t, nil, r); refused != nil {
		return *refused
	}
	sequence := t.add("sequence:"+project, 1)
	if c.in["deleted_at"] != nil {
		return serverError() // the sequence number is used up
	}
	r["sequence_id"] = integer(sequence)
	if r["state"] == nil {
		r["state"] = c.defaultState(t, project)
	}
	r["completed_at"] = c.completionTime(t, r)
	r["sort_order"] = c.lastInState(t, r)

	set, refused := c.givenAudit(t, k)
	kept := clone(r)
	maps.Copy(kept, set)
	into := k
	if isHidden(r) {
		into = c.kinds.hiddenItem
	}
	t.insert(into, scope(project), kept)
	c.indexWorkItem(t, nil, kept)
	if kept["created_at"] != r["created_at"] {
		t.setIndex("1", "out-of-order", project)
	}
	if module := text(c.in, "module"); c.answersByContract() && module != "" {
		if _, ok := t.getWithin(c.kinds.module, scope(project), module); ok {
			c.addMember(t, c.kinds.moduleIssue, module, text(r, "id"))
		}
	}
	if refused != nil {
		return *refused // the item is stored nevertheless
	}
	if !c.answersByContract() {
		// The service writes the date once more after it has made its answer.
		r["created_at"] = stamp(c.now.Add(-13 * time.Millisecond))
	}
	return reply{http.StatusCreated, k.visible(r)}
}

// lastInState returns the sort order of a new item, after the last item of its state. Only the first item of a state
// takes the order in its body.
func (c *call) lastInState(t *tx, r row) json.Number {
	if last := t.last("order", text(r, "state")); last != "" {
		order, err := strconv.ParseFloat(last, 64)
		must(err)
		return float(order + 10000)
	}
	if given, ok := r["sort_order"].(json.Number); ok {
		return given
	}
	return float(firstOrder)
}

// orderKey returns a text that sorts like the number.
func orderKey(order float64) string {
	bits := math.Float64bits(order)
	if order < 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return fmt.Sprintf("%016x", bits)
}

// indexWorkItem counts the items of a state and of a parent, and keeps their order; old is nil for a new item, r for a deleted one.
func (c *call) indexWorkItem(t *tx, old, r row) {
	move := func(name, counter string) {
		before, after := text(old, name), text(r, name)
		if before == after {
			return
		}
		if before != "" {
			t.add(counter+before, -1)
		}
		if after != "" {
			t.add(counter+after, 1)
		}
	}
	move("state", "in-state:")
	move("parent", "children:")
	if old != nil {
		t.dropIndex("order", text(old, "state"), orderKey(number(old, "sort_order")), text(old, "id"))
	}
	if r != nil {
		order := number(r, "sort_order")
		t.setIndex(strconv.FormatFloat(order, 'g', -1, 64), "order", text(r, "state"), orderKey(order), text(r, "id"))
	}
}

// dropSubItems deletes the items below a deleted item.
func (c *call) dropSubItems(t *tx, r row) {
	id := text(r, "id")
	if t.counter("children:"+id) == 0 {
		return
	}
	for _, k := range []*kind{c.kinds.workItem, c.kinds.hiddenItem} {
		for _, s := range t.all(k, scope(text(r, "project"))) {
			if text(s.row, "parent") == id {
				k.deleteRow(c, t, s)
			}
		}
	}
}

// removeFromItems removes a deleted record from a field of all items of a project, including hidden ones; nil means all
// projects. The items do not count as changed.
func (c *call) removeFromItems(t *tx, in []byte, name, id string) {
	for _, k := range []*kind{c.kinds.workItem, c.kinds.hiddenItem} {
		removeFromField(t, k, in, name, id)
	}
}

// removeFromField removes an ID from a field of the rows of a list.
func removeFromField(t *tx, k *kind, in []byte, name, id string) {
	for _, s := range t.all(k, in) {
		switch {
		case k.field(name).many && slices.Contains(list(s.row, name), id):
			s.row[name] = filterIDs(s.row, name, func(other string) bool { return other != id })
		case s.row[name] == id:
			s.row[name] = nil
		default:
			continue
		}
		t.save(k, s)
	}
}

// forgetWorkItem deletes the contents and memberships of a deleted item.
func (c *call) forgetWorkItem(t *tx, r row) {
	id := text(r, "id")
	t.insert(c.kinds.deletedItem, nil, r)
	c.indexWorkItem(t, r, nil)
	c.afterLag(t, func(t *tx) {
		c.dropSubItems(t, r)
		for _, s := range relationsOf(c, t, id) {
			t.remove(c.kinds.relation, s)
		}
		for _, k := range []*kind{c.kinds.link, c.kinds.comment, c.kinds.activity, c.kinds.itemValue} {
			c.clear(t, k, id)
		}
	})
	for _, k := range []*kind{c.kinds.cycleIssue, c.kinds.moduleIssue, c.kinds.milestoneIssue, c.kinds.initiativeEpic} {
		for _, member := range t.indexValues(1<<20, k.indexes[0].name, id) {
			if s, ok := t.get(k, member); ok {
				t.remove(k, s)
			}
		}
	}
	removeFromField(t, c.kinds.intakeItem, scope(text(r, "project")), "duplicate_to", id)
}

// afterLag runs, after the Lag, what the running server leaves to its queue.
func (c *call) afterLag(t *tx, do func(t *tx)) {
	if c.opts.Lag == 0 {
		do(t)
		return
	}
	time.AfterFunc(c.opts.Lag, func() {
		if c.countIn() {
			defer c.serving.Done()
			must(c.store.update(func(t *tx) error { do(t); return nil }))
		}
	})
}

func byIdentifier(c *call, t *tx) reply {
	number := c.vars["number"]
	if strings.Trim(number, "0123456789") != "" {
		return serverError()
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return notFound() // the number is too large for a sequence
	}
	project := t.first("identifier", c.vars["identifier"])
	c.vars["project"] = project
	if c.isInArchivedProject(t) {
		return notFound()
	}
	found := t.indexValues(2, "sequence", project, strconv.Itoa(n))
	switch len(found) {
	case 0:
		return notFound()
	case 1:
		s, ok := t.get(c.kinds.workItem, found[0])
		if !ok {
			return notFound()
		}
		r := c.kinds.workItem.visible(s.row)
		if names := c.query.Get("expand"); names != "" {
			r = c.expand(t, r, strings.Split(names, ","))
		}
		return reply{http.StatusOK, selectFields(r, c.fields())}
	}
	return serverError()
}

func listWorkItems(c *call, t *tx) reply {
	k := *c.kinds.workItem
	project := c.vars["project"]
	source, id := c.query.Get("external_source"), c.query.Get("external_id")
	if source != "" && id != "" {
		found := t.indexValues(2, "work_item external ID", project, source, id)
		switch len(found) {
		case 0:
			return notFound()
		case 1:
			s, ok := c.anyItem(t, found[0])
			if !ok {
				return notFound()
			}
			return reply{http.StatusOK, k.render(c, t, s.row)}
		}
		return serverError()
	}
	if t.index("out-of-order", project) != "" {
		k.sort = func(a, b row) int { return strings.Compare(text(b, "created_at"), text(a, "created_at")) }
	}
	if c.query.Get("order_by") == "-updated_at" {
		k.sort = func(a, b row) int { return strings.Compare(text(b, "updated_at"), text(a, "updated_at")) }
	}
	return k.list(c, t)
}
