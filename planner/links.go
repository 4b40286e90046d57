package planner

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// A text in the manifest links to the addresses of objects. The service gets links to their pages, whose URLs contain the objects' IDs.
// If a linked object does not exist yet, the text is created with labels instead of links, and a separate step adds the links later.
// Nothing waits for that step, so that objects can name each other.

// withPossibleLinks returns a value with the links that its text can have after the run: to existing pages, and to the objects in created, which the
// run creates.
func (ch *changes) withPossibleLinks(v *resource.Value) (with *resource.Value, created []objectID) {
	if len(v.Links) == 0 {
		return v, nil
	}
	var links []resource.Reference
	for _, r := range v.Links {
		if r.ID = ch.refs.pageURL(r.Target); r.ID == "" {
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

// textAtCreation returns a text as a create sends it: without links to objects that do not exist yet. A later step sends the text with all
// links, which is added to d.late.
func (ch *changes) textAtCreation(i objectID, v *resource.Value, d *differences) *resource.Value {
	with, created := ch.withPossibleLinks(v)
	t := ch.objects.states[i].info
	switch {
	case len(created) == 0:
		return with
	case !slices.ContainsFunc(created, func(at objectID) bool { return ch.objects.states[at].info.rank >= t.rank }): // objects of lower kinds never wait for this create
		return with
	case t.update == nil:
		ch.unlinked[t]++
		return v.Linked(nil)
	}
	late := difference{value: with, change: sentDifference(v).change}
	late.change.References = len(created)
	d.late = append(d.late, late)
	return with.Linked(slices.DeleteFunc(slices.Clone(with.Links), func(r resource.Reference) bool { return r.ID == "" }))
}

// addLinks plans the step that sends texts after the objects that they name are created. It comes after all creates, because otherwise it
// would pull creates out of their order.
func (ch *changes) addLinks(i objectID, d *differences) {
	if len(d.late) == 0 {
		return
	}
	step := ch.steps.add(i, Update)
	step.Operation, step.phase = ch.objects.states[i].info.update, completing
	step.changes, step.Write.Values = changesOf(d.late), valuesOf(d.late, d.alwaysSent...)
	if create := ch.steps.of[i]; create != nil && create.Action == Create {
		ch.addedLinks[create] = step
	}
}

// unknownLink returns the cause that prevents sending the text of an object that was just recognised: the text links to an object whose
// page this run does not know.
func (ch *changes) unknownLink(f *objectState, v *resource.Value) Cause {
	for _, r := range v.Links {
		if _, wanted := ch.objects.indexOf(r.Target.Address); f.matchedBy != "" && !wanted && ch.refs.pageURL(r.Target) == "" {
			return refused("its " + v.Field.Name + " links to " + string(r.Target.Address) + ", which is not among the targets, and not in the state")
		}
	}
	return Cause{}
}

// missingLinks returns the number of links that a text on the service lacks; 0 = the text has another difference, too.
func (ch *changes) missingLinks(v *resource.Value, f *objectState) int {
	if len(v.Links) == 0 {
		return 0
	}
	have, _ := v.Field.ObservedIn(f.row)
	there := slices.DeleteFunc(slices.Clone(v.Links), func(r resource.Reference) bool { return r.ID == "" || !strings.Contains(have, r.ID) })
	ids := func(_ *resource.Field, r *resource.Reference) (string, bool) { return r.ID, true }
	if _, differs := ch.differ.compare(v.Linked(there), f, ids); differs {
		return 0
	}
	return len(v.Links) - len(there)
}

// noticeUnlinked adds a notice for each kind with texts that stay without links.
func (ch *changes) noticeUnlinked() {
	for _, k := range resource.Kinds() {
		t := ch.objects.kinds[k]
		if n := ch.unlinked[t]; n > 0 {
			ch.diags.notice("no-links", t.api.Noun()+" cannot change "+diag.A(k.Noun())+" afterwards: the text of "+countOf(n, k)+
				" stays without links to objects that were created later", "")
		}
	}
}

// inlineLinks makes a create send its links itself if all linked objects are created before it. It returns the steps that are no longer
// needed.
func (ch *changes) inlineLinks() map[*Step]bool {
	done := map[*Step]bool{}
	for create, links := range ch.addedLinks {
		var targets []*Step
		for _, v := range links.Values() {
			for _, r := range v.Links {
				if at, wanted := ch.objects.indexOf(r.Target.Address); wanted && r.ID == "" {
					targets = append(targets, ch.steps.of[at])
				}
			}
		}
		alsoNamesParent := slices.ContainsFunc(links.Values(), func(v *resource.Value) bool { return v.Field.Name == create.Kind.ParentField })
		if slices.ContainsFunc(targets, func(s *Step) bool { return s.Index >= create.Index }) ||
			alsoNamesParent && slices.ContainsFunc(links.needs, func(s *Step) bool { return s != create }) {
			continue
		}
		done[links], create.after = true, append(create.after, targets...)
		for k, v := range create.Values() {
			if at := slices.IndexFunc(links.Values(), func(w *resource.Value) bool { return w.Field == v.Field }); at >= 0 {
				create.Write.Values[k] = links.Values()[at]
			}
		}
	}
	return done
}
