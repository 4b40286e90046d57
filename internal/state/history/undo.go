package history

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// Undoing is the input of a plan that undoes runs.
type Undoing struct {
	Objects []*resource.Object // parents before children
	Deletes map[resource.Address]bool
	Leaves  map[resource.Address]map[string]bool
	Left    map[string]map[string]string // see [planner.Input]
	Owner   resource.Owner
	Notices diag.List // changes that cannot be undone, or that later runs changed again
}

// Undo returns the input of a plan after which the workspace is as if the given runs had not happened. all
// holds every known run, the oldest first. Texts link to pages of the web app at web.
func Undo(all []*Run, ids []string, prior planner.Prior, web string) (*Undoing, error) {
	c := &composer{
		all: all, prior: prior, web: web, undone: map[string]bool{}, former: map[resource.Address]*former{},
		created: map[resource.Address]bool{}, creating: map[resource.Address]bool{}, joins: map[memberIn]Member{}, leaves: map[memberIn]bool{},
		parentIDs: map[resource.Address]string{}, changedLater: map[changeKey]string{}, recreated: map[string]resource.Address{}, built: map[resource.Address]*resource.Object{},
		lastContainers: map[memberIn]resource.Address{},
		out:            &Undoing{Deletes: map[resource.Address]bool{}, Leaves: map[resource.Address]map[string]bool{}, Left: map[string]map[string]string{}},
	}
	for _, id := range ids {
		c.undone[id] = true
	}
	first, undoneBy := true, completeUndos(all)
	for _, r := range slices.Backward(all) {
		if !c.undone[r.ID] {
			if c.addMoves(r); undoneBy[r.ID] == nil {
				c.recordLater(r)
			}
			continue
		}
		if !first && r.Owner != c.out.Owner {
			return nil, fmt.Errorf("the runs have different owners, %s and %s: undo them one by one", r.Owner, c.out.Owner)
		}
		c.out.Owner, c.workspace, first = r.Owner, r.Workspace, false
		c.addMoves(r)
		for a, id := range r.Within {
			c.parentIDs[c.presentAddress(a)] = id
		}
		clear(c.creating)
		for i := range r.Steps {
			if s := &r.Steps[i]; s.Action == planner.Create {
				c.creating[c.presentAddress(s.Address)] = true
			}
		}
		for i := range slices.Backward(r.Steps) {
			c.undoStep(&r.Steps[i])
		}
	}
	c.buildResult()
	return c.out, nil
}

// composer merges the changes of several runs, the newest first.
type composer struct {
	all            []*Run
	prior          planner.Prior
	undone         map[string]bool                         // runs by ID
	moves          []map[resource.Address]resource.Address // of each run so far, the newest first
	changedLater   map[changeKey]string                    // ID of a run that is not undone and changed the same later
	parentIDs      map[resource.Address]string             // IDs of parents that are not in the state
	former         map[resource.Address]*former
	created        map[resource.Address]bool
	creating       map[resource.Address]bool   // by the run that is being undone
	joins          map[memberIn]Member         // members to add again
	leaves         map[memberIn]bool           // members to remove
	recreated      map[string]resource.Address // objects to create again, by their former ID
	built          map[resource.Address]*resource.Object
	addresses      map[objectKey]resource.Address // addresses of the objects in the state; made when first needed
	lastContainers map[memberIn]resource.Address  // last container of a member in an exclusive membership: its membership record, or "" if it is in none
	out            *Undoing

	web, workspace string // base URL of the pages to which texts link, and the slug of the workspace
}

// former is an object as it was before the runs.
type former struct {
	step   *Step // the step that deleted the object; nil = it exists
	fields map[string]Field
}

// changeKey identifies a change of a run: a changed field, or, without a field, a created object.
type changeKey struct {
	address resource.Address
	field   string
}

// memberIn identifies a member of a container.
type memberIn struct {
	at     resource.Address // of the membership record in the state
	member string           // ID, or the address if the ID is not known
}

// presentAddress returns the address that an object of the run being looked at has today.
func (c *composer) presentAddress(a resource.Address) resource.Address {
	for _, moved := range slices.Backward(c.moves) {
		if to, ok := moved[a]; ok {
			a = to
		}
	}
	return a
}

// addMoves remembers the objects whose address a run changed.
func (c *composer) addMoves(r *Run) {
	if len(r.Moves) == 0 {
		return
	}
	moved := make(map[resource.Address]resource.Address, len(r.Moves))
	for _, m := range r.Moves {
		moved[m.From] = m.To
	}
	c.moves = append(c.moves, moved)
}

