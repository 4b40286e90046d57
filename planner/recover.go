package planner

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/resource"
)

// recovery finds out what became of creates without an outcome that only readable
// numbers can tell: the documented operations list no work items.
type recovery struct {
	round

	// Made when first needed:
	lostCreates map[scope]*lostCreates
	claims      map[string]bool // IDs that the state or the manifest has
}

const (
	clockSkew     = 2 * time.Minute // by which clocks usually differ
	maxClockError = 24 * time.Hour  // by which a clock may be wrong, say by its time zone

	maxGap        = 10  // so many numbers in a row that nothing bears: there is no higher one
	maxOlder      = 20  // so many records in a row that are older than an intent: so are all before them
	maxCandidates = 200 // records that are looked at; beyond, somebody has to look
	readsPerRound = 20  // that are asked for in one round
)

// lostCreates are the creates without an outcome in one parent that only readable numbers
// can settle.
type lostCreates struct {
	all        []*lostCreate
	byState    map[*objectState]*lostCreate
	byName     map[string][]*lostCreate
	strayNames map[string]bool // names that creates of objects sent which the manifest does not have any more
}

// earliest is when what a create made was made at the earliest, by the service's clock; zero = not known.
func (l *lostCreate) earliest() time.Time {
	if l.intent.At.IsZero() {
		return time.Time{}
	}
	return l.intent.At.Add(-clockSkew)
}

// lostCreate is a create without an outcome.
type lostCreate struct {
	object     int // its state
	intent     *Intent
	lowerBound int // its record has a higher number; 0 = not known
	presence   presence
	hits       []resource.Row // that could be it, if there is more than one or it is there
}

// numbered is a record with its readable number.
type numbered struct {
	number  int
	row     resource.Row
	created time.Time // zero = not shown
}

// recoverCreate finds out by readable numbers what became of a create without an outcome: its
// record has a higher number than was known before, and the name that was sent.
func (s *recovery) recoverCreate(f *objectState) (presence, []resource.Row) {
	if f.prior.PendingIntent.Name == "" || f.info.find == nil || f.parent == noObject || s.objects.states[f.parent].identifier == "" {
		return indeterminate, nil
	}
	at := scope{f.info, f.parent}
	found := s.lostCreates[at]
	if found == nil {
		found = s.recoverAll(at)
		if s.lostCreates == nil {
			s.lostCreates = map[scope]*lostCreates{}
		}
		s.lostCreates[at] = found
	}
	if l := found.byState[f]; l != nil {
		return l.presence, l.hits
	}
	return indeterminate, nil
}

// recoverAll settles all creates without an outcome of a kind within a parent. They
// are settled together, since several may have sent one name.
func (s *recovery) recoverAll(at scope) *lostCreates {
	found := &lostCreates{byState: map[*objectState]*lostCreate{}, byName: map[string][]*lostCreate{}, strayNames: map[string]bool{}}
	x := &search{recovery: s, parent: at.parent, namedInManifest: map[int]bool{}}
	var path string
	wanted := map[resource.Address]bool{}
	for i := range s.objects.states {
		f, o := &s.objects.states[i], s.in.Desired[i]
		if f.info != at.kind || f.parent != at.parent {
			continue
		}
		path = o.Address.NumberingScope()
		wanted[o.Address] = true
		x.namedInManifest[x.number(o.Identifier)] = true
		if !f.maybeCreated() || o.ID != "" || o.Identifier != "" {
			continue
		}
		l := &lostCreate{object: i, intent: f.prior.PendingIntent, presence: indeterminate}
		name := strings.TrimSpace(l.intent.Name)
		found.all, found.byState[f], found.byName[name] = append(found.all, l), l, append(found.byName[name], l)
	}
	for address, r := range s.in.Prior {
		if r.PendingIntent.creates() && !wanted[address] && address.NumberingScope() == path {
			found.strayNames[strings.TrimSpace(r.PendingIntent.Name)] = true
		}
	}
	x.sample = &s.objects.states[found.all[0].object]
	rows := x.candidatesSince(path, found.all)
	for name, lost := range found.byName {
		switch {
		case x.waiting:
			for _, l := range lost {
				l.presence = pending
			}
		case !x.failed:
			if hits, sure := x.candidatesNamed(rows, name, lost); sure {
				s.assign(lost, hits, found.strayNames[name])
			}
		}
	}
	if slices.ContainsFunc(found.all, func(l *lostCreate) bool { return l.presence == absent }) {
		s.service.unconfirmed = append(s.service.unconfirmed, x.missing...)
	}
	return found
}

