package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// analysis holds the data that all stages share. It has no methods: a stage has a field for each earlier stage that it uses.
type analysis struct {
	in      *Input
	diags   *findings
	service *loader
	objects *objects
	gaps    *gaps

	snapshot *snapshot
}

// snapshot holds the lists of the service, by kind and parent.
type snapshot struct {
	analysis

	listings map[scope]*listing
}

// observe prepares the lists that the manifest needs. A list is read when a stage first uses it, because its path contains the ID of the
// parent.
func observe(in *Input, service *loader) analysis {
	r := analysis{
		in: in, diags: &findings{slices.Clone(in.Notices)}, service: service, objects: newObjects(in), gaps: newGaps(),
	}
	s := &snapshot{analysis: r, listings: map[scope]*listing{}}
	r.snapshot = s
	for i, o := range r.objects.all() {
		s.countReads(o, &r.objects.states[i])
	}
	for _, n := range r.objects.uses {
		if n.field.to.list == nil || !n.field.to.readsOne() {
			continue
		}
		for j := range n.value.Refs {
			if ref := &n.value.Refs[j]; ref.Target == nil && n.field.field.Literal(in.API, ref) == "" {
				s.listing(n.field.to, r.objects.within(n.by, n.field.to)).needed = true
			}
		}
	}
	return r
}

// listing is the service's list of a scope.
type listing struct {
	desired int  // number of objects of the manifest that must be read
	needed  bool // some object can be found only in the list
	known   bool // the state has a record of something in it

	path     string // of the read; "" = not expanded yet
	presence presence
	read     bool
	rows     []resource.Row
	why      string           // the reason why the list is missing
	indexes  map[string]index // made when first needed
	named    *resource.Names  // made when first needed, see snapshot.names
}

// indexBy returns an index of the list's rows. The function texts gives the texts of a row; what names the index.
func (l *listing) indexBy(what string, texts func(resource.Row) []string) index {
	x, ok := l.indexes[what]
	if !ok {
		x = make(index, len(l.rows))
		for _, row := range l.rows {
			for _, text := range texts(row) {
				x.add(text, row)
			}
		}
		if l.indexes == nil {
			l.indexes = map[string]index{}
		}
		l.indexes[what] = x
	}
	return x
}

func (l *listing) byID(id string) []resource.Row {
	return l.indexBy("id", func(row resource.Row) []string { return []string{row.ID()} })[id]
}

// byExternalID returns an index of the rows by the external ID that planform gave them for one owner.
func (l *listing) byExternalID(marks resource.Marks) index {
	return l.indexBy("mark of "+string(marks.Owner), func(row resource.Row) []string {
		if id := row.Text("external_id"); marks.Has(row, id) {
			return []string{id}
		}
		return nil
	})
}

// byAnyMark returns an index of the rows by the external ID that planform gave them for any owner, and by the key in that ID. Another
// owner may have another key for the parent of the rows.
func (l *listing) byAnyMark(workspace string) index {
	return l.indexBy("any mark", func(row resource.Row) (texts []string) {
		if _, marked := row.Owner(); marked {
			texts = append(texts, row.Text("external_id"))
			if was, here := strings.CutPrefix(texts[0], workspace+"/"); here && resource.Address(was).IsObject() {
				texts = append(texts, resource.Address(was).Key())
			}
		}
		return texts
	})
}

func (l *listing) byField(f *resource.Field) index {
	return l.indexBy("field "+f.Name, func(row resource.Row) []string {
		shown, _ := f.ObservedIn(row)
		return []string{shown}
	})
}

// rowsWithNaturalKey returns the rows that have the natural key of an object, and the name of the field that matched.
func (l *listing) rowsWithNaturalKey(o *resource.Object, t *kindInfo, id resource.IDResolver) (hits []resource.Row, field string) {
	switch {
	case t.kind.Singleton:
		return l.rows, "place"
	case t.kind.NamedByAll():
		hits := slices.DeleteFunc(slices.Clone(l.rows), func(row resource.Row) bool { return !o.SameNaturalKey(row, id) })
		return hits, strings.Join(t.kind.NaturalKey, " and ")
	}
	for _, f := range t.naturalKey {
		v, given := o.Value(f.Name)
		if !given {
			continue
		}
		want, complete := v.Desired(id)
		if !complete {
			continue
		}
		hits := slices.DeleteFunc(slices.Clone(l.byField(f)[want]), func(row resource.Row) bool { return !o.SameContent(row) })
		if len(hits) > 0 {
			return hits, f.Name
		}
	}
	return nil, ""
}

