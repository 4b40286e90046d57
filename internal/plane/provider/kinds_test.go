package provider_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/internal/sandbox"
	"github.com/planform/planform/internal/sandbox/sandboxtest"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// TestEveryKindIsCreatedChangedClearedAdoptedAndKept leads an object of each kind that a manifest lists through its
// life. Its contents are made from the descriptor, so a new kind needs no change here.
func TestEveryKindIsCreatedChangedClearedAdoptedAndKept(t *testing.T) {
	t.Parallel()
	for _, at := range everyKind() {
		k := at.kind
		if !sample.TakesNamed(at.api.String()+k.Name, 4) {
			continue
		}
		t.Run(at.api.String()+"/"+k.Name, func(t *testing.T) {
			t.Parallel()
			var later atomic.Bool
			s := newServiceOf(t, at.api, sandboxtest.Options{Edition: at.edition, Governed: k.Governance.AtWorkspace, Now: func() time.Time {
				if later.Load() {
					return time.Now().AddDate(100, 0, 0) // so that every cycle is over
				}
				return time.Now()
			}})
			s.loaded = map[[2]string]*manifest.Manifest{}
			l := &life{t, s, k}
			base := l.base()

			made := s.apply(t, applying{manifest: l.text(base)})
			l.done("creating", made)
			if made.plan.Summary.Create == 0 && !k.Singleton {
				t.Errorf("nothing was created: %+v", made.plan.Summary)
			}
			l.unchanged("after creating", base)

			for i, f := range l.changeable() {
				if sample.Takes(i+len(k.Name), 3) {
					base = l.change(f, base)
				}
			}

			l.prune()
			l.done("creating it again", s.apply(t, applying{manifest: l.text(base)}))

			s.dir = t.TempDir() // the state is lost
			adopted := s.apply(t, applying{manifest: l.text(base)})
			l.done("adopting", adopted)
			if sum := adopted.plan.Summary; adopted.writes != l.unlisted() || sum.Create != 0 {
				t.Errorf("after losing the state: %d writes, %+v", adopted.writes, sum)
			}
			l.unchanged("after adopting", base)

			later.Store(true)
			l.archive(base)
		})
	}
}

// kindIn is a kind in an edition of the service, written with an API.
type kindIn struct {
	kind    *resource.Kind
	api     resource.API
	edition sandbox.Edition
}

// everyKind returns every kind that a manifest lists, with API v1 and with API v2.
func everyKind() []kindIn {
	var all []kindIn
	for _, k := range resource.Kinds() {
		if k.Section == "" {
			continue
		}
		if _, ok := k.Op(resource.List, resource.V1); ok {
			all = append(all, kindIn{k, resource.V1, sandbox.Full})
		}
		all = append(all, kindIn{k, resource.V2, sandbox.Cloud})
	}
	return all
}

// life makes the manifests for the life of one object.
type life struct {
	*testing.T
	s *service
	k *resource.Kind
}

// mapping is a mapping of the manifest.
type mapping map[string]any

// base returns the object with each field that has a second value.
func (l *life) base() mapping {
	o := l.plain(l.k, "one")
	sent := map[string]bool{}
	for i := range l.k.Fields {
		f := &l.k.Fields[i]
		_, changes := l.second(f)
		if !l.settable(f) || f.CreateOnly() || f.ArchiveFlag || f.APIName() != "" && sent[f.APIName()] || !changes && !f.Required && l.offers(resource.Update) {
			continue
		}
		sent[f.APIName()] = true
		if _, given := o[f.Name]; !given {
			l.set(o, f, l.first(f))
		}
	}
	return o
}

// plain returns an object of a kind with only its required fields.
func (l *life) plain(k *resource.Kind, key string) mapping {
	o := mapping{"key": key}
	if k.Singleton {
		delete(o, "key")
	}
	if k.Identifier != nil && k.Identifier.APIName != "" {
		o["identifier"] = strings.ToUpper(key)
	}
	for i := range k.Fields {
		f := &k.Fields[i]
		switch {
		case !f.Required:
		case !slices.Contains(k.NaturalKey, f.Name):
			o[f.Name] = l.first(f)
		case f.IsRef():
			names := l.names(f)
			o[f.Name] = names[max(0, slices.Index(names, key))]
		case f.Type == resource.URL:
			o[f.Name] = f.Example + "/" + key
		default:
			o[f.Name] = f.Example + " " + key
		}
	}
	return o
}