// assign tells which of the records that bear a name was made by which of the
// creates that sent it, if by any. What cannot be decided stays unknown.
func (s *recovery) assign(lost []*lostCreate, hits []numbered, strayName bool) {
	switch {
	case len(hits) == 0:
		for _, l := range lost {
			l.presence = absent
		}
		return
	case strayName: // what is there may be what that made
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
	p := &assignment{recovery: s, lost: slices.Clone(lost), candidates: hits}
	if made, decided := p.pair(); decided {
		for _, l := range lost {
			l.presence = absent
			if row, ok := made[l]; ok {
				l.presence, l.hits = exists, []resource.Row{row}
			}
		}
	}
}

// consistent reports whether a record shows nothing else than a create sent.
func (s *recovery) consistent(l *lostCreate, row resource.Row) bool {
	o := s.in.Desired[l.object]
	sent := o.Sendable(s.in.API)
	for _, v := range sent {
		want, complete := v.Desired(s.idsWhenSent(l.object))
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
func (s *recovery) fingerprint(l *lostCreate) string {
	var b strings.Builder
	for _, v := range s.in.Desired[l.object].Sendable(s.in.API) {
		want, complete := v.Desired(s.idsWhenSent(l.object))
		if !complete {
			want = showValue(v)
		}
		b.WriteString(strconv.Quote(v.Field.Name) + strconv.Quote(want))
	}
	return b.String()
}

// idsWhenSent resolves references to what the state knows: what a request named was
// there when it was sent.
func (s *recovery) idsWhenSent(i int) resource.IDResolver {
	return func(field *resource.Field, r *resource.Reference) (string, bool) {
		if r.Target == nil {
			id := field.Literal(s.in.API, r)
			return id, id != ""
		}
		at, ok := s.objects.index[r.Target]
		if !ok {
			return "", false
		}
		id := s.objects.states[at].id
		if s.objects.states[at].presence != exists {
			id = cmp.Or(r.Target.ID, s.in.Prior[r.Target.Address].ID)
		}
		return id, id != ""
	}
}

// claimed reports whether the state or the manifest has the ID.
func (s *recovery) claimed(id string) bool {
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

// search looks at the objects of one parent by their readable numbers, which the
// service gives in the order in which it makes them.
type search struct {
	recovery *recovery

	parent          int
	sample          *objectState   // of one of the objects
	known           map[int]string // IDs of what the state has, by number: that need not be read
	namedInManifest map[int]bool   // numbers that the manifest gives
	waiting         bool           // some read has no answer yet
	failed          bool           // it is too much to look at, or nothing can be looked at
	missing         []Read         // of numbers that nothing bears
}

// candidatesSince returns the records, in the order of their numbers, that may have been
// made by the creates. Those that the state knows are left out.
func (x *search) candidatesSince(path string, lost []*lostCreate) []numbered {
	x.loadKnown(path)
	if x.waiting {
		return nil
	}
	first := lost[0]
	lowest, earliest := 0, first.earliest()
	for i, l := range lost {
		l.lowerBound = x.lowerBound(l.intent)
		if i == 0 || l.lowerBound < lowest {
			lowest = l.lowerBound
		}
		if l.earliest().Before(earliest) {
			earliest = l.earliest()
		}
	}
	if x.failed = x.failed || lowest == 0 && earliest.IsZero(); x.waiting || x.failed {
		return nil
	}
	highest := x.highest(lowest)
	if x.waiting || x.failed {
		return nil
	}
	var rows []numbered
	looked, unanswered, older := 0, 0, 0
	for n := highest; n > lowest && unanswered < readsPerRound && (lowest > 0 || older < maxOlder); n-- {
		if x.known[n] != "" {
			continue
		}
		if looked++; looked > maxCandidates {
			x.failed = true
			return nil
		}
		h, answered := x.read(n)
		switch {
		case !answered:
			unanswered++
		case h.row == nil: // it was deleted
		default:
			if older++; !h.created.Before(earliest) || h.created.IsZero() {
				older = 0
			}
			rows = append(rows, h)
		}
	}
	slices.Reverse(rows)
	return rows
}

// loadKnown gathers the numbers that the state knows, if it means this parent:
// one that was made anew under the same key has other objects of these numbers.
func (x *search) loadKnown(path string) {
	const tries = 3
	x.known = map[int]string{}
	var numbers []int
	for address, r := range x.recovery.in.Prior {
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
	return numberOf(x.recovery.objects.states[x.parent].identifier, identifier)
}

// lowerBound is the number that was known when a create was sent, if the record that has it
// was created before: else the number belonged to a former parent with this key.
func (x *search) lowerBound(intent *Intent) int {
	if intent.After == 0 || x.known[intent.After] != "" {
		return intent.After
	}
	h, _ := x.read(intent.After)
	if h.row == nil || h.created.IsZero() || h.created.After(intent.At.Add(clockSkew)) {
		return 0
	}
	return intent.After
}

// highest is the highest number that something bears, as far as can be told without
// reading all: the numbers of deleted objects are gaps.
func (x *search) highest(bound int) int {
	reach := 16 // look as far as 2^reach at once, for the first objects may be gone
	if bound > 0 {
		reach = 10
	}
	low, high := bound, 0
	for from := 0; high == 0 && !x.failed; from, reach = reach+1, reach+1 {
		if x.failed = reach > 30; !x.failed {
			var probes []int
			for i := from; i <= reach; i++ {
				probes = append(probes, bound+1<<i)
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
	for n := low + 1; n <= low+maxGap && !x.failed; n++ { // in one round
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
	read := x.recovery.snapshot.readOne(x.sample, x.sample.info.find, x.recovery.objects.states[x.parent].identifier+"-"+strconv.Itoa(n))
	a, answered := x.recovery.service.ask(read)
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
	if within, shown := row[x.sample.info.kind.Parent].(string); shown && resource.LowerID(within) != x.recovery.objects.states[x.parent].id {
		x.failed = true // the numbers are not of this parent
	}
	at, _ := row["created_at"].(string)
	h = numbered{number: n, row: row}
	h.created, _ = time.Parse(time.RFC3339, at) // zero if it is none
	return h, true
}

// candidatesNamed returns the records of a name that one of the creates may have made.
// It is not sure of one that only the clocks say is older than all of them.
func (x *search) candidatesNamed(rows []numbered, name string, lost []*lostCreate) (hits []numbered, sure bool) {
	for _, h := range rows {
		if !slices.Contains(displayTexts(x.sample.info.kind, h.row), name) || x.recovery.claimed(h.row.ID()) || x.namedInManifest[h.number] {
			continue
		}
		possible, doubtful := false, false
		for _, l := range lost {
			switch {
			case l.lowerBound > 0:
				possible = possible || h.number > l.lowerBound
			case h.created.IsZero() || l.earliest().IsZero():
				doubtful = true
			default:
				possible = possible || !h.created.Before(l.earliest())
				doubtful = doubtful || !h.created.Before(l.earliest().Add(-maxClockError))
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

// assignment brings together what several creates of one name sent and what is
// there. Creates that sent the same are as good as each other.
type assignment struct {
	recovery *recovery

	lost       []*lostCreate // in the order of the manifest
	candidates []numbered
}

// pair takes one sure pair after the other. It is not decided where something
// fits nothing, or what is left fits in more than one way.
func (p *assignment) pair() (made map[*lostCreate]resource.Row, decided bool) {
	made = map[*lostCreate]resource.Row{}
	for len(p.candidates) > 0 {
		l, i := p.next()
		if l == nil {
			return nil, false
		}
		made[l] = p.candidates[i].row
		p.lost = slices.DeleteFunc(p.lost, func(other *lostCreate) bool { return other == l })
		p.candidates = slices.Delete(p.candidates, i, i+1)
	}
	return made, true
}

// next is a pair that cannot be otherwise; nil = there is none.
func (p *assignment) next() (l *lostCreate, hit int) {
	if len(p.candidates) > len(p.lost) {
		return nil, 0
	}
	for i, h := range p.candidates { // somebody made it; what a higher number fits is more
		fit := slices.DeleteFunc(slices.Clone(p.lost), func(l *lostCreate) bool { return !p.matches(l, h) })
		if len(fit) == 0 {
			return nil, 0
		}
		if p.alike(fit) {
			return fit[0], i
		}
	}
	if len(p.candidates) < len(p.lost) {
		return nil, 0
	}
	for _, l := range p.lost { // each of them made something
		i := slices.IndexFunc(p.candidates, func(h numbered) bool { return p.matches(l, h) })
		if i >= 0 && !slices.ContainsFunc(p.candidates[i+1:], func(h numbered) bool { return p.matches(l, h) }) {
			return l, i
		}
	}
	return nil, 0
}

func (p *assignment) matches(l *lostCreate, h numbered) bool {
	return h.number > l.lowerBound && p.recovery.consistent(l, h.row)
}

// alike reports whether creates sent the same.
func (p *assignment) alike(lost []*lostCreate) bool {
	first := p.recovery.fingerprint(lost[0])
	return !slices.ContainsFunc(lost[1:], func(l *lostCreate) bool { return p.recovery.fingerprint(l) != first })
}
