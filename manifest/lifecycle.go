package manifest

import (
	"slices"
	"strconv"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/schema"
)

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
	keys, instance := make([]string, 0, len(to.Content)), make([]any, 0, len(to.Content))
	for _, entry := range to.Content {
		key, one, ok := d.readText(name, entry)
		if !ok {
			return nil
		}
		keys, instance = append(keys, key), append(instance, one)
	}
	d.instance[name] = instance
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
}

// checkPreviously reports keys that are said to be given up and are in use.
func (a *assembly) checkPreviously() {
	for i := range a.items {
		it := &a.items[i]
		if it.mergedInto >= 0 {
			continue
		}
		for _, key := range it.object.Previously {
			first, used := a.byKey[objectKey{it.kind, it.parent, key}]
			if !used {
				continue
			}
			summary := "the manifest still has " + diag.A(it.kind.Noun()) + " with the key " + quote(key)
			if first == i {
				summary = quote(key) + " is the key that it has"
			}
			other := a.items[first].object
			a.found.add(diag.Diagnostic{
				Code: "still-there", Position: it.object.Position, Path: a.items.path(i) + "." + schema.Previously, Address: string(it.object.Address),
				Summary: summary, Hint: "write a key there that nothing has any more",
				Related: []diag.Related{{Position: other.Position, Note: "it is at"}},
			})
		}
	}
}
