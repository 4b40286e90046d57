package planner

import (
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// settle finds out by readable numbers what became of a create without an
// outcome, where nothing else can tell: what it made bears a higher number than
// the highest that was known when it was sent, and the name that was sent. Things
// that the state knows under another address are not meant.
func (s *Survey) settle(o *resource.Object, f *fact) {
	const (
		gap  = 10  // so many numbers in a row that nothing bears: there is no higher one
		most = 200 // numbers that are looked at; beyond, somebody has to look
	)
	f.standing = unknown
	open := f.prior.Open
	if open.Action != Create || open.After == 0 || open.Name == "" || f.traits.find == nil || f.parent == none {
		return
	}
	code := s.facts[f.parent].identifier
	if code == "" || s.sent(f, open.Name) > 1 { // two of one name could not be told apart
		return
	}
	var hits []resource.Row
	waiting, missing := false, 0
	for n := open.After + 1; missing < gap; n++ {
		if n-open.After > most {
			return
		}
		a, answered := s.ask(s.one(f, f.traits.find, code+"-"+strconv.Itoa(n)))
		switch {
		case a.Lacking:
			return
		case !answered:
			waiting = true
			missing++
		case a.Missing || len(a.Rows) == 0:
			missing++
		default:
			missing = 0
			row := a.Rows[0]
			if slices.Contains(naturals(o.Kind, row), strings.TrimSpace(open.Name)) && !s.claimed(row.ID()) {
				hits = append(hits, row)
			}
		}
	}
	switch {
	case waiting:
		f.standing = pending
	case len(hits) == 0:
		f.standing = absent
	default:
		s.adopt(o, f, hits, byNumber)
	}
}

// sent counts the creates without an outcome that sent a name.
func (s *Survey) sent(f *fact, name string) int {
	if s.open == nil {
		s.open = map[nameKey]int{}
		for i := range s.facts {
			if f := &s.facts[i]; f.prior != nil && f.prior.Open != nil && f.prior.ID == "" {
				s.open[nameKey{f.traits, f.parent, f.prior.Open.Name}]++
			}
		}
	}
	return s.open[nameKey{f.traits, f.parent, name}]
}

// claimed reports whether the state has the ID.
func (s *Survey) claimed(id string) bool {
	if s.claims == nil {
		s.claims = make(map[string]bool, len(s.in.Prior))
		for _, r := range s.in.Prior {
			s.claims[r.ID] = true
		}
	}
	return s.claims[id]
}
