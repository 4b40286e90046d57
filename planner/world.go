package planner

import (
	"cmp"
	"context"
	"slices"

	"github.com/planform/planform/internal/plane/resource"
)

// World holds the answers that were read from a workspace, and the results of the stages that read.
type World struct {
	analysis

	identities  *identities
	refs        *references
	records     *memberRecords
	differ      *comparer
	memberships *memberships
	orphans     *orphans
	outsiders   *outsiders
	claims      *claims
	divergences *divergences
}

// Load reads everything that a plan depends on, level by level: workspace, projects, contents of projects. It returns an error if a read
// failed.
func Load(ctx context.Context, in Input, reader Reader) (*World, error) {
	for {
		service := newLoader(ctx, &in, reader)
		w := load(in, service)
		if !service.moved || service.err != nil {
			service.request = nil
			return w, service.err
		}
	}
}

func load(in Input, service *loader) *World {
	in.Desired = append(slices.Clip(in.Desired), in.invitations(service)...)
	w := &World{analysis: observe(&in, service)}
	w.identities = match(w.analysis) // identity: ID, state, identifier, external ID, natural key
	w.refs = resolve(w.identities)   // names to IDs, keys to objects
	readCustomFields(w.refs)         // values that no list shows
	w.differ = &comparer{w.analysis, w.refs, map[*resource.Value]comparison{}}
	bindUploads(w.differ)                                         // uploads that differ are made again
	w.differ.compareFields()                                      // desired x observed x prior, field by field
	w.records = newMemberRecords(w.refs)                          // members of containers, as the state has them
	w.orphans = findOrphans(w.differ, w.records)                  // objects that only the state has, and whether to delete them
	w.memberships = findMemberships(w.refs, w.records, w.orphans) // members to add to containers, and to remove
	w.outsiders = findOutsiders(w.differ, w.memberships)          // people who are not members of the project
	findGovernance(w.differ)                                      // levels on which the workspace manages the kinds that are written
	w.claims = findClaims(w.analysis, w.orphans)                  // names and marks that must be unique
	readDisplayNames(w.differ, w.memberships)                     // names for the IDs that the plan shows
	w.divergences = findDivergences(w.differ, w.memberships)      // changes by people, for a pull
	return w
}

// Row returns the row of an object of the manifest; nil = it was not read.
func (wo *World) Row(a resource.Address) resource.Row {
	i, wanted := wo.objects.indexOf(a)
	if !wanted {
		return nil
	}
	return wo.objects.states[i].row
}

// Names returns the IDs of the objects that a value of an object names. For an object that the run creates, it returns the address.
func (wo *World) Names(a resource.Address, v *resource.Value) (ids []string) {
	i, _ := wo.objects.indexOf(a)
	resolve := wo.refs.idResolver(i)
	for k := range v.Refs {
		id, _ := resolve(v.Field, &v.Refs[k])
		ids = append(ids, cmp.Or(id, showReference(&v.Refs[k])))
	}
	return ids
}

// NamesOf returns the addresses or names of objects of the service, or an ID where neither is known.
func (wo *World) NamesOf(kind string, ids []string) (names []string) {
	wo.refs.displayNames = nil // more lists may have been read since
	for _, id := range ids {
		names = append(names, wo.refs.nameID(kind, id))
	}
	return names
}

// Self returns the ID of the credential's user, or "".
func (wo *World) Self() string { return wo.in.Self }

// IsUndo reports whether the plan takes back an earlier run.
func (wo *World) IsUndo() bool { return wo.in.Deletes != nil }
