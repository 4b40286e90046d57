package planner

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/graph"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// references is the stage that resolves the names in reference fields to objects and IDs.
type references struct {
	analysis

	names      map[nameKey]nameResult
	manyValues bool // reading the values of custom fields takes too many requests
	// Made when first needed:
	displayNames map[serviceID]string        // names by ID
	codes        map[resource.Address]string // identifiers of the parents of the state's objects
}

// resolve looks up the names that stand for objects that the manifest does not list.
func resolve(matched *identities) *references {
	s := &references{analysis: matched.analysis, names: map[nameKey]nameResult{}}
	s.resolveNames()
	s.findCycles()
	return s
}

// nameKey is a name of an object of the service, with the kind and parent in which it is looked up.
type nameKey struct {
	kind   *kindInfo
	within objectID // the object in which the name is looked up; noObject = the workspace
	text   string
}

// nameResult is the result of looking up a name.
type nameResult struct {
	id  string // "" = there is none, or it is found only during the run
	why Cause  // the cause why the fields that have the name are not possible, if no error was reported
}

// nameUse is the first use of a name in the manifest.
type nameUse struct {
	nameKey nameKey
	by      objectID
	field   *resource.Field
	ref     *resource.Reference
}

// keyOf returns the key under which the name in a reference of object i is looked up.
func (re *references) keyOf(i objectID, t *refField, r *resource.Reference) nameKey {
	return nameKey{t.to, re.objects.within(i, t.to), r.Text}
}

// resolveNames finds the IDs of objects of the service that fields of the manifest name.
func (re *references) resolveNames() {
	// A field of an imported past, such as an author, is left out if its name is unknown. If a field that cannot be left out has the same
	// unknown name, that is an error. Such fields come first, because each name is looked up once.
	for _, past := range []bool{false, true} {
		var asked []nameUse
		for _, n := range re.objects.uses {
			if !re.objects.states[n.by].presence.isDecided() || n.value.Field.Past != past {
				continue
			}
			for j := range n.value.Refs {
				r := &n.value.Refs[j]
				if r.Target != nil || n.field.field.Literal(re.in.API, r) != "" {
					continue
				}
				name := re.keyOf(n.by, n.field, r)
				if _, done := re.names[name]; !done {
					re.names[name] = nameResult{}
					asked = append(asked, nameUse{name, n.by, n.value.Field, r})
				}
			}
		}
		re.service.each(len(asked), func(k int) { re.names[asked[k].nameKey] = re.lookUp(asked[k]) })
	}
}

// lookUp finds the object of the service that has a name.
func (re *references) lookUp(use nameUse) nameResult {
	t, text, within := use.nameKey.kind, use.nameKey.text, use.nameKey.within
	what := "the " + t.kind.Noun() + " \"" + text + "\""
	switch {
	case t.self != nil && text == resource.Me:
		if id := re.snapshot.self(t); id != "" {
			return nameResult{id: id}
		}
		return re.unknown(use, "\""+text+"\" cannot be resolved: the service does not say who you are", "give an e-mail address or an ID")
	case t.find != nil && t.kind.IsIdentifier(text): // an identifier is looked up in the whole workspace
		return re.lookUpIdentifier(use)
	}
	if within != noObject {
		parent := string(re.in.Desired[within].Address)
		switch p := re.objects.states[within].presence; {
		case !p.isDecided():
			return nameResult{}
		case p == absent && re.snapshot.kindPresence(t) == unsupported:
			return nameResult{why: lacks(plural(t.kind))}
		case p == absent && t.kind.HasDefault(text):
			return nameResult{} // its ID is looked up during the run
		case p == absent:
			hint := ""
			if t.kind.Section != "" {
				hint = "add it to the " + plural(t.kind) + " of " + parent
			}
			return re.unknown(use, what+" is not there: "+parent+" does not exist yet", hint)
		}
	}
	if t.kind.AdoptOnRequestOnly { // several objects of the kind may have the same name
		return re.unknown(use, what+" is neither in the manifest nor an ID or identifier",
			"write the key of one in the manifest, its identifier, or its ID")
	}
	switch l, st := re.snapshot.list(t, within); {
	case st == exists:
		return re.lookUpIn(l, use)
	case st == unsupported:
		return nameResult{why: lacks(plural(t.kind))}
	case t.list == nil:
		return re.unknown(use, what+" cannot be looked up with the documented operations", re.in.namesNeed("give its ID"))
	case st == notFound:
		return nameResult{why: refused(l.why)}
	default: // an error was reported
		return nameResult{}
	}
}

