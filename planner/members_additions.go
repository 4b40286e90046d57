package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// additions plans what brings members into containers.
type additions struct {
	analysis

	refs        *references
	memberships *memberships
	removals    *removals
	blockers    *blockers
	steps       *steps
	plan        *Plan

	prerequisites     map[prerequisite]*Step
	prerequisiteKinds map[string]bool
}

func planAdditions(plan *Plan, steps *steps, blockers *blockers, removals *removals) *additions {
	b := &additions{
		analysis: steps.analysis, refs: removals.refs, memberships: removals.memberships, removals: removals, blockers: blockers, steps: steps,
		plan: plan, prerequisites: map[prerequisite]*Step{}, prerequisiteKinds: membershipPrerequisites(),
	}
	removals.showDrifts(plan)
	for _, r := range b.memberships.sets {
		b.planMembers(r)
	}
	return b
}

// membershipPrerequisites are the memberships among whose members some field names people.
func membershipPrerequisites() map[string]bool {
	found := map[string]bool{}
	for _, k := range resource.Kinds() {
		for i := range k.Fields {
			found[k.Fields[i].MustBeMemberOf] = true
		}
	}
	return found
}

// planMembers plans the batches that bring a container's missing members in, and changes of what the others are.
func (ad *additions) planMembers(r *memberSet) {
	if r.object != noObject && (ad.objects.staysArchived(r.object) || ad.objects.states[r.object].presence == hidden) {
		for _, e := range r.entries {
			if path := r.kind.Membership.Path(); !r.read || !ad.memberships.isIn(r, e) {
				why := leftAlone
				if ad.objects.states[r.object].keptDeleted {
					why = leftDeleted
				}
				ad.gaps.add(e.by.object, path, path, why)
			}
		}
		return
	}
	var wanted, excluded []memberRef
	m := r.kind.Membership
	for _, e := range r.entries {
		switch {
		case e.member != noObject && (ad.blockers.blocker(e.member) != noObject || ad.objects.states[e.member].isUnlisted()):
		case e.other != "" && !e.verdict.kept, m.On != m.Container && e.verdict.action == addEdge && ad.objects.leftToOwner(e.member).exists():
			excluded = append(excluded, e)
		case e.verdict.action == addEdge:
			wanted = append(wanted, e)
		}
	}
	size := m.Batch
	cause := ad.whyNotAdded(r)
	if cause.exists() {
		size = max(1, len(wanted))
	}
	op, _ := ad.objects.op(r.kind, resource.AddMembers)
	files := ad.sourcesOf(r)
	for _, batch := range batches(m, wanted, size) {
		step := ad.steps.addMembers(&Step{
			Action: AddMembers, Kind: r.kind, Position: batch[0].ref.Position,
			Members: &Members{Container: r.container, Sources: files},
		})
		members := make([]objectID, len(batch))
		for i, e := range batch {
			m := ad.member(r, e)
			m.Value = ad.memberships.newAttribute(r, e)
			step.Members.Items, members[i] = append(step.Members.Items, m), e.member
		}
		if cause.exists() {
			step.block(cause)
			return
		}
		step.Operation, step.needsObjects, step.afterObjects = op, ad.steps.toCreate(r.object), ad.steps.toCreate(members...)
		ad.define(step, batch[0].attribute)
		ad.notePrerequisites(r, step)
	}
	ad.updateAttributes(r)
	ad.blockRelated(r, excluded)
}

// whyNotAdded returns what is in the way of adding members to a container.
func (ad *additions) whyNotAdded(r *memberSet) Cause {
	switch {
	case r.object != noObject && ad.blockers.blocker(r.object) != noObject:
		root := ad.blockers.blocker(r.object)
		cause := ad.blockers.cause(root, root)
		if ad.objects.states[root].presence != notFound {
			cause.Text = "the " + r.container.Object.Kind.Noun() + " cannot be created"
		}
		return cause
	case r.kind.Membership.On == r.kind.Membership.Container && ad.objects.leftToOwner(r.object).exists():
		return ad.objects.leftToOwner(r.object)
	case r.why != "":
		return refused(r.why)
	case ad.lastDayOf(r) != "":
		c := resource.MustLookup(r.kind.Membership.Container).Noun()
		return refused("it ended on " + ad.lastDayOf(r) + ", and the service adds nothing to a finished " + c + ": use another " + c + ", or none")
	case r.unsupported:
		what := plural(resource.MustLookup(r.kind.Membership.Member))
		if r.kind.Membership.Inverse != "" {
			what = "relations"
		}
		what += " of " + plural(resource.MustLookup(r.kind.Membership.Container))
		return Cause{Lacks, "this edition of the service does not have " + what, what}
	}
	return Cause{}
}

