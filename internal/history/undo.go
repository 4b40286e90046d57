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

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Undoing is what a plan takes to bring back what runs changed.
type Undoing struct {
	Objects []*resource.Object // parents before children
	Deletes map[resource.Address]bool
	Leaves  map[resource.Address]map[string]bool
	Left    map[string]map[string]string // see [planner.Input]
	Owner   resource.Owner
	Notices diag.List // what cannot be brought back, or was changed by later runs
}

// Undo says what a plan is to reach so that runs, of all that are known, are as if they had not been. all are the oldest first, and web is
// the web app, to whose pages texts link.
func Undo(all []*Run, ids []string, prior planner.Prior, web string) (*Undoing, error) {
	c := &composer{
		all: all, prior: prior, web: web, undone: map[string]bool{}, objects: map[resource.Address]*former{},
		created: map[resource.Address]bool{}, creating: map[resource.Address]bool{}, joins: map[membership]Member{}, leaves: map[membership]bool{},
		within: map[resource.Address]string{}, later: map[touch]string{}, reborn: map[string]resource.Address{}, built: map[resource.Address]*resource.Object{},
		left: map[membership]resource.Address{},
		out:  &Undoing{Deletes: map[resource.Address]bool{}, Leaves: map[resource.Address]map[string]bool{}, Left: map[string]map[string]string{}},
	}
	for _, id := range ids {
		c.undone[id] = true
	}
	first, settled := true, cancelled(all)
	for _, r := range slices.Backward(all) {
		if !c.undone[r.ID] {
			if c.follow(r); settled[r.ID] == nil {
				c.noteLater(r)
			}
			continue
		}
		if !first && r.Owner != c.out.Owner {
			return nil, fmt.Errorf("the runs are of different owners, %s and %s: take them back one by one", r.Owner, c.out.Owner)
		}
		c.out.Owner, c.workspace, first = r.Owner, r.Workspace, false
		c.follow(r)
		for a, id := range r.Within {
			c.within[c.now(a)] = id
		}
		clear(c.creating)
		for i := range r.Steps {
			if s := &r.Steps[i]; s.Action == planner.Create {
				c.creating[c.now(s.Address)] = true
			}
		}
		for i := range slices.Backward(r.Steps) {
			c.step(&r.Steps[i])
		}
	}
	c.build()
	return c.out, nil
}

// composer composes what several runs changed, the newest first.
type composer struct {
	all      []*Run
	prior    planner.Prior
	undone   map[string]bool                         // runs by ID
	moves    []map[resource.Address]resource.Address // of each run so far, the newest first
	later    map[touch]string
	within   map[resource.Address]string // IDs of what the state does not have, and objects are in
	objects  map[resource.Address]*former
	created  map[resource.Address]bool
	creating map[resource.Address]bool // by the run that is looked at
	joins    map[membership]Member     // who is to be in again
	leaves   map[membership]bool       // who is to leave
	reborn   map[string]resource.Address
	built    map[resource.Address]*resource.Object
	at       map[object]resource.Address     // of what the state knows; made when first needed
	left     map[membership]resource.Address // by the name of the membership and the member: the container's members; "" = in none
	out      *Undoing

	web, workspace string // of the pages to which texts link; the workspace by its slug
}

// former is what an object was before the runs.
type former struct {
	step   *Step // that deleted it; nil = it is still there
	fields map[string]Field
}

// touch is what a run changed: a field, or with none an object that it created.
type touch struct {
	address resource.Address
	field   string
}

// membership is that somebody is in a container.
type membership struct {
	at     resource.Address // at which the state has the members of the container
	member string           // ID, or address where that is not known
}

// now is the address of an object after the runs from one on.
func (c *composer) now(a resource.Address) resource.Address {
	for _, moved := range slices.Backward(c.moves) {
		if to, ok := moved[a]; ok {
			a = to
		}
	}
	return a
}

// follow takes note of the objects that a run gave other addresses.
func (c *composer) follow(r *Run) {
	if len(r.Moves) == 0 {
		return
	}
	moved := make(map[resource.Address]resource.Address, len(r.Moves))
	for _, m := range r.Moves {
		moved[m.From] = m.To
	}
	c.moves = append(c.moves, moved)
}

// noteLater notes what a run changed that stays.
func (c *composer) noteLater(r *Run) {
	if len(r.Undoes) > 0 && !slices.ContainsFunc(r.Undoes, func(id string) bool { return !c.undone[id] }) {
		return // an earlier try of this
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		at := c.now(s.Address)
		if s.Action == planner.Create {
			c.later[touch{address: at}] = r.ID
		}
		for _, f := range s.Fields {
			c.later[touch{at, f.Name}] = r.ID
		}
		for _, name := range s.Lost {
			c.later[touch{at, name}] = r.ID
		}
	}
}