// lookUpIdentifier looks up a readable identifier such as WEB-12.
func (re *references) lookUpIdentifier(use nameUse) nameResult {
	t, text := use.nameKey.kind, use.nameKey.text
	if code, _, _ := strings.Cut(strings.ToUpper(text), "-"); re.objects.newCodes[code] {
		return re.unknown(use, numbersLater(text), byKey)
	}
	path, _ := t.find.Expand(map[string]string{"workspace_slug": re.in.Workspace, "identifier": text})
	a := re.service.askOptional(Read{Operation: t.find, Path: path})
	switch {
	case a.Unsupported:
		return re.unknown(use, "this edition of the service cannot look up "+text, "give its ID")
	case a.NotFound || len(a.Rows) == 0:
		return nameResult{why: refused("the service shows no " + t.kind.Noun() + " " + text + ": " + whyNotShown)}
	default:
		return nameResult{id: a.Rows[0].ID()}
	}
}

// lookUpIn finds the one row of a list that has a name: with the same case, else in any case.
func (re *references) lookUpIn(l *listing, use nameUse) nameResult {
	t, text, within := use.nameKey.kind, use.nameKey.text, use.nameKey.within
	where, lists := "", "the manifest"
	if within != noObject {
		lists = string(re.in.Desired[within].Address)
		where = " in " + lists
	}
	switch hits := l.withIDs(re.snapshot.names(t, within).Named(text)); {
	case len(hits) == 1:
		return nameResult{id: hits[0].ID()}
	case len(hits) > 1:
		return re.unknown(use, "the "+t.kind.Noun()+" \""+text+"\" is ambiguous"+where+": "+re.objects.enumerate(t.kind, within, hits)+
			" all have this name", "give the ID of the right one")
	case re.in.invites(use.field, use.ref):
		i, invited := re.objects.indexOf(resource.NewAddress(resource.Invitation, strings.ToLower(text)))
		return nameResult{why: notAccepted(text, invited && re.objects.states[i].row["accepted"] == true)}
	}
	hint := ""
	if len(re.diags.List) < diag.MaxShown { // each hint compares all names
		hint = suggestions(text, t, l, lists)
	}
	return re.unknown(use, "the service has no "+t.kind.Noun()+" \""+text+"\""+where, hint)
}

// suggestions returns a hint for an unknown name: similar names, all names, or how to add an object of that name.
func suggestions(text string, t *kindInfo, l *listing, lists string) string {
	var first, all []string // people have several names, the hint lists the first of each
	for _, row := range l.rows {
		if names := t.kind.DisplayTexts(row); len(names) > 0 {
			first, all = append(first, names[0]), append(all, names...)
		}
	}
	if len(diag.Typo(text, all)) > 0 {
		return diag.Choose(text, all)
	}
	hint := cmp.Or(t.kind.WhereMade, createFirst)
	if t.kind.Section != "" && t.create != nil {
		hint = "add it to the " + plural(t.kind) + " of " + lists + ", or give the ID of an existing one"
	}
	if there := diag.Choose(text, first); there != "" {
		hint = there + "; " + hint
	}
	return hint
}

// unknown reports a name that cannot be resolved: as an error, or as a warning if the field can be left out.
func (re *references) unknown(use nameUse, summary, hint string) nameResult {
	d := diag.Diagnostic{Code: "unknown-name", Position: use.ref.Position, Address: string(re.in.Desired[use.by].Address), Summary: summary, Hint: hint}
	if use.field.Past {
		d.Severity, d.Summary, d.Hint = diag.Warning, d.Summary+"; the field is left out", ""
	}
	re.diags.Add(d)
	return nameResult{}
}

// resolvedNames returns the IDs of the names that were resolved.
func (re *references) resolvedNames() map[Name]string {
	ids := map[Name]string{}
	for key, found := range re.names {
		if found.id == "" {
			continue
		}
		n := Name{Kind: key.kind.kind.Name, Text: key.text}
		if key.within != noObject {
			n.Within = re.in.Desired[key.within].Address
		}
		ids[n] = found.id
	}
	return ids
}

// target returns the object that a reference names: an object of the manifest, with its ID if it has one, or noObject and the ID of an
// object of the service. ok is false if the object is not known.
func (re *references) target(i objectID, t *refField, r *resource.Reference) (at objectID, id string, ok bool) {
	if r.Target != nil {
		at, ok = re.objects.index[r.Target]
		if !ok {
			return noObject, "", false
		}
		return at, re.objects.states[at].id, true
	}
	if id = t.field.Literal(re.in.API, r); id == "" {
		id = re.names[re.keyOf(i, t, r)].id
	}
	if at, ok = re.objects.owners[serviceID{t.to.kind.Name, id}]; ok {
		return at, id, true // the manifest has the object under another name
	}
	return noObject, id, id != ""
}

