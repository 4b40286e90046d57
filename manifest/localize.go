package manifest

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// Localize removes IDs and identifiers that belong to another workspace than the one that the manifest is applied to. isTarget reports
// whether a source is that workspace. References by such a name are moved to [resource.Object.Omitted] if no object of the manifest has the
// name. The findings contain one warning for each other source.
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

// localizer counts the names that it removes.
type localizer struct {
	isTarget         func(resource.Source) bool
	here             map[*resource.Source]bool
	sources          []*resource.Source // other workspaces, in the order of their first use
	ids, identifiers map[*resource.Source]int
}

// isElsewhere reports whether a source is another workspace than the target.
func (lo *localizer) isElsewhere(s *resource.Source) bool {
	if s == nil {
		return false
	}
	here, known := lo.here[s]
	if !known {
		here = lo.isTarget(*s)
		lo.here[s] = here
		if !here {
			lo.sources = append(lo.sources, s)
		}
	}
	return !here
}

func (lo *localizer) object(o *resource.Object) {
	if !lo.isElsewhere(o.Source) {
		o.Exported = o.Source != nil && o.ID+o.Identifier != ""
		o.Source = nil
	} else if o.ID+o.Identifier != "" {
		o.Origin = &resource.Origin{Source: *o.Source, ID: o.ID, Identifier: o.Identifier}
		if o.ID != "" {
			lo.ids[o.Source]++
			o.ID = ""
		}
		if o.Identifier != "" && o.Kind.Numbered() {
			lo.identifiers[o.Source]++
			o.Identifier = ""
		}
	}
	o.MoveHeader()
	kept := o.Values[:0]
	for _, v := range o.Values {
		refs := len(v.Refs)
		v.Refs = slices.DeleteFunc(v.Refs, func(ref resource.Reference) bool { return lo.omits(o, v.Field, &ref) })
		if len(v.Refs) > 0 || refs == 0 {
			kept = append(kept, v)
		}
	}
	o.Values = kept
}

// omits reports whether a reference has no meaning in the target workspace, and lists it as omitted.
func (lo *localizer) omits(o *resource.Object, f *resource.Field, ref *resource.Reference) bool {
	if ref.Target != nil || !lo.isElsewhere(ref.Source) {
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
