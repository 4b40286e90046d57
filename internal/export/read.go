package export

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/provider"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Options say what is read.
type Options struct {
	Workspace string
	BaseURL   string           // of the service, which the manifests name as their source; "" = they name none
	Projects  []string         // identifiers, names or IDs; empty = all
	Only      []string         // sections, such as work_items; empty = all
	With      []string         // what takes one request for each work item, such as links
	Observed  planner.Observed // answers that are there already
	// Expect is told how many lists are read next, and of what; Answered after each of them. Nil = nobody is.
	Expect   func(lists int, what string)
	Answered func()
}

// Read reads what the workspace holds, with the wider API.
func Read(ctx context.Context, client *apiclient.Client, o Options) (*Export, error) {
	r := &reader{o: o, client: client, all: map[serviceID]*object{}, lacking: map[*resource.Kind]bool{}, denied: map[*resource.Kind][]string{}, omitted: map[omission][]readOmission{}}
	if r.o.Observed == nil {
		r.o.Observed = planner.Observed{}
	}
	if err := r.chooseProjects(); err != nil {
		return nil, err
	}
	root := &object{exported: true}
	if err := r.level(ctx, []*object{root}); err != nil {
		return nil, err
	}
	e := &Export{
		workspace: o.Workspace, baseURL: o.BaseURL, root: root, all: r.all, findings: r.findings, omitted: r.omitted,
		Counts: []Count{}, Skipped: []Count{}, Omitted: []Omission{},
	}
	r.tell(e)
	return e, e.compose()
}

// reader reads level by level: what is in the workspace, then what is in that, and so on.
type reader struct {
	o        Options
	client   *apiclient.Client
	exported map[*resource.Kind]bool // kinds that the manifests list
	named    map[*resource.Kind]bool // kinds that are read for the names of their things
	skipped  map[*resource.Kind]int  // costly kinds that are not read: requests that it would take
	all      map[serviceID]*object
	lacking  map[*resource.Kind]bool // this edition does not have them
	denied   map[*resource.Kind][]string
	omitted  map[omission][]readOmission
	findings diag.List
}

// list is one list that is read.
type list struct {
	kind *resource.Kind
	of   *object
	op   *resource.Operation
	path string
	side bool // what it answers is read beside the things: that it is not there says nothing of them

	rows   []resource.Row
	failed bool
}

// level reads what lives in the things, and goes on with that.
func (r *reader) level(ctx context.Context, parents []*object) error {
	var lists []*list
	for _, p := range parents {
		p.things, p.byID = map[*resource.Kind][]*object{}, map[serviceID]*object{}
		if p.exported {
			lists = append(lists, r.lists(p)...)
		}
	}
	if len(lists) == 0 {
		return nil
	}
	if err := r.read(ctx, lists); err != nil {
		return err
	}
	archived, err := r.archived(ctx, lists)
	if err != nil {
		return err
	}
	through, err := r.through(ctx, lists)
	if err != nil {
		return err
	}
	things := slices.DeleteFunc(slices.Concat(lists, archived, through), func(l *list) bool { return l.op.Verb == resource.Summary })
	var next []*object
	for _, l := range things {
		var pattern *regexp.Regexp
		if l.kind.Identifier != nil {
			pattern = regexp.MustCompile(l.kind.Identifier.Pattern)
		}
		for _, row := range l.rows {
			if id := row.ID(); !resource.IsID(id) {
				return fmt.Errorf("the service lists %s with the ID %.60q, which is no UUID: nothing was written", diag.A(l.kind.Noun()), id)
			}
			t := &object{kind: l.kind, row: l.kind.InZone(row, l.of.zone()), in: l.of, named: map[*resource.Field][]string{}}
			t.exported = r.exported[l.kind] && resource.IsID(row.ID())
			if r.exported[l.kind] && !t.exported {
				r.omit(l.kind.Noun(), "the service gives it no ID, or one that is no UUID", t.in.called(), 1)
			}
			t.identify(pattern)
			l.of.things[l.kind] = append(l.of.things[l.kind], t)
			l.of.byID[serviceID{l.kind, row.ID()}], r.all[serviceID{l.kind, row.ID()}] = t, t
		}
		if err := r.filter(l); err != nil {
			return err
		}
	}
	r.hidden(lists)
	for _, l := range things {
		if l.op.Verb != resource.ListArchived { // its things are among the others
			next = append(next, l.of.things[l.kind]...)
		}
	}
	if err := r.complete(ctx, next); err != nil {
		return err
	}
	for _, l := range things {
		if l.op.Verb == resource.ListArchived {
			continue
		}
		sorted(l.kind, l.of.things[l.kind])
		assignKeys(r.o.Workspace, l.of, l.kind)
	}
	if err := r.members(ctx, next); err != nil {
		return err
	}
	return r.level(ctx, next)
}

