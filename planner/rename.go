package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// Moved is the address of an object that is, belongs to, or lives in one that has
// another address now. It reports whether it is another one.
func Moved(a, from, to resource.Address) (resource.Address, bool) {
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

// relocate is a state in which some objects of a kind, and all that belongs to
// them or lives in them, have other addresses.
func relocate(prior Prior, origin map[resource.Address]resource.Address, k *resource.Kind, to map[resource.Address]resource.Address) Prior {
	moved := make(Prior, len(prior))
	for address, r := range prior {
		at := ancestorOfKind(address, k)
		if now, ok := to[at]; ok {
			was := address
			if before, again := origin[was]; again {
				delete(origin, was)
				was = before
			}
			address, _ = Moved(address, at, now)
			origin[address], r.Address = was, address
		}
		moved[address] = r
	}
	return moved
}

// ancestorOfKind is the object of a kind that a record is of or is about, or that its object lives in, or "".
func ancestorOfKind(a resource.Address, k *resource.Kind) resource.Address {
	if container, _, _, ok := a.ParseMembership(); ok {
		a = container
	}
	for a != "" && a.Kind() != k.Name {
		a = a.Parent()
	}
	return a
}

// byRank lists the kinds so that each comes after those it lives in.
func byRank() []*resource.Kind {
	return slices.SortedFunc(slices.Values(resource.Kinds()), func(a, b *resource.Kind) int { return cmp.Compare(resource.Order(a.Name), resource.Order(b.Name)) })
}

func renamed(was, now resource.Address) bool {
	return now.IsObject() && was.Key() != now.Key()
}

// AllAddresses lists the address of an object, first, and those that it had before.
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

func addressIn(parent resource.Address, k *resource.Kind, key string) resource.Address {
	if parent == "" {
		return resource.NewAddress(k.Name, key)
	}
	return parent.Child(k.Name, key)
}

// hasDefaultKey reports whether the key of an object is the one that it has where none is written.
func hasDefaultKey(o *resource.Object) bool {
	key, ok := o.Kind.DefaultKey(func(field string) string {
		if o.Kind.Identifier != nil && field == "identifier" {
			return o.Identifier
		}
		return o.Text(field)
	})
	return ok && key == o.Key
}

// applyRenames puts what the state knows of objects under the addresses that they have
// now, where the manifest says what key they had before.
func (s *objects) applyRenames() {
	renames := map[*resource.Kind][]*resource.Object{}
	for _, o := range s.in.Desired {
		if len(o.Previously) > 0 {
			renames[o.Kind] = append(renames[o.Kind], o)
		}
	}
	if len(renames) == 0 || len(s.in.Prior) == 0 {
		return
	}
	prior, origin := s.in.Prior, map[resource.Address]resource.Address{}
	for _, k := range byRank() { // parents first
		if len(renames[k]) == 0 {
			continue
		}
		known := map[resource.Address]bool{} // of the kind, or as what something lives in
		for address := range prior {
			known[ancestorOfKind(address, k)] = true
		}
		to := map[resource.Address]resource.Address{}
		for _, o := range renames[k] {
			if known[o.Address] {
				continue
			}
			for _, key := range o.Previously {
				if from := addressIn(o.Address.Parent(), o.Kind, key); known[from] {
					to[from] = o.Address
					break
				}
			}
		}
		if len(to) > 0 {
			prior = relocate(prior, origin, k, to)
		}
	}
	s.in.Prior, s.origin = prior, origin
}
