package manifest

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// Localize takes out of the objects what means something only where a document comes from, once it is
// known where the manifest goes: IDs, and readable identifiers that the service gives. isTarget tells whether
// a source is where it goes. References to such a name that no object of the manifest bears are moved to
// [resource.Object.Omitted]. The findings say once for each source what is not looked up.
func (m *Manifest) Localize(isTarget func(resource.Source) bool) diag.List {
	l := localizer{
		isTarget: isTarget, here: map[*resource.Source]bool{},
		ids: map[*resource.Source]int{}, identifiers: map[*resource.Source]int{},
	}
	for _, o := range m.Objects {
		l.object(o)
	}
	var found diag.List
	for _, s := range l.sources {
		if l.ids[s]+l.identifiers[s] == 0 {
			continue
		}
		var what []string
		if n := l.identifiers[s]; n > 0 {
			what = append(what, diag.Count(n, "identifier"))
		}
		if n := l.ids[s]; n > 0 {
			what = append(what, diag.Count(n, "ID"))
		}
		found.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "other-source",
			Summary: "the manifest comes from " + s.String() + ": its " + strings.Join(what, " and ") +
				" are names there, and are not looked up here",
		})
	}
	return found
}

// localizer counts what it takes out.
type localizer struct {
	isTarget         func(resource.Source) bool
	here             map[*resource.Source]bool
	sources          []*resource.Source // other than where the manifest goes, in the order in which they are met
	ids, identifiers map[*resource.Source]int
}

// isElsewhere reports whether a source is another one than where the manifest goes.
func (l *localizer) isElsewhere(s *resource.Source) bool {
	if s == nil {
		return false
	}
	here, known := l.here[s]
	if !known {
		here = l.isTarget(*s)
		l.here[s] = here
		if !here {
			l.sources = append(l.sources, s)
		}
	}
	return !here
}

func (l *localizer) object(o *resource.Object) {
	if !l.isElsewhere(o.Source) {
		o.Exported = o.Source != nil && o.ID+o.Identifier != ""
		o.Source = nil
	} else if o.ID+o.Identifier != "" {
		o.Origin = &resource.Origin{Source: *o.Source, ID: o.ID, Identifier: o.Identifier}
		if o.ID != "" {
			l.ids[o.Source]++
			o.ID = ""
		}
		if o.Identifier != "" && o.Kind.Numbered() {
			l.identifiers[o.Source]++
			o.Identifier = ""
		}
	}
	o.MoveHeader()
	kept := o.Values[:0]
	for _, v := range o.Values {
		refs := len(v.Refs)
		v.Refs = slices.DeleteFunc(v.Refs, func(ref resource.Reference) bool { return l.omits(o, v.Field, &ref) })
		if len(v.Refs) > 0 || refs == 0 {
			kept = append(kept, v)
		}
	}
	o.Values = kept
}

// omits takes a reference out that names nothing where the manifest goes.
func (l *localizer) omits(o *resource.Object, f *resource.Field, ref *resource.Reference) bool {
	if ref.Target != nil || !l.isElsewhere(ref.Source) {
		return false
	}
	k := resource.MustLookup(f.Ref)
	if ref.ID == "" && !(k.Numbered() && k.IsIdentifier(ref.Text)) {
		return false
	}
	o.Omitted = append(o.Omitted, resource.Omission{
		Field: f, Text: ref.Text, Position: ref.Position,
		Why: ref.Text + " is " + diag.A(k.Noun()) + " of " + ref.Source.String() + ", and not in the manifest",
	})
	return true
}
