package planner

import (
	"maps"
	"slices"

	"github.com/planform/planform/internal/resource"
)

// look makes sure that the service shows a thing still.
func (p *pruner) look(l *leftover) fate {
	t := l.traits
	if read, ok := l.listRead(); ok {
		_, have := p.in.Observed[read]
		// Where a thing can be below another of its kind, the list tells what is below this one.
		if have || t.get == nil || p.listed[read.Path] > 2 || above(t.kind) != nil {
			rows, answer := p.rowsOf(read)
			switch {
			case answer == nil:
				return waits
			case answer.Lacking:
				return l.refuse("this edition of the service has no " + plural(t.kind))
			case rows[l.record.ID] != nil:
				return goes
			case t.get == nil:
				return p.missing(l)
			} // a list that changes while its pages are read may leave one out
		}
	}
	if t.get == nil {
		return l.refuse("no read shows whether it is there")
	}
	path, _ := t.get.Expand(l.params)
	switch answer, answered := p.ask(Read{Operation: t.get, Path: path}); {
	case !answered:
		return waits
	case answer.Lacking:
		return l.refuse("this edition of the service has no " + plural(t.kind))
	case answer.Missing || len(answer.Rows) == 0 || answer.Rows[0].ID() != l.record.ID:
		return p.missing(l)
	case t.archived != nil && answer.Rows[0]["archived_at"] != nil:
		return l.refuse("somebody archived it")
	default:
		return goes
	}
}

// missing decides about a thing that no list and no read shows: it is gone, or
// it was archived, by itself or with what it lives in.
func (p *pruner) missing(l *leftover) fate {
	if op := l.traits.archived; op != nil {
		path, _ := op.Expand(l.params)
		answer, answered := p.ask(Read{Operation: op, Path: path})
		switch {
		case !answered:
			return waits
		case slices.ContainsFunc(answer.Rows, func(row resource.Row) bool { return row.ID() == l.record.ID }):
			return l.refuse("somebody archived it")
		}
	}
	top := l.record.Address.Parent()
	for up := top; up != ""; up = up.Parent() {
		top = up
	}
	if top == "" {
		return isGone
	}
	op := p.kinds[resource.Must(top.Kind())].get
	if op == nil {
		return isGone
	}
	path, _ := op.Expand(l.params)
	answer, answered := p.ask(Read{Operation: op, Path: path})
	if !answered {
		return waits
	}
	for _, row := range answer.Rows {
		if at, _ := row["archived_at"].(string); at != "" {
			return l.refuse("somebody archived " + string(top) + ", which then shows nothing of what is in it")
		}
	}
	return isGone
}

// verify finds out whether a thing that is not deleted is there at all: what is not
// cannot be asked what is in it.
func (p *pruner) verify(l *leftover) {
	fate, reason := l.fate, l.reason
	if seen := p.look(l); seen == isGone || seen == waits {
		fate = seen
	}
	l.fate, l.reason = fate, reason
}

// recover finds what a create made that has no outcome, by its mark.
func (p *pruner) recover(l *leftover) bool {
	read, _ := l.listRead()
	rows, answer := p.rowsOf(read)
	if answer == nil {
		l.fate = waits
		return false
	}
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		if !rows[id].Marked(resource.Mark(p.in.Workspace, l.record.Address)) {
			continue
		}
		if _, wanted := p.owners[serviceID{l.traits.kind.Name, id}]; wanted {
			l.fate = isElsewhere
			return false
		}
		l.made(id)
		return true
	}
	l.fate = isGone
	p.unseen = append(p.unseen, read)
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
