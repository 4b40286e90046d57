package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// presence finds out whether the service still has an orphan. It looks in the orphan's list, then reads the orphan by ID, then looks in the
// archive and for the mark. It returns a cause if the service cannot tell.
func (rp *orphans) presence(l *orphan) []Cause {
	t, withoutKind := l.info, []Cause{refused("this edition of the service has no " + plural(l.info.kind))}
	list, listed := t.listRead(l.params)
	if listed {
		if rp.service.ask(list).Unsupported {
			return withoutKind
		}
		l.row = rp.rowsOf(list)[l.record.ID] // a list that changes while its pages are read may miss an object
	} else if t.get == nil {
		return []Cause{refused("planform cannot check that it still exists")}
	}
	if l.row == nil && t.get != nil {
		switch a := rp.service.askAt(t.get, l.params); {
		case a.Unsupported:
			return withoutKind
		case !a.NotFound && len(a.Rows) > 0 && a.Rows[0].ID() == l.record.ID:
			if l.row = a.Rows[0]; t.archived != nil && l.row["archived_at"] != nil {
				l.decision = leftArchived
				return nil
			}
		}
	}
	if l.row == nil {
		return rp.absence(l)
	}
	l.decision = toDelete
	return nil
}

// absence decides about an orphan that neither its list nor a read shows. It is gone, or the orphan or its project is archived.
func (rp *orphans) absence(l *orphan) []Cause {
	l.decision = vanished
	if archive := l.info.archived; archive != nil && slices.ContainsFunc(rp.service.askAt(archive, l.params).Rows, func(row resource.Row) bool { return row.ID() == l.record.ID }) ||
		rp.isUnlisted(l) {
		l.decision = leftArchived
		return nil
	}
	top := l.record.Address.Parent()
	for top.Parent() != "" {
		top = top.Parent()
	}
	if top != "" && rp.objects.kind(top.Kind()).get != nil {
		a := rp.service.askAt(rp.objects.kind(top.Kind()).get, l.params)
		if len(a.Rows) > 0 && a.Rows[0].Text("archived_at") != "" {
			l.decision = undecided
			return []Cause{refused(string(top) + " is archived, so its contents cannot be checked")}
		}
	}
	return nil
}

// isUnlisted reports whether a look-up by mark shows that an orphan is archived or a draft. It is also true if the look-up was not made or is
// ambiguous.
func (rp *orphans) isUnlisted(l *orphan) bool {
	list, listed := l.info.listRead(l.params)
	if !listed || !l.info.findsExternalIDs() {
		return false
	}
	a, made := rp.snapshot.findUnlisted(l.info, list.Path, l.record.Address)
	if !made || a.Several {
		return true
	}
	if len(a.Rows) == 0 || a.Rows[0].ID() != l.record.ID || a.Rows[0].Hidden() == "" {
		return false
	}
	l.row = a.Rows[0] // the row has the orphan's parent of its own kind
	return true
}

// foreignContents returns a cause for each object in an orphan that other people made or that stays.
func (rp *orphans) foreignContents(l *orphan) (causes []Cause) {
	for _, child := range resource.Children(l.info.kind.Name) {
		read, listed := rp.objects.kinds[child].listRead(l.params)
		if !listed || child.Singleton || rp.hasNone(l, child) || l.info.parent != nil && !rp.mayRead(l, read) {
			continue
		}
		rows := rp.rowsOf(read)
		n := len(rows)
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			c, predefined := rp.foreignContent(l, child, rows[id])
			if causes = append(causes, c); predefined {
				n--
			}
		}
		l.count(child.Noun(), Inside, n)
	}
	return causes
}

// foreignContent returns the cause why an orphan stays for an object in it, if any. If the object is an orphan, too, its own causes decide.
// predefined reports whether the service makes such an object for every object of the orphan's kind.
func (rp *orphans) foreignContent(l *orphan, child *resource.Kind, row resource.Row) (c Cause, predefined bool) {
	id := serviceID{child.Name, row.ID()}
	what, in := label(child, row)+" in it", rp.createdByUs[id]
	switch owner, other := rp.in.otherOwner(row, true); {
	case other:
		return refused("the " + what + " belongs to " + owner.String()), false
	case in != nil && in.parent == l:
		if in.row = row; in.decision == undecided {
			rp.blockFor(in, rp.changedByOthers, rp.foreignContents, rp.unlistedContents)
		}
		l.unread = l.unread || in.unread
		return in.keptWithCause(string(in.record.Address) + " in it stays"), false
	case rp.in.Owner != "" && rp.in.marks().Has(row, row.Text("external_id")) && len(rp.objects.addressesOf(id)) == 0 && !rp.in.DeleteUnrecorded:
		return refused("the state does not know the " + what + ": nobody can tell whether it was protected"), false
	case slices.ContainsFunc(child.DisplayTexts(row), func(name string) bool { return slices.Contains(child.Predefined, name) }):
		return Cause{}, true
	default:
		return ofOthers("planform did not create the " + what), false
	}
}

// hasNone reports whether an orphan's type excludes children of a kind. For example, a text property has no options.
func (rp *orphans) hasNone(l *orphan, child *resource.Kind) bool {
	if child.ParentType == "" {
		return false
	}
	f, _ := l.info.kind.Field("type")
	have, _ := f.ObservedIn(rp.rowOf(l))
	of := cmp.Or(have, l.record.Values[f.Name])
	return of != "" && of != child.ParentType
}

