package planner

import (
	"cmp"
	"errors"
	"slices"
	"strings"

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
	}, steps: make([][]*Step, len(s.kinds)), entrances: map[entrance]*Step{}, amongs: amongs(), diags: slices.Clone(s.diags)}
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
	shelving  []*Step // that archive things or bring them back
}

func (b *builder) build() {
	b.findObstacles()
	b.findNewest()
	for i := range b.facts {
		switch b.facts[i].standing {
		case absent, lacking, unknown:
			b.create(i)
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
	b.putLast()
	steps, err := b.number()
	if err == nil {
		steps, err = order(b.prune(steps))
	}
	if err != nil {
		b.circle(err)
		return
	}
	b.plan.Steps = steps
	b.failOnDrift()
	b.correct()
	b.count()
	b.plan.Dialects = b.dialects()
	b.notices()
	b.doubled()
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
	b.steps[f.traits.rank] = append(b.steps[f.traits.rank], step)
	return step
}

func (b *builder) create(i int) {
	if root := b.root(int32(i)); root != none { //nolint:gosec // there are fewer things than 2^31
		step := b.step(i, NotPossible)
		step.Reason, step.Lacking = b.obstacle(i, root), b.lackingKind(root)
		return
	}
	o, f := b.in.Desired[i], &b.facts[i]
	if f.gone {
		b.diags.Add(warning(o, "gone", string(o.Address)+" was deleted or archived on the service since the last apply and is created again"))
	}
	given := b.given(i)
	if !given {
		b.complete(i)
		b.compareLetters(i)
	}
	step := b.step(i, Create)
	step.Operation, step.Newest = f.traits.create, b.newest[scope{f.traits, f.parent}]
	lacks := b.lacking(i)
	var d difference
	var late []*resource.Value
	values := b.values.take(len(o.Values))[:0]
	for k := range o.Values {
		switch v := &o.Values[k]; {
		case f.traits.carried(v.Field), lacks.has(v):
		case !b.in.API.Sends(v.Field):
			b.withhold(v, &d)
		case v.Field.Late && !given:
			late = append(late, v)
		default:
			values = append(values, v)
		}
	}
	step.Values = values
	if given {
		b.giveStep(step)
	} else {
		step.Values = b.initial(o, values)
	}
	if f.parent != none {
		b.need(f.parent)
		b.needFeature(f)
	}
	b.needTargets(i, values)
	step.Needs = b.taken()
	f.step = step
	if len(late) > 0 && f.traits.update != nil {
		b.complement(i, late)
	}
	b.shelve(i)
	lacks.add(b.Survey, &d)
	b.stick(i, &d)
}

// withhold tells what a thing will not have since the operations offer no way to say it.
func (b *builder) withhold(v *resource.Value, d *difference) {
	if !v.Null && !v.Field.Shelf {
		d.stuck, d.causes = append(d.stuck, b.change(v, FromManifest)), append(d.causes, cannotSet)
	}
}

// complement adds the step that sends what a create does not take.
func (b *builder) complement(i int, late []*resource.Value) {
	f := &b.facts[i]
	step := b.step(i, Update)
	step.Operation, step.Values, step.Needs = f.traits.update, late, []int{i}
	b.willChange(step)
}

// given reports whether the service makes a thing by itself when it makes the parent, which is still to be made.
func (b *builder) given(i int) bool {
	f := &b.facts[i]
	if len(f.traits.kind.Given) == 0 || f.parent == none || b.facts[f.parent].standing != absent {
		return false
	}
	o := b.in.Desired[i]
	return slices.ContainsFunc(f.traits.natural, func(field *resource.Field) bool { return f.traits.given(o.Text(field.Name)) })
}

// giveStep makes of a step that creates a thing one that adopts what will be there by then.
func (b *builder) giveStep(step *Step) {
	k := step.Kind
	step.Action, step.Operation = Adopt, nil
	step.Reason = "each new " + resource.Must(k.Parent).Noun() + " has it"
	step.Values = slices.DeleteFunc(step.Values, func(v *resource.Value) bool { return slices.Contains(k.Natural, v.Field.Name) })
	if len(step.Values) == 0 {
		return
	}
	step.Operation, _ = k.Op(resource.Update, b.in.API)
	b.willChange(step)
}

// willChange shows all values of a step as changes of it.
func (b *builder) willChange(step *Step) {
	for _, v := range step.Values {
		c := b.change(v, FromManifest)
		c.Possible = true
		step.changes = append(step.changes, c)
	}
}

// complete reports what a thing lacks that is to be created.
func (b *builder) complete(i int) {
	o, f := b.in.Desired[i], &b.facts[i]
	needed := missing(o)
	if len(needed) == 0 {
		return
	}
	var others []string
	if b.listed(f.traits, f.parent) {
		l, _ := b.list(f.traits, f.parent)
		for _, row := range l.rows {
			others = append(others, naturals(o.Kind, row)...)
		}
	}
	what := o.Kind.Noun()
	b.diags.Add(diag.Diagnostic{
		Code: "incomplete", Position: o.Position, Address: string(o.Address),
		Summary: "the service has no " + what + " \"" + o.Name() + "\", and it cannot be created without its " + strings.Join(needed, " and its "),
		Hint:    cmp.Or(diag.DidYouMean(o.Name(), others), "write that, or the id of "+diag.A(o.Kind.Noun())+" that exists"),
	})
}

// missing lists what a thing cannot be created without and the manifest does not give.
func missing(o *resource.Object) []string {
	var names []string
	if id := o.Kind.Identifier; id != nil && id.Wire != "" && o.Identifier == "" {
		names = append(names, "identifier")
	}
	for i := range o.Kind.Fields {
		if f := &o.Kind.Fields[i]; f.Required && f.Initial == "" && !o.Writes(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// initial adds the values that a create sends where the manifest gives none.
func (b *builder) initial(o *resource.Object, values []*resource.Value) []*resource.Value {
	for i := range o.Kind.Fields {
		if f := &o.Kind.Fields[i]; f.Initial != "" && b.in.API.Sends(f) && !o.Writes(f) {
			values = append(values, &resource.Value{Field: f, Text: f.Initial, Position: o.Position})
		}
	}
	return values
}

// needFeature notes the step that switches on in the parent what things of the kind need.
func (b *builder) needFeature(f *fact) {
	if p := &b.facts[f.parent]; f.traits.kind.Feature != "" && p.standing == there && p.step != nil && p.step.Operation != nil {
		b.needs = append(b.needs, int(f.parent))
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
	b.shelve(i)
	d := b.difference(i)
	b.know(i)
	open := f.prior != nil && f.prior.Open != nil
	adopting := f.adopted != "" || open && (f.prior.ID == "" || len(d.send) == 0)
	mark := b.mark(i)
	if mark != nil {
		d.changes = append(d.changes, *mark)
	}
	b.drifted(i, &d)
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

// members plans the batches that bring a container's missing members in.
func (b *builder) members(r *roster) {
	if r.object != none && b.rests(r.object) {
		return // see rest
	}
	entries := slices.DeleteFunc(slices.Clone(r.entries), func(e entry) bool {
		return e.member != none && b.root(e.member) != none || b.isIn(r, e)
	})
	if len(entries) == 0 {
		return
	}
	size := r.kind.Membership.Batch
	reason, lacks := "", ""
	switch {
	case r.object != none && b.root(r.object) != none:
		lacks = b.lackingKind(b.root(r.object))
		reason = "the " + r.container.Object.Kind.Noun() + " cannot be made"
	case r.lacking:
		lacks = plural(resource.Must(r.kind.Membership.Member))
		if r.kind.Membership.Inverse != "" {
			lacks = "relations"
		}
		lacks += " of " + plural(resource.Must(r.kind.Membership.Container))
		reason = "this edition of the service does not have " + lacks
	}
	if reason != "" {
		size = len(entries)
	}
	op, _ := r.kind.Op(resource.AddMembers, b.in.API)
	rank := resource.Rank(r.kind.Name)
	files := b.naming(r)
	all := make([]Member, len(entries))
	for n := 1; len(entries) > 0; n++ {
		k := min(size, len(entries))
		step := &b.made.take(1)[0]
		step.Address, step.Action, step.Kind, step.ID = r.container.Address.Members(r.kind.Membership.Plural(), n), AddMembers, r.kind, r.container.ID
		step.Position = entries[0].ref.Position
		step.Members = &Members{Container: r.container, Items: all[:k:k], Files: files}
		for j, e := range entries[:k] {
			all[j] = b.member(r, e)
		}
		b.steps[rank] = append(b.steps[rank], step)
		if reason != "" {
			step.Action, step.Reason, step.Lacking = NotPossible, reason, lacks
			return
		}
		step.Operation = op
		if r.object != none {
			b.need(r.object)
		}
		step.Needs = b.taken()
		for _, e := range entries[:k] {
			if e.member != none {
				b.need(e.member)
			}
		}
		step.After = b.taken()
		b.enter(r, step)
		b.plan.Summary.AddMembers += k
		entries, all = entries[k:], all[k:]
	}
}

func (b *builder) member(r *roster, e entry) Member {
	m := Member{ID: b.memberID(r, e), Text: e.ref.Text, Position: e.ref.Position}
	if e.member != none {
		o := b.in.Desired[e.member]
		m.Address = o.Address
		if r.kind.Membership.On != r.kind.Membership.Container {
			m.Text = o.Key
		}
	}
	return m
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
			sum.Adopt++
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
