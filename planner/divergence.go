package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
)

// divergences is the stage that lists the changes that people made on the service, for a pull into the manifests.
type divergences struct {
	analysis

	refs        *references
	differ      *comparer
	memberships *memberships
	list        []Divergence
	vanished    []*resource.Object
	unmanaged   []Unmanaged
	extra       []ExtraMember
}

func findDivergences(differ *comparer, memberships *memberships) *divergences {
	s := &divergences{analysis: differ.analysis, refs: differ.refs, differ: differ, memberships: memberships}
	if !s.in.Pull {
		return s
	}
	for i, o := range s.objects.all() {
		f := &s.objects.states[i]
		if f.presence == absent && f.vanished {
			s.vanished = append(s.vanished, o)
		}
		_, _, given := wantsArchived(o)
		if away := f.presence == hidden && f.isAway(o) && f.row != nil; f.presence != exists && !away || s.objects.staysArchived(i) && !given {
			continue
		}
		for k := range o.Values {
			switch v := &o.Values[k]; {
			case o.Ignores(v.Field), v.Implied, v.Content != nil:
			case f.info.viaMembership(v.Field):
				if d := memberships.drifted[v]; d != nil {
					s.addMembershipDivergence(i, v, d)
				}
			case !v.Field.Virtual && !v.Field.ArchiveFlag:
				s.addFieldDivergence(i, v)
			}
		}
	}
	s.findUnmanaged()
	s.findExtraMembers()
	return s
}

// addFieldDivergence adds a divergence if the service shows another value of a field than the last apply and the manifest.
func (di *divergences) addFieldDivergence(i objectID, v *resource.Value) {
	o, f := di.in.Desired[i], &di.objects.states[i]
	c, differs := di.differ.found[v]
	if !differs || !c.shown {
		return
	}
	resolve, have := di.refs.idResolver(i), c.have
	d := Divergence{Object: o, Value: v, Row: f.row, Change: di.differ.change(i, c)}
	want, complete := v.Desired(resolve)
	if f.prior == nil || len(f.prior.Values) == 0 {
		d.Unknown = true
	} else {
		if !c.drifted {
			return // only the manifest changed the field
		}
		if !complete && v.Field.IsRef() { // a named object was deleted, so that the manifest's value did not change
			want, complete = v.Desired(di.withRecordedIDs(resolve))
		}
		d.Conflict = !complete || !resource.IsDigest(f.prior.Values[v.Field.Name], want)
	}
	var ids []string
	if v.Field.IsRef() {
		if have = v.Field.WithoutProperty(have); have != "" {
			ids = strings.Split(have, ",")
		}
	}
	di.add(i, d, ids)
}

// withRecordedIDs returns a resolver that resolves an object that no longer exists to its ID in the state.
func (di *divergences) withRecordedIDs(resolve resource.IDResolver) resource.IDResolver {
	return func(field *resource.Field, r *resource.Reference) (string, bool) {
		id, ok := resolve(field, r)
		if !ok && r.Target != nil {
			id = di.in.Prior[r.Target.Address].ID
		}
		return id, id != ""
	}
}

// add adds a divergence. For a field of references, ids are the IDs of the references on the service.
func (di *divergences) add(i objectID, d Divergence, ids []string) {
	if d.Value.Field.IsRef() {
		t := di.objects.states[i].info.ref(d.Value.Field)
		named := map[string]bool{}
		byKey := slices.ContainsFunc(d.Value.Refs, func(r resource.Reference) bool {
			return r.Target != nil && r.Text == r.Target.Key && r.Text != r.Target.Name()
		})
		for k := range d.Value.Refs {
			_, id, _ := di.refs.target(i, t, &d.Value.Refs[k])
			if named[id] = true; !slices.Contains(ids, id) {
				d.Drop = append(d.Drop, k)
			}
		}
		for _, id := range ids {
			name := di.writtenName(i, t, id, byKey)
			if at, owned := di.objects.owners[serviceID{t.to.kind.Name, id}]; owned {
				if d.Named == nil {
					d.Named = map[string]*resource.Object{}
				}
				d.Named[name] = di.in.Desired[at]
			}
			if d.All = append(d.All, name); !named[id] {
				d.Add = append(d.Add, name)
			}
		}
		slices.Sort(d.All)
		slices.Sort(d.Add)
	}
	di.list = append(di.list, d)
}

