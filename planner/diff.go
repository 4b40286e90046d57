package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// comparer is the stage that compares the three values of each field: of the manifest, of the service, and of the last apply. Later stages
// read the fields that differ.
type comparer struct {
	analysis

	refs       *references
	found      map[*resource.Value]comparison // the fields that differ
	unrecorded map[*resource.Value]string     // the fields that equal the manifest and not the record: the digest of their value
}

func newComparer(refs *references) *comparer {
	return &comparer{refs.analysis, refs, map[*resource.Value]comparison{}, map[*resource.Value]string{}}
}

// comparison is a field that differs from the manifest.
type comparison struct {
	value      *resource.Value
	have, want string // canonical values of the service and of the manifest
	applied    string // the digest of the value that was applied last
	shown      bool   // the service shows the field
	equal      bool   // it does not differ, and the service shows the value of the manifest
	compared   bool   // the service or the state has a value
	drifted    bool   // somebody changed the field on the service since the last apply
	conflict   bool   // the manifest changed the field, too
}

// compareFields compares the fields of all objects that were found.
func (cm *comparer) compareFields() {
	for i, o := range cm.objects.all() {
		f := &cm.objects.states[i]
		if f.presence != exists && (f.presence != hidden || f.row == nil) {
			continue
		}
		resolve := cm.refs.idResolver(i)
		for k := range o.Values {
			v := &o.Values[k]
			if v.Field.Virtual || f.info.viaMembership(v.Field) {
				continue
			}
			c, differs := cm.compare(v, f, resolve)
			if differs {
				cm.found[v] = c
			} else if c.equal && (f.prior == nil || !f.prior.hasApplied(v.Field, c.have)) {
				cm.unrecorded[v] = resource.Digest(c.want)
			}
		}
	}
}

// differs reports whether a field of the manifest differs from the service.
func (cm *comparer) differs(v *resource.Value) bool {
	_, differs := cm.found[v]
	return differs
}

// compare compares the three values of one field. If neither the service nor the state has a value, the field differs.
func (cm *comparer) compare(v *resource.Value, f *objectState, resolve resource.IDResolver) (c comparison, differs bool) {
	if v.Content != nil {
		return compareContent(v, f)
	}
	want, complete := v.Desired(resolve)
	if v.Field.Past && !complete {
		return c, false // an imported past field with an unknown name is left out
	}
	prior, applied := cm.appliedValue(v, f)
	asApplied := applied && complete && resource.IsDigest(prior, want)
	have, shown := v.Field.ObservedIn(f.row)
	shown = shown && f.row != nil
	c = comparison{
		value: v, have: have, want: want, applied: prior, shown: shown, equal: shown && complete && have == want,
		compared: shown || f.prior != nil && len(f.prior.Values) > 0,
	}
	switch {
	case c.equal,
		asApplied && (!shown || f.prior.stillShown(v.Field, have, f.row)) && len(cm.leftOutReferences(v, f, resolve)) == 0,
		!shown && v.Field.CreateOnly() && (!applied || !complete):
		return c, false
	}
	if c.drifted = shown && applied && f.prior.hasDrifted(v.Field, f.lastShown(v.Field), f.row); c.drifted {
		if !complete && v.Field.IsRef() { // a named object was deleted, so that the manifest's value did not change
			want, complete = v.Desired(cm.withRecordedIDs(resolve))
		}
		c.conflict = !complete || !resource.IsDigest(prior, want)
	}
	return c, true
}

// withRecordedIDs returns a resolver that resolves an object that no longer exists to its ID in the state.
func (cm *comparer) withRecordedIDs(resolve resource.IDResolver) resource.IDResolver {
	return func(field *resource.Field, r *resource.Reference) (string, bool) {
		id, ok := resolve(field, r)
		if !ok && r.Target != nil {
			id = cm.in.Prior[r.Target.Address].ID
		}
		return id, id != ""
	}
}

// isDrift reports whether people changed a field that differs. It is false if only objects that the field named were deleted.
func (cm *comparer) isDrift(c comparison, f *objectState) bool {
	return c.drifted && !cm.lostOnlyDeleted(c.value.Field, f, c.have)
}

// change returns a field that differs as a change, with texts for people.
func (cm *comparer) change(i objectID, c comparison) Change {
	v, f, resolve := c.value, &cm.objects.states[i], cm.refs.idResolver(i)
	now := change(v, FromManifest)
	switch {
	case v.Content != nil:
	case !c.shown:
		now.Origin = NotRefreshed // the value before the change is the last applied value
		if c.applied != "" && !strings.HasPrefix(c.applied, "sha256:") {
			before := cm.refs.nameIDs(v, v.Field.WithoutProperty(c.applied), resolve)
			now.Before, now.Was = &before, v.Field.ValueOf(v.Field.WithoutProperty(c.applied))
		}
	default:
		if cm.isDrift(c, f) {
			now.Origin, now.Conflict = FromDrift, c.conflict
		}
		now.Before, now.After = cm.displayValues(v, c.have, c.want, now.After, resolve)
		if was, shown := v.Field.TextIn(f.row); shown {
			now.Was = v.Field.ValueOf(was)
		}
	}
	return now
}

