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

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Run is an earlier run of the same plan, that may have ended early.
type Run struct {
	Since time.Time     // when it began
	Prior planner.Prior // what it left
}

// Stale compares a saved plan with one that was just made, and says what differs; nothing
// if the new one may be carried out for the saved one. earlier is nil if no run of the
// saved plan was begun.
func (d *Document) Stale(now *Document, earlier *Run) diag.List {
	c := &comparison{saved: index(d), now: index(now), earlier: earlier}
	for _, a := range union(c.saved.order, c.now.order) {
		c.object(a)
	}
	for _, key := range union(c.saved.keys, c.now.keys) {
		c.members(key)
	}
	c.order()
	c.stateChanges(d, now)
	if len(c.found) == 0 {
		return nil
	}
	c.found.Sort()
	c.found = c.found.Clip()
	c.causes(d, now)
	return c.found
}

// comparison compares a saved plan with a new one.
type comparison struct {
	saved, now *steps
	earlier    *Run
	found      diag.List
}

// steps are those of a plan that are carried out, by what they are about.
type steps struct {
	order   []resource.Address
	objects map[resource.Address][]*Step
	blocked map[resource.Address]string       // why, of what is not possible
	members map[membersKey]map[string]*Member // by the member's name
	places  map[membersKey]*Step
	keys    []membersKey
}

type membersKey struct {
	of     resource.Address // the first batch
	action string
}

func index(d *Document) *steps {
	all := &steps{
		objects: map[resource.Address][]*Step{}, blocked: map[resource.Address]string{},
		members: map[membersKey]map[string]*Member{}, places: map[membersKey]*Step{},
	}
	for i := range d.Steps {
		s := &d.Steps[i]
		if s.Action == planner.NotPossible.String() {
			all.blocked[s.Address] = text(s.Reason)
			continue
		}
		if _, _, first, ok := s.Address.ParseMembership(); ok {
			key := membersKey{first, s.Action}
			if all.members[key] == nil {
				all.members[key], all.places[key] = map[string]*Member{}, s
				all.keys = append(all.keys, key)
			}
			for _, m := range s.AllMembers() {
				all.members[key][cmp.Or(string(m.Address), m.ID, m.Text)] = &Member{Value: m.Value, Before: m.Before}
			}
			continue
		}
		if all.objects[s.Address] == nil {
			all.order = append(all.order, s.Address)
		}
		all.objects[s.Address] = append(all.objects[s.Address], s)
	}
	for a, list := range all.objects {
		all.objects[a] = joinCreate(list)
	}
	return all
}

