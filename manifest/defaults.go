package manifest

import (
	"slices"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/yamltext"
	"github.com/planform/planform/schema"
)

// defaults holds default properties by kind, as keys and values in turn. Objects of the document get those that they do not set.
type defaults map[*kindInfo][]*node

// readDefaults reads the defaults of a document. A wrong value is reported when an object takes it.
func (c *collector) readDefaults(n *node) defaults {
	all := defaults{}
	report := func(at *node, path, summary, hint string) {
		c.reportNode(at, path, problem{"bad-default", summary, hint})
	}
	for kindName, properties := range c.eachPair(n) {
		name, of := resolved(kindName), resolved(properties)
		if name == nil || name.Kind != scalarNode {
			report(kindName, schema.Defaults, "a key must be a text", "write a kind, such as work_item")
			continue
		}
		path := schema.Defaults + "." + truncate(name.Value)
		k := c.kinds.byName[name.Value]
		switch {
		case k == nil || k.props == nil:
			report(kindName, path, "there is no kind "+quote(name.Value), diag.OneOf(name.Value, resource.Listed()))
			continue
		case of == nil || of.Kind != mappingNode:
			report(properties, path, "the defaults of a kind are a mapping", "write them as "+name.Value+": {on_drift: keep}")
			continue
		}
		for written, value := range c.eachPair(of) {
			key := resolved(written)
			if key == nil || key.Kind != scalarNode || !k.hasDefault(key.Value) {
				text := ""
				if key != nil {
					text = key.Value
				}
				report(written, path, diag.A(k.Noun())+" cannot have a default for "+quote(text), diag.OneOf(text, slices.DeleteFunc(slices.Clone(k.names), func(name string) bool { return !k.hasDefault(name) })))
				continue
			}
			all[k] = append(all[k], written, value)
		}
	}
	return all
}

// hasDefault reports whether a property can have a default. Properties that identify an object cannot.
func (k *kindInfo) hasDefault(name string) bool {
	switch p := k.props[name]; p.what {
	case isField:
		return k.Fields[p.field].Group == "" && !slices.Contains(k.KeyFrom, name)
	case isGroup, isProtect, isCreate, isIgnore, isOnDrift:
		return true
	case isUnknown, isKey, isID, isIdentifier, isPreviously, isSection:
	}
	return false
}

// applyDefaults gives an object those defaults of its document that it does not set.
func (d *decoder) applyDefaults(it *item) {
	for key, value := range yamltext.Pairs(d.all.defaults[it.document][it.kind]) {
		name := resolved(key).Value
		if d.present.at(name) != nil || d.hasFieldSentAs(it.kind, name) || it.outer >= 0 && name == it.kind.ParentField {
			continue
		}
		if _, ok := d.present.add(key, value); ok {
			d.readProperty(it, name, value)
		}
	}
}

// hasFieldSentAs reports whether the object sets a field that is sent under the same name.
func (d *decoder) hasFieldSentAs(k *kindInfo, name string) bool {
	f, ok := k.field(name)
	return ok && f.APIName() != "" && slices.ContainsFunc(k.Fields, func(g resource.Field) bool {
		return g.APIName() == f.APIName() && d.present.at(g.Path()) != nil
	})
}
