package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/graph"
	"github.com/planform/planform/internal/resource"
)

// references says what the fields that name objects stand for.
type references struct {
	round

	names      map[nameKey]nameResult
	idsForPlan map[Name]string
	optional   bool // the names that are looked up are those of fields that can be left out
	// Made when first needed:
	displayNames map[serviceID]string        // names by ID
	codes        map[resource.Address]string // readable identifiers of what the state's objects lived in
}

// resolve looks up the names of objects that the manifest does not list.
func resolve(matched *matches) *references {
	s := &references{
		round: matched.round,
		names: map[nameKey]nameResult{}, idsForPlan: map[Name]string{},
	}
	s.resolveNames()
	s.findParentCycles()
	return s
}

// nameKey is a name that stands for an object of the service.
type nameKey struct {
	kind   *kindInfo
	within int // state in which it is looked up; none = the workspace
	text   string
}

// nameResult is what looking for a name brought.
type nameResult struct {
	id          string // "" = reported, or found during the run only
	unsupported bool   // this edition does not have the kind
	notFound    string // why no object of the service has the identifier
}

// suggestions are similar names, or what else can be done about an unknown name.
func suggestions(text string, t *kindInfo, l *listing, lists string) string {
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
		return there + "; " + howToAdd(t, lists)
	}
	return howToAdd(t, lists)
}

func howToAdd(t *kindInfo, lists string) string {
	if t.kind.Section == "" || t.create == nil {
		return cmp.Or(t.kind.WhereMade, createFirst)
	}
	return "add it to the " + plural(t.kind) + " of " + lists + ", or give the ID of an existing one"
}

// resolveNames finds the IDs of the objects of the service that fields name.
func (s *references) resolveNames() {
	// A field of an imported past, such as an author, is left out if its name is unknown. A
	// name that another field needs is an error there, so those come first.
	for _, s.optional = range []bool{false, true} {
		for _, n := range s.objects.uses {
			if p := s.objects.states[n.by].presence; p != pending && !p.decided() || n.value.Field.Past != s.optional {
				continue
			}
			for j := range n.value.Refs {
				if r := &n.value.Refs[j]; r.Target == nil && n.field.field.Literal(s.in.API, r) == "" {
					s.resolveName(n.by, n.field.to, r)
				}
			}
		}
	}
}

func (s *references) resolveName(i int, t *kindInfo, r *resource.Reference) {
	name := nameKey{t, s.objects.within(i, t), r.Text}
	if _, done := s.names[name]; done {
		return
	}
	what := "the " + t.kind.Noun() + " \"" + r.Text + "\""
	if t.self != nil && r.Text == resource.Me {
		s.resolveSelf(i, name, r)
		return
	}
	if t.find != nil && t.kind.IsIdentifier(r.Text) {
		s.resolveIdentifier(i, name, r) // wherever it is
		return
	}
	if name.within != noObject {
		parent := string(s.in.Desired[name.within].Address)
		switch p := s.objects.states[name.within].presence; {
		case !p.decided(), p == absent && s.snapshot.kindPresence(t) == pending:
			return
		case p == absent && s.snapshot.kindPresence(t) == unsupported:
			s.names[name] = nameResult{unsupported: true}
			return
		case p == absent && t.hasDefault(r.Text):
			s.names[name] = nameResult{} // its ID is looked up during the run
			return
		case p == absent:
			hint := ""
			if t.kind.Section != "" {
				hint = "add it to the " + plural(t.kind) + " of " + parent
			}
			s.reportUnresolved(i, name, r, what+" is not there: "+parent+" does not exist yet", hint)
			return
		}
	}
	if t.kind.AdoptOnRequestOnly { // several may bear one name, by right
		s.reportUnresolved(i, name, r, what+" is neither in the manifest nor an ID or identifier", "write the key of one in the manifest, its identifier, or its ID")
		return
	}
	switch l, st := s.snapshot.list(t, name.within); st {
	case exists:
		s.matchByName(i, name, r, l)
	case unsupported:
		s.names[name] = nameResult{unsupported: true}
	case invalid:
		if t.list == nil {
			s.reportUnresolved(i, name, r, what+" cannot be looked up with the documented operations", s.in.namesNeed("give its ID"))
		}
	case notFound:
		s.names[name] = nameResult{notFound: l.why}
	case pending, absent, indeterminate, hidden:
	}
}

