package planner

import (
	"context"
	"slices"
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
	contents    []listedContents
	named       int // number of the answers when names were read from them, see NamesOf
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
	w.differ = newComparer(w.refs)
	bindUploads(w.differ)                                         // uploads that differ are made again
	w.differ.compareFields()                                      // desired x observed x prior, field by field
	w.records = newMemberRecords(w.refs)                          // members of containers, as the state has them
	w.orphans = findOrphans(w.differ, w.records)                  // objects that only the state has, and whether to delete them
	w.memberships = findMemberships(w.refs, w.records, w.orphans) // members to add to containers, and to remove
	w.outsiders = findOutsiders(w.differ, w.memberships)          // people who are not members of the project
	findGovernance(w.differ)                                      // levels on which the workspace manages the kinds that are written
	w.claims = findClaims(w.analysis, w.orphans)                  // names and marks that must be unique
	readDisplayNames(w.differ, w.memberships)                     // names for the IDs that the plan shows
	w.contents = readContents(w.memberships)                      // what only a pull compares
	return w
}
