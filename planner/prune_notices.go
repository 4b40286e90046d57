package planner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// notices adds notices about orphans that stay.
func (pn *pruning) notices() {
	pn.warnUnrecorded()
	if !pn.in.Prune {
		pn.warnOrphans()
		return
	}
	kept, unread, unknown := 0, 0, 0
	var going []Orphan
	names, elsewhere := map[decision][]string{}, map[string]int{} // elsewhere: number of orphans by their manifest
	for _, l := range pn.orphans.list {
		o := Orphan{Address: l.record.Address, ID: l.record.ID, Identifier: l.record.Identifier}
		names[l.decision] = append(names[l.decision], o.String())
		file := pn.in.otherSource(&l.record)
		switch {
		case l.decision == otherSource && l.record.CreatedByUs && file != "":
			elsewhere[file]++
		case l.decision == otherSource && l.record.CreatedByUs:
			unknown++
		case l.staysForOthers():
			kept++
		case l.unread && (l.decision == blocked || l.decision == toDelete):
			unread++
		}
		if l.decision == toDelete {
			going = append(going, o)
		}
	}
	which, look := "no longer in the manifest", "--refresh-all makes them"
	if pn.in.Deletes != nil {
		which, look = "that would go", look+"; --delete-changed does without"
	}
	pn.notice("kept-for-others", kept, diag.Count(kept, "object")+" "+which+" "+are(kept)+" not deleted, since others changed "+them(kept)+", use "+
		them(kept)+" or have something in "+them(kept), "--delete-changed deletes "+them(kept))
	pn.notice("not-looked-into", unread, diag.Count(unread, "object")+" "+which+" "+are(unread)+" not checked for use and contents of others: this takes "+
		strconv.Itoa(pn.orphans.reads)+" requests", look)
	if pn.in.Deletes == nil {
		pn.warnRenamed(going)
		for _, file := range slices.Sorted(maps.Keys(elsewhere)) {
			name := file
			if file == standardInput {
				name = "standard input"
			}
			pn.notice("other-source", elsewhere[file], diag.Count(elsewhere[file], "object")+" from "+name+" "+are(elsewhere[file])+
				" left alone: not part of this run", "")
		}
		pn.notice("of-unknown", unknown, diag.Count(unknown, "object")+" "+are(unknown)+
			" left alone: the state file does not say which manifest had "+them(unknown),
			"to delete: write "+them(unknown)+" once more, apply, and remove "+them(unknown)+" again; to keep: planform state rm ADDRESS")
	}
	archived, found := names[leftArchived], names[notOurs]
	pn.notice("archived", len(archived), diag.First(archived, fewNames)+" "+are(len(archived))+
		" archived on the service: left alone, with everything in it", "restore it to have it deleted; planform state rm ADDRESS stops tracking one")
	pn.notice("not-made", len(found), diag.Count(len(found), "object")+" "+which+" "+are(len(found))+
		" not deleted, since planform did not create "+them(len(found))+": "+diag.First(found, fewNames), "planform state rm ADDRESS stops tracking one")
}

// notice adds a notice about n objects, if n is not 0.
func (pn *pruning) notice(code string, n int, summary, hint string) {
	if n > 0 {
		pn.diags.notice(code, summary, hint)
	}
}

// warnUnrecorded warns of unrecorded objects. Without pruning it does so only if the state is complete, because a new state has no records.
func (pn *pruning) warnUnrecorded() {
	if pn.in.Deletes != nil || pn.in.Pull || !pn.in.Prune && !pn.in.StateIsComplete {
		return
	}
	var names []string
	for _, r := range pn.orphans.unrecorded() {
		if r.Address.Parent() == "" && pn.in.Owner == "" {
			continue // another manifest of the workspace may have it
		}
		names = append(names, Orphan{Address: r.Address, Identifier: r.Identifier}.String())
		if !pn.in.Prune {
			pn.gaps.add(&resource.Object{Kind: resource.MustLookup(r.Address.Kind()), Address: r.Address}, "", "", gapUnrecorded)
		}
	}
	slices.Sort(names)
	n, hint := len(names), "an earlier deletion failed, or the state is lost or old; it is not known which of them were protected"
	if pn.in.Owner != "" && !pn.in.DeleteUnrecorded { // without an owner, planform deletes no unrecorded objects
		hint += "; --prune --delete-unrecorded deletes " + them(n)
	}
	pn.notice("unrecorded", n, diag.Count(n, "object")+" with planform's mark "+are(n)+" neither in the manifest nor in the state: "+
		diag.First(names, fewNames), hint)
}

