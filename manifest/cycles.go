package manifest

import (
	"fmt"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// CycleError says that things are above themselves by the field in which each names the next.
type CycleError struct {
	Field   string             // such as parent
	Objects []*resource.Object // each names the next, the last one the first
	Values  []*resource.Value  // with which they do
}

// Error gives the chain by its keys.
func (e *CycleError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the %s of %s leads back to itself: ", e.Field, quote(e.Objects[0].Key))
	const longest = 10
	for i, o := range e.Objects {
		if i == longest && len(e.Objects) > longest+1 {
			fmt.Fprintf(&b, "... (%d more) -> ", len(e.Objects)-i)
			break
		}
		b.WriteString(o.Key + " -> ")
	}
	b.WriteString(e.Objects[0].Key)
	return b.String()
}

// finding puts the error at the first of the chain, with the places of the others.
func (e *CycleError) finding(path string) finding {
	d := diag.Diagnostic{
		Code: "reference-cycle", Position: e.Values[0].Position, Path: path + "." + e.Field, Address: string(e.Objects[0].Address),
		Summary: e.Error(), Hint: "remove one " + e.Field + " of the chain",
	}
	const most = 10
	for i := 1; i < len(e.Objects) && i <= most; i++ {
		d.Related = append(d.Related, diag.Related{Position: e.Values[i].Position, Note: quote(e.Objects[i].Key) + " has its " + e.Field + " at"})
	}
	return finding{Diagnostic: d}
}

// cycles reports things that are above themselves by a field that names one of their own kind.
func (r *reader) cycles() {
	type step struct {
		item int32
		walk int32 // in which it was first seen
	}
	seen := map[*resource.Object]*step{}
	for _, k := range r.kinds.byName {
		for _, f := range k.selfRefs {
			clear(seen)
			for i := range r.items {
				if it := &r.items[i]; it.kind == k && it.into < 0 && target(it.object, f) != nil {
					seen[it.object] = &step{item: int32(i), walk: -1}
				}
			}
			for i := range r.items {
				o := r.items[i].object
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
				r.found.add(r.cycle(f, o).finding(r.path(at.item)))
			}
		}
	}
}

// cycle gathers the chain that begins and ends at an object.
func (r *reader) cycle(f *resource.Field, first *resource.Object) *CycleError {
	e := &CycleError{Field: f.Name}
	for o := first; ; {
		v, _ := o.Value(f.Name)
		e.Objects, e.Values = append(e.Objects, o), append(e.Values, v)
		if o = target(o, f); o == first {
			return e
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