func (l *life) set(o mapping, f *resource.Field, value any) {
	for i := range l.k.Fields { // alternatives of other fields are removed
		if other := &l.k.Fields[i]; l.k.Alternatives(f, other) {
			delete(o, other.Name)
		}
	}
	if f.Group == "" {
		o[f.Name] = value
		return
	}
	group := mapping{}
	if had, ok := o[f.Group].(mapping); ok {
		group = maps.Clone(had)
	}
	group[f.Name] = value
	o[f.Group] = group
}

// first returns the first value of a field.
func (l *life) first(f *resource.Field) any {
	switch f.Type { //nolint:exhaustive // the others are texts
	case resource.Number, resource.Boolean:
		return json.RawMessage(f.Example)
	case resource.JSON:
		var value mapping // the fields of its group are added to it
		if err := json.Unmarshal([]byte(f.Example), &value); err != nil {
			l.Fatal(err)
		}
		return value
	case resource.Ref:
		return l.names(f)[0]
	case resource.RefSet:
		return l.members(f, l.names(f)[:1])
	case resource.EnumSet:
		return words(f)[:1]
	}
	return f.Example
}

// second returns another value of a field; ok is false if there is none.
func (l *life) second(f *resource.Field) (value any, ok bool) {
	switch f.Type {
	case resource.Number:
		return json.RawMessage(f.Example[:len(f.Example)-1] + "1"), true
	case resource.Boolean:
		return f.Example == "false", true
	case resource.JSON:
		return mapping{"in_use": "icon"}, true
	case resource.Enum:
		return f.Enum[(slices.Index(f.Enum, f.Example)+1)%len(f.Enum)], true
	case resource.Ref:
		return l.names(f)[1], true
	case resource.RefSet:
		return l.members(f, l.names(f)), true
	case resource.EnumSet:
		return words(f)[1:], true
	case resource.Date:
		day, err := time.Parse(time.DateOnly, f.Example)
		if err != nil {
			l.Fatal(err)
		}
		return day.AddDate(0, 0, 1).Format(time.DateOnly), true
	case resource.Color:
		return "#123456", true
	case resource.URL:
		return f.Example + "/two", true
	case resource.HTML:
		return f.Example + "<p>More.</p>", true
	case resource.File, resource.Upload, resource.CustomFields, resource.SecretFile:
		return nil, false
	case resource.Markdown, resource.LongText, resource.Text:
	}
	return f.Example + " 2", f.Pattern == ""
}

// named returns the keys of the objects to which a field refers. Two related
// objects have only one relation, so each of these fields has its own objects.
func named(f *resource.Field) []string {
	if f.Group != "" && f.Within == "" {
		return []string{"one-" + f.Name, "two-" + f.Name}
	}
	return []string{"first", "second"}
}

// names returns possible targets of a field: objects of the manifest, otherwise objects of the sandbox.
func (l *life) names(f *resource.Field) []string {
	k := resource.MustLookup(f.Ref)
	if k.Section != "" {
		names := named(f)
		for i := range names {
			if f.CrossProject {
				names[i] = "around/" + names[i]
			}
		}
		return names
	}
	_, via := resource.MembershipOf(l.k.Name, f.Name)
	names := []string{f.Example}
	for _, row := range l.s.Rows(k.Name) {
		name, _ := row[k.NaturalKey[0]].(string)
		guest := row["role"] == json.Number("5") && !via // work cannot be assigned to a guest
		if name != f.Example && !guest {
			names = append(names, name)
		}
	}
	return names
}

// members returns members for a field, with their relation in the words of an object on the service.
func (l *life) members(f *resource.Field, names []string) any {
	via, _ := resource.MembershipOf(l.k.Name, f.Name)
	if via == nil || via.Membership.Attribute.Words() == nil {
		return names
	}
	const word = "goes with"
	if rows := l.s.Rows("relation_definition"); !slices.ContainsFunc(rows, func(row map[string]any) bool { return row["outward"] == word }) {
		l.s.otherUser(l.T, http.MethodPost, "/api/v2/workspaces/acme/work-item-relation-definitions/", `{"name":"Pair","outward":"goes with","inward":"goes with"}`)
	}
	list := make([]mapping, len(names))
	for i, name := range names {
		list[i] = mapping{via.Membership.Attribute.Member: name, via.Membership.Attribute.Name: word}
	}
	return list
}

// unlisted counts the memberships whose members no read shows: without the state they are added again, which changes nothing.
func (l *life) unlisted() (n int) {
	for _, f := range l.changeable() {
		if via, ok := resource.MembershipOf(l.k.Name, f.Name); ok {
			if _, listed := via.Op(resource.ListMembers, l.s.api); !listed {
				n++
			}
		}
	}
	return n
}

