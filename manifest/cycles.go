package manifest

import (
	"fmt"
	"strings"

	"github.com/planform/planform/internal/graph"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// checkCycles reports objects that are their own ancestors through a field that refers to their own kind, such as parent.
func (a *assembly) checkCycles(kinds *kindSet) {
	for _, sorted := range resource.Kinds() { // in a fixed order, so that the limit on findings drops the same ones each time
		k := kinds.byName[sorted.Name]
		for _, f := range k.selfRefs {
			var objects []*resource.Object
			at := map[*resource.Object]int{}
			for i, it := range a.kept() {
				if it.kind == k && target(it.object, f) != nil {
					objects, at[it.object] = append(objects, it.object), i
				}
			}
			above := func(o *resource.Object) []*resource.Object {
				if to := target(o, f); to != nil {
					return []*resource.Object{to}
				}
				return nil
			}
			graph.DepthFirst(objects, above, func(*resource.Object) {}, func(cycle []*resource.Object) {
				a.found.add(dependencyCycle(f, cycle, a.items.path(at[cycle[0]])))
			})
		}
	}
}

// target returns the object of the manifest that a field refers to, or nil.
func target(o *resource.Object, f *resource.Field) *resource.Object {
	if v, ok := o.Value(f.Name); ok && len(v.Refs) == 1 {
		return v.Refs[0].Target
	}
	return nil
}

// dependencyCycle returns the finding for a cycle, at its first object and with the positions of the others.
func dependencyCycle(f *resource.Field, cycle []*resource.Object, path string) diag.Diagnostic {
	const most = 10 // objects named in the finding
	at := func(o *resource.Object) diag.Position { v, _ := o.Value(f.Name); return v.Position }
	first := cycle[0]
	d := diag.Diagnostic{
		Code: "reference-cycle", Position: at(first), Path: path + "." + f.Name, Address: string(first.Address), Hint: "remove one " +
			f.Name + " of the chain",
	}
	var chain strings.Builder
	for i, o := range cycle {
		if i == most && len(cycle) > most+1 {
			fmt.Fprintf(&chain, "... (%d more) -> ", len(cycle)-i)
			break
		}
		chain.WriteString(o.Key + " -> ")
	}
	d.Summary = "the " + f.Name + " of " + quote(first.Key) + " leads back to itself: " + chain.String() + first.Key
	for _, o := range cycle[1:min(len(cycle), most+1)] {
		d.Related = append(d.Related, diag.Related{Position: at(o), Note: quote(o.Key) + " has its " + f.Name + " at"})
	}
	return d
}
