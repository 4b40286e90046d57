package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// memberSteps is the stage that makes the membership steps from the decisions.
type memberSteps struct {
	analysis

	memberships *memberships
	blockers    *blockers
	steps       *steps
	plan        *Plan

	replacing map[edge][]*Step // steps that add a relation, by the relation that must be removed before
}

// planMembers plans the steps that add members to containers, change their attributes, and remove members.
func planMembers(plan *Plan, steps *steps, blockers *blockers, memberships *memberships) {
	ms := &memberSteps{
		analysis: steps.analysis, memberships: memberships, blockers: blockers, steps: steps, plan: plan, replacing: map[edge][]*Step{},
	}
	memberships.showDrifts(plan)
	for _, s := range memberships.sets {
		if s.object != noObject && (ms.objects.staysArchived(s.object) || ms.objects.states[s.object].presence == hidden) {
			ms.leaveAlone(s)
			continue
		}
		ms.addMembers(s)
	}
	for _, s := range memberships.leavingSets() {
		ms.removeMembers(s)
	}
}

// leaveAlone records that the members of an archived or deleted container are not compared.
func (ms *memberSteps) leaveAlone(s *memberSet) {
	path, why := s.kind.Membership.Path(), gapLeftAlone
	if ms.objects.states[s.object].keptDeleted {
		why = gapLeftDeleted
	}
	for _, e := range s.wanted {
		if !s.hasList || !s.isIn(e) {
			ms.gaps.add(e.by.object, path, path, why)
		}
	}
}

// addMembers plans the steps that add missing members to a container, and those that change members' attributes.
func (ms *memberSteps) addMembers(s *memberSet) {
	m, cause := s.kind.Membership, ms.whyNotAdded(s)
	var joining, excluded []*member
	for _, e := range s.wanted {
		if m.Attribute != nil && e.verdict.gap && s.hasList {
			ms.gaps.add(s.container.Object, m.Path(), m.Attribute.Name+"s of members", gapReason{why: "the service does not show them"})
		}
		switch {
		case e.object != noObject && (ms.blockers.blocker(e.object) != noObject || ms.objects.states[e.object].isUnlisted()):
		case e.other != "" && !e.verdict.kept && !slices.ContainsFunc(e.replaces, ms.memberships.takesBack),
			s.hasLeft(e), m.On != m.Container && e.verdict.action == addEdge && ms.objects.leftToOwner(e.object).exists():
			excluded = append(excluded, e)
		case e.verdict.action == addEdge, e.verdict.action == changeEdge && cause.exists():
			joining = append(joining, e)
		}
	}
	if !cause.exists() {
		ms.addBatches(s, joining)
	} else if len(joining) > 0 {
		ms.addStep(AddMembers, s, joining).block(cause)
	}
	for _, e := range s.wanted {
		if m.Attribute != nil && !cause.exists() && !s.hasLeft(e) && (e.verdict.action == changeEdge || e.verdict.kept && s.isIn(e)) {
			ms.changeAttribute(s, e)
		}
	}
	for _, e := range excluded {
		cause := ms.objects.leftToOwner(e.object)
		switch {
		case s.hasLeft(e):
			cause = refused(e.by.ref.Text + " has left it or the workspace: leave them out, or take them back in the web app")
		case e.other != "":
			cause = refused("they are already related as " + e.other + ", and the service keeps one relation between two " +
				diag.Plural(resource.MustLookup(m.Member).Noun()))
		}
		ms.addStep(AddMembers, s, []*member{e}).block(cause)
	}
}

// addBatches plans the requests that add members. A request adds members with one word, such as a custom relation.
func (ms *memberSteps) addBatches(s *memberSet, joining []*member) {
	for len(joining) > 0 {
		differs := func(e *member) bool {
			return s.kind.Membership.Attribute.Words() != nil && e.attribute != joining[0].attribute
		}
		for batch := range slices.Chunk(slices.DeleteFunc(slices.Clone(joining), differs), s.kind.Membership.Batch) {
			step := ms.addStep(AddMembers, s, batch)
			step.Operation, _ = ms.objects.op(s.kind, resource.AddMembers)
			for _, e := range batch {
				for _, former := range e.replaces {
					ms.replacing[former] = append(ms.replacing[former], step)
				}
			}
			ms.finish(s, step, batch[0].attribute)
		}
		joining = slices.DeleteFunc(slices.Clone(joining), func(e *member) bool { return !differs(e) })
	}
}

