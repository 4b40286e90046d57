// Package divergence finds the differences between a workspace and the manifests that people made on the service, for a pull into the
// manifests and for the proof that a workspace equals an export.
//
// It reads what a plan was made from, and makes no requests. What it does not find was not read; [planner.Plan] NotCompared tells that.
package divergence

import (
	"cmp"
	"slices"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// Set holds the differences. It is empty if the World was not loaded for a pull.
type Set struct {
	Fields       []Field
	Vanished     []*resource.Object // objects of the manifest that people deleted or archived
	Unmanaged    []Unmanaged
	ExtraMembers []ExtraMember
}

// Field is a field of an object that somebody changed on the service, or may have.
type Field struct {
	planner.Difference

	Object *resource.Object
	Value  *resource.Value // in the manifest
	// Drop, Add and All are set for a field of references: Drop has the indexes in Value.Refs that the service lacks, Add the names that
	// only the service has, and All the names of all references on the service. Named holds the manifest's objects by these names.
	Drop  []int
	Add   []string
	All   []string
	Named map[string]*resource.Object
}

// Unmanaged holds the objects of a kind in one parent that no manifest has.
type Unmanaged struct {
	Kind   *resource.Kind
	Parent resource.Address // "" = the workspace
	Names  []string         // display names of the objects
}

// ExtraMember is a membership of an object of the manifest that the manifest does not declare. An example is the module that somebody
// put a work item into, or a relation that somebody added to it.
type ExtraMember struct {
	Membership *resource.Kind
	On         *resource.Object // the object whose field would declare the membership
	Other      string           // the object that the field would name: its address, or its display name
}

// Find returns the differences between the service and the manifests.
func Find(w *planner.World) (s Set) {
	if !w.IsPull() {
		return s
	}
	for _, o := range w.Objects() {
		if w.HasVanished(o) {
			s.Vanished = append(s.Vanished, o)
		}
		for k := range o.Values {
			v := &o.Values[k]
			if o.Ignores(v.Field) || v.Implied || v.Content != nil || v.Field.ArchiveFlag {
				continue
			}
			if d, differs := w.Difference(o, v); differs {
				s.Fields = append(s.Fields, newField(w, o, v, d))
			}
		}
	}
	s.findUnmanaged(w)
	s.findExtraMembers(w)
	return s
}

func newField(w *planner.World, o *resource.Object, v *resource.Value, d planner.Difference) Field {
	f := Field{Difference: d, Object: o, Value: v}
	if !v.Field.IsRef() {
		return f
	}
	byKey := slices.ContainsFunc(v.Refs, func(r resource.Reference) bool {
		return r.Target != nil && r.Text == r.Target.Key && r.Text != r.Target.Name()
	})
	written := w.Names(o.Address, v)
	for k, id := range written {
		if !slices.Contains(d.IDs, id) {
			f.Drop = append(f.Drop, k)
		}
	}
	for _, id := range d.IDs {
		name := writtenName(w, o, v.Field, id, byKey)
		if named := w.Object(v.Field.Ref, id); named != nil {
			if f.Named == nil {
				f.Named = map[string]*resource.Object{}
			}
			f.Named[name] = named
		}
		if f.All = append(f.All, name); !slices.Contains(written, id) {
			f.Add = append(f.Add, name)
		}
	}
	slices.Sort(f.All)
	slices.Sort(f.Add)
	return f
}

// writtenName returns the text by which a manifest names an object of the service in a field of o: an unambiguous name, or a key if the field
// has keys, else the ID.
func writtenName(w *planner.World, o *resource.Object, field *resource.Field, id string, byKey bool) string {
	k := resource.MustLookup(field.Ref)
	within := o.Ancestor(k.NamedWithin())
	if d := field.Definition; d != nil && k.Parent == d.Kind.Name {
		within = d
	}
	var texts []string
	if named := w.Object(k.Name, id); named != nil {
		if named.Parent != within && field.CrossProject {
			return named.Parent.Key + "/" + named.Key
		}
		if byKey || k.Identifier != nil {
			texts = append(texts, named.Key)
		}
		for _, n := range k.NaturalKey {
			texts = append(texts, named.Text(n))
		}
		texts = append(texts, named.Key)
	} else {
		for _, row := range w.Rows(k, within, id) {
			texts = append(append(texts, w.ReadableID(k, within, row)), k.DisplayTexts(row)...)
		}
	}
	return cmp.Or(w.NamesIn(k, within).Text(id, texts...), id)
}

// findUnmanaged finds objects of the service that no manifest has, next to objects of the manifest, as far as they were listed. It leaves
// out the objects that every new project has.
func (s *Set) findUnmanaged(w *planner.World) {
	for _, l := range w.Lists() {
		u := Unmanaged{Kind: l.Kind}
		if l.Parent != nil {
			u.Parent = l.Parent.Address
		}
		for _, row := range l.Rows {
			if w.IsKnown(l.Kind, row) || row.Hidden() != "" || slices.ContainsFunc(l.Kind.DisplayTexts(row), l.Kind.HasDefault) {
				continue
			}
			texts := append(l.Kind.DisplayTexts(row), resource.PlainText(row.Text("comment_html")), row.ID()) // a comment has no name
			name := cmp.Or(texts...)
			if readable := w.ReadableID(l.Kind, l.Parent, row); readable != "" {
				name = readable + " " + name
			}
			u.Names = append(u.Names, name)
		}
		if len(u.Names) > 0 {
			s.Unmanaged = append(s.Unmanaged, u)
		}
	}
	slices.SortFunc(s.Unmanaged, func(a, b Unmanaged) int {
		return cmp.Or(cmp.Compare(a.Parent, b.Parent), cmp.Compare(a.Kind.Name, b.Kind.Name))
	})
}

// findExtraMembers finds memberships and relations that the service has and the manifest does not declare, as far as they were read. It
// leaves out the memberships of people.
func (s *Set) findExtraMembers(w *planner.World) {
	type edge struct{ kind, container, member string }
	seen := map[edge]bool{}
	for _, c := range w.Containers() {
		m := c.Membership.Membership
		if resource.MustLookup(m.Member).Section == "" {
			continue
		}
		names := w.NamesOf(m.Member, c.Members)
		for k, id := range c.Members {
			on, other := c.Container.Object, names[k]
			if m.On != m.Container {
				on, other = w.Object(m.Member, id), string(c.Container.Address)
			}
			pair := edge{c.Membership.Name, c.Container.ID, id}
			if on == nil || seen[pair] || w.Wants(c.Membership, c.Container.ID, id) {
				continue
			}
			seen[pair], seen[edge{m.Inverse, id, c.Container.ID}] = true, true // a relation shows on both sides
			s.ExtraMembers = append(s.ExtraMembers, ExtraMember{c.Membership, on, other})
		}
	}
}
