package export

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Options say what is read.
type Options struct {
	Workspace string
	Projects  []string         // identifiers, names or IDs; empty = all
	Only      []string         // sections, such as work_items; empty = all
	With      []string         // what takes one request for each work item, such as links
	Observed  planner.Observed // answers that are there already
	// Expect is told how many lists are read next, and of what; Answered after each of them. Nil = nobody is.
	Expect   func(lists int, what string)
	Answered func()
}

// readers is how many reads are under way at once; the service answers no faster with more.
const readers = 4

// Unreadable is the error of an API that cannot list what a workspace holds.
type Unreadable struct{ API resource.API }

// Error says what is missing.
func (e *Unreadable) Error() string {
	return "the " + e.API.String() + " operations cannot list what a workspace holds"
}

// Read reads what the workspace holds, with the wider API.
func Read(ctx context.Context, client *apiclient.Client, o Options) (*Export, error) {
	r := &reader{o: o, client: client, all: map[serviceID]*thing{}, lacking: map[*resource.Kind]bool{}, denied: map[*resource.Kind][]string{}}
	if err := r.choose(); err != nil {
		return nil, err
	}
	root := &thing{exported: true}
	if err := r.level(ctx, []*thing{root}); err != nil {
		return nil, err
	}
	e := &Export{workspace: o.Workspace, root: root, all: r.all, findings: r.findings, Counts: []Count{}, Skipped: []Count{}}
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
	all      map[serviceID]*thing
	lacking  map[*resource.Kind]bool // this edition does not have them
	denied   map[*resource.Kind][]string
	findings diag.List
}

// asked reports whether a word of the user means the kind.
func asked(words []string, k *resource.Kind) bool {
	names := []string{k.Name, k.Section}
	if m := k.Membership; m != nil {
		f, _ := resource.Must(m.On).Field(m.Field)
		names = append(names, m.Field, f.Group)
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return w != "" && slices.Contains(names, strings.ReplaceAll(strings.ToLower(w), "-", "_"))
	})
}

// costly reports whether reading things or members of the kind takes a request for each work item.
func costly(k *resource.Kind) bool {
	if m := k.Membership; m != nil {
		return numbered(resource.Must(m.Container))
	}
	return k.Parent != "" && numbered(resource.Must(k.Parent))
}

// readable reports whether the kind can be exported.
func readable(k *resource.Kind) bool {
	if k.Membership != nil {
		_, ok := k.Op(resource.ListMembers, resource.Full)
		return ok
	}
	_, ok := k.Op(resource.List, resource.Full)
	return ok && k.Section != ""
}

// choose decides which kinds are read.
func (r *reader) choose() error {
	r.exported, r.named, r.skipped = map[*resource.Kind]bool{}, map[*resource.Kind]bool{}, map[*resource.Kind]int{}
	for _, word := range r.o.With {
		if !slices.ContainsFunc(resource.Kinds(), func(k *resource.Kind) bool { return readable(k) && costly(k) && asked([]string{word}, k) }) {
			return unknownWord("--with", word, Costly())
		}
	}
	for _, word := range r.o.Only {
		if !slices.ContainsFunc(resource.Kinds(), func(k *resource.Kind) bool { return readable(k) && k.Membership == nil && asked([]string{word}, k) }) {
			return unknownWord("--only", word, Sections())
		}
	}
	for _, k := range resource.Kinds() {
		switch {
		case k.Membership != nil || !readable(k) || len(r.o.Only) > 0 && !asked(r.o.Only, k):
		case costly(k) && !asked(r.o.With, k) && !asked(r.o.Only, k):
			r.skipped[k] = 0
		default:
			for ; ; k = resource.Must(k.Parent) {
				r.exported[k] = true
				if k.Parent == "" {
					break
				}
			}
		}
	}
	for k := range r.exported {
		for i := range k.Fields {
			if f := &k.Fields[i]; f.IsRef() && !f.Unread {
				if to := resource.Must(f.Ref); !numbered(to) {
					r.named[to] = true
				}
			}
		}
	}
	return nil
}

// Sections lists what can be exported.
func Sections() []string {
	var words []string
	for _, k := range resource.Kinds() {
		if k.Membership == nil && readable(k) {
			words = append(words, k.Section)
		}
	}
	return words
}

