package planner

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
)

// recovery finds the outcome of creates by readable numbers, because the documented operations cannot list work items.
type recovery struct {
	analysis

	recovered map[*objectState]*unconfirmedCreate
}

// maxGap is the number of consecutive unused numbers after which planform assumes that no higher number is in use.
const maxGap = 10

// unconfirmedCreate is a create without an outcome.
type unconfirmedCreate struct {
	intent   *Intent
	presence presence
	rows     []resource.Row // the row that it made
}

// recoverCreate returns the row that a create without an outcome made: it has the name that was sent, and a number above those that were
// known before. The presence indeterminate means that a person must check.
func (rc *recovery) recoverCreate(f *objectState) (presence, []resource.Row) {
	if f.intent.Name == "" || f.info.find == nil || f.parent == noObject || rc.objects.states[f.parent].identifier == "" {
		return indeterminate, nil
	}
	if rc.recovered[f] == nil {
		rc.recoverAll(f)
	}
	if l := rc.recovered[f]; l != nil {
		return l.presence, l.rows
	}
	return indeterminate, nil
}

// recoverAll settles all creates without an outcome among the siblings of an object. It does so together, because several creates may have
// sent the same name: then nobody can tell which row belongs to which create.
func (rc *recovery) recoverAll(one *objectState) {
	s := &scan{recovery: rc, one: one, parent: &rc.objects.states[one.parent], known: map[int]string{}, lowest: -1}
	byName := map[string][]*unconfirmedCreate{}
	wanted, taken := map[resource.Address]bool{}, map[string]bool{} // taken: IDs and readable identifiers of other objects
	numbers := ""                                                   // the scope of the readable numbers
	for i, o := range rc.objects.all() {
		f := &rc.objects.states[i]
		if f.info != one.info || f.parent != one.parent {
			continue
		}
		numbers, wanted[o.Address] = o.Address.NumberingScope(), true
		taken[o.ID], taken[strings.ToUpper(o.Identifier)] = true, true
		if f.intent.creates() && o.ID == "" && o.Identifier == "" {
			l := &unconfirmedCreate{intent: f.intent, presence: indeterminate}
			name := strings.TrimSpace(l.intent.Name)
			byName[name], rc.recovered[f] = append(byName[name], l), l
			if s.lowest < 0 || l.intent.After < s.lowest {
				s.lowest = l.intent.After
			}
		}
	}
	dropped := map[string]bool{} // names in creates of objects that the manifest no longer has
	for address, r := range rc.in.Prior {
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
				taken[strings.ToUpper(rc.objects.readableID(one.info.kind, one.parent, row))]
		})
		for _, l := range lost {
			switch {
			case !complete: // indeterminate
			case len(hits) == 0:
				l.presence = absent
				rc.service.unconfirmed = append(rc.service.unconfirmed, s.missing...)
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

	one, parent *objectState   // one of the objects, and their parent
	known       map[int]string // IDs by the numbers in the state
	lowest      int            // the lowest of the highest known numbers in the intents of the creates
	failed      bool           // the service has no such route
	missing     []Read         // the reads of unused numbers
}

// bound returns a number above which all rows of the creates are. It is at most the highest number that was known when the first create was
// sent. If the service shows none of the known objects under its number, bound returns 0, because the parent may have been made again.
func (sc *scan) bound() int {
	const tries = 3
	numbers := slices.Sorted(maps.Keys(sc.known))
	if before, _ := slices.BinarySearch(numbers, sc.lowest+1); before > 0 {
		numbers = numbers[:before]
	}
	for _, n := range slices.Backward(numbers[max(0, len(numbers)-tries):]) {
		if row := sc.rowByNumber(n); row != nil && row.ID() == sc.known[n] {
			return min(n, sc.lowest)
		}
	}
	sc.known = nil // the numbers belong to another parent, or their objects are deleted
	return 0
}

// read returns the rows with numbers above the bound that the state does not know, lowest first. complete is false if that takes more than
// [maxSingleReads] requests, or if the numbers turn out to belong to another parent.
func (sc *scan) read() (rows []resource.Row, complete bool) {
	unused, reads := 0, 0
	for n := sc.bound() + 1; unused < maxGap; n++ {
		if sc.known[n] != "" {
			unused = 0
			continue
		}
		if reads++; reads > maxSingleReads {
			return nil, false
		}
		row := sc.rowByNumber(n)
		if row == nil {
			unused++
			continue
		}
		if within := row.Text(sc.one.info.kind.Parent); within != "" && resource.LowerID(within) != sc.parent.id {
			return nil, false
		}
		unused, rows = 0, append(rows, row)
	}
	return rows, !sc.failed
}

// rowByNumber returns the row with a number; nil = there is none.
func (sc *scan) rowByNumber(n int) resource.Row {
	read := sc.recovery.snapshot.readOne(sc.one, sc.one.info.find, sc.parent.identifier+"-"+strconv.Itoa(n))
	switch a := sc.recovery.service.ask(read); {
	case a.Unsupported:
		sc.failed = true
	case a.NotFound, len(a.Rows) == 0:
		sc.missing = append(sc.missing, read)
	default:
		return a.Rows[0]
	}
	return nil
}

// lostCreate looks for the object that the create of an orphan made if the answer was lost: a row with the orphan's mark. It returns the
// row's ID, or "" if there is none. lost is false if the record has an ID, or if the mark cannot be looked up.
func (ss *snapshot) lostCreate(r *Record, params map[string]string) (id string, lost bool) {
	t := ss.objects.kind(r.Address.Kind())
	if r.ID != "" || !r.PendingIntent.creates() || !t.externalIDs || t.list == nil || len(r.Sources) == 0 || ss.in.otherSource(r) != "" {
		return "", false
	}
	list, known := t.listRead(params)
	if !known {
		return "", true // nothing is created in a parent without an ID
	}
	a := ss.service.ask(list)
	for _, row := range a.Rows {
		if ss.in.marks().On(row, r.Address) && (id == "" || row.ID() < id) {
			id = row.ID()
		}
	}
	if id == "" && !a.NotFound && !a.Unsupported {
		ss.service.unconfirmed = append(ss.service.unconfirmed, list)
	}
	return id, true
}
