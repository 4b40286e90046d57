package sandbox

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// transferItems moves the items of a cycle that are not done to another one, and keeps how the cycle stood.
func transferItems(c *call, t *tx) reply {
	named := c.in["new_cycle_id"]
	switch {
	case c.notAnObject() != nil:
		return serverError()
	case falsy(named):
		return refuse(http.StatusBadRequest, "error", "New Cycle Id is required")
	}
	from, ok := c.cycleOf(t)
	if !ok {
		return notFound()
	}
	if end, ok := parseMoment(text(from.row, "end_date")); ok && end.After(c.now) {
		return refuse(http.StatusBadRequest, "error", "The old cycle is not completed yet")
	}
	id, ok := anyID(named)
	if !ok {
		return refuse(http.StatusBadRequest, "error", textBadDetail)
	}
	to, ok := t.in(c.kinds.cycle, inProject(c), id)
	switch {
	case !ok:
		return serverError()
	case completed(to.row, c.now):
		return refuse(http.StatusBadRequest, "error", "The cycle where the issues are transferred is already completed")
	}
	members := t.all(c.kinds.cycleIssue, scope(text(from.row, "id")))
	var items []row
	for _, m := range members {
		if item, ok := t.get(c.kinds.workItem, text(m.row, "issue")); ok {
			items = append(items, item.row)
		}
	}
	from.row["progress_snapshot"] = c.progress(t, from.row, items)
	t.save(c.kinds.cycle, from)
	for _, m := range members {
		// What is deleted moves, too; what is archived does not.
		item, ok := c.itemOrDeleted(t, text(m.row, "issue"))
		group := c.group(t, text(item.row, "state"))
		if ok && !hidden(item.row) && slices.Contains([]string{"backlog", "unstarted", "started"}, group) {
			t.remove(c.kinds.cycleIssue, m)
			c.addToCycle(t, text(to.row, "id"), text(item.row, "id"), m.row)
		}
	}
	return reply{http.StatusOK, row{"message": "Success"}}
}

// progress is how a cycle stands: how many of its items are in which group, of which label and with whom, and how many were
// left at the end of each of its days so far.
func (c *call) progress(t *tx, cycle row, items []row) row {
	out := row{"total_issues": len(items), "estimate_distribution": row{}}
	for _, group := range stateGroups() {
		out[group+"_issues"] = 0
	}
	for _, item := range items {
		name := c.group(t, text(item, "state")) + "_issues"
		if n, ok := out[name].(int); ok {
			out[name] = n + 1
		}
	}
	within := slices.DeleteFunc(slices.Clone(items), func(item row) bool { return item["project"] != cycle["project"] })
	out["distribution"] = row{
		"labels": c.shares(t, c.kinds.label, "labels", within, func(label row) row {
			return row{"label_id": label["id"], "label_name": label["name"], "color": label["color"]}
		}),
		"assignees": c.shares(t, c.kinds.user, "assignees", within, func(user row) row {
			return row{"assignee_id": user["id"], "display_name": user["display_name"], "avatar_url": user["avatar"]}
		}),
		"completion_chart": c.burndown(cycle, items),
	}
	return out
}

// shares counts the items for each record that a column names, in the order of their names; those that name none come last.
func (c *call) shares(t *tx, k *kind, column string, items []row, entry func(row) row) []row {
	byID := map[string]row{}
	for _, item := range items {
		ids := list(item, column)
		if len(ids) == 0 {
			ids = []string{""}
		}
		for _, id := range ids {
			if byID[id] == nil {
				named, _ := t.get(k, id)
				byID[id] = entry(named.row)
				for _, count := range []string{"total_issues", "completed_issues", "pending_issues"} {
					byID[id][count] = 0
				}
			}
			done := "pending_issues"
			if item["completed_at"] != nil {
				done = "completed_issues"
			}
			byID[id]["total_issues"] = byID[id]["total_issues"].(int) + 1
			byID[id][done] = byID[id][done].(int) + 1
		}
	}
	out := []row{}
	for id, r := range byID {
		r["id"] = id
		out = append(out, r)
	}
	name := func(r row) string { return text(r, "label_name") + text(r, "display_name") }
	slices.SortFunc(out, func(a, b row) int {
		if (a["id"] == "") != (b["id"] == "") {
			return strings.Compare(text(b, "id"), text(a, "id"))
		}
		return strings.Compare(name(a)+text(a, "id"), name(b)+text(b, "id"))
	})
	for _, r := range out {
		delete(r, "id")
	}
	return out
}

// burndown is how many items were not completed at the end of each day of a cycle; of a day to come nobody knows.
func (c *call) burndown(cycle row, items []row) row {
	out := row{}
	start, dated := parseMoment(text(cycle, "start_date"))
	end, ends := parseMoment(text(cycle, "end_date"))
	if !dated || !ends {
		return out
	}
	last, today := end.UTC().Format(time.DateOnly), c.now.UTC().Format(time.DateOnly)
	for day := start.UTC(); ; day = day.AddDate(0, 0, 1) {
		date := day.Format(time.DateOnly)
		if date > last {
			return out
		}
		if out[date] = nil; date > today {
			continue
		}
		left := len(items)
		for _, item := range items {
			if at, ok := parseMoment(text(item, "completed_at")); ok && at.UTC().Format(time.DateOnly) <= date {
				left--
			}
		}
		out[date] = left
	}
}
