package planner

import (
	"slices"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// similarNames returns a hint with names in a list that are similar to a text.
func similarNames(text string, k *resource.Kind, l *listing) string {
	var all []string
	for _, row := range l.rows {
		all = append(all, k.DisplayTexts(row)...)
	}
	return diag.DidYouMean(text, all)
}

// rowsWithMarks returns the rows that bear the mark of an object, or else a former mark of the object.
func (ie *identities) rowsWithMarks(o *resource.Object, by index) (hits []resource.Row) {
	all := AllAddresses(o)
	if hits = by[ie.in.marks().ID(all[0])]; len(hits) > 0 {
		return hits
	}
	for _, a := range all[1:] {
		hits = append(hits, by[ie.in.marks().ID(a)]...)
	}
	if len(hits) == 0 {
		return by[o.Key] // see listing.byAnyMark
	}
	return hits
}

// rowsWithMark returns the rows that bear a mark. It uses the list of the object's kind if that was read already.
func (ie *identities) rowsWithMark(f *objectState, mark string) []resource.Row {
	if ie.snapshot.isListed(f.info, f.parent) {
		l, _ := ie.snapshot.list(f.info, f.parent)
		return l.byExternalID(ie.in.marks())[mark]
	}
	return ie.service.ask(Read{Operation: f.info.list, Path: ie.snapshot.listPath(f.info, f.parent), ExternalID: mark, Owner: ie.in.Owner}).Rows
}

// isRecorded reports whether the state has a record of an object, or could lack it.
func (ie *identities) isRecorded(o *resource.Object) bool {
	return !ie.in.StateIsComplete || slices.ContainsFunc(AllAddresses(o), func(a resource.Address) bool {
		_, recorded := ie.in.Prior[a]
		return recorded
	})
}

// withoutOthersRows returns the rows that the state does not have as another object of the manifest. In a manifest from another workspace, an object
// may have the key or the name that another object had there before.
func (ie *identities) withoutOthersRows(o *resource.Object, hits []resource.Row) []resource.Row {
	if o.Origin == nil {
		return hits
	}
	return slices.DeleteFunc(slices.Clone(hits), func(row resource.Row) bool {
		return slices.ContainsFunc(ie.objects.addressesOf(serviceID{o.Kind.Name, row.ID()}), func(a resource.Address) bool {
			_, wanted := ie.objects.indexOf(a)
			return wanted && a != o.Address
		})
	})
}

// rowsWithNaturalKey returns the rows with the natural key of an object, without those that bear the mark of another object of the manifest. A
// name that several objects of the manifest share identifies none.
func (ie *identities) rowsWithNaturalKey(l *listing, o *resource.Object, t *kindInfo, id resource.IDResolver) (hits []resource.Row, field string) {
	hits, field = l.rowsWithNaturalKey(o, t, id)
	if len(hits) == 0 || !t.externalIDs {
		return hits, field
	}
	if slices.ContainsFunc(ie.naturalKeys(o), func(key naturalKey) bool { return ie.names[key] > 1 }) {
		return nil, ""
	}
	hits = slices.DeleteFunc(slices.Clone(hits), func(row resource.Row) bool {
		externalID := row.Text("external_id")
		owner, marked := row.Owner()
		if o.Kind.AdoptOnRequestOnly && !ie.in.takesOver(o) && marked && owner != ie.in.Owner { // different owners may have objects of the same name
			return true
		}
		at, wanted := ie.byExternalID[externalID]
		return wanted && ie.in.marks().Has(row, externalID) && ie.in.Desired[at] != o
	})
	return hits, field
}

// keyIDs resolves the references in the natural key of an object to IDs. A reference to an object that the service does not have yet stays
// unresolved.
func (ie *identities) keyIDs(f *objectState) resource.IDResolver {
	return func(field *resource.Field, r *resource.Reference) (id string, known bool) {
		switch {
		case r.Target != nil:
			id = ie.objects.states[ie.objects.index[r.Target]].id
		case r.ID != "":
			id = r.ID
		default:
			to := ie.objects.kind(field.Ref)
			within := ie.objects.ancestor(f.parent, to.namedWithin)
			_, st := ie.snapshot.list(to, within)
			if named := ie.snapshot.names(to, within).Named(r.Text); st == exists && len(named) == 1 {
				id = named[0]
			}
		}
		return id, id != ""
	}
}

// indexNames indexes the objects of the manifest by their marks and by their natural keys. Only a manifest from another workspace, where
// objects have IDs, can have two objects with one natural key in one parent.
func (ie *identities) indexNames() {
	for i, o := range ie.objects.all() {
		if ie.objects.states[i].info.externalIDs {
			ie.byExternalID[ie.in.marks().ID(o.Address)] = i
		}
		for _, key := range ie.naturalKeys(o) {
			ie.names[key]++
		}
	}
}

// naturalKey identifies an object without ID and identifier.
type naturalKey struct {
	kind   *resource.Kind
	parent *resource.Object
	field  *resource.Field
	text   string
}

func (ie *identities) naturalKeys(o *resource.Object) (keys []naturalKey) {
	if t := ie.objects.kinds[o.Kind]; t.externalIDs && o.ID == "" && o.Identifier == "" {
		for _, f := range t.naturalKey {
			if text := o.Text(f.Name); text != "" {
				keys = append(keys, naturalKey{o.Kind, o.Parent, f, text})
			}
		}
	}
	return keys
}

// keepOneHint returns a hint about several rows with one mark: keep the row that the state knows, else the oldest, and delete the others. If
// the state knows several, it keeps the row of the object that the mark names.
func (ie *identities) keepOneHint(k *resource.Kind, parent objectID, rows []resource.Row) string {
	keep, why, known := slices.MinFunc(rows, resource.Row.Older), "it is the oldest", false
	marked, wanted := ie.byExternalID[rows[0].Text("external_id")]
	for _, row := range rows {
		if at, owned := ie.objects.owners[serviceID{k.Name, row.ID()}]; owned && (!known || wanted && at == marked) {
			keep, why, known = row, "the state file has it", true
		}
	}
	others := slices.DeleteFunc(slices.Clone(rows), func(row resource.Row) bool { return row.ID() == keep.ID() })
	return "keep " + ie.objects.enumerate(k, parent, []resource.Row{keep}) + " (" + why + "), and delete " +
		ie.objects.enumerate(k, parent, others)
}
