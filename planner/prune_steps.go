package planner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/graph"
	"github.com/planform/planform/internal/resource"
)

// pruning plans the deletions, and reports what stays.
type pruning struct {
	analysis

	refs      *references
	orphans   *orphans
	decisions *decisions
	steps     *steps
	plan      *Plan
}

// namesIn are the names of what an orphan refers to, by ID.
func (p *pruning) namesIn(l *orphan) map[string]string {
	names := map[string]string{}
	for i := range l.info.kind.Fields {
		f := &l.info.kind.Fields[i]
		if text, _ := f.TextIn(l.row); f.IsRef() && text != "" {
			for id := range strings.SplitSeq(text, ",") {
				names[id] = p.refs.nameID(f.Ref, id)
			}
		}
	}
	return names
}

// deletions are the steps that delete orphans, behind all other steps, and objects that refer
// to an orphan before it.
func (p *pruning) deletions() (steps []*Step) {
	namedBy := map[*orphan][]*orphan{}
	byID := map[string]*orphan{}
	for _, l := range p.orphans.list {
		if l.decision == toDelete {
			byID[l.record.ID] = l
		}
	}
	before := map[*orphan][]*Step{}
	for i := range p.objects.count() {
		f := &p.objects.states[i]
		if p.steps.of[i] == nil || f.prior == nil && f.row == nil || len(byID) == 0 {
			continue
		}
		l := orphan{info: f.info}
		if f.prior != nil {
			l.record = *f.prior
		}
		for _, id := range l.names(f.row) {
			if to := byID[id]; to != nil {
				before[to] = append(before[to], p.steps.of[i])
			}
		}
	}
	for _, l := range p.orphans.list {
		for _, id := range l.names(nil) {
			if to := byID[id]; to != nil && l.decision == toDelete {
				namedBy[to] = append(namedBy[to], l)
			}
		}
	}
	add := func(l *orphan, d *Deletion) *Step {
		l.step = &Step{Address: l.record.Address, Action: Delete, Kind: l.info.kind, ID: l.record.ID, Params: l.params, Deletion: d}
		l.step.Identifier, l.step.Name = p.orphans.titleOf(l)
		steps = append(steps, l.step)
		return l.step
	}
	children := slices.Clone(p.orphans.list)
	slices.Reverse(children)
	graph.DepthFirst(children, func(l *orphan) []*orphan { return namedBy[l] }, func(l *orphan) {
		switch {
		case l.decision == toDelete:
			step := add(l, &Deletion{Guards: l.guards, Loss: l.loss, Row: l.row, Record: l.record, Names: p.namesIn(l)})
			step.Operation, step.needs = l.delete, before[l]
			for _, other := range namedBy[l] {
				if other.step != nil { // else they name each other
					step.needs = append(step.needs, other.step)
				}
			}
		case l.decision == blocked && l.record.Protect:
			what, hint := string(l.record.Address)+" is protected, and no longer in the manifest", "add it again; to delete it, apply protect: false first"
			if p.in.Deletes != nil {
				what, hint = "undo would delete "+string(l.record.Address)+", which is protected", "apply protect: false first"
			}
			p.diags.at(diag.Error, diag.Position{}, l.record.Address, "protected", what, hint)
		case l.decision == blocked:
			add(l, nil).block(notOffered(l.notOffered, l.reason))
		}
	}, func([]*orphan) {})
	for _, l := range p.orphans.list { // parents first
		if l.decision == deleteWithParent {
			add(l, &Deletion{With: "with " + string(l.parent.record.Address), Row: l.row, Record: l.record, Names: p.namesIn(l)}).needs = []*Step{l.parent.step}
		}
	}
	return steps
}

