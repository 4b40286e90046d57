package planner

import (
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// nameKey is a name that stands for an object of the service.
type nameKey struct {
	kind   *kindInfo
	within int // state in which it is looked up; none = the workspace
	text   string
}

// lookUpNames finds the IDs of the objects of the service that fields name.
func (s *Snapshot) lookUpNames() {
	// Where something comes from may be nobody any more: such a name is left out. One that
	// is needed elsewhere too is looked up for that first.
	for _, s.optional = range []bool{false, true} {
		for _, n := range s.refs {
			if st := s.states[n.by].presence; st == invalid || st == unsupported || st == indeterminate || st == notFound || st == hidden || n.value.Field.CreateOnly() != s.optional {
				continue
			}
			for j := range n.value.Refs {
				if r := &n.value.Refs[j]; r.Target == nil && s.literal(n.field, r) == "" {
					s.lookUp(n.by, n.field.to, r)
				}
			}
		}
	}
}

// literal is what is sent for a reference to something of the service without a
// look: its ID, or a text that the API takes as it is; "" = it is a name.
func (s *Snapshot) literal(t *refField, r *resource.Reference) string {
	return t.field.Literal(s.in.API, r)
}

// NameOf is the name under which a reference is looked up.
func NameOf(o *resource.Object, field *resource.Field, r *resource.Reference) Name {
	n := Name{Kind: field.Ref, Text: r.Text}
	if k := resource.MustLookup(field.Ref); k.Parent != "" {
		if parent := o.Ancestor(k.Parent); parent != nil {
			n.Within = parent.Address
		}
	}
	return n
}

func (s *Snapshot) lookUp(i int, t *kindInfo, r *resource.Reference) {
	name := nameKey{t, s.within(i, t), r.Text}
	if _, done := s.found[name]; done {
		return
	}
	what := "the " + t.kind.Noun() + " \"" + r.Text + "\""
	if t.self != nil && r.Text == resource.Me {
		s.lookUpSelf(name, r)
		return
	}
	if t.find != nil && t.identifier != nil && t.identifier.MatchString(r.Text) {
		s.findByIdentifier(name, r) // wherever it is
		return
	}
	if name.within != none {
		switch parent := s.in.Desired[name.within]; s.states[name.within].presence {
		case pending, invalid, unsupported, indeterminate, notFound, hidden:
			return
		case absent:
			switch s.offered(t) {
			case pending:
				return
			case unsupported:
				s.noteUnsupported(name)
				return
			case exists, absent, indeterminate, invalid, notFound, hidden:
			}
			if t.hasDefault(r.Text) {
				s.found[name] = "" // its ID is looked up during the run
				return
			}
			hint := ""
			if t.kind.Section != "" {
				hint = "add it to the " + plural(t.kind) + " of " + string(parent.Address)
			}
			s.unresolved(name, r, what+" is not there: "+string(parent.Address)+" does not exist yet", hint)
			return
		case exists:
		}
	}
	if t.kind.AdoptOnRequestOnly { // several may bear one name, by right
		s.unresolved(name, r, what+" is neither in the manifest nor an ID or identifier", "write the key of one in the manifest, its identifier, or its ID")
		return
	}
	switch l, st := s.list(t, name.within); st {
	case exists:
		s.matchName(name, r, l)
	case unsupported:
		s.noteUnsupported(name)
	case invalid:
		if t.list == nil {
			s.unresolved(name, r, what+" cannot be looked up with the documented operations", s.in.namesNeed("give its ID"))
		}
	case notFound:
		s.noteNotFound(name, l.why)
	case pending, absent, indeterminate, hidden:
	}
}

// lookUpSelf asks who the credential belongs to.
func (s *Snapshot) lookUpSelf(name nameKey, r *resource.Reference) {
	path, _ := name.kind.self.Expand(nil)
	a, answered := s.ask(Read{Operation: name.kind.self, Path: path})
	switch {
	case !answered:
	case a.Unsupported, a.NotFound, len(a.Rows) == 0:
		s.unresolved(name, r, "\""+r.Text+"\" cannot be resolved: the service does not say who you are", "give an e-mail address or an ID")
	default:
		s.resolved(name, a.Rows[0].ID())
	}
}

// noteUnsupported notes a name of a kind that this edition of the service does not have.
func (s *Snapshot) noteUnsupported(name nameKey) {
	s.found[name] = ""
	if s.unsupportedNames == nil {
		s.unsupportedNames = map[nameKey]bool{}
	}
	s.unsupportedNames[name] = true
}

// noteNotFound notes an identifier that nothing bears which the service shows.
func (s *Snapshot) noteNotFound(name nameKey, why string) {
	s.found[name] = ""
	if s.notFoundNames == nil {
		s.notFoundNames = map[nameKey]string{}
	}
	s.notFoundNames[name] = why
}

// findByIdentifier looks up a readable identifier such as WEB-12.
func (s *Snapshot) findByIdentifier(name nameKey, r *resource.Reference) {
	path, _ := name.kind.find.Expand(map[string]string{"workspace_slug": s.in.Workspace, "identifier": r.Text})
	a, answered := s.ask(Read{Operation: name.kind.find, Path: path})
	switch {
	case !answered:
	case a.Unsupported:
		s.unresolved(name, r, "this edition of the service cannot look up "+r.Text, "give its ID")
	case a.NotFound || len(a.Rows) == 0:
		s.noteNotFound(name, "the service shows no "+name.kind.kind.Noun()+" "+r.Text+": it was deleted or archived, or is a draft, or the identifier is wrong")
	default:
		s.resolved(name, a.Rows[0].ID())
	}
}

// matchName finds the one record that bears the name: in the letters as written, else in any case.
func (s *Snapshot) matchName(name nameKey, r *resource.Reference, l *listing) {
	k := name.kind.kind
	text := strings.TrimSpace(r.Text)
	exact, fold := l.names(k)
	hits := exact[text]
	if len(hits) == 0 {
		hits = fold[strings.ToLower(text)]
	}
	where, lists := "", "the manifest"
	if name.within != none {
		lists = string(s.in.Desired[name.within].Address)
		where = " in " + lists
	}
	switch len(hits) {
	case 0:
		hint := ""
		if len(s.diags) < diag.Most { // each looks at all that there is
			hint = choices(r.Text, name.kind, l, lists)
		}
		s.unresolved(name, r, "the service has no "+k.Noun()+" \""+r.Text+"\""+where, hint)
	case 1:
		s.resolved(name, hits[0].ID())
	default:
		s.unresolved(name, r, "the "+k.Noun()+" \""+r.Text+"\" is ambiguous"+where+": "+s.enumerate(k, name.within, hits)+" all have this name", "give the ID of the right one")
	}
}

// choices says what a name that stands for nothing may have been meant to be, and what else can be done.
func choices(text string, t *kindInfo, l *listing, lists string) string {
	var first, all []string // people have several names: one each is listed
	for _, row := range l.rows {
		if names := displayTexts(t.kind, row); len(names) > 0 {
			first, all = append(first, names[0]), append(all, names...)
		}
	}
	if typo := diag.Typo(text, all); len(typo) > 0 {
		return diag.Choose(text, all)
	}
	if there := diag.Choose(text, first); there != "" {
		return there + "; " + wayOut(t, lists)
	}
	return wayOut(t, lists)
}

// wayOut says what to do about a name that nothing resembles.
func wayOut(t *kindInfo, lists string) string {
	if t.kind.Section == "" || t.create == nil {
		return madeFirst
	}
	return "add it to the " + plural(t.kind) + " of " + lists + ", or give the ID of an existing one"
}

func (s *Snapshot) resolved(name nameKey, id string) {
	s.found[name] = id
	n := Name{Kind: name.kind.kind.Name, Text: name.text}
	if name.within != none {
		n.Within = s.in.Desired[name.within].Address
	}
	s.names[n] = id
}

// unresolved reports a name once, at the first place that uses it.
func (s *Snapshot) unresolved(name nameKey, r *resource.Reference, summary, hint string) {
	s.found[name] = ""
	d := diag.Diagnostic{Code: "unknown-name", Position: r.Position, Summary: summary, Hint: hint}
	if s.optional {
		d.Severity, d.Summary, d.Hint = diag.Warning, d.Summary+"; the field is left out", ""
	}
	s.diags.Add(d)
}

// target is what a reference names: an object of the manifest (its state), or one
// of the service (none, and its ID). ok is false while that is not known.
func (s *Snapshot) target(i int, t *refField, r *resource.Reference) (at int, id string, ok bool) {
	if r.Target != nil {
		at, ok = s.index[r.Target]
		if !ok {
			return none, "", false
		}
		return at, s.states[at].id, true
	}
	if id = s.literal(t, r); id == "" {
		id = s.found[nameKey{t.to, s.within(i, t.to), r.Text}]
	}
	if at, ok = s.owners[serviceID{t.to.kind.Name, id}]; ok {
		return at, id, true // it is in the manifest under another name
	}
	return none, id, id != ""
}

// resolve is the service's ID of a reference, as far as it is known before the run.
func (s *Snapshot) resolve(i int) resource.IDResolver {
	return func(field *resource.Field, r *resource.Reference) (string, bool) {
		at, id, ok := s.target(i, s.states[i].info.ref(field), r)
		return id, ok && (at == none || s.states[at].presence == exists || s.states[at].presence == hidden && id != "")
	}
}

// readNames reads the lists of the workspace, such as its members, in which the names of
// what the plan would show by an ID stand.
func (s *Snapshot) readNames() {
	if len(s.reads) > 0 {
		return // it is not clear yet what the plan shows
	}
	for _, d := range s.removals {
		for _, id := range d.ids {
			s.readName(s.kinds[resource.MustLookup(d.kind.Membership.Member)], id)
		}
	}
	for _, n := range s.refs {
		f := &s.states[n.by]
		if n.field.to.list == nil || n.field.to.parent != nil || n.field.via != nil || f.presence != exists || n.value.Field.Virtual {
			continue
		}
		if c, _, differs := s.compare(n.value, f, s.resolve(n.by)); differs && c.Before != nil {
			for id := range strings.SplitSeq(*c.Before, ", ") {
				s.readName(n.field.to, id)
			}
		}
	}
}

// readName reads the list in which the name of an ID stands. Without the right to read it the ID is shown.
func (s *Snapshot) readName(t *kindInfo, id string) {
	if t.list == nil || t.parent != nil || !resource.IsID(id) || s.nameID(t.kind.Name, id) != id {
		return
	}
	read := Read{Operation: t.list, Path: s.listPath(t, none), Fields: t.fields}
	if _, have := s.in.Observed[read]; !have {
		read.Optional = true
		s.ask(read)
	}
}

// nameIDs shows a canonical reference or set by the addresses of the manifest's objects and the names that were looked up.
func (s *Snapshot) nameIDs(v *resource.Value, canonical string) string {
	if !v.Field.IsRef() || canonical == "" {
		return canonical
	}
	ids := strings.Split(canonical, ",")
	for i, id := range ids {
		ids[i] = s.nameID(v.Field.Ref, id)
	}
	return strings.Join(ids, ", ")
}

// nameID is the name of an ID, or the ID itself where none is known.
func (s *Snapshot) nameID(kind, id string) string {
	if at, ok := s.owners[serviceID{kind, id}]; ok {
		return string(s.in.Desired[at].Address)
	}
	if s.displayNames == nil {
		s.displayNames = map[serviceID]string{}
		for r, a := range s.in.Observed {
			t := s.kinds[resource.MustLookup(r.Operation.Kind)]
			if !t.referenced {
				continue
			}
			for _, row := range a.Rows {
				n := serviceID{t.kind.Name, row.ID()}
				texts := displayTexts(t.kind, row)
				if len(texts) == 0 {
					continue
				}
				// Answers may differ, and come in any order: the least text is the one.
				if have, ok := s.displayNames[n]; !ok || texts[0] < have {
					s.displayNames[n] = texts[0]
				}
			}
		}
		// What no answer names may be something that the manifest does not have any more.
		for _, address := range slices.Sorted(maps.Keys(s.in.Prior)) {
			if n := (serviceID{address.Kind(), s.in.Prior[address].ID}); address.IsObject() && s.displayNames[n] == "" {
				s.displayNames[n] = string(address)
			}
		}
	}
	if text, ok := s.displayNames[serviceID{kind, id}]; ok {
		return text
	}
	return id
}
