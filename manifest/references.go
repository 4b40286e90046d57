package manifest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// namesake holds the objects that one name means.
type namesake struct {
	first, second int // items; second is -1 while there is one only
}

// resolver finds the objects that references mean.
type resolver struct {
	all      *assembly
	kinds    *kindSet
	complete bool // what is in no manifest that was read is in none
	offline  bool // nobody looks on the service for what is in no manifest

	listed map[*kindInfo]bool     // kinds of which the manifest lists anything
	names  map[objectKey]namesake // by natural key, of kinds that are found by name
	single map[objectKey]int      // items of kinds of which a parent has one at most, by kind and parent

	warned map[objectKey]int // names that are not in the manifest, with the first item that uses them

	properties map[definitions]map[string]*customField // by key and name; made when first needed
}

// resolve sets the target of every reference to an object of the manifest.
func resolve(all *assembly, kinds *kindSet, complete, offline bool) {
	s := &resolver{
		all: all, kinds: kinds, complete: complete, offline: offline, listed: map[*kindInfo]bool{}, names: map[objectKey]namesake{},
		single: map[objectKey]int{}, warned: map[objectKey]int{},
	}
	counts := map[objectKey]int{}
	for i, it := range all.kept() {
		if it.kind.most > 0 {
			s.count(counts, i)
		}
		if !it.kind.referenced {
			continue
		}
		s.listed[it.kind] = true
		if it.kind.AdoptOnRequestOnly {
			continue
		}
		for _, f := range it.kind.natural {
			s.indexName(it, i, it.object.Text(f.Name))
		}
	}
	for _, fields := range []bool{false, true} { // which may be of what others name
		for i, it := range all.kept() {
			if it.kind.refs && fields == it.kind.hasCustomFields() {
				s.object(i)
			}
		}
	}
	s.links()
	s.warn()
}

// links finds the objects that texts name by links to their addresses.
func (r *resolver) links() {
	r.fileLinks()
	var all map[resource.Address]*resource.Object // made when first needed
	for i, it := range r.all.kept() {
		o := it.object
		for n := range o.Values {
			v := &o.Values[n]
			for _, text := range v.Addresses() {
				if all == nil {
					all = r.linkable()
				}
				if to := all[resource.Address(text)]; to != nil {
					v.Links = append(v.Links, resource.Reference{Text: text, Target: to, Position: v.Position})
					continue
				}
				if r.complete {
					r.unknownLink(i, v, text, all)
				}
			}
		}
	}
}

// linkable are the objects that have a page.
func (r *resolver) linkable() map[resource.Address]*resource.Object {
	all := map[resource.Address]*resource.Object{}
	for _, it := range r.all.kept() {
		if it.kind.WebPath != "" {
			all[it.object.Address] = it.object
		}
	}
	return all
}

func (r *resolver) unknownLink(i int, v *resource.Value, text string, all map[resource.Address]*resource.Object) {
	const most = 20_000 // beyond, comparing takes longer than anybody waits for a hint
	d := diag.Diagnostic{
		Code: "unknown-reference", Position: v.Position,
		Path: r.all.items.path(i) + memberPath(v.Field, 0), Address: r.all.address(i),
		Summary: v.Field.Name + " links to no object of the manifest: " + quote(resource.AddressScheme+text),
	}
	r.all.found.addSuggesting(d, func() string {
		var near []string
		for a, o := range all {
			if slices.ContainsFunc(o.Previously, func(key string) bool { return a[:len(a)-len(o.Key)]+resource.Address(key) == resource.Address(text) }) {
				return "it is " + quote(string(a)) + " now"
			}
			if near = append(near, string(a)); len(near) == most {
				break
			}
		}
		slices.Sort(near)
		return cmp.Or(diag.DidYouMean(text, near), "write the address of a project, cycle, module, page or work item, such as planform:work_item/web/checkout")
	})
}

// checkRelations reports relations that go both ways and can only go one, such as
// two items that block each other.
func (a *assembly) checkRelations() {
	type relation struct {
		kind     string
		from, to *resource.Object
	}
	said := map[relation]diag.Position{}
	for i, it := range a.kept() {
		if !it.kind.refs {
			continue
		}
		for n := range it.object.Values {
			v := &it.object.Values[n]
			via, ok := resource.MembershipOf(it.kind.Name, v.Field.Name)
			if !ok || via.Membership.Inverse == "" || via.Membership.Inverse == via.Name {
				continue
			}
			for m := range v.Refs {
				from, to := it.object, v.Refs[m].Target
				if to == nil || to == from {
					continue
				}
				if via.Membership.Inverse < via.Name { // both sides are one relation
					from, to = to, from
				}
				kind := min(via.Name, via.Membership.Inverse)
				if _, again := said[relation{kind, from, to}]; again {
					continue
				}
				said[relation{kind, from, to}] = v.Refs[m].Position
				if opposite, both := said[relation{kind, to, from}]; both {
					summary := quote(it.object.Key) + " and " + quote(v.Refs[m].Target.Key) + " are " + v.Field.Name + " in both directions"
					contradiction := problem{"contradiction", summary, "take one of them out"}
					a.warn(i, v.Refs[m].Position, memberPath(v.Field, m), contradiction, other("the other way round at", opposite))
				}
			}
		}
	}
}

