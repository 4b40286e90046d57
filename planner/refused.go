package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// checkRefused reports what the service is known to refuse of what a create or update
// sends, at its place, before anything is sent.
func (b *builder) checkRefused(i int, sent []*resource.Value) {
	o, f := b.in.Desired[i], &b.states[i]
	for _, v := range sent {
		refuse := func(summary, hint string) {
			b.diags.Add(diag.Diagnostic{Code: "refused", Position: v.Position, Address: string(o.Address), Summary: summary, Hint: hint})
		}
		if at := strings.IndexAny(v.Text, v.Field.Forbidden); at >= 0 {
			refuse("the service takes no "+v.Text[at:at+1]+" in the "+v.Field.Name+" of "+diag.A(o.Kind.Noun()), "leave these out: "+strings.Join(strings.Split(v.Field.Forbidden, ""), " "))
		}
		if slices.Contains(v.Field.Reserved, v.Text) {
			refuse("the service keeps the "+v.Field.Name+" "+v.Text+" to itself", "choose another")
		}
		if pair, ok := o.Kind.Field(v.Field.Pair); ok && !v.Null && b.isEmpty(o, f, pair) {
			refuse(string(o.Address)+" has a "+v.Field.Name+" and no "+pair.Name+", and the service wants both or none", "write the "+pair.Name+", or leave the "+v.Field.Name+" out")
		}
	}
}

// isEmpty reports whether an object will have no value in a field.
func (b *builder) isEmpty(o *resource.Object, f *objectState, field *resource.Field) bool {
	if v, given := o.Value(field.Name); given {
		return v.Null
	}
	if f.presence == absent {
		return true
	}
	shown, known := field.ObservedIn(f.row)
	return known && shown == ""
}

// checkFeature reports an object that is to be created where what its parent needs for such objects is off.
func (b *builder) checkFeature(i int) {
	o, f := b.in.Desired[i], &b.states[i]
	if f.parent == none || o.Kind.RequiresFeature == "" {
		return
	}
	p := &b.states[f.parent]
	switchField, ok := p.info.kind.Field(o.Kind.RequiresFeature)
	if !ok {
		return
	}
	parent := b.in.Desired[f.parent]
	at := parent.Position
	on, known := "", true
	if v, given := parent.Value(switchField.Name); given {
		on, at = v.Text, v.Position
	} else if p.presence == absent {
		on = cmp.Or(switchField.Default, "false")
	} else {
		on, known = switchField.ObservedIn(p.row)
	}
	if known && on != "true" {
		b.diags.Add(diag.Diagnostic{
			Code: "switched-off", Position: o.Position, Address: string(o.Address),
			Summary: string(parent.Address) + " has its " + plural(o.Kind) + " switched off",
			Hint:    "write " + switchField.Name + ": true in the " + parent.Kind.Noun(),
			Related: []diag.Related{{Position: at, Note: "it is at"}},
		})
	}
}
