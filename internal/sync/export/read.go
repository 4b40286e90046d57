package export

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// content holds the objects that were read.
type content struct {
	root    *object // the workspace
	byID    map[serviceID]*object
	omitted omissions

	roleless    []string                    // projects whose members have roles that the service does not show, once for each member
	unsupported map[*resource.Kind]bool     // kinds that this edition does not have
	denied      map[*resource.Kind][]string // by kind, the parents in which the credential may not read it
	skipped     map[*resource.Kind]int      // kinds that were not read, with the number of requests that it would take

	formerKeys map[serviceID]string

	unreadFields int // requests that reading the values of custom fields would take
}

// commonOwner returns the owner whose mark the objects bear, the given owner if no object bears a mark, or "" if
// there are several owners.
func (ct *content) commonOwner(given resource.Owner) resource.Owner {
	owners := map[resource.Owner]bool{}
	for _, one := range ct.byID {
		if owner, marked := one.row.Owner(); marked {
			owners[owner] = true
		}
	}
	if len(owners) == 0 {
		return given
	}
	if all := slices.Collect(maps.Keys(owners)); len(all) == 1 {
		return all[0]
	}
	return ""
}

// reader reads level by level: the objects in the workspace, then their children, and so on.
type reader struct {
	content *content
	o       Options
	from    provider.Reader
	kinds   kindChoice
}

// list is a list to read.
type list struct {
	kind       *resource.Kind
	parent     *object // whose children it holds
	op         *resource.Operation
	path       string
	supplement bool // whether it adds to another list, so that its absence says nothing about the kind

	rows   []resource.Row
	failed bool
}

// read reads the chosen kinds of a workspace.
func read(ctx context.Context, client *apiclient.Client, o Options, kinds kindChoice) (*content, error) {
	if o.Observed == nil {
		o.Observed = planner.Observed{}
	}
	o.API = cmp.Or(o.API, resource.V1)
	root := &object{exported: true}
	r := &reader{
		content: &content{
			root: root, byID: map[serviceID]*object{}, omitted: omissions{},
			unsupported: map[*resource.Kind]bool{}, denied: map[*resource.Kind][]string{}, skipped: map[*resource.Kind]int{},
		},
		o: o, from: provider.Reader{Client: client, API: o.API, Observed: o.Observed, Answered: o.Answered}, kinds: kinds,
	}
	return r.content, r.readLevel(ctx, []*object{root})
}

// readLevel reads the children of the parents, and then the levels below.
func (r *reader) readLevel(ctx context.Context, parents []*object) error {
	var lists []*list
	for _, p := range parents {
		if p.exported || r.readsThrough(p.kind) {
			lists = append(lists, r.listsOf(p)...)
		}
	}
	if len(lists) == 0 {
		return nil
	}
	if err := r.readLists(ctx, lists); err != nil {
		return err
	}
	more := r.archivedLists(lists)
	if err := r.readLists(ctx, more); err != nil {
		return err
	}
	var next []*object
	for _, l := range slices.Concat(lists, more) {
		if l.op.Verb == resource.Summary {
			continue
		}
		added, err := r.addObjects(l)
		if err != nil {
			return err
		}
		next = append(next, added...)
		if err := r.filter(l); err != nil {
			return err
		}
	}
	r.reportHidden(lists)
	if err := r.readAbridged(ctx, next); err != nil {
		return err
	}
	if err := r.readMembers(ctx, next); err != nil {
		return err
	}
	return r.readLevel(ctx, next)
}

