package planner

import "github.com/planform/planform/internal/resource"

// memberIDs returns the IDs of the members that a list of a membership shows.
func memberIDs(membership *resource.Kind, list Answer) []string {
	ids := make([]string, len(list.Rows))
	for i, row := range list.Rows {
		ids[i] = membership.Membership.MemberID(row)
	}
	return ids
}
