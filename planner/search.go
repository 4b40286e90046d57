package planner

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/resource"
)

const (
	margin = 2 * time.Minute // by which clocks usually differ
	wrong  = 24 * time.Hour  // by which a clock may be wrong, say by its time zone

	gap    = 10  // so many numbers in a row that nothing bears: there is no higher one
	steady = 20  // so many records in a row that are older than an intent: so are all before them
	most   = 200 // records that are looked at; beyond, somebody has to look
	ahead  = 20  // that are asked for in one round
)

// search looks at the objects of one parent by their readable numbers, which the
// service gives in the order in which it makes them.
type search struct {
	*Snapshot

	parent  int
	fact    *objectState   // of one of the objects
	known   map[int]string // IDs of what the state has, by number: that need not be read
	named   map[int]bool   // numbers that the manifest gives
	waiting bool           // some read has no answer yet
	failed  bool           // it is too much to look at, or nothing can be looked at
	missing []Read         // of numbers that nothing bears
}

// numbered is a record with its readable number.
type numbered struct {
	number  int
	row     resource.Row
	created time.Time // zero = not shown
}

// candidatesSince returns the records, in the order of their numbers, that may have been
// made by the creates. Those that the state knows are left out.
func (x *search) candidatesSince(path string, lost []*lostCreate) []numbered {
	x.loadKnown(path)
	if x.waiting {
		return nil
	}
	first := lost[0]
	floor, begin := 0, first.begin()
	for i, l := range lost {
		l.lowerBound = x.lowerBound(l.open)
		if i == 0 || l.lowerBound < floor {
			floor = l.lowerBound
		}
		if l.begin().Before(begin) {
			begin = l.begin()
		}
	}
	if x.failed = x.failed || floor == 0 && begin.IsZero(); x.waiting || x.failed {
		return nil
	}
	top := x.highest(floor)
	if x.waiting || x.failed {
		return nil
	}
	var rows []numbered
	looked, asked, old := 0, 0, 0
	for n := top; n > floor && asked < ahead && (floor > 0 || old < steady); n-- {
		if x.known[n] != "" {
			continue
		}
		if looked++; looked > most {
			x.failed = true
			return nil
		}
		h, answered := x.read(n)
		switch {
		case !answered:
			asked++
		case h.row == nil: // it was deleted
		default:
			if old++; !h.created.Before(begin) || h.created.IsZero() {
				old = 0
			}
			rows = append(rows, h)
		}
	}
	slices.Reverse(rows)
	return rows
}

// begin is when what a create made was made at the earliest, by the service's clock; zero = not known.
func (l *lostCreate) begin() time.Time {
	if l.open.At.IsZero() {
		return time.Time{}
	}
	return l.open.At.Add(-margin)
}