// indexName notes that an item bears a name.
func (r *resolver) indexName(it *item, i int, name string) {
	if name == "" {
		return
	}
	key := objectKey{it.kind, it.parent, name}
	switch have, ok := r.names[key]; {
	case !ok:
		r.names[key] = namesake{i, -1}
	case have.first != i && have.second < 0:
		r.names[key] = namesake{have.first, i}
	}
}

// object resolves the references of one object.
func (r *resolver) object(i int) {
	o := r.all.items[i].object
	for n := range o.Values {
		v := &o.Values[n]
		if v.Field.Type == resource.CustomFields {
			r.bindCustomField(i, v)
		}
		if !v.Field.IsRef() {
			continue
		}
		k := r.kinds.byName[v.Field.Ref]
		r.ofWorkspace(i, v, k)
		if !r.listed[k] && !k.AdoptOnRequestOnly && (!r.offline || k.Section == "" || v.Field.LiteralPattern != "") {
			continue // the manifest lists none: they are looked up on the service
		}
		for m := range v.Refs {
			if ref := &v.Refs[m]; ref.Target == nil && ref.Text != "" {
				r.reference(i, v.Field, k, ref, m)
			}
			if v.Refs[m].Target == o && v.Field.Type == resource.RefSet { // a single one is a circle
				own := problem{"own-reference", quote(o.Key) + " names itself in " + v.Field.Name, "name another " + k.Noun()}
				r.all.report(i, v.Refs[m].Position, memberPath(v.Field, m), own)
			}
		}
	}
}

// ofWorkspace resolves the references of a field that name nothing which their project lists, and something that the workspace does.
func (r *resolver) ofWorkspace(i int, v *resource.Value, k *kindInfo) {
	or := r.kinds.byName[v.Field.OrRef]
	if or == nil || !r.listed[or] {
		return
	}
	find := func(k *kindInfo, scope int, text string) (at int, ok bool) {
		if at, ok = r.all.byKey[objectKey{k, scope, text}]; ok {
			return at, true
		}
		named, ok := r.names[objectKey{k, scope, text}]
		return named.first, ok
	}
	for m := range v.Refs {
		ref := &v.Refs[m]
		if _, own := find(k, r.scope(i, k), ref.Text); own || ref.Target != nil {
			continue
		}
		if to, ok := find(or, -1, ref.Text); ok {
			ref.Target = r.all.items[to].object
		}
	}
}

// count counts the objects of a kind in their parent, and reports an object that exceeds the limit of the service.
func (r *resolver) count(counts map[objectKey]int, i int) {
	it := &r.all.items[i]
	key := objectKey{kind: it.kind, parent: it.parent}
	if counts[key]++; counts[key] == 1 {
		r.single[key] = i
	}
	if counts[key] > it.kind.most {
		code := map[bool]string{true: "one-only", false: "too-many"}[it.kind.most == 1]
		most := problem{code, diag.A(it.object.Parent.Kind.Noun()) + " has " + diag.Count(it.kind.most, it.kind.Noun()) + " at most", "remove the others"}
		r.all.report(i, it.object.Position, "", most, other("the first is at", r.all.items[r.single[key]].object.Position))
	}
}

// scope is the item in which references of an item to the kind are looked up, or -1 for the
// workspace, and for a single object that the manifest does not list.
func (r *resolver) scope(i int, k *kindInfo) int {
	within := k.NamedWithin()
	for i >= 0 && r.all.items[i].kind.Name != within {
		i = r.all.items[i].parent
	}
	if i >= 0 && k.Parent != within {
		if at, ok := r.single[objectKey{kind: r.kinds.byName[k.Parent], parent: i}]; ok {
			return at
		}
		return -1
	}
	return i
}