// notices warns of orphans that stay.
func (p *pruning) notices() {
	p.warnUnrecorded()
	if !p.in.Prune {
		p.warnOrphans()
		return
	}
	kept, unread := 0, 0
	which, look := "no longer in the manifest", "--refresh-all makes them"
	if p.in.Deletes != nil {
		which, look = "that would go", look+"; --delete-changed does without"
	}
	for _, l := range p.orphans.list {
		switch {
		case l.decision == blocked && l.byOthers:
			kept++
		case l.unread && (l.decision == blocked || l.decision == toDelete):
			unread++
		}
	}
	if kept > 0 {
		p.diags.notice("kept-for-others", diag.Count(kept, "object")+" "+which+" "+are(kept)+
			" not deleted, since others changed "+them(kept)+", use "+them(kept)+" or have something in "+them(kept),
			"--delete-changed deletes "+them(kept)+" all the same")
	}
	if unread > 0 {
		p.diags.notice("not-looked-into", "nobody looked what others have in "+diag.Count(unread, "object")+
			" "+which+": that takes "+strconv.Itoa(p.orphans.looks)+" requests",
			look)
	}
	if p.in.Deletes == nil {
		p.warnRekeyed()
		p.warnOtherSources()
	}
	var found, archived []string
	for _, l := range p.orphans.list {
		switch {
		case l.decision == notOurs:
			found = append(found, Orphan{Address: l.record.Address, Identifier: l.record.Identifier}.String())
		case l.decision == leftArchived && (l.parent == nil || l.parent.decision != leftArchived) &&
			!p.objects.isHidden(l.record.Address.Parent()):
			archived = append(archived, string(l.record.Address))
		}
	}
	if len(archived) > 0 {
		p.diags.notice("archived", diag.First(archived, fewNames)+" "+are(len(archived))+
			" archived on the service: left alone, with everything in it",
			"restore it to have it deleted; planform state rm ADDRESS stops tracking one")
	}
	if n := len(found); n > 0 {
		p.diags.notice("not-made", diag.Count(n, "object")+" "+which+" "+are(n)+" not deleted, since planform did not create "+
			them(n)+": "+diag.First(found, fewNames),
			"planform state rm ADDRESS stops tracking one")
	}
}

// warnUnrecorded names the unrecorded objects. Without pruning it needs a state with which a run has ended: a new one knows nothing.
func (p *pruning) warnUnrecorded() {
	var names []string
	if p.in.Deletes != nil || p.in.Pull || !p.in.Prune && !p.in.Knowing {
		return
	}
	for _, r := range p.orphans.unrecorded() {
		if r.Address.Parent() == "" && p.in.Owner == "" {
			continue // another manifest of the workspace may have it
		}
		names = append(names, Orphan{Address: r.Address, Identifier: r.Identifier}.String())
		if !p.in.Prune {
			p.gaps.add(&resource.Object{Kind: resource.MustLookup(r.Address.Kind()), Address: r.Address}, "", "", unrecorded)
		}
	}
	slices.Sort(names)
	if n := len(names); n > 0 {
		hint := "an earlier deletion took no effect, or the state is lost or old, and what was protected is not known"
		if p.in.Owner != "" && !p.in.DeleteUnrecorded { // without an owner, planform deletes none of them
			hint += "; --prune --delete-unrecorded deletes " + them(n)
		}
		p.diags.notice("unrecorded", diag.Count(n, "object")+" with planform's mark "+are(n)+" neither in the manifest nor in the state: "+
			diag.First(names, fewNames), hint)
	}
}

// warnRekeyed warns of an orphan that is deleted while a similar object is created: probably
// its key was changed.
func (p *pruning) warnRekeyed() {
	type named struct {
		kind   *resource.Kind
		parent resource.Address
		field  string
		name   string
	}
	created := map[named]*resource.Object{}
	for _, steps := range p.steps.byRank {
		for _, step := range steps {
			if o := step.Object; step.Action == Create && o != nil {
				for _, field := range o.Kind.NaturalKey {
					created[named{o.Kind, o.Address.Parent(), field, resource.Digest(o.Text(field))}] = o
				}
			}
		}
	}
	var others []Orphan
	for _, l := range p.orphans.list {
		if l.decision != toDelete {
			continue
		}
		warned := false
		for field, name := range l.record.Values {
			if o := created[named{l.info.kind, l.record.Address.Parent(), field, name}]; o != nil && name != "" {
				p.warnOneRekeyed(o, l.record.Address, " with the same "+field)
				warned = true
			}
		}
		if !warned {
			others = append(others, Orphan{Address: l.record.Address, ID: l.record.ID, Identifier: l.record.Identifier})
		}
	}
	p.findProbableRenames(others)
	for _, orphan := range others {
		if at, ok := p.objects.indexOf(orphan.RenamedTo); ok {
			p.warnOneRekeyed(p.in.Desired[at], orphan.Address, "")
		}
	}
}

