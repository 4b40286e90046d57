package manifest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// customFields takes the values of custom fields. What they are is known when the item's type is.
func (d *decoder) customFields(o *resource.Object, f *resource.Field, n *node) {
	to := d.deref(f.Name, n)
	if to == nil {
		return
	}
	d.instance[f.Name] = textInstance(to)
	if to.Kind != mappingNode {
		return
	}
	d.inside(f.Name, to, func(name string, key, value *node) {
		if v, ok := d.customField(name, key, value); ok {
			o.Values = append(o.Values, v)
		}
	})
}

// customField takes the value of one custom field.
func (d *decoder) customField(name string, key, n *node) (v resource.Value, ok bool) {
	v = resource.Value{Field: d.unboundField(name), Position: d.position(key)}
	to := d.deref(name, n)
	switch {
	case to == nil:
		return v, false
	case to.Kind == mappingNode:
		d.report(name, to, "wrong-type", quote(name)+" is a value or a list of values, not "+describe(to),
			"a text with a colon followed by a space wants quotes")
		return v, false
	case to.Kind == scalarNode && !isNull(to):
		v.Origins = d.origins[to]
		if v.Text, _, ok = d.readText(name, to); v.Text != "" {
			v.Refs = []resource.Reference{d.reference(v.Text, d.position(to))}
		}
	default:
		_, ok = d.refSet(v.Field, &v, to)
	}
	v.Null = len(v.Refs) == 0
	return v, ok
}

func (d *decoder) unboundField(name string) *resource.Field {
	f := d.unbound[name]
	if f == nil {
		f = &resource.Field{Name: name, Type: resource.CustomFields}
		d.unbound[name] = f
	}
	return f
}

// customField is a custom field of a work item type.
type customField struct {
	*resource.Field

	pattern *regexp.Regexp              // of its texts; nil = any
	options map[string]*resource.Object // by key and name
	names   []string                    // of the options
}

// bindCustomField finds the property that defines the field of a value, and checks the value against it.
func (r *resolver) bindCustomField(i int, v *resource.Value) {
	o := r.all.items[i].object
	path := v.Field.Name
	_, name, _ := strings.Cut(path, ".")
	report := func(code, summary, hint string) {
		r.all.report(i, v.Position, "."+path, problem{code, summary, hint})
	}
	mapping, _ := o.Kind.CustomFields()
	in, of, ok := r.definedIn(o, mapping, quote(name), report)
	if !ok {
		return
	}
	all := r.customFields(definitions{mapping.DefinedBy, in})
	if in != nil && in.Kind.Governance.AtWorkspace {
		all = r.sharedFields(in)
	}
	f := all[name]
	if f == nil {
		if r.complete {
			var names []string
			for _, other := range all {
				names = append(names, other.Definition.Text("name"))
			}
			slices.Sort(names)
			report("unknown-field", of+" has no property "+quote(name), diag.Choose(name, slices.Compact(names)))
		}
		return
	}
	refs, many := v.Refs, len(v.Refs) > 0 && v.Text == ""
	v.Field, v.Refs = f.Field, nil
	if why := resource.Unsettable(f.Definition); why != "" {
		report("read-only", quote(name)+" cannot be set: "+why, "leave it out")
		return
	}
	if many && f.Type != resource.RefSet {
		report("wrong-type", quote(name)+" takes one value, not a list", "")
		return
	}
	if f.IsRef() {
		v.Text, v.Refs = "", refs
		for n := range v.Refs {
			if v.Refs[n].Text == "" {
				report("wrong-type", quote(name)+" is a list of texts", "")
			} else {
				r.bindOption(f, &v.Refs[n], report)
			}
		}
		return
	}
	if v.Null {
		return
	}
	if bad := f.problem(quote(name), v.Text); bad != nil {
		report(bad.code, bad.summary, bad.hint)
	}
}

