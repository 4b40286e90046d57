package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// whyLeft says why a mismatch with the real server is left as it is, or "".
func whyLeft(m *mismatch, before []operation) string {
	switch {
	case belowDeleted(m.op, before):
		return "what is written below a work item just after its deletion is deleted with it or not, as the service's worker comes late or not"
	case strings.Contains(m.op.path, "/links/") && m.at == "body.url" && m.got == "has no such field":
		return "the address of a link is checked after its other fields, so that a body with two mistakes is told of one"
	case strings.HasPrefix(m.at, "body.results[") && m.op.method == http.MethodGet && createdAlike(before):
		return "records to which the same time of creation was given are listed in the order in which the database comes to them"
	}
	return ""
}

// createdAlike says whether two operations before gave records the same time of creation.
func createdAlike(before []operation) bool {
	given := map[string]int{}
	for _, op := range before {
		if body, ok := op.body.(fields); ok && body["created_at"] != nil {
			given[inJSON(body["created_at"])]++
		}
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(given)), func(n int) bool { return n > 1 })
}

// belowDeleted says whether an operation reads or writes below a work item that
// was deleted before.
func belowDeleted(op operation, before []operation) bool {
	return slices.ContainsFunc(before, func(earlier operation) bool {
		return earlier.method == http.MethodDelete && strings.Contains(earlier.path, "/work-items/") &&
			len(op.path) > len(earlier.path) && strings.HasPrefix(op.path, earlier.path)
	})
}
