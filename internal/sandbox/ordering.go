package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
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
