package manifest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// namedItems holds the first two items with a name.
type namedItems struct {
	first, second int // second is -1 if there is only one
}

// resolver resolves references to objects of the manifest.
type resolver struct {
	all      *assembly
	kinds    *kindSet
	complete bool // everything could be read, so an object that was not found is in no manifest
	offline  bool // no lookup on the service will follow

	listed map[*kindInfo]bool       // kinds with objects in the manifest
	names  map[objectKey]namedItems // by natural key, for kinds that are identified by name
	single map[objectKey]int        // the first item by kind and parent, for kinds with a limit for each parent

	warned map[objectKey]int // names that are not in the manifest, with the first item that uses each

	properties map[definitions]map[string]*customField // by key and name; built when first needed
}

// resolve sets the target of every reference to an object of the manifest.
func resolve(all *assembly, kinds *kindSet, complete, offline bool) {
	rs := &resolver{
		all: all, kinds: kinds, complete: complete, offline: offline, listed: map[*kindInfo]bool{}, names: map[objectKey]namedItems{},
		single: map[objectKey]int{}, warned: map[objectKey]int{},
	}
	counts := map[objectKey]int{}
	for i, it := range all.kept() {
		if it.kind.most > 0 {
			rs.countInParent(counts, i)
		}
		if !it.kind.referenced {
			continue
		}
		rs.listed[it.kind] = true
		if it.kind.AdoptOnRequestOnly {
			continue
		}
		for _, f := range it.kind.natural {
			rs.indexName(it, i, it.object.Text(f.Name))
		}
	}
	for _, fields := range []bool{false, true} { // fields come second, because their definitions may depend on other references
		for i, it := range all.kept() {
			if _, has := it.kind.CustomFields(); it.kind.refs && fields == has {
				rs.resolveObject(i)
			}
		}
	}
	rs.resolveLinks()
	rs.warnMissing()
}

// resolveLinks resolves links in texts to the addresses of objects.
func (rs *resolver) resolveLinks() {
	rs.resolveFileLinks()
	var all map[resource.Address]*resource.Object // built when first needed
	for i, it := range rs.all.kept() {
		o := it.object
		for n := range o.Values {
			v := &o.Values[n]
			for _, text := range v.Addresses() {
				if all == nil {
					all = rs.linkTargets()
				}
				if to := all[resource.Address(text)]; to != nil {
					v.Links = append(v.Links, resource.Reference{Text: text, Target: to, Position: v.Position})
					continue
				}
				if rs.complete {
					rs.reportUnknownLink(i, v, text, all)
				}
			}
		}
	}
}

// linkTargets returns the objects that have a web page.
func (rs *resolver) linkTargets() map[resource.Address]*resource.Object {
	all := map[resource.Address]*resource.Object{}
	for _, it := range rs.all.kept() {
		if it.kind.WebPath != "" {
			all[it.object.Address] = it.object
		}
	}
	return all
}

func (rs *resolver) reportUnknownLink(i int, v *resource.Value, text string, all map[resource.Address]*resource.Object) {
	const most = 20_000 // with more candidates, the comparison would take too long
	d := diag.Diagnostic{
		Code: "unknown-reference", Position: v.Position,
		Path: rs.all.items.path(i) + memberPath(v.Field, 0), Address: rs.all.address(i),
		Summary: v.Field.Name + " links to no object of the manifest: " + quote(resource.AddressScheme+text),
	}
	rs.all.found.addSuggesting(d, func() string {
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

// checkRelations reports relations that exist in both directions but cannot, such as two items that block each other.
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
				if via.Membership.Inverse < via.Name { // the two sides are one relation
					from, to = to, from
				}
				kind := min(via.Name, via.Membership.Inverse)
				if _, again := said[relation{kind, from, to}]; again {
					continue
				}
				said[relation{kind, from, to}] = v.Refs[m].Position
				if opposite, both := said[relation{kind, to, from}]; both {
					summary := quote(it.object.Key) + " and " + quote(v.Refs[m].Target.Key) + " are " + v.Field.Name + " in both directions"
					contradiction := problem{"contradiction", summary, "remove one of them"}
					a.warn(i, v.Refs[m].Position, memberPath(v.Field, m), contradiction, relatedPlace("the other way round at", opposite))
				}
			}
		}
	}
}

