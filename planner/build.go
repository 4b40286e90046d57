package planner

import (
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// Result is what a round of planning brings: reads that must be answered first, or
// else the plan.
type Result struct {
	// Reads must be answered before a plan can be made, and can be asked now, in a fixed order.
	Reads []Read
	// Unconfirmed are the reads that show nothing of what a former run may have sent: of a
	// create, where only readable numbers tell, and of what the manifest does not want by now.
	// While the service may still be about to carry it out, they are to be asked again before
	// the plan is used. A create that is still wanted is [Step.Pending] instead.
	Unconfirmed []Read
	// Plan is nil where there are Reads, or errors among the Findings.
	Plan *Plan
	// Findings are the errors that leave no plan, such as names that nothing bears, with
	// the warnings beside them. The warnings of a plan are its Notices.
	Findings diag.List
}

// Build makes a plan, as far as the reads are answered. It is a pure function.
func Build(in Input) Result { return Begin(in).Round() }

// Planning makes one plan in as many rounds as its reads take. Of its input, only the answers change meanwhile.
type Planning struct {
	in    Input
	known *preparation
}

// Begin works out what is the same in all rounds.
func Begin(in Input) Planning { return Planning{in, prepare(&in)} }

// Round is [Build] with the answers that there are now.
func (p Planning) Round() Result {
	in := p.in
	in.Desired = append(slices.Clip(in.Desired), in.invitations()...)

	// What is, and what is wanted. These stages ask the service.
	r := observe(&in, p.known)                      // what the service lists
	matched := match(r)                             // identity: ID, state, identifier, external ID, natural key
	refs := resolve(matched)                        // names to IDs, keys to objects
	readCustomFields(refs)                          // what no list shows
	differ := &comparer{r, refs}                    // desired x observed x prior, field by field
	memberships := gatherMembers(refs)              // desired and current members of containers
	orphans := findOrphans(refs)                    // in the state, not in the manifest: which may be deleted
	removals := findRemovals(memberships, orphans)  // members to remove
	outsiders := findOutsiders(differ, memberships) // people who are not members of the project
	findGovernance(differ)                          // on which level the workspace manages what is written
	claims := findClaims(r, orphans)                // names and marks that the service takes once
	readDisplayNames(differ, removals)              // of what the plan would show by an ID
	pulled := findDivergences(differ, memberships)  // what people changed, if that is asked for
	round := Result{Reads: r.service.reads}
	if len(round.Reads) > 0 {
		return round
	}

	// What to do.
	if !r.diags.HasErrors() {
		plan := newPlan(&in, refs)
		blockers := findBlockers(refs, claims) // what cannot be made
		steps := newSteps(refs)
		blockTwins(matched, steps)                                                             // several records of one object
		changes := planChanges(plan, steps, blockers, differ, memberships, orphans, outsiders) // creates and updates
		additions := planAdditions(plan, steps, blockers, memberships)
		planRemovals(removals, steps)
		pruning := &pruning{r, refs, orphans, removals, steps, plan}
		ordering := &ordering{r, refs, steps, changes, additions, plan}
		if ordering.order(pruning) {
			plan.count(&in)
			changes.countSettled()
			plan.Dialects = dialects(in.Observed)
			(&bookkeeping{r, memberships, orphans, removals, steps, additions, plan}).stateChanges()
			(&warnings{r, memberships, changes, steps, plan}).warn()
			pruning.notices()
			plan.NotCompared = r.gaps.list()
			refs.addPages(plan.Steps)
			plan.Divergences, plan.Vanished, plan.Unmanaged = pulled.list, pulled.vanished, pulled.unmanaged
			plan.ExtraMembers = pulled.extra
			round.Plan = plan
		}
	}
	round.Unconfirmed = r.service.unconfirmed
	r.locateFindings()
	r.diags.Sort()
	if r.diags.HasErrors() {
		round.Plan, round.Findings = nil, r.diags.Clip()
	} else {
		round.Plan.Notices = r.diags.Clip()
	}
	return round
}

func newPlan(in *Input, refs *references) *Plan {
	return &Plan{
		Owner: in.Owner, Workspace: in.Workspace, BaseURL: in.BaseURL, WebURL: in.WebURL, API: in.API, Objects: in.Desired,
		Known: make(map[resource.Address]Record, len(refs.objects.owners)), Names: refs.idsForPlan,
	}
}

func (p *Plan) count(in *Input) {
	changed := map[resource.Address]bool{}
	for _, s := range p.Steps {
		if s.Continues = s.OnlyCustom() && changed[s.Address]; s.Continues {
			continue
		}
		action, members := s.Action, 0
		if action == Adopt && s.Changed() {
			action = Update // what is overwritten is not hidden behind "adopt"
		}
		if s.Members != nil {
			members = len(s.Members.Items)
		}
		changed[s.Address] = action == Create || action == Update
		p.Summary.Count(action, members)
	}
	p.Summary.Requests = countRequests(p.Steps)
	p.Summary.Reads = len(in.Observed)
}

// dialects are those of the rows of the reads, by kind.
func dialects(observed Observed) map[string]resource.Dialect {
	found := map[string]resource.Dialect{}
	for read, a := range observed {
		k := resource.MustLookup(read.Operation.Kind)
		if len(a.Rows) == 0 || !k.HasDialects() {
			continue
		}
		// Answers come in any order: should they differ, the contract's names are the ones.
		d, shown := k.DialectOf(a.Rows[0])
		if have, before := found[k.Name]; shown && (!before || d < have) {
			found[k.Name] = d
		}
	}
	return found
}