func (s *references) resolveSelf(i int, name nameKey, r *resource.Reference) {
	a, answered := s.service.askAt(name.kind.self, nil)
	switch {
	case !answered:
	case a.Unsupported, a.NotFound, len(a.Rows) == 0:
		s.reportUnresolved(i, name, r, "\""+r.Text+"\" cannot be resolved: the service does not say who you are", "give an e-mail address or an ID")
	default:
		s.recordID(name, a.Rows[0].ID())
	}
}

// resolveIdentifier looks up a readable identifier such as WEB-12.
func (s *references) resolveIdentifier(i int, name nameKey, r *resource.Reference) {
	path, _ := name.kind.find.Expand(map[string]string{"workspace_slug": s.in.Workspace, "identifier": r.Text})
	a, answered := s.service.askOptional(Read{Operation: name.kind.find, Path: path})
	switch {
	case !answered:
	case a.Unsupported:
		s.reportUnresolved(i, name, r, "this edition of the service cannot look up "+r.Text, "give its ID")
	case a.NotFound || len(a.Rows) == 0:
		s.names[name] = nameResult{notFound: "the service shows no " + name.kind.kind.Noun() + " " + r.Text + ": " + whyNotShown}
	default:
		s.recordID(name, a.Rows[0].ID())
	}
}

// matchByName finds the one record that bears the name: in the letters as written, else in any case.
func (s *references) matchByName(i int, name nameKey, r *resource.Reference, l *listing) {
	k := name.kind.kind
	text := strings.TrimSpace(r.Text)
	hits := l.byName(k, false)[text]
	if len(hits) == 0 {
		hits = l.byName(k, true)[strings.ToLower(text)]
	}
	where, lists := "", "the manifest"
	if name.within != noObject {
		lists = string(s.in.Desired[name.within].Address)
		where = " in " + lists
	}
	switch len(hits) {
	case 0:
		hint := ""
		if len(s.diags.List) < diag.MaxShown { // each looks at all that there is
			hint = suggestions(r.Text, name.kind, l, lists)
		}
		s.reportUnresolved(i, name, r, "the service has no "+k.Noun()+" \""+r.Text+"\""+where, hint)
	case 1:
		s.recordID(name, hits[0].ID())
	default:
		s.reportUnresolved(i, name, r, "the "+k.Noun()+" \""+r.Text+"\" is ambiguous"+where+": "+s.objects.enumerate(k, name.within, hits)+" all have this name", "give the ID of the right one")
	}
}

func (s *references) recordID(name nameKey, id string) {
	s.names[name] = nameResult{id: id}
	n := Name{Kind: name.kind.kind.Name, Text: name.text}
	if name.within != noObject {
		n.Within = s.in.Desired[name.within].Address
	}
	s.idsForPlan[n] = id
}

// reportUnresolved reports a name once, at the first place that uses it.
func (s *references) reportUnresolved(i int, name nameKey, r *resource.Reference, summary, hint string) {
	s.names[name] = nameResult{}
	d := diag.Diagnostic{Code: "unknown-name", Position: r.Position, Address: string(s.in.Desired[i].Address), Summary: summary, Hint: hint}
	if s.optional {
		d.Severity, d.Summary, d.Hint = diag.Warning, d.Summary+"; the field is left out", ""
	}
	s.diags.Add(d)
}

// target is what a reference names: an object of the manifest (its state), or one
// of the service (none, and its ID). ok is false while that is not known.
func (s *references) target(i int, t *refField, r *resource.Reference) (at int, id string, ok bool) {
	if r.Target != nil {
		at, ok = s.objects.index[r.Target]
		if !ok {
			return noObject, "", false
		}
		return at, s.objects.states[at].id, true
	}
	if id = t.field.Literal(s.in.API, r); id == "" {
		id = s.names[nameKey{t.to, s.objects.within(i, t.to), r.Text}].id
	}
	if at, ok = s.objects.owners[serviceID{t.to.kind.Name, id}]; ok {
		return at, id, true // it is in the manifest under another name
	}
	return noObject, id, id != ""
}

// idResolver is the service's ID of a reference, as far as it is known before the run.
func (s *references) idResolver(i int) resource.IDResolver {
	return func(field *resource.Field, r *resource.Reference) (string, bool) {
		if field.Rich() {
			page := cmp.Or(r.ID, s.page(r.Target))
			return page, page != ""
		}
		at, id, ok := s.target(i, s.objects.states[i].info.ref(field), r)
		return id, ok && (at == noObject || s.objects.states[at].presence == exists || s.objects.states[at].presence == hidden && id != "")
	}
}