// addObjects adds the rows of a list as objects.
func (r *reader) addObjects(l *list) ([]*object, error) {
	if l.parent.children == nil {
		l.parent.children, l.parent.byID = map[*resource.Kind][]*object{}, map[serviceID]*object{}
	}
	added := make([]*object, 0, len(l.rows))
	for _, row := range l.rows {
		if !l.kind.Governance.Includes(row) {
			continue
		}
		if id := row.ID(); !resource.IsID(id) {
			return nil, fmt.Errorf("the service lists %s with the ID %.60q, which is not a UUID: nothing was written", diag.A(l.kind.Noun()), id)
		}
		t := &object{
			kind: l.kind, row: l.kind.InZone(row, l.parent.zone()), parent: l.parent, exported: r.kinds.exported[l.kind] && !l.kind.IsBuiltIn(row),
			members: map[*resource.Field][]string{},
		}
		t.setIdentifier()
		added = append(added, t)
		l.parent.byID[serviceID{l.kind, row.ID()}], r.content.byID[serviceID{l.kind, row.ID()}] = t, t
	}
	l.parent.children[l.kind] = append(l.parent.children[l.kind], added...)
	return added, nil
}

// listsOf returns the lists of a parent's children.
func (r *reader) listsOf(p *object) []*list {
	parent := ""
	if p.kind != nil {
		parent = p.kind.Name
	}
	var lists []*list
	for _, k := range resource.Kinds() {
		if k.Parent != parent || r.content.unsupported[k] || k.ParentType != "" && k.ParentType != p.text("type") {
			continue
		}
		if r.kinds.skipped[k] {
			r.content.skipped[k]++
		}
		if op, ok := k.Op(resource.List, r.o.API); ok && (r.kinds.exported[k] || r.kinds.referenced[k] || r.readsThrough(k)) {
			lists = append(lists, r.newList(k, op, p))
		}
	}
	if p.kind != nil {
		if op, ok := p.kind.Op(resource.Summary, r.o.API); ok {
			l := r.newList(p.kind, op, p)
			l.supplement = true
			lists = append(lists, l)
		}
	}
	return lists
}

// readsThrough reports whether a single object is read only for its children, such as the points of a project's estimate.
func (r *reader) readsThrough(k *resource.Kind) bool {
	return k != nil && k.Single && slices.ContainsFunc(resource.Children(k.Name), func(o *resource.Kind) bool { return r.kinds.referenced[o] })
}

// newList returns the list of a kind in a parent.
func (r *reader) newList(k *resource.Kind, op *resource.Operation, of *object) *list {
	path, _ := op.Expand(of.params(r.o.Workspace))
	return &list{kind: k, parent: of, op: op, path: path}
}

// summaryCounts returns the numbers of children in an object's summary, or nil if there is no summary.
func summaryCounts(lists []*list, of *object) map[string]int {
	for _, l := range lists {
		if l.op.Verb == resource.Summary && l.parent == of && len(l.rows) > 0 {
			return l.rows[0].Counts()
		}
	}
	return nil
}

// archivedLists returns the lists of archived objects, unless the summary says that nothing is archived.
func (r *reader) archivedLists(lists []*list) []*list {
	var archived []*list
	for _, l := range lists {
		op, ok := l.kind.Op(resource.ListArchived, r.o.API)
		if !ok || l.op.Verb != resource.List || !r.kinds.exported[l.kind] || l.failed {
			continue
		}
		if count, counted := summaryCounts(lists, l.parent)[l.kind.CountedAs]; counted && count <= len(l.rows) {
			continue
		}
		more := r.newList(l.kind, op, l.parent)
		more.supplement = true
		archived = append(archived, more)
	}
	return archived
}

// reportHidden records the objects that the summaries count and no list shows.
func (r *reader) reportHidden(lists []*list) {
	for _, l := range lists {
		if l.op.Verb != resource.Summary {
			continue
		}
		count := summaryCounts(lists, l.parent)
		for _, k := range resource.Kinds() {
			n, counted := count[k.CountedAs]
			delete(count, k.CountedAs)
			listed := slices.ContainsFunc(lists, func(o *list) bool {
				return o.parent == l.parent && o.kind == k && o.op.Verb == resource.List && !o.failed
			})
			if _, lists := k.Op(resource.List, r.o.API); !lists && k.Section != "" && n > 0 && len(r.o.Only) == 0 {
				r.addOmission(k.Noun(), r.o.API.Noun()+" has no list of them that planform reads", l.parent.label(), n)
			}
			if shown := len(l.parent.children[k]); counted && listed && n > shown {
				r.addOmission(k.Noun(), "archived, or a draft, which no list shows", l.parent.label(), n-shown)
			}
		}
		if len(r.o.Only) > 0 {
			continue
		}
		for name, n := range count {
			if n > 0 {
				r.addOmission(strings.TrimSuffix(humanize(name), "s"), "manifests cannot express it", l.parent.label(), n)
			}
		}
	}
}