// recordLater remembers the changes of a run that is not undone.
func (c *composer) recordLater(r *Run) {
	if len(r.Undoes) > 0 && !slices.ContainsFunc(r.Undoes, func(id string) bool { return !c.undone[id] }) {
		return // an earlier attempt at the same undo
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		at := c.presentAddress(s.Address)
		if s.Action == planner.Create {
			c.changedLater[changeKey{address: at}] = r.ID
		}
		for _, f := range s.Fields {
			c.changedLater[changeKey{at, f.Name}] = r.ID
		}
		for _, name := range s.Lost {
			c.changedLater[changeKey{at, name}] = r.ID
		}
	}
}

// undoStep undoes one step.
func (c *composer) undoStep(s *Step) {
	at := c.presentAddress(s.Address)
	switch s.Action {
	case planner.Create:
		switch by := c.changedLater[changeKey{address: at}]; {
		case by != "": // a later run created the object, this one did not
		default:
			c.created[at] = true
			delete(c.former, at)
		}
		if s.Replaces != "" {
			c.addNotice("not-kept", string(at)+" replaced an object that cannot be restored", "")
		}
	case planner.Delete:
		c.undoDelete(at, s)
	case planner.AddMembers, planner.RemoveMembers:
		c.undoMembers(at, s)
	default:
		if _, _, _, members := at.ParseMembership(); members {
			for _, m := range s.Members {
				c.joins[memberIn{at, c.memberKey(m)}] = m
			}
			return
		}
		c.undoUpdate(at, s)
	}
}

// undoUpdate brings back the former values of an update.
func (c *composer) undoUpdate(at resource.Address, s *Step) {
	if c.inCreated(at) {
		c.created[at] = true // the service created it with its parent
		return
	}
	for _, f := range s.Fields {
		if by := c.changedLater[changeKey{at, f.Name}]; by != "" {
			c.addNotice("changed-later", f.Name+" of "+string(at)+" stays as it is: the run "+by+" changed it after this one", "undo that run first")
			continue
		}
		c.formerOf(at).fields[f.Name] = f
	}
	for _, name := range s.Lost {
		if f, ok := resource.MustLookup(at.Kind()).Field(name); ok && f.Type == resource.SecretFile {
			c.addNotice("not-kept", "the new secret of "+string(at)+" stays: the service cannot restore the former one", "")
			continue
		}
		c.addNotice("not-kept", name+" of "+string(at)+" stays as it is: its former value is unknown", "")
	}
}

// inCreated reports whether the runs created a parent of an object.
func (c *composer) inCreated(a resource.Address) bool {
	for a = a.Parent(); a != ""; a = a.Parent() {
		if c.created[a] || c.creating[a] {
			return true
		}
	}
	return false
}

// formerOf returns the former values of an object.
func (c *composer) formerOf(a resource.Address) *former {
	o := c.former[a]
	if o == nil {
		o = &former{fields: map[string]Field{}}
		c.former[a] = o
	}
	return o
}

// undoDelete brings back a deleted object.
func (c *composer) undoDelete(at resource.Address, s *Step) {
	if by := c.changedLater[changeKey{address: at}]; by != "" {
		c.addNotice("made-since", string(at)+" stays as it is: the run "+by+" created it after this one had deleted it", "")
		return
	}
	for _, name := range s.Lost {
		if f, ok := resource.MustLookup(at.Kind()).Field(name); ok && f.Type == resource.Upload {
			c.addNotice("not-kept", string(at)+" is not restored: its content was not recorded", "")
			return
		}
	}
	o := c.formerOf(at)
	clear(o.fields)
	for _, f := range s.Fields {
		o.fields[f.Name] = f
	}
	if c.created[at] { // a later run of those being undone created it again
		delete(c.created, at)
	} else {
		o.step, c.recreated[s.ID] = s, at
	}
	for _, name := range s.Lost {
		c.addNotice("not-kept", string(at)+" comes back without its "+name, "")
	}
}

// memberKey identifies a member by its ID, or else by its address.
func (c *composer) memberKey(m Member) string { return cmp.Or(m.ID, string(m.Address)) }

