package planner

import (
	"slices"

	"github.com/planform/planform/internal/resource"
)

// A row of API v2 cannot name an object of its own request. An object that waits for the next
// one is overtaken by later ones, and the service numbers them as they come. In exact order,
// an object that may share a request with its parent is created without, and a step of its own
// names the parent when both are there.

// nameParentsLater takes parents that may share a request with their children out of the
// creates of these. It returns the steps with those that name them.
func (b *changes) nameParentsLater(ordered []*Step) []*Step {
	type place struct {
		bulk *resource.Operation
		in   resource.Address
	}
	type turn struct {
		at     place
		number int
	}
	turns, last := map[*Step]turn{}, map[place]int{}
	var later []*Step
	for _, s := range ordered {
		if s.Action != Create || s.Kind.ParentField == "" {
			continue
		}
		bulk := bulkOperation(s)
		if bulk == nil {
			continue
		}
		at := place{bulk, s.Address.Parent()}
		last[at]++
		turns[s] = turn{at, last[at]}
		k := slices.IndexFunc(s.Values, func(v *resource.Value) bool {
			return v.Field.Name == s.Kind.ParentField && len(v.Refs) == 1 && v.Refs[0].Target != nil
		})
		if k < 0 {
			continue
		}
		v := s.Values[k]
		parent := b.steps.of[b.objects.index[v.Refs[0].Target]]
		before, shares := turns[parent]
		if !shares || before.at != at || last[at]-before.number >= bulk.Rows || isArchived(s.Object) || isArchived(parent.Object) {
			continue // what is archived is left alone after that
		}
		s.Values = slices.Delete(slices.Clone(s.Values), k, k+1)
		s.needs = slices.DeleteFunc(s.needs, func(n *Step) bool { return n == parent })
		if update := b.nameParent(s, v, parent); update != nil {
			later = append(later, update)
		}
	}
	at := slices.IndexFunc(ordered, func(s *Step) bool { return s.Action == Delete })
	if at < 0 {
		at = len(ordered)
	}
	return slices.Insert(ordered, at, later...)
}

func isArchived(o *resource.Object) bool {
	_, want, _ := wantsArchived(o)
	return want
}

// nameParent plans the change that gives a new object its parent; nil = it is part of one that is planned already.
func (b *changes) nameParent(create *Step, v *resource.Value, parent *Step) *Step {
	changes := changesTo([]*resource.Value{v})
	for _, l := range b.addedLinks {
		if l.create == create {
			l.step.Values, l.step.changes, l.step.needs = append(l.step.Values, v), append(l.step.changes, changes...), append(l.step.needs, parent)
			return nil
		}
	}
	update := &Step{Address: create.Address, Action: Update, Kind: create.Kind, Object: create.Object, Position: create.Position, Zone: create.Zone}
	update.Operation, update.stage = b.objects.states[b.objects.index[create.Object]].info.update, 1
	update.Values, update.changes, update.needs = []*resource.Value{v}, changes, []*Step{create, parent}
	return update
}