// idResolver returns a function that gives the service's ID of a reference of object i, if the ID is known before the run.
func (re *references) idResolver(i objectID) resource.IDResolver {
	return func(field *resource.Field, r *resource.Reference) (string, bool) {
		if field.Rich() {
			page := cmp.Or(r.ID, re.pageURL(r.Target))
			return page, page != ""
		}
		at, id, ok := re.target(i, re.objects.states[i].info.ref(field), r)
		return id, ok && (at == noObject || re.objects.states[at].presence == exists || re.objects.states[at].presence == hidden && id != "")
	}
}

// pageURL returns the URL of an object's page in the web app, or "" if it has none yet.
func (re *references) pageURL(o *resource.Object) string {
	return o.Kind.Page(re.in.WebURL, re.pathParams(o))
}

// addPages sets the web page of each step's object, or of its nearest parent that has a page. New objects have no page yet.
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

// pathParams returns the path parameters for an object: the workspace slug, and the IDs of the object and its parents, as far as they
// are known.
func (re *references) pathParams(o *resource.Object) map[string]string {
	params := map[string]string{"workspace_slug": re.in.Workspace}
	for ; o != nil; o = o.Parent {
		params[o.Kind.Param] = re.in.Prior[o.Address].ID
		if i, wanted := re.objects.indexOf(o.Address); wanted {
			params[o.Kind.Param] = re.objects.states[i].id
		}
	}
	return params
}

// standsForAddress is a prefix for links to addresses in canonical texts, because markup accepts only the schemes of the web.
const standsForAddress = "https://planform/"

// nameLinks replaces links to pages of objects by their addresses, in a canonical text of the service and in the wanted text.
func (re *references) nameLinks(v *resource.Value, have, want string) (string, string) {
	if len(v.Links) == 0 {
		return have, want
	}
	want, _ = v.Desired(func(_ *resource.Field, r *resource.Reference) (string, bool) { return standsForAddress + r.Text, true })
	for i := range v.Links {
		if page := cmp.Or(v.Links[i].ID, re.pageURL(v.Links[i].Target)); page != "" {
			for _, leads := range []string{`href="`, `src="`} {
				have = strings.ReplaceAll(have, leads+page+`"`, leads+standsForAddress+v.Links[i].Text+`"`)
			}
		}
	}
	return have, want
}

// nameIDs returns the texts for the IDs of a canonical reference or set, one per line: the text of the value, the address of an object of
// the manifest, or a name on the service.
func (re *references) nameIDs(v *resource.Value, canonical string, resolve resource.IDResolver) string {
	if !v.Field.IsRef() || canonical == "" {
		return canonical
	}
	ids := strings.Split(canonical, ",")
	for i, id := range ids {
		if ids[i] = re.nameID(v.Field.Ref, id); ids[i] == id && v.Field.OrRef != "" {
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

// nameID returns the address or name of an object, or its ID if neither is known.
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
				// The map has no order: if answers differ, the least text counts.
				if texts := t.kind.DisplayTexts(row); len(texts) > 0 && (re.displayNames[n] == "" || texts[0] < re.displayNames[n]) {
					re.displayNames[n] = texts[0]
				}
			}
		}
	}
	return cmp.Or(re.displayNames[serviceID{kind, id}], string(re.objects.addressOf(serviceID{kind, id})), id)
}

// shownID is an ID that the plan would show, with the kind and parent of the list that has its name.
type shownID struct {
	kind   *kindInfo
	parent objectID
	id     string
}

// readName reads the list that has the name of an ID. Without a pull, which writes the name, it does so only if no other answer has the name.
// Work items are shown by ID, because their lists are long.
func (re *references) readName(shown shownID) {
	t, parent, id := shown.kind, shown.parent, shown.id
	switch {
	case t.list == nil || t.kind.Numbered() || !resource.IsID(id) || !re.in.Pull && re.nameID(t.kind.Name, id) != id:
	case t.parent != nil && (parent == noObject || re.objects.states[parent].presence != exists):
	case t.viaSingle(re.objects, parent):
		re.snapshot.list(t, parent)
	default:
		re.service.askOptional(Read{Operation: t.list, Path: re.snapshot.listPath(t, parent), Fields: t.neededFieldNames})
	}
}