// readAbridged reads one by one the objects whose list shows no text, as the service's list of pages may.
func (r *reader) readAbridged(ctx context.Context, objects []*object) error {
	var lists []*list
	for _, t := range objects {
		if op, ok := t.kind.Op(resource.Get, r.o.API); ok && t.exported && !t.kind.Numbered() && t.isAbridged() {
			lists = append(lists, r.newList(t.kind, op, t))
		}
	}
	if err := r.readLists(ctx, lists); err != nil {
		return err
	}
	for _, l := range lists {
		if len(l.rows) == 1 && l.rows[0].ID() == l.parent.row.ID() {
			l.parent.row = l.rows[0]
		}
	}
	return nil
}

// isAbridged reports whether a row lacks the text that objects of its kind have.
func (ob *object) isAbridged() bool {
	for i := range ob.kind.Fields {
		f := &ob.kind.Fields[i]
		if _, shown := ob.row.Shown(f); f.Rich() && !shown {
			return true
		}
	}
	return false
}

// readMembers reads the members of the containers among the objects.
func (r *reader) readMembers(ctx context.Context, objects []*object) error {
	var lists []*list
	for _, m := range resource.Memberships() {
		op, listed := m.Op(resource.ListMembers, r.o.API)
		if _, can := m.Op(resource.AddMembers, r.o.API); !can || !r.kinds.exported[resource.MustLookup(m.Membership.On)] {
			continue
		}
		for _, t := range objects {
			switch {
			case t.kind.Name != m.Membership.Container || !r.showsMembers(m, t):
			case !listed:
				r.content.omitted.add(omission{what: "list of " + humanize(m.Membership.Path()), why: r.o.API.Noun() + " cannot read it"}, t.label(), 1)
			case !t.hasAny(resource.MustLookup(m.Membership.Member)):
			case isReadPerItem(m) && !namesKind(r.o.With, m):
				r.content.skipped[m]++
			default:
				lists = append(lists, r.newList(m, op, t))
			}
		}
	}
	if err := r.readLists(ctx, lists); err != nil {
		return err
	}
	if err := r.readRoles(ctx, lists); err != nil {
		return err
	}
	for _, l := range lists {
		m := l.kind.Membership
		field, _ := resource.MustLookup(m.On).Field(m.Field)
		for _, row := range l.rows {
			id := m.MemberID(row)
			if id == "" {
				continue
			}
			if m.On == m.Container && resource.MustLookup(m.Member).Governance.AtWorkspace && l.parent.find(resource.MustLookup(m.Member), id) == nil {
				continue // the member belongs to the project itself
			}
			if m.HasLeft(row) {
				r.content.omitted.add(omission{what: "former member", why: "a copy would make them a member again"}, l.parent.label(), 1)
				continue
			}
			if m.On == m.Container {
				if m.Attribute != nil && slices.Contains(l.parent.members[field], id) {
					r.content.omitted.add(omission{what: "second " + humanize(m.Path()), why: "a manifest gives one"}, l.parent.label(), 1)
					continue
				}
				l.parent.members[field] = append(l.parent.members[field], id)
				value := r.attributeOf(m, row, id)
				if l.parent.setAttribute(id, value); value == "" && m.Attribute != nil && m.Attribute.Default != "" {
					r.content.roleless = append(r.content.roleless, l.parent.label())
				}
				continue
			}
			if at := l.parent.parent.find(resource.MustLookup(m.Member), id); at != nil {
				at.members[field] = append(at.members[field], l.parent.row.ID())
			}
		}
	}
	return nil
}

