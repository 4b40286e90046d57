package pull

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plan/divergence"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// fault describes errors in the edited manifests: it maps the index of each bad value to a reason, or gives
// only a reason if it is not known which value is bad. An empty fault means that nothing is wrong.
type fault struct {
	values map[int]string
	why    string
}

func (f fault) isFault() bool { return len(f.values) > 0 || f.why != "" }

// check reads and plans the edited manifests, and returns their fault. first is the number of the result's values that the edits take.
func (t *taker) check(edited map[string][]byte, first int) (fault, error) {
	now, found := t.Load(edited)
	if f := t.blame(found, first); f.isFault() {
		return f, nil
	}
	if why := t.otherDifference(now); why != "" {
		return fault{why: why}, nil
	}
	plan, differences, found, err := t.Replan(now)
	if err != nil {
		return fault{}, err
	}
	if f := t.blame(found, first); f.isFault() || plan == nil {
		return f, nil
	}
	return fault{values: t.stillDiffering(plan, differences, first)}, nil
}

// blame blames the values that have an error, else all values of the objects that have one.
func (t *taker) blame(found diag.List, first int) fault {
	var errs diag.List
	for _, d := range found {
		if d.Severity == diag.Error {
			errs.Add(d)
		}
	}
	if len(errs) == 0 {
		return fault{}
	}
	const why = "the manifest would have an error: "
	own, beside := fault{values: map[int]string{}}, fault{values: map[int]string{}}
	for i, v := range t.result.Values[:first] {
		for _, d := range errs {
			if v.Object == nil || d.Address != string(v.Object.Address) {
				continue
			}
			if beside.values[i] = why + d.Summary; strings.HasSuffix(strings.TrimRight(d.Path, "[]0123456789"), "."+v.Path) {
				own.values[i] = why + d.Summary
			}
		}
	}
	switch {
	case own.isFault():
		return own
	case beside.isFault():
		return beside
	default:
		return fault{why: why + errs[0].Summary}
	}
}

// bisect finds the first value that causes a fault. It bisects, because each try reads and plans everything.
func (t *taker) bisect(why string) (fault, error) {
	good, bad := 0, len(t.result.Values)
	for bad-good > 1 {
		middle := (good + bad) / 2
		edited, refused, err := t.applyFirst(middle)
		if err != nil {
			return fault{}, err
		}
		var f fault
		if len(edited) > 0 && len(refused) == 0 {
			if f, err = t.check(edited, middle); err != nil {
				return fault{}, err
			}
		}
		if f.isFault() {
			bad = middle
			why = cmp.Or(f.why, why)
		} else {
			good = middle
		}
	}
	return fault{values: map[int]string{bad - 1: why}}, nil
}

// otherDifference returns why the edited manifests differ in more than the taken values, or "".
func (t *taker) otherDifference(now *manifest.Manifest) (why string) {
	if now.Workspace != t.Manifest.Workspace || now.Owner != t.Manifest.Owner || now.Order != t.Manifest.Order {
		return "the manifests would be for something else"
	}
	if len(now.Objects) != len(t.Manifest.Objects) {
		return "the manifests would have other objects"
	}
	taken := map[resource.Address][]*Value{}
	for i := range t.result.Values {
		if v := &t.result.Values[i]; v.Object != nil {
			taken[v.Object.Address] = append(taken[v.Object.Address], v)
		}
	}
	for i, old := range t.Manifest.Objects {
		is := func(f *resource.Field) bool {
			return slices.ContainsFunc(taken[old.Address], func(v *Value) bool { return v.Path == f.Path() })
		}
		if !sameObject(old, now.Objects[i]) {
			return string(old.Address) + " would become another object"
		}
		if f := otherField(old, now.Objects[i], is); f != nil {
			return f.Path() + " of " + string(old.Address) + " would change too"
		}
	}
	return ""
}

// sameObject reports whether two objects differ in nothing but fields.
func sameObject(a, b *resource.Object) bool {
	address := func(o *resource.Object) resource.Address {
		if o == nil {
			return ""
		}
		return o.Address
	}
	return a.Address == b.Address && a.Key == b.Key && a.ID == b.ID && a.Identifier == b.Identifier && equal(a.Source, b.Source) &&
		a.Index == b.Index &&
		slices.Equal(a.Previously, b.Previously) && equal(a.Protect, b.Protect) && a.NoCreate == b.NoCreate &&
		address(a.Outer) == address(b.Outer) &&
		address(a.Parent) == address(b.Parent) && samePolicy(a.Policy, b.Policy)
}

// equal reports whether two pointers are nil or point at equal values.
func equal[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

func samePolicy(a, b *resource.Policy) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.IgnoreAll == b.IgnoreAll && a.OnDrift == b.OnDrift &&
		slices.EqualFunc(a.Ignore, b.Ignore, func(f, g *resource.Field) bool { return f.Name == g.Name })
}

// otherField returns a field that differs and was not taken, or nil.
func otherField(a, b *resource.Object, taken func(*resource.Field) bool) *resource.Field {
	if len(a.Values) != len(b.Values) {
		return &resource.Field{Name: "something"}
	}
	for i := range a.Values {
		v := &a.Values[i]
		if w, ok := b.Value(v.Field.Name); !taken(v.Field) && (!ok || !sameValue(v, w)) {
			return v.Field
		}
	}
	return nil
}

func sameValue(a, b *resource.Value) bool {
	return (a.Text == b.Text || len(a.Refs) > 0) && a.Null == b.Null && a.Header == b.Header && a.AsHTML == b.AsHTML &&
		a.Implied == b.Implied &&
		(a.Content == nil) == (b.Content == nil) && (a.Content == nil || a.Content.String() == b.Content.String()) &&
		slices.EqualFunc(a.Refs, b.Refs, sameReference) && slices.EqualFunc(a.Links, b.Links, sameReference)
}

// sameReference reports whether two references have the same target, even if its name changed.
func sameReference(a, b resource.Reference) bool {
	if (a.Target == nil) != (b.Target == nil) || a.Attribute != b.Attribute {
		return false
	}
	if a.Target != nil {
		return a.Target.Address == b.Target.Address
	}
	return a.Text == b.Text && a.ID == b.ID
}

// stillDiffering returns the taken values that a plan would still change, with the reason.
func (t *taker) stillDiffering(plan *planner.Plan, differences divergence.Set, first int) map[int]string {
	type field struct {
		of   resource.Address
		path string
	}
	changes := map[field]bool{}
	for i := range differences.Fields {
		changes[field{differences.Fields[i].Object.Address, differences.Fields[i].Value.Field.Name}] = true
	}
	for _, s := range plan.Steps {
		if s.Action == planner.Update || s.Action == planner.Adopt || s.Action == planner.NotPossible {
			for _, c := range s.Changes() {
				changes[field{s.Address, c.Path}] = true
			}
		}
	}
	for _, d := range plan.Drift {
		changes[field{d.Object.Address, d.Change.Path}] = true
	}
	values := map[int]string{}
	for i, v := range t.result.Values[:first] {
		if v.Object != nil && changes[field{v.Object.Address, v.field.Name}] {
			values[i] = "it would not be what the service has"
		}
	}
	return values
}
