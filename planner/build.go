package planner

import (
	"context"
	"slices"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// Result is a plan, or the findings that prevent it.
type Result struct {
	// Plan is nil if there are errors among the Findings.
	Plan *Plan
	// Findings are the errors that prevent a plan, such as unknown names, and the warnings found with them. The warnings of a plan are its
	// Notices.
	Findings diag.List
}

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
	w.identities = match(w.analysis)                              // identity: ID, state, identifier, external ID, natural key
	w.refs = resolve(w.identities)                                // names to IDs, keys to objects
	readCustomFields(w.refs)                                      // values that no list shows
	w.differ = &comparer{w.analysis, w.refs}                      // desired x observed x prior, field by field
	w.records = newMemberRecords(w.refs)                          // members of containers, as the state has them
	w.orphans = findOrphans(w.refs, w.records)                    // objects that only the state has, and whether to delete them
	w.memberships = findMemberships(w.refs, w.records, w.orphans) // members to add to containers, and to remove
	w.outsiders = findOutsiders(w.differ, w.memberships)          // people who are not members of the project
	findGovernance(w.differ)                                      // levels on which the workspace manages the kinds that are written
	w.claims = findClaims(w.analysis, w.orphans)                  // names and marks that must be unique
	readDisplayNames(w.differ, w.memberships)                     // names for the IDs that the plan shows
	w.divergences = findDivergences(w.differ, w.memberships)      // changes by people, for a pull
	return w
}

// Build makes the plan of a World. It reads nothing, and the same World gives the same plan.
func Build(w *World) Result {
	in, diags := w.in, w.diags
	var result Result
	if !diags.HasErrors() {
		plan := newPlan(in, w.refs)
		blockers := findBlockers(w.refs, w.claims) // objects and values that cannot be made
		steps := newSteps(w.refs)
		blockTwins(w.identities, steps)                                                                // several rows with the mark of one object
		changes := planChanges(plan, steps, blockers, w.differ, w.memberships, w.orphans, w.outsiders) // creates and updates
		planMembers(plan, steps, blockers, w.memberships)
		pruning := &pruning{w.analysis, w.refs, w.orphans, w.memberships, steps, plan}
		ordering := &ordering{w.analysis, w.refs, steps, changes, plan}
		if ordering.order(pruning) {
			plan.count(in)
			changes.countUnchanged()
			plan.Dialects = dialects(in.Observed)
			(&bookkeeping{w.analysis, w.memberships, w.orphans, steps, plan}).stateChanges()
			(&warnings{w.analysis, w.memberships, changes, steps, plan}).warn()
			pruning.notices()
			plan.NotCompared = w.gaps.list()
			w.refs.addPages(plan.Steps)
			plan.Divergences, plan.Vanished, plan.Unmanaged = w.divergences.list, w.divergences.vanished, w.divergences.unmanaged
			plan.ExtraMembers = w.divergences.extra
			result.Plan = plan
		}
	}
	w.locateFindings()
	diags.Sort()
	if diags.HasErrors() {
		result.Plan, result.Findings = nil, diags.Clip()
	} else {
		result.Plan.Notices = diags.Clip()
	}
	return result
}

func newPlan(in *Input, refs *references) *Plan {
	return &Plan{
		Owner: in.Owner, Workspace: in.Workspace, BaseURL: in.BaseURL, WebURL: in.WebURL, API: in.API, Objects: in.Desired,
		Known: make(map[resource.Address]Record, len(refs.objects.owners)), Names: refs.idsForPlan,
	}
}

func (p *Plan) count(in *Input) {
	created, changed := map[resource.Address]bool{}, map[resource.Address]bool{}
	for _, s := range p.Steps {
		if s.Continues = s.Action == Update && created[s.Address] || s.OnlyCustom() && changed[s.Address]; s.Continues {
			continue
		}
		action, members := s.Action, 0
		if action == Adopt && s.Changed() {
			action = Update // the summary counts overwritten fields as an update
		}
		if s.Members != nil {
			members = len(s.Members.Items)
		}
		created[s.Address] = created[s.Address] || action == Create
		changed[s.Address] = action == Create || action == Update
		p.Summary.Count(action, members)
	}
	p.Summary.Requests = countRequests(p.Steps)
	p.Summary.Reads = len(in.Observed)
}

// dialects returns the dialect of each kind, as the rows of the answers show it.
func dialects(observed Observed) map[string]resource.Dialect {
	found := map[string]resource.Dialect{}
	for read, a := range observed {
		k := resource.MustLookup(read.Operation.Kind)
		if len(a.Rows) == 0 || !k.HasDialects() {
			continue
		}
		// The map has no order: if answers differ, the least dialect, with the contract's names, counts.
		d, shown := k.DialectOf(a.Rows[0])
		if have, before := found[k.Name]; shown && (!before || d < have) {
			found[k.Name] = d
		}
	}
	return found
}