// foreignBelow returns a cause for each descendant of an orphan's own kind that stays, because the service deletes descendants with the orphan.
func (rp *orphans) foreignBelow(l *orphan) (causes []Cause) {
	field := parentField(l.info.kind)
	list, listed := l.info.listRead(l.params)
	if field == nil || !listed {
		return nil
	}
	rp.indexUses(l.info, siblingList{list, nil})
	seen := map[string]bool{}
	for below := slices.Clone(rp.usedBy[l.record.ID]); len(below) > 0; below = below[1:] {
		row := below[0].row
		id := serviceID{l.info.kind.Name, row.ID()}
		if below[0].field != field || seen[id.id] || rp.replaces(id, field) {
			continue
		}
		seen[id.id] = true
		below = append(below, rp.usedBy[id.id]...)
		_, other := rp.in.otherOwner(row, true)
		switch why, ours := label(l.info.kind, row)+" below it stays", rp.createdByUs[id]; {
		case ours != nil && !other:
			causes = append(causes, ours.keptWithCause(why))
		case other, rp.isTracked(id):
			causes = append(causes, refused(why))
		default:
			causes = append(causes, ofOthers(why))
		}
	}
	l.count(l.info.kind.Noun(), Below, len(seen))
	return causes
}

// replaces reports whether the run changes a field of an object to the value of the manifest. For example, the object leaves the orphan above it.
func (rp *orphans) replaces(id serviceID, field *resource.Field) bool {
	i, wanted := rp.objects.owners[id]
	if !wanted {
		return false
	}
	o, f := rp.in.Desired[i], &rp.objects.states[i]
	v, given := o.Value(field.Name)
	if !given || o.Ignores(field) || f.presence != exists || f.foreign || f.info.update == nil || rp.objects.staysArchived(i) {
		return false
	}
	c, differs := rp.differ.found[v]
	return differs && (!rp.differ.isDrift(c, f) || rp.in.onDrift(o) != Keep)
}

// isTracked reports whether the manifest has an object, or the state has a record of it that is no orphan, or an orphan that planform made.
func (rp *orphans) isTracked(id serviceID) bool {
	_, wanted := rp.objects.owners[id]
	return wanted || slices.ContainsFunc(rp.objects.addressesOf(id), func(a resource.Address) bool {
		return rp.byAddress[a] == nil || rp.byAddress[a].decision != notOurs
	})
}

// unlistedContents returns a cause for each kind of objects that the service counts in an orphan and no list shows, such as archived work
// items.
func (rp *orphans) unlistedContents(l *orphan) (causes []Cause) {
	counts := rp.countsIn(l.info, l.params)
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		k, n, text := resource.CountedAs(name), counts[name], ""
		switch {
		case n == 0 || k != nil && k.Membership != nil:
			continue
		case k == nil:
			noun := strings.TrimSuffix(strings.ReplaceAll(name, "_", " "), "s")
			l.count(noun, Inside, n)
			text = "it has " + diag.Count(n, noun) + ", and " + l.info.api.Noun() + " does not list " + them(n)
		default:
			n = rp.hidden(rp.objects.kinds[k], l.record.Address, l.params, n)
			if n <= 0 {
				continue
			}
			l.count(k.Noun(), Inside, counts[name])
			text = unlisted(n, k) + " " + are(n) + " in it"
		}
		causes = append(causes, ofOthers(text))
	}
	return causes
}

// unlisted returns a text about objects that the service counts and does not list.
func unlisted(n int, k *resource.Kind) string {
	return countOf(n, k) + " that no list shows (archived, or " + oneOr(n, "a draft", "drafts") + ")"
}

// countsIn returns the service's counts of the contents of an object, by the service's names of their kinds; nil = there are no counts.
func (rp *orphans) countsIn(t *kindInfo, params map[string]string) map[string]int {
	op, ok := t.kind.Op(resource.Summary, t.api)
	if !ok {
		return nil
	}
	read, _ := readOf(op, params)
	a := rp.service.askOptional(read)
	if len(a.Rows) == 0 {
		return nil
	}
	return a.Rows[0].Counts()
}

// hidden returns the number of objects that the service counts in a parent, minus those that are listed or known to be archived.
func (rp *orphans) hidden(t *kindInfo, parent resource.Address, params map[string]string, counted int) int {
	if read, listed := t.listRead(params); listed {
		if a := rp.service.ask(read); a.Unsupported || a.NotFound {
			return 0
		}
		counted -= len(rp.rowsOf(read))
	}
	for i := range rp.objects.count() {
		if f := &rp.objects.states[i]; f.info == t && f.isUnlisted() && rp.in.Desired[i].Address.Parent() == parent {
			counted--
		}
	}
	for _, l := range rp.list {
		if l.info == t && l.decision == leftArchived && l.record.Address.Parent() == parent {
			counted--
		}
	}
	return counted
}

// rowsOf returns the rows of a list by their IDs.
func (rp *orphans) rowsOf(list Read) map[string]resource.Row {
	rows, have := rp.rows[list]
	if have {
		return rows
	}
	answer := rp.service.ask(list)
	rows = make(map[string]resource.Row, len(answer.Rows))
	for _, row := range answer.Rows {
		rows[row.ID()] = row
	}
	rp.rows[list] = rows
	return rows
}

// listed returns the rows of a list by their IDs, or nil if it was not read.
func (rp *orphans) listed(t *kindInfo, params map[string]string) map[string]resource.Row {
	read, ok := t.listRead(params)
	if _, have := rp.in.Observed[read]; !ok || !have {
		return nil
	}
	return rp.rowsOf(read)
}