// page is the address of an object's page in the web app, or "" while it has none.
func (s *references) page(o *resource.Object) string {
	return o.Kind.Page(s.in.WebURL, s.pathParams(o))
}

// addPages notes where people find what the steps are about. New objects are nowhere yet.
func (s *references) addPages(steps []*Step) {
	for _, step := range steps {
		if step.Action == Create {
			continue
		}
		kind, params := step.Kind, step.Params
		if step.Object != nil {
			params = s.pathParams(step.Object)
		}
		if m := step.Members; m != nil {
			kind, params = resource.MustLookup(kind.Membership.Container), s.pathParams(cmp.Or(m.Container.Object, m.Container.Within))
			params[kind.Param] = m.Container.ID
		}
		for ; kind != nil && step.Page == ""; kind, _ = resource.Lookup(kind.Parent) {
			step.Page = kind.Page("", params)
		}
	}
}

// pathParams are the IDs of an object and of what it lives in, as far as they are known.
func (s *references) pathParams(o *resource.Object) map[string]string {
	params := map[string]string{"workspace_slug": s.in.Workspace}
	for at := o; at != nil; at = at.Parent {
		id := s.in.Prior[at.Address].ID
		if i, wanted := s.objects.indexOf(at.Address); wanted {
			if id = s.objects.states[i].id; s.objects.states[i].presence == absent {
				id = ""
			}
		}
		params[at.Kind.Param] = id
	}
	return params
}

// standsForAddress begins a link to an address where markup takes no other scheme than those of the web.
const standsForAddress = "https://planform/"

// nameLinks gives the links of a canonical text, and of the wanted one, the addresses that they name.
func (s *references) nameLinks(v *resource.Value, have, want string) (string, string) {
	if len(v.Links) == 0 {
		return have, want
	}
	want, _ = v.Desired(func(_ *resource.Field, r *resource.Reference) (string, bool) { return standsForAddress + r.Text, true })
	for i := range v.Links {
		if page := cmp.Or(v.Links[i].ID, s.page(v.Links[i].Target)); page != "" {
			have = strings.ReplaceAll(have, `href="`+page+`"`, `href="`+standsForAddress+v.Links[i].Text+`"`)
		}
	}
	return have, want
}

// nameIDs shows a canonical reference or set by the addresses of the manifest's objects, as the value writes them, or by the names that
// were looked up, a line each.
func (s *references) nameIDs(v *resource.Value, canonical string, resolve resource.IDResolver) string {
	if !v.Field.IsRef() || canonical == "" {
		return canonical
	}
	ids := strings.Split(canonical, ",")
	for i, id := range ids {
		ids[i] = s.nameID(v.Field.Ref, id)
		for k := range v.Refs {
			if written, ok := resolve(v.Field, &v.Refs[k]); ok && written == id && v.Refs[k].Target == nil {
				ids[i] = v.Refs[k].Text
			}
		}
	}
	return strings.Join(ids, "\n")
}

