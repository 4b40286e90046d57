package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// checkContents makes sure that nothing which others made is deleted along with an orphan: sub-items, children, relations,
// and what no list shows.
func (or *orphans) checkContents(l *orphan) {
	or.checkBelow(l)
	for _, child := range resource.Children(l.info.kind.Name) {
		read, listed := or.objects.kinds[child].listRead(l.params)
		if !listed || child.Singleton || or.hasNone(l, child) || l.info.parent != nil && !or.mayRead(l, read) {
			continue
		}
		rows, _ := or.rowsOf(read)
		n := len(rows)
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			in := or.createdByUs[serviceID{child.Name, id}]
			if externalID := rows[id].Text("external_id"); in == nil && or.in.marks().Has(rows[id], externalID) {
				if in = or.lostCreates[externalID]; in != nil {
					in.recordCreated(id)
				}
			}
			below := serviceID{child.Name, id}
			owner, other := or.in.otherOwner(rows[id], true)
			switch {
			case other:
				l.block("the " + label(child, rows[id]) + " in it belongs to " + owner.String())
			case in != nil && in.parent == l:
				or.checkInside(l, in, rows[id])
			case or.in.Owner != "" && or.in.marks().Has(rows[id], rows[id].Text("external_id")) && len(or.objects.addressesOf(below)) == 0 &&
				!or.in.DeleteUnrecorded:
				l.block("the state does not know the " + label(child, rows[id]) + " in it: nobody can tell whether it was protected")
			case slices.ContainsFunc(child.DisplayTexts(rows[id]), func(n string) bool { return slices.Contains(child.Predefined, n) }):
				n--
			default:
				or.keep(l, "planform did not create the "+label(child, rows[id])+" in it")
			}
		}
		l.count(child.Noun(), Inside, n)
	}
	or.checkSummary(l)
}

// hasNone reports whether an orphan is of a type that cannot have objects of a kind in it, such as a text property, which has no options.
func (or *orphans) hasNone(l *orphan, child *resource.Kind) bool {
	if child.ParentType == "" {
		return false
	}
	f, _ := l.info.kind.Field("type")
	have, _ := f.ObservedIn(or.shown(l))
	of := cmp.Or(have, l.record.Values[f.Name])
	return of != "" && of != child.ParentType
}

// checkInside looks into an orphan that goes with another one, which stays if this one does.
func (or *orphans) checkInside(l, in *orphan, row resource.Row) {
	if in.row = row; in.decision == undecided {
		if or.checkChanged(in); in.decision == undecided {
			or.checkContents(in)
		}
	}
	l.unread = l.unread || in.unread
	if in.decision == blocked {
		l.decision, l.byOthers, l.reason = in.decision, in.byOthers, "it would be deleted, but "+string(in.record.Address)+" in it stays"
	}
}

// checkBelow makes sure that nothing else than orphans is below an orphan of its own kind: the service deletes that, too.
func (or *orphans) checkBelow(l *orphan) {
	field := parentField(l.info.kind)
	if field == nil {
		return
	}
	read, _ := l.info.listRead(l.params)
	rows := slices.Clip(or.in.Observed[read].Rows)
	for i := range or.objects.count() {
		if f := &or.objects.states[i]; f.presence == hidden && f.info.kind == l.info.kind {
			rows = append(rows, f.row)
		}
	}
	n := 0
	var look func(id string)
	look = func(id string) {
		for _, row := range rows {
			up, _ := field.ObservedIn(row)
			below := serviceID{l.info.kind.Name, row.ID()}
			if up != id || n > len(rows) || or.movesAway(below, field) { // more if they are below each other
				continue
			}
			n++
			_, other := or.in.otherOwner(row, true)
			switch why := label(l.info.kind, row) + " below it stays"; {
			case !other && or.createdByUs[below] != nil:
			case other, or.isTracked(below):
				l.block(why)
			default:
				or.keep(l, why)
			}
			look(row.ID())
		}
	}
	look(l.record.ID)
	l.count(l.info.kind.Noun(), Below, n)
}

// movesAway reports whether the manifest puts an object that is below another one elsewhere.
func (or *orphans) movesAway(id serviceID, parent *resource.Field) bool {
	i, wanted := or.objects.owners[id]
	if wanted {
		_, wanted = or.in.Desired[i].Value(parent.Name)
	}
	return wanted
}

// isTracked reports whether some manifest has an object that is no orphan.
func (or *orphans) isTracked(id serviceID) bool {
	_, wanted := or.objects.owners[id]
	return wanted || slices.ContainsFunc(or.objects.addressesOf(id), func(a resource.Address) bool {
		return or.byAddress[a] == nil || or.byAddress[a].decision != notOurs
	})
}

// checkSummary makes sure that the service counts nothing in an orphan that no list shows, such as archived work items.
func (or *orphans) checkSummary(l *orphan) {
	counts := or.countsIn(l.info, l.params)
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		k := resource.CountedAs(name)
		switch {
		case counts[name] == 0 || k != nil && k.Membership != nil:
		case k == nil:
			noun := strings.TrimSuffix(strings.ReplaceAll(name, "_", " "), "s")
			l.count(noun, Inside, counts[name])
			or.keep(l, "it has "+diag.Count(counts[name], noun)+", and "+l.info.api.Noun()+" does not list "+them(counts[name]))
		default:
			if n := or.hidden(or.objects.kinds[k], l.record.Address, l.params, counts[name]); n > 0 {
				l.count(k.Noun(), Inside, counts[name])
				or.keep(l, unlisted(n, k)+" "+are(n)+" in it")
			}
		}
	}
}

