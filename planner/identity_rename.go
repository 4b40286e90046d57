package planner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/planform/planform/internal/plane/resource"
)

// MovedAddress returns the new address of a record after an object moved to another address, and reports whether it changed. The addresses of the
// object itself, its memberships and its contents change.
func MovedAddress(a, from, to resource.Address) (resource.Address, bool) {
	now := moved(a, map[resource.Address]resource.Address{from: to})
	return now, now != a
}

// moved returns the address of a record after objects moved to other addresses.
func moved(a resource.Address, to map[resource.Address]resource.Address) resource.Address {
	if now, ok := to[a]; ok {
		return now
	}
	if container, _, _, ok := a.ParseMembership(); ok {
		return moved(container, to) + a[len(container):]
	}
	parent := a.Parent()
	if parent == "" {
		return a
	}
	return moved(parent, to).Child(a.Kind(), a.Key())
}

// ancestorOfKind returns the nearest object of a kind at or above the object of a record, or "".
func ancestorOfKind(a resource.Address, k *resource.Kind) resource.Address {
	if container, _, _, ok := a.ParseMembership(); ok {
		a = container
	}
	for a != "" && a.Kind() != k.Name {
		a = a.Parent()
	}
	return a
}

// byRank lists the kinds, parents first.
func byRank() []*resource.Kind {
	return slices.SortedFunc(slices.Values(resource.Kinds()),
		func(a, b *resource.Kind) int { return cmp.Compare(resource.Order(a.Name), resource.Order(b.Name)) })
}

// isRenamed reports whether an object has another key.
func isRenamed(was, now resource.Address) bool {
	return now.IsObject() && was.Key() != now.Key()
}

// AllAddresses returns the address of an object, followed by its former addresses.
func AllAddresses(o *resource.Object) (all []resource.Address) {
	parents := []resource.Address{""}
	if o.Parent != nil {
		parents = AllAddresses(o.Parent)
	}
	for _, parent := range parents {
		for _, key := range append([]string{o.Key}, o.Previously...) {
			all = append(all, addressIn(parent, o.Kind, key))
		}
	}
	return all
}

// addressIn returns the address of an object in a parent; "" = the workspace.
func addressIn(parent resource.Address, k *resource.Kind, key string) resource.Address {
	if parent == "" {
		return resource.NewAddress(k.Name, key)
	}
	return parent.Child(k.Name, key)
}

// hasDefaultKey reports whether the key of an object equals the key that planform would derive if the manifest had none.
func hasDefaultKey(o *resource.Object) bool {
	key, ok := o.Kind.DefaultKey(func(field string) string {
		if o.Kind.Identifier != nil && field == "identifier" {
			return o.Identifier
		}
		return o.Text(field)
	})
	return ok && key == o.Key
}

// relocation moves the records of the state to the current addresses of their objects.
type relocation struct {
	prior     Prior
	to        map[resource.Address]resource.Address // by address in the state: the current address of an object that moved itself
	origin    map[resource.Address]resource.Address // by current address: the address of the record in the state
	displaced map[resource.Address]bool             // new addresses of records whose former address another object takes
}

// applyRenames moves the records of the state. It recognises an object by its ID, by its origin in another workspace, or by a former key in
// the manifest.
func applyRenames(in *Input) relocation {
	r := relocation{
		prior: in.Prior, to: map[resource.Address]resource.Address{}, origin: map[resource.Address]resource.Address{},
		displaced: map[resource.Address]bool{},
	}
	byKind := map[*resource.Kind][]*resource.Object{}
	wanted := make(map[resource.Address]bool, len(in.Desired))
	for _, o := range in.Desired {
		wanted[o.Address] = true
		if o.ID != "" || o.Origin != nil || len(o.Previously) > 0 {
			byKind[o.Kind] = append(byKind[o.Kind], o)
		}
	}
	if len(byKind) == 0 || len(in.Prior) == 0 {
		return r
	}
	for _, k := range byRank() { // parents first
		if len(byKind[k]) > 0 {
			r.find(k, byKind[k], wanted)
		}
	}
	if len(r.to) == 0 {
		return r
	}
	r.prior = make(Prior, len(in.Prior))
	for was, record := range in.Prior {
		now := moved(was, r.to)
		if now != was {
			record.Address, r.origin[now] = now, was
		}
		r.prior[now] = record
	}
	return r
}

