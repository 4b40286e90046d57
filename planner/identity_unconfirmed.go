package planner

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/resource"
)

// recovery finds out what became of creates without an outcome where only readable numbers
// tell: the documented operations list no work items.
type recovery struct {
	analysis

	recovered map[*objectState]*unconfirmedCreate
	claims    map[string]bool // IDs that the state or the manifest has; made when first needed
}

const (
	clockSkew     = 2 * time.Minute // by which clocks usually differ
	maxClockError = 24 * time.Hour  // by which a clock may be wrong, say by its time zone

	maxGap        = 10  // so many unused numbers in a row: there is no higher one
	maxOlder      = 20  // so many records in a row older than an intent: so are all before them
	maxCandidates = 200 // records that are looked at; beyond, a person has to look
	readsPerRound = 20
)

// unconfirmedCreate is a create without an outcome.
type unconfirmedCreate struct {
	object     objectID // its state
	intent     *Intent
	lowerBound int // its record has a higher number; 0 = not known
	presence   presence
	rows       []resource.Row // the record; or all that could be it
}

// earliest is when its record was created at the earliest, by the service's clock; zero = not known.
func (l *unconfirmedCreate) earliest() time.Time {
	if l.intent.At.IsZero() {
		return time.Time{}
	}
	return l.intent.At.Add(-clockSkew)
}

// numbered is a record with its readable number.
type numbered struct {
	number  int
	row     resource.Row
	created time.Time // zero = not shown
}

// recoverCreate finds what a create without an outcome made: its record has the name that was
// sent, and a higher number than was known before.
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

// recoverAll settles all creates without an outcome of a kind within a parent together,
// since several may have sent one name.
func (re *recovery) recoverAll(at scope) {
	x := &search{recovery: re, parent: at.parent, namedInManifest: map[int]bool{}}
	byName := map[string][]*unconfirmedCreate{}
	wanted := map[resource.Address]bool{}
	for i := range re.objects.count() {
		f, o := &re.objects.states[i], re.in.Desired[i]
		if f.info != at.kind || f.parent != at.parent {
			continue
		}
		x.sample, x.path = f, o.Address.NumberingScope()
		wanted[o.Address] = true
		x.namedInManifest[x.number(o.Identifier)] = true
		if !f.maybeCreated() || o.ID != "" || o.Identifier != "" {
			continue
		}
		l := &unconfirmedCreate{object: i, intent: f.prior.PendingIntent, presence: indeterminate}
		name := strings.TrimSpace(l.intent.Name)
		x.lost, byName[name], re.recovered[f] = append(x.lost, l), append(byName[name], l), l
	}
	orphanNames := map[string]bool{} // sent by creates of objects that the manifest no longer has
	for address, r := range re.in.Prior {
		if r.PendingIntent.creates() && !wanted[address] && address.NumberingScope() == x.path {
			orphanNames[strings.TrimSpace(r.PendingIntent.Name)] = true
		}
	}
	candidates := x.candidates()
	for name, lost := range byName {
		switch {
		case x.waiting:
			for _, l := range lost {
				l.presence = pending
			}
		case !x.failed:
			if records, sure := x.named(candidates, name, lost); sure && (len(records) == 0 || !orphanNames[name]) {
				re.assign(lost, records)
			}
		}
	}
	if slices.ContainsFunc(x.lost, func(l *unconfirmedCreate) bool { return l.presence == absent }) {
		re.service.unconfirmed = append(re.service.unconfirmed, x.missing...)
	}
}

// assign decides which create made which of the records that have its name. What cannot be
// decided stays indeterminate.
func (re *recovery) assign(lost []*unconfirmedCreate, records []numbered) {
	if len(lost) == 1 && len(records) > 0 {
		consistent := slices.DeleteFunc(slices.Clone(records), func(r numbered) bool { return !re.consistent(lost[0], r.row) })
		if len(consistent) == 1 {
			records = consistent
		}
		lost[0].presence = exists
		for _, r := range records { // several are an error that names them
			lost[0].rows = append(lost[0].rows, r.row)
		}
		return
	}
	made, decided := re.pair(lost, records)
	if !decided {
		return
	}
	for _, l := range lost {
		l.presence = absent
		if row, ok := made[l]; ok {
			l.presence, l.rows = exists, []resource.Row{row}
		}
	}
}

// pair takes one certain pair after the other. It is not decided where a record fits no
// create, or the rest fits in more than one way.
func (re *recovery) pair(lost []*unconfirmedCreate, records []numbered) (made map[*unconfirmedCreate]resource.Row, decided bool) {
	lost, made = slices.Clone(lost), map[*unconfirmedCreate]resource.Row{}
	for len(records) > 0 {
		l, i := re.certainPair(lost, records)
		if l == nil {
			return nil, false
		}
		made[l] = records[i].row
		lost = slices.DeleteFunc(lost, func(other *unconfirmedCreate) bool { return other == l })
		records = slices.Delete(records, i, i+1)
	}
	return made, true
}

