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
			refuse("the service accepts no "+v.Text[at:at+1]+" in the "+v.Field.Name+" of "+diag.A(o.Kind.Noun()), "leave these out: "+strings.Join(strings.Split(v.Field.Forbidden, ""), " "))
		}
		if slices.Contains(v.Field.Reserved, v.Text) {
			refuse("the "+v.Field.Name+" "+v.Text+" is reserved by the service", "choose another "+v.Field.Name)
		}
		if pair, ok := o.Kind.Field(v.Field.Pair); ok && !v.Null && b.isEmpty(o, f, pair) {
			refuse(string(o.Address)+" has a "+v.Field.Name+" but no "+pair.Name+"; the service requires both or neither", "add the "+pair.Name+", or remove the "+v.Field.Name)
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

// isOff reports whether a value switches something off.
func isOff(v *resource.Value) bool { return v.Field.Type == resource.Boolean && v.Text == "false" }

// needsOn reports whether something that the manifest has in an object cannot be made while the field is off.
func (b *builder) needsOn(o *resource.Object, field *resource.Field) bool {
	return slices.ContainsFunc(b.in.Desired, func(child *resource.Object) bool {
		return child.Parent == o && child.Kind.RequiresFeature == field.Name
	})
}

// orderSwitches lets a feature be switched off when all that needs it is made and as it should be.
func (b *builder) orderSwitches() {
	off := map[*resource.Object][]*Step{}
	for _, list := range b.steps {
		for _, s := range list {
			if s.Object != nil && s.Members == nil && (s.Action == Update || s.Action == Adopt) && slices.ContainsFunc(s.Values, isOff) {
				off[s.Object] = append(off[s.Object], s)
			}
		}
	}
	for _, list := range b.steps {
		for _, s := range list {
			if s.Object == nil || s.Members != nil || s.Operation == nil || s.Kind.RequiresFeature == "" {
				continue
			}
			for _, parent := range off[s.Object.Parent] {
				if slices.ContainsFunc(parent.Values, func(v *resource.Value) bool { return v.Field.Name == s.Kind.RequiresFeature && isOff(v) }) {
					parent.require(s)
				}
			}
		}
	}
}
