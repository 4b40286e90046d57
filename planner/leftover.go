package planner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// leftover is a thing that the state knows and the manifest does not have any more.
type leftover struct {
	record  Record
	traits  *traits
	delete  *resource.Operation // nil = not offered
	parent  *leftover           // what it lives in, if that is left over too
	params  map[string]string   // path parameters of its own requests; nil = they are not known
	fate    fate
	reason  string // why it stays
	visited bool
	step    *Step
}

// fate is what becomes of a leftover.
type fate int8

const (
	open        fate = iota
	waits            // a read must be answered first
	alone            // another manifest than those that are read may want it
	stays            // planform did not make it
	goes             // it is deleted
	goesAlong        // it is deleted with what it lives in
	isGone           // the service does not show it any more
	isElsewhere      // it has another address by now
	refused          // it is wanted no more, and cannot be deleted
)

// isThing reports whether a record is of a thing and not of the members of one.
func isThing(a resource.Address) bool {
	_, known := resource.Lookup(a.Kind())
	_, _, _, members := a.Roster()
	return known && !members
}

// countLeftovers counts the things that an earlier apply made and the manifest does not have any more.
func (s *Survey) countLeftovers() int {
	n := 0
	for address, r := range s.in.Prior {
		if s.mayGo(address, &r) {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	for _, o := range s.in.Desired {
		if r := s.in.Prior[o.Address]; s.mayGo(o.Address, &r) {
			n--
		}
	}
	return n
}

// mayGo reports whether a thing goes if the manifest does not have it.
func (s *Survey) mayGo(a resource.Address, r *Record) bool {
	return r.Made && isThing(a) && s.in.targeted(a) && s.in.abandoned(r)
}

// findLeftovers decides what becomes of the things that the state knows and the
// manifest does not have any more.
func (s *Survey) findLeftovers() {
	if !s.in.Prune || len(s.reads) > 0 { // else it is not clear yet what the manifest has
		return
	}
	s.gone = map[resource.Address]bool{}
	at := map[resource.Address]*leftover{}
	bound := map[serviceID]int{} // records of one thing
	made := map[serviceID]*leftover{}
	var kept []resource.Address // that are neither wanted nor targeted
	for address, r := range s.in.Prior {
		if !isThing(address) {
			continue
		}
		id := serviceID{address.Kind(), r.ID}
		bound[id]++
		_, wanted := s.placeOf(address)
		switch {
		case wanted:
		case !s.in.targeted(address):
			kept = append(kept, address)
		default:
			l := &leftover{record: r, traits: s.kinds[resource.Must(address.Kind())]}
			l.delete, _ = l.traits.kind.Op(resource.Delete, s.in.API)
			at[address] = l
			s.leftovers = append(s.leftovers, l)
			if r.Made && !r.Protect && s.in.abandoned(&r) {
				made[id] = l
			}
		}
	}
	slices.SortFunc(s.leftovers, func(a, b *leftover) int {
		return cmp.Or(cmp.Compare(a.traits.rank, b.traits.rank), cmp.Compare(a.record.Address, b.record.Address))
	})
	p := &pruner{
		Survey: s, at: at, bound: bound, made: made, lost: map[string]*leftover{}, holds: map[resource.Address]string{},
		listed: map[string]int{}, rows: map[string]map[string]resource.Row{},
	}
	slices.Sort(kept)
	for _, address := range kept {
		p.hold(address, string(address)+", which is in it, is not targeted")
	}
	for _, l := range s.leftovers { // parents first
		p.place(l)
	}
	p.afford()
	for _, l := range s.leftovers {
		p.decide(l)
		if l.fate == isGone {
			s.gone[l.record.Address] = true
		}
	}
	p.spare()
	s.blind = p.blind
}

// isGone reports whether a thing, or what it lives in, is left over and not on
// the service any more.
func (s *Survey) isGone(a resource.Address) bool {
	for ; a != ""; a = a.Parent() {
		if s.gone[a] {
			return true
		}
	}
	return false
}

// pruner decides what becomes of leftovers.
type pruner struct {
	*Survey
	at     map[resource.Address]*leftover
	bound  map[serviceID]int
	blind  int                         // things that are deleted without a look at what others put into them
	made   map[serviceID]*leftover     // that planform made and nothing protects
	lost   map[string]*leftover        // creates without an outcome, by the mark that was sent
	holds  map[resource.Address]string // what keeps a thing from being deleted
	listed map[string]int              // leftovers by the path of their list
	rows   map[string]map[string]resource.Row
}

// afford finds out whether it would take longer than a person waits, a minute of
// the usual quota, to look what others put into each thing that goes, such as
// their comments on a work item.
func (p *pruner) afford() {
	const most = 60
	reads, things := 0, 0
	for _, l := range p.leftovers {
		n := len(resource.Children(l.traits.kind.Name))
		if l.traits.parent == nil || n == 0 || l.fate != open {
			continue
		}
		reads, things = reads+n, things+1
	}
	if reads > most && !p.in.Thorough {
		p.blind = things
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

// paramsIn are the path parameters for what lives in a thing of the manifest or
// of the state ("" = the workspace), nil where an ID is not known.
func (s *Survey) paramsIn(parent resource.Address) map[string]string {
	params := map[string]string{"workspace_slug": s.in.Workspace}
	for ; parent != ""; parent = parent.Parent() {
		id := s.idAt(parent)
		if id == "" {
			return nil
		}
		params[resource.Must(parent.Kind()).Param] = id
	}
	return params
}

// idAt is the ID of a thing of the manifest, else of the state, or "".
func (s *Survey) idAt(a resource.Address) string {
	if i, wanted := s.placeOf(a); wanted {
		if f := &s.facts[i]; f.standing == there && !f.moved {
			return f.id
		}
		return ""
	}
	if id := s.in.Prior[a].ID; id != "" {
		return id
	}
	return s.codedAt(a)
}

// codedAt is the ID of a thing that neither the manifest nor the state has any
// more, but of which the identifiers of what lived in it tell its own: WEB-7 lived in WEB.
func (s *Survey) codedAt(a resource.Address) string {
	k, ok := resource.Lookup(a.Kind())
	if !ok || k.Identifier == nil || k.Identifier.Wire == "" || k.Parent != "" || s.kinds[k].list == nil {
		return ""
	}
	if s.codes == nil {
		s.codes = map[resource.Address]string{}
		for address, r := range s.in.Prior {
			code, _, ok := strings.Cut(r.Identifier, "-")
			parent := address.Parent()
			if have := s.codes[parent]; ok && (have == "" || code < have) { // whatever the order of the map
				s.codes[parent] = code
			}
		}
	}
	code := s.codes[a]
	if code == "" {
		return ""
	}
	l, _ := s.list(s.kinds[k], none)
	for _, row := range l.rows {
		if shown := s.readable(k, none, row); strings.EqualFold(shown, code) {
			return row.ID()
		}
	}
	return ""
}

// placeOf is the fact of a thing of the manifest.
func (s *Survey) placeOf(a resource.Address) (int32, bool) {
	if s.places == nil {
		s.places = make(map[resource.Address]int32, len(s.in.Desired))
		for i, o := range s.in.Desired {
			s.places[o.Address] = int32(i)
		}
	}
	i, ok := s.places[a]
	return i, ok
}

// decide decides what becomes of a leftover, after what it lives in.
func (p *pruner) decide(l *leftover) {
	switch {
	case l.fate != isElsewhere && l.parent != nil && l.parent.fate == isGone:
		l.fate = isGone
		return
	case (l.fate == stays || l.fate == refused || l.fate == alone) && l.record.ID != "" && l.traits.kind.Parent == "" && len(resource.Children(l.traits.kind.Name)) > 0:
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
		l.refuse("the " + p.in.API.Noun() + " cannot delete " + diag.A(l.traits.kind.Noun()) + "; planform state rm forgets it")
		return
	}
	if l.record.ID == "" && !p.recover(l) {
		return
	}
	if l.fate = p.look(l); l.fate == goes {
		p.empty(l)
	}
}

// verify finds out whether a thing that is not deleted is there at all: what is not
// cannot be asked what is in it.
func (p *pruner) verify(l *leftover) {
	was := *l
	if fate := p.look(l); fate != isGone && fate != waits {
		l.fate, l.reason = was.fate, was.reason
	} else {
		l.fate = fate
	}
}

// recover finds what a create made that has no outcome, by its mark.
func (p *pruner) recover(l *leftover) bool {
	read, _ := l.listRead()
	rows, answer := p.rowsOf(read)
	if answer == nil {
		l.fate = waits
		return false
	}
	for id, row := range rows {
		if !row.Marked(resource.Mark(p.in.Workspace, l.record.Address)) {
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

// made takes down what a create without an outcome made.
func (l *leftover) made(id string) {
	l.record.ID, l.record.Made, l.params[l.traits.kind.Param] = id, true, id
}

// refuse says why a thing stays that is wanted no more.
func (l *leftover) refuse(why string) fate {
	l.fate, l.reason = refused, "it would be deleted, but "+why
	return refused
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

// listRead is the read that lists a thing, where there is one.
func (l *leftover) listRead() (Read, bool) {
	if l.traits.list == nil || l.params == nil {
		return Read{}, false
	}
	path, missing := l.traits.list.Expand(l.params)
	return Read{Operation: l.traits.list, Path: path, Fields: l.traits.fields}, missing == ""
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

// empty makes sure that nothing would be deleted along with a thing that planform
// did not make: what is below it, and what lives in it.
func (p *pruner) empty(l *leftover) {
	k := l.traits.kind
	if field := above(k); field != nil {
		read, _ := l.listRead()
		for _, row := range p.in.Observed[read].Rows {
			if up, _ := field.Observed(row); up == l.record.ID && !p.leaves(k, row, field) {
				l.fate = l.refuse(p.called(k, row) + " is below it, and stays")
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
				l.fate = l.refuse("planform did not make the " + p.called(child, rows[id]) + ", which is in it")
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

func (p *pruner) called(k *resource.Kind, row resource.Row) string {
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
		over.refuse(p.called(l.traits.kind, row) + " is below it, and stays")
		stays = append(stays, over)
		for _, in := range inside[over] {
			if in.fate == goesAlong { // by itself, now
				in.fate = open
				p.decide(in)
			}
		}
	}
}
