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
	analysis

	names      map[nameKey]nameResult
	idsForPlan map[Name]string
	manyValues bool // reading the values of custom fields takes too many requests
	// Made when first needed:
	displayNames map[serviceID]string        // names by ID
	codes        map[resource.Address]string // readable identifiers of what the state's objects lived in
}

// resolve looks up the names of objects that the manifest does not list.
func resolve(matched *identities) *references {
	s := &references{
		analysis: matched.analysis,
		names:    map[nameKey]nameResult{}, idsForPlan: map[Name]string{},
	}
	s.resolveNames()
	s.findCycles()
	return s
}

// nameKey is a name that stands for an object of the service.
type nameKey struct {
	kind   *kindInfo
	within objectID // state in which it is looked up; none = the workspace
	text   string
}

// nameResult is what looking for a name brought.
type nameResult struct {
	id          string // "" = reported, or found during the run only
	unsupported bool   // this edition does not have the kind
	notFound    Cause  // if no object of the service has the name or identifier
}

// suggestions are similar names, or what else can be done about an unknown name.
func suggestions(text string, t *kindInfo, l *listing, lists string) string {
	var first, all []string // people have several names: one each is listed
	for _, row := range l.rows {
		if names := t.kind.DisplayTexts(row); len(names) > 0 {
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
func (re *references) resolveNames() {
	// A field of an imported past, such as an author, is left out if its name is unknown. A
	// name that another field needs is an error there, so those come first.
	for _, optional := range []bool{false, true} {
		var asked []nameUse
		for _, n := range re.objects.uses {
			if !re.objects.states[n.by].presence.decided() || n.value.Field.Past != optional {
				continue
			}
			for j := range n.value.Refs {
				r := &n.value.Refs[j]
				if r.Target != nil || n.field.field.Literal(re.in.API, r) != "" {
					continue
				}
				name := nameKey{n.field.to, re.objects.within(n.by, n.field.to), r.Text}
				if _, done := re.names[name]; !done {
					re.names[name] = nameResult{}
					asked = append(asked, nameUse{name, n.by, r, re.in.invites(n.value.Field, r), optional})
				}
			}
		}
		re.service.each(len(asked), func(k int) { re.resolveName(asked[k]) })
	}
}

// nameUse is the first place of a name in the manifest.
type nameUse struct {
	key      nameKey
	by       objectID
	ref      *resource.Reference
	invitee  bool // the person is invited if nobody has the name
	optional bool // the field can be left out
}

func (re *references) resolveName(name nameUse) {
	t, r := name.key.kind, name.ref
	what := "the " + t.kind.Noun() + " \"" + r.Text + "\""
	if t.self != nil && r.Text == resource.Me {
		re.resolveSelf(name)
		return
	}
	if t.find != nil && t.kind.IsIdentifier(r.Text) {
		re.resolveIdentifier(name) // wherever it is
		return
	}
	if name.key.within != noObject {
		parent := string(re.in.Desired[name.key.within].Address)
		switch p := re.objects.states[name.key.within].presence; {
		case !p.decided():
			return
		case p == absent && re.snapshot.kindPresence(t) == unsupported:
			re.names[name.key] = nameResult{unsupported: true}
			return
		case p == absent && t.hasDefault(r.Text):
			return // its ID is looked up during the run
		case p == absent:
			hint := ""
			if t.kind.Section != "" {
				hint = "add it to the " + plural(t.kind) + " of " + parent
			}
			re.reportUnresolved(name, what+" is not there: "+parent+" does not exist yet", hint)
			return
		}
	}
	if t.kind.AdoptOnRequestOnly { // several may bear one name, by right
		re.reportUnresolved(name, what+" is neither in the manifest nor an ID or identifier",
			"write the key of one in the manifest, its identifier, or its ID")
		return
	}
	switch l, st := re.snapshot.list(t, name.key.within); st {
	case exists:
		re.matchByName(name, l)
	case unsupported:
		re.names[name.key] = nameResult{unsupported: true}
	case invalid:
		if t.list == nil {
			re.reportUnresolved(name, what+" cannot be looked up with the documented operations", re.in.namesNeed("give its ID"))
		}
	case notFound:
		re.names[name.key] = nameResult{notFound: refused(l.why)}
	case unbound, absent, indeterminate, hidden:
	}
}

func (re *references) resolveSelf(name nameUse) {
	a := re.service.askAt(name.key.kind.self, nil)
	switch {
	case a.Unsupported, a.NotFound, len(a.Rows) == 0:
		re.reportUnresolved(name, "\""+name.ref.Text+"\" cannot be resolved: the service does not say who you are",
			"give an e-mail address or an ID")
	default:
		re.recordID(name.key, a.Rows[0].ID())
	}
}

// resolveIdentifier looks up a readable identifier such as WEB-12.
func (re *references) resolveIdentifier(name nameUse) {
	r := name.ref
	if code, _, _ := strings.Cut(strings.ToUpper(r.Text), "-"); re.objects.newCodes[code] {
		re.reportUnresolved(name, numbersLater(r.Text), byKey)
		return
	}
	path, _ := name.key.kind.find.Expand(map[string]string{"workspace_slug": re.in.Workspace, "identifier": r.Text})
	a := re.service.askOptional(Read{Operation: name.key.kind.find, Path: path})
	switch {
	case a.Unsupported:
		re.reportUnresolved(name, "this edition of the service cannot look up "+r.Text, "give its ID")
	case a.NotFound || len(a.Rows) == 0:
		re.names[name.key] = nameResult{notFound: refused("the service shows no " + name.key.kind.kind.Noun() + " " + r.Text + ": " + whyNotShown)}
	default:
		re.recordID(name.key, a.Rows[0].ID())
	}
}

// matchByName finds the one record that bears the name: in the letters as written, else in any case.
func (re *references) matchByName(name nameUse, l *listing) {
	k, r := name.key.kind.kind, name.ref
	hits := l.withIDs(re.snapshot.names(name.key.kind, name.key.within).Named(r.Text))
	where, lists := "", "the manifest"
	if name.key.within != noObject {
		lists = string(re.in.Desired[name.key.within].Address)
		where = " in " + lists
	}
	switch {
	case len(hits) == 0 && name.invitee:
		accepted := false
		if i, ok := re.objects.indexOf(resource.NewAddress(resource.Invitation, strings.ToLower(r.Text))); ok {
			accepted, _ = re.objects.states[i].row["accepted"].(bool)
		}
		re.names[name.key] = nameResult{notFound: notAccepted(r.Text, accepted)}
	case len(hits) == 0:
		hint := ""
		if len(re.diags.List) < diag.MaxShown { // each looks at all that there is
			hint = suggestions(r.Text, name.key.kind, l, lists)
		}
		re.reportUnresolved(name, "the service has no "+k.Noun()+" \""+r.Text+"\""+where, hint)
	case len(hits) == 1:
		re.recordID(name.key, hits[0].ID())
	default:
		re.reportUnresolved(name, "the "+k.Noun()+" \""+r.Text+"\" is ambiguous"+where+": "+re.objects.enumerate(k, name.key.within, hits)+
			" all have this name", "give the ID of the right one")
	}
}

func (re *references) recordID(name nameKey, id string) {
	re.names[name] = nameResult{id: id}
	n := Name{Kind: name.kind.kind.Name, Text: name.text}
	if name.within != noObject {
		n.Within = re.in.Desired[name.within].Address
	}
	re.idsForPlan[n] = id
}

// reportUnresolved reports a name once, at the first place that uses it.
func (re *references) reportUnresolved(name nameUse, summary, hint string) {
	d := diag.Diagnostic{Code: "unknown-name", Position: name.ref.Position, Address: string(re.in.Desired[name.by].Address), Summary: summary, Hint: hint}
	if name.optional {
		d.Severity, d.Summary, d.Hint = diag.Warning, d.Summary+"; the field is left out", ""
	}
	re.diags.Add(d)
}

// target is what a reference names: an object of the manifest (its state), or one
// of the service (none, and its ID). ok is false while that is not known.
func (re *references) target(i objectID, t *refField, r *resource.Reference) (at objectID, id string, ok bool) {
	if r.Target != nil {
		at, ok = re.objects.index[r.Target]
		if !ok {
			return noObject, "", false
		}
		return at, re.objects.states[at].id, true
	}
	if id = t.field.Literal(re.in.API, r); id == "" {
		id = re.names[nameKey{t.to, re.objects.within(i, t.to), r.Text}].id
	}
	if at, ok = re.objects.owners[serviceID{t.to.kind.Name, id}]; ok {
		return at, id, true // it is in the manifest under another name
	}
	return noObject, id, id != ""
}

// idResolver is the service's ID of a reference, as far as it is known before the run.
func (re *references) idResolver(i objectID) resource.IDResolver {
	return func(field *resource.Field, r *resource.Reference) (string, bool) {
		if field.Rich() {
			page := cmp.Or(r.ID, re.page(r.Target))
			return page, page != ""
		}
		at, id, ok := re.target(i, re.objects.states[i].info.ref(field), r)
		return id, ok && (at == noObject || re.objects.states[at].presence == exists || re.objects.states[at].presence == hidden && id != "")
	}
}

// page is the address of an object's page in the web app, or "" while it has none.
func (re *references) page(o *resource.Object) string {
	return o.Kind.Page(re.in.WebURL, re.pathParams(o))
}

// addPages notes where people find what the steps are about. New objects are nowhere yet.
func (re *references) addPages(steps []*Step) {
	for _, step := range steps {
		if step.Action == Create {
			continue
		}
		kind, params := step.Kind, step.Params
		if step.Object != nil {
			params = re.pathParams(step.Object)
		}
		if m := step.Members; m != nil {
			kind, params = resource.MustLookup(kind.Membership.Container), re.pathParams(cmp.Or(m.Container.Object, m.Container.Within))
			params[kind.Param] = m.Container.ID
		}
		for ; kind != nil && step.Page == ""; kind, _ = resource.Lookup(kind.Parent) {
			step.Page = kind.Page("", params)
		}
	}
}

// pathParams are the IDs of an object and of what it lives in, as far as they are known.
func (re *references) pathParams(o *resource.Object) map[string]string {
	params := map[string]string{"workspace_slug": re.in.Workspace}
	for at := o; at != nil; at = at.Parent {
		id := re.in.Prior[at.Address].ID
		if i, wanted := re.objects.indexOf(at.Address); wanted {
			if id = re.objects.states[i].id; re.objects.states[i].presence == absent {
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
func (re *references) nameLinks(v *resource.Value, have, want string) (string, string) {
	if len(v.Links) == 0 {
		return have, want
	}
	want, _ = v.Desired(func(_ *resource.Field, r *resource.Reference) (string, bool) { return standsForAddress + r.Text, true })
	for i := range v.Links {
		if page := cmp.Or(v.Links[i].ID, re.page(v.Links[i].Target)); page != "" {
			for _, leads := range []string{`href="`, `src="`} {
				have = strings.ReplaceAll(have, leads+page+`"`, leads+standsForAddress+v.Links[i].Text+`"`)
			}
		}
	}
	return have, want
}

// nameIDs shows a canonical reference or set by the addresses of the manifest's objects, as the value writes them, or by the names that
// were looked up, a line each.
func (re *references) nameIDs(v *resource.Value, canonical string, resolve resource.IDResolver) string {
	if !v.Field.IsRef() || canonical == "" {
		return canonical
	}
	ids := strings.Split(canonical, ",")
	for i, id := range ids {
		ids[i] = re.nameID(v.Field.Ref, id)
		if ids[i] == id && v.Field.OrRef != "" {
			ids[i] = re.nameID(v.Field.OrRef, id)
		}
		for k := range v.Refs {
			r := &v.Refs[k]
			if written, ok := resolve(v.Field, r); ok && written == id && r.Target == nil && (re.in.Deletes == nil || r.Text != r.ID) {
				ids[i] = r.Text
			}
		}
	}
	return strings.Join(ids, "\n")
}

// nameID is the name of an ID, or the ID itself where none is known.
func (re *references) nameID(kind, id string) string {
	if at, ok := re.objects.owners[serviceID{kind, id}]; ok {
		return string(re.in.Desired[at].Address)
	}
	if re.displayNames == nil {
		re.displayNames = map[serviceID]string{}
		for r, a := range re.in.Observed {
			t := re.objects.kind(r.Operation.Kind)
			if !t.referenced {
				continue
			}
			for _, row := range a.Rows {
				n := serviceID{t.kind.Name, row.ID()}
				texts := t.kind.DisplayTexts(row)
				if len(texts) == 0 {
					continue
				}
				// Answers may differ, and come in any order: the least text is the one.
				if have, ok := re.displayNames[n]; !ok || texts[0] < have {
					re.displayNames[n] = texts[0]
				}
			}
		}
	}
	return cmp.Or(re.displayNames[serviceID{kind, id}], string(re.objects.addressOf(serviceID{kind, id})), id)
}

// shownID is an ID that the plan would show, and where the list with its name is.
type shownID struct {
	kind   *kindInfo
	parent objectID
	id     string
}

// readName reads the list that has the name of an ID. Work items are shown by ID: their lists are long.
func (re *references) readName(shown shownID) {
	t, parent, id := shown.kind, shown.parent, shown.id
	if t.list == nil || t.kind.Numbered() || !resource.IsID(id) || re.nameID(t.kind.Name, id) != id {
		return
	}
	if t.parent != nil && (parent == noObject || re.objects.states[parent].presence != exists) {
		return
	}
	if t.viaSingle(re.objects, parent) {
		re.snapshot.list(t, parent)
		return
	}
	re.service.askOptional(Read{Operation: t.list, Path: re.snapshot.listPath(t, parent), Fields: t.neededFieldNames})
}

// findCycles reports objects that would be their own ancestors, which the service accepts, and references of an object to itself.
// The manifest finds cycles of keys itself; here IDs and identifiers count too.
func (re *references) findCycles() {
	var below []objectID
	above := map[objectID]objectID{}
	for _, n := range re.objects.uses {
		o := re.in.Desired[n.by]
		for k := range n.value.Refs {
			r := &n.value.Refs[k]
			switch at, _, ok := re.target(n.by, n.field, r); {
			case !ok || at == noObject:
			case at == n.by && r.Target == nil:
				re.diags.at(diag.Error, r.Position, o.Address, "own-reference", string(o.Address)+" names itself in "+n.value.Field.Name+
					": it is "+r.Text, "name another "+o.Kind.Noun())
			case n.value.Field.Name == o.Kind.ParentField:
				below, above[n.by] = append(below, n.by), at
			}
		}
	}
	graph.DepthFirst(below, func(at objectID) []objectID {
		if up, nested := above[at]; nested {
			return []objectID{up}
		}
		return nil
	}, func(objectID) {}, re.reportParentCycle)
}

// reportParentCycle reports a cycle at an object that exists. A cycle of new objects is found
// when their steps are ordered.
func (re *references) reportParentCycle(cycle []objectID) {
	for k, at := range cycle {
		if re.objects.states[at].presence == exists {
			o, up := re.in.Desired[at], re.in.Desired[cycle[(k+1)%len(cycle)]]
			re.diags.report(o, "dependency-cycle", "the parent of "+string(o.Address)+" leads back to itself, by way of "+string(up.Address),
				"remove one parent of the chain")
			return
		}
	}
}

// paramsIn are the path parameters for what lives in an object of the manifest or
// of the state ("" = the workspace), nil where an ID is not known.
func (re *references) paramsIn(parent resource.Address) map[string]string {
	params := map[string]string{"workspace_slug": re.in.Workspace}
	for ; parent != ""; parent = parent.Parent() {
		id := re.idAt(parent)
		if id == "" {
			return nil
		}
		params[resource.MustLookup(parent.Kind()).Param] = id
	}
	return params
}

// idAt is the ID of an object of the manifest, else of the state, or "".
func (re *references) idAt(a resource.Address) string {
	if i, wanted := re.objects.indexOf(a); wanted {
		if f := &re.objects.states[i]; f.presence == exists && !f.replaced {
			return f.id
		}
		return ""
	}
	if id := re.in.Prior[a].ID; id != "" {
		return id
	}
	return re.idByCode(a)
}

// membersOf returns the IDs of the members that an intent names; "" = not known.
func (re *references) membersOf(intent *Intent) []string {
	if intent == nil {
		return nil
	}
	ids := strings.Split(intent.Name, "\n")
	for i, name := range ids {
		if strings.Contains(name, "/") { // an address
			ids[i] = re.idAt(resource.Address(name))
		}
	}
	return ids
}

// idByCode is the ID of an object that neither the manifest nor the state has, by the identifiers
// of its children: WEB-7 lived in WEB.
func (re *references) idByCode(a resource.Address) string {
	k, ok := resource.Lookup(a.Kind())
	if !ok || k.Identifier == nil || k.Identifier.APIName == "" || k.Parent != "" || re.objects.kinds[k].list == nil {
		return ""
	}
	if re.codes == nil {
		re.codes = map[resource.Address]string{}
		for address, r := range re.in.Prior {
			code, _, ok := strings.Cut(r.Identifier, "-")
			parent := address.Parent()
			if have := re.codes[parent]; ok && (have == "" || code < have) { // whatever the order of the map
				re.codes[parent] = code
			}
		}
	}
	code := re.codes[a]
	if code == "" {
		return ""
	}
	l, _ := re.snapshot.list(re.objects.kinds[k], noObject)
	for _, row := range l.rows {
		if shown := re.objects.readableID(k, noObject, row); strings.EqualFold(shown, code) {
			return row.ID()
		}
	}
	return ""
}

// idByName is the ID of an object of the service under whose name or ID the state has its members.
func (re *references) idByName(a resource.Address, params map[string]string) string {
	text := a.Key()
	if resource.IsID(text) {
		return resource.LowerID(text)
	}
	t := re.objects.kind(a.Kind())
	read, listed := t.listRead(params)
	if !listed {
		return ""
	}
	answer := re.service.ask(read)
	id := ""
	for _, row := range answer.Rows {
		if !slices.ContainsFunc(t.kind.DisplayTexts(row), func(n string) bool { return strings.EqualFold(n, text) }) {
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
func (re *references) containerAt(a resource.Address) (Container, map[string]string) {
	c := Container{Address: a, ID: re.idAt(a)}
	if i, ok := re.objects.indexOf(a); ok {
		c.Object, c.Within = re.in.Desired[i], re.in.Desired[i].Parent
	}
	params := re.paramsIn(a.Parent())
	if params == nil {
		return Container{}, nil
	}
	if c.ID == "" && c.Object == nil { // the manifest named one of the service
		c.ID = re.idByName(a, params)
	}
	params[resource.MustLookup(a.Kind()).Param] = c.ID
	return c, params
}