// reference resolves one reference: a key, a name, an identifier or an ID of the manifest, else one of the service.
func (r *resolver) reference(i int, f *resource.Field, k *kindInfo, ref *resource.Reference, member int) {
	scope := r.scope(i, k)
	if to, ok := r.all.byKey[objectKey{k, scope, ref.Text}]; ok {
		ref.Target = r.all.items[to].object
		return
	}
	if f.CrossProject && r.crossProject(k, ref) {
		return
	}
	if to, ok := r.names[objectKey{k, scope, ref.Text}]; ok {
		r.setTarget(i, f, k, ref, to, member)
		return
	}
	if ref.ID != "" {
		if to, ok := r.all.byID[identityKey{k, ref.Source, ref.ID}]; ok {
			ref.Target = r.all.items[to].object
		}
		return
	}
	if k.Identifier != nil {
		upper := strings.ToUpper(ref.Text)
		if to, ok := r.all.byID[identityKey{k, ref.Source, upper}]; ok && r.all.items[to].parent == scope {
			ref.Target = r.all.items[to].object
			return
		}
		if ref.Source != nil && k.Numbered() && k.IsIdentifier(ref.Text) && upper == ref.Text {
			return // whether it means anything is known once it is known where the manifest goes
		}
		if k.IsIdentifier(ref.Text) && r.checkIdentifier(i, f, k, scope, ref) {
			return
		}
	}
	if !r.complete || slices.Contains(k.Predefined, ref.Text) {
		return
	}
	if k.AdoptOnRequestOnly { // objects of the kind are not looked up by name
		r.all.found.addSuggesting(diag.Diagnostic{
			Code: "unknown-reference", Position: ref.Position,
			Path: r.all.items.path(i) + memberPath(f, member), Address: r.all.address(i),
			Summary: f.Name + " names no " + k.Noun() + " of the manifest: " + quote(ref.Text),
		}, func() string {
			if f.CrossProject {
				return r.suggestAnywhere(k, scope, ref.Text)
			}
			return cmp.Or(r.suggest(k, scope, "", ref.Text), referenceHint(k, ""))
		})
		return
	}
	key := objectKey{k, scope, ref.Text}
	if first, ok := r.warned[key]; !ok || i < first {
		r.warned[key] = i
	}
}

// crossProject resolves a reference that names the parent too: web/checkout, or a
// readable identifier such as WEB-7.
func (r *resolver) crossProject(k *kindInfo, ref *resource.Reference) bool {
	if outer, key, ok := strings.Cut(ref.Text, "/"); ok {
		if parent, ok := r.all.byKey[objectKey{r.kinds.byName[k.Parent], -1, outer}]; ok {
			if to, ok := r.all.byKey[objectKey{k, parent, key}]; ok {
				ref.Target = r.all.items[to].object
				return true
			}
		}
		return false
	}
	if !k.IsIdentifier(ref.Text) || strings.ToUpper(ref.Text) != ref.Text {
		return false
	}
	if to, ok := r.all.byID[identityKey{k, ref.Source, ref.Text}]; ok {
		ref.Target = r.all.items[to].object
	}
	return true
}

// memberPath is the place of a reference in its object.
func memberPath(f *resource.Field, member int) string {
	if f.Type == resource.RefSet {
		return "." + f.Path() + "[" + strconv.Itoa(member) + "]"
	}
	return "." + f.Path()
}

// checkIdentifier deals with a text that has the form of a readable identifier. It reports whether that is what it is.
func (r *resolver) checkIdentifier(i int, f *resource.Field, k *kindInfo, scope int, ref *resource.Reference) bool {
	if k.Identifier.APIName != "" {
		return false // one word, which may be a name as well: it is looked up
	}
	upper := strings.ToUpper(ref.Text)
	report := func(code, summary, hint string) {
		r.all.report(i, ref.Position, "."+f.Path(), problem{code, summary, hint})
	}
	project := ""
	if scope >= 0 {
		project = r.all.items[scope].object.Identifier
	}
	prefix, _, _ := strings.Cut(upper, "-")
	switch {
	case project != "" && prefix != strings.ToUpper(project):
		if upper != ref.Text {
			return false // a key that is not there, such as sprint-1
		}
		parent := resource.MustLookup(k.Parent).Noun()
		report("other-"+k.Parent, f.Name+" "+quote(ref.Text)+" is in another "+parent+" than "+project, "name one of the same "+parent)
	case upper != ref.Text && project == "":
		return false
	case upper != ref.Text:
		report("identifier-case", "the service knows identifiers in upper case only, not "+quote(ref.Text), "write "+upper)
	}
	return true
}

