package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// byRow compares two rows.
type byRow func(a, b row) int

// itemOrdering is the comparison that ?order_by= asks for in the list of work items: that has orders of its own for priorities,
// states, labels and assignees.
func (c *call) itemOrdering(t *tx, by string) (byRow, *reply) {
	largest := func(k *kind, column, name string) func(row) any {
		return func(r row) any {
			var found any
			for _, id := range list(r, column) {
				if s, ok := t.get(k, id); ok && (found == nil || text(s.row, name) > fmt.Sprint(found)) {
					found = text(s.row, name)
				}
			}
			return found
		}
	}
	switch name := strings.TrimPrefix(by, "-"); name {
	case "priority":
		return ordered(by, func(r row) any {
			return slices.Index([]string{"urgent", "high", "medium", "low", "none"}, text(r, "priority"))
		}), nil
	case "state__name", "state__group":
		return ordered(by, func(r row) any { return slices.Index(stateGroups(), c.group(t, text(r, "state"))) }), nil
	case "labels__name":
		return ordered(by, largest(c.kinds.label, "labels", "name")), nil
	case "assignees__first_name":
		return ordered(by, largest(c.kinds.user, "assignees", "first_name")), nil
	}
	return c.plainOrdering(t, c.kinds.workItem, by)
}

// plainOrdering is the comparison of a column, as a database makes it. At a column that there is not the service fails; what
// it does at those of other records the sandbox knows of states only.
func (c *call) plainOrdering(t *tx, k *kind, by string) (byRow, *reply) {
	name := strings.TrimPrefix(by, "-")
	of, column, related := strings.Cut(name, "__")
	switch {
	case related && c.vars["project"] != "" && (of == "project" || of == "workspace"): // which all of them have in common
		return ordered(by, func(row) any { return nil }), nil
	case name == "estimate_point__value" && k == c.kinds.workItem:
		return ordered(by, func(r row) any {
			s, _ := t.get(c.kinds.estimatePoint, text(r, "estimate_point"))
			return s.row["value"]
		}), nil
	case related && k == c.kinds.workItem && of == "state" && slices.Contains(c.kinds.state.columns, column):
		return ordered(by, func(r row) any {
			s, _ := t.get(c.kinds.state, text(r, "state"))
			return s.row[column]
		}), nil
	case k.refersTo(of) || k.refersTo(strings.TrimSuffix(name, "_id")) || name == "type_id" || slices.Contains(k.computed, name) && name != "sort_order",
		slices.Contains([]string{"?", "pk", "cycle_id", "bridge_id", "link_count", "attachment_count", "sub_issues_count"}, name):
		return nil, new(refuse(http.StatusNotImplemented, "error", unknownParameter("order_by="+by)))
	case !slices.Contains(k.columns, name):
		return nil, new(serverError())
	}
	return ordered(by, func(r row) any { return r[name] }), nil
}

// ordered compares ranks, the other way round if the order begins with a hyphen. What is equal stays in the order of creation;
// the service has no order there.
func ordered(by string, rank func(row) any) byRow {
	down := strings.HasPrefix(by, "-")
	return func(a, b row) int {
		n := compare(rank(a), rank(b))
		if down {
			n = -n
		}
		return cmp.Or(n, strings.Compare(text(a, "created_at"), text(b, "created_at")))
	}
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