// definedIn is the object that has the definitions of an object's custom fields, nil for the workspace, and what to call it; ok is
// false where that is not known.
func (r *resolver) definedIn(
	o *resource.Object, mapping *resource.Field, name string, report func(code, summary, hint string),
) (in *resource.Object, of string, ok bool) {
	if mapping.DefinedIn == "" {
		return nil, "the manifest", true
	}
	is, given := o.Value(mapping.DefinedIn)
	switch {
	case !given || is.Null || len(is.Refs) == 0:
		report("no-type", name+" is a field of work items with a type, and "+quote(o.Key)+" has none",
			"write type: in the item, and list that type with its properties in the project")
	case is.Refs[0].Target != nil:
		return is.Refs[0].Target, "the type " + quote(is.Refs[0].Text), true
	case r.complete:
		report("unknown-type", name+" is a field of the type "+quote(is.Refs[0].Text)+", which the manifest does not list",
			"add the type to the project's work_item_types with its properties; those that exist are adopted by name")
	}
	return nil, "", false
}

// bindOption finds the option that a value names.
func (r *resolver) bindOption(f *customField, ref *resource.Reference, report func(code, summary, hint string)) {
	if !f.IsOption() {
		return // resolved as any reference
	}
	if ref.Target = f.options[ref.Text]; ref.Target == nil && r.complete {
		report("unknown-option", "the property "+quote(f.Definition.Text("name"))+" has no option "+quote(ref.Text),
			diag.Choose(ref.Text, f.names))
	}
}

// problem says what is wrong with a text, or nil.
func (f *customField) problem(name, text string) *problem {
	switch {
	case f.Type == resource.Number && (!json.Valid([]byte(text)) || strings.Trim(text, "+-.0123456789eE") != ""):
		return &problem{"wrong-type", name + " is a number, not " + quote(text), "write digits, such as 2.5"}
	case f.Type == resource.Boolean && text != "true" && text != "false":
		return &problem{"wrong-type", name + " is true or false, not " + quote(text), ""}
	case f.Type == resource.URL:
		return urlProblem(text)
	case f.pattern != nil && !f.pattern.MatchString(text):
		return &problem{"bad-value", name + " is " + f.PatternDoc + ", not " + quote(text), ""}
	default:
		return nil
	}
}

// definitions are the objects of a kind within one object, or for nil the workspace, that define custom fields.
type definitions struct {
	kind string
	in   *resource.Object
}

// sharedFields are the fields that a type of the workspace has, by name and by key: of the properties that it names.
func (r *resolver) sharedFields(of *resource.Object) map[string]*customField {
	fields := map[string]*customField{}
	for i := range of.Values {
		for _, ref := range of.Values[i].Refs {
			if ref.Target == nil || !ref.Target.Kind.DefinesFields() {
				continue
			}
			f := r.customFields(definitions{ref.Target.Kind.Name, nil})[ref.Target.Key]
			fields[ref.Target.Key], fields[ref.Target.Text("name")] = f, f
		}
	}
	return fields
}

// customFields are the fields that objects define, by name and by key.
func (r *resolver) customFields(of definitions) map[string]*customField {
	if r.properties == nil {
		r.properties = map[definitions]map[string]*customField{}
		defined := map[*resource.Object]*customField{}
		for _, it := range r.all.kept() {
			if o := it.object; it.kind.DefinesFields() {
				f := &customField{Field: resource.CustomField(o), options: map[string]*resource.Object{}}
				if f.Pattern != "" {
					f.pattern = regexp.MustCompile(f.Pattern)
				}
				defined[o] = f
				in := definitions{it.kind.Name, o.Parent}
				if r.properties[in] == nil {
					r.properties[in] = map[string]*customField{}
				}
				r.properties[in][o.Key] = f
				r.properties[in][o.Text("name")] = f
			}
		}
		for _, it := range r.all.kept() {
			if f := defined[it.object.Parent]; f != nil {
				f.options[it.object.Key], f.options[it.object.Text("name")] = it.object, it.object
				f.names = append(f.names, it.object.Text("name"))
			}
		}
	}
	return r.properties[of]
}
