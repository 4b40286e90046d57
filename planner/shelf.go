package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// archived reports whether a thing is where lists do not show it.
func (f *fact) archived() bool {
	at, _ := f.row["archived_at"].(string)
	return f.traits.archived != nil && at != ""
}

// shelved looks for a thing that would be created among those of its kind that
// are archived: what planform made is never made again, and where the manifest
// speaks of archiving, a name means what is archived, too. was is the ID that the thing had, or "".
func (s *Survey) shelved(o *resource.Object, f *fact, was string) bool {
	t := f.traits
	if t.archived == nil || !t.marked {
		return false
	}
	path, _ := t.archived.Expand(s.params(f.parent))
	a, answered := s.ask(Read{Operation: t.archived, Path: path})
	if !answered {
		f.standing = pending
		return true
	}
	mark := resource.Mark(s.in.Workspace, o.Address)
	for _, row := range a.Rows {
		if row.ID() == was || row.Marked(mark) {
			f.standing, f.row, f.id = there, row, row.ID()
			return true
		}
	}
	if _, _, given := wantsArchived(o); !given {
		return false
	}
	hits, field := (&listing{rows: a.Rows}).alike(o, t)
	if len(hits) > 0 {
		s.adopt(o, f, hits, "its "+field)
	}
	return len(hits) > 0
}

// wantsArchived is what the manifest says of a thing's being archived; given is false where it says nothing.
func wantsArchived(o *resource.Object) (v *resource.Value, want, given bool) {
	for i := range o.Values {
		if v := &o.Values[i]; v.Field.Shelf {
			return v, v.Text == "true", true
		}
	}
	return nil, false, false
}

// rests reports whether a thing is archived and stays so: it is left as it is.
func (b *builder) rests(i int32) bool {
	_, want, given := wantsArchived(b.in.Desired[i])
	return b.facts[i].archived() && (want || !given)
}

// rest takes down that a thing is left as it is, and says so where the manifest does not.
func (b *builder) rest(i int) {
	o := b.in.Desired[i]
	b.know(i)
	b.plan.Summary.Unchanged++
	if _, _, given := wantsArchived(o); !given {
		b.diags.Add(warning(o, "archived", string(o.Address)+" is archived on the service; it is left as it is, and so is who belongs to it"))
	}
}

// shelve adds the step that archives a thing, or brings it back.
func (b *builder) shelve(i int) {
	o, f := b.in.Desired[i], &b.facts[i]
	v, want, given := wantsArchived(o)
	verb := resource.Archive
	switch isNew := f.standing == absent; {
	case !given, isNew && !want, !isNew && (f.row == nil || f.archived() == want):
		return
	case !want:
		verb = resource.Unarchive
	}
	op, ok := o.Kind.Op(verb, b.in.API)
	if !ok {
		return
	}
	if reason := b.unarchivable(i); verb == resource.Archive && reason != "" {
		c := b.change(v, FromManifest)
		b.stick(i, &difference{stuck: []Change{c}, causes: []string{reason}})
		return
	}
	step := b.step(i, Update)
	step.Operation, step.Values = op, []*resource.Value{v}
	if f.standing == absent {
		step.Needs = []int{i}
	}
	b.willChange(step)
	b.shelving = append(b.shelving, step)
}

// putLast lets things be archived when whatever else is done to them has succeeded,
// since they are left alone then, and be brought back before.
func (b *builder) putLast(about map[*resource.Object][]*Step) {
	for _, shelving := range b.shelving {
		for _, s := range about[shelving.Object] {
			switch {
			case s == shelving:
			case shelving.Operation.Verb == resource.Archive:
				shelving.require(s)
			default:
				s.awaits = append(s.awaits, shelving)
			}
		}
	}
}

// unarchivable says why the service would not archive a thing, or "".
func (b *builder) unarchivable(i int) string {
	o, f := b.in.Desired[i], &b.facts[i]
	k := o.Kind
	shown := func(field *resource.Field) (text string, known bool) {
		if v, given := o.Value(field.Name); given {
			return v.Text, true
		}
		if f.standing == absent {
			return cmp.Or(field.Default, field.Initial), true
		}
		return field.Observed(f.row)
	}
	for n := range k.Fields {
		field := &k.Fields[n]
		text, known := shown(field)
		switch {
		case !known:
		case field.Name == k.Closes && !b.in.Now.IsZero() && !b.past(text, b.zone(f.parent)):
			return "only " + diag.A(k.Noun()) + " that is over can be archived: its " + field.Name + " must be past"
		case len(field.Archivable) > 0 && !slices.Contains(field.Archivable, text):
			return "only " + diag.A(k.Noun()) + " whose " + field.Name + " is " + strings.Join(field.Archivable, " or ") + " can be archived"
		}
	}
	return ""
}
