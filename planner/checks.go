package planner

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// checks reports what the service refuses, or people should look at, before anything is sent.
type checks struct {
	round
}

// isOff reports whether a value switches something off.
func isOff(v *resource.Value) bool { return v.Field.Type == resource.Boolean && v.Text == "false" }

// checkDates warns where a date that is sent comes to lie on the wrong side of
// one that the manifest does not give: the service holds against each other only what one request has.
func (b *checks) checkDates(i int, sent []*resource.Value) {
	o, f := b.in.Desired[i], &b.objects.states[i]
	if f.row == nil {
		return
	}
	for k := range o.Kind.Fields {
		last := &o.Kind.Fields[k]
		first, ok := o.Kind.Field(last.NotBefore)
		if !ok {
			continue
		}
		at := slices.IndexFunc(sent, func(v *resource.Value) bool { return v.Field == first || v.Field == last })
		from, _ := f.willHave(o, first)
		to, _ := f.willHave(o, last)
		if at < 0 || from == "" || to == "" || from <= to {
			continue
		}
		b.diags.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "dates", Position: sent[at].Position, Address: string(o.Address),
			Summary: string(o.Address) + " will have the " + first.Name + " " + from + ", after its " + last.Name + " " + to,
			Hint:    "the service accepts that; to be sure, write both dates",
		})
	}
}

// warnCaseMismatch warns of an object that is created beside one which the manifest
// does not have, and whose name is the same but for capitals.
func (b *checks) warnCaseMismatch(i int) {
	o, f := b.in.Desired[i], &b.objects.states[i]
	if len(f.info.natural) == 0 || !b.snapshot.listed(f.info, f.parent) {
		return
	}
	l, _ := b.snapshot.list(f.info, f.parent)
	for _, field := range f.info.natural {
		if field.Type != resource.Text {
			continue
		}
		for _, row := range l.byName(o.Kind, true)[strings.ToLower(strings.TrimSpace(o.Text(field.Name)))] {
			if _, ours := b.objects.owners[serviceID{o.Kind.Name, row.ID()}]; ours {
				continue
			}
			shown, _ := row.Shown(field)
			text, _ := shown.(string)
			b.diags.warn(o, "other-letters", string(o.Address)+" is created although the service has "+strconv.Quote(text), "to use that one, write its name exactly like this")
			return
		}
	}
}

// checkRefused reports what the service is known to refuse of what a create or update
// sends, at its place, before anything is sent.
func (b *checks) checkRefused(i int, sent []*resource.Value) {
	o, f := b.in.Desired[i], &b.objects.states[i]
	for _, v := range sent {
		refuse := func(summary, hint string) {
			b.diags.Add(diag.Diagnostic{Code: "refused", Position: v.Position, Address: string(o.Address), Summary: summary, Hint: hint})
		}
		if at := strings.IndexAny(v.Text, v.Field.Forbidden); at >= 0 {
			refuse("the service accepts no "+v.Text[at:at+1]+" in the "+v.Field.Name+" of "+diag.A(o.Kind.Noun()), "leave these out: "+strings.Join(strings.Split(v.Field.Forbidden, ""), " "))
		}
		if slices.Contains(v.Field.Reserved, v.Text) {
			refuse("the "+v.Field.Name+" "+v.Text+" is reserved by the service", "choose another "+v.Field.Name)
		}
		pair, ok := o.Kind.Field(v.Field.Pair)
		if !ok || v.Null {
			continue
		}
		if other, known := f.willHave(o, pair); known && other == "" {
			refuse(string(o.Address)+" has a "+v.Field.Name+" but no "+pair.Name+"; the service requires both or neither", "add the "+pair.Name+", or remove the "+v.Field.Name)
		}
	}
}

// checkFeature reports an object that needs a feature which is off in its parent.
func (b *checks) checkFeature(i int) {
	o, f := b.in.Desired[i], &b.objects.states[i]
	if f.parent == none || o.Kind.RequiresFeature == "" {
		return
	}
	p := &b.objects.states[f.parent]
	switchField, ok := p.info.kind.Field(o.Kind.RequiresFeature)
	if !ok {
		return
	}
	parent := b.in.Desired[f.parent]
	at := parent.Position
	on, known := "", true
	v, given := parent.Value(switchField.Name)
	if given {
		at = v.Position
	}
	switch {
	case given && (!isOff(v) || p.presence == absent): // off only when they are in
		return
	case p.presence == absent:
		on = cmp.Or(switchField.Default, "false")
	default:
		on, known = switchField.ObservedIn(p.row)
		known = known || given
	}
	if known && on != "true" {
		b.diags.Add(diag.Diagnostic{
			Code: "switched-off", Position: o.Position, Address: string(o.Address),
			Summary: plural(o.Kind) + " are switched off in " + string(parent.Address),
			Hint:    "set " + switchField.Name + ": true in the " + parent.Kind.Noun(),
			Related: []diag.Related{{Position: at, Note: "it is at"}},
		})
	}
}

// unarchivable says why the service would not archive an object, or "".
func (b *checks) unarchivable(i int) string {
	o, f := b.in.Desired[i], &b.objects.states[i]
	k := o.Kind
	for n := range k.Fields {
		field := &k.Fields[n]
		if field.Name != k.ClosedAfter && len(field.ArchivableValues) == 0 {
			continue
		}
		text, known := f.willHave(o, field)
		switch {
		case !known:
		case field.Name == k.ClosedAfter && !b.in.Now.IsZero() && !b.objects.past(text, b.objects.zone(f.parent)):
			return "only a finished " + k.Noun() + " can be archived: its " + field.Name + " must be in the past"
		case len(field.ArchivableValues) > 0 && !slices.Contains(field.ArchivableValues, text):
			return "only " + diag.A(k.Noun()) + " whose " + field.Name + " is " + strings.Join(field.ArchivableValues, " or ") + " can be archived"
		}
	}
	return ""
}

// blockClosed moves what would be changed of an object that is over to what cannot be.
func (b *checks) blockClosed(i int, d *difference) {
	for _, c := range d.changes {
		c.Possible = false
		d.block(c, "it ended on "+b.objects.states[i].lastDay()+", and the service does not change finished "+plural(b.objects.states[i].info.kind), diag.Position{})
	}
	d.send, d.changes = nil, nil
}