// lists are those of the things that live in a thing.
func (r *reader) lists(p *object) []*list {
	parent := ""
	if p.kind != nil {
		parent = p.kind.Name
	}
	var lists []*list
	for _, k := range resource.Kinds() {
		if k.Parent != parent || k.ViaSingleton != "" || r.lacking[k] {
			continue
		}
		if _, skipped := r.skipped[k]; skipped {
			r.skipped[k]++
		}
		through := slices.ContainsFunc(resource.Kinds(), func(o *resource.Kind) bool { return o.ViaSingleton == k.Name && r.named[o] })
		op, ok := k.Op(resource.List, resource.Full)
		if !ok && through { // of which a parent has one
			op, ok = k.Op(resource.Get, resource.Full)
		}
		if !ok || !r.exported[k] && !r.named[k] && !through {
			continue
		}
		path, _ := op.Expand(p.params(r.o.Workspace))
		lists = append(lists, &list{kind: k, of: p, op: op, path: path})
	}
	if p.kind != nil {
		if op, ok := p.kind.Op(resource.Summary, resource.Full); ok {
			path, _ := op.Expand(p.params(r.o.Workspace))
			lists = append(lists, &list{kind: p.kind, of: p, op: op, path: path, side: true})
		}
	}
	return lists
}

// counts is what the summary of a thing counts in it; nil = it has none.
func counts(lists []*list, of *object) map[string]int {
	for _, l := range lists {
		if l.op.Verb != resource.Summary || l.of != of || len(l.rows) == 0 {
			continue
		}
		shown, _ := l.rows[0]["counts"].(map[string]any)
		counts := make(map[string]int, len(shown))
		for name, n := range shown {
			if n, ok := n.(json.Number); ok {
				i, _ := n.Int64()
				counts[name] = int(i)
			}
		}
		return counts
	}
	return nil
}

// archived reads the lists of what is archived, as far as the summary does not rule that there is any.
func (r *reader) archived(ctx context.Context, lists []*list) ([]*list, error) {
	var archived []*list
	for _, l := range lists {
		op, ok := l.kind.Op(resource.ListArchived, resource.Full)
		if !ok || l.op.Verb != resource.List || !r.exported[l.kind] || l.failed {
			continue
		}
		if count, counted := counts(lists, l.of)[l.kind.CountedAs]; counted && count <= len(l.rows) {
			continue
		}
		path, _ := op.Expand(l.of.params(r.o.Workspace))
		archived = append(archived, &list{kind: l.kind, of: l.of, op: op, path: path, side: true})
	}
	return archived, r.read(ctx, archived)
}

// hidden notes what the summaries count and no list shows.
func (r *reader) hidden(lists []*list) {
	for _, l := range lists {
		if l.op.Verb != resource.Summary {
			continue
		}
		count := counts(lists, l.of)
		for _, k := range resource.Kinds() {
			n, counted := count[k.CountedAs]
			delete(count, k.CountedAs)
			listed := slices.ContainsFunc(lists, func(o *list) bool { return o.of == l.of && o.kind == k && o.op.Verb == resource.List && !o.failed })
			if shown := len(l.of.things[k]); counted && listed && n > shown {
				r.omit(k.Noun(), "archived, or a draft, which no list shows", l.of.called(), n-shown)
			}
		}
		if len(r.o.Only) > 0 {
			continue
		}
		for name, n := range count {
			if n > 0 {
				r.omit(strings.TrimSuffix(humanize(name), "s"), "a manifest cannot say it", l.of.called(), n)
			}
		}
	}
}

// through reads lists in whose path another thing of the parent stands.
func (r *reader) through(ctx context.Context, hosts []*list) ([]*list, error) {
	var lists []*list
	for _, h := range hosts {
		for _, k := range resource.Kinds() {
			op, ok := k.Op(resource.List, resource.Full)
			if !ok || k.ViaSingleton != h.kind.Name || !r.named[k] || len(h.rows) == 0 {
				continue
			}
			params := h.of.params(r.o.Workspace)
			params[h.kind.Param] = h.rows[0].ID()
			path, _ := op.Expand(params)
			lists = append(lists, &list{kind: k, of: h.of, op: op, path: path})
		}
	}
	return lists, r.read(ctx, lists)
}

// complete reads the things one by one of which the list shows no text, such as pages where it is left out.
func (r *reader) complete(ctx context.Context, things []*object) error {
	var lists []*list
	for _, t := range things {
		op, ok := t.kind.Op(resource.Get, resource.Full)
		if !ok || !t.exported || numbered(t.kind) || !t.abridged() {
			continue
		}
		path, _ := op.Expand(t.params(r.o.Workspace))
		lists = append(lists, &list{kind: t.kind, of: t, op: op, path: path})
	}
	if err := r.read(ctx, lists); err != nil {
		return err
	}
	for _, l := range lists {
		if len(l.rows) == 1 && l.rows[0].ID() == l.of.row.ID() {
			l.of.row = l.rows[0]
		}
	}
	return nil
}