func (l *life) offers(v resource.Verb) bool {
	_, ok := l.k.Op(v, l.s.api)
	return ok
}

// words returns the members of a list of words.
func words(f *resource.Field) []string {
	if f.Enum == nil {
		return []string{f.Example, "three", "two"}
	}
	return f.Enum
}

// settable reports whether the API can set the field, in a body or otherwise, to a value outside the object.
func (l *life) settable(f *resource.Field) bool {
	return f.Type != resource.CustomFields && f.Type != resource.SecretFile && !l.inside(f) && !l.governed(f) && ((f.Virtual || f.ArchiveFlag) && (!f.OnlyV2() || l.s.api == resource.V2) || l.s.api.Sendable(f))
}

// governed reports whether a field refers to a kind that the workspace of the test does not manage.
func (l *life) governed(f *resource.Field) bool {
	to, ok := resource.Lookup(f.Ref)
	return ok && to.Governance.AtWorkspace != l.k.Governance.AtWorkspace && to.Governance.AtWorkspace
}

// inside reports whether a field refers to an object inside the object itself, such as a project's estimate.
func (l *life) inside(f *resource.Field) bool {
	to, ok := resource.Lookup(f.Ref)
	return ok && to.Parent == l.k.Name
}

// changeable returns the fields that can be changed after the create.
func (l *life) changeable() []*resource.Field {
	var fields []*resource.Field
	for i := range l.k.Fields {
		f := &l.k.Fields[i]
		_, via := resource.MembershipOf(l.k.Name, f.Name)
		if l.settable(f) && !f.Immutable && !f.ArchiveFlag && !f.Exclusive && f.Type != resource.File && (via || l.offers(resource.Update)) {
			fields = append(fields, f)
		}
	}
	return fields
}

// change changes one field in the manifest, back again, and on the service. It
// returns the resulting object.
func (l *life) change(f *resource.Field, base mapping) mapping {
	l.Helper()
	changed := maps.Clone(base)
	value, ok := l.second(f)
	if !ok {
		value = l.first(f)
	}
	l.set(changed, f, value)
	l.once(f, changed)
	if _, via := resource.MembershipOf(l.k.Name, f.Name); via || !ok {
		return changed // members are only added, and absent ones are not compared
	}
	l.once(f, base)
	if slices.Contains(l.k.NaturalKey, f.Name) {
		return base // in another parent it would be another object
	}
	elsewhere := *l.s
	elsewhere.dir = l.TempDir()
	l.done("changing "+f.Path()+" elsewhere", elsewhere.apply(l.T, applying{manifest: l.text(changed)}))
	repaired := l.once(f, base)
	drifted := slices.ContainsFunc(repaired.plan.Steps, func(step *planner.Step) bool {
		return slices.ContainsFunc(step.Changes(), func(c planner.Change) bool { return c.Origin == planner.FromDrift })
	})
	if !drifted {
		l.Errorf("%s: the plan does not say that somebody changed it", f.Path())
	}
	return base
}

// place returns an object of a kind that contains others.
func (l *life) place(places map[string]mapping, kind string) mapping {
	if in, ok := places[kind]; ok {
		return in
	}
	k := resource.MustLookup(kind)
	in := l.plain(k, "around")
	switch {
	case l.k.Single: // the sandbox's object has one already
	case k.Identifier != nil && k.Identifier.APIName != "": // an object of the sandbox, with all its contents
		in["identifier"] = l.s.Rows(k.Name)[0][k.Identifier.APIName]
		delete(in, "name")
	case k.Single:
		in["name"] = l.s.Rows(k.Name)[0]["name"]
	}
	places[kind] = in
	l.put(places, k, in)
	return in
}

// prune removes the object from the manifest, and prunes it.
func (l *life) prune() {
	l.Helper()
	before := len(l.rows())
	a := l.s.apply(l.T, applying{manifest: l.text(nil), prune: true})
	l.done("pruning", a)
	gone := 0
	if l.offers(resource.Delete) {
		gone = 1
	}
	if left := len(l.rows()); before-left != gone || a.writes != a.plan.Summary.Requests || a.plan.Summary.Delete != gone {
		l.Errorf("pruned: %d writes, %+v, %d were there and %d are: %v", a.writes, a.plan.Summary, before, left, a.reasons())
	}
	if again := l.s.apply(l.T, applying{manifest: l.text(nil), prune: true}); again.writes > 0 {
		for _, step := range again.plan.Steps {
			l.Logf("%s %s %+v", step.Action, step.Address, step.Members)
		}
		l.Errorf("pruned again: %d writes", again.writes)
	}
}

