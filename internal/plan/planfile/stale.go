package planfile

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// Run is an earlier run of the same plan that may have ended early.
type Run struct {
	Since time.Time     // when the run began
	Prior planner.Prior // the records that it left
}

// Stale compares a saved plan with a new one and returns their differences, or nothing if the new plan may
// be carried out in place of the saved one. earlier is nil if no run of the saved plan was begun.
func (d *Document) Stale(now *Document, earlier *Run) diag.List {
	c := &comparison{saved: indexSteps(d), now: indexSteps(now), earlier: earlier}
	for _, a := range unionKeys(c.saved.objects, c.now.objects) {
		if c.wasWritten(a) {
			c.compareRest(a, c.saved.objects[a], c.now.objects[a])
		} else {
			c.compareObject(a, c.saved.objects[a], c.now.objects[a])
		}
	}
	for _, key := range unionKeys(c.saved.members, c.now.members) {
		c.compareMembers(key)
	}
	c.compareOrder()
	c.compareStateChanges(d, now)
	if len(c.differences) == 0 {
		return nil
	}
	c.differences.Sort()
	c.differences = c.differences.Clip()
	c.addCauses(d, now)
	return c.differences
}

// comparison compares a saved plan with a new one.
type comparison struct {
	saved, now  *stepIndex
	earlier     *Run
	differences diag.List
}

// stepIndex indexes the possible steps of a plan by object and by container.
type stepIndex struct {
	order   []resource.Address
	objects map[resource.Address][]*Step
	blocked map[resource.Address]string  // reasons of the steps that are not possible
	members map[string]map[string]string // by batch and name of the member: the attribute of the membership
	places  map[string]*Step             // first step of each batch
}

// indexSteps indexes the steps of a document.
func indexSteps(d *Document) *stepIndex {
	all := &stepIndex{
		objects: map[resource.Address][]*Step{}, blocked: map[resource.Address]string{},
		members: map[string]map[string]string{}, places: map[string]*Step{},
	}
	for i := range d.Steps {
		s := &d.Steps[i]
		if s.Action == planner.NotPossible.String() {
			all.blocked[s.Address] = "not possible: " + orEmpty(s.Reason)
			continue
		}
		if _, _, first, ok := s.Address.ParseMembership(); ok {
			key := string(first) + " " + s.Action
			if all.members[key] == nil {
				all.members[key], all.places[key] = map[string]string{}, s
			}
			for _, m := range s.AllMembers() {
				all.members[key][cmp.Or(string(m.Address), m.ID, m.Text)] = strings.TrimPrefix(m.Before+" -> "+m.Value, " -> ")
			}
			continue
		}
		if all.objects[s.Address] == nil {
			all.order = append(all.order, s.Address)
		}
		all.objects[s.Address] = append(all.objects[s.Address], s)
	}
	for a, list := range all.objects {
		all.objects[a] = mergeIntoCreate(list)
	}
	return all
}

// mergeIntoCreate merges updates of a new object into its create, because whether a new object gets its parent at once or afterwards
// depends on which objects exist already. Updates that add links stay separate; see addsLinks.
func mergeIntoCreate(list []*Step) []*Step {
	if len(list) < 2 || !creates(list) {
		return list
	}
	create := *list[0]
	rest := slices.Clone(list[1:])
	for i, s := range rest {
		if s.Action != planner.Update.String() {
			continue
		}
		later := *s
		later.Changes = nil
		for _, c := range s.Changes {
			if c.References == 0 && !slices.ContainsFunc(create.Changes, func(other Change) bool { return other.Path == c.Path }) {
				create.Changes = append(slices.Clip(create.Changes), c)
			} else {
				later.Changes = append(later.Changes, c)
			}
		}
		rest[i] = &later
	}
	rest = slices.DeleteFunc(rest, func(s *Step) bool { return s.Action == planner.Update.String() && len(s.Changes) == 0 })
	return append([]*Step{&create}, rest...)
}

