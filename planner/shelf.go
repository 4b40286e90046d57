package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// archived reports whether an object is where lists do not show it.
func (f *objectState) archived() bool {
	at, _ := f.row["archived_at"].(string)
	return f.info.archived != nil && at != ""
}

// findArchived looks for an object that would be created among those of its kind that
// are archived: what planform made is never made again, and where the manifest
// speaks of archiving, a name means what is archived, too. was is the ID that the object had, or "".
func (s *Snapshot) findArchived(o *resource.Object, f *objectState, was string) bool {
	t := f.info
	if t.archived == nil || !t.externalIDs {
		return false
	}
	path, _ := t.archived.Expand(s.params(f.parent))
	a, answered := s.ask(Read{Operation: t.archived, Path: path})
	if !answered {
		f.presence = pending
		return true
	}
	mark := resource.ExternalID(s.in.Workspace, o.Address)
	for _, row := range a.Rows {
		if row.ID() == was || row.HasExternalID(mark) {
			f.presence, f.row, f.id = exists, row, row.ID()
			return true
		}
	}
	if _, _, given := wantsArchived(o); !given {
		return false
	}
	hits, field := (&listing{rows: a.Rows}).sameNaturalKey(o, t)
	if len(hits) > 0 {
		s.adopt(o, f, hits, "its "+field)
	}
	return len(hits) > 0
}

// wantsArchived is what the manifest says of an object's being archived; given is false where it says nothing.
func wantsArchived(o *resource.Object) (v *resource.Value, want, given bool) {
	for i := range o.Values {
		if v := &o.Values[i]; v.Field.ArchiveFlag {
			return v, v.Text == "true", true
		}
	}
	return nil, false, false
}

// staysArchived reports whether an object is archived and stays so: it is left as it is.
func (b *builder) staysArchived(i int) bool {
	_, want, given := wantsArchived(b.in.Desired[i])
	return b.states[i].archived() && (want || !given)
}

// keepArchived takes down that an object is left as it is, and says so where the manifest does not.
func (b *builder) keepArchived(i int) {
	o := b.in.Desired[i]
	b.recordKnown(i)
	b.plan.Summary.Unchanged++
	if _, _, given := wantsArchived(o); !given {
		b.diags.Add(warning(o, "archived", string(o.Address)+" is archived on the service; it and its members are left as they are"))
	}
}

// planArchive adds the step that archives an object, or brings it back.
func (b *builder) planArchive(i int) {
	o, f := b.in.Desired[i], &b.states[i]
	v, want, given := wantsArchived(o)
	verb := resource.Archive
	switch isNew := f.presence == absent; {
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
		b.addBlocked(i, &difference{unappliable: []Change{c}, causes: []string{reason}})
		return
	}
	step := b.step(i, Update)
	step.Operation, step.Values = op, []*resource.Value{v}
	if f.presence == absent {
		step.Needs = []int{i}
	}
	b.willChange(step)
	b.archiveSteps = append(b.archiveSteps, step)
}

// orderArchives lets objects be archived when whatever else is done to them has succeeded,
// since they are left alone then, and be brought back before.
func (b *builder) orderArchives(about map[*resource.Object][]*Step) {
	for _, shelving := range b.archiveSteps {
		for _, s := range about[shelving.Object] {
			switch {
			case s == shelving:
			case shelving.Operation.Verb == resource.Archive:
				shelving.require(s)
			default:
				s.extraAfter = append(s.extraAfter, shelving)
			}
		}
	}
}

// unarchivable says why the service would not archive an object, or "".
func (b *builder) unarchivable(i int) string {
	o, f := b.in.Desired[i], &b.states[i]
	k := o.Kind
	shown := func(field *resource.Field) (text string, known bool) {
		if v, given := o.Value(field.Name); given {
			return v.Text, true
		}
		if f.presence == absent {
			return cmp.Or(field.Default, field.Initial), true
		}
		return field.ObservedIn(f.row)
	}
	for n := range k.Fields {
		field := &k.Fields[n]
		text, known := shown(field)
		switch {
		case !known:
		case field.Name == k.ClosedAfter && !b.in.Now.IsZero() && !b.past(text, b.zone(f.parent)):
			return "only a finished " + k.Noun() + " can be archived: its " + field.Name + " must be in the past"
		case len(field.ArchivableValues) > 0 && !slices.Contains(field.ArchivableValues, text):
			return "only " + diag.A(k.Noun()) + " whose " + field.Name + " is " + strings.Join(field.ArchivableValues, " or ") + " can be archived"
		}
	}
	return ""
}
