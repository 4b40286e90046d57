package planner

import (
	"maps"
	"slices"
	"strconv"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// pruner decides what becomes of orphans.
type pruner struct {
	*Snapshot
	at          map[resource.Address]*orphan
	recordCount map[serviceID]int
	createdByUs map[serviceID]*orphan       // that planform made and nothing protects
	lostCreates map[string]*orphan          // creates without an outcome, by the external ID that was sent
	blockedBy   map[resource.Address]string // what keeps an object from being deleted
	listed      map[string]int              // orphans by the path of their list
	rows        map[string]map[string]resource.Row
	// Made when first needed:
	stillNamed map[serviceID]resource.Address // what in the manifest names objects that it does not list
	byID       map[serviceID][]Record
}

// decideAll decides about the orphans. kept are objects that are left alone,
// and so is what they live in.
func (p *pruner) decideAll(kept []resource.Address) {
	for _, address := range kept {
		p.blockParents(address, string(address)+" in it is not targeted")
	}
	for _, l := range p.orphans { // parents first
		p.locate(l)
	}
	p.checkReadBudget()
	for _, l := range p.orphans {
		p.decide(l)
		if l.decision == vanished {
			p.gone[l.record.Address] = true
		}
	}
	p.keepAncestors()
	for p.keepUsed() {
		p.keepAncestors()
	}
}

// checkReadBudget finds out whether it would take longer than a person waits to look what
// others put into each object that goes, such as their comments on a work item; and
// who else uses those that others can use, such as a label.
func (p *pruner) checkReadBudget() {
	reads, things, usage, used := 0, 0, 0, 0
	lists := map[string]bool{}
	for _, l := range p.orphans {
		if l.decision != undecided {
			continue
		}
		if n := len(resource.Children(l.info.kind.Name)); l.info.parent != nil && n > 0 {
			reads, things = reads+n, things+1
		}
		if l.parent == nil || l.parent.decision != undecided {
			if n := p.usageReads(l, lists); n > 0 {
				usage, used = usage+n, used+1
			}
		}
	}
	if p.in.RefreshAll {
		return
	}
	if reads > maxSingleReads {
		p.unchecked = things
	}
	if usage > maxSingleReads {
		p.uncheckedUse = used
	}
}

// locate works out where an object is, and whether it can be deleted at all.
func (p *pruner) locate(l *orphan) {
	r, k := &l.record, l.info.kind
	l.params = p.paramsOf(l)
	if r, ok := l.listRead(); ok {
		p.listed[r.Path]++
	}
	_, wanted := p.owners[serviceID{k.Name, r.ID}]
	other := p.in.otherSource(r)
	switch {
	case other != "":
		l.decision = otherSource
	case r.ID == "" && r.PendingIntent.creates() && l.info.externalIDs && l.info.list != nil && len(r.Sources) > 0:
		p.lostCreates[resource.ExternalID(p.in.Workspace, r.Address)] = l
	case r.ID == "" || !r.CreatedByUs:
		l.decision = notOurs
	case wanted || p.recordCount[serviceID{k.Name, r.ID}] > 1:
		l.decision = aliased
	case len(r.Sources) == 0:
		l.decision = otherSource
	case r.Protect:
		l.decision = blocked
	}
	switch {
	case r.Protect:
		p.blockParents(r.Address, string(r.Address)+" in it is protected")
	case other != "":
		p.blockParents(r.Address, string(r.Address)+" in it comes from "+other+", which is not part of this run")
	case l.decision == otherSource:
		p.blockParents(r.Address, "the state file does not say which manifest had "+string(r.Address)+" in it")
	case l.decision == notOurs && len(k.Predefined) == 0: // each has some of those, whoever made it
		p.blockParents(r.Address, "planform did not create "+string(r.Address)+" in it")
	}
}

// blockParents keeps what an object lives in from being deleted with it.
func (p *pruner) blockParents(a resource.Address, why string) {
	for a = a.Parent(); a != "" && p.blockedBy[a] == ""; a = a.Parent() {
		p.blockedBy[a] = why
	}
}

// paramsOf are the path parameters of an orphan's requests, nil where they are not known.
func (p *pruner) paramsOf(l *orphan) map[string]string {
	parent := l.record.Address.Parent()
	l.parent = p.at[parent]
	params := p.paramsIn(parent)
	if params != nil {
		params[l.info.kind.Param] = l.record.ID
	}
	return params
}

// decide decides what becomes of an orphan, after what it lives in.
func (p *pruner) decide(l *orphan) {
	container := l.record.ID != "" && l.info.kind.Parent == "" && len(resource.Children(l.info.kind.Name)) > 0
	switch {
	case l.decision != aliased && l.parent != nil && l.parent.decision == vanished:
		l.decision = vanished
		return
	case container && (l.decision == notOurs || l.decision == blocked || l.decision == otherSource):
		p.checkExists(l)
		return
	case l.decision != undecided:
		return
	case l.parent != nil && (l.parent.decision == toDelete || l.parent.decision == deleteWithParent):
		l.decision = deleteWithParent
		return
	case l.parent != nil && (l.parent.decision == needsRead || l.parent.decision == leftArchived):
		l.decision = l.parent.decision
		return
	case p.isHidden(l.record.Address.Parent()):
		l.decision = leftArchived
		return
	case l.params == nil:
		p.unlocatable(l)
		return
	case p.blockedBy[l.record.Address] != "":
		l.block(p.blockedBy[l.record.Address])
		return
	case l.delete == nil:
		l.block("the " + p.in.API.Noun() + " cannot delete " + diag.A(l.info.kind.Noun()) + ": delete it in Plane, then run planform state rm " + string(l.record.Address))
		return
	}
	if l.record.ID == "" && !p.findLostCreate(l) {
		return
	}
	if l.decision = p.checkPresent(l); l.decision == toDelete {
		p.checkContents(l)
	}
}

// unlocatable decides about an object of which it is not known what it lives in now.
func (p *pruner) unlocatable(l *orphan) {
	parent := l.record.Address.Parent()
	i, wanted := p.indexOf(parent)
	switch {
	case wanted && p.states[i].presence == pending:
		l.decision = needsRead
	case wanted && (p.states[i].presence == absent || p.states[i].replaced):
		l.decision = vanished // with what it lived in
	default:
		l.block("the ID of " + string(parent) + " is not known")
	}
}

// checkContents makes sure that nothing would be deleted along with an object that planform
// did not make: what is below it, and what lives in it.
func (p *pruner) checkContents(l *orphan) {
	k := l.info.kind
	if field := parentField(k); field != nil {
		read, _ := l.listRead()
		rows := slices.Clip(p.in.Observed[read].Rows)
		for i := range p.states {
			if f := &p.states[i]; f.presence == hidden && f.info.kind == k {
				rows = append(rows, f.row)
			}
		}
		for _, row := range rows {
			if up, _ := field.ObservedIn(row); up == l.record.ID && !p.movesAway(k, row, field) {
				l.decision = l.block(label(k, row) + " below it stays")
				return
			}
		}
	}
	if k.Parent != "" && p.unchecked > 0 {
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
			l.decision = needsRead
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(rows)) {
			given := slices.ContainsFunc(displayTexts(child, rows[id]), func(n string) bool { return slices.Contains(child.Predefined, n) })
			in := p.createdByUs[serviceID{child.Name, id}]
			if source, _ := rows[id]["external_source"].(string); in == nil && source == resource.ExternalSource {
				mark, _ := rows[id]["external_id"].(string)
				if in = p.lostCreates[mark]; in != nil {
					in.recordCreated(id)
				}
			}
			if !given && (in == nil || in.parent != l) {
				l.decision = l.block("planform did not create the " + label(child, rows[id]) + " in it")
				return
			}
			if in != nil && in.decision == undecided && p.unchecked == 0 {
				p.checkContents(in)
			}
			if in != nil && (in.decision == needsRead || in.decision == blocked && l.decision != needsRead) {
				l.decision, l.reason = in.decision, "it would be deleted, but "+string(in.record.Address)+" in it stays"
			}
		}
	}
}

