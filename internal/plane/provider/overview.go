package provider

import (
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// answerFromOverviews answers reads of members from overviews that were read before. It returns the other reads, and the overviews that
// save requests, each with the reads that it answers.
func (rd *Reader) answerFromOverviews(reads []planner.Read) (others []planner.Read, wanted map[planner.Read][]planner.Read) {
	if rd.API != resource.V2 {
		return reads, nil
	}
	wanted = map[planner.Read][]planner.Read{}
	for _, read := range reads {
		overview, own, container, ok := overviewOf(read)
		answer, answered := rd.shared[overview]
		_, have := rd.Observed[read]
		switch {
		case have || !ok || answered && (answer.Unsupported || answer.NotFound || answer.Forbidden || !own.Shows(answer.Rows)):
			others = append(others, read)
		case answered:
			m := resource.MustLookup(read.Operation.Kind).Membership
			rd.Observed[read] = planner.Answer{Rows: own.Members(m, container, answer.Rows)}
		case !slices.Contains(wanted[overview], read):
			wanted[overview] = append(wanted[overview], read)
		}
	}
	for overview, same := range wanted {
		if len(same) == 1 { // its own list is shorter
			others = append(others, same...)
			delete(wanted, overview)
		}
	}
	return others, wanted
}

// overviewOf returns the overview that also answers a read of one container's members, and where its rows hold them.
func overviewOf(read planner.Read) (overview planner.Read, own *resource.Overview, container string, ok bool) {
	k := resource.MustLookup(read.Operation.Kind)
	if read.Operation.Verb != resource.ListMembers || read.Probe || k.Membership == nil {
		return overview, nil, "", false
	}
	op, offered := k.Op(resource.ListOverview, resource.V2)
	params, matches := read.Operation.Match(read.Path)
	if !offered || !matches {
		return overview, nil, "", false
	}
	overview.Path, _ = op.Expand(params)
	overview.Optional = true // without it, each container is read
	overview.Operation, overview.Fields = shareOverview(op)
	if op.Overview.Rows == k.Membership.Member {
		overview.Fields += ",name,sequence_id"
	}
	return overview, op.Overview, params[resource.MustLookup(k.Membership.Container).Param], true
}

// shareOverview returns the operation and the fields of a list that shows several memberships, such as the cycles and modules of work items.
func shareOverview(op *resource.Operation) (shared *resource.Operation, fields string) {
	names := map[string]bool{}
	for _, k := range resource.Memberships() {
		if o, has := k.Op(resource.ListOverview, resource.V2); has && o.Path == op.Path {
			names[o.Overview.Field] = true
			if shared == nil {
				shared = o
			}
		}
	}
	return shared, "id," + strings.Join(slices.Sorted(maps.Keys(names)), ",")
}
