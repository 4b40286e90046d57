package manifest

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/schema"
)

// policy is that of the object, which gets one.
func (d *decoder) policy() *resource.Policy {
	o := d.all.items[d.present.item].object
	if o.Policy == nil {
		o.Policy = &resource.Policy{}
	}
	return o.Policy
}

// allFields stands for every field.
const allFields = "all"

// readIgnore takes the fields that are people's.
func (d *decoder) readIgnore(k *kindInfo, name string, n *node) {
	fields, instance, ok := d.readTexts(name, n)
	if ok {
		d.instance[name] = instance
	}
	for i, field := range fields {
		p := k.props[field]
		switch {
		case field == allFields:
			d.policy().IgnoreAll = true
		case p.what == isField:
			d.policy().Ignore = append(d.policy().Ignore, &k.Fields[p.field])
		default:
			d.reportAt(d.position(resolved(n).Content[i]), name, "unknown-field", diag.A(k.Noun())+" has no field "+quote(field),
				cmp.Or(d.present.synonym(field), diag.DidYouMean(field, k.fieldNames())))
		}
	}
}

// readPreviously takes the keys that an object had before: a text, or a list of texts.
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

// readBool takes true or false.
func (d *decoder) readBool(name string, n *node) *bool {
	to := d.deref(name, n)
	if to == nil {
		return nil
	}
	value := boolean(to)
	d.instance[name] = value
	if set, ok := value.(bool); ok {
		return &set
	}
	return nil
}

// joinLifecycle puts what a later document says of an object's coming and going to what an earlier one says.
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

// checkPreviously reports keys that are said to be given up and are in use.
func (a *assembly) checkPreviously() {
	heirs := map[objectKey]int{}
	for i, it := range a.kept() {
		for _, key := range it.object.Previously {
			if first, twice := heirs[objectKey{it.kind, it.parent, key}]; twice && first != i {
				two := problem{"previously-twice", "two " + diag.Plural(it.kind.Noun()) + " had the key " + quote(key) + " before", "keep it where the object went"}
				a.report(i, it.object.Position, "."+schema.Previously, two, other("the first is at", a.items[first].object.Position))
			}
			heirs[objectKey{it.kind, it.parent, key}] = i
			first, used := a.byKey[objectKey{it.kind, it.parent, key}]
			if !used {
				continue
			}
			summary := "the manifest still has " + diag.A(it.kind.Noun()) + " with the key " + quote(key)
			if first == i {
				summary = quote(key) + " is the key that it has"
			}
			inUse := problem{"still-there", summary, "write a key there that nothing has any more"}
			a.report(i, it.object.Position, "."+schema.Previously, inUse, other("it is at", a.items[first].object.Position))
		}
	}
}
