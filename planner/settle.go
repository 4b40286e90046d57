package planner

import (
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// sequel is what came, within one parent, after creates without an outcome that
// can only be told by their readable numbers.
type sequel struct {
	lost  []*loss
	of    map[*fact]*loss
	names map[string][]*loss
	stray map[string]bool // names that creates of things sent which the manifest does not have any more
}

// loss is a create without an outcome.
type loss struct {
	at       int32 // its fact
	open     *Intent
	floor    int // what it made bears a higher number; 0 = not known
	standing standing
	hits     []resource.Row // that could be it, if there is more than one or it is there
}

// settle finds out by readable numbers what became of a create without an
// outcome, where nothing else can tell: what it made came after it was sent and
// bears the name that was sent.
func (s *Survey) settle(o *resource.Object, f *fact) {
	f.standing = unknown
	if f.prior.Open.Name == "" || f.traits.find == nil || f.parent == none || s.facts[f.parent].identifier == "" {
		return
	}
	at := scope{f.traits, f.parent}
	q := s.sequels[at]
	if q == nil {
		q = s.follow(at)
		if s.sequels == nil {
			s.sequels = map[scope]*sequel{}
		}
		s.sequels[at] = q
	}
	l := q.of[f]
	if l == nil {
		return
	}
	if f.standing = l.standing; f.standing == there {
		s.adopt(o, f, l.hits, byNumber)
	}
}

// follow settles all creates without an outcome of a kind within a parent. They
// are settled together, since several may have sent one name.
func (s *Survey) follow(at scope) *sequel {
	q := &sequel{of: map[*fact]*loss{}, names: map[string][]*loss{}, stray: map[string]bool{}}
	x := &search{Survey: s, parent: at.parent, named: map[int]bool{}}
	var path string
	meant := map[resource.Address]bool{}
	for i := range s.facts {
		f, o := &s.facts[i], s.in.Desired[i]
		if f.traits != at.kind || f.parent != at.parent {
			continue
		}
		path = o.Address.Sequence()
		meant[o.Address] = true
		x.named[x.number(o.Identifier)] = true
		if !f.sent() || o.ID != "" || o.Identifier != "" {
			continue
		}
		l := &loss{at: int32(i), open: f.prior.Open, standing: unknown}
		name := strings.TrimSpace(l.open.Name)
		q.lost, q.of[f], q.names[name] = append(q.lost, l), l, append(q.names[name], l)
	}
	for address, r := range s.in.Prior {
		if r.Open.creates() && !meant[address] && address.Sequence() == path {
			q.stray[strings.TrimSpace(r.Open.Name)] = true
		}
	}
	x.fact = &s.facts[q.lost[0].at]
	rows := x.since(path, q.lost)
	for name, lost := range q.names {
		switch {
		case x.waiting:
			for _, l := range lost {
				l.standing = pending
			}
		case !x.failed:
			if hits, sure := x.bearing(rows, name, lost); sure {
				s.decide(lost, hits, q.stray[name])
			}
		}
	}
	if slices.ContainsFunc(q.lost, func(l *loss) bool { return l.standing == absent }) {
		s.unseen = append(s.unseen, x.missing...)
	}
	return q
}

// creates reports whether an intent is there and is one to create something.
func (i *Intent) creates() bool { return i != nil && i.Action == Create }

// decide tells which of the records that bear a name was made by which of the
// creates that sent it, if by any. What cannot be decided stays unknown.
func (s *Survey) decide(lost []*loss, hits []numbered, stray bool) {
	switch {
	case len(hits) == 0:
		for _, l := range lost {
			l.standing = absent
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
			agreeing := slices.DeleteFunc(slices.Clone(rows), func(row resource.Row) bool { return !s.agrees(lost[0], row) })
			if len(agreeing) == 1 {
				rows = agreeing
			}
		}
		lost[0].standing, lost[0].hits = there, rows // several are an error that names them
		return
	}
	p := &pairing{Survey: s, lost: slices.Clone(lost), hits: hits, wish: map[*loss]string{}}
	for _, l := range lost {
		p.wish[l] = s.wish(l)
	}
	if made, decided := p.pair(); decided {
		for _, l := range lost {
			l.standing = absent
			if row, ok := made[l]; ok {
				l.standing, l.hits = there, []resource.Row{row}
			}
		}
	}
}

// pairing brings together what several creates of one name sent and what is
// there. Creates that sent the same are as good as each other.
type pairing struct {
	*Survey

	lost []*loss // in the order of the manifest
	hits []numbered
	wish map[*loss]string // all that it sent
}

// pair takes one sure pair after the other. It is not decided where something
// fits nothing, or what is left fits in more than one way.
func (p *pairing) pair() (made map[*loss]resource.Row, decided bool) {
	made = map[*loss]resource.Row{}
	for len(p.hits) > 0 {
		l, i := p.next()
		if l == nil {
			return nil, false
		}
		made[l] = p.hits[i].row
		p.lost = slices.DeleteFunc(p.lost, func(other *loss) bool { return other == l })
		p.hits = slices.Delete(p.hits, i, i+1)
	}
	return made, true
}

// next is a pair that cannot be otherwise; nil = there is none.
func (p *pairing) next() (l *loss, hit int) {
	if len(p.hits) > len(p.lost) {
		return nil, 0
	}
	for i, h := range p.hits { // somebody made it; what a higher number fits is more
		fit := slices.DeleteFunc(slices.Clone(p.lost), func(l *loss) bool { return !p.fits(l, h) })
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
		i := slices.IndexFunc(p.hits, func(h numbered) bool { return p.fits(l, h) })
		if i >= 0 && !slices.ContainsFunc(p.hits[i+1:], func(h numbered) bool { return p.fits(l, h) }) {
			return l, i
		}
	}
	return nil, 0
}

func (p *pairing) fits(l *loss, h numbered) bool { return h.number > l.floor && p.agrees(l, h.row) }

// alike reports whether creates sent the same.
func (p *pairing) alike(lost []*loss) bool {
	return !slices.ContainsFunc(lost, func(l *loss) bool { return p.wish[l] != p.wish[lost[0]] })
}

// agrees reports whether a record shows nothing else than a create sent.
func (s *Survey) agrees(l *loss, row resource.Row) bool {
	o := s.in.Desired[l.at]
	sent := o.Sends(s.in.API)
	for _, v := range sent {
		want, complete := v.Wanted(s.knownThen(l.at))
		have, known := v.Field.Observed(row)
		if complete && known && have != want {
			return false
		}
	}
	if k := o.Kind; k.Nests != "" && !slices.ContainsFunc(sent, func(v *resource.Value) bool { return v.Field.Name == k.Nests }) {
		field, _ := k.Field(k.Nests)
		parent, known := field.Observed(row)
		return !known || parent == "" // the service gives nothing a parent by itself
	}
	return true
}

// wish is all that a create sent, as a text.
func (s *Survey) wish(l *loss) string {
	var b strings.Builder
	for _, v := range s.in.Desired[l.at].Sends(s.in.API) {
		want, complete := v.Wanted(s.knownThen(l.at))
		if !complete {
			want = Show(v)
		}
		b.WriteString(strconv.Quote(v.Field.Name) + strconv.Quote(want))
	}
	return b.String()
}

// knownThen resolves references to what the state knows: what a request named was
// there when it was sent.
func (s *Survey) knownThen(i int32) resource.Resolve {
	return func(field *resource.Field, r *resource.Reference) (string, bool) {
		at, id, ok := s.target(i, s.facts[i].traits.ref(field), r)
		if ok && at != none && s.facts[at].standing != there {
			if id = s.in.Desired[at].ID; id == "" {
				id = s.in.Prior[s.in.Desired[at].Address].ID
			}
		}
		return id, ok && id != ""
	}
}