// setTarget sets the target, or reports that two bear the name.
func (r *resolver) setTarget(i int, f *resource.Field, k *kindInfo, ref *resource.Reference, to namesake, member int) {
	first := r.all.items[to.first].object
	if to.second < 0 {
		ref.Target = first
		return
	}
	second := r.all.items[to.second].object
	if first.Key == second.Key {
		return // reported where they are written
	}
	summary, hint := "two "+diag.Plural(k.Noun())+" are called "+quote(ref.Text), "name the one that is meant by its key: "+first.Key+" or "+second.Key
	one, two := other("one is at", first.Position), other("the other at", second.Position)
	r.all.report(i, ref.Position, memberPath(f, member), problem{"ambiguous-reference", summary, hint}, one, two)
}

// warn tells of names that are not in the manifest but nearly.
func (r *resolver) warn() {
	keys := slices.SortedFunc(maps.Keys(r.warned), func(a, b objectKey) int {
		return cmp.Or(cmp.Compare(r.warned[a], r.warned[b]), strings.Compare(a.key, b.key), strings.Compare(a.kind.Name, b.kind.Name))
	})
	const most = 200 // names that are compared with all others
	for _, key := range keys[:min(most, len(keys))] {
		i := r.warned[key]
		o := r.all.items[i].object
		r.all.found.made = r.all.items[i].made
		all := r.candidates(key.kind, key.parent, "")
		summary := "no " + key.kind.Noun() + " of the manifest is called " + quote(key.key) + "; it will be looked up on the service"
		hint := diag.Choose(key.key, all)
		if len(diag.Typo(key.key, all)) == 0 {
			within := r.newContainer(key.parent)
			if within == nil {
				continue
			}
			summary = "if " + string(within.Address) + " is not there yet, it has no " + key.kind.Noun() + " " + quote(key.key)
			hint = "list it under " + key.kind.Section + ":"
		}
		for n := range o.Values {
			v := &o.Values[n]
			if v.Field.Ref != key.kind.Name {
				continue
			}
			for m := range v.Refs {
				if ref := &v.Refs[m]; ref.Target == nil && ref.Text == key.key {
					r.all.warn(i, ref.Position, memberPath(v.Field, m), problem{"not-in-manifest", summary, hint})
				}
			}
		}
	}
	r.all.found.made = nil
}

// newContainer returns the outermost object around the item, if the manifest says enough to create it, and nobody looks whether it is
// there; else nil.
func (r *resolver) newContainer(i int) *resource.Object {
	if i < 0 || !r.offline || !r.all.items[i].ok {
		return nil
	}
	o := r.all.items[i].object
	if o.Parent != nil {
		return r.newContainer(r.all.items[i].parent)
	}
	if o.ID != "" || o.NoCreate || len(o.Missing()) > 0 {
		return nil
	}
	return o
}

// suggest looks for keys and names, written behind a prefix, that a text was probably meant to be.
func (r *resolver) suggest(k *kindInfo, scope int, prefix, text string) string {
	return diag.DidYouMean(text, r.candidates(k, scope, prefix))
}

// candidates are the keys and names of the objects of a kind, keys behind a prefix.
func (r *resolver) candidates(k *kindInfo, scope int, prefix string) []string {
	const most = 20_000 // beyond, comparing takes longer than anybody waits for a hint
	var candidates []string
	for i := range r.all.items {
		it := &r.all.items[i]
		if it.kind != k || it.parent != scope || it.mergedInto >= 0 {
			continue
		}
		candidates = append(candidates, prefix+it.object.Key)
		if !k.AdoptOnRequestOnly {
			for _, f := range k.natural {
				candidates = append(candidates, it.object.Text(f.Name))
			}
		}
		if len(candidates) >= most {
			break
		}
	}
	return append(candidates, k.Predefined...)
}

// suggestAnywhere is near for what may live elsewhere.
func (r *resolver) suggestAnywhere(k *kindInfo, scope int, text string) string {
	prefix := ""
	if outer, _, ok := strings.Cut(text, "/"); ok {
		scope, prefix = -1, outer+"/"
		if parent, ok := r.all.byKey[objectKey{r.kinds.byName[k.Parent], -1, outer}]; ok {
			scope = parent
		}
	}
	hint := ""
	if scope >= 0 {
		hint = r.suggest(k, scope, prefix, text)
	}
	return cmp.Or(hint, referenceHint(k, ", the keys of another "+resource.MustLookup(k.Parent).Noun()+" and the "+k.Noun()+" in it, such as web/checkout"))
}

// referenceHint says how to refer to an object of a kind that is not looked up by name.
func referenceHint(k *kindInfo, more string) string {
	if k.Identifier != nil {
		more += ", " + identifierExample(k)
	}
	return "write the key of " + diag.A(k.Noun()) + " in the same " + resource.MustLookup(k.Parent).Noun() + more + ", or an ID"
}