// addMembershipDivergence adds a divergence for an object that people moved to other containers.
func (di *divergences) addMembershipDivergence(i objectID, v *resource.Value, d *fieldDrift) {
	f := &di.objects.states[i]
	t := f.info.ref(v.Field)
	var now []string
	if v.Field.Type == resource.Ref {
		known := false
		if now, known = di.containerIDs(i, t); !known {
			return
		}
	}
	for k := range v.Refs {
		if _, id, _ := di.refs.target(i, t, &v.Refs[k]); !di.memberships.absent[&v.Refs[k]] && !slices.Contains(now, id) {
			now = append(now, id)
		}
	}
	c := change(v, FromDrift)
	if before := di.refs.nameIDs(v, strings.Join(now, ","), di.refs.idResolver(i)); before != "" {
		c.Before = &before
	}
	di.add(i, Divergence{Object: di.in.Desired[i], Value: v, Row: f.row, Change: c, Conflict: d.conflict, Unknown: len(di.in.Prior) == 0}, now)
}

// containerIDs returns the IDs of the containers of a membership that an object is in. ok is false if the containers were not read.
func (di *divergences) containerIDs(i objectID, t *refField) (ids []string, ok bool) {
	all, why := di.memberships.containersIn(t, di.objects.within(i, t.to))
	for _, c := range all {
		if c.list.has(di.objects.states[i].id) {
			ids = append(ids, c.container.ID)
		}
	}
	return ids, why.why == ""
}

// writtenName returns the text by which a manifest names an object of the service: an unambiguous name, or a key if the field has keys,
// else the ID.
func (di *divergences) writtenName(i objectID, t *refField, id string, byKey bool) string {
	within := di.objects.withinOf(i, t)
	at, owned := di.objects.owners[serviceID{t.to.kind.Name, id}]
	var texts []string
	switch {
	case owned:
		o := di.in.Desired[at]
		if di.objects.states[at].parent != within && t.field.CrossProject {
			return o.Parent.Key + "/" + o.Key
		}
		if byKey || t.to.kind.Identifier != nil {
			texts = append(texts, o.Key)
		}
		for _, n := range t.to.kind.NaturalKey {
			texts = append(texts, o.Text(n))
		}
		texts = append(texts, o.Key)
	case t.to.list != nil && (!t.to.kind.Numbered() || di.snapshot.isListed(t.to, within)):
		l, _ := di.snapshot.list(t.to, within)
		if l == nil {
			return id
		}
		for _, row := range l.byID(id) {
			texts = append(append(texts, di.objects.readableID(t.to.kind, within, row)), t.to.kind.DisplayTexts(row)...)
		}
	}
	return cmp.Or(di.snapshot.names(t.to, within).Text(id, texts...), id)
}

// findExtraMembers lists memberships and relations that the service has and the manifest does not declare, as far as they were read. It
// leaves out the memberships of people.
func (di *divergences) findExtraMembers() {
	seen := map[edge]bool{}
	add := func(kind *resource.Kind, c Container, members []string) {
		m := kind.Membership
		for _, id := range members {
			on, other := c.Object, di.refs.nameID(m.Member, id)
			if m.On != m.Container {
				on, other = nil, string(c.Address)
				if at, ours := di.objects.owners[serviceID{m.Member, id}]; ours {
					on = di.in.Desired[at]
				}
			}
			pair := edge{kind.Name, c.ID, id}
			if _, wanted := di.memberships.wanted[pair]; on == nil || wanted || seen[pair] || resource.MustLookup(m.Member).Section == "" {
				continue
			}
			seen[pair], seen[edge{m.Inverse, id, c.ID}] = true, true // a relation shows on both sides
			di.extra = append(di.extra, ExtraMember{kind, on, other})
		}
	}
	for _, set := range di.memberships.sets {
		if set.hasList {
			add(set.kind, set.container, set.list.ids())
		}
	}
	type contents struct {
		kind *resource.Kind
		on   objectID
	}
	var all []contents
	for i, o := range di.objects.all() {
		for _, kind := range resource.Memberships() {
			in := kind.Membership.Container
			if kind.Membership.On != in {
				in = resource.MustLookup(in).Parent
			}
			if di.in.Contents[kind.Name] && o.Kind.Name == in && di.objects.states[i].presence == exists {
				all = append(all, contents{kind: kind, on: i})
			}
		}
	}
	found := map[int][]listedContainer{}
	di.service.each(len(all), func(i int) {
		containers, why := di.containersOf(all[i].kind, all[i].on)
		if path := all[i].kind.Membership.Path(); why.why != "" {
			di.gaps.add(di.in.Desired[all[i].on], path, path, why)
		}
		if len(containers) > 0 {
			found[i] = containers
		}
	})
	for _, i := range slices.Sorted(maps.Keys(found)) {
		for _, c := range found[i] {
			add(all[i].kind, c.container, c.list.ids())
		}
	}
}

