package planner

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// prune adds the steps that delete what is orphaned, behind all others: what
// names an object goes, or names another one, before it.
func (b *builder) prune(steps []*Step) []*Step {
	named := map[string][]*orphan{} // by the ID that the state has of a field
	byID := map[string]*orphan{}
	for _, l := range b.orphans {
		if l.decision != toDelete {
			continue
		}
		byID[l.record.ID] = l
		for _, id := range l.names(nil) {
			named[id] = append(named[id], l)
		}
	}
	before := map[*orphan][]int{}
	for i := range b.states {
		f := &b.states[i]
		if b.planned[i] == nil || f.prior == nil && f.row == nil || len(byID) == 0 {
			continue
		}
		l := orphan{info: f.info}
		if f.prior != nil {
			l.record = *f.prior
		}
		for _, id := range l.names(f.row) {
			if to := byID[id]; to != nil {
				before[to] = append(before[to], b.planned[i].Index)
			}
		}
	}
	add := func(l *orphan, action Action, reason string) *Step {
		step := &Step{
			Index: len(steps), Address: l.record.Address, Action: action, Kind: l.info.kind, ID: l.record.ID, Params: l.params, Reason: reason,
		}
		l.step = step
		steps = append(steps, step)
		return step
	}
	var visit func(l *orphan)
	visit = func(l *orphan) {
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
	for _, l := range slices.Backward(b.orphans) {
		switch {
		case l.decision == toDelete && !l.visited:
			visit(l)
		case l.decision == blocked && l.record.Protect:
			b.protected(l)
		case l.decision == blocked:
			add(l, NotPossible, l.reason)
		}
	}
	for _, l := range b.orphans { // parents first
		if l.decision == deleteWithParent {
			add(l, Delete, "with "+string(l.parent.record.Address)).Needs = []int{l.parent.step.Index}
		}
	}
	return steps
}

// names are the IDs that an object's fields name, as the record of the service shows them, else as they were applied.
func (l *orphan) names(row resource.Row) []string {
	var ids []string
	for i := range l.info.refs {
		field := l.info.refs[i].field
		shown := l.record.Values[field.Name]
		if have, known := field.ObservedIn(row); row != nil && known {
			shown += "," + have
		}
		ids = append(ids, strings.Split(shown, ",")...)
	}
	return ids
}

func (b *builder) protected(l *orphan) {
	b.diags.Add(diag.Diagnostic{
		Code: "protected", Address: string(l.record.Address),
		Summary: string(l.record.Address) + " is protected, and no longer in the manifest",
		Hint:    "add it again; to delete it, apply protect: false first",
	})
}

// pruneNotices says what is orphaned and stays.
func (b *builder) pruneNotices() {
	if !b.in.Prune {
		b.warnOrphans()
		return
	}
	if n := b.unchecked + b.uncheckedUse; n > 0 {
		b.notice("not-looked-into", diag.Count(n, "object")+" to be deleted not checked for content added by others, such as comments: that takes one or more requests each",
			"--refresh-all checks "+them(n))
	}
	b.warnRekeyed()
	b.warnOtherSources()
	n := 0
	var archived []string
	for _, l := range b.orphans {
		switch {
		case l.decision == notOurs:
			n++
		case l.decision == leftArchived && (l.parent == nil || l.parent.decision != leftArchived) && !b.isHidden(l.record.Address.Parent()):
			archived = append(archived, string(l.record.Address))
		}
	}
	if len(archived) > 0 {
		b.notice("archived", firstFew(archived, ", ")+" "+are(len(archived))+" archived on the service: left alone, with everything in it",
			"restore it to have it deleted; planform state rm ADDRESS stops tracking one")
	}
	if n > 0 {
		b.notice("not-made", diag.Count(n, "object")+" no longer in the manifest "+are(n)+" not deleted: planform did not create "+them(n),
			"planform state rm ADDRESS stops tracking one")
	}
}

// warnRekeyed warns of what is deleted while an object of the same name is created beside
// it, or of another name in its place: that is what a changed key looks like.
func (b *builder) warnRekeyed() {
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
				for _, field := range o.Kind.NaturalKey {
					created[named{o.Kind, o.Address.Parent(), field, resource.Digest(o.Text(field))}] = o
				}
			}
		}
	}
	var others []Orphan
	for _, l := range b.orphans {
		if l.decision != toDelete {
			continue
		}
		told := false
		for field, name := range l.record.Values {
			if o := created[named{l.info.kind, l.record.Address.Parent(), field, name}]; o != nil && name != "" {
				b.warnOneRekeyed(o, l.record.Address, " with the same "+field)
				told = true
			}
		}
		if !told {
			others = append(others, Orphan{Address: l.record.Address, ID: l.record.ID, Identifier: l.record.Identifier})
		}
	}
	b.findProbableRenames(others)
	for _, orphan := range others {
		if at, ok := b.indexOf(orphan.RenamedTo); ok {
			b.warnOneRekeyed(b.in.Desired[at], orphan.Address, "")
		}
	}
}

func (b *builder) warnOneRekeyed(o *resource.Object, from resource.Address, how string) {
	b.diags.Add(diag.Diagnostic{
		Severity: diag.Warning, Code: "another-key", Position: o.Position, Address: string(o.Address),
		Summary: string(o.Address) + " is created, and " + string(from) + how + " is deleted",
		Hint:    "if it was renamed, add `previously: " + from.Key() + "` to the new entry",
	})
}