// unionKeys returns the keys of two maps in order.
func unionKeys[K cmp.Ordered, V any](m, other map[K]V) []K {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(m)), slices.Collect(maps.Keys(other))))))
}

// addFieldDifference adds a difference of a field.
func (co *comparison) addFieldDifference(at *Step, path, saved, now string) {
	co.addDifference(at, path, saved, now)
	co.differences[len(co.differences)-1].Path = path
}

// addDifference adds a difference: the texts that the saved and the new plan have for a part of a step; "" means nothing.
func (co *comparison) addDifference(at *Step, part, saved, now string) {
	d := diag.Diagnostic{Code: "stale-plan", Address: string(at.Address)}
	if at.Position != nil {
		d.Position = *at.Position
	}
	of := at.Address
	if container, _, _, members := of.ParseMembership(); members {
		of = container
	}
	if part != "" {
		d.Summary = part + " of "
	}
	if saved == now {
		now += ", with other contents"
	}
	d.Summary += string(of) + ": planned " + cmp.Or(saved, "nothing") + ", now " + cmp.Or(now, "nothing")
	co.differences.Add(d)
}

// compareObject compares the steps of one object.
func (co *comparison) compareObject(a resource.Address, saved, now []*Step) {
	for i := range max(len(saved), len(now)) {
		switch {
		case i >= len(now):
			if s := saved[i]; co.earlier == nil || !s.addsLinks() && (s.Action != planner.Delete.String() || co.earlier.hasRecord(a)) {
				co.addDifference(s, "", s.String(), co.now.blocked[a])
			}
		case i >= len(saved):
			co.addDifference(now[i], "", "", now[i].String())
		case saved[i].verb() != now[i].verb():
			co.addDifference(now[i], "", saved[i].verb(), now[i].String())
		default:
			co.compareStep(saved[i], now[i])
		}
	}
}

// fact is a value of a step.
type fact struct {
	text     string // for people
	of       any
	notField bool // whether it is a part of the step that is no field
}

// factsOf returns the values of a step by name. If an earlier run was begun, it leaves out the contents of
// deleted objects and the number of links, because these may differ.
func (co *comparison) factsOf(s *Step) map[string]fact {
	all := map[string]fact{"id": {orEmpty(s.ID), orEmpty(s.ID), true}, "replaces": {s.Replaces, s.Replaces, true}}
	if co.earlier == nil {
		all["contents"] = fact{contentsText(s.lostContents()), s.lostContents(), true}
	}
	for i := range s.Changes {
		change := &s.Changes[i]
		of := Change{Before: change.Before, After: change.After, SHA256: change.SHA256}
		if co.earlier == nil {
			of.References = change.References
		}
		all[change.Path] = fact{change.String(), of, false}
	}
	return all
}

// compareStep compares two steps with the same action.
func (co *comparison) compareStep(saved, now *Step) {
	had, have := co.factsOf(saved), co.factsOf(now)
	if co.earlier != nil && saved.ID == nil {
		delete(have, "id")
		delete(had, "id")
	}
	for _, path := range unionKeys(had, have) {
		switch {
		case reflect.DeepEqual(had[path].of, have[path].of):
		case had[path].notField:
			co.addDifference(now, path, had[path].text, have[path].text)
		default:
			co.addFieldDifference(now, path, had[path].text, have[path].text)
		}
	}
}

