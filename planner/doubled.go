package planner

import (
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// inTwoContainers warns of objects that are in two containers at once though they can be
// in one only: the service can get them there, and then refuses to move them.
func (b *builder) inTwoContainers() {
	first := map[serviceID]*memberSet{}
	for _, r := range b.memberSets {
		if !r.read || !r.kind.Membership.Exclusive {
			continue
		}
		for _, id := range slices.Compact(r.have) {
			thing := serviceID{r.kind.Membership.Member, id}
			other, twice := first[thing]
			if !twice {
				first[thing] = r
				continue
			}
			if at, ok := b.owners[thing]; ok {
				o, container := b.in.Desired[at], resource.MustLookup(r.kind.Membership.Container).Noun()
				b.diags.Add(diag.Diagnostic{
					Severity: diag.Warning, Code: "in-two", Position: o.Position, Address: string(o.Address),
					Summary: string(o.Address) + " is in two " + diag.Plural(container) + " at once: " + string(other.container.Address) + " and " + string(r.container.Address),
					Hint:    "the service refuses to move it: remove it from one of them there",
				})
			}
		}
	}
}

// warnCaseMismatch warns of an object that is created beside one which the manifest
// does not have, and whose name is the same but for capitals.
func (b *builder) warnCaseMismatch(i int) {
	o, f := b.in.Desired[i], &b.states[i]
	if len(f.info.natural) == 0 || !b.listed(f.info, f.parent) {
		return
	}
	l, _ := b.list(f.info, f.parent)
	_, fold := l.names(o.Kind)
	for _, field := range f.info.natural {
		if field.Type != resource.Text {
			continue
		}
		for _, row := range fold[strings.ToLower(strings.TrimSpace(o.Text(field.Name)))] {
			if _, ours := b.owners[serviceID{o.Kind.Name, row.ID()}]; ours {
				continue
			}
			shown, _ := row.Shown(field)
			text, _ := shown.(string)
			d := warning(o, "other-letters", string(o.Address)+" is created although the service has "+strconv.Quote(text))
			d.Hint = "to use that one, write its name exactly like this"
			b.diags.Add(d)
			return
		}
	}
}

// hasNamesake reports whether the service shows an object of the same name that
// neither planform made nor the manifest means.
func (b *builder) hasNamesake(i int) bool {
	o, f := b.in.Desired[i], &b.states[i]
	if !o.Kind.AdoptOnRequestOnly || b.in.AdoptByName || f.parent == none || b.states[f.parent].presence != exists {
		return false
	}
	l, st := b.list(f.info, f.parent)
	if st != exists || len(l.rows) == 0 {
		return false
	}
	for _, name := range o.Kind.NaturalKey {
		v, given := o.Value(name)
		if !given {
			continue
		}
		want, _ := v.Desired(nil) // a natural key names nothing else
		for _, row := range l.field(v.Field)[want] {
			_, owned := b.owners[serviceID{o.Kind.Name, row.ID()}]
			if source, _ := row["external_source"].(string); source == "" && !owned {
				return true
			}
		}
	}
	return false
}
