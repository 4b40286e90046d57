package planner

import (
	"maps"
	"slices"
	"strconv"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// pruner decides what becomes of leftovers.
type pruner struct {
	*Survey
	at     map[resource.Address]*leftover
	bound  map[serviceID]int
	made   map[serviceID]*leftover     // that planform made and nothing protects
	lost   map[string]*leftover        // creates without an outcome, by the mark that was sent
	holds  map[resource.Address]string // what keeps a thing from being deleted
	listed map[string]int              // leftovers by the path of their list
	rows   map[string]map[string]resource.Row
	// Made when first needed:
	wanted map[serviceID]resource.Address // what in the manifest names things that it does not list
	byID   map[serviceID][]Record
}

// decideAll decides about the leftovers. kept are things that are left alone,
// and so is what they live in.
func (p *pruner) decideAll(kept []resource.Address) {
	for _, address := range kept {
		p.hold(address, string(address)+", which is in it, is not targeted")
	}
	for _, l := range p.leftovers { // parents first
		p.place(l)
	}
	p.afford()
	for _, l := range p.leftovers {
		p.decide(l)
		if l.fate == isGone {
			p.gone[l.record.Address] = true
		}
	}
	p.spare()
	for p.spareUsed() {
		p.spare()
	}
}

// afford finds out whether it would take longer than a person waits to look what
// others put into each thing that goes, such as their comments on a work item; and
// who else uses those that others can use, such as a label.
func (p *pruner) afford() {
	reads, things, usage, used := 0, 0, 0, 0
	lists := map[string]bool{}
	for _, l := range p.leftovers {
		if l.fate != open {
			continue
		}
		if n := len(resource.Children(l.traits.kind.Name)); l.traits.parent != nil && n > 0 {
			reads, things = reads+n, things+1
		}
		if l.parent == nil || l.parent.fate != open {
			if n := p.usageReads(l, lists); n > 0 {
				usage, used = usage+n, used+1
			}
		}
	}
	if p.in.Thorough {
		return
	}
	if reads > mostSingly {
		p.blind = things
	}
	if usage > mostSingly {
		p.blindUse = used
	}
}

// place works out where a thing is, and whether it can be deleted at all.
func (p *pruner) place(l *leftover) {
	r, k := &l.record, l.traits.kind
	l.params = p.paramsOf(l)
	if r, ok := l.listRead(); ok {
		p.listed[r.Path]++
	}
	_, wanted := p.owners[serviceID{k.Name, r.ID}]
	other := p.in.other(r)
	switch {
	case other != "":
		l.fate = alone
	case r.ID == "" && r.Open.creates() && l.traits.marked && l.traits.list != nil && len(r.Files) > 0:
		p.lost[resource.Mark(p.in.Workspace, r.Address)] = l
	case r.ID == "" || !r.Made:
		l.fate = stays
	case wanted || p.bound[serviceID{k.Name, r.ID}] > 1:
		l.fate = isElsewhere
	case len(r.Files) == 0:
		l.fate = alone
	case r.Protect:
		l.fate = refused
	}
	switch {
	case r.Protect:
		p.hold(r.Address, string(r.Address)+", which is in it, is protected")
	case other != "":
		p.hold(r.Address, string(r.Address)+", which is in it, stood in "+other+", which is not read")
	case l.fate == alone:
		p.hold(r.Address, "the state does not say in what manifest "+string(r.Address)+" stood, which is in it")
	case l.fate == stays && len(k.Given) == 0: // each has some of those, whoever made it
		p.hold(r.Address, "planform did not make "+string(r.Address)+", which is in it")
	}
}

// hold keeps what a thing lives in from being deleted with it.
func (p *pruner) hold(a resource.Address, why string) {
	for a = a.Parent(); a != "" && p.holds[a] == ""; a = a.Parent() {
		p.holds[a] = why
	}
}

// paramsOf are the path parameters of a leftover's requests, nil where they are not known.
func (p *pruner) paramsOf(l *leftover) map[string]string {
	parent := l.record.Address.Parent()
	l.parent = p.at[parent]
	params := p.paramsIn(parent)
	if params != nil {
		params[l.traits.kind.Param] = l.record.ID
	}
	return params
}

// decide decides what becomes of a leftover, after what it lives in.
func (p *pruner) decide(l *leftover) {
	container := l.record.ID != "" && l.traits.kind.Parent == "" && len(resource.Children(l.traits.kind.Name)) > 0
	switch {
	case l.fate != isElsewhere && l.parent != nil && l.parent.fate == isGone:
		l.fate = isGone
		return
	case container && (l.fate == stays || l.fate == refused || l.fate == alone):
		p.verify(l)
		return
	case l.fate != open:
		return
	case l.parent != nil && (l.parent.fate == goes || l.parent.fate == goesAlong):
		l.fate = goesAlong
		return
	case l.parent != nil && l.parent.fate == waits:
		l.fate = waits
		return
	case l.params == nil:
		p.unplaced(l)
		return
	case p.holds[l.record.Address] != "":
		l.refuse(p.holds[l.record.Address])
		return
	case l.delete == nil:
		l.refuse("the " + p.in.API.Noun() + " cannot delete " + diag.A(l.traits.kind.Noun()) + ": delete it in Plane, then run planform state rm " + string(l.record.Address))
		return
	}
	if l.record.ID == "" && !p.recover(l) {
		return
	}
	if l.fate = p.look(l); l.fate == goes {
		p.empty(l)
	}
}

// unplaced decides about a thing of which it is not known what it lives in now.
func (p *pruner) unplaced(l *leftover) {
	parent := l.record.Address.Parent()
	i, wanted := p.placeOf(parent)
	switch {
	case wanted && p.facts[i].standing == pending:
		l.fate = waits
	case wanted && (p.facts[i].standing == absent || p.facts[i].moved):
		l.fate = isGone // with what it lived in
	default:
		l.refuse("it is not known what " + string(parent) + " is on the service")
	}
}

// empty makes sure that nothing would be deleted along with a thing that planform
// did not make: what is below it, and what lives in it.
func (p *pruner) empty(l *leftover) {
	k := l.traits.kind
	if field := above(k); field != nil {
		read, _ := l.listRead()
		for _, row := range p.in.Observed[read].Rows {
			if up, _ := field.Observed(row); up == l.record.ID && !p.leaves(k, row, field) {
				l.fate = l.refuse(called(k, row) + " is below it, and stays")
				return
			}
		}
	}
	if k.Parent != "" && p.blind > 0 {
		return
	}
	for _, child := range resource.Children(k.Name) {
		t := p.kinds[child]
		if t.list == nil {
			continue
		}
		path, missing := t.list.Expand(l.params)
		if missing != "" {
			continue
		}
		rows, answer := p.rowsOf(Read{Operation: t.list, Path: path, Fields: t.fields})
		if answer == nil {
			l.fate = waits
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			given := slices.ContainsFunc(naturals(child, rows[id]), func(n string) bool { return slices.Contains(child.Given, n) })
			in := p.made[serviceID{child.Name, id}]
			if source, _ := rows[id]["external_source"].(string); in == nil && source == resource.MarkSource {
				mark, _ := rows[id]["external_id"].(string)
				if in = p.lost[mark]; in != nil {
					in.made(id)
				}
			}
			if !given && (in == nil || in.parent != l) {
				l.fate = l.refuse("planform did not make the " + called(child, rows[id]) + ", which is in it")
				return
			}
			if in != nil && in.fate == open && p.blind == 0 {
				p.empty(in)
			}
			if in != nil && (in.fate == waits || in.fate == refused && l.fate != waits) {
				l.fate, l.reason = in.fate, "it would be deleted, but "+string(in.record.Address)+", which is in it, stays"
			}
		}
	}
}

// leaves reports whether a record that is below another one goes, or is to be elsewhere.
func (p *pruner) leaves(k *resource.Kind, row resource.Row, field *resource.Field) bool {
	id := serviceID{k.Name, row.ID()}
	if i, wanted := p.owners[id]; wanted {
		_, moves := p.in.Desired[i].Value(field.Name)
		return moves
	}
	return p.made[id] != nil
}

// called is what people call a record: by its name, where it has one.
func called(k *resource.Kind, row resource.Row) string {
	for _, name := range naturals(k, row) {
		return k.Noun() + " " + strconv.Quote(name)
	}
	return k.Noun() + " " + row.ID()
}

// spare keeps whatever is above something that stays after all: the service
// deletes what is below a thing with it.
func (p *pruner) spare() {
	inside := map[*leftover][]*leftover{}
	for _, l := range p.leftovers {
		if l.parent != nil {
			inside[l.parent] = append(inside[l.parent], l)
		}
	}
	for stays := slices.Clone(p.leftovers); len(stays) > 0; stays = stays[1:] {
		l := stays[0]
		field := above(l.traits.kind)
		read, listed := l.listRead()
		if l.fate != refused || field == nil || !listed {
			continue
		}
		row := p.rows[read.Path][l.record.ID]
		up, _ := field.Observed(row)
		over := p.made[serviceID{l.traits.kind.Name, up}]
		if over == nil || over.fate != goes {
			continue
		}
		over.refuse(called(l.traits.kind, row) + " is below it, and stays")
		stays = append(stays, over)
		for _, in := range inside[over] {
			if in.fate == goesAlong { // by itself, now
				in.fate = open
				p.decide(in)
			}
		}
	}
}
