package sandbox

import (
	"cmp"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// A membership of a cycle is in the list of the cycle and, under
// "cycle membership" item cycle, in the index of its item.

func (c *call) cycleOf(t *tx) (stored, bool) {
	return t.in(c.kinds.cycle, inProject(c), c.vars["cycle"])
}

// issueList is the ids of a list of items, in lower case; upper tells which of them were not. A number is that of a UUID, and
// null is the id of no item.
func issueList(items []any) (ids []string, upper map[string]bool, refused *reply) {
	upper = map[string]bool{}
	for _, item := range items {
		id, ok := anyID(item)
		if !ok {
			return nil, nil, new(refuse(http.StatusBadRequest, "error", textBadDetail))
		}
		upper[id] = upper[id] || pythonType(item) == "str" && id != item
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, upper, nil
}

// anyID is the id that a value of a body is, if the service takes it for one; null is "".
func anyID(v any) (string, bool) {
	switch pythonType(v) {
	case "NoneType":
		return "", true
	case "bool":
		return numberedID(map[any]string{true: "1", false: "0"}[v])
	case "int":
		return numberedID(pythonText(v))
	case "str":
		u, err := uuid.Parse(pythonText(v))
		return u.String(), err == nil
	}
	return "", false
}

// numberedID is the UUID of a number.
func numberedID(number string) (string, bool) {
	n, ok := new(big.Int).SetString(number, 10)
	if !ok || n.Sign() < 0 || n.BitLen() > 128 {
		return "", false
	}
	return uuid.UUID(n.FillBytes(make([]byte, 16))).String(), true
}

func addCycleIssues(c *call, t *tx) reply {
	if c.notAnObject() != nil {
		return serverError()
	}
	named := c.in["issues"]
	if falsy(named) {
		return reply{http.StatusBadRequest, row{"error": "Work items are required", "code": "MISSING_WORK_ITEMS"}}
	}
	cycle, ok := c.cycleOf(t)
	if !ok {
		return notFound()
	}
	if completed(cycle.row, c.now) {
		return reply{http.StatusBadRequest, row{
			"code":    "CYCLE_COMPLETED",
			"message": "The Cycle has already been completed so no new issues can be added",
		}}
	}
	items, countable := elements(named)
	if !countable {
		return serverError()
	}
	ids, upper, refused := issueList(items)
	if refused != nil {
		return *refused
	}
	id := text(cycle.row, "id")
	for _, issue := range ids {
		if !c.everExisted(t, issue) {
			return badPayload()
		}
		// Nothing moves an item that is in two cycles.
		if len(t.under(2, "cycle membership", issue)) > 1 {
			return badPayload()
		}
	}
	doubled := false
	for _, issue := range ids {
		elsewhere := t.under(1, "cycle membership", issue)
		switch {
		case len(elsewhere) == 0:
			c.addToCycle(t, id, issue, row{"id": newID(), "created_at": c.stamp()})
		case upper[issue]:
			// The service compares the text, does not find the item in
			// its cycle, adds it once more and stumbles over it later.
			doubled = true
			if t.first("cycle membership", issue, id) == "" {
				c.addToCycle(t, id, issue, row{"id": newID(), "created_at": c.stamp()})
			}
		default:
			old, ok := t.get(c.kinds.cycleIssue, elsewhere[0])
			if ok && text(old.row, "cycle") != id {
				t.remove(c.kinds.cycleIssue, old)
				c.addToCycle(t, id, issue, old.row)
			}
		}
	}
	if doubled {
		return badPayload()
	}
	return reply{http.StatusOK, c.memberRows(t, c.kinds.cycleIssue, id)}
}

// elements is what Python finds in a value that it is to go through: of a text its letters, of an object its names.
func elements(v any) (items []any, ok bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case string:
		return anyList(strings.Split(v, "")), true
	case row:
		return anyList(slices.Sorted(maps.Keys(v))), true
	}
	return nil, false
}

// addToCycle adds an item to a cycle; like has what is kept of an earlier
// membership, the project it was made in with it.
func (c *call) addToCycle(t *tx, cycle, issue string, like row) {
	r := row{"issue": issue, "cycle": cycle, "project": c.vars["project"], "created_by": nil}
	c.setAudit(c.kinds.cycleIssue, r)
	r["id"], r["created_at"] = like["id"], like["created_at"]
	if like["project"] != nil {
		r["project"] = like["project"]
	}
	r["created_by"] = nil // so it is
	t.insert(c.kinds.cycleIssue, scope(cycle), r)
}

// memberRows is the memberships of a cycle or module that were made in the project of the route, the newest first.
// In an archived project, those of a module are not shown, and no item has children.
func (c *call) memberRows(t *tx, members *kind, container string) []row {
	archived := c.inArchivedProject(t)
	found := slices.DeleteFunc(t.all(members, scope(container)), func(s stored) bool {
		return text(s.row, "project") != c.vars["project"] || archived && members == c.kinds.moduleIssue
	})
	if members == c.kinds.moduleIssue {
		slices.Reverse(found) // of those of one request, which have the same time
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

// listMembers lists the work items of a cycle or module, those of other projects left out.
func listMembers(container, members *kind) handler {
	return func(c *call, t *tx) reply {
		if c.inArchivedProject(t) {
			return pageOf(c, []row{})
		}
		var found []stored
		for _, m := range t.all(members, scope(c.vars[container.param])) {
			if item, ok := t.in(c.kinds.workItem, inProject(c), text(m.row, "issue")); ok {
				found = append(found, item)
			}
		}
		slices.SortFunc(found, func(a, b stored) int { return cmp.Compare(string(a.key), string(b.key)) })
		return renderPage(c, found, func(s stored) row { return c.kinds.workItem.render(c, t, s.row) })
	}
}

// membership is that of the route's item in the route's cycle or module.
func membership(c *call, t *tx, members *kind) (stored, bool) {
	ix := members.indexes[0]
	return t.get(members, t.first(ix.name, c.vars["item"], c.vars[ix.fields[1]]))
}

func removeMembership(members *kind) handler {
	return func(c *call, t *tx) reply {
		s, ok := membership(c, t, members)
		if !ok {
			return notFound()
		}
		t.remove(members, s)
		return reply{status: http.StatusNoContent}
	}
}

// addMember makes a record a member of a container, and says whether it was none.
func (c *call) addMember(t *tx, members *kind, container, id string) bool {
	ix := members.indexes[0]
	if t.first(ix.name, id, container) != "" {
		return false
	}
	r := row{ix.fields[0]: id, ix.fields[1]: container}
	c.setAudit(members, r)
	r[ix.fields[0]] = id // a project can be one
	r["updated_by"] = c.user
	t.insert(members, scope(container), r)
	return true
}

// dropMember ends a membership, and says whether there was one.
func (c *call) dropMember(t *tx, members *kind, container, id string) bool {
	s, ok := t.get(members, t.first(members.indexes[0].name, id, container))
	if ok {
		t.remove(members, s)
	}
	return ok
}
