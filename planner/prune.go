package planner

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// prune adds the steps that delete what is left over, behind all others: what
// names a thing goes, or names another one, before it.
func (b *builder) prune(steps []*Step) []*Step {
	named := map[string][]*leftover{} // by the ID that the state has of a field
	byID := map[string]*leftover{}
	for _, l := range b.leftovers {
		if l.fate != goes {
			continue
		}
		byID[l.record.ID] = l
		for _, id := range l.names(nil) {
			named[id] = append(named[id], l)
		}
	}
	before := map[*leftover][]int{}
	for i := range b.facts {
		f := &b.facts[i]
		if f.step == nil || f.prior == nil && f.row == nil || len(byID) == 0 {
			continue
		}
		l := leftover{traits: f.traits}
		if f.prior != nil {
			l.record = *f.prior
		}
		for _, id := range l.names(f.row) {
			if to := byID[id]; to != nil {
				before[to] = append(before[to], f.step.Index)
			}
		}
	}
	add := func(l *leftover, action Action, reason string) *Step {
		step := &b.made.take(1)[0]
		*step = Step{
			Index: len(steps), Address: l.record.Address, Action: action, Kind: l.traits.kind, ID: l.record.ID, Params: l.params, Reason: reason,
		}
		l.step = step
		steps = append(steps, step)
		return step
	}
	var visit func(l *leftover)
	visit = func(l *leftover) {
		l.visited = true
		needs := before[l]
		for _, other := range named[l.record.ID] {
			if !other.visited {
				visit(other)
			}
			if other.step != nil && other != l { // else they name each other
				needs = append(needs, other.step.Index)
			}
		}
		step := add(l, Delete, "")
		step.Operation, step.Needs, step.Guards = l.delete, sorted(needs), l.guards
	}
	for _, l := range slices.Backward(b.leftovers) {
		switch {
		case l.fate == goes && !l.visited:
			visit(l)
		case l.fate == refused && l.record.Protect:
			b.protected(l)
		case l.fate == refused:
			add(l, NotPossible, l.reason)
		}
	}
	for _, l := range b.leftovers { // parents first
		if l.fate == goesAlong {
			add(l, Delete, "with "+string(l.parent.record.Address)).Needs = []int{l.parent.step.Index}
		}
	}
	return steps
}

// names are the IDs that a thing's fields name, as the record of the service shows them, else as they were applied.
func (l *leftover) names(row resource.Row) []string {
	var ids []string
	for i := range l.traits.refs {
		field := l.traits.refs[i].field
		shown := l.record.Values[field.Name]
		if have, known := field.Observed(row); row != nil && known {
			shown += "," + have
		}
		ids = append(ids, strings.Split(shown, ",")...)
	}
	return ids
}

func (b *builder) protected(l *leftover) {
	b.diags.Add(diag.Diagnostic{
		Code: "protected", Address: string(l.record.Address),
		Summary: string(l.record.Address) + " is protected, and the manifest does not have it any more",
		Hint:    "write it again; to let it go, set protect: false first and apply that",
	})
}

// pruneNotices says what is left over and stays.
func (b *builder) pruneNotices() {
	if !b.in.Prune {
		b.tellOrphans()
		return
	}
	if n := b.blind + b.blindUse; n > 0 {
		b.notice("not-looked-into", "what others put into "+diag.Count(n, "thing")+" that would be deleted, such as comments, was not looked at: it would take a request or more each",
			"--refresh-all looks")
	}
	b.rekeyed()
	b.othersNotices()
	n := 0
	for _, l := range b.leftovers {
		if l.fate == stays {
			n++
		}
	}
	if n > 0 {
		b.notice("not-made", diag.Count(n, "thing")+" that planform did not make "+are(n)+" not in the manifest any more, and not deleted",
			"planform state rm forgets a thing")
	}
}

// rekeyed warns of what is deleted while a thing of the same name is created beside
// it, or of another name in its place: that is what a changed key looks like.
func (b *builder) rekeyed() {
	type named struct {
		kind   *resource.Kind
		parent resource.Address
		field  string
		name   string
	}
	created := map[named]*resource.Object{}
	for _, steps := range b.steps {
		for _, step := range steps {
			if o := step.Object; step.Action == Create && o != nil {
				for _, field := range o.Kind.Natural {
					created[named{o.Kind, o.Address.Parent(), field, resource.Digest(o.Text(field))}] = o
				}
			}
		}
	}
	var others []Orphan
	for _, l := range b.leftovers {
		if l.fate != goes {
			continue
		}
		told := false
		for field, name := range l.record.Values {
			if o := created[named{l.traits.kind, l.record.Address.Parent(), field, name}]; o != nil && name != "" {
				b.tellRekeyed(o, l.record.Address, " with the same "+field)
				told = true
			}
		}
		if !told {
			others = append(others, Orphan{Address: l.record.Address, ID: l.record.ID, Identifier: l.record.Identifier})
		}
	}
	b.findRenames(others)
	for _, orphan := range others {
		if at, ok := b.placeOf(orphan.RenamedTo); ok {
			b.tellRekeyed(b.in.Desired[at], orphan.Address, "")
		}
	}
}

func (b *builder) tellRekeyed(o *resource.Object, from resource.Address, how string) {
	b.diags.Add(diag.Diagnostic{
		Severity: diag.Warning, Code: "another-key", Position: o.Position, Address: string(o.Address),
		Summary: string(o.Address) + " is created, and " + string(from) + how + " is deleted",
		Hint:    "if they are one, write previously: " + from.Key(),
	})
}