// nameID is the name of an ID, or the ID itself where none is known.
func (s *references) nameID(kind, id string) string {
	if at, ok := s.objects.owners[serviceID{kind, id}]; ok {
		return string(s.in.Desired[at].Address)
	}
	if s.displayNames == nil {
		s.displayNames = map[serviceID]string{}
		for r, a := range s.in.Observed {
			t := s.objects.kind(r.Operation.Kind)
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
	}
	return cmp.Or(s.displayNames[serviceID{kind, id}], string(s.objects.addressOf(serviceID{kind, id})), id)
}

// readName reads the list that has the name of an ID. Work items are shown by ID: their lists are long.
func (s *references) readName(t *kindInfo, parent int, id string) {
	if t.list == nil || t.kind.Numbered() || !resource.IsID(id) || s.nameID(t.kind.Name, id) != id {
		return
	}
	if t.parent != nil && (parent == noObject || s.objects.states[parent].presence != exists) {
		return
	}
	if t.viaSingle(s.objects, parent) {
		s.snapshot.list(t, parent)
		return
	}
	s.service.askOptional(Read{Operation: t.list, Path: s.snapshot.listPath(t, parent), Fields: t.neededFieldNames})
}

// findParentCycles reports objects that would be their own ancestors, which the service accepts.
// The manifest finds cycles of keys itself; here IDs and identifiers count too.
func (s *references) findParentCycles() {
	var below []int
	above := map[int]int{}
	for _, n := range s.objects.uses {
		if n.value.Field.Name != s.in.Desired[n.by].Kind.ParentField || len(n.value.Refs) == 0 {
			continue
		}
		if at, _, ok := s.target(n.by, n.field, &n.value.Refs[0]); ok && at != noObject {
			below, above[n.by] = append(below, n.by), at
		}
	}
	graph.DepthFirst(below, func(at int) []int {
		if up, nested := above[at]; nested {
			return []int{up}
		}
		return nil
	}, func(int) {}, s.reportParentCycle)
}

// reportParentCycle reports a cycle at an object that exists. A cycle of new objects is found
// when their steps are ordered.
func (s *references) reportParentCycle(cycle []int) {
	for k, at := range cycle {
		if s.objects.states[at].presence == exists {
			o, up := s.in.Desired[at], s.in.Desired[cycle[(k+1)%len(cycle)]]
			s.diags.report(o, "circle", "the parent of "+string(o.Address)+" leads back to itself, by way of "+string(up.Address), "remove one parent of the chain")
			return
		}
	}
}

// paramsIn are the path parameters for what lives in an object of the manifest or
// of the state ("" = the workspace), nil where an ID is not known.
func (s *references) paramsIn(parent resource.Address) map[string]string {
	params := map[string]string{"workspace_slug": s.in.Workspace}
	for ; parent != ""; parent = parent.Parent() {
		id := s.idAt(parent)
		if id == "" {
			return nil
		}
		params[resource.MustLookup(parent.Kind()).Param] = id
	}
	return params
}

// idAt is the ID of an object of the manifest, else of the state, or "".
func (s *references) idAt(a resource.Address) string {
	if i, wanted := s.objects.indexOf(a); wanted {
		if f := &s.objects.states[i]; f.presence == exists && !f.replaced {
			return f.id
		}
		return ""
	}
	if id := s.in.Prior[a].ID; id != "" {
		return id
	}
	return s.idByCode(a)
}

// idByCode is the ID of an object that neither the manifest nor the state has, by the identifiers
// of its children: WEB-7 lived in WEB.
func (s *references) idByCode(a resource.Address) string {
	k, ok := resource.Lookup(a.Kind())
	if !ok || k.Identifier == nil || k.Identifier.APIName == "" || k.Parent != "" || s.objects.kinds[k].list == nil {
		return ""
	}
	if s.codes == nil {
		s.codes = map[resource.Address]string{}
		for address, r := range s.in.Prior {
			code, _, ok := strings.Cut(r.Identifier, "-")
			parent := address.Parent()
			if have := s.codes[parent]; ok && (have == "" || code < have) { // whatever the order of the map
				s.codes[parent] = code
			}
		}
	}
	code := s.codes[a]
	if code == "" {
		return ""
	}
	l, _ := s.snapshot.list(s.objects.kinds[k], noObject)
	for _, row := range l.rows {
		if shown := s.objects.readableID(k, noObject, row); strings.EqualFold(shown, code) {
			return row.ID()
		}
	}
	return ""
}

// idByName is the ID of an object of the service under whose name or ID the state has its members.
func (s *references) idByName(a resource.Address, params map[string]string) string {
	text := a.Key()
	if resource.IsID(text) {
		return resource.LowerID(text)
	}
	t := s.objects.kind(a.Kind())
	read, listed := t.listRead(params)
	if !listed {
		return ""
	}
	answer, _ := s.service.ask(read)
	id := ""
	for _, row := range answer.Rows {
		if !slices.ContainsFunc(displayTexts(t.kind, row), func(n string) bool { return strings.EqualFold(n, text) }) {
			continue
		}
		if id != "" {
			return "" // two bear the name
		}
		id = row.ID()
	}
	return id
}

// containerAt is the container of an address, and the path parameters of its requests. It has no ID where that is not known.
func (s *references) containerAt(a resource.Address) (Container, map[string]string) {
	c := Container{Address: a, ID: s.idAt(a)}
	if i, ok := s.objects.indexOf(a); ok {
		c.Object, c.Within = s.in.Desired[i], s.in.Desired[i].Parent
	}
	params := s.paramsIn(a.Parent())
	if params == nil {
		return Container{}, nil
	}
	if c.ID == "" && c.Object == nil { // the manifest named one of the service
		c.ID = s.idByName(a, params)
	}
	params[resource.MustLookup(a.Kind()).Param] = c.ID
	return c, params
}