func (p *pruning) warnOneRekeyed(o *resource.Object, from resource.Address, how string) {
	p.diags.warn(o, "another-key", string(o.Address)+" is created, and "+string(from)+how+" is deleted",
		"if it was renamed, add `previously: "+from.Key()+"` to the new entry")
}

func (p *pruning) listOrphans() []Orphan {
	var list []Orphan
	for address, r := range p.in.Prior {
		if _, wanted := p.objects.indexOf(address); wanted || !p.in.isOrphan(address, &r) {
			continue
		}
		if _, owned := p.objects.owners[serviceID{address.Kind(), r.ID}]; !owned && !p.orphans.isOthers(address) {
			list = append(list, Orphan{Address: address, ID: r.ID, Identifier: r.Identifier})
		}
	}
	slices.SortFunc(list, func(a, b Orphan) int {
		return cmp.Or(cmp.Compare(resource.Order(a.Address.Kind()), resource.Order(b.Address.Kind())),
			strings.Compare(string(a.Address), string(b.Address)))
	})
	return list
}

// findProbableRenames notes at an orphan the new object whose key, which comes from its name, differs from the orphan's in a few letters.
func (p *pruning) findProbableRenames(orphans []Orphan) {
	type scope struct {
		kind   string
		parent resource.Address
	}
	if len(orphans) == 0 {
		return
	}
	left := map[scope][]*Orphan{}
	for i := range orphans {
		at := scope{orphans[i].Address.Kind(), orphans[i].Address.Parent()}
		left[at] = append(left[at], &orphans[i])
	}
	for i, o := range p.objects.all() {
		at := scope{o.Kind.Name, o.Address.Parent()}
		if f := &p.objects.states[i]; len(left[at]) == 0 || f.presence != absent || p.steps.of[i] == nil || p.steps.of[i].Action != Create ||
			f.vanished || !hasDefaultKey(o) {
			continue
		}
		free := slices.DeleteFunc(slices.Clone(left[at]), func(orphan *Orphan) bool { return orphan.RenamedTo != "" })
		keys := make([]string, len(free))
		for k, orphan := range free {
			keys[k] = orphan.Address.Key()
		}
		if near := diag.Near(o.Key, keys); len(near) > 0 {
			free[slices.Index(keys, near[0])].RenamedTo = o.Address
		}
	}
}

func (p *pruning) warnOrphans() {
	all := p.listOrphans()
	p.findProbableRenames(all)
	p.plan.Orphans = all
	var names []string
	for _, orphan := range all {
		if orphan.RenamedTo == "" {
			names = append(names, orphan.String())
			continue
		}
		at, _ := p.objects.indexOf(orphan.RenamedTo)
		p.diags.warn(p.in.Desired[at], "renamed", orphan.String()+" was created by an earlier apply and is no longer in the manifest, and "+
			string(orphan.RenamedTo)+" is created",
			"if it was renamed, add `previously: "+orphan.Address.Key()+"` to the new entry; to delete it, use --prune")
	}
	m := p.decisions.countOrphaned()
	var what []string
	list := ""
	if len(names) > 0 {
		what, list = append(what, diag.Count(len(names), "object")), ": "+diag.First(names, fewNames)
	}
	if m > 0 {
		what = append(what, diag.Count(m, "membership"))
	}
	if n := len(names) + m; n > 0 {
		p.diags.notice("orphaned", strings.Join(what, " and ")+" created by an earlier apply "+are(n)+" no longer in the manifest"+list,
			"to delete "+them(n)+", use --prune")
	}
}

func (p *pruning) warnOtherSources() {
	of, unknown := map[string]int{}, 0
	for _, l := range p.orphans.list {
		switch {
		case l.decision != otherSource || !l.record.CreatedByUs:
		case len(l.record.Sources) == 0:
			unknown++
		default:
			of[p.in.otherSource(&l.record)]++
		}
	}
	for _, file := range slices.Sorted(maps.Keys(of)) {
		n, name := of[file], file
		if file == standardInput {
			name = "standard input"
		}
		p.diags.notice("other-source", diag.Count(n, "object")+" from "+name+" "+are(n)+" left alone: not part of this run", "")
	}
	if unknown > 0 {
		p.diags.notice("of-unknown", diag.Count(unknown, "object")+" "+are(unknown)+
			" left alone: the state file does not say which manifest had "+them(unknown),
			"to delete: write "+them(unknown)+" once more, apply, and remove "+them(unknown)+" again; to keep: planform state rm ADDRESS")
	}
}
