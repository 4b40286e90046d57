package resource

import "sync"

// Order returns the rank of a kind. Each kind comes after the kinds that contain it and that it refers to; independent kinds are ordered by
// name.
func Order(name string) int { return orders()[name] }

// orders holds the rank of every kind, derived from their references.
//
//nolint:gochecknoglobals // computed once from the registry, never changed after
var orders = sync.OnceValue(func() map[string]int {
	rank := make(map[string]int, len(kinds.sorted))
	visiting := map[string]bool{}
	var visit func(k *Kind)
	visit = func(k *Kind) {
		if _, done := rank[k.Name]; done || visiting[k.Name] {
			return
		}
		visiting[k.Name] = true
		for _, dep := range k.dependsOn() {
			if d, ok := kinds.byName[dep]; ok {
				visit(d)
			}
		}
		rank[k.Name] = len(rank)
	}
	for _, k := range kinds.sorted {
		visit(k)
	}
	return rank
})

// dependsOn returns the kinds that come before this one: its parent, both sides of a membership, memberships that its references require,
// and the targets of its fields outside it.
func (k *Kind) dependsOn() []string {
	var deps []string
	if k.Parent != "" {
		deps = append(deps, k.Parent)
	}
	features := []string{k.RequiresFeature}
	for i := range k.Fields {
		features = append(features, k.Fields[i].RequiresFeature)
	}
	for _, feature := range features {
		if holder, f := k.findSwitch(feature); f != nil {
			deps = append(deps, holder.Name)
		}
	}
	if k.Membership != nil {
		deps = append(deps, k.Membership.Container, k.Membership.Member)
		if a := k.Membership.Attribute; a.Words() != nil {
			deps = append(deps, a.Defined)
		}
	}
	for i := range k.Fields {
		if via, ok := kinds.byName[k.Fields[i].MustBeMemberOf]; ok && via.Membership.Container != k.Name {
			deps = append(deps, via.Name)
		}
	}
	for i := range k.Fields {
		to := k.Fields[i].Ref
		if definitions, ok := kinds.byName[k.Fields[i].DefinedBy]; ok {
			if other, ok := kinds.byName[definitions.Governance.Other]; ok {
				deps = append(deps, optionKind(other).Name)
			}
			if to = definitions.Name; optionKind(definitions) != nil {
				to = optionKind(definitions).Name
			}
		}
		if or := k.Fields[i].OrRef; or != "" {
			deps = append(deps, or)
		}
		if to != "" && to != k.Name && MustLookup(to).Parent != k.Name {
			deps = append(deps, to)
		}
	}
	return deps
}