// indexName records that an item has a name.
func (rs *resolver) indexName(it *item, i int, name string) {
	if name == "" {
		return
	}
	key := objectKey{it.kind, it.parent, name}
	switch have, ok := rs.names[key]; {
	case !ok:
		rs.names[key] = namedItems{i, -1}
	case have.first != i && have.second < 0:
		rs.names[key] = namedItems{have.first, i}
	}
}

// resolveObject resolves the references of one object.
func (rs *resolver) resolveObject(i int) {
	o := rs.all.items[i].object
	for n := range o.Values {
		v := &o.Values[n]
		if v.Field.Type == resource.CustomFields {
			rs.bindCustomField(i, v)
		}
		if !v.Field.IsRef() {
			continue
		}
		k := rs.kinds.byName[v.Field.Ref]
		rs.resolveInWorkspace(i, v, k)
		if !rs.listed[k] && !k.AdoptOnRequestOnly && (!rs.offline || k.Section == "" || v.Field.IsLiteral != nil) {
			continue // not in the manifest, so they are looked up on the service
		}
		for m := range v.Refs {
			if ref := &v.Refs[m]; ref.Target == nil && ref.Text != "" {
				rs.resolveReference(i, v.Field, k, ref, m)
			}
			if v.Refs[m].Target == o && v.Field.Type == resource.RefSet { // a single reference to itself is reported as a cycle
				own := problem{"own-reference", quote(o.Key) + " names itself in " + v.Field.Name, "name another " + k.Noun()}
				rs.all.report(i, v.Refs[m].Position, memberPath(v.Field, m), own)
			}
		}
	}
}

// resolveInWorkspace resolves references that match no object of the project but an object of the workspace.
func (rs *resolver) resolveInWorkspace(i int, v *resource.Value, k *kindInfo) {
	or := rs.kinds.byName[v.Field.OrRef]
	if or == nil || !rs.listed[or] {
		return
	}
	find := func(k *kindInfo, scope int, text string) (at int, ok bool) {
		if at, ok = rs.all.byKey[objectKey{k, scope, text}]; ok {
			return at, true
		}
		named, ok := rs.names[objectKey{k, scope, text}]
		return named.first, ok
	}
	for m := range v.Refs {
		ref := &v.Refs[m]
		if _, own := find(k, rs.containerOf(i, k), ref.Text); own || ref.Target != nil {
			continue
		}
		if to, ok := find(or, -1, ref.Text); ok {
			ref.Target = rs.all.items[to].object
		}
	}
}

// countInParent counts the objects of a kind in one parent, and reports objects beyond the limit of the service.
func (rs *resolver) countInParent(counts map[objectKey]int, i int) {
	it := &rs.all.items[i]
	key := objectKey{kind: it.kind, parent: it.parent}
	if counts[key]++; counts[key] == 1 {
		rs.single[key] = i
	}
	if counts[key] > it.kind.most {
		code := map[bool]string{true: "one-only", false: "too-many"}[it.kind.most == 1]
		most := problem{code, diag.A(it.object.Parent.Kind.Noun()) + " has " + diag.Count(it.kind.most, it.kind.Noun()) + " at most", "remove the others"}
		rs.all.report(i, it.object.Position, "", most, relatedPlace("the first is at", rs.all.items[rs.single[key]].object.Position))
	}
}

// containerOf returns the item in which references to a kind are looked up. It returns -1 for the workspace, and for a single container
// that the manifest does not contain.
func (rs *resolver) containerOf(i int, k *kindInfo) int {
	within := k.NamedWithin()
	for i >= 0 && rs.all.items[i].kind.Name != within {
		i = rs.all.items[i].parent
	}
	if i >= 0 && k.Parent != within {
		if at, ok := rs.single[objectKey{kind: rs.kinds.byName[k.Parent], parent: i}]; ok {
			return at
		}
		return -1
	}
	return i
}

