package sandbox

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// issueList returns the IDs in a list of items, each once and in lower case; upper names the IDs that were not in lower
// case. Of a list, the sandbox serves only texts.
func issueList(named any) (ids []string, upper map[string]bool, refused *reply) {
	items, ok := named.([]any)
	switch upper = map[string]bool{}; {
	case slices.Contains(names("int float bool"), pythonType(named)):
		return nil, nil, new(serverError())
	case !ok: // the service takes the characters of a text and the names of an object for IDs
		return nil, nil, new(refuse(http.StatusBadRequest, "error", textBadDetail))
	}
	for _, item := range items {
		given, isText := item.(string)
		switch id, err := uuid.Parse(given); {
		case !isText:
			return nil, nil, new(notServed("issues that are no list of UUIDs,"))
		case err != nil:
			return nil, nil, new(refuse(http.StatusBadRequest, "error", textBadDetail))
		case !slices.Contains(ids, id.String()):
			ids = append(ids, id.String())
			upper[id.String()] = id.String() != given
		}
	}
	return ids, upper, nil
}

func addCycleIssues(c *call, t *tx) reply {
	if c.notAnObject() != nil {
		return serverError()
	}
	if isFalsy(c.in["issues"]) {
		return reply{http.StatusBadRequest, row{"error": "Work items are required", "code": "MISSING_WORK_ITEMS"}}
	}
	cycle, ok := t.getWithin(c.kinds.cycle, inProject(c), c.vars["cycle"])
	if !ok {
		return notFound()
	}
	if isCompleted(cycle.row, c.now) {
		return reply{http.StatusBadRequest, row{
			"code":    "CYCLE_COMPLETED",
			"message": "The Cycle has already been completed so no new issues can be added",
		}}
	}
	ids, upper, refused := issueList(c.in["issues"])
	if refused != nil {
		return *refused
	}
	id := text(cycle.row, "id")
	ids = c.dropUnlisted(t, ids, func(item row) bool { return item["project"] == c.vars["project"] })
	for _, issue := range ids {
		// The service cannot move an item that is in two cycles.
		if !c.everExisted(t, issue) || len(t.indexValues(2, "cycle membership", issue)) > 1 {
			return badPayload()
		}
	}
	doubled := false
	for _, issue := range ids {
		elsewhere := t.indexValues(1, "cycle membership", issue)
		old, in := stored{}, len(elsewhere) > 0
		if in {
			old, _ = t.get(c.kinds.cycleIssue, elsewhere[0])
			in = text(old.row, "cycle") == id
		}
		// The service compares the text of the ID. In upper case it does not find the item in its cycle, adds it once more and
		// fails later.
		again := len(elsewhere) > 0 && upper[issue]
		switch doubled = doubled || again; {
		case in:
		case len(elsewhere) == 0 || again:
			c.addToCycle(t, id, issue, row{"id": newID(), "created_at": c.stamp()})
		default:
			t.remove(c.kinds.cycleIssue, old)
			c.addToCycle(t, id, issue, old.row)
		}
	}
	if doubled {
		return badPayload()
	}
	return reply{http.StatusOK, c.memberRows(t, c.kinds.cycleIssue, id)}
}

// dropUnlisted leaves out the IDs of items that no list shows or that fits refuses, as the service silently does since 1.4.
func (c *call) dropUnlisted(t *tx, ids []string, fits func(item row) bool) []string {
	if !c.since14() {
		return ids
	}
	return slices.DeleteFunc(ids, func(id string) bool {
		item, ok := t.get(c.kinds.workItem, id)
		return !ok || !fits(item.row) || c.kinds.isArchived(t, text(item.row, "project"))
	})
}

// addToCycle adds an item to a cycle. like holds the values of an earlier membership to keep: its ID, time and project.
func (c *call) addToCycle(t *tx, cycle, issue string, like row) {
	r := row{"issue": issue, "cycle": cycle, "project": c.vars["project"], "created_by": nil}
	c.setAudit(c.kinds.cycleIssue, r)
	r["id"], r["created_at"] = like["id"], like["created_at"]
	if like["project"] != nil {
		r["project"] = like["project"]
	}
	r["created_by"] = nil // the service sets no creator
	t.insert(c.kinds.cycleIssue, scope(cycle), r)
}

// memberRows returns the memberships of a cycle or module that were made in the route's project, the newest first. In an
// archived project, it shows no memberships of a module, and no item has children.
func (c *call) memberRows(t *tx, members *kind, container string) []row {
	archived := c.isInArchivedProject(t)
	found := slices.DeleteFunc(t.all(members, scope(container)), func(s stored) bool {
		return text(s.row, "project") != c.vars["project"] || archived && members == c.kinds.moduleIssue
	})
	if members == c.kinds.moduleIssue {
		slices.Reverse(found) // because memberships of one request have the same time
	}
	slices.SortStableFunc(found, func(a, b stored) int {
		return strings.Compare(text(b.row, "created_at"), text(a.row, "created_at"))
	})
	out := []row{}
	for _, s := range found {
		if s.row["sub_issues_count"] = 0; !archived {
			s.row["sub_issues_count"] = t.counter("children:" + text(s.row, "issue"))
		}
		out = append(out, members.visible(s.row))
	}
	return out
}

// listMembers lists the work items of a cycle or module that are in the route's project.
func listMembers(container, members *kind) handler {
	return func(c *call, t *tx) reply {
		if c.isInArchivedProject(t) {
			return pageOf(c, []row{})
		}
		var found []stored
		for _, m := range t.all(members, scope(c.vars[container.param])) {
			if item, ok := t.getWithin(c.kinds.workItem, inProject(c), text(m.row, "issue")); ok {
				found = append(found, item)
			}
		}
		slices.SortFunc(found, func(a, b stored) int { return cmp.Compare(string(a.key), string(b.key)) })
		return renderPage(c, found, func(s stored) row { return c.kinds.workItem.render(c, t, s.row) })
	}
}

// removeMembership takes the route's item out of the route's cycle or module.
func removeMembership(members *kind) handler {
	return func(c *call, t *tx) reply {
		if !c.dropMember(t, members, c.vars[members.indexes[0].fields[1]], c.vars["item"]) {
			return notFound()
		}
		return reply{status: http.StatusNoContent}
	}
}

// addMember makes a record a member of a container, and reports whether it was no member before.
func (c *call) addMember(t *tx, members *kind, container, id string) bool {
	ix := members.indexes[0]
	if t.first(ix.name, id, container) != "" {
		return false
	}
	r := row{ix.fields[0]: id, ix.fields[1]: container}
	c.setAudit(members, r)
	r[ix.fields[0]] = id // the record may be a project, whose column setAudit fills
	r["updated_by"] = c.user
	t.insert(members, scope(container), r)
	return true
}

// dropMember ends a membership, and reports whether there was one.
func (c *call) dropMember(t *tx, members *kind, container, id string) bool {
	s, ok := t.get(members, t.first(members.indexes[0].name, id, container))
	if ok {
		t.remove(members, s)
	}
	return ok
}