// compareRest compares the remaining steps of an object that the earlier run has written: the saved plan must have
// wanted all of them, and nobody else may have changed the object since.
func (co *comparison) compareRest(a resource.Address, saved, now []*Step) {
	wanted, times, id := map[string]*Change{}, map[string]int{}, ""
	for _, s := range saved {
		id = cmp.Or(id, orEmpty(s.ID))
		for i := range s.Changes {
			wanted[s.Changes[i].Path] = &s.Changes[i]
			times[s.Changes[i].Path]++
		}
	}
	// An update without an outcome was done or was not done. This cannot be told for a new object, for a text
	// that is sent twice, and for a text that the service may have rewritten.
	either := func(s *Change) bool {
		return co.hasOpenUpdate(a) && saved[0].Action == planner.Update.String() && times[s.Path] == 1 && s.SHA256 == "" &&
			!resource.IsCustomName(s.Path)
	}
	for _, n := range now {
		switch {
		case len(saved) == 0, n.Action == planner.Delete.String() && saved[0].Action != n.Action:
			co.addDifference(n, "", "", n.String())
			continue
		case id != "" && orEmpty(n.ID) != id:
			co.addDifference(n, "id", id, orEmpty(n.ID))
			continue
		}
		for i := range n.Changes {
			change := &n.Changes[i]
			s := wanted[change.Path]
			looked := s != nil && (change.Origin == string(planner.FromDrift) || change.Origin != string(planner.NotRefreshed) && either(s))
			if s == nil || s.SHA256 != change.SHA256 || s.SHA256 == "" && !reflect.DeepEqual(s.After, change.After) ||
				looked && !reflect.DeepEqual(s.Before, change.Before) {
				co.addFieldDifference(n, change.Path, s.String(), change.String())
			}
		}
	}
}

// compareMembers compares the members to add to or remove from one container.
func (co *comparison) compareMembers(batch string) {
	had, have := co.saved.members[batch], co.now.members[batch]
	at := cmp.Or(co.now.places[batch], co.saved.places[batch])
	_, _, first, _ := at.Address.ParseMembership()
	var saved, now []string
	for _, name := range unionKeys(had, have) {
		was, planned := had[name]
		is, left := have[name]
		if planned && (was != is || !left && !co.wasWritten(first)) {
			saved = append(saved, strings.TrimSpace(name+" "+was))
		}
		if left && (was != is || !planned) {
			now = append(now, strings.TrimSpace(name+" "+is))
		}
	}
	if len(saved)+len(now) > 0 {
		co.addDifference(at, at.verb(), diag.First(saved, fewNames), diag.First(now, fewNames))
	}
}

// wasWritten reports whether the earlier run, according to the state, has written an object, has an open
// request about it, or has created its parent.
func (co *comparison) wasWritten(a resource.Address) bool {
	if co.earlier == nil {
		return false
	}
	for ; a != ""; a = a.Parent() {
		if r, known := co.earlier.Prior[a]; known && (r.PendingIntent != nil || !r.AppliedAt.Before(co.earlier.Since)) {
			return true
		}
		if _, _, _, members := a.ParseMembership(); members || len(co.saved.objects[a]) == 0 ||
			co.saved.objects[a][0].Action != planner.Create.String() {
			return false
		}
	}
	return false
}

// hasOpenUpdate reports whether the earlier run may have sent an update of an object whose outcome is not known.
func (co *comparison) hasOpenUpdate(a resource.Address) bool {
	intent := co.earlier.Prior[a].PendingIntent
	return intent != nil && (intent.Action == planner.Update || intent.Action == planner.Adopt)
}

func (r *Run) hasRecord(a resource.Address) bool {
	_, known := r.Prior[a]
	return known
}

// compareOrder compares the order of creates to which the service gives numbers.
func (co *comparison) compareOrder() {
	scopes := map[string][2][]resource.Address{}
	for i, of := range []*stepIndex{co.saved, co.now} {
		for _, a := range of.order {
			if creates(co.saved.objects[a]) && creates(co.now.objects[a]) {
				lists := scopes[a.NumberingScope()]
				lists[i] = append(lists[i], a)
				scopes[a.NumberingScope()] = lists
			}
		}
	}
	for _, scope := range slices.Sorted(maps.Keys(scopes)) {
		saved, now := scopes[scope][0], scopes[scope][1]
		for i := range now {
			if saved[i] != now[i] {
				co.addDifference(co.now.objects[now[i]][0], "order", "after "+string(saved[i]), "before it, and the service numbers what it creates")
				break
			}
		}
	}
}

func creates(s []*Step) bool { return len(s) > 0 && s[0].Action == planner.Create.String() }

