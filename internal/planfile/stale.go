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

// Stale compares a saved plan with one that was just made and returns the differences of the two documents;
// nothing if the new one may be carried out for the saved one. earlier is nil if no run of the saved plan was begun.
func (d *Document) Stale(now *Document, earlier *Run) diag.List {
	c := &comparison{saved: index(d), now: index(now), earlier: earlier}
	for _, a := range keys(c.saved.objects, c.now.objects) {
		if c.touched(a) {
			c.rest(a, c.saved.objects[a], c.now.objects[a])
		} else {
			c.object(a, c.saved.objects[a], c.now.objects[a])
		}
	}
	for _, key := range keys(c.saved.members, c.now.members) {
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
	blocked map[resource.Address]string  // why, of what is not possible
	members map[string]map[string]string // by batch and member's name: what the membership says of it
	places  map[string]*Step             // the first steps of the batches
}

func index(d *Document) *steps {
	all := &steps{
		objects: map[resource.Address][]*Step{}, blocked: map[resource.Address]string{},
		members: map[string]map[string]string{}, places: map[string]*Step{},
	}
	for i := range d.Steps {
		s := &d.Steps[i]
		if s.Action == planner.NotPossible.String() {
			all.blocked[s.Address] = "not possible: " + text(s.Reason)
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

// keys lists the keys of two maps in order.
func keys[K cmp.Ordered, V any](m, other map[K]V) []K {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(m)), slices.Collect(maps.Keys(other))))))
}

// field adds a difference of a field.
func (c *comparison) field(at *Step, path, saved, now string) {
	c.differ(at, path, saved, now)
	c.found[len(c.found)-1].Path = path
}

// differ adds a difference: what the saved plan says of a step, or of a part of it, and what the new one says; "" = nothing.
func (c *comparison) differ(at *Step, part, saved, now string) {
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
	c.found.Add(d)
}

// object compares the steps of one object.
func (c *comparison) object(a resource.Address, saved, now []*Step) {
	for i := range max(len(saved), len(now)) {
		switch {
		case i >= len(now):
			if s := saved[i]; c.earlier == nil || !s.addsLinks() && (s.Action != planner.Delete.String() || c.earlier.known(a)) {
				c.differ(s, "", s.String(), c.now.blocked[a])
			}
		case i >= len(saved):
			c.differ(now[i], "", "", now[i].String())
		case saved[i].verb() != now[i].verb():
			c.differ(now[i], "", saved[i].verb(), now[i].String())
		default:
			c.step(saved[i], now[i])
		}
	}
}

// fact is a value of a step.
type fact struct {
	text string // for people
	of   any
	part bool // it is no field
}

// facts are the values of a step, by their names. If an earlier run was begun, contents of what is deleted, and links that a text gets,
// may be others.
func (c *comparison) facts(s *Step) map[string]fact {
	all := map[string]fact{"id": {text(s.ID), text(s.ID), true}, "replaces": {s.Replaces, s.Replaces, true}}
	if c.earlier == nil {
		all["contents"] = fact{counted(s.lost()), s.lost(), true}
	}
	for i := range s.Changes {
		change := &s.Changes[i]
		of := Change{Before: change.Before, After: change.After, SHA256: change.SHA256}
		if c.earlier == nil {
			of.References = change.References
		}
		all[change.Path] = fact{change.String(), of, false}
	}
	return all
}

// step compares two steps that do the same.
func (c *comparison) step(saved, now *Step) {
	had, have := c.facts(saved), c.facts(now)
	if c.earlier != nil && saved.ID == nil {
		delete(have, "id")
		delete(had, "id")
	}
	for _, path := range keys(had, have) {
		switch {
		case reflect.DeepEqual(had[path].of, have[path].of):
		case had[path].part:
			c.differ(now, path, had[path].text, have[path].text)
		default:
			c.field(now, path, had[path].text, have[path].text)
		}
	}
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
		switch {
		case len(saved) == 0, n.Action == planner.Delete.String() && saved[0].Action != n.Action:
			c.differ(n, "", "", n.String())
			continue
		case id != "" && text(n.ID) != id:
			c.differ(n, "id", id, text(n.ID))
			continue
		}
		for i := range n.Changes {
			change := &n.Changes[i]
			s := wanted[change.Path]
			looked := s != nil && (change.Origin == string(planner.FromDrift) || change.Origin != string(planner.NotRefreshed) && either(s))
			if s == nil || s.SHA256 != change.SHA256 || s.SHA256 == "" && !reflect.DeepEqual(s.After, change.After) ||
				looked && !reflect.DeepEqual(s.Before, change.Before) {
				c.field(n, change.Path, s.String(), change.String())
			}
		}
	}
}

// members compares who is to be added to, or removed from, one container.
func (c *comparison) members(batch string) {
	had, have := c.saved.members[batch], c.now.members[batch]
	at := cmp.Or(c.now.places[batch], c.saved.places[batch])
	_, _, first, _ := at.Address.ParseMembership()
	var saved, now []string
	for _, name := range keys(had, have) {
		was, planned := had[name]
		is, left := have[name]
		if planned && (was != is || !left && !c.touched(first)) {
			saved = append(saved, strings.TrimSpace(name+" "+was))
		}
		if left && (was != is || !planned) {
			now = append(now, strings.TrimSpace(name+" "+is))
		}
	}
	if len(saved)+len(now) > 0 {
		c.differ(at, at.verb(), diag.First(saved, fewNames), diag.First(now, fewNames))
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
				c.differ(c.now.objects[now[i]][0], "order", "after "+string(saved[i]), "before it, and the service numbers what it creates")
				break
			}
		}
	}
}

func creates(s []*Step) bool { return len(s) > 0 && s[0].Action == planner.Create.String() }

// stateChanges compares what the state is to know otherwise.
func (c *comparison) stateChanges(saved, now *Document) {
	of := func(d *Document) map[resource.Address]string {
		all := map[resource.Address]string{}
		for _, k := range d.StateChanges {
			if k.Why != "" { // else nobody need know
				if all[k.From] = "forgotten by the state"; text(k.To) != "" {
					all[k.From] = "known to the state as " + string(text(k.To))
				}
			}
		}
		return all
	}
	had, have := of(saved), of(now)
	for _, from := range keys(had, have) {
		gone := have[from] == "" && c.earlier == nil
		if gone || have[from] != "" && have[from] != had[from] && !c.touched(from) {
			c.differ(&Step{Address: from}, "", had[from], have[from])
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

// verb is what a step does, as a command.
func (s *Step) verb() string {
	if s.Adopted != nil && s.Action == planner.Update.String() {
		return "adopt and update"
	}
	return strings.ReplaceAll(s.Action, "_", " ")
}

// String says what a step does, by what its object is found, and which fields it changes.
func (s *Step) String() string {
	var parts []string
	if found := text(s.Adopted); found != "" {
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

// String is a change for people, on one line; "" = none.
func (c *Change) String() string {
	if c == nil {
		return ""
	}
	return shown(c.Before) + " -> " + shown(c.After)
}

// addsLinks reports whether a step only links a text to what other steps create. It is not needed where these are there
// when the text is sent.
func (s *Step) addsLinks() bool {
	return s.Action == planner.Update.String() && !slices.ContainsFunc(s.Changes, func(c Change) bool { return c.References == 0 })
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