// rows returns the rows of the sandbox, which stores objects of the workspace together with those of projects.
func (l *life) rows() []map[string]any {
	if l.k.Governance.AtWorkspace {
		return l.s.Rows(l.k.Governance.Other)
	}
	return l.s.Rows(l.k.Name)
}

// archive archives the object, loses the state, and brings it back.
func (l *life) archive(base mapping) {
	l.Helper()
	i := slices.IndexFunc(l.k.Fields, func(f resource.Field) bool { return f.ArchiveFlag })
	if i < 0 {
		return
	}
	f := &l.k.Fields[i]
	base = maps.Clone(base)
	if l.finish(base) {
		l.s.apply(l.T, applying{manifest: l.text(base)})
	}
	away, back := maps.Clone(base), maps.Clone(base)
	l.set(away, f, true)
	l.set(back, f, false)
	l.once(f, away)
	l.s.dir = l.TempDir()
	if a := l.s.apply(l.T, applying{manifest: l.text(away)}); a.writes != 0 || a.plan.Summary.Create != 0 {
		l.Errorf("archived, and the state lost: %d writes, %+v", a.writes, a.plan.Summary)
	}
	l.unchanged("archived", away)
	l.once(f, back)
	l.unchanged("brought back, without a word of it", base)
}

// finish gives an object the state in which it can be archived, if there is one.
func (l *life) finish(o mapping) (changed bool) {
	for i := range l.k.Fields {
		switch state := &l.k.Fields[i]; {
		case l.k.Name == "module" && state.Name == "status":
			l.set(o, state, "completed")
		case state.Ref == "state":
			l.set(o, state, "Done")
		default:
			continue
		}
		changed = true
	}
	return changed
}

// once applies a change, which takes exactly one write, except for the second one
// with which a member leaves its former container.
func (l *life) once(f *resource.Field, to mapping) applied {
	l.Helper()
	a := l.s.apply(l.T, applying{manifest: l.text(to)})
	l.done("changing "+f.Path(), a)
	writes := 1
	if via, ok := resource.MembershipOf(l.k.Name, f.Name); ok && !via.Membership.Exclusive && via.Membership.On != via.Membership.Container && f.Type == resource.Ref {
		writes++
	}
	if l.s.api == resource.V2 && l.k.SwitchOf(f) != nil && to[f.Name] == true { // its feature flag is switched on with it
		writes++
	}
	if a.writes != writes || a.plan.Summary.Create != 0 {
		l.Errorf("changing %s to %v: %d writes, %+v", f.Path(), to[f.Name], a.writes, a.plan.Summary)
	}
	l.unchanged("after changing "+f.Path(), to)
	return a
}

func (l *life) unchanged(when string, to mapping) {
	l.Helper()
	a := l.s.apply(l.T, applying{manifest: l.text(to)})
	if a.writes != 0 || !a.plan.Empty() {
		for _, step := range a.plan.Steps {
			l.Logf("%s %s %+v", step.Action, step.Address, step.Changes())
		}
		l.Errorf("%s it is not as the manifest wants it: %d writes, %+v", when, a.writes, a.plan.Summary)
	}
}

func (l *life) done(what string, a applied) {
	l.Helper()
	if failed := a.failed(); len(failed) > 0 {
		l.Errorf("%s: %v", what, failed)
	}
	if w := a.warnings(); len(w) > 0 {
		l.Errorf("%s: %v", what, w)
	}
}

// text returns the manifest with the object, its parents, and the targets of its fields.
func (l *life) text(o mapping) string {
	places := map[string]mapping{"": {"version": json.RawMessage("1")}}
	l.place(places, l.k.Parent)
	if o != nil {
		l.put(places, l.k, o)
	}
	for i := range l.k.Fields {
		to, ok := resource.Lookup(l.k.Fields[i].Ref)
		if !ok || to.Section == "" || l.inside(&l.k.Fields[i]) || l.governed(&l.k.Fields[i]) {
			continue
		}
		for _, key := range named(&l.k.Fields[i]) {
			l.put(places, to, l.plain(to, key))
		}
	}
	text, err := json.MarshalIndent(places[""], "", "  ")
	if err != nil {
		l.Fatal(err)
	}
	return string(text)
}

// put adds an object to its parent, and creates the parent if it is missing.
func (l *life) put(places map[string]mapping, k *resource.Kind, o mapping) {
	in := l.place(places, k.Parent)
	if k.Singleton {
		in[k.Section] = o
		return
	}
	list, _ := in[k.Section].([]mapping)
	if !slices.ContainsFunc(list, func(other mapping) bool { return other["key"] == o["key"] }) {
		in[k.Section] = append(list, o)
	}
}