func (c *composer) step(s *Step) {
	at := c.now(s.Address)
	switch s.Action {
	case planner.Create:
		switch by := c.later[touch{address: at}]; {
		case by != "": // this run did not get to it
		default:
			c.created[at] = true
			delete(c.objects, at)
		}
		if s.Replaces != "" {
			c.note("not-kept", string(at)+" took the place of another one, which is not kept", "")
		}
	case planner.Delete:
		c.deleted(at, s)
	case planner.AddMembers, planner.RemoveMembers:
		c.members(at, s)
	default:
		if _, _, _, members := at.ParseMembership(); members {
			for _, m := range s.Members {
				c.joins[membership{at, c.key(m)}] = m
			}
			return
		}
		c.updated(at, s)
	}
}

func (c *composer) updated(at resource.Address, s *Step) {
	if c.inCreated(at) {
		c.created[at] = true // it came with what the run created
		return
	}
	for _, f := range s.Fields {
		if by := c.later[touch{at, f.Name}]; by != "" {
			c.note("changed-later", f.Name+" of "+string(at)+" stays as it is: the run "+by+" changed it after this one", "undo that run first")
			continue
		}
		c.object(at).fields[f.Name] = f
	}
	for _, name := range s.Lost {
		if f, ok := resource.MustLookup(at.Kind()).Field(name); ok && f.Type == resource.SecretFile {
			c.note("not-kept", "the new secret of "+string(at)+" stays: the service does not take the former one back", "")
			continue
		}
		c.note("not-kept", name+" of "+string(at)+" stays as it is: what it was before is not known", "")
	}
}

// inCreated reports whether an object is in one that the run created.
func (c *composer) inCreated(a resource.Address) bool {
	for a = a.Parent(); a != ""; a = a.Parent() {
		if c.created[a] || c.creating[a] {
			return true
		}
	}
	return false
}

func (c *composer) object(a resource.Address) *former {
	o := c.objects[a]
	if o == nil {
		o = &former{fields: map[string]Field{}}
		c.objects[a] = o
	}
	return o
}

func (c *composer) deleted(at resource.Address, s *Step) {
	if by := c.later[touch{address: at}]; by != "" {
		c.note("made-since", string(at)+" stays as it is: the run "+by+" created it after this one had deleted it", "")
		return
	}
	for _, name := range s.Lost {
		if f, ok := resource.MustLookup(at.Kind()).Field(name); ok && f.Type == resource.Upload {
			c.note("not-kept", string(at)+" does not come back: its content is not kept", "")
			return
		}
	}
	o := c.object(at)
	clear(o.fields)
	for _, f := range s.Fields {
		o.fields[f.Name] = f
	}
	if c.created[at] { // a later one of these runs made it again
		delete(c.created, at)
	} else {
		o.step, c.reborn[s.ID] = s, at
	}
	for _, name := range s.Lost {
		c.note("not-kept", string(at)+" comes back without its "+name, "")
	}
}

// key names a member.
func (c *composer) key(m Member) string { return cmp.Or(m.ID, string(m.Address)) }

func (c *composer) members(at resource.Address, s *Step) {
	for _, m := range s.Members {
		who := membership{at, c.key(m)}
		c.leave(s, who)
		if s.Action == planner.RemoveMembers {
			c.joins[who] = m
			delete(c.leaves, who)
			continue
		}
		delete(c.joins, who)
		c.leaves[who] = true
		if m.From != "" {
			back := membership{m.From, who.member}
			c.joins[back] = Member{ID: m.ID, Address: m.Address}
			delete(c.leaves, back)
		}
	}
}

// leave notes where the last of the runs left a member who can be in one container only.
func (c *composer) leave(s *Step, who membership) {
	_, kind, _, _ := who.at.ParseMembership()
	of := membership{resource.Address(kind.Name), who.member}
	if _, known := c.left[of]; known || !kind.Membership.Exclusive {
		return
	}
	if c.left[of] = ""; s.Action == planner.AddMembers {
		c.left[of] = who.at
	}
}

func (c *composer) note(code, text, hint string) {
	c.out.Notices.Add(diag.Diagnostic{Severity: diag.Warning, Code: code, Summary: text, Hint: hint})
}

