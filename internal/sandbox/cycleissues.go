package sandbox

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// A membership of a cycle is in the list of the cycle and, under
// "cycles-of" item cycle, in the index of its item.

func (c *call) cycleOf(t *tx) (stored, bool) {
	return t.in(c.kinds.cycle, inProject(c), c.vars["cycle"])
}

// issueList is the ids under "issues", in lower case; upper tells which of them
// were not.
func (c *call) issueList() (ids []string, upper map[string]bool, refused *reply) {
	v, given := c.in["issues"]
	if items, ok := v.([]any); !given || v == nil || ok && len(items) == 0 || v == "" {
		return nil, nil, new(reply{http.StatusBadRequest, nil})
	}
	items, ok := v.([]any)
	if !ok {
		return nil, nil, new(refuse(http.StatusBadRequest, "error", textBadDetail))
	}
	upper = map[string]bool{}
	for _, item := range items {
		s, _ := item.(string)
		u, err := uuid.Parse(s)
		if err != nil {
			return nil, nil, new(refuse(http.StatusBadRequest, "error", textBadDetail))
		}
		id := u.String()
		upper[id] = upper[id] || id != s
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, upper, nil
}

func addCycleIssues(c *call, t *tx) reply {
	ids, upper, refused := c.issueList()
	if refused != nil && refused.body == nil {
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
	if refused != nil {
		return *refused
	}
	id := text(cycle.row, "id")
	for _, issue := range ids {
		if !c.everExisted(t, issue) {
			return badPayload()
		}
		// Nothing moves an item that is in two cycles.
		if len(t.under(2, "cycles-of", issue)) > 1 {
			return badPayload()
		}
	}
	doubled := false
	for _, issue := range ids {
		elsewhere := t.under(1, "cycles-of", issue)
		switch {
		case len(elsewhere) == 0:
			c.addToCycle(t, id, issue, row{"id": newID(), "created_at": c.stamp()})
		case upper[issue]:
			// The service compares the text, does not find the item in
			// its cycle, adds it once more and stumbles over it later.
			doubled = true
			if t.index("cycles-of", issue, id) == "" {
				c.addToCycle(t, id, issue, row{"id": newID(), "created_at": c.stamp()})
			}
		default:
			old, ok := t.get(c.kinds.cycleIssue, elsewhere[0])
			if ok && text(old.row, "cycle") != id {
				c.removeFromCycle(t, old)
				c.addToCycle(t, id, issue, old.row)
			}
		}
	}
	if doubled {
		return badPayload()
	}
	return reply{http.StatusOK, c.cycleRows(t, id)}
}

// addToCycle adds an item to a cycle; like has what is kept of an earlier
// membership.
func (c *call) addToCycle(t *tx, cycle, issue string, like row) {
	r := row{"issue": issue, "cycle": cycle, "project": c.vars["project"], "created_by": nil}
	c.setAudit(c.kinds.cycleIssue, r)
	r["id"], r["created_at"] = like["id"], like["created_at"]
	r["created_by"] = nil // so it is
	t.insert(c.kinds.cycleIssue, scope(cycle), r)
	t.setIndex(text(r, "id"), "cycles-of", issue, cycle)
}

func (c *call) removeFromCycle(t *tx, s stored) {
	t.remove(c.kinds.cycleIssue, s)
	t.dropIndex("cycles-of", text(s.row, "issue"), text(s.row, "cycle"))
}

// cycleRows is every membership of a cycle, the newest first.
func (c *call) cycleRows(t *tx, cycle string) []row {
	found := t.all(c.kinds.cycleIssue, scope(cycle))
	slices.SortStableFunc(found, func(a, b stored) int {
		return strings.Compare(text(b.row, "created_at"), text(a.row, "created_at"))
	})
	out := []row{}
	for _, s := range found {
		s.row["sub_issues_count"] = t.counter("children:" + text(s.row, "issue"))
		out = append(out, c.kinds.cycleIssue.visible(s.row))
	}
	return out
}

// cycleIssues lists the work items of a cycle, those of other projects left
// out.
func cycleIssues(c *call, t *tx) reply {
	if _, ok := c.cycleOf(t); !ok {
		return pageOf(c, []row{})
	}
	return c.itemsOf(t, c.kinds.cycleIssue, c.vars["cycle"])
}

func (c *call) itemsOf(t *tx, members *kind, of string) reply {
	if c.inArchivedProject(t) {
		return pageOf(c, []row{})
	}
	var found []stored
	for _, m := range t.all(members, scope(of)) {
		if item, ok := t.in(c.kinds.workItem, inProject(c), text(m.row, "issue")); ok {
			found = append(found, item)
		}
	}
	slices.SortFunc(found, func(a, b stored) int { return cmp.Compare(string(a.key), string(b.key)) })
	res := c.workItems()
	return renderPage(c, found, func(s stored) row { return res.render(c, t, s.row) })
}

func (c *call) cycleIssue(t *tx) (stored, bool) {
	return t.get(c.kinds.cycleIssue, t.index("cycles-of", c.vars["item"], c.vars["cycle"]))
}

func readCycleIssue(c *call, t *tx) reply {
	s, ok := c.cycleIssue(t)
	if !ok {
		return notFound()
	}
	return reply{http.StatusOK, c.kinds.cycleIssue.visible(s.row)}
}

func removeCycleIssue(c *call, t *tx) reply {
	s, ok := c.cycleIssue(t)
	if !ok {
		return notFound()
	}
	c.removeFromCycle(t, s)
	return reply{status: http.StatusNoContent}
}

// transferIssues moves what is not done to another cycle.
func transferIssues(c *call, t *tx) reply {
	to, ok := t.in(c.kinds.cycle, inProject(c), text(c.in, "new_cycle_id"))
	if !ok {
		return refuse(http.StatusBadRequest, "error", "New Cycle Id is required")
	}
	if completed(to.row, c.now) {
		return refuse(http.StatusBadRequest, "error", "The cycle where the issues are transferred is already completed")
	}
	for _, s := range t.all(c.kinds.cycleIssue, scope(c.vars["cycle"])) {
		item, ok := t.get(c.kinds.workItem, text(s.row, "issue"))
		if !ok {
			continue
		}
		if g := c.group(t, text(item.row, "state")); g == "completed" || g == "cancelled" {
			continue
		}
		c.removeFromCycle(t, s)
		c.addToCycle(t, text(to.row, "id"), text(s.row, "issue"), s.row)
	}
	return reply{http.StatusOK, row{"message": "Success"}}
}