// appliedValue returns the digest of the field's value that was applied last. A value of a custom field does not count if it belongs to
// another property than the current one.
func (cm *comparer) appliedValue(v *resource.Value, f *objectState) (digest string, applied bool) {
	if f.prior == nil {
		return "", false
	}
	digest, applied = f.prior.Values[v.Field.Name]
	if of := v.Field.Definition; of != nil && !v.Field.IsOf(digest, cm.objects.states[cm.objects.index[of]].id) {
		return "", false
	}
	return digest, applied
}

// lostOnlyDeleted reports whether a field lost only references to objects that lists show to be deleted. Then somebody, such as an
// earlier run, deleted these objects, and nobody changed the field.
func (cm *comparer) lostOnlyDeleted(f *resource.Field, st *objectState, have string) bool {
	gone := lostReferences(f, st.prior.Values[f.Name], have)
	if len(gone) == 0 {
		return false
	}
	read := false
	for _, t := range cm.objects.namedBy(f) {
		within := cm.objects.withinOf(st.parent, &refField{field: f, to: t})
		if t.parent != nil && within == noObject || !cm.snapshot.isListed(t, within) {
			return false
		}
		l, presence := cm.snapshot.list(t, within)
		switch {
		case presence == unsupported:
		case presence != exists, slices.ContainsFunc(l.rows, func(r resource.Row) bool { return slices.Contains(gone, r.ID()) }):
			return false
		default:
			read = true
		}
	}
	return read
}

// namedBy returns the kinds that a field may name, or nil if the list of one of them does not show all its objects.
func (ob *objects) namedBy(f *resource.Field) (kinds []*kindInfo) {
	for _, name := range []string{f.Ref, f.OrRef} {
		k, refers := resource.Lookup(name)
		if refers && !k.ListsAll() {
			return nil
		}
		if refers && ob.kinds[k].list != nil {
			kinds = append(kinds, ob.kinds[k])
		}
	}
	return kinds
}

// lostReferences returns the references of a field that were applied and are missing now. It returns none if the field changed in another way, too.
func lostReferences(f *resource.Field, applied, have string) (gone []string) {
	was, is := f.WithoutProperty(applied), f.WithoutProperty(have)
	if was == "" || strings.HasPrefix(was, "sha256:") || is != "" && strings.TrimSuffix(applied, was) != strings.TrimSuffix(have, is) {
		return nil // the value was not recorded, or belongs to another property
	}
	still := strings.Split(is, ",")
	left := slices.DeleteFunc(strings.Split(was, ","), func(id string) bool {
		if slices.Contains(still, id) {
			return false
		}
		gone = append(gone, id)
		return true
	})
	if strings.Join(left, ",") != is {
		return nil
	}
	return gone
}

// leftOutReferences returns the references of a field that the service left out when it stored the last value. It returns none if the manifest or
// the service has changed since.
func (cm *comparer) leftOutReferences(v *resource.Value, f *objectState, resolve resource.IDResolver) (names []string) {
	if f.prior == nil {
		return nil
	}
	shown, leftOut := strings.CutPrefix(f.prior.Values[ShownKey(v.Field.Name)], leftOutMark)
	if !leftOut {
		return nil
	}
	if want, complete := v.Desired(resolve); !complete || !resource.IsDigest(f.prior.Values[v.Field.Name], want) {
		return nil
	}
	if have, known := v.Field.ObservedIn(f.row); known && !resource.IsDigest(shown, have) {
		return nil
	}
	for i := range v.Refs {
		if id, ok := resolve(v.Field, &v.Refs[i]); ok && !v.Field.IsCoveredBy(id, shown) {
			names = append(names, v.Refs[i].Text)
		}
	}
	return names
}

// compareContent compares a file by digest with the file that was sent, else by size with the file on the service. Nobody can change a
// file on the service.
func compareContent(v *resource.Value, f *objectState) (c comparison, differs bool) {
	compared := false
	if f.prior != nil && f.prior.ID == f.id {
		var sent string
		sent, compared = f.prior.Values[v.Field.Name]
		differs = compared && sent != resource.Digest(v.Content.String())
	}
	if shown, known := v.Field.ObservedIn(f.row); !compared && known {
		compared, differs = true, !v.Field.Agrees(v.Content.String(), shown)
	}
	return comparison{value: v, compared: compared}, differs
}

