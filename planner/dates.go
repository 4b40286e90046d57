package planner

import (
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// checkDates warns where a date that is sent comes to lie on the wrong side of
// one that the manifest does not give: the service holds against each other only what one request has.
func (b *builder) checkDates(i int, sent []*resource.Value) {
	o, f := b.in.Desired[i], &b.states[i]
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
		from, to := dateAfter(o, f, first), dateAfter(o, f, last)
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

// dateAfter is the date that an object will have: the manifest's, else what the service shows.
func dateAfter(o *resource.Object, f *objectState, field *resource.Field) string {
	if v, given := o.Value(field.Name); given {
		date, _ := v.Desired(nil) // a date names nothing else
		return date
	}
	date, _ := field.ObservedIn(f.row)
	return date
}