// readRoles adds the roles of members, and who left, to lists that do not show them. It reads lists that version 1.4 of the community edition
// added.
func (r *reader) readRoles(ctx context.Context, lists []*list) error {
	var members, people []*list
	for _, l := range lists {
		if op, ok := l.kind.Op(resource.ListLite, resource.V1); ok && !l.op.V2() && l.kind.Membership.LacksRoles(l.rows) {
			roles := r.newList(l.kind, op, l.parent)
			roles.supplement = true
			members, people = append(members, l), append(people, roles)
		}
	}
	if err := r.readLists(ctx, people); err != nil {
		return err
	}
	for i, l := range members {
		l.kind.Membership.AddRoles(l.rows, people[i].rows)
	}
	return nil
}

// attributeOf returns the attribute of a member in a row of a member list, such as a role. If the service does not show it, a member with
// the lowest role in the workspace has the lowest role in the project as well.
func (r *reader) attributeOf(m *resource.Membership, row resource.Row, id string) string {
	if m.Attribute == nil {
		return ""
	}
	if shown := m.Attribute.Shown(row); shown != "" {
		return shown
	}
	if t := r.content.byID[serviceID{resource.MustLookup(m.Member), id}]; t != nil && m.Attribute.Words() == nil && m.Attribute.Shown(t.row) == m.Attribute.Values[0] {
		return m.Attribute.Values[0]
	}
	return ""
}

// showsMembers reports whether a container's members can appear in a manifest.
func (r *reader) showsMembers(m *resource.Kind, container *object) bool {
	if m.Membership.On == m.Membership.Container {
		return container.exported
	}
	return container.parent.exported
}

// readLists makes the reads. It reports lists that the credential may not read, and reads the others.
func (r *reader) readLists(ctx context.Context, lists []*list) error {
	reads := make([]planner.Read, len(lists))
	for i, l := range lists {
		reads[i] = planner.Read{Operation: l.op, Path: l.path}
		if l.op.V2() { // its lists leave out long texts that the request does not name
			reads[i].Fields = "all"
		}
		if _, answered := r.o.Observed[reads[i]]; !answered {
			reads[i].Optional = true
		}
	}
	r.from.Expect = func(requests int) { r.o.Expect(requests, sectionNames(lists)) }
	if err := r.from.Read(ctx, reads); err != nil {
		return err //nolint:wrapcheck // the error says which list was read
	}
	var again []*list // by API v1
	for i, l := range lists {
		a := r.o.Observed[reads[i]]
		if v1, ok := l.kind.Op(l.op.Verb, resource.V1); (a.Unsupported || a.Forbidden && l.kind.Membership != nil) && l.op.V2() && ok {
			l.op, l.path = v1, r.newList(l.kind, v1, l.parent).path
			again = append(again, l)
			continue
		}
		l.rows, l.failed = a.Rows, a.Unsupported || a.NotFound || a.Forbidden
		for name, n := range a.Unread {
			r.addOmission(humanize(name)+" relation", "manifests cannot express it", l.parent.label(), n)
		}
		switch {
		case l.supplement:
		case a.Unsupported:
			r.content.unsupported[l.kind] = true
		case a.Forbidden && l.kind.Singleton: // few may read it, and little depends on it
			r.addOmission(l.kind.Noun(), "the credential may not read it", l.parent.label(), 1)
		case a.Forbidden:
			r.content.denied[l.kind] = append(r.content.denied[l.kind], l.parent.label())
		}
	}
	if len(again) > 0 {
		return r.readLists(ctx, again)
	}
	return nil
}

// addOmission records that objects, or parts of one, are not exported.
func (r *reader) addOmission(what, why, where string, count int) {
	r.content.omitted.add(omission{what, why, true}, where, count)
}

// sectionNames names the content of lists.
func sectionNames(lists []*list) string {
	var names []string
	for _, l := range lists {
		if name := humanize(sectionName(l.kind)); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
