package pull

import (
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// check reads the manifests as they are to be. bad are the files with which something is wrong.
func (t *taker) check(edited map[string][]byte) (bad []string, why string, err error) {
	files := make([]string, 0, len(edited))
	for file := range edited {
		files = append(files, file)
	}
	slices.Sort(files)
	blame := func(file, why string) ([]string, string, error) {
		if _, changed := edited[file]; changed {
			return []string{file}, why, nil
		}
		return files, why, nil
	}
	failed := func(found diag.List) (file, why string, any bool) {
		for _, d := range found {
			if d.Severity == diag.Error {
				return d.File, "the manifest would have an error: " + d.Summary, true
			}
		}
		return "", "", false
	}
	now, found := t.Load(edited)
	if file, why, any := failed(found); any {
		return blame(file, why)
	}
	if file, why := t.differs(now); why != "" {
		return blame(file, why)
	}
	plan, found, err := t.Replan(now)
	if err != nil {
		return nil, "", err
	}
	if file, why, any := failed(found); any || plan == nil {
		return blame(file, why)
	}
	if v := t.stillDiffers(plan); v != nil {
		return blame(v.file, v.Path+" of "+string(v.Object.Address)+" would not be what the service has")
	}
	return nil, "", nil
}

// taken finds the value that was taken of a field.
func (t *taker) taken(a resource.Address, f *resource.Field) *Value {
	for i := range t.result.Values {
		if v := &t.result.Values[i]; v.Object != nil && v.Object.Address == a && (v.field == f || v.Path == f.Path()) {
			return v
		}
	}
	return nil
}

// differs finds an object that is not as it was but for what was taken.
func (t *taker) differs(now *manifest.Manifest) (file, why string) {
	if len(now.Objects) != len(t.Manifest.Objects) {
		return "", "the manifests would have other objects"
	}
	taken := map[resource.Address]bool{}
	for i := range t.result.Values {
		if o := t.result.Values[i].Object; o != nil {
			taken[o.Address] = true
		}
	}
	for i, old := range t.Manifest.Objects {
		is := func(f *resource.Field) bool { return taken[old.Address] && t.taken(old.Address, f) != nil }
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

// stillDiffers finds a value that was taken and that a plan would change, or nil.
func (t *taker) stillDiffers(plan *planner.Plan) *Value {
	for i := range plan.Divergences {
		d := &plan.Divergences[i]
		if v := t.taken(d.Object.Address, d.Value.Field); v != nil {
			return v
		}
	}
	changes := map[resource.Address]map[string]bool{}
	note := func(a resource.Address, path string) {
		if changes[a] == nil {
			changes[a] = map[string]bool{}
		}
		changes[a][path] = true
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
	for i := range t.result.Values {
		if v := &t.result.Values[i]; v.Object != nil && changes[v.Object.Address][v.field.Name] {
			return v
		}
	}
	return nil
}
