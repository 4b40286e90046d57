package planner

import (
	"cmp"
	"errors"
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// Build is [Survey.Build] of a new look.
func Build(in Input) (*Plan, diag.List) { return Look(in).Build() }

// Build makes the plan. It may be called when [Survey.Reads] asks for nothing
// more. Errors among the findings (names that nobody bears, things that cannot be
// told apart, circles) leave no plan.
func (s *Survey) Build() (*Plan, diag.List) {
	b := &builder{Survey: s, plan: &Plan{
		Workspace: s.in.Workspace, BaseURL: s.in.BaseURL, API: s.in.API,
		Known: make(map[resource.Address]Record, len(s.owners)), Names: s.names,
	}, steps: make([][]*Step, len(s.kinds)), entrances: map[entrance]*Step{}, amongs: amongs(), diags: slices.Concat(s.in.Notices, s.diags)}
	if len(s.reads) > 0 {
		b.diags.Errorf(diag.Position{}, "unread", "%d reads have no answer, the first is %s", len(s.reads), s.reads[0].Path)
	}
	if !b.diags.HasErrors() {
		b.build()
	}
	b.locate()
	b.diags.Sort()
	if b.diags.HasErrors() {
		return nil, b.diags
	}
	b.plan.Notices = b.diags
	return b.plan, nil
}

// builder turns a survey into steps.
type builder struct {
	*Survey
	plan    *Plan
	diags   diag.List // those of the survey and more
	steps   [][]*Step // by rank of their kind, in the order of the manifest
	roots   []int32   // see root; nil = nothing is in the way of anything
	stale   map[*traits]int
	newest  map[scope]int // highest readable number that is known
	made    slab[Step]
	values  slab[*resource.Value]
	numbers slab[int]
	needs   []int // of the step that is being made

	entrances map[entrance]*Step
	amongs    map[string]bool
	shelving  []*Step        // that archive things or bring them back
	filled    map[int32]bool // what members are to be brought into
}

func (b *builder) build() {
	b.findObstacles()
	b.findNewest()
	b.findFilled()
	for i := range b.facts {
		switch b.facts[i].standing {
		case absent, lacking, unknown, missing:
			b.create(i)
		case hidden:
			b.know(i)
		case there:
			b.keep(i)
		case pending, broken: // there are errors
		}
	}
	for _, r := range b.rosters {
		b.members(r)
	}
	b.leave()
	b.await()
	b.awaitDefaults()
	about := b.about()
	b.closeLast(about)
	b.putLast(about)
	steps, err := b.number()
	if err == nil {
		steps, err = order(b.prune(steps))
	}
	if err != nil {
		b.circle(err)
		return
	}
	b.plan.Steps = steps
	b.sequence()
	b.failOnDrift()
	b.correct()
	b.count()
	b.plan.Dialects = b.dialects()
	b.notices()
	b.tellHidden()
	b.doubled()
	b.sharedMarks()
	b.pruneNotices()
}

// findNewest finds the highest readable numbers that things bear which are
// there: what is created gets higher ones.
func (b *builder) findNewest() {
	b.newest = map[scope]int{}
	for i := range b.facts {
		if f := &b.facts[i]; f.standing == there && f.identifier != "" && f.parent != none {
			at := scope{f.traits, f.parent}
			b.newest[at] = max(b.newest[at], numberOf(b.facts[f.parent].identifier, f.identifier))
		}
	}
}

// step adds a step about a thing.
func (b *builder) step(i int, a Action) *Step {
	o, f := b.in.Desired[i], &b.facts[i]
	step := &b.made.take(1)[0]
	step.Address, step.Action, step.Kind, step.Object, step.ID, step.Position = o.Address, a, o.Kind, o, f.id, o.Position
	if o.Kind.Closes != "" {
		step.Zone = b.zone(f.parent)
	}
	b.steps[f.traits.rank] = append(b.steps[f.traits.rank], step)
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

// need notes a thing that must be there before the step, if it is not yet.
func (b *builder) need(at int32) {
	if b.facts[at].standing == absent {
		b.needs = append(b.needs, int(at))
	}
}

// needTargets notes what must be there before the values can be sent.
func (b *builder) needTargets(i int, sent []*resource.Value) {
	for _, n := range b.namings(int32(i)) { //nolint:gosec // there are fewer things than 2^31
		if n.t.via != nil || len(n.v.Refs) == 0 || !slices.Contains(sent, n.v) {
			continue
		}
		for k := range n.v.Refs {
			if t := n.v.Refs[k].Target; t != nil {
				b.need(b.index[t])
			}
		}
	}
}

// taken returns what was noted. Until [builder.number] they are facts, then steps.
func (b *builder) taken() []int {
	if len(b.needs) == 0 {
		return nil
	}
	list := b.numbers.take(len(b.needs))
	copy(list, b.needs)
	b.needs = b.needs[:0]
	return list
}

// keep brings a thing that exists to what the manifest wants.
func (b *builder) keep(i int) {
	f := &b.facts[i]
	if b.rests(int32(i)) { //nolint:gosec // there are fewer things than 2^31
		b.rest(i)
		return
	}
	d := b.difference(i)
	b.know(i)
	b.shelve(i)
	over := b.isOver(i)
	if over {
		b.tooLate(i, &d)
	}
	open := f.prior != nil && f.prior.Open != nil
	adopting := f.adopted != "" || open && (f.prior.ID == "" || len(d.send) == 0)
	mark := b.mark(i)
	if over {
		mark = nil
	}
	if mark != nil {
		d.changes = append(d.changes, *mark)
	}
	b.drifted(i, &d)
	b.unmet(i, &d)
	if len(d.send) == 0 && !adopting && mark == nil && len(d.stuck) == 0 {
		if len(d.kept) == 0 {
			b.plan.Summary.Unchanged++
		}
		return
	}
	if len(d.send) > 0 || mark != nil || adopting {
		step := b.step(i, Update)
		if adopting {
			step.Action = Adopt
			step.Reason = "found by " + cmp.Or(f.adopted, "looking")
			step.Made = b.madeIt(i)
		}
		step.changes = d.changes
		f.step = step
		if len(d.send) > 0 || mark != nil {
			b.checkDates(i, d.send)
			b.checkSent(i, d.send)
			step.Operation, step.Values, step.Mark = f.traits.update, slices.Concat(d.send, d.along), mark != nil
			b.needTargets(i, d.send)
			step.Needs = b.taken()
		}
	}
	b.stick(i, &d)
}

// madeIt reports whether planform made a thing, as it announced, without knowing
// the outcome: it is none of another's.
func (b *builder) madeIt(i int) bool {
	f := &b.facts[i]
	marked := f.row.Marked(resource.Mark(b.in.Workspace, b.in.Desired[i].Address))
	return f.sent() && (marked || f.adopted == byMark || f.adopted == byNumber)
}

// mark is the change that puts planform's mark on a thing, or nil: the mark
// follows a key that changed, and things that are recognised by a name which
// others may bear too get one, so that they are found again without the state.
// What the manifest points at by its ID or identifier keeps the mark of whom it belongs to.
func (b *builder) mark(i int) *Change {
	o, f := b.in.Desired[i], &b.facts[i]
	if !f.traits.marked || f.row == nil || f.traits.update == nil || o.ID != "" || o.Identifier != "" {
		return nil
	}
	want := resource.Mark(b.in.Workspace, o.Address)
	have, _ := f.row["external_id"].(string)
	source, shown := f.row["external_source"].(string)
	moved := source == resource.MarkSource && have != want
	taken := f.adopted != "" && o.Kind.AdoptAsked && (!shown || source == "") && have == ""
	if !moved && !taken {
		return nil
	}
	c := &Change{Path: "external_id", After: &want, Origin: FromManifest, Possible: true}
	if have != "" {
		c.Before = &have
	}
	return c
}

// know takes down what is known of a thing before the first step.
func (b *builder) know(i int) {
	f, address := &b.facts[i], b.in.Desired[i].Address
	var known Record
	if f.prior != nil {
		known = *f.prior
	}
	known.Address, known.ID, known.Open = address, f.id, nil
	known.Identifier = cmp.Or(f.identifier, known.Identifier)
	b.plan.Known[address] = known
}

// circle reports steps that wait for each other, where they are written.
func (b *builder) circle(err error) {
	d := diag.Diagnostic{Code: "circle", Summary: err.Error(), Hint: "take one of these references out"}
	if e, ok := errors.AsType[*CircleError](err); ok {
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
func (b *builder) dialects() map[string]resource.Dialect {
	found := map[string]resource.Dialect{}
	for read, a := range b.in.Observed {
		k := resource.Must(read.Operation.Kind)
		if len(a.Rows) == 0 || !k.HasDialects() {
			continue
		}
		// Answers come in any order: should they differ, the contract's names are the ones.
		d, told := k.DialectOf(a.Rows[0])
		if have, before := found[k.Name]; told && (!before || d < have) {
			found[k.Name] = d
		}
	}
	return found
}
