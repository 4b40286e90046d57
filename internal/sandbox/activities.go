package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
)

func (ks *kinds) describeActivities() {
	ks.activity = ks.add(&kind{
		name: "activity",
		columns: audit("verb field old_value new_value comment attachments old_identifier new_identifier epoch project workspace " +
			"issue issue_comment actor"),
		param: "activity", scope: inItem, oldestFirst: true,
	})
}

// createdActivity returns the first activity of a work item. It is made from the item and not stored, because that would double the writes of a creation.
func (ks *kinds) createdActivity(item row) row {
	id, err := uuid.Parse(text(item, "id"))
	must(err)
	id[0], id[15] = ^id[0], ^id[15]
	created, _ := parseMoment(text(item, "created_at"))
	r := row{
		"id": id.String(), "created_at": item["created_at"], "updated_at": item["created_at"], "verb": "created", "comment": "created the issue",
		"attachments": []any{}, "epoch": float(float64(created.Unix())), "project": item["project"], "workspace": item["workspace"],
		"issue": item["id"], "actor": item["created_by"],
	}
	ks.activity.fillNull(r)
	return r
}

// activitiesOf returns every activity of the route's item.
func (c *call) activitiesOf(t *tx) []row {
	out := []row{}
	if c.isInArchivedProject(t) {
		return out
	}
	if item, ok := t.getWithin(c.kinds.workItem, inProject(c), c.vars["item"]); ok {
		out = append(out, c.kinds.createdActivity(item.row))
	}
	for _, s := range t.all(c.kinds.activity, inItem(c)) {
		out = append(out, s.row)
	}
	return out
}

func listActivities(c *call, t *tx) reply {
	return renderPage(c, c.activitiesOf(t), func(r row) row { return c.kinds.activity.render(c, t, r) })
}

// logActivity writes an activity of the route's item, under the route's project.
func (c *call) logActivity(t *tx, verb string, field, before, after any, comment string) {
	r := row{
		"verb": verb, "field": field, "old_value": before, "new_value": after, "comment": comment, "attachments": []any{},
		"epoch": float(float64(c.now.Unix())), "issue": c.vars["item"], "actor": c.user,
	}
	c.setAudit(c.kinds.activity, r)
	t.insert(c.kinds.activity, inItem(c), r)
}

// logChanges writes an activity for each changed field, and for each element that was added to a list or removed from it.
func (c *call) logChanges(t *tx, old, r row) {
	for _, name := range []string{
		"name", "parent", "priority", "state", "description_html", "target_date", "start_date", "estimate_point",
		"point", "type",
	} {
		if before, after := valueText(old[name]), valueText(r[name]); before != after {
			field := strings.TrimSuffix(name, "_html")
			c.logActivity(t, "updated", field, orNull(before), orNull(after), "updated the "+field+" to")
		}
	}
	for _, name := range []string{"labels", "assignees"} {
		before, after := list(old, name), list(r, name)
		for _, id := range after {
			if !slices.Contains(before, id) {
				c.logActivity(t, "updated", name, nil, id, "added "+strings.TrimSuffix(name, "s")+" ")
			}
		}
		for _, id := range before {
			if !slices.Contains(after, id) {
				c.logActivity(t, "updated", name, id, nil, "removed "+strings.TrimSuffix(name, "s")+" ")
			}
		}
	}
}

// valueText returns a value as an activity writes it.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return fmt.Sprint(v)
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