func (ad *additions) blockRelated(r *memberSet, entries []memberRef) {
	for _, e := range entries {
		cause := ad.objects.leftToOwner(e.member)
		if e.other != "" {
			cause = refused("they are already related as " + e.other + ", and the service keeps one relation between two " +
				diag.Plural(resource.MustLookup(r.kind.Membership.Member).Noun()))
		}
		ad.steps.addMembers(&Step{
			Action: NotPossible, Kind: r.kind, Position: e.ref.Position, Members: &Members{Container: r.container, Items: []Member{ad.member(r, e)}},
			Cause: cause,
		})
	}
}

func (ad *additions) member(r *memberSet, e memberRef) Member {
	m := Member{ID: e.id, Text: e.ref.Text, Position: e.ref.Position, Drift: e.verdict.drift}
	if r.kind.Membership.Exclusive && e.verdict.action == addEdge {
		var leaves []string
		for _, c := range ad.removals.where[edge{kind: r.kind.Name, member: e.id}] {
			leaves = append(leaves, string(c.Address))
		}
		m.Leaves = strings.Join(leaves, ", ")
	}
	if e.member != noObject {
		o := ad.in.Desired[e.member]
		m.Address = o.Address
		if r.kind.Membership.On != r.kind.Membership.Container {
			m.Text = o.Key
		}
	}
	return m
}

func (ad *additions) updateAttributes(r *memberSet) {
	a := r.kind.Membership.Attribute
	if a == nil {
		return
	}
	for _, e := range r.entries {
		if e.verdict.gap && r.read {
			ad.gaps.add(r.container.Object, r.kind.Membership.Path(), a.Name+"s of members", gapReason{why: "the service does not show them"})
		}
		if e.verdict.action != changeEdge && (!e.verdict.kept || !ad.memberships.isIn(r, e)) {
			continue
		}
		if step := ad.updateAttribute(r, e); step != nil {
			ad.steps.addMembers(step)
			ad.notePrerequisites(r, step)
		}
	}
}

// updateAttribute plans the change of one member's attribute; nil = somebody's change of it is kept.
func (ad *additions) updateAttribute(r *memberSet, e memberRef) *Step {
	a := r.kind.Membership.Attribute
	prior, _ := ad.memberships.recorded(r)
	row, listed := r.rows[e.id]
	shown, want := a.Shown(row), e.attribute
	have := cmp.Or(shown, prior.Values[AttributeKey(a, e.id)])
	member := ad.member(r, e)
	member.Value, member.Before, member.Drift = want, have, false
	if r.object != noObject && (ad.blockers.blocker(r.object) != noObject || ad.objects.states[r.object].foreign) {
		// nobody has a role in a project that is not made, and nobody gets one in another owner's
		member.Before = ""
		step := &Step{Kind: r.kind, Position: e.ref.Position, Members: &Members{Container: r.container, Items: []Member{member}}}
		step.block(ad.whyNotAdded(r))
		return step
	}
	change := Change{
		Path: r.kind.Membership.Path(), Origin: FromManifest, Possible: true, Conflict: e.verdict.conflict,
		Before: new(member.Text + " (" + have + ")"), After: new(member.Text + " (" + want + ")"),
	}
	if e.verdict.drift {
		change.Origin = FromDrift
		ad.plan.Drift = append(ad.plan.Drift, Drift{r.container.Object, &change, e.verdict.kept})
	}
	if e.verdict.kept {
		ad.plan.Summary.Kept++
		return nil
	}
	step := &Step{
		Action: Update, Kind: r.kind, Position: e.ref.Position,
		Members: &Members{Container: r.container, Items: []Member{member}},
	}
	verb := resource.UpdateMember
	if a.Words != nil { // once the former one is removed
		verb = resource.AddMembers
	}
	op, offered := ad.objects.op(r.kind, verb)
	switch {
	case !offered, listed && shown == "":
		change.Possible = false
		step.block(notOffered(true, ad.in.API.Noun()+" does not show planform the "+a.Name+" of members of "+
			diag.A(resource.MustLookup(r.kind.Membership.Container).Noun())+"; change it in the web app"))
	default:
		step.Operation, step.needsObjects = op, ad.steps.toCreate(r.object)
		if own := r.kind.Membership.OwnID(row); own != "" {
			step.Params = map[string]string{resource.MustLookup(r.kind.Membership.Member).Param: own}
		}
	}
	step.changes = []Change{change}
	ad.define(step, want)
	return step
}