// undoMembers reverses a change of members.
func (c *composer) undoMembers(at resource.Address, s *Step) {
	for _, m := range s.Members {
		who := memberIn{at, c.memberKey(m)}
		c.setLastContainer(s, who)
		if s.Action == planner.RemoveMembers {
			c.joins[who] = m
			delete(c.leaves, who)
			continue
		}
		delete(c.joins, who)
		c.leaves[who] = true
		if m.From != "" {
			back := memberIn{m.From, who.member}
			c.joins[back] = Member{ID: m.ID, Address: m.Address}
			delete(c.leaves, back)
		}
	}
}

// setLastContainer remembers the container in which the runs left a member that can be in one container only.
func (c *composer) setLastContainer(s *Step, who memberIn) {
	_, kind, _, _ := who.at.ParseMembership()
	of := memberIn{resource.Address(kind.Name), who.member}
	if _, known := c.lastContainers[of]; known || !kind.Membership.Exclusive {
		return
	}
	if c.lastContainers[of] = ""; s.Action == planner.AddMembers {
		c.lastContainers[of] = who.at
	}
}

// addNotice adds a warning about something that cannot be undone.
func (c *composer) addNotice(code, text, hint string) {
	c.out.Notices.Add(diag.Diagnostic{Severity: diag.Warning, Code: code, Summary: text, Hint: hint})
}

// buildResult makes the objects and members of the result, as far as the state still knows them.
func (c *composer) buildResult() {
	for a := range c.created {
		if r, known := c.prior[a]; known && (r.ID != "" || r.PendingIntent != nil) {
			c.out.Deletes[a] = true
		}
	}
	for _, a := range slices.SortedFunc(maps.Keys(c.former), c.compareAddresses) {
		o := c.former[a]
		if o.step == nil && (len(o.fields) == 0 || c.out.Deletes[a]) {
			continue
		}
		if c.objectAt(a) == nil {
			c.addNotice("gone", string(a)+" stays as it is: it or its container is no longer in the state", "")
		}
	}
	for who := range c.leaves {
		if id := c.idOf(who.member); id != "" && !c.out.Deletes[resource.Address(who.member)] {
			if c.out.Leaves[who.at] == nil {
				c.out.Leaves[who.at] = map[string]bool{}
			}
			c.out.Leaves[who.at][id] = true
		}
	}
	c.joinMembers()
	for of, at := range c.lastContainers {
		base, _, _, _ := at.ParseMembership()
		container := cmp.Or(c.prior[base].ID, c.prior[at].ID)
		if id := c.idOf(of.member); id != "" && (at == "" || container != "") {
			if c.out.Left[string(of.at)] == nil {
				c.out.Left[string(of.at)] = map[string]string{}
			}
			c.out.Left[string(of.at)][id] = container
		}
	}
	for _, a := range slices.Sorted(maps.Keys(c.built)) { // a copy, because fill builds the objects that define custom fields
		c.addFormerValues(c.built[a])
	}
	c.out.Objects = slices.SortedFunc(maps.Values(c.built), func(a, b *resource.Object) int { return c.compareAddresses(a.Address, b.Address) })
}

// compareAddresses sorts parents before children, and numbered objects by their former numbers.
func (c *composer) compareAddresses(a, b resource.Address) int {
	number := func(a resource.Address) int {
		if o := c.former[a]; o != nil && o.step != nil {
			n, _ := strconv.Atoi(o.step.Identifier[strings.LastIndexByte(o.step.Identifier, '-')+1:])
			return n
		}
		return 0
	}
	return cmp.Or(cmp.Compare(resource.Order(a.Kind()), resource.Order(b.Kind())), cmp.Compare(number(a), number(b)), cmp.Compare(a, b))
}

// idOf returns the ID of a member that an ID or an address names, or "".
func (c *composer) idOf(member string) string {
	if resource.IsID(member) {
		return member
	}
	return c.prior[resource.Address(member)].ID
}

// objectAt returns the wanted object at an address and builds its parents; nil = it cannot be built.
func (c *composer) objectAt(a resource.Address) *resource.Object {
	if o, made := c.built[a]; made {
		return o
	}
	kind, known := resource.Lookup(a.Kind())
	if !known {
		return nil
	}
	was := c.former[a]
	again := was != nil && was.step != nil
	record := c.prior[a]
	id := c.parentIDs[a]
	if record.ID == "" && record.PendingIntent == nil && !again && id == "" || c.out.Deletes[a] {
		return nil
	}
	if record.ID != "" || again {
		id = "" // the planner knows the ID, or the object gets a new one
	}
	o := &resource.Object{
		Kind: kind, Address: a, Key: a.Key(), ID: id, NoCreate: !again, Files: record.Sources,
		Policy: &resource.Policy{OnDrift: string(planner.Keep)},
	}
	if again {
		o.Files = was.step.Sources
		if kind.Identifier != nil && kind.Identifier.APIName != "" { // the service does not assign this identifier
			o.Identifier = was.step.Identifier
		}
		if was.step.Protect {
			o.Protect = new(true)
		}
	}
	if parent := a.Parent(); parent != "" {
		if o.Parent = c.objectAt(parent); o.Parent == nil {
			return nil
		}
	}
	c.built[a] = o
	return o
}

