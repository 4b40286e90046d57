package manifest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// decodeCustomFields decodes the values of custom fields. Their definitions are bound later, when the type of the item is known.
func (d *decoder) decodeCustomFields(o *resource.Object, f *resource.Field, n *node) {
	to := d.deref(f.Name, n)
	if to == nil {
		return
	}
	d.instance[f.Name] = textInstance(to)
	if to.Kind != mappingNode {
		return
	}
	d.eachInside(f.Name, to, func(name string, key, value *node) {
		if v, ok := d.decodeCustomField(name, key, value); ok {
			o.Values = append(o.Values, v)
		}
	})
}

// decodeCustomField decodes the value of one custom field.
func (d *decoder) decodeCustomField(name string, key, n *node) (v resource.Value, ok bool) {
	v = resource.Value{Field: d.unboundField(name), Position: d.position(key)}
	to := d.deref(name, n)
	switch {
	case to == nil:
		return v, false
	case to.Kind == mappingNode:
		d.report(name, to, "wrong-type", quote(name)+" is a value or a list of values, not "+describe(to),
			"a text with a colon followed by a space needs quotes")
		return v, false
	case to.Kind == scalarNode && !isNull(to):
		v.Origins = d.origins[to]
		if v.Text, _, ok = d.readText(name, to); v.Text != "" {
			v.Refs = []resource.Reference{d.newReference(v.Text, d.position(to))}
		}
	default:
		_, ok = d.decodeRefSet(v.Field, &v, to)
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

// customField is a custom field together with the options and the pattern that its definition declares.
type customField struct {
	*resource.Field

	pattern *regexp.Regexp              // for its texts; nil = any text
	options map[string]*resource.Object // by key and by name
	names   []string                    // of the options
}

// bindCustomField finds the property that defines a custom field, and checks the value against it.
func (rs *resolver) bindCustomField(i int, v *resource.Value) {
	o := rs.all.items[i].object
	path := v.Field.Name
	_, name, _ := strings.Cut(path, ".")
	report := func(code, summary, hint string) {
		rs.all.report(i, v.Position, "."+path, problem{code, summary, hint})
	}
	mapping, _ := o.Kind.CustomFields()
	in, of, ok := rs.fieldDefiner(o, mapping, quote(name), report)
	if !ok {
		return
	}
	all := rs.definedFields(definitions{mapping.DefinedBy, in})
	if in != nil && in.Kind.Governance.AtWorkspace {
		all = rs.sharedFields(in)
	}
	f := all[name]
	if f == nil {
		if rs.complete {
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
				rs.bindOption(f, &v.Refs[n], report)
			}
		}
		return
	}
	if v.Null {
		return
	}
	if bad := f.check(quote(name), v.Text); bad != nil {
		report(bad.code, bad.summary, bad.hint)
	}
}

// fieldDefiner returns the object whose properties define the custom fields of o, nil for the workspace, and its name for messages. ok is
// false if the object is not known.
func (rs *resolver) fieldDefiner(
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
	case rs.complete:
		report("unknown-type", name+" is a field of the type "+quote(is.Refs[0].Text)+", which the manifest does not list",
			"add the type with its properties to the project's work_item_types; planform adopts existing ones by name")
	}
	return nil, "", false
}

// bindOption sets the option that a value names.
func (rs *resolver) bindOption(f *customField, ref *resource.Reference, report func(code, summary, hint string)) {
	if !f.IsOption() {
		return // resolved like any other reference
	}
	if ref.Target = f.options[ref.Text]; ref.Target == nil && rs.complete {
		report("unknown-option", "the property "+quote(f.Definition.Text("name"))+" has no option "+quote(ref.Text),
			diag.Choose(ref.Text, f.names))
	}
}

// check returns the problem with a text, or nil.
func (cf *customField) check(name, text string) *problem {
	switch {
	case cf.Type == resource.Number && (!json.Valid([]byte(text)) || strings.Trim(text, "+-.0123456789eE") != ""):
		return &problem{"wrong-type", name + " must be a number, not " + quote(text), "write digits, such as 2.5"}
	case cf.Type == resource.Boolean && text != "true" && text != "false":
		return &problem{"wrong-type", name + " must be true or false, not " + quote(text), ""}
	case cf.Type == resource.URL:
		return urlProblem(text)
	case cf.pattern != nil && !cf.pattern.MatchString(text):
		return &problem{"bad-value", name + " must be " + cf.PatternDoc + ", not " + quote(text), ""}
	default:
		return nil
	}
}

// definitions identifies a set of custom field definitions: the kind of the definitions and their parent, nil for the workspace.
type definitions struct {
	kind string
	in   *resource.Object
}

// sharedFields returns the custom fields of a workspace-level type, by name and by key. The type lists the properties that define them.
func (rs *resolver) sharedFields(of *resource.Object) map[string]*customField {
	fields := map[string]*customField{}
	for i := range of.Values {
		for _, ref := range of.Values[i].Refs {
			if ref.Target == nil || !ref.Target.Kind.DefinesFields() {
				continue
			}
			f := rs.definedFields(definitions{ref.Target.Kind.Name, nil})[ref.Target.Key]
			fields[ref.Target.Key], fields[ref.Target.Text("name")] = f, f
		}
	}
	return fields
}

// definedFields returns the custom fields that a set of definitions declares, by name and by key.
func (rs *resolver) definedFields(of definitions) map[string]*customField {
	if rs.properties == nil {
		rs.properties = map[definitions]map[string]*customField{}
		defined := map[*resource.Object]*customField{}
		for _, it := range rs.all.kept() {
			if o := it.object; it.kind.DefinesFields() {
				f := &customField{Field: resource.CustomField(o), options: map[string]*resource.Object{}}
				if f.Pattern != "" {
					f.pattern = regexp.MustCompile(f.Pattern)
				}
				defined[o] = f
				in := definitions{it.kind.Name, o.Parent}
				if rs.properties[in] == nil {
					rs.properties[in] = map[string]*customField{}
				}
				rs.properties[in][o.Key] = f
				rs.properties[in][o.Text("name")] = f
			}
		}
		for _, it := range rs.all.kept() {
			if f := defined[it.object.Parent]; f != nil {
				f.options[it.object.Key], f.options[it.object.Text("name")] = it.object, it.object
				f.names = append(f.names, it.object.Text("name"))
			}
		}
	}
	return rs.properties[of]
}
