package planner

import (
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

// Build makes the plan of a World. It reads nothing, and the same World gives the same plan.
func Build(w *World) Result {
	in, diags := w.in, w.diags
	var result Result
	if !diags.HasErrors() {
		plan := newPlan(in, w.refs)
		blockers := &blockers{w.analysis, w.refs, w.claims, map[objectID]objectID{}} // objects and values that cannot be made
		steps := newSteps(w.refs)
		blockTwins(w.identities, steps)                  // several rows with the mark of one object
		changes := planChanges(w, plan, steps, blockers) // creates and updates
		planMembers(plan, steps, blockers, w.memberships)
		pruning := &pruning{w.analysis, w.refs, w.orphans, w.memberships, steps, plan}
		ordering := &ordering{analysis: w.analysis, refs: w.refs, steps: steps, changes: changes, plan: plan}
		if ordering.order(pruning) {
			plan.count(in)
			changes.countUnchanged()
			plan.Dialects = dialects(in.Observed)
			(&bookkeeping{w, steps, plan, map[resource.Address]*StateChange{}, map[resource.Address]bool{}}).collect()
			changes.warn()
			pruning.notices()
			plan.NotCompared = w.gaps.list()
			w.refs.addPages(plan.Steps)
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
		Known: make(map[resource.Address]Record, len(refs.objects.owners)), Names: refs.resolvedNames(),
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