// build makes the objects, as far as they can still be had.
func (c *composer) build() {
	for a := range c.created {
		if r, known := c.prior[a]; known && (r.ID != "" || r.PendingIntent != nil) {
			c.out.Deletes[a] = true
		}
	}
	for _, a := range slices.SortedFunc(maps.Keys(c.objects), c.inOrder) {
		o := c.objects[a]
		if o.step == nil && (len(o.fields) == 0 || c.out.Deletes[a]) {
			continue
		}
		if c.objectAt(a) == nil {
			c.note("gone", string(a)+" stays as it is: the state does not have it, or what it is in, any more", "")
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
	c.join()
	for of, at := range c.left {
		base, _, _, _ := at.ParseMembership()
		container := cmp.Or(c.prior[base].ID, c.prior[at].ID)
		if id := c.idOf(of.member); id != "" && (at == "" || container != "") {
			if c.out.Left[string(of.at)] == nil {
				c.out.Left[string(of.at)] = map[string]string{}
			}
			c.out.Left[string(of.at)][id] = container
		}
	}
	for _, a := range slices.Sorted(maps.Keys(c.built)) { // it builds what defines custom fields
		c.fill(c.built[a])
	}
	c.out.Objects = slices.SortedFunc(maps.Values(c.built), func(a, b *resource.Object) int { return c.inOrder(a.Address, b.Address) })
}

// inOrder puts what is in something behind that, and what the service numbers in the order of its former numbers.
func (c *composer) inOrder(a, b resource.Address) int {
	number := func(a resource.Address) int {
		if o := c.objects[a]; o != nil && o.step != nil {
			n, _ := strconv.Atoi(o.step.Identifier[strings.LastIndexByte(o.step.Identifier, '-')+1:])
			return n
		}
		return 0
	}
	return cmp.Or(cmp.Compare(resource.Order(a.Kind()), resource.Order(b.Kind())), cmp.Compare(number(a), number(b)), cmp.Compare(a, b))
}

// idOf is the ID of a member, which an ID or an address names, or "".
func (c *composer) idOf(member string) string {
	if resource.IsID(member) {
		return member
	}
	return c.prior[resource.Address(member)].ID
}

// objectAt is the wanted object at an address, with what it is in; nil = there is none.
func (c *composer) objectAt(a resource.Address) *resource.Object {
	if o, made := c.built[a]; made {
		return o
	}
	kind, known := resource.Lookup(a.Kind())
	if !known {
		return nil
	}
	was := c.objects[a]
	again := was != nil && was.step != nil
	record := c.prior[a]
	id := c.within[a]
	if record.ID == "" && record.PendingIntent == nil && !again && id == "" || c.out.Deletes[a] {
		return nil
	}
	if record.ID != "" || again {
		id = "" // which the planner knows, or is another by then
	}
	o := &resource.Object{
		Kind: kind, Address: a, Key: a.Key(), ID: id, NoCreate: !again, Files: record.Sources,
		Policy: &resource.Policy{OnDrift: string(planner.Keep)},
	}
	if again {
		o.Files = was.step.Sources
		if kind.Identifier != nil && kind.Identifier.APIName != "" { // the service does not give it
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

// fill gives an object its former values.
func (c *composer) fill(o *resource.Object) {
	was := c.objects[o.Address]
	if was == nil {
		return
	}
	for i := range o.Kind.Fields {
		if f, changed := was.fields[o.Kind.Fields[i].Name]; changed {
			c.put(o, c.value(o, &o.Kind.Fields[i], &f))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was.fields)) {
		if f := was.fields[name]; f.Property != nil {
			if of := c.property(f.Property); of != nil {
				c.put(o, c.value(o, resource.CustomField(of), &f))
			}
		}
	}
}

// put adds a value, unless a membership gave the object one.
func (c *composer) put(o *resource.Object, v *resource.Value) {
	_, given := o.Value(v.Field.Name)
	if v.Null && !o.NoCreate { // it is made anew
		return
	}
	if !given {
		o.Values = append(o.Values, *v)
	}
}

// value is what a field of an object was. What it refers to may have been made anew, or with the container that was.
func (c *composer) value(o *resource.Object, f *resource.Field, was *Field) *resource.Value {
	v := f.ValueOf(was.Before)
	refs := v.Refs[:0]
	for i, r := range v.Refs {
		if len(was.Names) == len(v.Refs) {
			r.Text = was.Names[i]
		}
		to := c.built[c.reborn[r.ID]]
		switch {
		case to != nil:
			r = resource.Reference{Text: string(to.Address), Target: to}
		case c.wentWith(o, f) && slices.Contains(resource.MustLookup(f.Ref).Predefined, r.Text):
			r = resource.Reference{Text: r.Text}
		case c.wentWith(o, f):
			c.note("not-kept", string(o.Address)+" comes back without "+r.Text+" as its "+f.Name+", which went with what it was in", "")
			continue
		}
		refs = append(refs, r)
	}
	if v.Refs = refs; f.IsRef() && len(refs) == 0 {
		v.Null, v.Text = true, ""
	}
	if f.Rich() {
		c.relink(v)
	}
	return v
}

// links finds the links in a text that the service showed, and the last ID in the address of each.
var links = regexp.MustCompile(`(?:href|src)="([^"]+/([0-9a-f-]{36})[^"]*)"`)

// relink redirects the links of a text that lead to pages of deleted objects: they lead to the objects that are created in their place.
func (c *composer) relink(v *resource.Value) {
	for _, m := range links.FindAllStringSubmatch(v.Text, -1) {
		page, to := html.UnescapeString(m[1]), c.built[c.reborn[m[2]]]
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

// formerIDs are those of an object, and of what it was in, before the runs.
func (c *composer) formerIDs(o *resource.Object) map[string]string {
	ids := map[string]string{"workspace_slug": c.workspace}
	for ; o != nil; o = o.Parent {
		id := cmp.Or(c.prior[o.Address].ID, o.ID)
		if was := c.objects[o.Address]; was != nil && was.step != nil {
			id = was.step.ID
		}
		ids[o.Kind.Param] = id
	}
	return ids
}

// wentWith reports whether what a field of an object refers to went with something that both are in.
func (c *composer) wentWith(o *resource.Object, f *resource.Field) bool {
	in := resource.MustLookup(f.Ref).Parent
	for p := o.Parent; p != nil; p = p.Parent {
		if was := c.objects[p.Address]; p.Kind.Name == in {
			return was != nil && was.step != nil
		}
	}
	return false
}

// property is the object that defines a custom field, with what its type hangs on.
func (c *composer) property(p *Property) *resource.Object {
	o := c.objectAt(p.Address)
	if o != nil {
		for _, name := range slices.Sorted(maps.Keys(p.Texts)) {
			if f, ok := o.Kind.Field(name); ok {
				c.put(o, f.ValueOf(p.Texts[name]))
			}
		}
	}
	return o
}

// join puts members back into containers: the container lists them, or the member the container, whichever a manifest does.
func (c *composer) join() {
	for _, who := range slices.SortedFunc(maps.Keys(c.joins), func(a, b membership) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.member, b.member))
	}) {
		m := c.joins[who]
		container, via, _, ok := who.at.ParseMembership()
		if !ok || c.out.Deletes[container] || c.out.Deletes[m.Address] {
			continue
		}
		member := c.addressOf(via.Membership.Member, m)
		to := c.reference(container, c.prior[container].ID)
		in := c.reference(member, c.idOf(c.key(m)))
		on := c.objectAt(container)
		if via.Membership.On != via.Membership.Container {
			on, in = c.objectAt(member), to
		}
		if in == nil || on == nil {
			c.note("gone", "a member of "+string(who.at)+" does not come back: it, or the container, is not known any more", "")
			continue
		}
		if in.Target == nil {
			in.Text = cmp.Or(m.Name, in.Text)
		}
		in.Attribute = m.Value
		c.refer(on, via.Membership, *in)
	}
}

// refer adds a reference to the field of a membership. Of a member that can be in several containers all are named.
func (c *composer) refer(o *resource.Object, via *resource.Membership, to resource.Reference) {
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
		v.Refs = append(v.Refs, c.others(o, via)...)
	}
	o.Values = append(o.Values, v)
}

// others are the containers that an object is in by the state and stays in.
func (c *composer) others(o *resource.Object, via *resource.Membership) (refs []resource.Reference) {
	id := c.prior[o.Address].ID
	for _, at := range slices.Sorted(maps.Keys(c.prior)) {
		container, kind, _, ok := at.ParseMembership()
		if ok && id != "" && kind.Membership == via && slices.Contains(c.prior[at].Members, id) && !c.out.Leaves[at][id] {
			if r := c.reference(container, c.prior[at].ID); r != nil {
				refs = append(refs, *r)
			}
		}
	}
	return refs
}

// reference is one to the object at an address, or to an ID; nil = there is neither.
func (c *composer) reference(a resource.Address, id string) *resource.Reference {
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

// addressOf is where the state or the runs have a member, or "".
func (c *composer) addressOf(kind string, m Member) resource.Address {
	if a, again := c.reborn[m.ID]; again && m.ID != "" {
		return a
	}
	if m.Address != "" {
		return c.now(m.Address)
	}
	if c.at == nil {
		c.at = addressesOf(c.prior)
	}
	return c.at[object{kind, m.ID}]
}

// object is one of the service.
type object struct{ kind, id string }

// addressesOf are where a state has what it knows.
func addressesOf(prior planner.Prior) map[object]resource.Address {
	at := map[object]resource.Address{}
	for a, r := range prior {
		if r.ID != "" && a.IsObject() {
			at[object{a.Kind(), r.ID}] = a
		}
	}
	return at
}
