package manifest

import (
	"fmt"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// dependencyCycle is things that are above themselves by the field in which each names the next.
type dependencyCycle struct {
	field   string             // such as parent
	objects []*resource.Object // each names the next, the last one the first
	values  []*resource.Value  // with which they do
}

// text gives the chain by its keys.
func (c *dependencyCycle) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the %s of %s leads back to itself: ", c.field, quote(c.objects[0].Key))
	const longest = 10
	for i, o := range c.objects {
		if i == longest && len(c.objects) > longest+1 {
			fmt.Fprintf(&b, "... (%d more) -> ", len(c.objects)-i)
			break
		}
		b.WriteString(o.Key + " -> ")
	}
	b.WriteString(c.objects[0].Key)
	return b.String()
}

// finding puts it at the first of the chain, with the places of the others.
func (c *dependencyCycle) finding(path string) diag.Diagnostic {
	d := diag.Diagnostic{
		Code: "reference-cycle", Position: c.values[0].Position, Path: path + "." + c.field, Address: string(c.objects[0].Address),
		Summary: c.text(), Hint: "remove one " + c.field + " of the chain",
	}
	const most = 10
	for i := 1; i < len(c.objects) && i <= most; i++ {
		d.Related = append(d.Related, diag.Related{Position: c.values[i].Position, Note: quote(c.objects[i].Key) + " has its " + c.field + " at"})
	}
	return d
}

// checkCycles reports things that are above themselves by a field that names one of their own kind.
func (a *assembly) checkCycles(kinds *kindSet) {
	type step struct {
		item int
		walk int // in which it was first seen
	}
	seen := map[*resource.Object]*step{}
	for _, sorted := range resource.Kinds() { // in an order: what is beyond the limit of findings is the same each time
		k := kinds.byName[sorted.Name]
		for _, f := range k.selfRefs {
			clear(seen)
			for i := range a.items {
				if it := &a.items[i]; it.kind == k && it.mergedInto < 0 && target(it.object, f) != nil {
					seen[it.object] = &step{item: i, walk: -1}
				}
			}
			for i := range a.items {
				o := a.items[i].object
				at, starts := seen[o]
				if !starts || at.walk >= 0 {
					continue
				}
				walk := at.item
				for ok := true; ok && at.walk < 0; at, ok = seen[o] {
					at.walk = walk
					o = target(o, f)
				}
				if at == nil || at.walk != walk {
					continue // it ends, or runs into what was walked before
				}
				a.found.add(circleAt(f, o).finding(a.items.path(at.item)))
			}
		}
	}
}

// circleAt gathers the chain that begins and ends at an object.
func circleAt(f *resource.Field, first *resource.Object) *dependencyCycle {
	c := &dependencyCycle{field: f.Name}
	for o := first; ; {
		v, _ := o.Value(f.Name)
		c.objects, c.values = append(c.objects, o), append(c.values, v)
		if o = target(o, f); o == first {
			return c
		}
	}
}

// target is what the field of an object names in the manifest, or nil.
func target(o *resource.Object, f *resource.Field) *resource.Object {
	if v, ok := o.Value(f.Name); ok && len(v.Refs) == 1 {
		return v.Refs[0].Target
	}
	return nil
}