// abridged reports whether a record lacks the text that a thing of its kind has.
func (t *object) abridged() bool {
	for i := range t.kind.Fields {
		f := &t.kind.Fields[i]
		if _, shown := t.row.Shown(f); f.Rich() && !f.WriteOnly && !shown {
			return true
		}
	}
	return false
}

// members reads who belongs to the things that are containers.
func (r *reader) members(ctx context.Context, things []*object) error {
	var lists []*list
	for _, m := range resource.Memberships() {
		op, ok := m.Op(resource.ListMembers, resource.Full)
		if !ok || !r.exported[resource.MustLookup(m.Membership.On)] {
			continue
		}
		for _, t := range things {
			switch {
			case t.kind.Name != m.Membership.Container || !r.member(m, t):
			case costly(m) && !asked(r.o.With, m):
				r.skipped[m]++
			default:
				params := t.params(r.o.Workspace)
				path, _ := op.Expand(params)
				lists = append(lists, &list{kind: m, of: t, op: op, path: path})
			}
		}
	}
	if err := r.read(ctx, lists); err != nil {
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
			if m.On == m.Container {
				l.of.named[field] = append(l.of.named[field], id)
				if value := r.attribute(m, row, id); value != "" {
					if l.of.attributes == nil {
						l.of.attributes = map[string]string{}
					}
					l.of.attributes[id] = value
				}
				continue
			}
			if at := l.of.in.find(resource.MustLookup(m.Member), id); at != nil {
				at.named[field] = append(at.named[field], l.of.row.ID())
			}
		}
	}
	return nil
}

// attribute is what a row of a member list says of the member. Where the service does
// not show it, one who has the least of it anywhere has no more there.
func (r *reader) attribute(m *resource.Membership, row resource.Row, id string) string {
	if m.Attribute == nil {
		return ""
	}
	if shown := m.Attribute.Shown(row); shown != "" {
		return shown
	}
	if t := r.all[serviceID{resource.MustLookup(m.Member), id}]; t != nil && m.Attribute.Shown(t.row) == m.Attribute.Values[0] {
		return m.Attribute.Values[0]
	}
	return ""
}

// member reports whether a container's members can show up in a manifest.
func (r *reader) member(m *resource.Kind, container *object) bool {
	if m.Membership.On == m.Membership.Container {
		return container.exported
	}
	return container.in.exported
}

// read makes the reads. What the credential may not read is reported, and the rest read.
func (r *reader) read(ctx context.Context, lists []*list) error {
	reads := make([]planner.Read, len(lists))
	for i, l := range lists {
		reads[i] = planner.Read{Operation: l.op, Path: l.path}
		if _, have := r.o.Observed[reads[i]]; !have {
			reads[i].Optional = true
		}
	}
	from := provider.Reader{Client: r.client, Observed: r.o.Observed, Answered: r.o.Answered}
	if r.o.Expect != nil {
		from.Expect = func(requests int) { r.o.Expect(requests, words(lists)) }
	}
	if err := from.Read(ctx, reads); err != nil {
		return err //nolint:wrapcheck // it says what was done
	}
	for i, l := range lists {
		a := r.o.Observed[reads[i]]
		l.rows, l.failed = a.Rows, a.Unsupported || a.NotFound || a.Forbidden
		for name, n := range a.Unread {
			r.omit(humanize(name)+" relation", "a manifest cannot say it", l.of.called(), n)
		}
		switch {
		case l.side:
		case a.Unsupported:
			r.lacking[l.kind] = true
		case a.Forbidden:
			r.denied[l.kind] = append(r.denied[l.kind], l.of.called())
		}
	}
	return nil
}

// omit notes that something of a thing is not exported.
func (r *reader) omit(what, why, where string, count int) {
	o := omission{what, why, true}
	r.omitted[o] = append(r.omitted[o], readOmission{where, count})
}

// readOmission is where something is left out, and how much of it.
type readOmission struct {
	where string
	count int
}

// tell says what was not read, and why.
func (r *reader) tell(e *Export) {
	var lacking []string
	for _, k := range resource.Kinds() {
		if r.lacking[k] && k.Section != "" {
			lacking = append(lacking, humanize(k.Section))
		}
		if where := r.denied[k]; len(where) > 0 {
			slices.Sort(where)
			e.Denied = true
			e.findings.Add(warning("permission", "the credential may not read the "+humanize(word(k))+" of "+firstFew(where)))
		}
		if n := r.skipped[k]; n > 0 {
			e.skip(word(k), n)
		}
	}
	if len(lacking) > 0 {
		e.findings.Add(warning("not-in-edition", "this edition of the service does not have "+strings.Join(lacking, ", ")))
	}
}

// words name what lists hold.
func words(lists []*list) string {
	var names []string
	for _, l := range lists {
		if name := humanize(word(l.kind)); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