// warnRenamed warns of orphans that are deleted while a similar object is created, because probably only the key was changed.
func (pn *pruning) warnRenamed(orphans []Orphan) {
	pn.findRenames(orphans)
	for _, was := range orphans {
		if at, ok := pn.objects.indexOf(was.RenamedTo); ok {
			pn.diags.warn(pn.in.Desired[at], "another-key", string(was.RenamedTo)+" is created, and "+string(was.Address)+" is deleted",
				"if it was renamed, add `previously: "+was.Address.Key()+"` to the new entry")
		}
	}
}

// findRenames sets RenamedTo of each orphan to a similar object that the run creates. The object's derived key differs from the orphan's in a
// few letters, or, with pruning, both have the same name.
func (pn *pruning) findRenames(orphans []Orphan) {
	left := map[siblings][]*Orphan{}
	for i := range orphans {
		at := siblings{orphans[i].Address.Kind(), orphans[i].Address.Parent()}
		left[at] = append(left[at], &orphans[i])
	}
	for i, o := range pn.objects.all() {
		f, step := &pn.objects.states[i], pn.steps.of[i]
		if len(left) == 0 || f.presence != absent || step == nil || step.Action != Create || f.vanished {
			continue
		}
		at := siblings{o.Kind.Name, o.Address.Parent()}
		keys := make([]string, len(left[at]))
		for k, was := range left[at] {
			keys[k] = was.Address.Key()
		}
		now := slices.IndexFunc(left[at], func(was *Orphan) bool { return pn.in.Prune && hadName(pn.in.Prior[was.Address].Values, o) })
		if near := diag.Near(o.Key, keys); now < 0 && hasDefaultKey(o) && len(near) > 0 {
			now = slices.Index(keys, near[0])
		}
		if now >= 0 {
			left[at][now].RenamedTo = o.Address
			left[at] = slices.Delete(left[at], now, now+1)
		}
	}
}

// hadName reports whether the values that were applied to a record have the name of an object.
func hadName(values map[string]string, o *resource.Object) bool {
	return slices.ContainsFunc(o.Kind.NaturalKey, func(field string) bool {
		return values[field] != "" && values[field] == resource.Digest(o.Text(field))
	})
}

// warnOrphans lists the orphans of a plan that does not prune, and warns of them.
func (pn *pruning) warnOrphans() {
	for address, r := range pn.in.Prior {
		_, wanted := pn.objects.indexOf(address)
		if _, owned := pn.objects.owners[serviceID{address.Kind(), r.ID}]; !wanted && !owned && pn.in.isOrphan(address, &r) && !pn.orphans.belongsToOther(address) {
			pn.plan.Orphans = append(pn.plan.Orphans, Orphan{Address: address, ID: r.ID, Identifier: r.Identifier})
		}
	}
	slices.SortFunc(pn.plan.Orphans, func(a, b Orphan) int {
		return cmp.Or(cmp.Compare(resource.Order(a.Address.Kind()), resource.Order(b.Address.Kind())), cmp.Compare(a.Address, b.Address))
	})
	pn.findRenames(pn.plan.Orphans)
	var names []string
	for _, orphan := range pn.plan.Orphans {
		if orphan.RenamedTo == "" {
			names = append(names, orphan.String())
			continue
		}
		at, _ := pn.objects.indexOf(orphan.RenamedTo)
		pn.diags.warn(pn.in.Desired[at], "renamed", orphan.String()+" was created by an earlier apply and is no longer in the manifest, and "+
			string(orphan.RenamedTo)+" is created",
			"if it was renamed, add `previously: "+orphan.Address.Key()+"` to the new entry; to delete it, use --prune")
	}
	m := pn.memberships.orphaned
	var what []string
	list := ""
	if len(names) > 0 {
		what, list = append(what, diag.Count(len(names), "object")), ": "+diag.First(names, fewNames)
	}
	if m > 0 {
		what = append(what, diag.Count(m, "membership"))
	}
	n := len(names) + m
	pn.notice("orphaned", n, strings.Join(what, " and ")+" created by an earlier apply "+are(n)+" no longer in the manifest"+list,
		"to delete "+them(n)+", use --prune")
}
