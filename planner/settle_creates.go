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
	if f.intent.Name == "" || f.info.find == nil || f.parent == noObject || re.objects.states[f.parent].identifier == "" {
		return indeterminate, nil
	}
	if re.recovered[f] == nil {
		re.recoverAll(f)
	}
	if l := re.recovered[f]; l != nil {
		return l.presence, l.rows
	}
	return indeterminate, nil
}

// recoverAll settles all creates without an outcome of the objects beside one together, since several may have sent one name: then
// nobody can tell which record is whose.
func (re *recovery) recoverAll(one *objectState) {
	s := &scan{recovery: re, one: one, parent: &re.objects.states[one.parent], known: map[int]string{}, lowest: -1}
	byName := map[string][]*unconfirmedCreate{}
	wanted, taken := map[resource.Address]bool{}, map[string]bool{} // taken: IDs and readable identifiers of other objects
	numbers := ""                                                   // the scope of the readable numbers
	for i, o := range re.objects.all() {
		f := &re.objects.states[i]
		if f.info != one.info || f.parent != one.parent {
			continue
		}
		numbers, wanted[o.Address] = o.Address.NumberingScope(), true
		taken[o.ID], taken[strings.ToUpper(o.Identifier)] = true, true
		if f.intent.creates() && o.ID == "" && o.Identifier == "" {
			l := &unconfirmedCreate{intent: f.intent, presence: indeterminate}
			name := strings.TrimSpace(l.intent.Name)
			byName[name], re.recovered[f] = append(byName[name], l), l
			if s.lowest < 0 || l.intent.After < s.lowest {
				s.lowest = l.intent.After
			}
		}
	}
	dropped := map[string]bool{} // names that creates of objects sent which the manifest no longer has
	for address, r := range re.in.Prior {
		taken[r.ID] = true
		if address.NumberingScope() != numbers {
			continue
		}
		if n := numberOf(s.parent.identifier, r.Identifier); n > 0 && r.ID != "" {
			s.known[n] = r.ID
		}
		if r.PendingIntent.creates() && !wanted[address] {
			dropped[strings.TrimSpace(r.PendingIntent.Name)] = true
		}
	}
	delete(taken, "")
	rows, complete := s.read()
	for name, lost := range byName {
		hits := slices.DeleteFunc(slices.Clone(rows), func(row resource.Row) bool {
			return !slices.Contains(one.info.kind.DisplayTexts(row), name) || taken[row.ID()] ||
				taken[strings.ToUpper(re.objects.readableID(one.info.kind, one.parent, row))]
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

	one, parent *objectState   // one of the objects, and what they are in
	known       map[int]string // IDs by the numbers in the state
	lowest      int            // the lowest of the numbers that were known when the creates were sent
	failed      bool           // the service has no such route
	missing     []Read         // of unused numbers
}

// bound returns the number above which the creates made their records: the highest one that the state knows, that was known when the
// first of them was sent, and whose object is still there. It returns 0 if none was known then. A parent that was made again numbers anew:
// it returns 0 too.
func (s *scan) bound() int {
	const tries = 3
	numbers := slices.Sorted(maps.Keys(s.known))
	if before, _ := slices.BinarySearch(numbers, s.lowest+1); before > 0 {
		numbers = numbers[:before]
	}
	for _, n := range slices.Backward(numbers[max(0, len(numbers)-tries):]) {
		if row := s.at(n); row != nil && row.ID() == s.known[n] {
			return min(n, s.lowest)
		}
	}
	s.known = nil // they are numbers of another parent, or all deleted
	return 0
}

// read returns the records with numbers above the bound that the state does not know, lowest first. It is not complete if that takes
// more than [maxSingleReads] requests, or if the numbers turn out to be of another parent.
func (s *scan) read() (rows []resource.Row, complete bool) {
	unused, reads := 0, 0
	for n := s.bound() + 1; unused < maxGap; n++ {
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
		if within := row.Text(s.one.info.kind.Parent); within != "" && resource.LowerID(within) != s.parent.id {
			return nil, false
		}
		unused, rows = 0, append(rows, row)
	}
	return rows, !s.failed
}

// at returns the record with a number; nil = there is none.
func (s *scan) at(n int) resource.Row {
	read := s.recovery.snapshot.readOne(s.one, s.one.info.find, s.parent.identifier+"-"+strconv.Itoa(n))
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

// lostCreate looks for what the create of an orphan made whose answer was lost: an object that bears the orphan's mark. It returns the
// object's ID, or "" if there is none. lost is false if the record has an ID, or if no mark can tell.
func (s *snapshot) lostCreate(r *Record, params map[string]string) (id string, lost bool) {
	t := s.objects.kind(r.Address.Kind())
	if r.ID != "" || !r.PendingIntent.creates() || !t.externalIDs || t.list == nil || len(r.Sources) == 0 || s.in.otherSource(r) != "" {
		return "", false
	}
	list, known := t.listRead(params)
	if !known {
		return "", true // nothing is created in a parent without an ID
	}
	a := s.service.ask(list)
	for _, row := range a.Rows {
		if s.in.marks().On(row, r.Address) && (id == "" || row.ID() < id) {
			id = row.ID()
		}
	}
	if id == "" && !a.NotFound && !a.Unsupported {
		s.service.unconfirmed = append(s.service.unconfirmed, list)
	}
	return id, true
}
