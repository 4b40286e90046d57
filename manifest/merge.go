package manifest

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/schema"
)

// objectKey identifies an object of the manifest: its kind, its parent and its key.
type objectKey struct {
	kind   *kindInfo
	parent int
	key    string
}

// identityKey identifies an object by its ID or readable identifier, together with the source in which that is valid.
type identityKey struct {
	kind   *kindInfo
	source *resource.Source
	text   string
}

// assembly holds the objects while the documents are merged and checked.
type assembly struct {
	items items
	found *findings
	byKey map[objectKey]int   // items by kind, parent and key
	byID  map[identityKey]int // items by ID and by readable identifier
}

// kept yields the items that were not merged into others, with their indices. During the iteration, findings name the for_each element of
// the item.
func (a *assembly) kept() iter.Seq2[int, *item] {
	return func(yield func(int, *item) bool) {
		defer func(before *element) { a.found.element = before }(a.found.element)
		for i := range a.items {
			it := &a.items[i]
			if a.found.element = it.made; it.mergedInto < 0 && !yield(i, it) {
				return
			}
		}
	}
}

// report reports an error at an object, or at the part of it that path names.
func (a *assembly) report(i int, at diag.Position, path string, p problem, others ...diag.Related) {
	a.addFinding(diag.Error, i, at, path, p, others...)
}

func (a *assembly) warn(i int, at diag.Position, path string, p problem, others ...diag.Related) {
	a.addFinding(diag.Warning, i, at, path, p, others...)
}

func (a *assembly) addFinding(severity diag.Severity, i int, at diag.Position, path string, p problem, others ...diag.Related) {
	a.found.add(diag.Diagnostic{
		Severity: severity, Code: p.code, Position: at, Path: a.items.path(i) + path, Address: a.address(i),
		Summary: p.summary, Hint: p.hint, Related: others,
	})
}

// merge gives every object its key and address, and merges the objects that several documents describe.
func merge(items items, found *findings) *assembly {
	a := &assembly{items: items, found: found, byKey: make(map[objectKey]int, len(items)), byID: map[identityKey]int{}}
	names := map[objectKey]int{}
	var merged []int
	for i := range a.items {
		it := &a.items[i]
		a.found.element = it.made
		if it.parent >= 0 && a.items[it.parent].mergedInto >= 0 {
			it.parent = a.items[it.parent].mergedInto
			it.object.Parent = a.items[it.parent].object
		}
		at := i
		derived := a.deriveKey(at)
		a.setAddress(it)
		key := objectKey{it.kind, it.parent, it.object.Key}
		if first, twice := a.byKey[key]; twice {
			if it.kind.creatable || a.items[first].document == it.document {
				a.reportDuplicateKey(at, first, derived)
				it.mergedInto = -1
			} else {
				a.join(first, at)
				it.mergedInto = first
				merged = append(merged, first)
				continue
			}
		} else {
			a.byKey[key] = at
		}
		a.checkUnique(names, it, at)
		for n := range it.object.Values {
			v := &it.object.Values[n]
			if of := attributeOf(it.kind.Kind, v.Field); of != nil && of.Words() == nil {
				refs := v.Refs
				v.Refs = nil
				a.addMembers(at, v, refs)
			}
		}
		if it.outer >= 0 {
			if v, ok := it.object.Value(it.kind.ParentField); ok && len(v.Refs) == 1 {
				outer := a.items[it.outer].object
				v.Refs[0].Text, v.Text = outer.Key, outer.Key
			}
		}
	}
	a.found.element = nil
	for _, first := range merged { // a later document may have given the object an ID
		a.checkUnique(names, &a.items[first], first)
	}
	return a
}

// noKey begins the placeholder key of an object without a key.
const noKey = "?"

// address returns the address of an item, or "" if the item or one of its parents has no key.
func (a *assembly) address(i int) string {
	for at := i; at >= 0; at = a.items[at].parent {
		if strings.HasPrefix(a.items[at].object.Key, noKey) {
			return ""
		}
	}
	return string(a.items[i].object.Address)
}

func (a *assembly) setAddress(it *item) {
	if it.parent < 0 {
		it.object.Address = resource.NewAddress(it.kind.Name, it.object.Key)
		return
	}
	it.object.Address = it.object.Parent.Address.Child(it.kind.Name, it.object.Key)
}