// loadKnown gathers the numbers that the state knows, if it means this parent:
// one that was made anew under the same key has other objects of these numbers.
func (x *search) loadKnown(path string) {
	const tries = 3
	x.known = map[int]string{}
	var numbers []int
	for address, r := range x.in.Prior {
		if r.ID == "" || address.NumberingScope() != path {
			continue
		}
		if n := x.number(r.Identifier); n > 0 {
			x.known[n] = r.ID
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range slices.Backward(numbers[max(0, len(numbers)-tries):]) {
		h, answered := x.read(n)
		switch {
		case !answered:
			return
		case h.row == nil: // that one was deleted
		case h.row.ID() == x.known[n]:
			return
		default:
			x.known = nil
			return
		}
	}
	x.known = nil
}

// number is that of a readable identifier of this parent, or 0.
func (x *search) number(identifier string) int {
	return numberOf(x.states[x.parent].identifier, identifier)
}

// numberOf is the number in a readable identifier that begins with a code; 0 if it does not.
func numberOf(code, identifier string) int {
	begin, text, _ := strings.Cut(identifier, "-")
	if code == "" || !strings.EqualFold(begin, code) {
		return 0
	}
	n, _ := strconv.Atoi(text) // 0 if it is none
	return n
}

// lowerBound is the number that was known when a create was sent, if what bears it
// shows that it did so then: the number may be of a parent that is no more.
func (x *search) lowerBound(open *Intent) int {
	if open.After == 0 || x.known[open.After] != "" {
		return open.After
	}
	h, _ := x.read(open.After)
	if h.row == nil || h.created.IsZero() || h.created.After(open.At.Add(margin)) {
		return 0
	}
	return open.After
}

// highest is the highest number that something bears, as far as can be told without
// reading all: the numbers of deleted objects are gaps.
func (x *search) highest(floor int) int {
	reach := 16 // look as far as 2^reach at once, for the first objects may be gone
	if floor > 0 {
		reach = 10
	}
	low, high := floor, 0
	for from := 0; high == 0 && !x.failed; from, reach = reach+1, reach+1 {
		if x.failed = reach > 30; !x.failed {
			var probes []int
			for i := from; i <= reach; i++ {
				probes = append(probes, floor+1<<i)
			}
			low, high = x.bisect(low, 0, probes)
		}
	}
	for high-low > 1 && !x.waiting && !x.failed {
		var probes []int
		step := max(1, (high-low)/4)
		for n := low + step; n < high; n += step {
			probes = append(probes, n)
		}
		low, high = x.bisect(low, high, probes)
	}
	if x.waiting {
		return low
	}
	for n := low + 1; n <= low+gap && !x.failed; n++ { // in one round
		if x.exists(n) {
			low = n
		}
	}
	return low
}

// bisect looks at rising numbers between low, which something bears, and high,
// which nothing does. It returns the highest that something bears and the lowest
// above that nothing does, high if all are borne.
func (x *search) bisect(low, high int, probes []int) (newLow, newHigh int) {
	newLow, newHigh = low, 0
	for _, n := range probes {
		switch {
		case x.exists(n):
			newLow, newHigh = n, 0
		case newHigh == 0:
			newHigh = n
		}
	}
	if newHigh == 0 {
		newHigh = high
	}
	return newLow, newHigh
}

// exists reports whether something bears a number, as far as is known yet.
func (x *search) exists(n int) bool {
	if x.known[n] != "" {
		return true
	}
	h, _ := x.read(n)
	return h.row != nil
}

// read looks at what bears a number; a row of nil is nothing.
func (x *search) read(n int) (h numbered, answered bool) {
	read := x.one(x.fact, x.fact.info.find, x.states[x.parent].identifier+"-"+strconv.Itoa(n))
	a, answered := x.ask(read)
	switch {
	case !answered:
		x.waiting = true
		return numbered{}, false
	case a.Unsupported:
		x.failed = true
		return numbered{}, true
	case a.NotFound || len(a.Rows) == 0:
		if !slices.Contains(x.missing, read) {
			x.missing = append(x.missing, read)
		}
		return numbered{}, true
	}
	row := a.Rows[0]
	if within, shown := row[x.fact.info.kind.Parent].(string); shown && resource.LowerID(within) != x.states[x.parent].id {
		x.failed = true // the numbers are not of this parent
	}
	at, _ := row["created_at"].(string)
	h = numbered{number: n, row: row}
	h.created, _ = time.Parse(time.RFC3339, at) // zero if it is none
	return h, true
}

// bearing returns the records of a name that one of the creates may have made.
// It is not sure of one that only the clocks say is older than all of them.
func (x *search) bearing(rows []numbered, name string, lost []*lostCreate) (hits []numbered, sure bool) {
	for _, h := range rows {
		if !slices.Contains(displayTexts(x.fact.info.kind, h.row), name) || x.claimed(h.row.ID()) || x.named[h.number] {
			continue
		}
		possible, doubtful := false, false
		for _, l := range lost {
			switch {
			case l.lowerBound > 0:
				possible = possible || h.number > l.lowerBound
			case h.created.IsZero() || l.begin().IsZero():
				doubtful = true
			default:
				possible = possible || !h.created.Before(l.begin())
				doubtful = doubtful || !h.created.Before(l.begin().Add(-wrong))
			}
		}
		switch {
		case possible:
			hits = append(hits, h)
		case doubtful:
			return nil, false
		}
	}
	return hits, true
}

// claimed reports whether the state or the manifest has the ID.
func (s *Snapshot) claimed(id string) bool {
	if s.claims == nil {
		s.claims = make(map[string]bool, len(s.in.Prior))
		for _, r := range s.in.Prior {
			s.claims[r.ID] = true
		}
		for _, o := range s.in.Desired {
			s.claims[o.ID] = true
		}
	}
	return s.claims[id]
}
