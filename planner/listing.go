package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// scope is all objects of a kind within one parent.
type scope struct {
	kind   *kindInfo
	parent int // its state; none = the workspace
}

// none is the place of no state.
const none int = -1

// listing is a scope, and what the service lists of it.
type listing struct {
	desired int  // objects of the manifest that are to be read
	whole   bool // something can be found in the list only
	known   bool // the state has a record of something in it

	path     string // of the read; "" = not expanded yet
	presence presence
	read     bool
	rows     []resource.Row
	why      string // it is missing
	// The indexes are made when first needed.
	byID, byMark, byIdentifier index
	byField                    map[*resource.Field]index
	byName, byFold             index
}

// index finds records by a text. Of many that share one it keeps as many as an error names.
type index map[string][]resource.Row

// add adds a record, unless it is there already: a list that changes while its pages are read shows one twice.
func (x index) add(text string, row resource.Row) {
	const most = 10
	id := row.ID()
	if text == "" || id == "" || len(x[text]) >= most {
		return
	}
	if !slices.ContainsFunc(x[text], func(r resource.Row) bool { return r.ID() == id }) {
		x[text] = append(x[text], row)
	}
}

func (s *Snapshot) listing(t *kindInfo, parent int) *listing {
	at := scope{t, parent}
	l, ok := s.listings[at]
	if !ok {
		l = &listing{}
		s.listings[at] = l
	}
	return l
}

// list returns the records of a kind within a parent. They are there to be
// looked at only if the presence is there; missing says that what they would live in is
// not, which tells nothing of them; broken without an error of its own means that the API offers no list.
func (s *Snapshot) list(t *kindInfo, parent int) (*listing, presence) {
	if t.list == nil {
		return nil, invalid
	}
	l := s.listing(t, parent)
	if l.read {
		return l, l.presence
	}
	if t.through != nil {
		id, st := s.host(t.through, parent)
		if st != exists {
			l.read, l.presence = st != pending, st
			if st == absent {
				l.presence = exists // and nothing is in it
			}
			return l, l.presence
		}
		params := s.params(parent)
		params[t.through.kind.Param] = id
		l.path, _ = t.list.Expand(params)
	}
	l.read = true
	a, answered := s.ask(Read{Operation: t.list, Path: s.listPath(t, parent), Fields: t.fields})
	switch {
	case !answered:
		l.presence = pending
	case a.Unsupported:
		l.presence = unsupported
	case a.NotFound:
		l.presence = invalid
		if parent == none {
			s.diags.Errorf(diag.Position{}, "not-found", "the service has no list of %s in the workspace %s", plural(t.kind), s.in.Workspace)
			break
		}
		o := s.in.Desired[parent]
		l.presence = notFound
		l.why = "the service has no " + o.Kind.Noun() + " with the ID " + s.states[parent].id + ": its " + plural(t.kind) + " cannot be listed"
	default:
		l.presence, l.rows = exists, a.Rows
	}
	return l, l.presence
}

// host is the ID of the one object of a kind that a parent has, and whether there is one.
func (s *Snapshot) host(t *kindInfo, parent int) (string, presence) {
	op := cmp.Or(t.list, t.get)
	if op == nil {
		return "", invalid
	}
	path, _ := op.Expand(s.params(parent))
	a, answered := s.ask(Read{Operation: op, Path: path})
	switch {
	case !answered:
		return "", pending
	case a.Unsupported:
		return "", unsupported
	case a.NotFound, len(a.Rows) == 0:
		return "", absent
	default:
		return a.Rows[0].ID(), exists
	}
}

// noID is an ID that nothing has.
const noID = "00000000-0000-0000-0000-000000000000"

// offered is lacking where this edition of the service has no objects of a kind,
// and there otherwise. Where none can be listed since what they live in is still to
// be made, it is found out below a parent that cannot be: a route that is there
// misses the parent, one that is not says so.
func (s *Snapshot) offered(t *kindInfo) presence {
	if t.list == nil || t.through != nil || t.parent == nil || t.parent.parent != nil || t.create != nil && t.create.Documented() {
		return exists
	}
	path, _ := t.list.Expand(map[string]string{"workspace_slug": s.in.Workspace, t.parent.kind.Param: noID})
	switch a, answered := s.ask(Read{Operation: t.list, Path: path, Probe: true}); {
	case !answered:
		return pending
	case a.Unsupported:
		return unsupported
	default:
		return exists
	}
}

