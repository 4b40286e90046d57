package planner

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/markup"
	"github.com/planform/planform/internal/resource"
)

// difference is what distinguishes an object that exists from what the manifest wants.
type difference struct {
	send        []*resource.Value
	alwaysSent  []*resource.Value // that are as they should be and sent all the same, see [resource.Field]
	changes     []Change          // that sending makes
	unappliable []Change          // that cannot be made
	kept        []Change          // that are not made, since somebody made the field what it is
	causes      []string          // why, beside each of stuck
	position    diag.Position     // of the first of stuck, where it is a reference
	unsupported string            // kind of which this edition has nothing, if that is why
}

// block adds a change that cannot be made.
func (d *difference) block(c Change, cause string, at diag.Position) {
	if d.position.IsZero() {
		d.position = at
	}
	d.unappliable, d.causes = append(d.unappliable, c), append(d.causes, cause)
}

// The causes that concern the operations.
const (
	cannotChange = "change"
	cannotClear  = "clear"
	cannotSet    = "set" // of an object that is created
)

// difference compares what the manifest gives for an object that exists with what
// the service shows, or, where it shows nothing, with what was applied last.
func (b *builder) difference(i int) (d difference) {
	o, f := b.in.Desired[i], &b.states[i]
	resolve := b.resolve(i)
	stale := false
	lacks := b.unsupportedRefs(i)
	lacks.addTo(b.Snapshot, &d)
	for k := range o.Values {
		v := &o.Values[k]
		if v.Field.Virtual || v.Field.ArchiveFlag || f.info.carried(v.Field) || lacks.has(v) {
			continue
		}
		c, compared, differs := b.compare(v, f, resolve)
		stale = stale || f.row == nil && compared
		if !differs {
			if v.Field.AlwaysSend {
				d.alwaysSent = append(d.alwaysSent, v)
			}
			continue
		}
		if only := b.insidersOnly(i, v, &d); only != v {
			v = only
			if c, compared, differs = b.compare(v, f, resolve); !differs {
				continue
			}
		}
		if c.Origin == FromDrift && b.in.OnDrift == Keep {
			d.kept = append(d.kept, c)
			continue
		}
		cause := b.cause(i, v)
		if c.Possible = cause == ""; c.Possible {
			d.send, d.changes = append(d.send, v), append(d.changes, c)
			stale = stale || f.row == nil
		} else if compared {
			d.unappliable, d.causes = append(d.unappliable, c), append(d.causes, cause)
		} // else nothing says that it differs, and nothing could be done
	}
	if stale && !b.in.SkipRefresh {
		if b.stale == nil {
			b.stale = map[*kindInfo]int{}
		}
		b.stale[f.info]++
	}
	return d
}

// cause says why a change cannot be made, or "".
func (b *builder) cause(i int, v *resource.Value) string {
	t := b.states[i].info
	if why := b.unavailable(i, v); why != "" {
		return why
	}
	switch {
	case t.update == nil, v.Field.Immutable, !b.in.API.Sendable(v.Field):
		return cannotChange
	case v.Null && v.Field.Clear == resource.ClearNever:
		return cannotClear
	}
	if root := b.blockerOf(v); root != none {
		return "its " + v.Field.Name + " needs " + string(b.in.Desired[root].Address) + ": " + b.blockReason(root, root)
	}
	return ""
}

// reason puts the causes into a sentence.
func (d *difference) reason(api resource.API, k *resource.Kind) string {
	var parts []string
	for _, cause := range slices.Compact(slices.Sorted(slices.Values(d.causes))) {
		which := ""
		switch cause {
		case cannotChange, cannotClear:
			which = " after creation"
		case cannotSet:
		default:
			parts = append(parts, cause)
			continue
		}
		var fields []string
		for i, c := range d.unappliable {
			if d.causes[i] == cause {
				fields = append(fields, c.Path)
			}
		}
		parts = append(parts, "the "+api.Noun()+" cannot "+cause+" "+strings.Join(fields, ", ")+" of "+diag.A(k.Noun())+which)
	}
	return strings.Join(parts, "; ")
}

// compare holds one field's three sides against each other. compared is false
// where neither the service nor the state says anything of it.
func (s *Snapshot) compare(v *resource.Value, f *objectState, resolve resource.IDResolver) (c Change, compared, differs bool) {
	want, complete := v.Desired(resolve)
	prior, applied := "", false
	if f.prior != nil && f.prior.PendingIntent == nil { // what an update without an outcome left is not known
		prior, applied = f.prior.Values[v.Field.Name]
	}
	if f.row != nil {
		if have, known := v.Field.ObservedIn(f.row); known {
			if complete && have == want {
				return c, true, false
			}
			settled := applied && f.prior.Values[ShownKey(v.Field.Name)] == Shown(have) // nobody changed what the service made of it
			if settled && complete && resource.Digest(want) == prior {
				return c, true, false
			}
			c = s.change(v, FromManifest)
			if applied && !settled && resource.Digest(have) != prior {
				c.Origin = FromDrift
			}
			c.Before, c.After = s.displayValues(v, have, want, c.After)
			return c, true, true
		}
	}
	if applied && complete && resource.Digest(want) == prior {
		return c, true, false
	}
	if v.Field.CreateOnly() && (!applied || !complete) {
		return c, false, false // only a create takes it, and nothing shows it
	}
	c = s.change(v, NotRefreshed)
	if prior != "" && !strings.HasPrefix(prior, "sha256:") {
		before := s.nameIDs(v, prior)
		c.Before = &before
	}
	return c, f.prior != nil && len(f.prior.Values) > 0, true
}

// ShownKey is under what a record has, beside the value of a field that was applied
// last, what the service then showed of it, where that is another one. As long as
// both are as they were, there is nothing to change: the service makes of what is
// sent what it will, and would do so again.
func ShownKey(field string) string { return field + " shown" }

// Shown is what a record has under that.
func Shown(canonical string) string { return "=" + resource.Digest(canonical) }

func (s *Snapshot) change(v *resource.Value, from Origin) Change {
	c := Change{Path: v.Field.Name, Origin: from}
	if text := Show(v); text != "" {
		c.After = &text
	}
	return c
}

// displayValues are the two values as a person reads them.
func (s *Snapshot) displayValues(v *resource.Value, have, want string, after *string) (*string, *string) {
	before := have
	switch {
	case v.Field.Rich():
		before = markup.Text(have)
		if now := markup.Text(want); now == before { // only the markup differs: show it
			before, now = have, want
			after = &now
		} else if want != "" {
			after = &now
		}
	case v.Field.IsRef():
		before = s.nameIDs(v, have)
	}
	if before == "" {
		return nil, after
	}
	return &before, after
}