// index holds rows by a text. If many rows have the same text, it keeps only as many as an error shows.
type index map[string][]resource.Row

func (ix index) add(text string, row resource.Row) {
	const most = 10
	id := row.ID()
	if text == "" || id == "" || len(ix[text]) >= most {
		return
	}
	// A list that changes while its pages are read shows a record twice.
	if !slices.ContainsFunc(ix[text], func(r resource.Row) bool { return r.ID() == id }) {
		ix[text] = append(ix[text], row)
	}
}

// unusedID is an ID that no object has.
const unusedID = "00000000-0000-0000-0000-000000000000"

func (ss *snapshot) listing(t *kindInfo, parent objectID) *listing {
	at := scope{t, parent}
	l, ok := ss.listings[at]
	if !ok {
		l = &listing{}
		ss.listings[at] = l
	}
	return l
}

// list returns the rows of a kind within a parent. The presence is exists if the rows are known, notFound if the parent is not on the
// service or the list is forbidden, unsupported if this edition lacks the kind, and invalid if the API has no list.
func (ss *snapshot) list(t *kindInfo, parent objectID) (*listing, presence) {
	if t.list == nil {
		return nil, invalid
	}
	l := ss.listing(t, parent)
	if l.read {
		return l, l.presence
	}
	if t.viaSingle(ss.objects, parent) {
		host, st := ss.list(t.parent, parent)
		if st != exists || len(host.rows) == 0 { // without the single object, the list is empty
			l.read, l.presence, l.why = true, st, host.why
			return l, l.presence
		}
	}
	ask := ss.service.ask
	if t.kind.Singleton { // if the credential may not read it, other objects are still planned
		ask = ss.service.askOptional
	}
	a := ask(Read{Operation: t.list, Path: ss.listPath(t, parent), Fields: t.neededFieldNames})
	if l.read { // another task has read the list meanwhile
		return l, l.presence
	}
	l.read = true
	switch {
	case a.Unsupported:
		l.presence = unsupported
	case a.Forbidden && t.kind.Singleton:
		l.presence, l.why = notFound, "the credential may not read it: it needs "+t.list.Scope
	case a.NotFound:
		l.presence = invalid
		if parent == noObject {
			ss.diags.Errorf(diag.Position{}, "not-found", "the service has no list of %s in the workspace %s", plural(t.kind), ss.in.Workspace)
			break
		}
		o := ss.in.Desired[parent]
		l.presence = notFound
		l.why = "the service has no " + o.Kind.Noun() + " with the ID " + ss.objects.states[parent].id + ": its " + plural(t.kind) +
			" cannot be listed"
	default:
		l.presence, l.rows, l.named = exists, a.Rows, nil
		if t.kind.Governance.AtWorkspace {
			l.rows = slices.DeleteFunc(slices.Clone(a.Rows), func(row resource.Row) bool { return !t.kind.Governance.Includes(row) })
		}
	}
	return l, l.presence
}

// viaSingle reports whether parent is not the direct parent of the kind but the object around it: the list then belongs to the single
// object in between. An example is the list of a project's estimate points, through its one estimate.
func (ki *kindInfo) viaSingle(objects *objects, parent objectID) bool {
	return ki.parent != ki.namedWithin && parent != noObject && objects.states[parent].info == ki.namedWithin
}

// kindPresence returns unsupported if this edition lacks the kind, else exists. It probes the list with an unused parent ID: only a known
// route answers that the parent is missing.
func (ss *snapshot) kindPresence(t *kindInfo) presence {
	if t.list == nil || t.parent == nil || t.parent.parent != nil || t.create != nil && t.create.Documented() {
		return exists
	}
	read, _ := readOf(t.list, map[string]string{"workspace_slug": ss.in.Workspace, t.parent.kind.Param: unusedID})
	read.Probe = true
	if ss.service.ask(read).Unsupported {
		return unsupported
	}
	return exists
}

// isListed reports whether the list was read already, so that using it takes no request.
func (ss *snapshot) isListed(t *kindInfo, parent objectID) bool {
	if t.list == nil || len(ss.in.Observed) == 0 || parent != noObject && ss.objects.states[parent].presence != exists {
		return false
	}
	if t.viaSingle(ss.objects, parent) {
		if !ss.isListed(t.parent, parent) {
			return false
		}
		if host, presence := ss.list(t.parent, parent); presence != exists || len(host.rows) == 0 {
			return true
		}
	}
	a, ok := ss.service.answer(Read{Operation: t.list, Path: ss.listPath(t, parent), Fields: t.neededFieldNames})
	return ok && !a.NotFound
}