// resolveReference resolves a reference by key, name, identifier or ID. Other references are looked up on the service.
func (rs *resolver) resolveReference(i int, f *resource.Field, k *kindInfo, ref *resource.Reference, member int) {
	scope := rs.containerOf(i, k)
	if to, ok := rs.all.byKey[objectKey{k, scope, ref.Text}]; ok {
		ref.Target = rs.all.items[to].object
		return
	}
	if f.CrossProject && rs.resolveAcrossProjects(k, ref) {
		return
	}
	if to, ok := rs.names[objectKey{k, scope, ref.Text}]; ok {
		rs.setTarget(i, f, k, ref, to, member)
		return
	}
	if ref.ID != "" {
		if to, ok := rs.all.byID[identityKey{k, ref.Source, ref.ID}]; ok {
			ref.Target = rs.all.items[to].object
		}
		return
	}
	if k.Identifier != nil {
		upper := strings.ToUpper(ref.Text)
		if to, ok := rs.all.byID[identityKey{k, ref.Source, upper}]; ok && rs.all.items[to].parent == scope {
			ref.Target = rs.all.items[to].object
			return
		}
		if ref.Source != nil && k.Numbered() && k.IsIdentifier(ref.Text) && upper == ref.Text {
			return // Localize decides whether it has a meaning
		}
		if k.IsIdentifier(ref.Text) && rs.checkIdentifier(i, f, k, scope, ref) {
			return
		}
	}
	if !rs.complete || slices.Contains(k.Predefined, ref.Text) {
		return
	}
	if k.AdoptOnRequestOnly { // objects of the kind cannot be looked up by name on the service
		rs.all.found.addSuggesting(diag.Diagnostic{
			Code: "unknown-reference", Position: ref.Position,
			Path: rs.all.items.path(i) + memberPath(f, member), Address: rs.all.address(i),
			Summary: f.Name + " names no " + k.Noun() + " of the manifest: " + quote(ref.Text),
		}, func() string {
			if f.CrossProject {
				return rs.suggestAnywhere(k, scope, ref.Text)
			}
			return cmp.Or(rs.suggest(k, scope, "", ref.Text), referenceHint(k, ""))
		})
		return
	}
	key := objectKey{k, scope, ref.Text}
	if first, ok := rs.warned[key]; !ok || i < first {
		rs.warned[key] = i
	}
}

// resolveAcrossProjects resolves a reference that names the project too: web/checkout, or a readable identifier such as WEB-7.
func (rs *resolver) resolveAcrossProjects(k *kindInfo, ref *resource.Reference) bool {
	if outer, key, ok := strings.Cut(ref.Text, "/"); ok {
		if parent, ok := rs.all.byKey[objectKey{rs.kinds.byName[k.Parent], -1, outer}]; ok {
			if to, ok := rs.all.byKey[objectKey{k, parent, key}]; ok {
				ref.Target = rs.all.items[to].object
				return true
			}
		}
		return false
	}
	if !k.IsIdentifier(ref.Text) || strings.ToUpper(ref.Text) != ref.Text {
		return false
	}
	if to, ok := rs.all.byID[identityKey{k, ref.Source, ref.Text}]; ok {
		ref.Target = rs.all.items[to].object
	}
	return true
}

// memberPath returns the path of a reference in its object.
func memberPath(f *resource.Field, member int) string {
	if f.Type == resource.RefSet {
		return "." + f.Path() + "[" + strconv.Itoa(member) + "]"
	}
	return "." + f.Path()
}

// checkIdentifier checks a text that has the form of a readable identifier, and reports whether it is one.
func (rs *resolver) checkIdentifier(i int, f *resource.Field, k *kindInfo, scope int, ref *resource.Reference) bool {
	if k.Identifier.APIName != "" {
		return false // a single word can also be a name, so it is looked up
	}
	upper := strings.ToUpper(ref.Text)
	report := func(code, summary, hint string) {
		rs.all.report(i, ref.Position, "."+f.Path(), problem{code, summary, hint})
	}
	project := ""
	if scope >= 0 {
		project = rs.all.items[scope].object.Identifier
	}
	prefix, _, _ := strings.Cut(upper, "-")
	switch {
	case project != "" && prefix != strings.ToUpper(project):
		if upper != ref.Text {
			return false // an unknown key, such as sprint-1
		}
		parent := resource.MustLookup(k.Parent).Noun()
		report("other-"+k.Parent, f.Name+" "+quote(ref.Text)+" is in another "+parent+" than "+project, "name one of the same "+parent)
	case upper != ref.Text && project == "":
		return false
	case upper != ref.Text:
		report("identifier-case", "the service has identifiers in upper case only, not "+quote(ref.Text), "write "+upper)
	}
	return true
}

