package planner

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// A text names objects by links to their addresses, and goes to the service with links to
// their pages. A page has the object's ID in its address: a text that names objects which are
// still to be created is created with their labels, and a step of its own adds the links when
// they are there. Nothing waits for that step, so that objects can name each other.

// addedLinks is a step that adds links to the texts of a new object.
type addedLinks struct {
	step    *Step
	create  *Step
	targets []objectID
}

// linkable is a value with the links that its text can have when the run is over: to pages,
// and to objects that the run creates, which created lists.
func (ch *changes) linkable(v *resource.Value) (with *resource.Value, created []objectID) {
	if len(v.Links) == 0 {
		return v, nil
	}
	var links []resource.Reference
	for _, r := range v.Links {
		if r.ID = ch.refs.page(r.Target); r.ID == "" {
			at, wanted := ch.objects.indexOf(r.Target.Address)
			if !wanted || ch.objects.states[at].presence != absent || ch.blockers.blocker(at) != noObject || ch.lacksFields(at) {
				continue
			}
			created = append(created, at)
		}
		links = append(links, r)
	}
	return v.Linked(links), created
}

// textAtCreation is a text as a create sends it. What it cannot link to yet is added to late.
func (ch *changes) textAtCreation(i objectID, v *resource.Value, step *Step, late *lateTexts) *resource.Value {
	with, created := ch.linkable(v)
	t := ch.objects.states[i].info
	switch {
	case len(created) == 0:
		return with
	case !slices.ContainsFunc(created, func(at objectID) bool { return ch.objects.states[at].info.rank >= t.rank }): // they never wait for it
		step.afterObjects = append(step.afterObjects, created...)
		return with
	case t.update == nil:
		ch.unlinked[t]++
		return v.Linked(nil)
	}
	c := change(v, FromManifest)
	c.Possible, c.References = true, len(created)
	late.add(with, c, created)
	return with.Linked(slices.DeleteFunc(slices.Clone(with.Links), func(r resource.Reference) bool { return r.ID == "" }))
}

// addLinks plans the step that sends texts when the objects which they name are there. It
// comes after all creates: those are not to be pulled before others.
func (ch *changes) addLinks(i objectID, late *lateTexts, alwaysSent []*resource.Value) {
	if len(late.values) == 0 {
		return
	}
	step := ch.steps.add(i, Update)
	step.Operation, step.stage = ch.objects.states[i].info.update, 1
	step.changes, step.Write.Values = late.changes, slices.Concat(late.values, alwaysSent)
	step.needsObjects = ch.steps.toCreate(i)
	step.afterObjects = slices.DeleteFunc(slices.Clone(late.targets), func(at objectID) bool { return at == i })
	if create := ch.steps.of[i]; create != nil && create.Action == Create {
		ch.addedLinks = append(ch.addedLinks, addedLinks{step, create, late.targets})
	}
}

// unknownLink returns what is in the way of a text that was just found: it links to an object that has a page which this run does not know.
func (ch *changes) unknownLink(f *objectState, v *resource.Value) Cause {
	for _, r := range v.Links {
		if _, wanted := ch.objects.indexOf(r.Target.Address); f.matchedBy != "" && !wanted && ch.refs.page(r.Target) == "" {
			return refused("its " + v.Field.Name + " links to " + string(r.Target.Address) + ", which is not among the targets, and not in the state")
		}
	}
	return Cause{}
}

// missingLinks counts the links that are all that a text on the service lacks; 0 = it differs otherwise.
func (ch *changes) missingLinks(v *resource.Value, f *objectState) int {
	if len(v.Links) == 0 {
		return 0
	}
	have, _ := v.Field.ObservedIn(f.row)
	there := slices.DeleteFunc(slices.Clone(v.Links), func(r resource.Reference) bool { return r.ID == "" || !strings.Contains(have, r.ID) })
	if _, _, differs := ch.differ.compare(v.Linked(there), f, func(_ *resource.Field, r *resource.Reference) (string, bool) {
		return r.ID,
			true
	}); differs {
		return 0
	}
	return len(v.Links) - len(there)
}

// noticeUnlinked says, once per kind, that texts stay without links.
func (ch *changes) noticeUnlinked() {
	for _, k := range resource.Kinds() {
		t := ch.objects.kinds[k]
		if n := ch.unlinked[t]; n > 0 {
			ch.diags.notice("no-links", t.api.Noun()+" cannot change "+diag.A(k.Noun())+" after creation: the text of "+countOf(n, k)+
				" names objects that were created later, and stays without links to them", "")
		}
	}
}

// inlineLinks lets creates wait for what their texts name, where that is created before them
// anyway, and returns the steps that are not needed then.
func (ch *changes) inlineLinks() map[*Step]bool {
	done := map[*Step]bool{}
	for _, l := range ch.addedLinks {
		if slices.ContainsFunc(l.targets, func(at objectID) bool { return ch.steps.of[at].Index >= l.create.Index }) {
			continue
		}
		if slices.ContainsFunc(l.step.Values(), func(v *resource.Value) bool { return v.Field.Name == l.create.Kind.ParentField }) &&
			slices.ContainsFunc(l.step.needs, func(s *Step) bool { return s != l.create }) {
			continue // it names the parent, too
		}
		done[l.step] = true
		for _, at := range l.targets {
			l.create.after = append(l.create.after, ch.steps.of[at])
		}
		for k, v := range l.create.Values() {
			if at := slices.IndexFunc(l.step.Values(), func(w *resource.Value) bool { return w.Field == v.Field }); at >= 0 {
				l.create.Write.Values[k] = l.step.Values()[at]
			}
		}
	}
	return done
}
