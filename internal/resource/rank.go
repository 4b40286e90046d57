package resource

import "sync"

// Rank orders kinds so that each comes after those it lives in and refers to;
// kinds that do not depend on each other are ordered by name.
func Rank(name string) int { return ranks()[name] }

// ranks derives the order of kinds from their references, once.
//
//nolint:gochecknoglobals // computed once from the registry, never changed after
var ranks = sync.OnceValue(func() map[string]int {
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

// dependsOn lists the kinds that must exist before one of this kind: what it
// lives in, what its own fields refer to, and both sides of a membership.
func (k *Kind) dependsOn() []string {
	var deps []string
	if k.Parent != "" {
		deps = append(deps, k.Parent)
	}
	if k.Membership != nil {
		deps = append(deps, k.Membership.Container, k.Membership.Member)
	}
	for i := range k.Fields {
		f := &k.Fields[i]
		if f.Ref == "" || f.Ref == k.Name {
			continue
		}
		if _, via := Via(k.Name, f.Name); via && !f.Documented {
			continue
		}
		deps = append(deps, f.Ref)
	}
	return deps
}
