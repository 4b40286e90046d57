package pull

import (
	"maps"
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// fault is what is wrong with the manifests as they are to be, and what to do without; no why = nothing is.
type fault struct {
	why    string
	values []int
	files  []string
}

// check reads the manifests as they are to be, and plans them.
func (t *taker) check(edited map[string][]byte) (fault, error) {
	now, found := t.Load(edited)
	if f := t.invalid(found, edited); f.why != "" {
		return f, nil
	}
	if file, why := t.differs(now); why != "" {
		return blame(file, why, edited), nil
	}
	plan, found, err := t.Replan(now)
	if err != nil {
		return fault{}, err
	}
	if f := t.invalid(found, edited); f.why != "" || plan == nil {
		return f, nil
	}
	if values := t.stillDiffer(plan); len(values) > 0 {
		return fault{why: "it would not be what the service has", values: values}, nil
	}
	return fault{}, nil
}

// blame does without a file, or all if that is none that changes.
func blame(file, why string, edited map[string][]byte) fault {
	if _, changed := edited[file]; changed {
		return fault{why: why, files: []string{file}}
	}
	return fault{why: why, files: slices.Sorted(maps.Keys(edited))}
}

// invalid blames the values of the object of an error, or else the file.
func (t *taker) invalid(found diag.List, edited map[string][]byte) fault {
	at := slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
	if at < 0 {
		return fault{}
	}
	f := fault{why: "the manifest would have an error: " + found[at].Summary}
	for i, v := range t.result.Values {
		if v.Object != nil && found[at].Address != "" && string(v.Object.Address) == found[at].Address {
			f.values = append(f.values, i)
		}
	}
	if len(f.values) == 0 {
		return blame(found[at].File, f.why, edited)
	}
	return f
}

// differs finds an object that is not as it was but for what was taken.
func (t *taker) differs(now *manifest.Manifest) (file, why string) {
	if len(now.Objects) != len(t.Manifest.Objects) {
		return "", "the manifests would have other objects"
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
			return old.Position.File, string(old.Address) + " would become another object"
		}
		if f := otherField(old, now.Objects[i], is); f != nil {
			v, _ := old.Value(f.Name)
			at := old.Position
			if v != nil {
				at = v.Position
			}
			return at.File, f.Path() + " of " + string(old.Address) + " would change too"
		}
	}
	return "", ""
}

// sameObject reports whether nothing but fields differs.
func sameObject(a, b *resource.Object) bool {
	address := func(o *resource.Object) resource.Address {
		if o == nil {
			return ""
		}
		return o.Address
	}
	source := func(s *resource.Source) resource.Source {
		if s == nil {
			return resource.Source{}
		}
		return *s
	}
	protect := func(p *bool) int {
		switch {
		case p == nil:
			return 0
		case *p:
			return 1
		}
		return 2
	}
	return a.Address == b.Address && a.Key == b.Key && a.ID == b.ID && a.Identifier == b.Identifier && source(a.Source) == source(b.Source) && a.Index == b.Index &&
		slices.Equal(a.Previously, b.Previously) && protect(a.Protect) == protect(b.Protect) && a.NoCreate == b.NoCreate && address(a.Outer) == address(b.Outer) &&
		address(a.Parent) == address(b.Parent) && samePolicy(a.Policy, b.Policy)
}

func samePolicy(a, b *resource.Policy) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.IgnoreAll == b.IgnoreAll && a.OnDrift == b.OnDrift && slices.EqualFunc(a.Ignore, b.Ignore, func(f, g *resource.Field) bool { return f.Name == g.Name })
}

// otherField is a field that differs and was not taken, or nil.
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
	return (a.Text == b.Text || len(a.Refs) > 0) && a.Null == b.Null && a.Header == b.Header && a.HTMLFile == b.HTMLFile && a.Implied == b.Implied &&
		(a.Content == nil) == (b.Content == nil) && (a.Content == nil || a.Content.String() == b.Content.String()) &&
		slices.EqualFunc(a.Refs, b.Refs, sameReference) && slices.EqualFunc(a.Links, b.Links, sameReference)
}

// sameReference reports whether two references mean the same: what is renamed is named by its new name.
func sameReference(a, b resource.Reference) bool {
	if (a.Target == nil) != (b.Target == nil) || a.Attribute != b.Attribute {
		return false
	}
	if a.Target != nil {
		return a.Target.Address == b.Target.Address
	}
	return a.Text == b.Text && a.ID == b.ID
}

// stillDiffer are the values that were taken and that a plan would change.
func (t *taker) stillDiffer(plan *planner.Plan) []int {
	changes := map[resource.Address]map[string]bool{}
	note := func(a resource.Address, path string) {
		if changes[a] == nil {
			changes[a] = map[string]bool{}
		}
		changes[a][path] = true
	}
	for i := range plan.Divergences {
		note(plan.Divergences[i].Object.Address, plan.Divergences[i].Value.Field.Name)
	}
	for _, s := range plan.Steps {
		if s.Action == planner.Update || s.Action == planner.Adopt || s.Action == planner.NotPossible {
			for _, c := range s.Changes() {
				note(s.Address, c.Path)
			}
		}
	}
	for _, d := range plan.Drift {
		note(d.Object.Address, d.Change.Path)
	}
	var values []int
	for i, v := range t.result.Values {
		if v.Object != nil && changes[v.Object.Address][v.field.Name] {
			values = append(values, i)
		}
	}
	return values
}