// addFormerValues gives an object its former values.
func (c *composer) addFormerValues(o *resource.Object) {
	was := c.former[o.Address]
	if was == nil {
		return
	}
	for i := range o.Kind.Fields {
		if f, changed := was.fields[o.Kind.Fields[i].Name]; changed {
			c.addValue(o, c.formerValue(o, &o.Kind.Fields[i], &f))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was.fields)) {
		if f := was.fields[name]; f.Property != nil {
			if of := c.propertyObject(f.Property); of != nil {
				c.addValue(o, c.formerValue(o, resource.CustomField(of), &f))
			}
		}
	}
}

// addValue adds a value, unless a membership already gave the object one.
func (c *composer) addValue(o *resource.Object, v *resource.Value) {
	_, given := o.Value(v.Field.Name)
	if v.Null && !o.NoCreate { // a new object has no value to clear
		return
	}
	if !given {
		o.Values = append(o.Values, *v)
	}
}

// formerValue returns the former value of a field. It refers to objects that are created again at their address,
// and leaves out objects that were deleted with a common parent.
func (c *composer) formerValue(o *resource.Object, f *resource.Field, was *Field) *resource.Value {
	v := f.ValueOf(was.Before)
	refs := v.Refs[:0]
	for i, r := range v.Refs {
		if len(was.Names) == len(v.Refs) {
			r.Text = was.Names[i]
		}
		to := c.built[c.recreated[r.ID]]
		switch {
		case to != nil:
			r = resource.Reference{Text: string(to.Address), Target: to}
		case c.deletedWithParent(o, f) && slices.Contains(resource.MustLookup(f.Ref).Predefined, r.Text):
			r = resource.Reference{Text: r.Text}
		case c.deletedWithParent(o, f):
			c.addNotice("not-kept", string(o.Address)+" comes back without "+r.Text+" as its "+f.Name+", which went with what it was in", "")
			continue
		}
		refs = append(refs, r)
	}
	if v.Refs = refs; f.IsRef() && len(refs) == 0 {
		v.Null, v.Text = true, ""
	}
	if f.Rich() {
		c.redirectLinks(v)
	}
	return v
}

// pageLinks matches the links in a text from the service, and the last ID in the address of each.
var pageLinks = regexp.MustCompile(`(?:href|src)="([^"]+/([0-9a-f-]{36})[^"]*)"`)

// redirectLinks makes links to the web pages of deleted objects lead to the objects that the undo creates in their place.
func (c *composer) redirectLinks(v *resource.Value) {
	for _, m := range pageLinks.FindAllStringSubmatch(v.Text, -1) {
		page, to := html.UnescapeString(m[1]), c.built[c.recreated[m[2]]]
		if to == nil || v.Targets[page] != "" || page != to.Kind.Page(c.web, c.formerIDs(to)) {
			continue
		}
		if v.Targets == nil {
			v.Targets = map[string]string{}
		}
		v.Targets[page] = string(to.Address)
		if !slices.ContainsFunc(v.Links, func(r resource.Reference) bool { return r.Target == to }) {
			v.Links = append(v.Links, resource.Reference{Text: string(to.Address), Target: to})
		}
	}
}

// formerIDs returns the IDs of an object and its parents before the runs, by path parameter.
func (c *composer) formerIDs(o *resource.Object) map[string]string {
	ids := map[string]string{"workspace_slug": c.workspace}
	for ; o != nil; o = o.Parent {
		id := cmp.Or(c.prior[o.Address].ID, o.ID)
		if was := c.former[o.Address]; was != nil && was.step != nil {
			id = was.step.ID
		}
		ids[o.Kind.Param] = id
	}
	return ids
}