// certainPair is a create and the record that it alone can have made; nil = there is none.
// Creates that sent the same are interchangeable.
func (re *recovery) certainPair(lost []*unconfirmedCreate, records []numbered) (l *unconfirmedCreate, record int) {
	if len(records) > len(lost) {
		return nil, 0
	}
	for i, r := range records {
		fitting := slices.DeleteFunc(slices.Clone(lost), func(l *unconfirmedCreate) bool {
			return r.number <= l.lowerBound ||
				!re.consistent(l, r.row)
		})
		if len(fitting) == 0 {
			return nil, 0
		}
		first := re.fingerprint(fitting[0])
		if !slices.ContainsFunc(fitting[1:], func(l *unconfirmedCreate) bool { return re.fingerprint(l) != first }) {
			return fitting[0], i
		}
	}
	return nil, 0
}

// consistent reports whether a record shows only what a create sent.
func (re *recovery) consistent(l *unconfirmedCreate, row resource.Row) bool {
	o := re.in.Desired[l.object]
	sent := o.Sendable(re.in.API)
	for _, v := range sent {
		want, complete := v.Desired(re.idWhenSent)
		have, known := v.Field.ObservedIn(row)
		unnamed := l.intent.Batch && have == "" && v.Field.Name == o.Kind.ParentField // see deferParents
		if complete && known && have != want && !unnamed {
			return false
		}
	}
	if k := o.Kind; k.ParentField != "" && !slices.ContainsFunc(sent, func(v *resource.Value) bool { return v.Field.Name == k.ParentField }) {
		field, _ := k.Field(k.ParentField)
		parent, known := field.ObservedIn(row)
		return !known || parent == "" // the service sets no parent by itself
	}
	return true
}

func (re *recovery) fingerprint(l *unconfirmedCreate) string {
	var b strings.Builder
	for _, v := range re.in.Desired[l.object].Sendable(re.in.API) {
		want, complete := v.Desired(re.idWhenSent)
		if !complete {
			want = showValue(v)
		}
		b.WriteString(strconv.Quote(v.Field.Name) + strconv.Quote(want))
	}
	return b.String()
}

// idWhenSent is the ID of a reference as the state knows it: the objects that a request named
// existed when it was sent.
func (re *recovery) idWhenSent(field *resource.Field, r *resource.Reference) (string, bool) {
	id := ""
	if field.Rich() {
		return "", false // whether the text had its links then is not known
	}
	if at, ok := re.objects.index[r.Target]; ok {
		if id = re.objects.states[at].id; re.objects.states[at].presence != exists {
			id = cmp.Or(r.Target.ID, re.in.Prior[r.Target.Address].ID)
		}
	} else if r.Target == nil {
		id = field.Literal(re.in.API, r)
	}
	return id, id != ""
}

// claimed reports whether the state or the manifest has the ID.
func (re *recovery) claimed(id string) bool {
	if re.claims == nil {
		re.claims = make(map[string]bool, len(re.in.Prior))
		for _, r := range re.in.Prior {
			re.claims[r.ID] = true
		}
		for _, o := range re.in.Desired {
			re.claims[o.ID] = true
		}
	}
	return re.claims[id]
}

// search looks at the objects of one parent by their readable numbers, which the service gives
// in the order of creation.
type search struct {
	recovery *recovery

	parent          objectID
	path            string               // numbering scope of the objects
	sample          *objectState         // one of the objects
	lost            []*unconfirmedCreate // in the order of the manifest
	known           map[int]string
	namedInManifest map[int]bool // by identifier
	waiting         bool         // a read has no answer yet
	failed          bool         // there are too many candidates, or numbers tell nothing
	missing         []Read       // of unused numbers
}

// candidates are the records, in the order of their numbers, that the creates may have
// made. Those that the state knows are left out.
func (s *search) candidates() (records []numbered) {
	s.loadKnown()
	if s.waiting {
		return nil
	}
	for _, l := range s.lost {
		l.lowerBound = s.lowerBound(l.intent)
	}
	lowest := slices.MinFunc(s.lost, func(a, b *unconfirmedCreate) int { return cmp.Compare(a.lowerBound, b.lowerBound) }).lowerBound
	earliest := slices.MinFunc(s.lost, func(a, b *unconfirmedCreate) int { return a.earliest().Compare(b.earliest()) }).earliest()
	if s.failed = s.failed || lowest == 0 && earliest.IsZero(); s.waiting || s.failed {
		return nil
	}
	highest := s.highest(lowest)
	if s.waiting || s.failed {
		return nil
	}
	looked, unanswered, older := 0, 0, 0
	for n := highest; n > lowest && unanswered < readsPerRound && (lowest > 0 || older < maxOlder); n-- {
		if s.known[n] != "" {
			continue
		}
		if looked++; looked > maxCandidates {
			s.failed = true
			return nil
		}
		r, answered := s.read(n)
		switch {
		case !answered:
			unanswered++
		case r.row == nil: // deleted
		default:
			if older++; !r.created.Before(earliest) || r.created.IsZero() {
				older = 0
			}
			records = append(records, r)
		}
	}
	slices.Reverse(records)
	return records
}

