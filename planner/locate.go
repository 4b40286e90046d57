package planner

import "github.com/planform/planform/internal/diag"

// locate gives the findings the path in the document that their position is at.
func (b *builder) locate() {
	paths := map[diag.Position]string{}
	for _, d := range b.diags {
		if d.Path == "" && !d.Position.IsZero() {
			paths[d.Position] = ""
		}
	}
	if len(paths) == 0 {
		return
	}
	at := func(p diag.Position, path func() string) {
		if have, sought := paths[p]; sought && have == "" {
			paths[p] = path()
		}
	}
	for _, o := range b.in.Desired {
		at(o.Position, o.Path)
	}
	for _, o := range b.in.Desired {
		for i := range o.Values {
			v := &o.Values[i]
			at(v.Position, func() string { return o.PathOf(v.Field, -1) })
			for k := range v.Refs {
				at(v.Refs[k].Position, func() string { return o.PathOf(v.Field, k) })
			}
		}
	}
	for i := range b.diags {
		if d := &b.diags[i]; d.Path == "" {
			d.Path = paths[d.Position]
		}
	}
}
