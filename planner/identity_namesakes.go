package planner

import (
	"cmp"
	"slices"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

func near(text string, k *resource.Kind, l *listing) string {
	var all []string
	for _, row := range l.rows {
		all = append(all, k.DisplayTexts(row)...)
	}
	return diag.DidYouMean(text, all)
}

const createFirst = "create it on the service first, or give the ID of an existing one"

// recognise looks for an object of which neither the manifest nor the state knows the ID. was is the one that it had, or "".
func (m *identities) recognise(o *resource.Object, f *objectState, was string) {
	t := f.info
	if !t.recognisable() {
		switch {
		case f.maybeCreated():
			var hits []resource.Row
			if f.presence, hits = m.recovery.recoverCreate(f); f.presence == exists {
				m.adopt(o, f, hits, foundByNumber)
			}
		case t.create != nil:
			f.presence, f.undetectable = absent, true
		case t.api.Wide(), f.parent != noObject && m.objects.states[f.parent].info.create != nil:
			f.presence = absent // as it is while its parent is not there: told, and in nobody's way
		default:
			m.fail(o, f, "no-lookup", o.Kind.Noun()+" \""+o.Name()+"\" can neither be looked up nor created with "+t.api.Noun(),
				m.in.namesNeed("give its id"))
		}
		return
	}
	l, st := m.snapshot.list(t, f.parent)
	if f.presence = st; st != exists {
		f.why = l.why
		return
	}
	if t.externalIDs {
		hits := m.notOthers(o, m.marked(o, l.byExternalID(m.in.marks())))
		if len(hits) == 0 && m.in.takesOver(o) {
			hits = m.notOthers(o, m.marked(o, l.byAnyMark(m.in.Workspace)))
		}
		switch {
		case len(hits) > 0 && m.in.Owner == "" && !m.in.takesOver(o) && !m.isRecorded(o):
			m.unknownMark(o, f, hits[0])
			return
		case len(hits) > 0:
			m.adopt(o, f, hits, foundByExternalID)
			return
		}
	}
	hits, field := m.sameNaturalKey(l, o, t, m.keyIDs(o, f))
	if hits = m.notOthers(o, hits); len(hits) > 0 {
		m.adopt(o, f, hits, "its "+field)
		return
	}
	if m.findArchived(o, f, was) {
		return
	}
	if t.externalIDs && o.Kind.AdoptOnRequestOnly && m.in.Owner != "" { // it would be doubled
		if unowned := m.marked(o, l.byExternalID(resource.Marks{Workspace: m.in.Workspace})); len(unowned) > 0 {
			m.unknownMark(o, f, unowned[0])
			return
		}
	}
	f.presence = absent
	f.unconfirmed = f.maybeCreated()
	if t.create == nil {
		m.fail(o, f, "not-found", "the service has no "+o.Kind.Noun()+" \""+o.Name()+"\", and "+t.api.Noun()+" cannot create one",
			cmp.Or(near(o.Name(), o.Kind, l), createFirst))
	}
}

// marked are the records that bear the mark of an object, or else one that it had before.
func (m *identities) marked(o *resource.Object, by index) (hits []resource.Row) {
	if len(by) == 0 {
		return nil
	}
	all := AllAddresses(o)
	if hits = by[m.in.marks().ID(all[0])]; len(hits) > 0 {
		return hits
	}
	for _, a := range all[1:] {
		hits = append(hits, by[m.in.marks().ID(a)]...)
	}
	if len(hits) == 0 {
		hits = by[o.Key] // see listing.byAnyMark
	}
	return hits
}

// isRecorded reports whether the state has a record of an object, or could lack it.
func (m *identities) isRecorded(o *resource.Object) bool {
	return !m.in.Knowing || slices.ContainsFunc(AllAddresses(o), func(a resource.Address) bool {
		_, recorded := m.in.Prior[a]
		return recorded
	})
}

// unknownMark reports an object that planform made for a manifest without an owner, which may be another than this one.
func (m *identities) unknownMark(o *resource.Object, f *objectState, row resource.Row) {
	m.fail(o, f, "unknown-mark", "planform made "+m.objects.enumerate(o.Kind, f.parent, []resource.Row{row})+" as "+string(o.Address)+
		", and the state does not know it: another manifest may have it",
		"if it is this one's, --take-over takes it; if not, write an owner into each of the manifests (owner: NAME), or choose another key")
}

// notOthers are the records that the state does not have as another object of the manifest: one of another workspace may have
// the key or name by now that another one had there.
func (m *identities) notOthers(o *resource.Object, hits []resource.Row) []resource.Row {
	if o.Origin == nil {
		return hits
	}
	return slices.DeleteFunc(slices.Clone(hits), func(row resource.Row) bool {
		return slices.ContainsFunc(m.objects.addressesOf(serviceID{o.Kind.Name, row.ID()}), func(a resource.Address) bool {
			_, wanted := m.objects.indexOf(a)
			return wanted && a != o.Address
		})
	})
}

// adopt takes the one record that was recognised; several are an error that names them.
func (m *identities) adopt(o *resource.Object, f *objectState, hits []resource.Row, by string) {
	if len(hits) > 1 {
		hint := "give the id of the right one"
		if by == foundByExternalID {
			hint = m.keepOne(o.Kind, f.parent, hits) + ", or " + hint
		}
		m.fail(o, f, "ambiguous", "the service has "+countOf(len(hits), o.Kind)+" that could be "+string(o.Address)+", found by "+by+": "+
			m.objects.enumerate(o.Kind, f.parent, hits), hint)
		return
	}
	f.presence, f.row, f.id, f.matchedBy = exists, hits[0], hits[0].ID(), by
	if o.Implied { // it is not the manifest's
		f.matchedBy = ""
	}
}

// findArchived looks for an object among the archived ones before it is created again. A name
// matches only where the manifest says archived. was is the ID that the object had, or "".
func (m *identities) findArchived(o *resource.Object, f *objectState, was string) bool {
	t := f.info
	_, _, given := wantsArchived(o)
	if t.archived == nil && given && o.ID == "" && t.findsExternalIDs() {
		return slices.ContainsFunc(AllAddresses(o), func(a resource.Address) bool { return m.lookUnlisted(o, f, a, "") })
	}
	if t.archived == nil || !t.externalIDs {
		return false
	}
	a := m.service.askAt(t.archived, m.objects.params(f.parent))
	externalID := m.in.marks().ID(o.Address)
	for _, row := range a.Rows {
		if row.ID() == was || o.ID == "" && m.in.marks().Has(row, externalID) {
			f.presence, f.row, f.id = exists, row, row.ID()
			return true
		}
	}
	if !given || o.ID != "" {
		return false
	}
	hits, field := (&listing{rows: a.Rows}).sameNaturalKey(o, t, nil)
	if len(hits) > 0 {
		m.adopt(o, f, hits, "its "+field)
	}
	return len(hits) > 0
}

// sameNaturalKey finds the records with the natural key of an object, without those whose external ID
// belongs to another object of the manifest. A name that several objects share identifies none.
func (m *identities) sameNaturalKey(l *listing, o *resource.Object, t *kindInfo, id resource.IDResolver) (hits []resource.Row, field string) {
	hits, field = l.sameNaturalKey(o, t, id)
	if len(hits) == 0 || !t.externalIDs {
		return hits, field
	}
	if o.Kind.AdoptOnRequestOnly && !m.in.takesOver(o) { // each owner has its own
		hits = slices.DeleteFunc(slices.Clone(hits), func(row resource.Row) bool {
			owner, marked := row.Owner()
			return marked && owner != m.in.Owner
		})
	}
	if m.hasSharedName(o) {
		return nil, ""
	}
	hits = slices.DeleteFunc(slices.Clone(hits), func(row resource.Row) bool {
		externalID := row.Text("external_id")
		at, wanted := m.ownersByExternalID()[externalID]
		return wanted && m.in.marks().Has(row, externalID) && m.in.Desired[at] != o
	})
	return hits, field
}

// keyIDs returns the IDs of the objects that the natural key of an object names, as far as they are on the service.
func (m *identities) keyIDs(o *resource.Object, f *objectState) resource.IDResolver {
	ids := map[*resource.Field]string{}
	for _, field := range o.Kind.NaturalFields() {
		v, given := o.Value(field.Name)
		if !field.IsRef() || !given || len(v.Refs) == 0 {
			continue
		}
		r, to := &v.Refs[0], m.objects.kind(field.Ref)
		within := m.objects.ancestor(f.parent, to.namedWithin)
		switch {
		case r.Target != nil:
			ids[field] = m.objects.states[m.objects.index[r.Target]].id
		case r.ID != "":
			ids[field] = r.ID
		default:
			_, st := m.snapshot.list(to, within)
			if named := m.snapshot.names(to, within).Named(r.Text); st == exists && len(named) == 1 {
				ids[field] = named[0]
			}
		}
	}
	return func(f *resource.Field, _ *resource.Reference) (string, bool) { return ids[f], ids[f] != "" }
}

// ownersByExternalID are the objects of the manifest by the external IDs that they have, or get.
func (m *identities) ownersByExternalID() map[string]objectID {
	if m.byExternalID == nil {
		m.byExternalID = map[string]objectID{}
		for i, o := range m.objects.all() {
			if m.objects.states[i].info.externalIDs {
				m.byExternalID[m.in.marks().ID(o.Address)] = i
			}
		}
	}
	return m.byExternalID
}

// hasSharedName reports whether another object of the manifest beside this one has the same
// natural key. Only objects that come from elsewhere, with IDs of their own there, can have that.
func (m *identities) hasSharedName(o *resource.Object) bool {
	if m.names == nil {
		m.names = map[naturalKey]int{}
		for _, o := range m.in.Desired {
			for _, key := range m.naturalKeys(o) {
				m.names[key]++
			}
		}
	}
	return slices.ContainsFunc(m.naturalKeys(o), func(key naturalKey) bool { return m.names[key] > 1 })
}

// naturalKey identifies an object without ID and identifier.
type naturalKey struct {
	kind   *resource.Kind
	parent *resource.Object
	field  *resource.Field
	text   string
}

func (m *identities) naturalKeys(o *resource.Object) (keys []naturalKey) {
	if t := m.objects.kinds[o.Kind]; t.externalIDs && o.ID == "" && o.Identifier == "" {
		for _, f := range t.naturalKey {
			if text := o.Text(f.Name); text != "" {
				keys = append(keys, naturalKey{o.Kind, o.Parent, f, text})
			}
		}
	}
	return keys
}

// keepOne says which of several records with one external ID to keep: the one that the state knows, else the oldest.
func (m *identities) keepOne(k *resource.Kind, parent objectID, rows []resource.Row) string {
	unowned := func(row resource.Row) int {
		if _, owned := m.objects.owners[serviceID{k.Name, row.ID()}]; owned {
			return 0
		}
		return 1
	}
	keep := slices.MinFunc(rows, func(a, b resource.Row) int {
		return cmp.Or(unowned(a)-unowned(b), a.Older(b))
	})
	why := "it is the oldest"
	if unowned(keep) == 0 {
		why = "the state file has it"
	}
	others := slices.DeleteFunc(slices.Clone(rows), func(row resource.Row) bool { return row.ID() == keep.ID() })
	return "keep " + m.objects.enumerate(k, parent, []resource.Row{keep}) + " (" + why + "), and delete " +
		m.objects.enumerate(k, parent, others)
}
