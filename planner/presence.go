package planner

import (
	"maps"
	"slices"

	"github.com/planform/planform/internal/resource"
)

// checkPresent makes sure that the service shows an object still.
func (p *pruner) checkPresent(l *orphan) decision {
	t := l.info
	if read, ok := l.listRead(); ok {
		_, have := p.in.Observed[read]
		// Where an object can be below another of its kind, the list tells what is below this one.
		if have || t.get == nil || p.listed[read.Path] > 2 || parentField(t.kind) != nil {
			rows, answer := p.rowsOf(read)
			switch {
			case answer == nil:
				return needsRead
			case answer.Unsupported:
				return l.block("this edition of the service has no " + plural(t.kind))
			case rows[l.record.ID] != nil:
				return toDelete
			case t.get == nil:
				return p.confirmGone(l)
			} // a list that changes while its pages are read may leave one out
		}
	}
	if t.get == nil {
		return l.block("planform cannot check whether it still exists")
	}
	path, _ := t.get.Expand(l.params)
	switch answer, answered := p.ask(Read{Operation: t.get, Path: path}); {
	case !answered:
		return needsRead
	case answer.Unsupported:
		return l.block("this edition of the service has no " + plural(t.kind))
	case answer.NotFound || len(answer.Rows) == 0 || answer.Rows[0].ID() != l.record.ID:
		return p.confirmGone(l)
	case t.archived != nil && answer.Rows[0]["archived_at"] != nil:
		return leftArchived
	default:
		return toDelete
	}
}

// confirmGone decides about an object that no list and no read shows: it is gone, or
// it was archived, by itself or with what it lives in.
func (p *pruner) confirmGone(l *orphan) decision {
	if op := l.info.archived; op != nil {
		path, _ := op.Expand(l.params)
		answer, answered := p.ask(Read{Operation: op, Path: path})
		switch {
		case !answered:
			return needsRead
		case slices.ContainsFunc(answer.Rows, func(row resource.Row) bool { return row.ID() == l.record.ID }):
			return leftArchived
		}
	}
	if d := p.lookUpHidden(l); d != vanished {
		return d
	}
	top := l.record.Address.Parent()
	for up := top; up != ""; up = up.Parent() {
		top = up
	}
	if top == "" {
		return vanished
	}
	op := p.kinds[resource.MustLookup(top.Kind())].get
	if op == nil {
		return vanished
	}
	path, _ := op.Expand(l.params)
	answer, answered := p.ask(Read{Operation: op, Path: path})
	if !answered {
		return needsRead
	}
	for _, row := range answer.Rows {
		if at, _ := row["archived_at"].(string); at != "" {
			return l.block(string(top) + " is archived, so its contents cannot be checked")
		}
	}
	return vanished
}

// lookUpHidden finds out whether the look-up by external ID shows an object that no list does.
func (p *pruner) lookUpHidden(l *orphan) decision {
	read, listed := l.listRead()
	if !listed || !l.info.findsExternalIDs() {
		return vanished
	}
	if p.externalIDLookups == maxSingleReads && !p.in.RefreshAll {
		p.skippedLookups++
		return leftArchived // as far as is known
	}
	p.externalIDLookups++
	read.Fields, read.ExternalID = "", resource.ExternalID(p.in.Workspace, l.record.Address)
	a, answered := p.ask(read)
	switch {
	case !answered:
		return needsRead
	case a.Several:
		return leftArchived
	case len(a.Rows) == 1 && a.Rows[0].ID() == l.record.ID && a.Rows[0].Hidden() != "":
		if rows := p.rows[read.Path]; rows != nil {
			rows[l.record.ID] = a.Rows[0] // it shows what this is below
		}
		return leftArchived
	default:
		return vanished
	}
}

// checkExists finds out whether an object that is not deleted is there at all: what is not
// cannot be asked what is in it.
func (p *pruner) checkExists(l *orphan) {
	fate, reason := l.decision, l.reason
	if seen := p.checkPresent(l); seen == vanished || seen == needsRead {
		fate = seen
	}
	l.decision, l.reason = fate, reason
}

// findLostCreate finds what a create made that has no outcome, by its external ID.
func (p *pruner) findLostCreate(l *orphan) bool {
	read, _ := l.listRead()
	rows, answer := p.rowsOf(read)
	if answer == nil {
		l.decision = needsRead
		return false
	}
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		if !rows[id].HasExternalID(resource.ExternalID(p.in.Workspace, l.record.Address)) {
			continue
		}
		if _, wanted := p.owners[serviceID{l.info.kind.Name, id}]; wanted {
			l.decision = aliased
			return false
		}
		l.recordCreated(id)
		return true
	}
	l.decision = vanished
	p.unconfirmed = append(p.unconfirmed, read)
	return false
}

// rowsOf returns the records of a list by their IDs; no answer = it has to be read.
func (p *pruner) rowsOf(read Read) (map[string]resource.Row, *Answer) {
	answer, answered := p.ask(read)
	if !answered {
		return nil, nil
	}
	rows := p.rows[read.Path]
	if rows == nil {
		rows = make(map[string]resource.Row, len(answer.Rows))
		for _, row := range answer.Rows {
			rows[row.ID()] = row
		}
		p.rows[read.Path] = rows
	}
	return rows, &answer
}