func (cm *comparer) displayValues(v *resource.Value, have, want string, after *string, resolve resource.IDResolver) (*string, *string) {
	before := cm.refs.nameIDs(v, v.Field.WithoutProperty(have), resolve)
	if cm.in.Deletes != nil && v.Field.IsRef() && want != "" { // the values of an undo are IDs that nobody wrote
		now := cm.refs.nameIDs(v, v.Field.WithoutProperty(want), resolve)
		after = &now
	}
	if v.Field.Rich() {
		have, want = cm.refs.nameLinks(v, have, want)
		old, now := resource.ReadableTexts(have, want)
		old, now = strings.ReplaceAll(old, standsForAddress, resource.AddressScheme), strings.ReplaceAll(now, standsForAddress,
			resource.AddressScheme)
		if before = old; want != "" || now == want {
			after = &now
		}
	}
	if before == "" {
		return nil, after
	}
	return &before, after
}

// difference is a field of an object that differs from the manifest.
type difference struct {
	value  *resource.Value // what a request sends; nil = planform's mark, or a change that no request makes
	change *Change
	cause  Cause         // of a change that is not possible
	at     diag.Position // of a change that is not possible: the place in the manifest, if it is known
}

// differences holds the fields of an object that differ from the manifest.
type differences struct {
	send       []difference
	late       []difference      // texts that are sent after the objects that they link to are created
	blocked    []difference      // changes that are not possible
	kept       []difference      // drift that is left as it is
	ignored    int               // number of fields that differ and that the manifest ignores
	alwaysSent []*resource.Value // unchanged, but the service wants them in every update
	alone      bool              // the update shares no request
}

// sentDifference returns the difference of a field whose value the manifest gives and a request sends.
func sentDifference(v *resource.Value) difference {
	c := change(v, FromManifest)
	c.Possible = true
	return difference{value: v, change: &c}
}

// valuesOf returns the values that a request sends.
func valuesOf(list []difference, more ...*resource.Value) (values []*resource.Value) {
	for _, d := range list {
		if d.value != nil {
			values = append(values, d.value)
		}
	}
	return append(values, more...)
}

func changesOf(list []difference) (changes []*Change) {
	for _, d := range list {
		changes = append(changes, d.change)
	}
	return changes
}

// alwaysSend adds a value that does not change, if the service wants its field in every update.
func (ds *differences) alwaysSend(v *resource.Value) {
	if v != nil && v.Field.AlwaysSend {
		ds.alwaysSent = append(ds.alwaysSent, v)
	}
}

// block adds a value that cannot be sent.
func (ds *differences) block(v *resource.Value, cause Cause) {
	c := change(v, FromManifest)
	ds.blocked = append(ds.blocked, difference{value: v, change: &c, cause: cause, at: v.Position})
}

// blockRef adds a reference that cannot be sent.
func (ds *differences) blockRef(field *resource.Field, text string, at diag.Position, cause Cause) {
	ds.blocked = append(ds.blocked, difference{change: &Change{Path: field.Name, After: &text, Origin: FromManifest}, cause: cause, at: at})
}

// blockChange adds a change that cannot be made.
func (ds *differences) blockChange(c *Change, cause Cause) {
	c.Possible = false
	ds.blocked = append(ds.blocked, difference{change: c, cause: cause})
}

// causesText returns the causes of changes that cannot be made as one sentence.
func causesText(t *kindInfo, blocked []difference) string {
	var parts, invited []string
	causes := make([]Cause, len(blocked))
	for i, d := range blocked {
		causes[i] = d.cause
	}
	slices.SortFunc(causes, func(a, b Cause) int { return cmp.Compare(a.Text, b.Text) })
	for _, cause := range slices.Compact(causes) {
		switch cause.Code {
		case CannotChange, CannotClear, CannotSet:
			var fields []string
			for _, d := range blocked {
				if d.cause == cause {
					fields = append(fields, d.change.Path)
				}
			}
			text := t.api.Noun() + " cannot " + cause.Text + " " + strings.Join(fields, ", ") + " of " + diag.A(t.kind.Noun())
			if cause.Code != CannotSet {
				text += " after creation"
			}
			parts = append(parts, text)
		case NotAccepted:
			invited = append(invited, cause.Objects)
		default:
			parts = append(parts, cause.Text)
		}
	}
	switch n := len(invited); n {
	case 0:
	case 1:
		parts = append(parts, notAccepted(invited[0], false).Text)
	default:
		parts = append(parts, diag.Count(n, "person")+" have not accepted their invitations yet: "+diag.First(invited, fewNames)+"; "+onceAccepted)
	}
	return strings.Join(parts, "; ")
}
