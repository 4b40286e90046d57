package planner

import (
	"context"
	"maps"
	"slices"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// identities is the stage that binds every object of the manifest to a row of the service, or finds that it has none.
type identities struct {
	analysis

	scans        map[scope]*scan     // by the kind and parent of creates without an outcome
	byExternalID map[string]objectID // objects of the manifest by their external IDs
	names        map[naturalKey]int  // number of objects of the manifest with each natural key
}

func match(r analysis) *identities {
	s := &identities{
		analysis: r, scans: map[scope]*scan{}, byExternalID: map[string]objectID{}, names: map[naturalKey]int{},
	}
	s.indexNames()
	for _, level := range r.objects.levels() {
		var byNumber []objectID // creates that are looked for one after the other, so that no row is bound twice
		r.service.each(len(level), func(k int) {
			if f := &r.objects.states[level[k]]; f.wasAnnounced && !f.info.isRecognisable() {
				byNumber = append(byNumber, level[k])
			} else {
				s.identify(level[k])
			}
		})
		for _, i := range byNumber {
			s.identify(i)
		}
	}
	s.recordOwners()
	return s
}

// levels groups the objects by depth, parents first. Objects whose natural keys name other objects come last, by rank.
func (ob *objects) levels() (levels [][]objectID) {
	const last = 100 // more than any depth
	level := make([]int, ob.count())
	byLevel := map[int][]objectID{}
	for i := range ob.count() {
		f := &ob.states[i]
		if f.parent != noObject {
			level[i] = level[f.parent] + 1
		}
		if f.info.namedByOthers {
			level[i] = max(level[i], last+f.info.rank)
		}
		byLevel[level[i]] = append(byLevel[level[i]], i)
	}
	for _, n := range slices.Sorted(maps.Keys(byLevel)) {
		levels = append(levels, byLevel[n])
	}
	return levels
}

// FindLost looks, during a run, for the row of a create with a lost answer, if only its readable number can show it. in.Desired must hold
// the object and the objects that it needs, and in.Prior the current records and open intents. If decided is true, rows has the row that
// the create made, or is empty. It returns an error if a read failed.
func FindLost(ctx context.Context, in Input, reader Reader, wanted *resource.Object) (rows []resource.Row, decided bool, err error) {
	in.SkipRefresh = true
	r := observe(&in, newLoader(ctx, &in, reader))
	match(r)
	at := slices.Index(in.Desired, wanted)
	if at < 0 || r.service.err != nil {
		return nil, false, r.service.err
	}
	f := &r.objects.states[at]
	if f.presence == exists && f.matchedBy == foundByNumber {
		return []resource.Row{f.row}, true, nil
	}
	return nil, f.presence == absent && f.wasAnnounced, nil
}

// identify binds one object to its row on the service. It searches only if the parent has a row.
func (ie *identities) identify(i objectID) {
	o, f := ie.in.Desired[i], &ie.objects.states[i]
	if f.binding = ie.bindWithParent(o, f); f.presence != unbound {
		return
	}
	if o.ID != "" && f.isKnown() && f.prior.ID != o.ID {
		f.forgetPrior()
	}
	if ie.hasOtherOrigin(o, f) {
		f.presence = invalid
		return
	}
	s := &search{analysis: ie.analysis, ids: ie, o: o, f: f, was: o.ID}
	if f.isKnown() {
		s.was = f.prior.ID
	}
	b := binding{}
	for _, find := range finders() {
		if b = find(s); b.presence != unbound {
			break
		}
	}
	if b.id == "" {
		b.id, b.identifier = f.id, f.identifier
	}
	if f.binding = b; f.presence != exists {
		return
	}
	ie.objects.setZone(o, f)
	s.checkIdentifier()
	if f.presence == exists && f.row.Text("archived_at") != "" && f.hasChildren && f.parent == noObject {
		f.presence, f.why = hidden, archived
	}
	_, other := ie.in.otherOwner(f.row, f.isKnown())
	f.foreign = other && !ie.in.takesOver(o) || ie.objects.inForeign(f.info, f.parent, f.row)
}

// bindWithParent binds an object without a search, if its kind or its parent decides already.
func (ie *identities) bindWithParent(o *resource.Object, f *objectState) binding {
	if o.Kind.Singleton && f.info.list == nil {
		return binding{presence: unsupported}
	}
	if f.parent == noObject {
		return binding{}
	}
	switch p := &ie.objects.states[f.parent]; {
	case !p.presence.isDecided():
		f.keptDeleted = p.keptDeleted
		return binding{presence: p.presence, why: p.why}
	case p.presence == absent:
		f.forgetPrior()
		if o.Kind.Numbered() && o.Identifier != "" && !o.Exported && !ie.in.Desired[f.parent].NoCreate { // an export names objects of its workspace by identifier
			ie.diags.report(o, "no-number-yet", numbersLater(o.Identifier), byKey)
		}
		if presence := ie.snapshot.kindPresence(f.info); presence != exists {
			return binding{presence: presence}
		}
		return binding{presence: absent}
	case p.replaced:
		f.forgetPrior() // the record is about an object in another parent
	}
	return binding{}
}

// hasOtherOrigin reports an error if an object of an exported manifest has the key of another object of that workspace in the state. It
// returns false if both have the same name and names identify objects of the kind: then the object replaces the other one.
func (ie *identities) hasOtherOrigin(o *resource.Object, f *objectState) bool {
	if f.prior == nil || f.prior.Origin == nil || o.Origin == nil || f.prior.Origin.Is(o.Origin) {
		return false
	}
	if field, name := distinctiveField(o); field != "" && !o.Kind.AdoptOnRequestOnly && len(o.Kind.NaturalKey) > 0 && f.prior.Values[field] == name {
		return false
	}
	ie.diags.report(o, "other-origin", string(o.Address)+" was "+f.prior.Origin.String()+" at the last apply, and the manifest says that it is "+
		o.Origin.String()+": it is another "+o.Kind.Noun(),
		"give the new one another key; planform export makes the keys of work items from their numbers")
	return true
}

// numbersLater returns the error about a readable identifier, such as WEB-7, in a project that the run creates.
func numbersLater(identifier string) string {
	return identifier + " does not exist yet: this run creates its project, and the service numbers the items later"
}

const byKey = "write the key of the one that you mean"

// recordOwners indexes the objects by their IDs on the service. It reports two objects of the manifest that are bound to one row.
func (ie *identities) recordOwners() {
	for i := range ie.objects.count() {
		f := &ie.objects.states[i]
		if f.presence != exists && f.presence != hidden || f.id == "" {
			continue
		}
		o := ie.in.Desired[i]
		id := serviceID{o.Kind.Name, f.id}
		first, twice := ie.objects.owners[id]
		if !twice {
			ie.objects.owners[id] = i
			continue
		}
		other, how := ie.in.Desired[first], ""
		if f.matchedBy != "" {
			how = ", found by " + f.matchedBy
		}
		ie.diags.Add(diag.Diagnostic{
			Code: "ambiguous-match", Position: o.Position, Address: string(o.Address),
			Summary: string(o.Address) + " and " + string(other.Address) + " are the same " + o.Kind.Noun() + " on the service: " + f.id + how,
			Hint:    "remove one of them from the manifest, or give each its own id",
			Related: []diag.Related{{Position: other.Position, Note: "the other is at"}},
		})
		f.presence = invalid
	}
}