// deletedWithParent reports whether the target of a field was deleted together with a parent of both objects.
func (c *composer) deletedWithParent(o *resource.Object, f *resource.Field) bool {
	in := resource.MustLookup(f.Ref).Parent
	for p := o.Parent; p != nil; p = p.Parent {
		if was := c.former[p.Address]; p.Kind.Name == in {
			return was != nil && was.step != nil
		}
	}
	return false
}

// propertyObject returns the object that defines a custom field, with the values that define its type.
func (c *composer) propertyObject(p *Property) *resource.Object {
	o := c.objectAt(p.Address)
	if o != nil {
		for _, name := range slices.Sorted(maps.Keys(p.Texts)) {
			if f, ok := o.Kind.Field(name); ok {
				c.addValue(o, f.ValueOf(p.Texts[name]))
			}
		}
	}
	return o
}

// joinMembers puts members back into containers, by a reference on the side on which manifests declare the membership.
func (c *composer) joinMembers() {
	for _, who := range slices.SortedFunc(maps.Keys(c.joins), func(a, b memberIn) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.member, b.member))
	}) {
		m := c.joins[who]
		container, via, _, ok := who.at.ParseMembership()
		if !ok || c.out.Deletes[container] || c.out.Deletes[m.Address] {
			continue
		}
		member := c.memberAddress(via.Membership.Member, m)
		to := c.referenceTo(container, c.prior[container].ID)
		in := c.referenceTo(member, c.idOf(c.memberKey(m)))
		on := c.objectAt(container)
		if via.Membership.On != via.Membership.Container {
			on, in = c.objectAt(member), to
		}
		if in == nil || on == nil {
			c.addNotice("gone", "a member of "+string(who.at)+" does not come back: it, or the container, is not known any more", "")
			continue
		}
		if in.Target == nil {
			in.Text = cmp.Or(m.Name, in.Text)
		}
		in.Attribute = m.Value
		c.addReference(on, via.Membership, *in)
	}
}

// addReference adds a reference to the field of a membership. If a member can be in several containers, it also
// adds the containers that the member is in now.
func (c *composer) addReference(o *resource.Object, via *resource.Membership, to resource.Reference) {
	name := cmp.Or(via.SeveralField, via.Field)
	if via.On == via.Container {
		name = via.Field
	}
	f, ok := o.Kind.Field(name)
	if !ok {
		return
	}
	if v, given := o.Value(name); given {
		v.Refs = append(v.Refs, to)
		return
	}
	v := resource.Value{Field: f, Refs: []resource.Reference{to}}
	if name == via.SeveralField {
		v.Refs = append(v.Refs, c.remainingContainers(o, via)...)
	}
	o.Values = append(o.Values, v)
}

// remainingContainers returns references to the containers that an object is in according to the state and stays in.
func (c *composer) remainingContainers(o *resource.Object, via *resource.Membership) (refs []resource.Reference) {
	id := c.prior[o.Address].ID
	for _, at := range slices.Sorted(maps.Keys(c.prior)) {
		container, kind, _, ok := at.ParseMembership()
		if ok && id != "" && kind.Membership == via && slices.Contains(c.prior[at].Members, id) && !c.out.Leaves[at][id] {
			if r := c.referenceTo(container, c.prior[at].ID); r != nil {
				refs = append(refs, *r)
			}
		}
	}
	return refs
}

// referenceTo returns a reference to the object at an address, else to an ID; nil = there is neither.
func (c *composer) referenceTo(a resource.Address, id string) *resource.Reference {
	if a != "" {
		if o := c.objectAt(a); o != nil {
			return &resource.Reference{Text: string(a), Target: o}
		}
	}
	if id == "" {
		return nil
	}
	return &resource.Reference{Text: id, ID: id}
}

// memberAddress returns the address of a member in the state or in the runs, or "".
func (c *composer) memberAddress(kind string, m Member) resource.Address {
	if a, again := c.recreated[m.ID]; again && m.ID != "" {
		return a
	}
	if m.Address != "" {
		return c.presentAddress(m.Address)
	}
	if c.addresses == nil {
		c.addresses = indexAddresses(c.prior)
	}
	return c.addresses[objectKey{kind, m.ID}]
}

// objectKey identifies an object of the service.
type objectKey struct{ kind, id string }

// indexAddresses returns the addresses of the objects in a state.
func indexAddresses(prior planner.Prior) map[objectKey]resource.Address {
	at := map[objectKey]resource.Address{}
	for a, r := range prior {
		if r.ID != "" && a.IsObject() {
			at[objectKey{a.Kind(), r.ID}] = a
		}
	}
	return at
}