// deriveKey gives an object without a key a key from its fields, and returns the name of the field.
func (a *assembly) deriveKey(i int) (from string) {
	it := &a.items[i]
	o := it.object
	if o.Key != "" {
		return ""
	}
	key, ok := it.kind.DefaultKey(func(field string) string {
		if field == schema.Identifier {
			return o.Identifier
		}
		return o.Text(field)
	})
	switch {
	case ok:
		o.Key = key
		for _, name := range it.kind.KeyFrom {
			if o.Text(name) != "" || name == schema.Identifier && o.Identifier != "" {
				return name
			}
		}
		return ""
	case o.ID != "":
		o.Key = o.ID
		return schema.ObjectID
	}
	o.Key = noKey + strconv.Itoa(i) // differs from every other key
	if it.ok {
		a.report(i, o.Position, "", problem{
			"missing-key", "no key can be made from the " + strings.Join(it.kind.KeyFrom, " or "),
			"write a key",
		})
	}
	return ""
}

// reportDuplicateKey reports two objects with the same key.
func (a *assembly) reportDuplicateKey(i, first int, derived string) {
	it, one := &a.items[i], &a.items[first]
	p := problem{
		"duplicate-object-key", "two " + diag.Plural(it.kind.Noun()) + " have the key " + quote(it.object.Key),
		"give one of them another key",
	}
	if !it.kind.creatable {
		p.hint = "put them together, or give one of them another key"
	}
	if f, ok := it.kind.Field(derived); ok {
		p.hint = "give one of them a key: without one, the key comes from the " + derived
		if f.Type == resource.URL {
			p.summary, p.hint = "the "+it.kind.Noun()+" "+quote(it.object.Key)+" is written twice", "remove one of them"
		}
	}
	where := relatedPlace("the first is at", one.object.Position)
	if one.made != nil && one.object.Position == it.object.Position {
		where = relatedPlace("the first is made for", one.made.value.position())
	}
	a.report(i, it.object.Position, "", p, where)
}

// checkUnique reports an object if another one has the same ID, identifier or name.
func (a *assembly) checkUnique(names map[objectKey]int, it *item, i int) {
	a.checkUniqueID(it, i, it.object.ID)
	a.checkUniqueID(it, i, it.object.Identifier)
	a.checkUniqueName(names, it, i)
}

// checkUniqueID reports the second object with an ID or identifier.
func (a *assembly) checkUniqueID(it *item, i int, id string) {
	if id == "" {
		return
	}
	key := identityKey{it.kind, it.object.Source, id}
	first, twice := a.byID[key]
	if !twice {
		a.byID[key] = i
		return
	}
	one := a.items[first].object
	if first == i || a.byKey[objectKey{it.kind, it.parent, it.object.Key}] != i {
		return // the same object, or its key was reported
	}
	hint := "write each object once"
	if !it.kind.creatable {
		hint = "to add to the first, write key: " + one.Key
	}
	twin := problem{"duplicate-id", "two " + diag.Plural(it.kind.Noun()) + " are identified as " + quote(id), hint}
	a.report(i, it.object.Position, "", twin, relatedPlace("the first is at", one.Position))
}

// checkUniqueName reports two objects with the same name if their kind is identified by name, or the service refuses the second one.
func (a *assembly) checkUniqueName(names map[objectKey]int, it *item, i int) {
	if it.kind.AdoptOnRequestOnly {
		return
	}
	known := it.object.ID != "" || it.object.Identifier != ""
	for _, f := range it.kind.natural {
		text := it.kind.naturalText(it.object, f)
		if known && !f.Unique || text == "" {
			continue
		}
		key := objectKey{it.kind, it.parent, f.Name + "\x00" + text}
		first, twice := names[key]
		if !twice {
			names[key] = i
			continue
		}
		if a.items[first].object.Key == it.object.Key {
			continue // the same object, or its key was reported
		}
		hint := "planform identifies them by it: change one, or give its id"
		switch {
		case f.Unique:
			hint = "it must be unique: change one of them"
		case it.page != nil:
			hint = "planform identifies them by the name: give one another heading, or rename its file"
		}
		namesake := problem{"duplicate-name", "two " + diag.Plural(it.kind.Noun()) + " have the " + f.Name + " " + quote(text), hint}
		a.report(i, it.object.Position, "", namesake, relatedPlace("the first is at", a.items[first].object.Position))
	}
}