// findCycles reports parents that form a cycle, which the service accepts, and references of an object to itself. It follows IDs and
// identifiers too; cycles of keys are found earlier, in the manifest, and cycles of new objects when their steps are ordered.
func (re *references) findCycles() {
	above := map[objectID]objectID{}
	for _, n := range re.objects.uses {
		o := re.in.Desired[n.by]
		for k := range n.value.Refs {
			r := &n.value.Refs[k]
			switch at, _, ok := re.target(n.by, n.field, r); {
			case !ok || at == noObject:
			case at == n.by && r.Target == nil:
				re.diags.add(diag.Error, r.Position, o.Address, "own-reference", string(o.Address)+" names itself in "+n.value.Field.Name+
					": it is "+r.Text, "name another "+o.Kind.Noun())
			case n.value.Field.Name == o.Kind.ParentField:
				above[n.by] = at
			}
		}
	}
	graph.DepthFirst(slices.Sorted(maps.Keys(above)), func(at objectID) []objectID {
		if up, nested := above[at]; nested {
			return []objectID{up}
		}
		return nil
	}, func(objectID) {}, func(cycle []objectID) {
		k := slices.IndexFunc(cycle, func(at objectID) bool { return re.objects.states[at].presence == exists })
		if k >= 0 {
			o, up := re.in.Desired[cycle[k]], re.in.Desired[cycle[(k+1)%len(cycle)]]
			re.diags.report(o, "dependency-cycle", "the parent of "+string(o.Address)+" leads back to itself, by way of "+string(up.Address),
				"remove one parent of the chain")
		}
	})
}

// paramsIn returns the path parameters for children of an object of the manifest or the state ("" = the workspace), or nil if an ID is
// not known.
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

// idAt returns the ID of an object of the manifest, else of the state, or "".
func (re *references) idAt(a resource.Address) string {
	if f := re.objects.stateAt(a); f.info != nil {
		if f.presence == exists && !f.replaced {
			return f.id
		}
		return ""
	}
	if id := re.in.Prior[a].ID; id != "" {
		return id
	}
	return re.idByCode(a)
}

// membersOf returns the IDs of the members that an intent names. An ID is "" if it is not known.
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

// idByCode returns the ID of an object that neither the manifest nor the state has, such as a project, or "". The identifiers of its
// children in the state begin with its own: the parent of WEB-7 is WEB.
func (re *references) idByCode(a resource.Address) string {
	k, _ := resource.Lookup(a.Kind())
	t := re.objects.kinds[k]
	if t == nil || k.Identifier == nil || t.parent != nil || t.list == nil {
		return ""
	}
	if re.codes == nil {
		re.codes = map[resource.Address]string{}
		for _, address := range slices.Sorted(maps.Keys(re.in.Prior)) {
			if code, _, ok := strings.Cut(re.in.Prior[address].Identifier, "-"); ok {
				re.codes[address.Parent()] = strings.ToUpper(code)
			}
		}
	}
	if re.codes[a] != "" {
		l, _ := re.snapshot.list(t, noObject)
		for _, row := range re.snapshot.byIdentifier(l, t, noObject)[re.codes[a]] {
			return row.ID()
		}
	}
	return ""
}

// idByName returns the ID of a container of the service whose address in the state has its name or ID as the key, or "" if there is no such
// container, or several.
func (re *references) idByName(a resource.Address, params map[string]string) string {
	if resource.IsID(a.Key()) {
		return resource.LowerID(a.Key())
	}
	read, listed := re.objects.kind(a.Kind()).listRead(params)
	if !listed {
		return ""
	}
	var names resource.Names
	for _, row := range re.service.ask(read).Rows {
		names.AddRow(resource.MustLookup(a.Kind()), row, "")
	}
	if ids := names.Named(a.Key()); len(ids) == 1 {
		return ids[0]
	}
	return ""
}

// containerAt returns the container at an address, and the path parameters of its requests. The container has no ID if that is not
// known.
func (re *references) containerAt(a resource.Address) (Container, map[string]string) {
	c := Container{Address: a, ID: re.idAt(a)}
	if i, ok := re.objects.indexOf(a); ok {
		c.Object, c.Within = re.in.Desired[i], re.in.Desired[i].Parent
	}
	params := re.paramsIn(a.Parent())
	if params == nil {
		return Container{}, nil
	}
	if c.ID == "" && c.Object == nil { // the manifest named a container that it does not list
		c.ID = re.idByName(a, params)
	}
	params[resource.MustLookup(a.Kind()).Param] = c.ID
	return c, params
}
