package planner

import (
	"slices"
	"time"

	"github.com/planform/planform/internal/resource"
)

// What is over, such as a cycle after its last day, takes no change and no new
// member. So what is of the past already when it is made is filled first, and
// gets its dates when all that belongs to it is in.

// zoneNow is the time zone of what things live in, as the service has it by now.
func (s *Survey) zoneNow(parent int32) *time.Location {
	if parent == none {
		return time.UTC
	}
	if name, ok := s.facts[parent].row["timezone"].(string); ok {
		return resource.Zone(name)
	}
	return resource.Zone(s.in.Desired[parent].Text("timezone"))
}

// zone is the time zone that what things live in is to have.
func (s *Survey) zone(parent int32) *time.Location {
	if parent != none {
		if name := s.in.Desired[parent].Text("timezone"); name != "" {
			return resource.Zone(name)
		}
	}
	return s.zoneNow(parent)
}

// past reports whether a day is over in a time zone.
func (s *Survey) past(day string, zone *time.Location) bool {
	t, err := time.ParseInLocation(time.DateOnly, day, zone)
	return err == nil && !s.in.Now.IsZero() && !s.in.Now.Before(t.AddDate(0, 0, 1).Add(-time.Minute))
}

// isOver reports whether a thing is over on the service.
func (s *Survey) isOver(i int) bool {
	f := &s.facts[i]
	return f.standing == there && s.past(f.lastDay(), s.zoneNow(f.parent))
}

// lastDay is the day after which a thing that exists is over, or "".
func (f *fact) lastDay() string {
	field, ok := f.traits.kind.Field(f.traits.kind.Closes)
	if !ok || f.row == nil {
		return ""
	}
	day, _ := field.Observed(f.row)
	return day
}

// willBeOver reports whether a thing is over once it is as the manifest wants it.
func (s *Survey) willBeOver(i int) bool {
	f := &s.facts[i]
	closes := f.traits.kind.Closes
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
	b.filled = map[int32]bool{}
	for _, r := range b.rosters {
		if r.object != none && slices.ContainsFunc(r.entries, func(e entry) bool { return !b.isIn(r, e) }) {
			b.filled[r.object] = true
		}
	}
}

// fillsFirst reports whether a new thing gets its dates only after its members are in.
func (b *builder) fillsFirst(i int) bool {
	return b.filled[int32(i)] && b.facts[i].traits.update != nil && b.willBeOver(i) //nolint:gosec // there are fewer things than 2^31
}

// tooLate moves what would be changed of a thing that is over to what cannot be.
func (b *builder) tooLate(i int, d *difference) {
	for _, c := range d.changes {
		c.Possible = false
		d.stuck = append(d.stuck, c)
		d.causes = append(d.causes, "it is over since "+b.facts[i].lastDay()+", and the service changes nothing of "+plural(b.facts[i].traits.kind)+" that are")
	}
	d.send, d.changes = nil, nil
}

// closeLast lets things get the date after which they take nothing when all that
// belongs to them is in: what is not in by then never gets in.
func (b *builder) closeLast(about map[*resource.Object][]*Step) {
	for i := range b.facts {
		o, closes := b.in.Desired[i], b.facts[i].traits.kind.Closes
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
	s.requires = append(s.requires, other)
	if other.Action == AddMembers {
		s.Needs = append(slices.Clip(s.Needs), other.After...)
	}
}

// about lists, by what can be over or archived, the steps about it and about who belongs to it.
func (b *builder) about() map[*resource.Object][]*Step {
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
			if o.Kind.Closes != "" || b.kinds[o.Kind].archived != nil {
				about[o] = append(about[o], s)
			}
		}
	}
	return about
}

// lastDayOf is the day since which the container of a roster is over, or "".
func (b *builder) lastDayOf(r *roster) string {
	if r.object != none {
		if b.isOver(int(r.object)) {
			return b.facts[r.object].lastDay()
		}
		return ""
	}
	t, within := r.field.to, none
	field, closes := t.kind.Field(t.kind.Closes)
	if o := r.container.Within; o != nil {
		within = b.index[o]
	}
	if !closes || !b.listed(t, within) {
		return ""
	}
	l, _ := b.list(t, within)
	zone := b.zoneNow(within)
	for _, row := range l.ids()[r.container.ID] {
		if day, _ := field.Observed(t.kind.Local(row, zone)); b.past(day, zone) {
			return day
		}
	}
	return ""
}