// known returns the list if it was read already, and shows its rows.
func (ss *snapshot) known(t *kindInfo, parent objectID) (l *listing, ok bool) {
	if !ss.isListed(t, parent) {
		return nil, false
	}
	l, presence := ss.list(t, parent)
	return l, presence == exists
}

// listPath returns the path of a list. If the list belongs to a single object in between, see viaSingle, that object must be known.
func (ss *snapshot) listPath(t *kindInfo, parent objectID) string {
	l := ss.listing(t, parent)
	if l.path == "" {
		params := ss.objects.params(parent)
		if t.viaSingle(ss.objects, parent) {
			host, _ := ss.list(t.parent, parent)
			params[t.parent.kind.Param] = host.rows[0].ID()
		}
		l.path, _ = t.list.Expand(params)
	}
	return l.path
}

// findUnlisted looks up, by external ID, an object that no list shows because it may be archived or a draft. made is false if the run
// made too many look-ups before.
func (ss *snapshot) findUnlisted(t *kindInfo, path string, address resource.Address) (a Answer, made bool) {
	if ss.service.externalIDLookups == maxSingleReads && !ss.in.RefreshAll {
		ss.service.skippedLookups++
		return Answer{}, false
	}
	ss.service.externalIDLookups++
	return ss.service.ask(Read{Operation: t.list, Path: path, ExternalID: ss.in.marks().ID(address), Owner: ss.in.Owner}), true
}

// byIdentifier returns an index of the rows by readable identifier, in upper case.
func (ss *snapshot) byIdentifier(l *listing, t *kindInfo, parent objectID) index {
	return l.indexBy("identifier", func(row resource.Row) []string {
		return []string{strings.ToUpper(ss.objects.readableID(t.kind, parent, row))}
	})
}

// names returns the names in a scope, of the objects of the manifest and of the rows of the list. It must be called after the identities
// stage.
func (ss *snapshot) names(t *kindInfo, parent objectID) *resource.Names {
	l := ss.listing(t, parent)
	if l.named != nil {
		return l.named
	}
	l.named = &resource.Names{}
	for _, i := range ss.objects.inScope(scope{t, parent}) {
		o := ss.in.Desired[i]
		id := cmp.Or(ss.objects.states[i].id, string(o.Address)) // an address is no ID of the service
		l.named.Add(resource.ByKey, o.Key, id)
		for _, field := range t.kind.NaturalKey {
			if !t.kind.AdoptOnRequestOnly {
				l.named.Add(resource.ByManifest, o.Text(field), id)
			}
		}
	}
	project := ""
	if parent != noObject {
		project = ss.objects.states[parent].identifier
	}
	for _, row := range l.rows {
		l.named.AddRow(t.kind, row, project)
	}
	return l.named
}

// withIDs returns the rows of a list that have one of the IDs.
func (l *listing) withIDs(ids []string) (rows []resource.Row) {
	for _, id := range ids {
		rows = append(rows, l.byID(id)...)
	}
	return rows
}

// countReads records in the listing of an object whether the list is needed for it, or may replace a read of its own.
func (ss *snapshot) countReads(o *resource.Object, f *objectState) {
	t := f.info
	if t.isRecognisable() && (t.list == nil || !t.readsOne()) {
		return
	}
	l := ss.listing(t, f.parent)
	switch {
	case o.ID == "" && o.Identifier == "" && !f.isKnown():
		l.needed = l.needed || t.isRecognisable()
	case !ss.objects.skipsRefresh(f) && ss.objects.mustRead(o, f):
		l.desired++
	}
	l.known = l.known || f.prior != nil
}

// prefersList reports whether reading the list costs no more requests than reading the objects one by one: most lists have one page. Only the
// list shows a second object with the mark of one of them.
func (ss *snapshot) prefersList(t *kindInfo, parent objectID) bool {
	l := ss.listing(t, parent)
	return l.needed || l.desired > 1 || l.desired > 0 && ss.objects.in.RefreshAll || ss.isListed(t, parent)
}

// readOne returns the read of one object by its ID or readable identifier.
func (ss *snapshot) readOne(f *objectState, op *resource.Operation, by string) Read {
	params := ss.objects.params(f.parent)
	if op.Verb == resource.Find {
		params["identifier"] = by
	} else {
		params[f.info.kind.Param] = by
	}
	read, _ := readOf(op, params)
	return read
}

func (ss *snapshot) self(t *kindInfo) string {
	if t.self == nil {
		return ""
	}
	read, _ := readOf(t.self, nil)
	a := ss.service.askOptional(read)
	if len(a.Rows) == 0 {
		return ""
	}
	return a.Rows[0].ID()
}