// addStep adds a step for wanted edges.
func (ms *memberSteps) addStep(a Action, s *memberSet, edges []*member) *Step {
	m, to := s.kind.Membership, &Members{Container: s.container}
	if a == AddMembers {
		to.Sources = ms.memberships.sourcesOf(s)
	}
	for _, e := range edges {
		item := Member{ID: e.id, Text: e.by.ref.Text, Position: e.by.ref.Position, Drift: e.verdict.drift}
		if a == AddMembers {
			item.Value = ms.memberships.newAttribute(s, e)
		}
		if m.Exclusive && e.verdict.action == addEdge {
			var leaves []string
			for _, c := range ms.memberships.where[edge{kind: s.kind.Name, member: e.id}] {
				leaves = append(leaves, string(c.Address))
			}
			item.Leaves = strings.Join(leaves, ", ")
		}
		if e.object != noObject {
			if item.Address = ms.in.Desired[e.object].Address; m.On != m.Container {
				item.Text = ms.in.Desired[e.object].Key
			}
		}
		to.Items = append(to.Items, item)
	}
	return ms.steps.addMembers(&Step{Action: a, Kind: s.kind, Position: edges[0].by.position(), Members: to})
}

// whyNotAdded returns the cause why members cannot be added to a container, if any.
func (ms *memberSteps) whyNotAdded(s *memberSet) Cause {
	m := s.kind.Membership
	container := resource.MustLookup(m.Container)
	switch {
	case s.object != noObject && ms.blockers.blocker(s.object) != noObject:
		root := ms.blockers.blocker(s.object)
		cause := ms.blockers.cause(root, root)
		if ms.objects.states[root].presence != notFound {
			cause.Text = "the " + s.container.Object.Kind.Noun() + " cannot be created"
		}
		return cause
	case m.On == m.Container && ms.objects.leftToOwner(s.object).exists():
		return ms.objects.leftToOwner(s.object)
	case s.list.state == noContainer:
		return refused("the service shows no " + container.Noun() + " with the ID " + s.container.ID + ": it was deleted or archived, or the ID is wrong")
	case ms.lastDayOf(s) != "":
		return refused("it ended on " + ms.lastDayOf(s) + ", and the service adds nothing to a finished " + container.Noun() + ": use another " +
			container.Noun() + ", or none")
	case s.list.state == notSupported:
		what := plural(resource.MustLookup(m.Member))
		if m.Inverse != "" {
			what = "relations"
		}
		what += " of " + plural(container)
		return Cause{Lacks, "this edition of the service does not have " + what, what}
	}
	return Cause{}
}

// lastDayOf returns the last day of a container that has ended, or "".
func (ms *memberSteps) lastDayOf(s *memberSet) string {
	if s.object != noObject && ms.objects.isClosed(s.object) {
		return ms.objects.states[s.object].endedOn
	}
	t, within := s.field.to, noObject
	field, closes := t.kind.Field(t.kind.ClosedAfter)
	if o := s.container.Within; o != nil {
		within = ms.objects.index[o]
	}
	if s.object != noObject || !closes || !ms.snapshot.isListed(t, within) {
		return ""
	}
	l, _ := ms.snapshot.list(t, within)
	zone := ms.objects.currentZone(within)
	for _, row := range l.byID(s.container.ID) {
		if day, _ := field.ObservedIn(t.kind.InZone(row, zone)); ms.objects.hasPassed(day, zone) {
			return day
		}
	}
	return ""
}