// loadKnown gathers the IDs of the numbers that the state knows, if its newest records are
// still there: a parent that was created again has other objects with these numbers.
func (s *search) loadKnown() {
	const tries = 3
	known := map[int]string{}
	var numbers []int
	for address, r := range s.recovery.in.Prior {
		if n := s.number(r.Identifier); n > 0 && r.ID != "" && address.NumberingScope() == s.path {
			known[n], numbers = r.ID, append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range slices.Backward(numbers[max(0, len(numbers)-tries):]) {
		r, answered := s.read(n)
		if answered && r.row == nil { // deleted
			continue
		}
		if !answered || r.row.ID() == known[n] {
			s.known = known
		}
		return
	}
}

// number is that of a readable identifier of this parent, or 0.
func (s *search) number(identifier string) int {
	return numberOf(s.recovery.objects.states[s.parent].identifier, identifier)
}

// lowerBound is the number that was known when a create was sent; 0 if its record was created
// later: then the number belonged to a former parent with this key.
func (s *search) lowerBound(intent *Intent) int {
	if intent.After == 0 || s.known[intent.After] != "" {
		return intent.After
	}
	r, _ := s.read(intent.After)
	if r.row == nil || r.created.IsZero() || r.created.After(intent.At.Add(clockSkew)) {
		return 0
	}
	return intent.After
}

// highest is the highest number in use, as far as can be told without reading all: deleted
// objects leave gaps.
func (s *search) highest(bound int) int {
	reach := 16 // look as far as 2^reach at once, for the first objects may be deleted
	if bound > 0 {
		reach = 10
	}
	low, high := bound, 0
	for from := 0; high == 0 && !s.failed; from, reach = reach+1, reach+1 {
		if s.failed = reach > 30; !s.failed {
			var probes []int
			for i := from; i <= reach; i++ {
				probes = append(probes, bound+1<<i)
			}
			low, high = s.bisect(low, 0, probes)
		}
	}
	for high-low > 1 && !s.waiting && !s.failed {
		var probes []int
		step := max(1, (high-low)/4)
		for n := low + step; n < high; n += step {
			probes = append(probes, n)
		}
		low, high = s.bisect(low, high, probes)
	}
	if s.waiting {
		return low
	}
	for n := low + 1; n <= low+maxGap && !s.failed; n++ { // in one round
		if s.inUse(n) {
			low = n
		}
	}
	return low
}

// bisect probes rising numbers between low, which is in use, and high, which is not. It
// returns the highest in use, and the lowest above that is not; high if all are.
func (s *search) bisect(low, high int, probes []int) (newLow, newHigh int) {
	newLow = low
	for _, n := range probes {
		switch {
		case s.inUse(n):
			newLow, newHigh = n, 0
		case newHigh == 0:
			newHigh = n
		}
	}
	return newLow, cmp.Or(newHigh, high)
}

// inUse reports whether an object has a number, as far as is known yet.
func (s *search) inUse(n int) bool {
	if s.known[n] != "" {
		return true
	}
	r, _ := s.read(n)
	return r.row != nil
}

// read looks at the object with a number; a row of nil means that there is none.
func (s *search) read(n int) (r numbered, answered bool) {
	parent := &s.recovery.objects.states[s.parent]
	read := s.recovery.snapshot.readOne(s.sample, s.sample.info.find, parent.identifier+"-"+strconv.Itoa(n))
	a, answered := s.recovery.service.ask(read)
	switch {
	case !answered:
		s.waiting = true
		return numbered{}, false
	case a.Unsupported:
		s.failed = true
		return numbered{}, true
	case a.NotFound || len(a.Rows) == 0:
		if !slices.Contains(s.missing, read) {
			s.missing = append(s.missing, read)
		}
		return numbered{}, true
	}
	r = numbered{number: n, row: a.Rows[0]}
	if within, shown := r.row[s.sample.info.kind.Parent].(string); shown && resource.LowerID(within) != parent.id {
		s.failed = true // the numbers are not of this parent
	}
	r.created, _ = time.Parse(time.RFC3339, r.row.Text("created_at")) // zero if it is none
	return r, true
}

// named returns the candidates with a name that one of the creates may have made. It is not
// sure where only a wrong clock could make one of them older than all creates.
func (s *search) named(candidates []numbered, name string, lost []*unconfirmedCreate) (records []numbered, sure bool) {
	for _, r := range candidates {
		if !slices.Contains(s.sample.info.kind.DisplayTexts(r.row), name) || s.recovery.claimed(r.row.ID()) || s.namedInManifest[r.number] {
			continue
		}
		possible, doubtful := false, false
		for _, l := range lost {
			switch {
			case l.lowerBound > 0:
				possible = possible || r.number > l.lowerBound
			case r.created.IsZero() || l.earliest().IsZero():
				doubtful = true
			default:
				possible = possible || !r.created.Before(l.earliest())
				doubtful = doubtful || !r.created.Before(l.earliest().Add(-maxClockError))
			}
		}
		switch {
		case possible:
			records = append(records, r)
		case doubtful:
			return nil, false
		}
	}
	return records, true
}