// movesAway reports whether a record that is below another one goes, or is to be elsewhere.
func (p *pruner) movesAway(k *resource.Kind, row resource.Row, field *resource.Field) bool {
	id := serviceID{k.Name, row.ID()}
	if i, wanted := p.owners[id]; wanted {
		_, moves := p.in.Desired[i].Value(field.Name)
		return moves
	}
	return p.createdByUs[id] != nil
}

// label is what people call a record: by its name, where it has one.
func label(k *resource.Kind, row resource.Row) string {
	for _, name := range displayTexts(k, row) {
		return k.Noun() + " " + strconv.Quote(name)
	}
	return k.Noun() + " " + row.ID()
}

// keepAncestors keeps whatever is above something that stays after all: the service
// deletes what is below an object with it.
func (p *pruner) keepAncestors() {
	inside := map[*orphan][]*orphan{}
	for _, l := range p.orphans {
		if l.parent != nil {
			inside[l.parent] = append(inside[l.parent], l)
		}
	}
	for stays := slices.Clone(p.orphans); len(stays) > 0; stays = stays[1:] {
		l := stays[0]
		field := parentField(l.info.kind)
		read, listed := l.listRead()
		if l.decision != blocked && l.decision != leftArchived || field == nil || !listed {
			continue
		}
		row := p.rows[read.Path][l.record.ID]
		up, _ := field.ObservedIn(row)
		over := p.createdByUs[serviceID{l.info.kind.Name, up}]
		if over == nil || over.decision != toDelete {
			continue
		}
		over.block(label(l.info.kind, row) + " below it stays")
		stays = append(stays, over)
		for _, in := range inside[over] {
			if in.decision == deleteWithParent { // by itself, now
				in.decision = undecided
				p.decide(in)
			}
		}
	}
}
