package planner

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
)

// maxGap is the number of consecutive unused numbers after which planform assumes that no higher number is in use.
const maxGap = 10

// recoverCreate returns the row that a create without an outcome made: the only row with the name that was sent, if no other such create
// sent the same name. It looks at readable numbers, because the documented operations cannot list work items. The presence indeterminate
// means that a person must check.
func (ie *identities) recoverCreate(o *resource.Object, f *objectState) (presence, []resource.Row) {
	intent := ie.objects.intents[o.Address]
	if intent.Name == "" || f.info.find == nil || f.parent == noObject || ie.objects.states[f.parent].identifier == "" {
		return indeterminate, nil
	}
	at := scope{f.info, f.parent}
	if ie.scans[at] == nil {
		ie.scans[at] = newScan(ie.analysis, o, f)
	}
	s, name := ie.scans[at], strings.TrimSpace(intent.Name)
	hits := slices.DeleteFunc(slices.Clone(s.rows), func(row resource.Row) bool { return !slices.Contains(o.Kind.DisplayTexts(row), name) })
	switch {
	case s.failed:
		return indeterminate, nil
	case len(hits) == 0:
		ie.service.unconfirmed = append(ie.service.unconfirmed, s.missing...)
		s.missing = nil
		return absent, nil
	case len(hits) == 1 && s.creates[name] == 1:
		return exists, hits
	default:
		return indeterminate, nil
	}
}

// scan holds the objects of one parent that creates without an outcome may have made. They have numbers above those that were known before,
// and neither the state nor the manifest knows them.
type scan struct {
	analysis

	one, parent *objectState    // one of the objects, and their parent
	known       map[int]string  // IDs by the numbers in the state
	taken       map[string]bool // IDs and readable identifiers of known objects
	creates     map[string]int  // number of creates without an outcome, by the name that they sent
	rows        []resource.Row
	reads       int
	missing     []Read // the reads of unused numbers
	failed      bool   // it took too many requests, or the numbers belong to another parent
}

// newScan reads the objects beside an object by their readable numbers, in ascending order.
func newScan(r analysis, o *resource.Object, one *objectState) *scan {
	s := &scan{
		analysis: r, one: one, parent: &r.objects.states[one.parent],
		known: map[int]string{}, taken: map[string]bool{}, creates: map[string]int{},
	}
	given := map[resource.Address]bool{}
	for _, sibling := range r.in.Desired {
		if sibling.Parent == o.Parent {
			s.taken[sibling.ID], s.taken[strings.ToUpper(sibling.Identifier)] = true, true
			given[sibling.Address] = sibling.ID != "" || sibling.Identifier != ""
		}
	}
	after := math.MaxInt // the lowest of the highest known numbers in the intents of the creates
	for address, record := range r.in.Prior {
		s.taken[record.ID] = true
		if address.NumberingScope() != o.Address.NumberingScope() {
			continue
		}
		if n := numberOf(s.parent.identifier, record.Identifier); n > 0 && record.ID != "" {
			s.known[n] = record.ID
		}
		if i := r.objects.intents[address]; i.creates() && !given[address] {
			s.creates[strings.TrimSpace(i.Name)]++
			if _, wanted := given[address]; wanted {
				after = min(after, i.After)
			}
		}
	}
	delete(s.taken, "")
	first, sure := s.firstNumber(after)
	for n, unused := first, 0; unused < maxGap && !s.failed; n++ {
		if unused++; n <= after { // lower numbers were in use: their objects are archived or deleted
			unused = 0
		}
		if sure && s.known[n] != "" {
			unused = 0
			continue
		}
		row := s.rowByNumber(n)
		if row == nil {
			continue
		}
		unused = 0
		if s.known[n] != "" && s.known[n] != row.ID() {
			after = 0 // the parent was made again
		}
		if within := row.Text(o.Kind.Parent); within != "" && resource.LowerID(within) != s.parent.id {
			s.failed = true
		}
		if !s.taken[row.ID()] && !s.taken[strings.ToUpper(r.objects.readableID(o.Kind, one.parent, row))] {
			s.rows = append(s.rows, row)
		}
	}
	return s
}

// firstNumber returns a number that is at most the number of every row that the creates made. It is 1, and sure is false, if the service
// shows none of the last known objects under its number: they are archived or deleted, or the parent was made again.
func (sc *scan) firstNumber(after int) (n int, sure bool) {
	const tries = 3
	numbers := slices.Sorted(maps.Keys(sc.known))
	if at, _ := slices.BinarySearch(numbers, after+1); at > 0 {
		numbers = numbers[:at]
	}
	for _, n := range slices.Backward(numbers[max(0, len(numbers)-tries):]) {
		if row := sc.rowByNumber(n); row != nil && row.ID() == sc.known[n] {
			return min(n, after) + 1, true
		}
	}
	sc.missing = nil
	return 1, false
}

// rowByNumber returns the row with a number; nil = there is none.
func (sc *scan) rowByNumber(n int) resource.Row {
	if sc.reads++; sc.reads > maxSingleReads {
		sc.failed = true
		return nil
	}
	read := sc.snapshot.readOne(sc.one, sc.one.info.find, sc.parent.identifier+"-"+strconv.Itoa(n))
	switch a := sc.service.ask(read); {
	case a.Unsupported:
		sc.failed = true
	case a.NotFound, len(a.Rows) == 0:
		sc.missing = append(sc.missing, read)
	default:
		return a.Rows[0]
	}
	return nil
}