// changeAttribute plans the change of a member's attribute, such as the role, or records a change by people that is kept.
func (ms *memberSteps) changeAttribute(s *memberSet, e *member) {
	a := s.kind.Membership.Attribute
	prior, _ := s.recorded()
	shown, row, text := ms.memberships.shownAttribute(s, e), ms.memberships.rowOf(s, e), e.by.ref.Text
	have := cmp.Or(shown, prior.Values[AttributeKey(a, e.id)])
	change := Change{
		Path: s.kind.Membership.Path(), Origin: FromManifest, Possible: true, Conflict: e.verdict.conflict,
		Before: new(text + " (" + have + ")"), After: new(text + " (" + e.attribute + ")"),
	}
	if e.verdict.drift {
		change.Origin = FromDrift
		ms.plan.Drift = append(ms.plan.Drift, Drift{s.container.Object, &change, e.verdict.kept})
	}
	if e.verdict.kept {
		ms.plan.Summary.Kept++
		return
	}
	verb := resource.UpdateMember
	if a.Words() != nil { // the executor removes the former relation first
		verb = resource.AddMembers
	}
	op, offered := ms.objects.op(s.kind, verb)
	step := ms.addStep(Update, s, []*member{e})
	step.Members.Items[0].Value, step.Members.Items[0].Before, step.Members.Items[0].Drift = e.attribute, have, false
	if change.Possible = offered && (row == nil || shown != "" && !s.kind.Membership.ShowsFixed(row)); change.Possible {
		step.Operation = op
		if own := s.kind.Membership.OwnID(row); own != "" {
			step.Params = map[string]string{resource.MustLookup(s.kind.Membership.Member).Param: own}
		}
	} else {
		step.block(notOffered(true, ms.in.API.Noun()+" does not let planform change the "+a.Name+" of members of "+
			diag.A(resource.MustLookup(s.kind.Membership.Container).Noun())+"; change it in the web app"))
	}
	step.changes = []*Change{&change}
	ms.finish(s, step, e.attribute)
}

// finish sets the object that defines the attribute of a step, such as a custom relation. It warns if the step would give the credential's own
// user a lower role than the highest.
func (ms *memberSteps) finish(s *memberSet, step *Step, word string) {
	m := s.kind.Membership
	if words := m.Attribute.Words(); words != nil && step.Action != NotPossible {
		d := ms.memberships.words.definitionOf(words, word)
		step.Members.By = Member{ID: d.id}
		if d.object != noObject {
			step.Members.By.Address = ms.in.Desired[d.object].Address
			if root := ms.blockers.blocker(d.object); root != noObject {
				d.cause = ms.blockers.cause(root, root).withPrefix("it needs " + string(step.Members.By.Address) + ": ")
			}
		}
		if d.cause.exists() {
			step.block(d.cause)
		}
	}
	for _, who := range step.Members.Items {
		if step.Action != NotPossible && s.self != "" && who.ID == s.self &&
			ms.memberships.words.isLess(m, who.Value, m.Attribute.Values[len(m.Attribute.Values)-1]) {
			ms.diags.add(diag.Warning, who.Position, s.container.Address, "own-user", who.Text+" is the user of the API key: planform could not manage "+
				string(s.container.Address)+" afterwards", "leave this user out of its "+m.Field+", or give them the highest "+m.Attribute.Name)
		}
	}
}

// removeMembers plans the batches that remove members from a container.
func (ms *memberSteps) removeMembers(s *memberSet) {
	m, leaving := s.kind.Membership, s.leaving()
	op, offered := ms.objects.op(s.kind, resource.RemoveMembers)
	size, takesOne := m.Batch, offered && op.TakesOne(s.kind)
	if takesOne {
		size = 1
	} else if !offered {
		size = max(1, len(leaving))
	}
	container := diag.A(resource.MustLookup(m.Container).Noun())
	for batch := range slices.Chunk(leaving, size) {
		step := ms.steps.addMembers(&Step{
			Action: RemoveMembers, Kind: s.kind, Position: s.position(), Operation: op, Params: s.params, Members: &Members{Container: s.container},
		})
		if own := s.list.ownID(s.kind, batch[0].id); own != "" && takesOne {
			step.Params = maps.Clone(s.params)
			step.Params[resource.MustLookup(m.Member).Param] = own
		}
		for _, e := range batch {
			item := Member{ID: e.id, Address: ms.objects.addressOf(serviceID{m.Member, e.id}), Drift: e.verdict.drift}
			if item.Address == "" {
				item.Text = ms.memberships.refs.nameID(m.Member, e.id)
			}
			step.Members.Items = append(step.Members.Items, item)
			for _, adding := range ms.replacing[edge{s.kind.Name, s.container.ID, e.id}] {
				adding.needs = append(adding.needs, step)
			}
		}
		switch {
		case !offered:
			step.block(notOffered(offeredByWider(ms.in.API, s.kind, resource.RemoveMembers),
				ms.in.API.Noun()+" cannot remove "+plural(resource.MustLookup(m.Member))+" from "+container))
		case s.stuck:
			what := strings.ReplaceAll(m.Plural(), "_", " ") + " of " + container
			if m.Member == m.Container {
				what = diag.Plural(strings.ReplaceAll(m.Field, "_", " ") + " relation")
			}
			step.Operation = nil
			step.block(lacks("way to remove " + what + " (do that in the web app; planform state rm ADDRESS forgets them)"))
		}
	}
}
