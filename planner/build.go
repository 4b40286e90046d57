package planner

import (
	"cmp"
	"errors"
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// Build is [Snapshot.Build] of a new look.
func Build(in Input) (*Plan, diag.List) { return Observe(in).Build() }

// Build makes the plan. It may be called when [Snapshot.Reads] asks for nothing
// more. Errors among the findings (names that nobody bears, objects that cannot be
// told apart, cycles) leave no plan.
func (s *Snapshot) Build() (*Plan, diag.List) {
	b := &builder{Snapshot: s, plan: &Plan{
		Workspace: s.in.Workspace, BaseURL: s.in.BaseURL, API: s.in.API,
		Known: make(map[resource.Address]Record, len(s.owners)), Names: s.names,
	}, steps: make([][]*Step, len(s.kinds)), planned: make([]*Step, len(s.states)), prerequisites: map[prerequisite]*Step{}, prerequisiteKinds: membershipPrerequisites(), diags: slices.Concat(s.in.Notices, s.diags)}
	if len(s.reads) > 0 {
		b.diags.Errorf(diag.Position{}, "unread", "%d reads have no answer, the first is %s", len(s.reads), s.reads[0].Path)
	}
	if !b.diags.HasErrors() {
		b.build()
	}
	b.locate()
	b.diags.Sort()
	if b.diags.HasErrors() {
		return nil, b.diags.Clip()
	}
	b.plan.Notices = b.diags.Clip()
	return b.plan, nil
}

// builder turns a snapshot into steps.
type builder struct {
	*Snapshot
	plan     *Plan
	diags    diag.List // those of the snapshot and more
	steps    [][]*Step // by rank of their kind, in the order of the manifest
	blockers []int     // see root; nil = nothing is in the way of anything
	stale    map[*kindInfo]int
	newest   map[scope]int // highest readable number that is known
	needs    []int         // of the step that is being made

	prerequisites     map[prerequisite]*Step
	prerequisiteKinds map[string]bool
	archiveSteps      []*Step      // that archive objects or bring them back
	filled            map[int]bool // what members are to be brought into
	planned           []*Step      // by object: the step that creates or changes it, once it is planned
}

func (b *builder) build() {
	b.prepareBlockers()
	b.findNewest()
	b.findFilled()
	for i := range b.states {
		switch b.states[i].presence {
		case absent, unsupported, indeterminate, notFound:
			b.planCreate(i)
		case hidden:
			b.recordKnown(i)
		case exists:
			b.planUpdate(i)
		case pending, invalid: // there are errors
		}
	}
	for _, r := range b.memberSets {
		b.addMembers(r)
	}
	b.planRemovals()
	b.awaitPrerequisites()
	b.awaitDefaults()
	about := b.stepsByObject()
	b.orderClosing(about)
	b.orderSwitches()
	b.orderArchives(about)
	steps, err := b.numberSteps()
	if err == nil {
		steps, err = order(b.prune(steps))
	}
	if err != nil {
		b.reportCycle(err)
		return
	}
	b.plan.Steps = steps
	b.sequence()
	b.failOnDrift()
	b.stateChanges()
	b.count()
	b.plan.Dialects = b.dialects()
	b.notices()
	b.warnHidden()
	b.inTwoContainers()
	b.warnSharedExternalIDs()
	b.pruneNotices()
}

// findNewest finds the highest readable numbers that objects bear which are
// there: what is created gets higher ones.
func (b *builder) findNewest() {
	b.newest = map[scope]int{}
	for i := range b.states {
		if f := &b.states[i]; f.presence == exists && f.identifier != "" && f.parent != none {
			at := scope{f.info, f.parent}
			b.newest[at] = max(b.newest[at], numberOf(b.states[f.parent].identifier, f.identifier))
		}
	}
}

// step adds a step about an object.
func (b *builder) step(i int, a Action) *Step {
	o, f := b.in.Desired[i], &b.states[i]
	step := &Step{Address: o.Address, Action: a, Kind: o.Kind, Object: o, ID: f.id, Position: o.Position}
	if o.Kind.ClosedAfter != "" {
		step.Zone = b.zone(f.parent)
	}
	b.steps[f.info.rank] = append(b.steps[f.info.rank], step)
	return step
}

// willChange shows all values of a step as changes of it.
func (b *builder) willChange(step *Step) {
	for _, v := range step.Values {
		c := b.change(v, FromManifest)
		c.Possible = true
		step.changes = append(step.changes, c)
	}
}

// need notes an object that must be there before the step, if it is not yet.
func (b *builder) need(at int) {
	if b.states[at].presence == absent {
		b.needs = append(b.needs, at)
	}
}

// needTargets notes what must be there before the values can be sent.
func (b *builder) needTargets(i int, sent []*resource.Value) {
	for _, n := range b.refUses(i) {
		if n.field.via != nil || len(n.value.Refs) == 0 || !slices.Contains(sent, n.value) {
			continue
		}
		for k := range n.value.Refs {
			if t := n.value.Refs[k].Target; t != nil {
				b.need(b.index[t])
			}
		}
	}
}

// flushNeeds returns what was noted. Until [builder.countOf] they are states, then steps.
func (b *builder) flushNeeds() []int {
	if len(b.needs) == 0 {
		return nil
	}
	list := slices.Clone(b.needs)
	b.needs = b.needs[:0]
	return list
}

// planUpdate brings an object that exists to what the manifest wants.
func (b *builder) planUpdate(i int) {
	f := &b.states[i]
	if b.staysArchived(i) {
		b.keepArchived(i)
		return
	}
	d := b.difference(i)
	b.recordKnown(i)
	b.planArchive(i)
	over := b.isOver(i)
	if over {
		b.blockClosed(i, &d)
	}
	open := f.prior != nil && f.prior.PendingIntent != nil
	adopting := f.matchedBy != "" || open && (f.prior.ID == "" || len(d.send) == 0)
	mark := b.externalIDChange(i)
	if over {
		mark = nil
	}
	if mark != nil {
		d.changes = append(d.changes, *mark)
	}
	for k := range d.changes {
		if c := &d.changes[k]; f.matchedBy != "" && c.Before != nil && !b.createdByUs(i) {
			c.Origin = Overwritten
		}
	}
	b.recordDrift(i, &d)
	b.addUnavailableRefs(i, &d)
	if len(d.send) == 0 && !adopting && mark == nil && len(d.unappliable) == 0 {
		if len(d.kept) == 0 {
			b.plan.Summary.Unchanged++
		}
		return
	}
	if len(d.send) > 0 || mark != nil || adopting {
		step := b.step(i, Update)
		if adopting {
			step.Action = Adopt
			step.Reason = "found by " + cmp.Or(f.matchedBy, "looking")
			step.CreatedByUs = b.createdByUs(i)
		}
		step.changes = d.changes
		b.planned[i] = step
		if len(d.send) > 0 || mark != nil {
			b.checkDates(i, d.send)
			b.checkRefused(i, d.send)
			step.Operation, step.Values, step.SetExternalID = f.info.update, slices.Concat(d.send, d.alwaysSent), mark != nil
			b.needTargets(i, d.send)
			step.Needs = b.flushNeeds()
		}
	}
	b.addBlocked(i, &d)
}

// createdByUs reports whether planform made an object, as it announced, without knowing
// the outcome: it is none of another's.
func (b *builder) createdByUs(i int) bool {
	f := &b.states[i]
	marked := f.row.HasExternalID(resource.ExternalID(b.in.Workspace, b.in.Desired[i].Address))
	return f.maybeCreated() && (marked || f.matchedBy == byExternalID || f.matchedBy == byNumber)
}

// externalIDChange is the change that puts planform's external ID on an object, or nil: the external ID
// follows a key that changed, and objects that are recognised by a name which
// others may bear too get one, so that they are found again without the state.
// What the manifest points at by its ID or identifier keeps the external ID of whom it belongs to.
func (b *builder) externalIDChange(i int) *Change {
	o, f := b.in.Desired[i], &b.states[i]
	if !f.info.externalIDs || f.row == nil || f.info.update == nil || o.ID != "" || o.Identifier != "" {
		return nil
	}
	want := resource.ExternalID(b.in.Workspace, o.Address)
	have, _ := f.row["external_id"].(string)
	source, shown := f.row["external_source"].(string)
	moved := source == resource.ExternalSource && have != want
	taken := f.matchedBy != "" && o.Kind.AdoptOnRequestOnly && (!shown || source == "") && have == ""
	if !moved && !taken {
		return nil
	}
	c := &Change{Path: "external_id", After: &want, Origin: FromManifest, Possible: true}
	if have != "" {
		c.Before = &have
	}
	return c
}

// recordKnown takes down what is known of an object before the first step.
func (b *builder) recordKnown(i int) {
	f, address := &b.states[i], b.in.Desired[i].Address
	var known Record
	if f.prior != nil {
		known = *f.prior
	}
	known.Address, known.ID, known.PendingIntent = address, f.id, nil
	known.Identifier = cmp.Or(f.identifier, known.Identifier)
	b.plan.Known[address] = known
}

// reportCycle reports steps that wait for each other, where they are written.
func (b *builder) reportCycle(err error) {
	d := diag.Diagnostic{Code: "circle", Summary: err.Error(), Hint: "remove one of these references"}
	if e, ok := errors.AsType[*CycleError](err); ok {
		for k, step := range e.steps {
			if k == 0 {
				d.Position, d.Address = step.Position, string(step.Address)
				continue
			}
			d.Related = append(d.Related, diag.Related{Position: step.Position, Note: string(step.Address) + " is at"})
		}
	}
	b.diags.Add(d)
}

func (b *builder) count() {
	sum := &b.plan.Summary
	for _, s := range b.plan.Steps {
		switch s.Action {
		case Create:
			sum.Create++
		case Update:
			sum.Update++
		case Adopt:
			if s.Changed() {
				sum.Update++ // what is overwritten is not hidden behind "adopt"
			} else {
				sum.Adopt++
			}
		case Delete:
			sum.Delete++
		case NotPossible:
			sum.Blocked++
		case AddMembers, RemoveMembers: // counted by member
		}
		if s.Operation != nil {
			sum.Requests++
		}
	}
	sum.Reads = len(b.in.Observed)
}

// dialects are the field names that records of the reads show.
func (b *builder) dialects() map[string]resource.FieldNames {
	found := map[string]resource.FieldNames{}
	for read, a := range b.in.Observed {
		k := resource.MustLookup(read.Operation.Kind)
		if len(a.Rows) == 0 || !k.HasAltNames() {
			continue
		}
		// Answers come in any order: should they differ, the contract's names are the ones.
		d, told := k.FieldNamesOf(a.Rows[0])
		if have, before := found[k.Name]; told && (!before || d < have) {
			found[k.Name] = d
		}
	}
	return found
}