// find finds the objects of one kind that have another address than their record.
func (rl *relocation) find(k *resource.Kind, objects []*resource.Object, wanted map[resource.Address]bool) {
	known := map[resource.Address]resource.Address{} // addresses of objects with a record, or with records below them: the address in the state
	byID, byOrigin := map[string][]resource.Address{}, map[resource.Origin]resource.Address{}
	for a := range rl.prior {
		if was := ancestorOfKind(a, k); was != "" {
			known[moved(was, rl.to)] = was
		}
	}
	for _, now := range slices.Sorted(maps.Keys(known)) {
		if record, ok := rl.prior[known[now]]; ok {
			byID[record.ID] = append(byID[record.ID], now)
			for _, key := range originKeys(record.Origin) {
				byOrigin[key] = now
			}
		}
	}
	identified := func(o *resource.Object) resource.Address {
		if all := byID[o.ID]; o.ID != "" && len(all) > 0 {
			if slices.Contains(all, o.Address) {
				return o.Address
			}
			return all[0]
		}
		for _, key := range originKeys(o.Origin) {
			if from := byOrigin[key]; rl.prior[known[from]].Origin.Is(o.Origin) {
				return from
			}
		}
		return ""
	}
	to, claimed := map[resource.Address]resource.Address{}, map[resource.Address]bool{}
	claim := func(o *resource.Object, from resource.Address) bool {
		if known[from] == "" || claimed[from] || from.Parent() != o.Address.Parent() {
			return false
		}
		if claimed[from] = true; from != o.Address {
			to[from] = o.Address
		}
		return true
	}
	left := slices.DeleteFunc(objects, func(o *resource.Object) bool { return claim(o, identified(o)) })
	for _, o := range left {
		if known[o.Address] != "" && to[o.Address] == "" {
			continue // the record under its own key is its record
		}
		for _, key := range o.Previously {
			if claim(o, addressIn(o.Address.Parent(), k, key)) {
				break
			}
		}
	}
	for _, from := range slices.Sorted(maps.Keys(to)) {
		now := to[from]
		if rl.to[known[from]] = now; known[now] == "" || to[now] != "" {
			continue
		}
		free := now + "-former" // for the record of another object
		for i := 2; known[free] != "" || wanted[free] || rl.displaced[free]; i++ {
			free = now + resource.Address("-former-"+strconv.Itoa(i))
		}
		rl.to[known[now]], rl.displaced[free] = free, true
	}
}

// originKeys returns the forms of an origin by which a record is found: its ID alone, or its source and identifier.
func originKeys(o *resource.Origin) (keys []resource.Origin) {
	if o != nil && o.ID != "" {
		keys = append(keys, resource.Origin{ID: o.ID})
	}
	if o != nil && o.Identifier != "" {
		keys = append(keys, resource.Origin{Source: o.Source, Identifier: o.Identifier})
	}
	return keys
}

// distinctiveField returns the field that identifies an object without its ID and key, with the digest of its value: a name, or for kinds without
// names the text.
func distinctiveField(o *resource.Object) (field, value string) {
	for i := range o.Values {
		v := &o.Values[i]
		if v.Field.IsRef() || !slices.Contains(o.Kind.NaturalKey, v.Field.Name) && (len(o.Kind.NaturalKey) > 0 || !v.Field.Rich()) {
			continue
		}
		if want, complete := v.Desired(func(*resource.Field, *resource.Reference) (string, bool) { return "", false }); complete {
			return v.Field.Name, resource.Digest(want)
		}
	}
	return "", ""
}