// notePrerequisites notes the step that adds somebody to a project whose fields may refer to
// them, or gives them another role there: assignees must be members first. It warns of a step that takes from the credential's own
// user the role in which planform manages the project.
func (ad *additions) notePrerequisites(r *memberSet, step *Step) {
	if step.Action == NotPossible || r.object == noObject || !ad.prerequisiteKinds[r.kind.Name] {
		return
	}
	for i := range step.Members.Items {
		who, m := &step.Members.Items[i], r.kind.Membership
		ad.prerequisites[prerequisite{r.kind, r.object, who.ID}] = step
		if who.ID == r.self && ad.memberships.defined.isLess(m, who.Value, m.Attribute.Values[len(m.Attribute.Values)-1]) {
			ad.diags.at(diag.Warning, who.Position, r.container.Address, "own-user", who.Text+" is the user of the API key: planform could not manage "+
				string(r.container.Address)+" afterwards", "leave this user out of its "+m.Field+", or give them the highest "+m.Attribute.Name)
		}
	}
}

// define lets a step that says something of members wait for the object that defines it.
func (ad *additions) define(step *Step, word string) {
	a := step.Kind.Membership.Attribute
	if a == nil || a.Words == nil || step.Action == NotPossible {
		return
	}
	d := ad.memberships.words.definitionOf(a.Words, word)
	if d.cause.exists() {
		step.block(d.cause)
		return
	}
	step.Members.By = Member{ID: d.id}
	if d.object == noObject {
		return
	}
	if root := ad.blockers.blocker(d.object); root != noObject {
		step.block(ad.blockers.cause(root, root).after("it needs " + string(ad.in.Desired[d.object].Address) + ": "))
		return
	}
	step.Members.By.Address = ad.in.Desired[d.object].Address
	step.needsObjects = append(step.needsObjects, ad.steps.toCreate(d.object)...)
	if renames := ad.steps.of[d.object]; renames != nil && ad.objects.states[d.object].presence == exists {
		step.needs = append(step.needs, renames)
	}
}

// batches are the members that one request can add: those of whom it says the same.
func batches(m *resource.Membership, members []memberRef, size int) [][]memberRef {
	if m.Attribute == nil || m.Attribute.Words == nil {
		return slices.Collect(slices.Chunk(members, size))
	}
	var all [][]memberRef
	said := map[string]int{}
	for _, e := range members {
		at, begun := said[e.attribute]
		if !begun || len(all[at]) == size {
			at = len(all)
			said[e.attribute], all = at, append(all, nil)
		}
		all[at] = append(all[at], e)
	}
	return all
}

// lastDayOf is the day since which the container of a member set is over, or "".
func (ad *additions) lastDayOf(r *memberSet) string {
	if r.object != noObject {
		if ad.objects.isClosed(r.object) {
			return ad.objects.states[r.object].endedOn
		}
		return ""
	}
	t, within := r.field.to, noObject
	field, closes := t.kind.Field(t.kind.ClosedAfter)
	if o := r.container.Within; o != nil {
		within = ad.objects.index[o]
	}
	if !closes || !ad.snapshot.listed(t, within) {
		return ""
	}
	l, _ := ad.snapshot.list(t, within)
	zone := ad.objects.currentZone(within)
	for _, row := range l.byID(r.container.ID) {
		if day, _ := field.ObservedIn(t.kind.InZone(row, zone)); ad.objects.hasPassed(day, zone) {
			return day
		}
	}
	return ""
}

// sourcesOf lists the manifests that have the members of a container.
func (ad *additions) sourcesOf(r *memberSet) []string {
	if m := r.kind.Membership; m.On == m.Container {
		return ad.in.Desired[r.object].Files
	}
	var files []string
	for _, e := range r.entries {
		files = union(files, ad.in.Desired[e.member].Files)
	}
	return files
}