// join merges a later object into an earlier one.
func (a *assembly) join(first, i int) {
	to, from := a.items[first].object, a.items[i].object
	a.joinIdentity(first, i, to, from)
	a.joinLifecycle(i, to, from)
	for _, file := range from.Files {
		if at, found := slices.BinarySearch(to.Files, file); !found {
			to.Files = slices.Insert(slices.Clone(to.Files), at, file) // the objects of a file share the list, so it is copied
		}
	}
	for n := range from.Values {
		v := &from.Values[n]
		existing, ok := to.Value(v.Field.Name)
		switch {
		case !ok:
			if had := alternative(to, v.Field); had != nil {
				both := problem{"exclusive", had.Field.Name + " and " + v.Field.Name + " are alternatives", "keep one of them"}
				a.report(i, v.Position, "."+v.Field.Name, both, relatedPlace(had.Field.Name+" is at", had.Position))
				continue
			}
			to.Values = insert(to, *v)
		case v.Field.Type == resource.RefSet && v.Null == existing.Null:
			existing.Refs = slices.Clone(existing.Refs)
			a.addMembers(i, existing, v.Refs)
		case v.Text != existing.Text || v.Null != existing.Null:
			a.conflict(i, v.Field.Name, valueText(v), valueText(existing), v.Position, existing.Position)
		}
	}
	a.items[first].ok = a.items[first].ok && a.items[i].ok
}

// addMembers adds references to a list. References that differ only in case are one member. A member has at most one role. An ID and an
// e-mail address of one person count as two members.
func (a *assembly) addMembers(i int, to *resource.Value, refs []resource.Reference) {
	index := map[string]int{}
	position := func(ref *resource.Reference, next int) int {
		text := ref.Text
		if to.Field.Ref == "member" { // the service ignores the case of e-mail addresses
			text = strings.ToLower(strings.TrimSpace(text))
		}
		if _, there := index[text]; !there {
			index[text] = next
		}
		return index[text]
	}
	for m := range to.Refs {
		position(&to.Refs[m], m)
	}
	for m, ref := range refs {
		at := position(&ref, len(to.Refs))
		if at == len(to.Refs) {
			to.Refs = append(to.Refs, ref)
			continue
		}
		first := &to.Refs[at]
		if of := attributeOf(a.items[i].kind.Kind, to.Field); ref.Attribute != "" && first.Attribute != "" && ref.Attribute != first.Attribute {
			two := ref.Text + " has two " + diag.Plural(of.Name) + ": " + first.Attribute + " and " + ref.Attribute
			a.report(i, ref.Position, memberPath(to.Field, m), problem{"conflict", two, "write it once"}, relatedPlace("first given at", first.Position))
		}
		first.Attribute = cmp.Or(first.Attribute, ref.Attribute)
	}
}

// joinIdentity merges ID and identifier. If two documents give IDs of different sources, the ID without a source wins.
func (a *assembly) joinIdentity(first, i int, to, from *resource.Object) {
	if from.ID != "" {
		a.byID[identityKey{a.items[i].kind, from.Source, from.ID}] = first
	}
	switch {
	case from.ID == "":
	case to.ID == "", from.Source == nil && to.Source != nil:
		to.ID, to.Source = from.ID, from.Source
	case from.Source == to.Source:
		a.joinText(i, schema.ObjectID, &to.ID, from.ID, to.Position)
	}
	a.joinText(i, schema.Identifier, &to.Identifier, from.Identifier, to.Position)
}

func (a *assembly) joinText(i int, name string, to *string, from string, at diag.Position) {
	switch {
	case from == "" || *to == from:
	case *to == "":
		*to = from
	default:
		a.conflict(i, name, quote(from), quote(*to), a.items[i].object.Position, at)
	}
}

func (a *assembly) conflict(i int, name, here, there string, at, first diag.Position) {
	two := problem{"conflict", name + " is " + here + " here and " + there + " elsewhere", "write it once"}
	a.report(i, at, "."+name, two, relatedPlace("first given at", first))
}

func valueText(v *resource.Value) string {
	if v.Null {
		return "empty"
	}
	return quote(v.Text)
}

// alternative returns the value of another field that excludes f, such as a description in another format.
func alternative(o *resource.Object, f *resource.Field) *resource.Value {
	for i := range o.Values {
		if v := &o.Values[i]; o.Kind.Alternatives(v.Field, f) {
			return v
		}
	}
	return nil
}

// insert returns the object's values with a new one at its place in the order of the kind's fields.
func insert(o *resource.Object, v resource.Value) []resource.Value {
	values := make([]resource.Value, 0, len(o.Values)+1)
	for i := range o.Kind.Fields {
		f := &o.Kind.Fields[i]
		if f == v.Field {
			values = append(values, v)
			continue
		}
		if existing, ok := o.Value(f.Name); ok {
			values = append(values, *existing)
		}
	}
	return values
}