// setTarget sets the target, or reports that two objects have the name.
func (rs *resolver) setTarget(i int, f *resource.Field, k *kindInfo, ref *resource.Reference, to namedItems, member int) {
	first := rs.all.items[to.first].object
	if to.second < 0 {
		ref.Target = first
		return
	}
	second := rs.all.items[to.second].object
	if first.Key == second.Key {
		return // reported where the objects are written
	}
	summary, hint := "two "+diag.Plural(k.Noun())+" are called "+quote(ref.Text), "write the key of the one that you mean: "+first.Key+" or "+second.Key
	one, two := relatedPlace("one is at", first.Position), relatedPlace("the other at", second.Position)
	rs.all.report(i, ref.Position, memberPath(f, member), problem{"ambiguous-reference", summary, hint}, one, two)
}

// warnMissing warns of names that are similar to names in the manifest but not equal.
func (rs *resolver) warnMissing() {
	keys := slices.SortedFunc(maps.Keys(rs.warned), func(a, b objectKey) int {
		return cmp.Or(cmp.Compare(rs.warned[a], rs.warned[b]), strings.Compare(a.key, b.key), strings.Compare(a.kind.Name, b.kind.Name))
	})
	const most = 200 // names that are compared with all others
	for _, key := range keys[:min(most, len(keys))] {
		i := rs.warned[key]
		o := rs.all.items[i].object
		rs.all.found.element = rs.all.items[i].made
		all := rs.candidates(key.kind, key.parent, "")
		summary := "no " + key.kind.Noun() + " of the manifest is called " + quote(key.key) + "; it will be looked up on the service"
		hint := diag.Choose(key.key, all)
		if len(diag.Typo(key.key, all)) == 0 {
			within := rs.newContainer(key.parent)
			if within == nil {
				continue
			}
			summary = "if " + string(within.Address) + " does not exist yet, it has no " + key.kind.Noun() + " " + quote(key.key)
			hint = "list it under " + key.kind.Section + ":"
		}
		for n := range o.Values {
			v := &o.Values[n]
			if v.Field.Ref != key.kind.Name {
				continue
			}
			for m := range v.Refs {
				if ref := &v.Refs[m]; ref.Target == nil && ref.Text == key.key {
					rs.all.warn(i, ref.Position, memberPath(v.Field, m), problem{"not-in-manifest", summary, hint})
				}
			}
		}
	}
	rs.all.found.element = nil
}

// newContainer returns the outermost object around an item if this object would be created, and nothing is looked up on the service.
// Otherwise it returns nil.
func (rs *resolver) newContainer(i int) *resource.Object {
	if i < 0 || !rs.offline || !rs.all.items[i].ok {
		return nil
	}
	o := rs.all.items[i].object
	if o.Parent != nil {
		return rs.newContainer(rs.all.items[i].parent)
	}
	if o.ID != "" || o.NoCreate || len(o.Missing()) > 0 {
		return nil
	}
	return o
}

// suggest returns a hint with keys and names that are similar to a text. Keys get a prefix.
func (rs *resolver) suggest(k *kindInfo, scope int, prefix, text string) string {
	return diag.DidYouMean(text, rs.candidates(k, scope, prefix))
}

// candidates returns the names of the objects of a kind, and their keys with a prefix.
func (rs *resolver) candidates(k *kindInfo, scope int, prefix string) []string {
	const most = 20_000 // with more candidates, the comparison would take too long
	var candidates []string
	for i := range rs.all.items {
		it := &rs.all.items[i]
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

// suggestAnywhere returns a hint for a reference that may name an object of another project.
func (rs *resolver) suggestAnywhere(k *kindInfo, scope int, text string) string {
	prefix := ""
	if outer, _, ok := strings.Cut(text, "/"); ok {
		scope, prefix = -1, outer+"/"
		if parent, ok := rs.all.byKey[objectKey{rs.kinds.byName[k.Parent], -1, outer}]; ok {
			scope = parent
		}
	}
	hint := ""
	if scope >= 0 {
		hint = rs.suggest(k, scope, prefix, text)
	}
	return cmp.Or(hint, referenceHint(k, ", the keys of another "+resource.MustLookup(k.Parent).Noun()+" and the "+k.Noun()+" in it, such as web/checkout"))
}

// referenceHint explains how to refer to an object of a kind that is not looked up by name.
func referenceHint(k *kindInfo, more string) string {
	if k.Identifier != nil {
		more += ", " + identifierExample(k)
	}
	return "write the key of " + diag.A(k.Noun()) + " in the same " + resource.MustLookup(k.Parent).Noun() + more + ", or an ID"
}