// compareStateChanges compares the corrections of the state.
func (co *comparison) compareStateChanges(saved, now *Document) {
	of := func(d *Document) map[resource.Address]string {
		all := map[resource.Address]string{}
		for _, k := range d.StateChanges {
			if k.Why != "" { // changes without a reason are not shown to people
				if all[k.From] = "forgotten by the state"; orEmpty(k.To) != "" {
					all[k.From] = "known to the state as " + string(orEmpty(k.To))
				}
			}
		}
		return all
	}
	had, have := of(saved), of(now)
	for _, from := range unionKeys(had, have) {
		gone := have[from] == "" && co.earlier == nil
		if gone || have[from] != "" && have[from] != had[from] && !co.wasWritten(from) {
			co.addDifference(&Step{Address: from}, "", had[from], have[from])
		}
	}
}

// addCauses adds notes about files and a state that changed since the plan was made.
func (co *comparison) addCauses(saved, now *Document) {
	note := func(format string, args ...any) {
		co.differences.Add(diag.Diagnostic{Severity: diag.Note, Code: "stale-plan", Summary: fmt.Sprintf(format, args...)})
	}
	if changed := saved.ChangedManifests(now); len(changed) > 0 {
		note("changed since the plan was made: %s", diag.First(changed, fewNames))
	}
	switch was, is := saved.Basis, now.Basis; {
	case was.Lineage != "" && was.Lineage != is.Lineage:
		note("the state %s is another one than that of the plan", now.State)
	case was.Serial != is.Serial && co.earlier == nil:
		note("the state %s was written since the plan was made: serial %d, now %d", now.State, was.Serial, is.Serial)
	}
}

// ChangedManifests returns the files that changed since the plan was made.
func (d *Document) ChangedManifests(now *Document) []string {
	var changed []string
	for _, digests := range []map[string]string{d.Basis.Digests, now.Basis.Digests} {
		for file := range digests {
			if d.Basis.Digests[file] != now.Basis.Digests[file] && !slices.Contains(changed, file) {
				changed = append(changed, file)
			}
		}
	}
	slices.Sort(changed)
	return changed
}

// verb returns the action of a step as a command.
func (s *Step) verb() string {
	if s.Adopted != nil && s.Action == planner.Update.String() {
		return "adopt and update"
	}
	return strings.ReplaceAll(s.Action, "_", " ")
}

// String describes a step: its action, how its object was found, and which fields it changes.
func (s *Step) String() string {
	var parts []string
	if found := orEmpty(s.Adopted); found != "" {
		parts = append(parts, found)
	}
	if s.Action == planner.Update.String() {
		for i := range s.Changes {
			parts = append(parts, s.Changes[i].Path+" "+s.Changes[i].String())
		}
	}
	if len(parts) == 0 {
		return s.verb()
	}
	return s.verb() + " (" + diag.First(parts, fewNames) + ")"
}

// String returns the values of a field before and after its change, such as "a -> b"; "" = there is no change.
func (c *Change) String() string {
	if c == nil {
		return ""
	}
	return valueText(c.Before) + " -> " + valueText(c.After)
}

// addsLinks reports whether a step only adds links to objects that other steps create. The step is not
// needed if these objects exist when the text is sent.
func (s *Step) addsLinks() bool {
	return s.Action == planner.Update.String() && !slices.ContainsFunc(s.Changes, func(c Change) bool { return c.References == 0 })
}

// contentsText returns contents for people, such as "2 work items".
func contentsText(contents []planner.Content) string {
	var parts []string
	for _, c := range contents {
		parts = append(parts, diag.Count(c.Count, c.Noun))
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}

// fewNames is the number of names that a message lists.
const fewNames = 5

// valueText returns a value for people, on one line.
func valueText(value any) string {
	const most = 60
	switch v := value.(type) {
	case string:
		return strconv.Quote(diag.Truncate(v, most))
	case []string:
		return strconv.Quote(diag.Truncate(strings.Join(v, ", "), most))
	default:
		return "nothing"
	}
}
