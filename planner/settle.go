package planner

import (
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// lostCreates is what came, within one parent, after creates without an outcome that
// can only be told by their readable numbers.
type lostCreates struct {
	lost       []*lostCreate
	of         map[*objectState]*lostCreate
	names      map[string][]*lostCreate
	strayNames map[string]bool // names that creates of objects sent which the manifest does not have any more
}

// lostCreate is a create without an outcome.
type lostCreate struct {
	at         int // its state
	open       *Intent
	lowerBound int // what it made bears a higher number; 0 = not known
	presence   presence
	hits       []resource.Row // that could be it, if there is more than one or it is there
}

// recoverCreate finds out by readable numbers what became of a create without an
// outcome, where nothing else can tell: what it made came after it was sent and
// bears the name that was sent.
func (s *Snapshot) recoverCreate(o *resource.Object, f *objectState) {
	f.presence = indeterminate
	if f.prior.PendingIntent.Name == "" || f.info.find == nil || f.parent == none || s.states[f.parent].identifier == "" {
		return
	}
	at := scope{f.info, f.parent}
	q := s.lostCreates[at]
	if q == nil {
		q = s.recoverAll(at)
		if s.lostCreates == nil {
			s.lostCreates = map[scope]*lostCreates{}
		}
		s.lostCreates[at] = q
	}
	l := q.of[f]
	if l == nil {
		return
	}
	if f.presence = l.presence; f.presence == exists {
		s.adopt(o, f, l.hits, byNumber)
	}
}

// recoverAll settles all creates without an outcome of a kind within a parent. They
// are settled together, since several may have sent one name.
func (s *Snapshot) recoverAll(at scope) *lostCreates {
	q := &lostCreates{of: map[*objectState]*lostCreate{}, names: map[string][]*lostCreate{}, strayNames: map[string]bool{}}
	x := &search{Snapshot: s, parent: at.parent, named: map[int]bool{}}
	var path string
	meant := map[resource.Address]bool{}
	for i := range s.states {
		f, o := &s.states[i], s.in.Desired[i]
		if f.info != at.kind || f.parent != at.parent {
			continue
		}
		path = o.Address.NumberingScope()
		meant[o.Address] = true
		x.named[x.number(o.Identifier)] = true
		if !f.maybeCreated() || o.ID != "" || o.Identifier != "" {
			continue
		}
		l := &lostCreate{at: i, open: f.prior.PendingIntent, presence: indeterminate}
		name := strings.TrimSpace(l.open.Name)
		q.lost, q.of[f], q.names[name] = append(q.lost, l), l, append(q.names[name], l)
	}
	for address, r := range s.in.Prior {
		if r.PendingIntent.creates() && !meant[address] && address.NumberingScope() == path {
			q.strayNames[strings.TrimSpace(r.PendingIntent.Name)] = true
		}
	}
	x.fact = &s.states[q.lost[0].at]
	rows := x.candidatesSince(path, q.lost)
	for name, lost := range q.names {
		switch {
		case x.waiting:
			for _, l := range lost {
				l.presence = pending
			}
		case !x.failed:
			if hits, sure := x.bearing(rows, name, lost); sure {
				s.assign(lost, hits, q.strayNames[name])
			}
		}
	}
	if slices.ContainsFunc(q.lost, func(l *lostCreate) bool { return l.presence == absent }) {
		s.unconfirmed = append(s.unconfirmed, x.missing...)
	}
	return q
}

// creates reports whether an intent is there and is one to create something.
func (i *Intent) creates() bool { return i != nil && i.Action == Create }

// assign tells which of the records that bear a name was made by which of the
// creates that sent it, if by any. What cannot be decided stays unknown.
func (s *Snapshot) assign(lost []*lostCreate, hits []numbered, stray bool) {
	switch {
	case len(hits) == 0:
		for _, l := range lost {
			l.presence = absent
		}
		return
	case stray: // what is there may be what that made
		return
	case len(lost) == 1:
		rows := make([]resource.Row, len(hits))
		for i, h := range hits {
			rows[i] = h.row
		}
		if len(rows) > 1 {
			agreeing := slices.DeleteFunc(slices.Clone(rows), func(row resource.Row) bool { return !s.consistent(lost[0], row) })
			if len(agreeing) == 1 {
				rows = agreeing
			}
		}
		lost[0].presence, lost[0].hits = exists, rows // several are an error that names them
		return
	}
	p := &assignment{Snapshot: s, lost: slices.Clone(lost), hits: hits, fingerprints: map[*lostCreate]string{}}
	for _, l := range lost {
		p.fingerprints[l] = s.fingerprint(l)
	}
	if made, decided := p.pair(); decided {
		for _, l := range lost {
			l.presence = absent
			if row, ok := made[l]; ok {
				l.presence, l.hits = exists, []resource.Row{row}
			}
		}
	}
}

// assignment brings together what several creates of one name sent and what is
// there. Creates that sent the same are as good as each other.
type assignment struct {
	*Snapshot

	lost         []*lostCreate // in the order of the manifest
	hits         []numbered
	fingerprints map[*lostCreate]string // all that it sent
}

// pair takes one sure pair after the other. It is not decided where something
// fits nothing, or what is left fits in more than one way.
func (p *assignment) pair() (made map[*lostCreate]resource.Row, decided bool) {
	made = map[*lostCreate]resource.Row{}
	for len(p.hits) > 0 {
		l, i := p.next()
		if l == nil {
			return nil, false
		}
		made[l] = p.hits[i].row
		p.lost = slices.DeleteFunc(p.lost, func(other *lostCreate) bool { return other == l })
		p.hits = slices.Delete(p.hits, i, i+1)
	}
	return made, true
}

// next is a pair that cannot be otherwise; nil = there is none.
func (p *assignment) next() (l *lostCreate, hit int) {
	if len(p.hits) > len(p.lost) {
		return nil, 0
	}
	for i, h := range p.hits { // somebody made it; what a higher number fits is more
		fit := slices.DeleteFunc(slices.Clone(p.lost), func(l *lostCreate) bool { return !p.matches(l, h) })
		if len(fit) == 0 {
			return nil, 0
		}
		if p.alike(fit) {
			return fit[0], i
		}
	}
	if len(p.hits) < len(p.lost) {
		return nil, 0
	}
	for _, l := range p.lost { // each of them made something
		i := slices.IndexFunc(p.hits, func(h numbered) bool { return p.matches(l, h) })
		if i >= 0 && !slices.ContainsFunc(p.hits[i+1:], func(h numbered) bool { return p.matches(l, h) }) {
			return l, i
		}
	}
	return nil, 0
}

func (p *assignment) matches(l *lostCreate, h numbered) bool {
	return h.number > l.lowerBound && p.consistent(l, h.row)
}

// alike reports whether creates sent the same.
func (p *assignment) alike(lost []*lostCreate) bool {
	return !slices.ContainsFunc(lost, func(l *lostCreate) bool { return p.fingerprints[l] != p.fingerprints[lost[0]] })
}

// consistent reports whether a record shows nothing else than a create sent.
func (s *Snapshot) consistent(l *lostCreate, row resource.Row) bool {
	o := s.in.Desired[l.at]
	sent := o.Sendable(s.in.API)
	for _, v := range sent {
		want, complete := v.Desired(s.idsWhenSent(l.at))
		have, known := v.Field.ObservedIn(row)
		if complete && known && have != want {
			return false
		}
	}
	if k := o.Kind; k.ParentField != "" && !slices.ContainsFunc(sent, func(v *resource.Value) bool { return v.Field.Name == k.ParentField }) {
		field, _ := k.Field(k.ParentField)
		parent, known := field.ObservedIn(row)
		return !known || parent == "" // the service gives nothing a parent by itself
	}
	return true
}

// fingerprint is all that a create sent, as a text.
func (s *Snapshot) fingerprint(l *lostCreate) string {
	var b strings.Builder
	for _, v := range s.in.Desired[l.at].Sendable(s.in.API) {
		want, complete := v.Desired(s.idsWhenSent(l.at))
		if !complete {
			want = Show(v)
		}
		b.WriteString(strconv.Quote(v.Field.Name) + strconv.Quote(want))
	}
	return b.String()
}

// idsWhenSent resolves references to what the state knows: what a request named was
// there when it was sent.
func (s *Snapshot) idsWhenSent(i int) resource.IDResolver {
	return func(field *resource.Field, r *resource.Reference) (string, bool) {
		at, id, ok := s.target(i, s.states[i].info.ref(field), r)
		if ok && at != none && s.states[at].presence != exists {
			if id = s.in.Desired[at].ID; id == "" {
				id = s.in.Prior[s.in.Desired[at].Address].ID
			}
		}
		return id, ok && id != ""
	}
}
