package export

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/manifest"
)

// customFields is the word for the values of custom fields, which no list shows.
const customFields = "fields"

// readCustom reads the values of custom fields. API v2 takes one request for each item, API v1 one for each value.
func (ct *content) readCustom(ctx context.Context, client *apiclient.Client, o Options) error {
	var items []*object
	requests := 0
	for _, t := range ct.byID {
		if n := len(t.properties()); t.exported && n > 0 {
			items = append(items, t)
			if _, all := t.valuesOp(o.API); all {
				n = 1
			}
			requests += n
		}
	}
	if !slices.Contains(o.With, customFields) {
		ct.unreadFields = requests
		return nil
	}
	slices.SortFunc(items, func(a, b *object) int { return strings.Compare(a.row.ID(), b.row.ID()) })
	if requests > 0 {
		o.Expect(requests, customFields)
	}
	for _, t := range items {
		read := t.readValues
		if _, all := t.valuesOp(o.API); all {
			read = t.readFields
		}
		if err := read(ctx, client, o); err != nil {
			return fmt.Errorf("reading the custom fields of %s: %w", t.label(), err)
		}
	}
	return nil
}

// properties returns the exported objects that define custom fields of the object, such as the properties of its type.
func (ob *object) properties() []*object {
	mapping, ok := ob.kind.CustomFields()
	if !ok {
		return nil
	}
	in := ob.ancestor("")
	if f, ok := ob.kind.Field(mapping.DefinedIn); ok {
		id, _ := f.ObservedIn(ob.row)
		if in = ob.target(f, id); in == nil {
			return nil
		}
		if in.kind.Governance.AtWorkspace {
			return in.sharedProperties()
		}
	}
	return in.exportedChildren(resource.MustLookup(mapping.DefinedBy))
}

// sharedProperties returns the properties that a type of the workspace names.
func (ob *object) sharedProperties() (properties []*object) {
	for i := range ob.kind.Fields {
		f := &ob.kind.Fields[i]
		for _, id := range ob.members[f] {
			if p := ob.find(resource.MustLookup(f.Ref), id); p != nil && p.exported && p.kind.DefinesFields() {
				properties = append(properties, p)
			}
		}
	}
	return properties
}

// valuesOp returns the operation that reads all custom field values of an object; ok is false if each value needs its own request.
func (ob *object) valuesOp(api resource.API) (op *resource.Operation, ok bool) {
	mapping, _ := ob.kind.CustomFields()
	return resource.MustLookup(mapping.DefinedBy).Op(resource.GetFields, api)
}

// readFields reads all values of an object.
func (ob *object) readFields(ctx context.Context, client *apiclient.Client, o Options) error {
	op, _ := ob.valuesOp(o.API)
	res, err := client.Do(ctx, apiclient.Request{Operation: op, Params: ob.params(o.Workspace)})
	o.Answered()
	if err != nil {
		return err //nolint:wrapcheck // the caller says what was read
	}
	for _, p := range ob.properties() {
		record, _ := resource.CustomValue(p.row.ID(), []resource.Row{res.Row}).(map[string]any)
		if value, _ := record["value"].([]any); len(value) > 0 {
			ob.setValue(p.row.ID(), value)
		}
	}
	return nil
}

// readValues reads the values of an item one by one. A missing value is no error.
func (ob *object) readValues(ctx context.Context, client *apiclient.Client, o Options) error {
	op, _ := resource.MustLookup(resource.Property).Op(resource.GetValue, resource.V1)
	for _, p := range ob.properties() {
		req := apiclient.Request{Operation: op, Params: ob.params(o.Workspace)}
		req.Params[p.kind.Param] = p.row.ID()
		var rows []resource.Row
		var err error
		if p.text("is_multi") == "true" {
			rows, err = client.List(ctx, req)
		} else if res, failed := client.Do(ctx, req); failed != nil {
			err = failed
		} else {
			rows = []resource.Row{res.Row}
		}
		o.Answered()
		if err != nil && !errors.Is(err, apiclient.ErrNotFound) {
			return err //nolint:wrapcheck // the caller says what was read
		}
		for _, row := range rows {
			if row["value"] != nil {
				ob.setValue(p.row.ID(), row["value"])
			}
		}
	}
	return nil
}

// setValue adds one value of a property, or several.
func (ob *object) setValue(property string, value any) {
	if ob.values == nil {
		ob.values = map[string][]any{}
	}
	if several, ok := value.([]any); ok {
		ob.values[property] = append(ob.values[property], several...)
		return
	}
	ob.values[property] = append(ob.values[property], value)
}

// addCustomFields writes the values of an object's custom fields, and adds their digests for the state.
func (c *composer) addCustomFields(t *object, object manifest.Map, state map[string]string) manifest.Map {
	var fields manifest.Map
	for _, p := range t.properties() {
		if len(t.values[p.row.ID()]) == 0 {
			continue
		}
		f := p.customField()
		v := resource.Value{Field: f}
		var list []any
		for _, raw := range t.values[p.row.ID()] {
			text := fmt.Sprint(raw)
			if f.IsRef() {
				name := ""
				if o := p.byID[serviceID{resource.MustLookup(f.Ref), text}]; o != nil {
					name = o.text("name")
				} else if !f.IsOption() {
					name = c.nameOf(t, f, text)
				}
				if name == "" {
					break
				}
				v.Refs = append(v.Refs, resource.Reference{ID: text})
				list = append(list, name)
				continue
			}
			v.Text = text
			if f.Type == resource.Number || f.Type == resource.Boolean {
				v.Text = strings.ToLower(text)
				list = append(list, manifest.Literal(v.Text))
			} else {
				list = append(list, text)
			}
		}
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		if len(list) != len(t.values[p.row.ID()]) || resource.Unsettable(f.Definition) != "" {
			c.addOmission(t, "custom field "+p.name(), "manifests cannot express it")
			continue
		}
		canonical, _ := v.Desired(func(_ *resource.Field, r *resource.Reference) (string, bool) {
			if r.Target == f.Definition {
				return p.row.ID(), true
			}
			return r.ID, true
		})
		state[f.Name] = resource.Digest(canonical)
		entry := manifest.Entry{Key: p.text("name"), Value: list[0]}
		if f.Type == resource.RefSet {
			entry.Value = list
		}
		fields = append(fields, entry)
	}
	if len(fields) == 0 {
		return object
	}
	mapping, _ := t.kind.CustomFields()
	return append(object, manifest.Entry{Key: mapping.Name, Value: fields})
}

// customField returns the custom field that a property defines.
func (ob *object) customField() *resource.Field {
	definition := &resource.Object{Kind: ob.kind, Key: ob.key}
	for i := range ob.kind.Fields {
		f := &ob.kind.Fields[i]
		definition.Values = append(definition.Values, resource.Value{Field: f, Text: ob.text(f.Name)})
	}
	return resource.CustomField(definition)
}