// Costly lists what is read only if it is asked for.
func Costly() []string {
	var words []string
	for _, k := range resource.Kinds() {
		if readable(k) && costly(k) {
			words = append(words, word(k))
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// word is what people call what a kind holds.
func word(k *resource.Kind) string {
	if m := k.Membership; m != nil {
		f, _ := resource.Must(m.On).Field(m.Field)
		switch {
		case f.Group != "":
			return f.Group
		case m.On == m.Member: // the containers are what people think of
			return word(resource.Must(m.Container))
		default:
			return m.Field
		}
	}
	if k.Section == "" {
		return k.Name + "s"
	}
	return k.Section
}

// WordError is a word on the command line that means nothing.
type WordError struct{ Flag, Word, Hint string }

// Error names flag and word.
func (e *WordError) Error() string { return e.Flag + " " + e.Word + " means nothing" }

func unknownWord(flag, word string, words []string) error {
	return &WordError{flag, word, diag.OneOf(word, words)}
}

// list is one list that is read.
type list struct {
	kind *resource.Kind
	of   *thing
	op   *resource.Operation
	path string

	rows []resource.Row
}

// level reads what lives in the things, and goes on with that.
func (r *reader) level(ctx context.Context, parents []*thing) error {
	var lists []*list
	for _, p := range parents {
		p.things, p.byID = map[*resource.Kind][]*thing{}, map[serviceID]*thing{}
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
	through, err := r.through(ctx, lists)
	if err != nil {
		return err
	}
	var next []*thing
	for _, l := range append(lists, through...) {
		var pattern *regexp.Regexp
		if l.kind.Identifier != nil {
			pattern = regexp.MustCompile(l.kind.Identifier.Pattern)
		}
		for _, row := range l.rows {
			t := &thing{kind: l.kind, row: row, in: l.of, named: map[*resource.Field][]string{}}
			t.exported = r.exported[l.kind] && row.ID() != ""
			t.identify(pattern)
			l.of.things[l.kind] = append(l.of.things[l.kind], t)
			l.of.byID[serviceID{l.kind, row.ID()}], r.all[serviceID{l.kind, row.ID()}] = t, t
		}
		if err := r.narrow(l); err != nil {
			return err
		}
		next = append(next, l.of.things[l.kind]...)
	}
	if err := r.complete(ctx, next); err != nil {
		return err
	}
	for _, l := range append(lists, through...) {
		sorted(l.kind, l.of.things[l.kind])
		callThem(r.o.Workspace, l.of, l.kind)
	}
	if err := r.members(ctx, next); err != nil {
		return err
	}
	return r.level(ctx, next)
}

// lists are those of the things that live in a thing.
func (r *reader) lists(p *thing) []*list {
	parent := ""
	if p.kind != nil {
		parent = p.kind.Name
	}
	var lists []*list
	for _, k := range resource.Kinds() {
		if k.Parent != parent || k.Through != "" || r.lacking[k] {
			continue
		}
		if _, skipped := r.skipped[k]; skipped {
			r.skipped[k]++
		}
		through := slices.ContainsFunc(resource.Kinds(), func(o *resource.Kind) bool { return o.Through == k.Name && r.named[o] })
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
	return lists
}

// through reads lists in whose path another thing of the parent stands.
func (r *reader) through(ctx context.Context, hosts []*list) ([]*list, error) {
	var lists []*list
	for _, h := range hosts {
		for _, k := range resource.Kinds() {
			op, ok := k.Op(resource.List, resource.Full)
			if !ok || k.Through != h.kind.Name || !r.named[k] || len(h.rows) == 0 {
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
func (r *reader) complete(ctx context.Context, things []*thing) error {
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
func (t *thing) abridged() bool {
	for i := range t.kind.Fields {
		f := &t.kind.Fields[i]
		if _, shown := t.row.Shown(f); f.Rich() && !f.Unread && !shown {
			return true
		}
	}
	return false
}

// members reads who belongs to the things that are containers.
func (r *reader) members(ctx context.Context, things []*thing) error {
	var lists []*list
	for _, m := range resource.Memberships() {
		op, ok := m.Op(resource.ListMembers, resource.Full)
		if !ok || !r.exported[resource.Must(m.Membership.On)] {
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
		field, _ := resource.Must(m.On).Field(m.Field)
		for _, row := range l.rows {
			id := m.MemberID(row)
			if id == "" {
				continue
			}
			if m.On == m.Container {
				l.of.named[field] = append(l.of.named[field], id)
				continue
			}
			if at := l.of.in.find(resource.Must(m.Member), id); at != nil {
				at.named[field] = append(at.named[field], l.of.row.ID())
			}
		}
	}
	return nil
}

// member reports whether a container's members can show up in a manifest.
func (r *reader) member(m *resource.Kind, container *thing) bool {
	if m.Membership.On == m.Membership.Container {
		return container.exported
	}
	return container.in.exported
}

// read makes the reads. Lists that share a path, such as those of the relations of an item, are read once.
func (r *reader) read(ctx context.Context, lists []*list) error {
	type group struct{ lists []*list }
	byPath := map[string]*group{}
	var groups []*group
	for _, l := range lists {
		key := l.op.Method + " " + l.path
		if byPath[key] == nil {
			byPath[key] = &group{}
			groups = append(groups, byPath[key])
		}
		byPath[key].lists = append(byPath[key].lists, l)
	}
	if r.o.Expect != nil && len(groups) > 0 {
		r.o.Expect(len(groups), words(lists))
	}
	errs := make([]error, len(groups))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for i, group := range groups {
		g.Go(func() error {
			errs[i] = r.ask(ctx, group.lists)
			if r.o.Answered != nil {
				r.o.Answered()
			}
			if e := errs[i]; e != nil && !errors.Is(e, apiclient.ErrForbidden) && !errors.Is(e, apiclient.ErrNotFound) && !errors.Is(e, apiclient.ErrRouteAbsent) {
				return e
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("reading what the service holds: %w", err)
	}
	for i, group := range groups {
		for _, l := range group.lists {
			switch {
			case errors.Is(errs[i], apiclient.ErrRouteAbsent):
				r.lacking[l.kind] = true
			case errors.Is(errs[i], apiclient.ErrForbidden):
				r.denied[l.kind] = append(r.denied[l.kind], l.of.called())
			}
		}
	}
	return nil
}

// words name what lists hold.
func words(lists []*list) string {
	var names []string
	for _, l := range lists {
		if name := spoken(word(l.kind)); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// called names a thing in a sentence.
func (t *thing) called() string {
	if t.kind == nil {
		return "the workspace"
	}
	return t.name()
}

// ask makes one read.
func (r *reader) ask(ctx context.Context, lists []*list) error {
	first := lists[0]
	if a, ok := r.o.Observed[planner.Read{Operation: first.op, Path: first.path}]; ok {
		first.rows = a.Rows
		return nil
	}
	rows, err := r.client.Read(ctx, first.op, first.path, nil)
	for _, l := range lists {
		if m := l.kind.Membership; m == nil || m.Under == "" {
			l.rows = rows
		} else if len(rows) > 0 { // one object of several lists
			under, _ := rows[0][m.Under].([]any)
			for _, row := range under {
				if row, ok := row.(map[string]any); ok {
					l.rows = append(l.rows, row)
				}
			}
		}
	}
	return err //nolint:wrapcheck // wrapped by read
}

// narrow leaves out what the user did not ask for and what is archived.
func (r *reader) narrow(l *list) error {
	things := l.of.things[l.kind]
	wanted := map[*thing]bool{}
	if l.kind.Name == "project" {
		for _, name := range r.o.Projects {
			t, err := pick(things, name)
			if err != nil {
				return err
			}
			wanted[t] = true
		}
	}
	var archived []string
	for _, t := range things {
		switch {
		case len(wanted) > 0 && !wanted[t]:
			t.exported = false
		case t.exported && t.archived():
			t.exported = false
			archived = append(archived, t.name())
		}
	}
	if len(archived) > 0 {
		slices.Sort(archived)
		r.findings.Add(warning("archived", diag.Count(len(archived), l.kind.Noun())+" left out, being archived: "+some(archived)))
	}
	return nil
}

// ProjectError is a project on the command line that is not there, or not clear.
type ProjectError struct{ Text, Hint string }

// Error says what is wrong.
func (e *ProjectError) Error() string { return e.Text }

// pick finds the project that the user means: by identifier or ID, else by name.
func pick(projects []*thing, name string) (*thing, error) {
	by := func(fits func(t *thing) bool) (hits []*thing) {
		for _, t := range projects {
			if fits(t) {
				hits = append(hits, t)
			}
		}
		return hits
	}
	var names []string
	for _, t := range projects {
		code, _ := t.row["identifier"].(string)
		names = append(names, code, t.text("name"))
	}
	code := func(t *thing) string { s, _ := t.row["identifier"].(string); return s }
	hits := by(func(t *thing) bool { return strings.EqualFold(code(t), name) || t.row.ID() == resource.NormalID(name) })
	if len(hits) == 0 {
		hits = by(func(t *thing) bool { return strings.EqualFold(t.text("name"), strings.TrimSpace(name)) })
	}
	switch {
	case len(hits) == 0:
		return nil, &ProjectError{"the service has no project " + name, diag.DidYouMean(name, names)}
	case len(hits) > 1:
		return nil, &ProjectError{fmt.Sprintf("%d projects are called %s", len(hits), name), "give the identifier of the right one"}
	case hits[0].archived():
		return nil, &ProjectError{"the project " + name + " is archived, and the service shows nothing of what is in it", "restore it on the service first"}
	}
	return hits[0], nil
}

// tell says what was not read, and why.
func (r *reader) tell(e *Export) {
	var lacking []string
	for _, k := range resource.Kinds() {
		if r.lacking[k] && k.Section != "" {
			lacking = append(lacking, spoken(k.Section))
		}
		if where := r.denied[k]; len(where) > 0 {
			slices.Sort(where)
			e.Denied = true
			e.findings.Add(warning("permission", "the credential may not read the "+spoken(word(k))+" of "+some(where)))
		}
		if n := r.skipped[k]; n > 0 {
			e.skip(word(k), n)
		}
	}
	if len(lacking) > 0 {
		e.findings.Add(warning("not-in-edition", "this edition of the service does not have "+strings.Join(lacking, ", ")))
	}
}

func warning(code, summary string) diag.Diagnostic {
	return diag.Diagnostic{Severity: diag.Warning, Code: code, Summary: summary}
}

// some names the first few of many.
func some(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func spoken(name string) string { return strings.ReplaceAll(name, "_", " ") }