// unlisted names objects that the service counts and does not list.
func unlisted(n int, k *resource.Kind) string {
	return countOf(n, k) + " that no list shows (archived, or " + oneOr(n, "a draft", "drafts") + ")"
}

// countsIn are the numbers of objects that the service counts in one, by the names that it has for them; nil = it counts none.
func (or *orphans) countsIn(t *kindInfo, params map[string]string) map[string]int {
	op, ok := t.kind.Op(resource.Summary, t.api)
	if !ok {
		return nil
	}
	read, _ := readOf(op, params)
	a := or.service.askOptional(read)
	if len(a.Rows) == 0 {
		return nil
	}
	return a.Rows[0].Counts()
}

// hidden is how many of the objects that the service counts in one are in no list, and not known to be archived.
func (or *orphans) hidden(t *kindInfo, parent resource.Address, params map[string]string, counted int) int {
	if read, listed := t.listRead(params); listed {
		rows, answer := or.rowsOf(read)
		if answer.Unsupported || answer.NotFound {
			return 0
		}
		counted -= len(rows)
	}
	for i := range or.objects.count() {
		if f := &or.objects.states[i]; f.info == t && f.isUnlisted() && or.in.Desired[i].Address.Parent() == parent {
			counted--
		}
	}
	for _, l := range or.list {
		if l.info == t && l.decision == leftArchived && l.record.Address.Parent() == parent {
			counted--
		}
	}
	return counted
}

func (or *orphans) checkPresent(l *orphan) decision {
	t := l.info
	if read, ok := l.info.listRead(l.params); ok {
		_, have := or.in.Observed[read]
		// Where an object can be below another of its kind, the list tells what is below this one.
		if have || t.get == nil || or.listSizes[read.Path] > 2 || parentField(t.kind) != nil {
			rows, answer := or.rowsOf(read)
			switch {
			case answer.Unsupported:
				return l.block("this edition of the service has no " + plural(t.kind))
			case rows[l.record.ID] != nil:
				l.row = rows[l.record.ID]
				return toDelete
			case t.get == nil:
				return or.confirmGone(l)
			} // a list that changes while its pages are read may leave one out
		}
	}
	if t.get == nil {
		return l.block("planform cannot check whether it still exists")
	}
	switch answer := or.service.askAt(t.get, l.params); {
	case answer.Unsupported:
		return l.block("this edition of the service has no " + plural(t.kind))
	case answer.NotFound || len(answer.Rows) == 0 || answer.Rows[0].ID() != l.record.ID:
		return or.confirmGone(l)
	case t.archived != nil && answer.Rows[0]["archived_at"] != nil:
		return leftArchived
	default:
		l.row = answer.Rows[0]
		return toDelete
	}
}

// checkHidden finds out whether the look-up by external ID shows an object that no list does.
func (or *orphans) checkHidden(l *orphan) decision {
	read, listed := l.info.listRead(l.params)
	if !listed || !l.info.findsExternalIDs() {
		return vanished
	}
	a, made := or.snapshot.findUnlisted(l.info, read.Path, l.record.Address)
	switch {
	case !made:
		return leftArchived // as far as is known
	case a.Several:
		return leftArchived
	case len(a.Rows) == 1 && a.Rows[0].ID() == l.record.ID && a.Rows[0].Hidden() != "":
		if rows := or.rows[read.Path]; rows != nil {
			rows[l.record.ID] = a.Rows[0] // it shows what this is below
		}
		return leftArchived
	default:
		return vanished
	}
}

// confirmGone decides about an orphan that no list and no read shows: it is gone, or it or its
// project is archived.
func (or *orphans) confirmGone(l *orphan) decision {
	if op := l.info.archived; op != nil {
		if slices.ContainsFunc(or.service.askAt(op, l.params).Rows, func(row resource.Row) bool { return row.ID() == l.record.ID }) {
			return leftArchived
		}
	}
	if d := or.checkHidden(l); d != vanished {
		return d
	}
	top := l.record.Address.Parent()
	for up := top; up != ""; up = up.Parent() {
		top = up
	}
	if top == "" {
		return vanished
	}
	op := or.objects.kind(top.Kind()).get
	if op == nil {
		return vanished
	}
	for _, row := range or.service.askAt(op, l.params).Rows {
		if row.Text("archived_at") != "" {
			return l.block(string(top) + " is archived, so its contents cannot be checked")
		}
	}
	return vanished
}

func (or *orphans) findLostCreate(l *orphan) bool {
	read, _ := l.info.listRead(l.params)
	rows, _ := or.rowsOf(read)
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		if !or.in.marks().On(rows[id], l.record.Address) {
			continue
		}
		if _, wanted := or.objects.owners[serviceID{l.info.kind.Name, id}]; wanted {
			l.decision = aliased
			return false
		}
		l.recordCreated(id)
		return true
	}
	l.decision = vanished
	or.service.unconfirmed = append(or.service.unconfirmed, read)
	return false
}

// rowsOf returns the records of a list by their IDs, and the answer that has them.
func (or *orphans) rowsOf(read Read) (map[string]resource.Row, Answer) {
	answer := or.service.ask(read)
	rows := or.rows[read.Path]
	if rows == nil {
		rows = make(map[string]resource.Row, len(answer.Rows))
		for _, row := range answer.Rows {
			rows[row.ID()] = row
		}
		or.rows[read.Path] = rows
	}
	return rows, answer
}
