package planner

import (
	"slices"
	"time"

	"github.com/planform/planform/internal/resource"
)

// What is over, such as a cycle after its last day, takes no change and no new
// member. So what is of the past already when it is made is filled first, and
// gets its dates when all that belongs to it is in.

// zoneNow is the time zone of what objects live in, as the service has it by now.
func (s *Snapshot) zoneNow(parent int) *time.Location {
	if parent == none {
		return time.UTC
	}
	if name, ok := s.states[parent].row["timezone"].(string); ok {
		return resource.Zone(name)
	}
	return resource.Zone(s.in.Desired[parent].Text("timezone"))
}

// zone is the time zone that what objects live in is to have.
func (s *Snapshot) zone(parent int) *time.Location {
	if parent != none {
		if name := s.in.Desired[parent].Text("timezone"); name != "" {
			return resource.Zone(name)
		}
	}
	return s.zoneNow(parent)
}

// past reports whether a day is over in a time zone.
func (s *Snapshot) past(day string, zone *time.Location) bool {
	t, err := time.ParseInLocation(time.DateOnly, day, zone)
	return err == nil && !s.in.Now.IsZero() && !s.in.Now.Before(t.AddDate(0, 0, 1).Add(-time.Minute))
}

// isOver reports whether an object is over on the service.
func (s *Snapshot) isOver(i int) bool {
	f := &s.states[i]
	return f.presence == exists && s.past(f.lastDay(), s.zoneNow(f.parent))
}

// lastDay is the day after which an object that exists is over, or "".
func (f *objectState) lastDay() string {
	field, ok := f.info.kind.Field(f.info.kind.ClosedAfter)
	if !ok || f.row == nil {
		return ""
	}
	day, _ := field.ObservedIn(f.row)
	return day
}

// willBeOver reports whether an object is over once it is as the manifest wants it.
func (s *Snapshot) willBeOver(i int) bool {
	f := &s.states[i]
	closes := f.info.kind.ClosedAfter
	if closes == "" {
		return false
	}
	if v, given := s.in.Desired[i].Value(closes); given {
		return s.past(v.Text, s.zone(f.parent))
	}
	return s.isOver(i)
}

// findFilled finds what members are to be brought into.
func (b *builder) findFilled() {
	b.filled = map[int]bool{}
	for _, r := range b.memberSets {
		if r.object != none && slices.ContainsFunc(r.entries, func(e memberRef) bool { return !b.isIn(r, e) }) {
			b.filled[r.object] = true
		}
	}
}

// fillsFirst reports whether a new object gets its dates only after its members are in.
func (b *builder) fillsFirst(i int) bool {
	return b.filled[i] && b.states[i].info.update != nil && b.willBeOver(i)
}

// blockClosed moves what would be changed of an object that is over to what cannot be.
func (b *builder) blockClosed(i int, d *difference) {
	for _, c := range d.changes {
		c.Possible = false
		d.unappliable = append(d.unappliable, c)
		d.causes = append(d.causes, "it ended on "+b.states[i].lastDay()+", and the service does not change finished "+plural(b.states[i].info.kind))
	}
	d.send, d.changes = nil, nil
}

// orderClosing lets objects get the date after which they take nothing when all that
// belongs to them is in: what is not in by then never gets in.
func (b *builder) orderClosing(about map[*resource.Object][]*Step) {
	for i := range b.states {
		o, closes := b.in.Desired[i], b.states[i].info.kind.ClosedAfter
		if closes == "" || !b.willBeOver(i) {
			continue
		}
		for _, s := range about[o] {
			if s.Action != Create && slices.ContainsFunc(s.Values, func(v *resource.Value) bool { return v.Field.Name == closes }) {
				for _, other := range about[o] {
					if other.Action == AddMembers {
						s.require(other)
					}
				}
			}
		}
	}
}

// require lets a step go ahead only if another one, and all members that it brings in,
// are there. It comes after all kinds then: those are not to be pulled before others.
func (s *Step) require(other *Step) {
	s.stage = 1
	s.extraNeeds = append(s.extraNeeds, other)
	if other.Action == AddMembers {
		s.Needs = append(slices.Clip(s.Needs), other.After...)
	}
}

// stepsByObject lists, by what can be over or archived, the steps about it and about who belongs to it.
func (b *builder) stepsByObject() map[*resource.Object][]*Step {
	about := map[*resource.Object][]*Step{}
	for _, list := range b.steps {
		for _, s := range list {
			o := s.Object
			if s.Members != nil {
				o = s.Members.Container.Object
			}
			if o == nil || s.Action == NotPossible {
				continue
			}
			if o.Kind.ClosedAfter != "" || b.kinds[o.Kind].archived != nil {
				about[o] = append(about[o], s)
			}
		}
	}
	return about
}

// lastDayOf is the day since which the container of a member set is over, or "".
func (b *builder) lastDayOf(r *memberSet) string {
	if r.object != none {
		if b.isOver(r.object) {
			return b.states[r.object].lastDay()
		}
		return ""
	}
	t, within := r.field.to, none
	field, closes := t.kind.Field(t.kind.ClosedAfter)
	if o := r.container.Within; o != nil {
		within = b.index[o]
	}
	if !closes || !b.listed(t, within) {
		return ""
	}
	l, _ := b.list(t, within)
	zone := b.zoneNow(within)
	for _, row := range l.ids()[r.container.ID] {
		if day, _ := field.ObservedIn(t.kind.InZone(row, zone)); b.past(day, zone) {
			return day
		}
	}
	return ""
}
