package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// ordering is the comparison that ?order_by= asks for; ok is false if there is
// no such field. Fields of related records are accepted, as the service does,
// and but for the group of the state order nothing.
func (c *call) ordering(t *tx, k *kind, by string) (less func(a, b row) int, ok bool) {
	name, down := strings.CutPrefix(by, "-")
	rank := func(r row) any { return r[name] }
	switch {
	case name == "priority":
		rank = func(r row) any {
			return slices.Index([]string{"urgent", "high", "medium", "low", "none"}, text(r, "priority"))
		}
	case strings.HasPrefix(name, "state__"):
		rank = func(r row) any { return slices.Index(stateGroups(), c.group(t, text(r, "state"))) }
	case strings.Contains(name, "__"):
		rank = func(row) any { return nil }
	case !slices.Contains(k.columns, name):
		return nil, false
	}
	return func(a, b row) int {
		n := compare(rank(a), rank(b))
		if down {
			n = -n
		}
		return cmp.Or(n, strings.Compare(text(a, "created_at"), text(b, "created_at")))
	}, true
}

// compare orders two values of one field; null comes last.
func compare(a, b any) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	switch a := a.(type) {
	case int:
		if b, ok := b.(int); ok {
			return cmp.Compare(a, b)
		}
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b)
		}
	case json.Number:
		if b, ok := b.(json.Number); ok {
			x, _ := a.Float64()
			y, _ := b.Float64()
			return cmp.Compare(x, y)
		}
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// search finds work items by name or by number in the projects the user is in.
func search(c *call, t *tx) reply {
	query := strings.ToLower(c.query.Get("search"))
	found := []row{}
	if query == "" {
		return reply{http.StatusOK, row{"issues": found}}
	}
	limit := 10
	if n := c.query.Get("limit"); n != "" && strings.Trim(n, "0123456789") == "" && len(n) < 6 {
		limit = atoi(n)
	}
	var items []stored
	for _, p := range t.all(c.kinds.project, scope(workspaceID)) {
		id := text(p.row, "id")
		only := c.query.Get("project_id")
		if projectRole(t, id, c.user) == 0 || only != "" && c.query.Get("workspace_search") != "true" && only != id {
			continue
		}
		items = append(items, t.all(c.kinds.workItem, scope(id))...)
	}
	_, digits, _ := strings.Cut(query, "-")
	slices.SortStableFunc(items, func(a, b stored) int {
		return strings.Compare(text(b.row, "created_at"), text(a.row, "created_at"))
	})
	for _, s := range items {
		if len(found) == limit {
			break
		}
		number := fmt.Sprint(s.row["sequence_id"])
		if !strings.Contains(strings.ToLower(text(s.row, "name")), query) && number != query && number != digits {
			continue
		}
		p, _ := t.get(c.kinds.project, text(s.row, "project"))
		found = append(found, row{
			"name": s.row["name"], "id": s.row["id"], "sequence_id": s.row["sequence_id"],
			"project__identifier": p.row["identifier"], "project_id": p.row["id"], "workspace__slug": c.opts.Workspace,
		})
	}
	return reply{http.StatusOK, row{"issues": found}}
}