// listed reports whether the list was read already, so that it costs nothing to look.
func (s *Snapshot) listed(t *kindInfo, parent int) bool {
	if t.list == nil || t.through != nil || len(s.in.Observed) == 0 || parent != none && s.states[parent].presence != exists {
		return false
	}
	_, ok := s.in.Observed[Read{Operation: t.list, Path: s.listPath(t, parent), Fields: t.fields}]
	return ok
}

func (s *Snapshot) listPath(t *kindInfo, parent int) string {
	l := s.listing(t, parent)
	if l.path == "" {
		l.path, _ = t.list.Expand(s.params(parent))
	}
	return l.path
}

// ask notes a read that is wanted, or returns its answer.
func (s *Snapshot) ask(r Read) (Answer, bool) {
	if a, ok := s.in.Observed[r]; ok {
		return a, true
	}
	if !s.asked[r] {
		s.asked[r] = true
		s.reads = append(s.reads, r)
	}
	return Answer{}, false
}

// params are the path parameters for objects that live in a parent.
func (s *Snapshot) params(parent int) map[string]string {
	p := map[string]string{"workspace_slug": s.in.Workspace}
	for ; parent != none; parent = s.states[parent].parent {
		p[s.in.Desired[parent].Kind.Param] = s.states[parent].id
	}
	return p
}

// ids finds the record with an ID.
func (l *listing) ids() index {
	if l.byID == nil {
		l.byID = make(index, len(l.rows))
		for _, row := range l.rows {
			l.byID.add(row.ID(), row)
		}
	}
	return l.byID
}

// external IDs finds records by the external ID that planform gave them.
func (l *listing) marks() index {
	if l.byMark == nil {
		l.byMark = index{}
		for _, row := range l.rows {
			if mark, ok := row["external_id"].(string); ok && row.HasExternalID(mark) {
				l.byMark.add(mark, row)
			}
		}
	}
	return l.byMark
}

// field finds records by the canonical form of a field.
func (l *listing) field(f *resource.Field) index {
	x, ok := l.byField[f]
	if !ok {
		x = make(index, len(l.rows))
		for _, row := range l.rows {
			if shown, known := f.ObservedIn(row); known {
				x.add(shown, row)
			}
		}
		if l.byField == nil {
			l.byField = map[*resource.Field]index{}
		}
		l.byField[f] = x
	}
	return x
}

// sameNaturalKey finds the records that have the natural key of an object, and the field that shows it.
func (l *listing) sameNaturalKey(o *resource.Object, t *kindInfo) (hits []resource.Row, field string) {
	for _, f := range t.natural {
		v, given := o.Value(f.Name)
		if !given {
			continue
		}
		want, _ := v.Desired(nil) // a natural key names nothing else
		if hits := l.field(f)[want]; len(hits) > 0 {
			return hits, f.Name
		}
	}
	return nil, ""
}

// names finds records by any of the texts that people call them by: in the letters as written, or in any case.
func (l *listing) names(k *resource.Kind) (exact, fold index) {
	if l.byName == nil {
		l.byName, l.byFold = make(index, len(l.rows)), make(index, len(l.rows))
		for _, row := range l.rows {
			for _, text := range displayTexts(k, row) {
				l.byName.add(text, row)
				l.byFold.add(strings.ToLower(text), row)
			}
		}
	}
	return l.byName, l.byFold
}

// identifiers finds records by their readable identifier, in upper case.
func (s *Snapshot) identifiers(l *listing, t *kindInfo, parent int) index {
	if l.byIdentifier == nil {
		l.byIdentifier = make(index, len(l.rows))
		for _, row := range l.rows {
			l.byIdentifier.add(strings.ToUpper(s.readable(t.kind, parent, row)), row)
		}
	}
	return l.byIdentifier
}

// displayTexts are the texts by which people call a record, its readable identifier among them.
func displayTexts(k *resource.Kind, row resource.Row) []string {
	var texts []string
	for _, n := range k.NaturalKey {
		raw := row[n]
		if f, ok := k.Field(n); ok {
			raw, _ = row.Shown(f)
		}
		if shown, ok := raw.(string); ok && strings.TrimSpace(shown) != "" {
			texts = append(texts, strings.TrimSpace(shown))
		}
	}
	return texts
}