// joinCreate counts what is set right after a create as a part of it: whether a new object gets its parent then or
// afterwards depends on what is there already. Links are told apart, see addsLinks.
func joinCreate(list []*Step) []*Step {
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

// union is a list with what another one has besides.
func union[T comparable](list, other []T) []T {
	known := map[T]bool{}
	for _, v := range list {
		known[v] = true
	}
	return append(slices.Clone(list), slices.DeleteFunc(slices.Clone(other), func(v T) bool { return known[v] })...)
}

func (c *comparison) stale(s *Step, path, format string, args ...any) {
	d := diag.Diagnostic{Code: "stale-plan", Address: string(s.Address), Path: path, Summary: fmt.Sprintf(format, args...)}
	if s.Position != nil {
		d.Position = *s.Position
	}
	c.found.Add(d)
}

// object compares the steps of one object.
func (c *comparison) object(a resource.Address) {
	saved, now := c.saved.objects[a], c.now.objects[a]
	if c.touched(a) {
		c.rest(a, saved, now)
		return
	}
	for i := range max(len(saved), len(now)) {
		switch {
		case i >= len(now) && c.now.blocked[a] != "" && saved[i].Action == planner.Delete.String():
			c.stale(saved[i], "", "the plan is to delete %s, which is not possible any more: %s", a, c.now.blocked[a])
		case i >= len(now):
			if c.earlier == nil || !saved[i].addsLinks() && (saved[i].Action != planner.Delete.String() || c.earlier.known(a)) {
				c.stale(saved[i], "", "the plan is to %s %s, and there is nothing left to do", saved[i].verb(), a)
			}
		case i >= len(saved):
			c.stale(now[i], "", "%s would be %s now%s; the plan does not", a, now[i].past(), now[i].what())
		default:
			c.step(saved[i], now[i])
		}
	}
}

// step compares two steps that should be the same.
func (c *comparison) step(saved, now *Step) {
	switch {
	case saved.Action != now.Action || (saved.Adopted == nil) != (now.Adopted == nil) || saved.Replaces != now.Replaces:
		c.stale(now, "", "%s would be %s now%s; the plan is to %s it", now.Address, now.past(), now.what(), saved.verb())
		return
	case text(saved.ID) != text(now.ID) && (c.earlier == nil || saved.ID != nil):
		c.otherObject(now, text(saved.ID))
		return
	}
	if was, is := saved.lost(), now.lost(); c.earlier == nil && !slices.Equal(was, is) {
		c.stale(now, "", "%s has other contents now than when the plan was made: %s then, and %s now", now.Address, counted(was), counted(is))
	}
	after := map[string]*Change{}
	for i := range now.Changes {
		after[now.Changes[i].Path] = &now.Changes[i]
	}
	for i := range saved.Changes {
		s := &saved.Changes[i]
		n := after[s.Path]
		delete(after, s.Path)
		switch {
		case n == nil:
			c.stale(now, s.Path, "%s of %s needs no change any more; the plan changes it from %s to %s", s.Path, now.Address, shown(s.Before),
				shown(s.After))
		case !reflect.DeepEqual(n.Before, s.Before):
			c.stale(now, s.Path, "%s of %s was changed on the service: it was %s when the plan was made, and is %s now", s.Path, now.Address,
				shown(s.Before), shown(n.Before))
		case !reflect.DeepEqual(n.After, s.After), n.SHA256 != s.SHA256, n.References != s.References && c.earlier == nil:
			c.stale(now, s.Path, "%s of %s was changed in the manifest: it was to be %s when the plan was made, and is to be %s now", s.Path,
				now.Address, shown(s.After), shown(n.After))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(after)) {
		c.stale(now, path, "%s of %s would be changed now from %s to %s; the plan does not", path, now.Address, shown(after[path].Before),
			shown(after[path].After))
	}
}

func (c *comparison) otherObject(now *Step, saved string) {
	c.stale(now, "", "%s is another object now: %s, and %s in the plan", now.Address, cmp.Or(text(now.ID), "none"), cmp.Or(saved, "none"))
}

// rest compares what is left to do with an object that the earlier run has written: all of it was wanted before, and nobody else
// has changed it since.
func (c *comparison) rest(a resource.Address, saved, now []*Step) {
	wanted, times, id := map[string]*Change{}, map[string]int{}, ""
	for _, s := range saved {
		id = cmp.Or(id, text(s.ID))
		for i := range s.Changes {
			wanted[s.Changes[i].Path] = &s.Changes[i]
			times[s.Changes[i].Path]++
		}
	}
	// An update without an outcome was done or was not. A new object, a text that is sent twice, and one of which the
	// service may have made another tell nothing.
	either := func(s *Change) bool {
		return c.updating(a) && saved[0].Action == planner.Update.String() && times[s.Path] == 1 && s.SHA256 == "" &&
			!resource.IsCustomName(s.Path)
	}
	for _, n := range now {
		if len(saved) == 0 || n.Action == planner.Delete.String() && saved[0].Action != n.Action {
			c.stale(n, "", "%s would be %s now%s; the plan does not", a, n.past(), n.what())
			continue
		}
		if id != "" && text(n.ID) != id {
			c.otherObject(n, id)
			continue
		}
		for i := range n.Changes {
			change := &n.Changes[i]
			s := wanted[change.Path]
			switch {
			case s == nil:
				c.stale(n, change.Path, "%s of %s would be changed now from %s to %s; the plan does not", change.Path, a, shown(change.Before),
					shown(change.After))
			case s.SHA256 != change.SHA256, s.SHA256 == "" && !reflect.DeepEqual(s.After, change.After):
				c.stale(n, change.Path, "%s of %s was changed in the manifest: it was to be %s when the plan was made, and is to be %s now",
					change.Path, a, shown(s.After), shown(change.After))
			case (change.Origin == string(planner.FromDrift) || change.Origin != string(planner.NotRefreshed) && either(s)) &&
				!reflect.DeepEqual(s.Before, change.Before):
				c.stale(n, change.Path, "%s of %s was changed on the service: it is %s now, and not %s as the plan made it", change.Path, a,
					shown(change.Before), shown(change.After))
			}
		}
	}
}

// members compares who is to be added to, or removed from, one container.
func (c *comparison) members(key membersKey) {
	saved, now := c.saved.members[key], c.now.members[key]
	var gone, more []string
	for name, m := range saved {
		switch n := now[name]; {
		case n == nil:
			gone = append(gone, name)
		case *n != *m:
			more = append(more, name)
		}
	}
	for name := range now {
		if saved[name] == nil {
			more = append(more, name)
		}
	}
	slices.Sort(gone)
	slices.Sort(more)
	container, _, _, _ := key.of.ParseMembership()
	if s := c.saved.places[key]; len(gone) > 0 && !c.touched(key.of) {
		c.stale(s, "", "the plan is to %s of %s: %s, and there is nothing left to do", s.verb(), container, diag.First(gone, fewNames))
	}
	if s := c.now.places[key]; len(more) > 0 {
		c.stale(s, "", "%s of %s would be %s now: %s; the plan does not", diag.Plural("member"), container, s.past(), diag.First(more, fewNames))
	}
}

// touched reports whether the state shows that the earlier run has written an object, has sent a request that is not settled, or
// has made what holds it.
func (c *comparison) touched(a resource.Address) bool {
	if c.earlier == nil {
		return false
	}
	for ; a != ""; a = a.Parent() {
		if r, known := c.earlier.Prior[a]; known && (r.PendingIntent != nil || !r.AppliedAt.Before(c.earlier.Since)) {
			return true
		}
		if _, _, _, members := a.ParseMembership(); members || len(c.saved.objects[a]) == 0 ||
			c.saved.objects[a][0].Action != planner.Create.String() {
			return false
		}
	}
	return false
}

// updating reports whether the earlier run has sent an update of an object, or may have, and its outcome is not known.
func (c *comparison) updating(a resource.Address) bool {
	intent := c.earlier.Prior[a].PendingIntent
	return intent != nil && (intent.Action == planner.Update || intent.Action == planner.Adopt)
}

func (r *Run) known(a resource.Address) bool {
	_, known := r.Prior[a]
	return known
}

// order compares the order of the creates that the service numbers.
func (c *comparison) order() {
	scopes := map[string][2][]resource.Address{}
	for i, of := range []*steps{c.saved, c.now} {
		for _, a := range of.order {
			if creates(c.saved.objects[a]) && creates(c.now.objects[a]) {
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
				c.stale(c.now.objects[now[i]][0], "",
					"%s would be created before %s now; the plan has another order, and the service numbers what it creates", now[i], saved[i])
				break
			}
		}
	}
}

func creates(s []*Step) bool { return len(s) > 0 && s[0].Action == planner.Create.String() }

// stateChanges compares what the state is to know otherwise.
func (c *comparison) stateChanges(saved, now *Document) {
	of := func(d *Document) map[resource.Address]resource.Address {
		all := map[resource.Address]resource.Address{}
		for _, k := range d.StateChanges {
			if k.Why != "" { // else nobody need know
				all[k.From] = text(k.To)
			}
		}
		return all
	}
	had, have := of(saved), of(now)
	for _, from := range slices.Sorted(maps.Keys(had)) {
		if _, still := have[from]; !still && c.earlier == nil {
			c.found.Add(diag.Diagnostic{
				Code: "stale-plan", Address: string(from),
				Summary: fmt.Sprintf("the plan is to correct %s in the state, and there is nothing left to do", from),
			})
		}
	}
	for _, from := range slices.Sorted(maps.Keys(have)) {
		if to, known := had[from]; (!known || to != have[from]) && !c.touched(from) {
			c.found.Add(diag.Diagnostic{
				Code: "stale-plan", Address: string(from),
				Summary: fmt.Sprintf("%s would be corrected in the state now; the plan does not", from),
			})
		}
	}
}

// causes notes which files are not as they were.
func (c *comparison) causes(saved, now *Document) {
	note := func(format string, args ...any) {
		c.found.Add(diag.Diagnostic{Severity: diag.Note, Code: "stale-plan", Summary: fmt.Sprintf(format, args...)})
	}
	if changed := saved.ChangedManifests(now); len(changed) > 0 {
		note("changed since the plan was made: %s", diag.First(changed, fewNames))
	}
	switch was, is := saved.Basis, now.Basis; {
	case was.Lineage != "" && was.Lineage != is.Lineage:
		note("the state %s is another one than that of the plan", now.State)
	case was.Serial != is.Serial && c.earlier == nil:
		note("the state %s was written since the plan was made: serial %d, now %d", now.State, was.Serial, is.Serial)
	}
}

// ChangedManifests are the files that are not as they were when the plan was made.
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

// addsLinks reports whether a step only links a text to what other steps create. It is not needed where these are there
// when the text is sent.
func (s *Step) addsLinks() bool {
	return s.Action == planner.Update.String() && !slices.ContainsFunc(s.Changes, func(c Change) bool { return c.References == 0 })
}

// verb is what a step does, as a command.
func (s *Step) verb() string {
	if s.Adopted != nil && s.Action == planner.Update.String() {
		return "adopt and update"
	}
	return strings.ReplaceAll(s.Action, "_", " ")
}

// past is what a step has done to its object.
func (s *Step) past() string {
	return map[string]string{
		"create": "created", "update": "updated", "adopt": "adopted", "adopt and update": "adopted and updated", "delete": "deleted",
		"add members": "added", "remove members": "removed",
	}[s.verb()]
}

// what says by what an object is found and which fields change, in parentheses.
func (s *Step) what() string {
	var parts []string
	if found := text(s.Adopted); found != "" {
		parts = append(parts, found)
	}
	if s.Action == planner.Update.String() {
		for _, c := range s.Changes {
			parts = append(parts, c.Path+" "+shown(c.Before)+" -> "+shown(c.After))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + diag.First(parts, fewNames) + ")"
}

// counted names contents for people.
func counted(contents []planner.Content) string {
	var parts []string
	for _, c := range contents {
		parts = append(parts, diag.Count(c.Count, c.Noun))
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}

// fewNames is how many of a list a message names.
const fewNames = 5

// shown is a value for people, on one line.
func shown(value any) string {
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
