package planner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
)

// MovedAddress returns the new address of a record after an object moved to another address, and reports whether it changed. The addresses of the
// object itself, its memberships and its contents change.
func MovedAddress(a, from, to resource.Address) (resource.Address, bool) {
	if a == from {
		return to, true
	}
	if container, _, _, ok := a.ParseMembership(); ok && container == from {
		return to + a[len(from):], true
	}
	for k, ok := resource.Lookup(a.Kind()); ok && k.Parent != ""; k, ok = resource.Lookup(k.Parent) {
		if k.Parent != from.Kind() {
			continue
		}
		if rest, inside := strings.CutPrefix(a.Path(), from.Path()+"/"); inside {
			return resource.NewAddress(a.Kind(), to.Path(), rest), true
		}
	}
	return a, false
}

// relocate returns a state in which some objects of a kind, with their memberships and contents, have other addresses. It updates origin.
func relocate(prior Prior, origin map[resource.Address]resource.Address, k *resource.Kind, to map[resource.Address]resource.Address) Prior {
	moved, before := make(Prior, len(prior)), maps.Clone(origin) // an object may take another object's former address
	for address := range prior {
		if _, ok := to[ancestorOfKind(address, k)]; ok {
			delete(origin, address)
		}
	}
	for address, r := range prior {
		at := ancestorOfKind(address, k)
		if now, ok := to[at]; ok {
			was := cmp.Or(before[address], address)
			address, _ = MovedAddress(address, at, now)
			origin[address], r.Address = was, address
		}
		moved[address] = r
	}
	return moved
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

// relocation is the state after its records were moved to the current addresses of their objects.
type relocation struct {
	prior     Prior
	origin    map[resource.Address]resource.Address // by current address: the address of the record in the state
	displaced map[resource.Address]bool             // new addresses of records whose former address another object takes
}

// applyRenames moves the records of the state to the current addresses of their objects. It recognises an object by its ID, by its origin
// in another workspace, or by a former key in the manifest.
func applyRenames(in *Input) relocation {
	byKind := map[*resource.Kind][]*resource.Object{}
	for _, o := range in.Desired {
		if o.ID != "" || o.Origin != nil || len(o.Previously) > 0 {
			byKind[o.Kind] = append(byKind[o.Kind], o)
		}
	}
	r := relocation{prior: in.Prior}
	if len(byKind) == 0 || len(in.Prior) == 0 {
		return r
	}
	wanted := make(map[resource.Address]bool, len(in.Desired))
	for _, o := range in.Desired {
		wanted[o.Address] = true
	}
	r.origin, r.displaced = map[resource.Address]resource.Address{}, map[resource.Address]bool{}
	for _, k := range byRank() { // parents first
		if len(byKind[k]) == 0 {
			continue
		}
		n := newRenames(k, r.prior, wanted)
		n.find(byKind[k])
		if len(n.to) > 0 {
			r.prior = relocate(r.prior, r.origin, k, n.to)
		}
		for _, a := range n.displaced {
			r.displaced[a] = true
		}
	}
	return r
}

// renames finds the records of one kind whose objects have other addresses now.
type renames struct {
	prior     Prior
	wanted    map[resource.Address]bool
	known     map[resource.Address]bool // addresses of the kind with a record, or with records below them
	records   []resource.Address        // addresses of the kind's records, sorted
	byID      map[string][]resource.Address
	byOrigin  map[resource.Origin]resource.Address // by the forms of originKeys
	claimed   map[resource.Address]bool            // records that an object has claimed
	to        map[resource.Address]resource.Address
	displaced []resource.Address // new addresses of records whose former address another object takes
}

func newRenames(k *resource.Kind, prior Prior, wanted map[resource.Address]bool) *renames {
	n := &renames{
		prior: prior, wanted: wanted, known: map[resource.Address]bool{}, byID: map[string][]resource.Address{},
		byOrigin: map[resource.Origin]resource.Address{},
		claimed:  map[resource.Address]bool{}, to: map[resource.Address]resource.Address{},
	}
	for address := range prior {
		n.known[ancestorOfKind(address, k)] = true
		if address.Kind() == k.Name && address.IsObject() {
			n.records = append(n.records, address)
		}
	}
	slices.Sort(n.records)
	for _, address := range n.records {
		r := prior[address]
		n.byID[r.ID] = append(n.byID[r.ID], address)
		for _, o := range originKeys(r.Origin) {
			n.byOrigin[o] = address
		}
	}
	return n
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

// find maps records to objects: by ID, by origin, and by former key.
func (rn *renames) find(objects []*resource.Object) {
	left := slices.DeleteFunc(slices.Clone(objects), func(o *resource.Object) bool {
		from := rn.identified(o)
		return from != "" && rn.claim(o, from)
	})
	for _, o := range left {
		if rn.known[o.Address] && rn.to[o.Address] == "" {
			continue // the record under its own key is its record
		}
		for _, key := range o.Previously {
			if from := addressIn(o.Address.Parent(), o.Kind, key); rn.known[from] && rn.claim(o, from) {
				break
			}
		}
	}
	for _, from := range slices.Sorted(maps.Keys(rn.to)) {
		if now := rn.to[from]; rn.known[now] && rn.to[now] == "" {
			rn.to[now] = rn.freeAddress(now)
			rn.displaced = append(rn.displaced, rn.to[now])
		}
	}
}

// claim assigns the record at an address to an object, unless another object has claimed it.
func (rn *renames) claim(o *resource.Object, from resource.Address) bool {
	if rn.claimed[from] || from.Parent() != o.Address.Parent() {
		return false
	}
	rn.claimed[from] = true
	if from != o.Address {
		rn.to[from] = o.Address
	}
	return true
}

// identified returns the address of the record with the ID or the origin of an object, or "".
func (rn *renames) identified(o *resource.Object) resource.Address {
	if all := rn.byID[o.ID]; o.ID != "" && len(all) > 0 {
		if slices.Contains(all, o.Address) {
			return o.Address
		}
		return all[0]
	}
	for _, key := range originKeys(o.Origin) {
		if from, ok := rn.byOrigin[key]; ok && rn.prior[from].Origin.Is(o.Origin) {
			return from
		}
	}
	return ""
}

// distinctiveField returns the field that identifies an object without its ID and key, with the digest of its value: a name, or for kinds without
// names the text.
func distinctiveField(o *resource.Object) (field, value string) {
	for i := range o.Values {
		v := &o.Values[i]
		if v.Field.IsRef() || !slices.Contains(o.Kind.NaturalKey, v.Field.Name) && (len(o.Kind.NaturalKey) > 0 || !v.Field.Rich()) {
			continue
		}
		if want, complete := v.Desired(unresolved); complete {
			return v.Field.Name, resource.Digest(want)
		}
	}
	return "", ""
}

func unresolved(*resource.Field, *resource.Reference) (string, bool) { return "", false }

// freeAddress returns an unused address for a record whose address another object takes.
func (rn *renames) freeAddress(a resource.Address) resource.Address {
	key := a.Key() + "-former"
	for i := 2; ; i++ {
		if free := addressIn(a.Parent(), resource.MustLookup(a.Kind()), key); !rn.known[free] && !rn.wanted[free] &&
			!slices.Contains(rn.displaced, free) {
			return free
		}
		key = a.Key() + "-former-" + strconv.Itoa(i)
	}
}
