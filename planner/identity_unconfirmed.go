package planner

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// recovery finds what became of creates without an outcome if only readable numbers tell: the documented operations list no work items.
type recovery struct {
	analysis

	recovered map[*objectState]*unconfirmedCreate
}

// maxGap is the number of unused numbers in a row after which planform takes it that no higher one is in use.
const maxGap = 10

// unconfirmedCreate is a create without an outcome.
type unconfirmedCreate struct {
	intent   *Intent
	presence presence
	rows     []resource.Row // the record that it made
}

// recoverCreate returns what a create without an outcome made: a record with the name that was sent, and a higher number than was
// known before. Indeterminate means that a person has to look.
func (re *recovery) recoverCreate(f *objectState) (presence, []resource.Row) {
	if f.prior.PendingIntent.Name == "" || f.info.find == nil || f.parent == noObject || re.objects.states[f.parent].identifier == "" {
		return indeterminate, nil
	}
	if re.recovered[f] == nil {
		re.recoverAll(scope{f.info, f.parent})
	}
	if l := re.recovered[f]; l != nil {
		return l.presence, l.rows
	}
	return indeterminate, nil
}

// recoverAll settles all creates without an outcome of a kind within a parent together, since several may have sent one name: then
// nobody can tell which record is whose.
func (re *recovery) recoverAll(at scope) {
	code := re.objects.states[at.parent].identifier
	byName := map[string][]*unconfirmedCreate{}
	wanted, taken := map[resource.Address]bool{}, map[string]bool{} // taken: IDs and readable identifiers of other objects
	var sample *objectState
	numbers := "" // the scope of the readable numbers
	for i := range re.objects.count() {
		f, o := &re.objects.states[i], re.in.Desired[i]
		if f.info != at.kind || f.parent != at.parent {
			continue
		}
		sample, numbers, wanted[o.Address] = f, o.Address.NumberingScope(), true
		taken[o.ID], taken[strings.ToUpper(o.Identifier)] = true, true
		if f.maybeCreated() && o.ID == "" && o.Identifier == "" {
			l := &unconfirmedCreate{intent: f.prior.PendingIntent, presence: indeterminate}
			name := strings.TrimSpace(l.intent.Name)
			byName[name], re.recovered[f] = append(byName[name], l), l
		}
	}
	known, dropped := map[int]string{}, map[string]bool{} // dropped: names that creates of objects sent which the manifest no longer has
	for address, r := range re.in.Prior {
		taken[r.ID] = true
		if address.NumberingScope() != numbers {
			continue
		}
		if n := numberOf(code, r.Identifier); n > 0 && r.ID != "" {
			known[n] = r.ID
		}
		if r.PendingIntent.creates() && !wanted[address] {
			dropped[strings.TrimSpace(r.PendingIntent.Name)] = true
		}
	}
	delete(taken, "")
	s := &scan{recovery: re, sample: sample, code: code, known: known}
	rows, complete := s.read(s.bound(byName))
	for name, lost := range byName {
		hits := slices.DeleteFunc(slices.Clone(rows), func(row resource.Row) bool {
			return !slices.Contains(at.kind.kind.DisplayTexts(row), name) || taken[row.ID()] ||
				taken[strings.ToUpper(re.objects.readableID(at.kind.kind, at.parent, row))]
		})
		for _, l := range lost {
			switch {
			case !complete: // indeterminate
			case len(hits) == 0:
				l.presence = absent
				re.service.unconfirmed = append(re.service.unconfirmed, s.missing...)
				s.missing = nil
			case len(hits)+len(lost) == 2 && !dropped[name]:
				l.presence, l.rows = exists, hits
			}
		}
	}
}

// scan reads the objects of one parent by their readable numbers.
type scan struct {
	recovery *recovery

	sample  *objectState // one of the objects
	code    string       // of the parent, such as WEB
	known   map[int]string
	failed  bool   // the service has no such route
	missing []Read // of unused numbers
}

// bound returns the number above which the creates made their records: the highest one that the state knows, that was known when the
// first of them was sent, and whose object is still there. It returns 0 if none was known then. A parent that was made again numbers anew:
// it returns 0 too.
func (s *scan) bound(byName map[string][]*unconfirmedCreate) int {
	const tries = 3
	lowest := -1
	for _, lost := range byName {
		for _, l := range lost {
			if lowest < 0 || l.intent.After < lowest {
				lowest = l.intent.After
			}
		}
	}
	numbers := slices.Sorted(maps.Keys(s.known))
	if before, _ := slices.BinarySearch(numbers, lowest+1); before > 0 {
		numbers = numbers[:before]
	}
	for _, n := range slices.Backward(numbers[max(0, len(numbers)-tries):]) {
		if row := s.at(n); row != nil && row.ID() == s.known[n] {
			return min(n, lowest)
		}
	}
	s.known = nil // they are numbers of another parent, or all deleted
	return 0
}

// read returns the records with numbers above a bound that the state does not know, lowest first. It is not complete if that takes
// more than [maxSingleReads] requests, or if the numbers turn out to be of another parent.
func (s *scan) read(bound int) (rows []resource.Row, complete bool) {
	unused, reads := 0, 0
	for n := bound + 1; unused < maxGap; n++ {
		if s.known[n] != "" {
			unused = 0
			continue
		}
		if reads++; reads > maxSingleReads {
			return nil, false
		}
		row := s.at(n)
		if row == nil {
			unused++
			continue
		}
		if within, shown := row[s.sample.info.kind.Parent].(string); shown && resource.LowerID(within) != s.recovery.objects.states[s.sample.parent].id {
			return nil, false
		}
		unused, rows = 0, append(rows, row)
	}
	return rows, !s.failed
}

// at returns the record with a number; nil = there is none.
func (s *scan) at(n int) resource.Row {
	read := s.recovery.snapshot.readOne(s.sample, s.sample.info.find, s.code+"-"+strconv.Itoa(n))
	switch a := s.recovery.service.ask(read); {
	case a.Unsupported:
		s.failed = true
	case a.NotFound, len(a.Rows) == 0:
		s.missing = append(s.missing, read)
	default:
		return a.Rows[0]
	}
	return nil
}