// containersOf returns the containers of a membership for an object: the object itself if its field lists members, else the containers that
// live in the object.
func (di *divergences) containersOf(kind *resource.Kind, i objectID) ([]listedContainer, gapReason) {
	m := kind.Membership
	if m.On == m.Container {
		list := listMembers(di.analysis, kind, di.objects.params(i))
		if list.state == noList {
			return nil, gapReason{why: di.in.API.Noun() + " cannot read it"}
		}
		if len(list.rows) == 0 {
			if list.state == listed { // nothing asks again, and there are many
				delete(di.in.Observed, list.read)
			}
			return nil, gapReason{}
		}
		return []listedContainer{{di.objects.asContainer(i), list}}, gapReason{}
	}
	member := di.objects.kind(m.Member)
	field, _ := member.kind.Field(m.Field)
	t := member.ref(field)
	if t == nil || t.membership == nil {
		return nil, gapReason{} // this API does not write the field by a membership
	}
	return di.memberships.containersIn(t, i)
}

// findUnmanaged counts objects of the service that no manifest has, next to objects of the manifest, as far as they were listed. It leaves
// out the objects that every new project has.
func (di *divergences) findUnmanaged() {
	if len(di.in.Targets) > 0 {
		return
	}
	managed := map[scope]bool{}
	var contents []scope
	for i := range di.objects.count() {
		f := &di.objects.states[i]
		managed[scope{f.info, f.parent}] = true
		for _, name := range slices.Sorted(maps.Keys(di.in.Contents)) {
			if t := di.objects.kind(name); f.presence == exists && t.kind.Parent == f.info.kind.Name && t.list != nil {
				contents = append(contents, scope{t, i})
				managed[scope{t, i}] = true
			}
		}
	}
	di.service.each(len(contents), func(k int) { di.snapshot.list(contents[k].kind, contents[k].parent) })
	for _, at := range slices.Collect(maps.Keys(di.snapshot.listings)) {
		l := di.snapshot.listings[at]
		if !managed[at] || l.presence != exists || at.kind.kind.Section == "" {
			continue
		}
		u := Unmanaged{Kind: at.kind.kind}
		if at.parent != noObject {
			u.Parent = di.in.Desired[at.parent].Address
		}
		for _, row := range l.rows {
			id := serviceID{at.kind.kind.Name, row.ID()}
			_, other := di.in.otherOwner(row, false)
			if _, owned := di.objects.owners[id]; owned || other || len(di.objects.addressesOf(id)) > 0 || row.Hidden() != "" ||
				slices.ContainsFunc(at.kind.kind.DisplayTexts(row), at.kind.hasDefault) {
				continue
			}
			texts := append(at.kind.kind.DisplayTexts(row), resource.PlainText(row.Text("comment_html")), row.ID()) // a comment has no name
			name := cmp.Or(texts...)
			if readable := di.objects.readableID(at.kind.kind, at.parent, row); readable != "" {
				name = readable + " " + name
			}
			u.Names = append(u.Names, name)
		}
		if len(u.Names) > 0 {
			di.unmanaged = append(di.unmanaged, u)
		}
	}
	slices.SortFunc(di.unmanaged, func(a, b Unmanaged) int {
		return cmp.Or(cmp.Compare(a.Parent, b.Parent), cmp.Compare(a.Kind.Name, b.Kind.Name))
	})
}
