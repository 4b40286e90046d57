package manifest

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/schema"
)

// ensurePolicy returns the policy of the current object, and creates it if needed.
func (d *decoder) ensurePolicy() *resource.Policy {
	o := d.all.items[d.present.item].object
	if o.Policy == nil {
		o.Policy = &resource.Policy{}
	}
	return o.Policy
}

// allFields is the word for every field in ignore_changes.
const allFields = "all"

// readIgnore reads ignore_changes.
func (d *decoder) readIgnore(k *kindInfo, name string, n *node) {
	fields, instance, ok := d.readTexts(name, n)
	if ok {
		d.instance[name] = instance
	}
	for i, field := range fields {
		p := k.props[field]
		switch {
		case field == allFields:
			d.ensurePolicy().IgnoreAll = true
		case p.what == isField:
			d.ensurePolicy().Ignore = append(d.ensurePolicy().Ignore, &k.Fields[p.field])
		default:
			d.reportAt(d.position(resolved(n).Content[i]), name, "unknown-field", diag.A(k.Noun())+" has no field "+quote(field),
				cmp.Or(d.present.synonym(field), diag.DidYouMean(field, k.fieldNames())))
		}
	}
}

// readPreviously reads the former keys of an object: a text, or a list of texts.
func (d *decoder) readPreviously(name string, n *node) []string {
	to := d.deref(name, n)
	if to == nil {
		return nil
	}
	if to.Kind != sequenceNode {
		if key := d.readString(name, n); key != "" {
			return []string{key}
		}
		return nil
	}
	keys, instance, ok := d.readTexts(name, n)
	if ok {
		d.instance[name] = instance
	}
	return keys
}

// readBool reads true or false.
func (d *decoder) readBool(name string, n *node) *bool {
	to := d.deref(name, n)
	if to == nil {
		return nil
	}
	value := jsonBoolean(to)
	d.instance[name] = value
	if set, ok := value.(bool); ok {
		return &set
	}
	return nil
}

// joinLifecycle merges protect, previously, create, ignore_changes and on_drift of a later document into an earlier one.
func (a *assembly) joinLifecycle(i int, to, from *resource.Object) {
	for _, key := range from.Previously {
		if !slices.Contains(to.Previously, key) {
			to.Previously = append(to.Previously, key)
		}
	}
	switch {
	case to.Protect == nil:
		to.Protect = from.Protect
	case from.Protect != nil && *from.Protect != *to.Protect:
		a.conflict(i, schema.Protect, strconv.FormatBool(*from.Protect), strconv.FormatBool(*to.Protect), from.Position, to.Position)
	}
	to.NoCreate = to.NoCreate || from.NoCreate
	switch {
	case to.Policy == nil:
		to.Policy = from.Policy
	case from.Policy != nil:
		if to.Policy.OnDrift != "" && from.Policy.OnDrift != "" && to.Policy.OnDrift != from.Policy.OnDrift {
			a.conflict(i, schema.OnDrift, from.Policy.OnDrift, to.Policy.OnDrift, from.Position, to.Position)
		}
		joined := resource.Policy{
			IgnoreAll: to.Policy.IgnoreAll || from.Policy.IgnoreAll,
			OnDrift:   cmp.Or(to.Policy.OnDrift, from.Policy.OnDrift),
		}
		joined.Ignore = slices.Concat(to.Policy.Ignore, from.Policy.Ignore)
		to.Policy = &joined
	}
}

// checkPreviously reports former keys that an object still has, or that two objects claim.
func (a *assembly) checkPreviously() {
	heirs := map[objectKey]int{}
	for i, it := range a.kept() {
		for _, key := range it.object.Previously {
			if first, twice := heirs[objectKey{it.kind, it.parent, key}]; twice && first != i {
				two := problem{"previously-twice", "two " + diag.Plural(it.kind.Noun()) + " had the key " + quote(key) + " before", "keep it at the object that had this key"}
				a.report(i, it.object.Position, "."+schema.Previously, two, relatedPlace("the first is at", a.items[first].object.Position))
			}
			heirs[objectKey{it.kind, it.parent, key}] = i
			first, used := a.byKey[objectKey{it.kind, it.parent, key}]
			if !used {
				continue
			}
			summary := "the manifest still has " + diag.A(it.kind.Noun()) + " with the key " + quote(key)
			if first == i {
				summary = quote(key) + " is its present key"
			}
			inUse := problem{"still-there", summary, "write only keys that no object has any more"}
			a.report(i, it.object.Position, "."+schema.Previously, inUse, relatedPlace("it is at", a.items[first].object.Position))
		}
	}
}
