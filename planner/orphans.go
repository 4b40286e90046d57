package planner

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// Orphan is an object that an earlier apply created and the manifest does not have any more.
type Orphan struct {
	Address    resource.Address
	ID         string
	Identifier string
	// RenamedTo is what the manifest creates in its place, so that it is probably the same with another key; "" = nothing.
	RenamedTo resource.Address
}

// String is the address, with the readable identifier where there is one.
func (o Orphan) String() string {
	if o.Identifier == "" {
		return string(o.Address)
	}
	return string(o.Address) + " (" + o.Identifier + ")"
}

// listOrphans lists what an earlier apply created and the manifest does not have any more.
func (b *builder) listOrphans() []Orphan {
	var list []Orphan
	for address, r := range b.in.Prior {
		if _, wanted := b.indexOf(address); wanted || !b.isOrphan(address, &r) {
			continue
		}
		if _, owned := b.owners[serviceID{address.Kind(), r.ID}]; !owned {
			list = append(list, Orphan{Address: address, ID: r.ID, Identifier: r.Identifier})
		}
	}
	slices.SortFunc(list, func(a, b Orphan) int {
		return cmp.Or(cmp.Compare(resource.Order(a.Address.Kind()), resource.Order(b.Address.Kind())), strings.Compare(string(a.Address), string(b.Address)))
	})
	return list
}

// findProbableRenames finds out which of the orphans are probably objects that the manifest creates
// under another key, since that comes from a name which was changed.
func (b *builder) findProbableRenames(orphans []Orphan) {
	type scope struct {
		kind   string
		parent resource.Address
	}
	left := map[scope][]*Orphan{}
	for i := range orphans {
		at := scope{orphans[i].Address.Kind(), orphans[i].Address.Parent()}
		left[at] = append(left[at], &orphans[i])
	}
	for i, o := range b.in.Desired {
		at := scope{o.Kind.Name, o.Address.Parent()}
		if f := &b.states[i]; len(left[at]) == 0 || f.presence != absent || b.planned[i] == nil || b.planned[i].Action != Create || f.vanished || !hasDefaultKey(o) {
			continue
		}
		if from := b.probableOrphan(i, left[at]); from != nil {
			from.RenamedTo = o.Address
		}
	}
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

// probableOrphan is the orphan that an object probably was: one of a similar name, else one
// between the same neighbours, else one whose other fields are all the same.
func (b *builder) probableOrphan(i int, orphans []*Orphan) *Orphan {
	o := b.in.Desired[i]
	free := slices.DeleteFunc(slices.Clone(orphans), func(orphan *Orphan) bool { return orphan.RenamedTo != "" })
	keys := make([]string, len(free))
	for k, orphan := range free {
		keys[k] = orphan.Address.Key()
	}
	if near := diag.Near(o.Key, keys); len(near) > 0 {
		return free[slices.Index(keys, near[0])]
	}
	for _, alike := range []func(int, *Orphan) bool{b.sameNeighbours, b.sameFields} {
		if k := slices.IndexFunc(free, func(orphan *Orphan) bool { return alike(i, orphan) }); k >= 0 {
			return free[k]
		}
	}
	return nil
}

// sameNeighbours reports whether the number of an orphan is between those of the objects
// that stand before and behind a new one.
func (b *builder) sameNeighbours(i int, orphan *Orphan) bool {
	number := numberAfterHyphen(orphan.Identifier)
	if number == 0 {
		return false
	}
	beside := func(by int) int {
		for k := i + by; k >= 0 && k < len(b.in.Desired); k += by {
			if o, other := b.in.Desired[i], b.in.Desired[k]; other.Kind == o.Kind && other.Parent == o.Parent {
				return numberAfterHyphen(b.states[k].identifier)
			}
		}
		return 0
	}
	return beside(-1) == number-1 && number > 1 || beside(1) == number+1
}

func numberAfterHyphen(identifier string) int {
	_, number, _ := strings.Cut(identifier, "-")
	n, _ := strconv.Atoi(number) // 0 where there is none
	return n
}

// sameFields reports whether an orphan was applied with the values that a new object has, but for what the key comes from.
func (b *builder) sameFields(i int, orphan *Orphan) bool {
	o, resolve := b.in.Desired[i], b.resolve(i)
	applied := b.in.Prior[orphan.Address].Values
	same := 0
	for k := range o.Values {
		v := &o.Values[k]
		before, compared := applied[v.Field.Name]
		if want, complete := v.Desired(resolve); compared && !slices.Contains(o.Kind.KeyFrom, v.Field.Name) {
			if !complete || resource.Digest(want) != before {
				return false
			}
			same++
		}
	}
	return same > 0
}

// warnOrphans says what the manifest does not have any more, and which of it was probably renamed.
func (b *builder) warnOrphans() {
	all := b.listOrphans()
	b.findProbableRenames(all)
	b.plan.Orphans = all
	var names []string
	for _, orphan := range all {
		if orphan.RenamedTo == "" {
			names = append(names, orphan.String())
			continue
		}
		at, _ := b.indexOf(orphan.RenamedTo)
		b.diags.Add(diag.Diagnostic{
			Severity: diag.Warning, Code: "renamed", Position: b.in.Desired[at].Position, Address: string(orphan.RenamedTo),
			Summary: orphan.String() + " was created by an earlier apply and is no longer in the manifest, and " + string(orphan.RenamedTo) + " is created",
			Hint:    "if it was renamed, add `previously: " + orphan.Address.Key() + "` to the new entry; to delete it, use --prune",
		})
	}
	m := b.countRemovals()
	var what []string
	if len(names) > 0 {
		what = append(what, diag.Count(len(names), "object"))
	}
	if m > 0 {
		what = append(what, diag.Count(m, "membership"))
	}
	if n := len(names) + m; n > 0 {
		text := strings.Join(what, " and ") + " created by an earlier apply " + are(n) + " no longer in the manifest"
		if len(names) > 0 {
			text += ": " + firstFew(names, ", ")
		}
		b.notice("left-over", text, "to delete "+them(n)+", use --prune")
	}
}
