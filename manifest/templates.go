package manifest

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/yamltext"
	"github.com/planform/planform/schema"
)

// Where references to the variables of a document and to the element of a for_each begin.
const (
	varsWord = "vars"
	eachWord = "each"
)

// value is what a name stands for: a node, and the file in which it stands.
type value struct {
	node *node
	file string
}

func (v value) position() diag.Position {
	return diag.Position{File: v.file, Line: v.node.Line, Column: v.node.Column}
}

// element is one of those that a for_each goes through.
type element struct {
	name  string // that references to it begin with
	value value
	outer *element // of the for_each around
}

// related tell for which elements something is found.
func (e *element) related() []diag.Related {
	var list []diag.Related
	for ; e != nil; e = e.outer {
		list = append(list, diag.Related{Position: e.value.position(), Note: e.name + " is at"})
	}
	return list
}

// expander writes out one document: it makes objects of what a for_each stands in, and puts values where references
// stand. What it makes are nodes, never YAML, and it looks once at what is written in the document and not at all at
// values from elsewhere. What it does not change stays the same node.
type expander struct {
	*pass

	vars      map[string]value
	made      map[*node]*element // the objects that a for_each made
	ancestors ancestors
	declares  bool // it is at the values of variables, which cannot refer to anything
	failed    bool // something could not be written out, and that was told
}

// isTemplate reports whether references mean something in a document: it has variables or a for_each.
func isTemplate(root *node) bool {
	for key := range yamltext.Pairs(root.Content) {
		if root.Kind == mappingNode && key.Kind == scalarNode && key.Value == schema.Vars {
			return true
		}
	}
	return usesForEach(root)
}

func usesForEach(n *node) bool {
	for i, c := range n.Content {
		if n.Kind == mappingNode && i%2 == 0 && c.Value == schema.ForEach && c.Kind == scalarNode || usesForEach(c) {
			return true
		}
	}
	return false
}

// document writes out the properties of a document, keys and values in turn.
func (x *expander) document(pairs []*node) []*node {
	for key, value := range yamltext.Pairs(pairs) {
		if key = resolved(key); key != nil && key.Value == schema.Vars {
			x.declare(value)
		}
	}
	root := &node{Kind: mappingNode, Content: pairs}
	written := x.parts(root, root, func(key, value *node) *node {
		if k, isSection := x.kinds.top[key.Value]; isSection {
			return x.list(k, value, nil)
		}
		if strings.HasPrefix(key.Value, schema.Extension) ||
			slices.Contains([]string{schema.Vars, schema.Include, schema.Version}, key.Value) {
			return value
		}
		return x.value(value, nil)
	})
	if x.budget.overfull {
		return nil
	}
	return written.Content
}

// list writes out a list of objects of a kind, or of whatever a field holds if k is nil.
func (x *expander) list(k *kindInfo, n *node, e *element) *node {
	to, written, leave := x.enter(n, e)
	defer leave()
	if to != nil && to.Kind == mappingNode && k != nil && schema.TakesFolder(k.Kind) {
		return x.parts(n, to, func(_, value *node) *node { return x.value(value, e) })
	}
	if to == nil || to.Kind != sequenceNode {
		return written
	}
	content, changed := make([]*node, 0, len(to.Content)), false
	for _, entry := range to.Content {
		if objects, ok := x.forEach(k, entry, e); ok {
			content, changed = append(content, objects...), true
			continue
		}
		o := x.object(k, entry, e)
		content, changed = append(content, o), changed || o != entry
	}
	if !changed {
		return n
	}
	return at(n, to, content)
}

// enter gives the list or mapping that n stands for, or nil where it is neither. written is n as it is to be, without a look
// into that. leave must be called when it has been dealt with.
func (x *expander) enter(n *node, e *element) (to, written *node, leave func()) {
	to, leave = x.ancestors.enter(n)
	switch {
	case to == nil || !x.spend(n, 1):
		return nil, n, leave
	case to.Kind == scalarNode:
		return nil, x.scalar(n, to, e), leave
	}
	return to, n, leave
}

// at is a list or mapping with other contents, in the place of n.
func at(n, of *node, content []*node) *node {
	return &node{Kind: of.Kind, Style: of.Style, Tag: of.Tag, Content: content, Line: n.Line, Column: n.Column}
}

// object writes out one object.
func (x *expander) object(k *kindInfo, n *node, e *element) *node {
	if k == nil {
		return x.value(n, e)
	}
	to, written, leave := x.enter(n, e)
	defer leave()
	if to == nil || to.Kind != mappingNode {
		return written
	}
	return x.parts(n, to, func(key, value *node) *node {
		if i := slices.IndexFunc(k.sections, func(s section) bool { return s.name == key.Value }); i >= 0 {
			return x.list(k.sections[i].kind, value, e)
		}
		if list := resolved(value); list != nil && list.Kind == sequenceNode {
			return x.list(nil, value, e) // such as members
		}
		return x.value(value, e)
	})
}

// value writes out whatever holds no objects.
func (x *expander) value(n *node, e *element) *node {
	to, written, leave := x.enter(n, e)
	defer leave()
	if to == nil {
		return written
	}
	return x.parts(n, to, func(_, value *node) *node { return x.value(value, e) })
}

// parts gives every entry of a list, or every property of a mapping, its new value. key is nil in a list.
func (x *expander) parts(n, to *node, each func(key, value *node) *node) *node {
	content, isMapping := to.Content, to.Kind == mappingNode
	if isMapping {
		content = x.pairs(to)
	}
	var changed []*node
	for i, part := range content {
		var key *node
		if isMapping {
			if i%2 == 0 {
				continue
			}
			if key = resolved(content[i-1]); key == nil {
				continue
			}
		}
		v := each(key, part)
		if v != part && changed == nil {
			changed = slices.Clone(content)
		}
		if changed != nil {
			changed[i] = v
		}
	}
	if changed == nil {
		return n
	}
	return at(n, to, changed)
}

// forEach makes an object for each element, if the entry of a list says so.
func (x *expander) forEach(k *kindInfo, entry *node, outer *element) (objects []*node, ok bool) {
	to, leave := x.ancestors.enter(entry)
	defer leave()
	if to == nil || to.Kind != mappingNode {
		return nil, false
	}
	var over, as *node
	var rest []*node
	for written, value := range x.each(to) {
		of, key := &over, resolved(written)
		switch {
		case key != nil && key.Value == schema.ForEach:
		case key != nil && key.Value == schema.As:
			of = &as
		default:
			rest = append(rest, written, value)
			continue
		}
		if *of != nil {
			x.twice(key.Value, *of, written, "")
		}
		*of = value
	}
	if over == nil {
		return nil, false
	}
	name, list := x.elementName(as), x.elements(over, outer)
	if name == "" {
		return nil, true
	}
	template := at(entry, to, rest)
	for _, v := range list {
		e := &element{name, v, outer}
		if !x.spend(entry, 1) {
			return nil, true
		}
		o := x.object(k, template, e)
		if o == template {
			o = at(entry, to, rest)
		}
		x.made[o] = e
		objects = append(objects, o)
	}
	return objects, true
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	partOfName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*(\.|$)`)
	environment  = regexp.MustCompile(`^PLANFORM_[A-Za-z0-9_]+$`)
)

// elementName is what references to the element of a for_each begin with.
func (x *expander) elementName(as *node) string {
	if as == nil {
		return eachWord
	}
	to := resolved(as)
	if to == nil || to.Kind != scalarNode || !variableName.MatchString(to.Value) || to.Value == varsWord {
		x.report(as, nil, "bad-template", schema.As+" gives the element a name of letters, digits, - and _, not "+describe(as),
			"write "+schema.As+": project, for ${{ project.NAME }}")
		return ""
	}
	return to.Value
}

// elements are those that a for_each goes through.
func (x *expander) elements(over *node, outer *element) []value {
	list := value{x.value(over, outer), x.source.name}
	to := resolved(over)
	if to != nil && to.Kind == scalarNode {
		if v, whole := x.whole(to, outer); whole { // the elements keep their places
			list = v
		}
	}
	to = resolved(list.node)
	if name, isTable := tableName(to); isTable {
		var ok bool
		if list, ok = x.given.table(x, over, name); !ok {
			return nil
		}
		to = list.node
	}
	switch {
	case to == nil || isBroken(to):
		return nil
	case to.Kind != sequenceNode:
		x.report(over, outer, "bad-template", schema.ForEach+" goes through a list, not "+describe(to),
			"write "+schema.ForEach+": [{key: web}, {key: ops}], {csv: FILE} or ${{ vars.NAME }}")
		return nil
	}
	all := make([]value, 0, len(to.Content))
	for _, n := range to.Content {
		if n = resolved(n); n != nil && x.spend(over, 1) {
			all = append(all, value{n, list.file})
		}
	}
	return all
}

// tableName is the file that a value {csv: FILE} names.
func tableName(n *node) (name *node, ok bool) {
	if n == nil || n.Kind != mappingNode || len(n.Content) != 2 || n.Content[0].Value != "csv" {
		return nil, false
	}
	return resolved(n.Content[1]), true
}

// reference finds what may refer to a value: $ before it, the first word, the rest, and its end, if it has one.
var reference = regexp.MustCompile(`(\$?)\$\{\{[ \t]*([A-Za-z_][A-Za-z0-9_-]*)?([^}\n]*)(\}\})?`)

// Refers reports whether a document with variables takes a text for a reference.
func Refers(text string) bool { return strings.Contains(text, "${{") }

// scalar puts values where references stand in a text. n is where it stands: the text itself or its alias.
func (x *expander) scalar(n, text *node, e *element) *node {
	if !x.spend(n, len(text.Value)/searchedBytes) {
		return n
	}
	var all [][]int
	if strings.Contains(text.Value, "${{") {
		if !x.spend(n, len(text.Value)/matchedBytes) {
			return n
		}
		if v, whole := x.whole(text, e); whole {
			return x.copyOf(v, n)
		}
		all = reference.FindAllStringSubmatchIndex(text.Value, -1)
	}
	var b strings.Builder
	var origins []diag.Position
	known := map[diag.Position]bool{} // those, each of which is told once
	rest := 0
	if !x.spend(n, len(all)) {
		return n
	}
	for _, m := range all {
		b.WriteString(text.Value[rest:m[0]])
		rest = m[1]
		if m[2] < m[3] { // a doubled $ writes what stands behind it
			b.WriteString(text.Value[m[0]+1 : m[1]])
			continue
		}
		word, path := "", text.Value[m[6]:m[7]]
		if m[4] >= 0 {
			word = text.Value[m[4]:m[5]]
		}
		v, ok := x.lookup(n, word, path, m[8] >= 0, e)
		if !ok {
			return broken(n)
		}
		name := word + path
		switch to := resolved(v.node); {
		case to == nil || to.Kind != scalarNode:
			x.report(n, e, "bad-template", strings.TrimSpace(name)+" is "+nodeType(v.node)+", and cannot be a part of a text",
				"write the reference alone, as the whole value")
			return broken(n)
		case isNull(to):
			x.report(n, e, "bad-template", strings.TrimSpace(name)+" is empty, and cannot be a part of a text", `write "" where no text is meant`)
			return broken(n)
		default:
			of := x.originsOf(to, v.file)
			if len(of) > 1 && !x.spend(n, len(of)) {
				return broken(n)
			}
			for _, at := range of {
				if !known[at] {
					known[at], origins = true, append(origins, at)
				}
			}
			if b.WriteString(to.Value); b.Len() > x.budget.limits.ScalarBytes {
				x.report(n, e, "too-large", "the text is larger than "+bytesText(int64(x.budget.limits.ScalarBytes))+" with the values in it", "")
				return broken(n)
			}
		}
	}
	if rest == 0 {
		return n
	}
	b.WriteString(text.Value[rest:])
	if !x.spend(n, b.Len()/elementBytes) {
		return n
	}
	made := &node{Kind: scalarNode, Tag: text.Tag, Style: text.Style, Value: b.String(), Line: n.Line, Column: n.Column}
	if x.origins != nil {
		x.origins[made] = origins
	}
	return made
}

// originsOf returns where a text stands, or where the texts stand that its references lead to.
func (x *expander) originsOf(n *node, file string) []diag.Position {
	if of, ok := x.origins[n]; ok || x.origins == nil {
		return of
	}
	return []diag.Position{value{n, file}.position()}
}

// whole is the value of a text that is one reference and nothing else.
func (x *expander) whole(text *node, e *element) (v value, ok bool) {
	m := reference.FindStringSubmatch(text.Value)
	if m == nil || m[0] != text.Value || m[1] != "" || m[2] == "" || m[4] == "" {
		return v, false
	}
	if v, ok = x.lookup(text, m[2], m[3], true, e); !ok {
		v.node = broken(text)
	}
	return v, true
}

// words are the first words of references.
func (x *expander) words(e *element) []string {
	words := []string{varsWord, eachWord}
	for ; e != nil; e = e.outer {
		words = append(words, e.name)
	}
	return words
}

// orText adds to a hint how to write as text what looks like a reference.
func orText(hint, reference string) string {
	if !strings.HasSuffix(hint, "?") {
		hint += ";"
	}
	return hint + " if it is meant as text, write $${{ " + truncate(strings.TrimSpace(reference)) + " }}"
}

// lookup finds what a reference means.
func (x *expander) lookup(n *node, word, path string, closed bool, e *element) (v value, ok bool) {
	path = strings.TrimSpace(path)
	of := e
	for of != nil && of.name != word {
		of = of.outer
	}
	name, dotted := strings.CutPrefix(path, ".")
	words := x.words(e)
	switch {
	case word == "env" && dotted:
		x.report(n, e, "unknown-reference", quote(strings.TrimSpace("${{ "+word+path)+" }}")+" is no reference",
			orText("declare a variable for it: vars: {NAME: {env: PLANFORM_NAME}}, and write ${{ vars.NAME }}", word+path))
	case !slices.Contains(words, word) && (dotted || path == "" && word != ""):
		x.report(n, e, "unknown-reference", "nothing is called "+quote(word)+" here", orText(diag.OneOf(word, words), word+path))
	case !slices.Contains(words, word):
		x.report(n, e, "unknown-reference", quote(strings.TrimSpace("${{ "+word+path)+" }}")+" is no reference",
			orText("write ${{ vars.NAME }}, since nothing is computed", word+path))
	case x.declares:
		x.report(n, e, "bad-template", "the value of a variable refers to nothing else", orText("write the text itself", word+path))
	case !closed:
		x.report(n, e, "bad-template", "the reference ${{ "+word+truncate(path)+" has no end",
			orText("write ${{ "+word+".NAME }}", word+path))
	case path != "" && (!dotted || name == "" || word == varsWord && !partOfName.MatchString(name)):
		x.report(n, e, "bad-template", "the reference "+quote(word+path)+" is more than a name",
			"write ${{ "+word+".NAME }}: nothing is computed")
	case word == varsWord && name == "":
		x.report(n, e, "bad-template", "the reference names no variable", orText("write ${{ vars.NAME }}", word+path))
	case word == varsWord:
		first, rest, _ := strings.Cut(name, ".")
		if v, ok = x.vars[first]; !ok {
			hint := "declare it under vars:, in this document"
			if _, passed := x.source.passed[first]; passed {
				hint = "declare it in this document too, without a value: it gets that of the document that includes it"
			} else if names := slices.Sorted(maps.Keys(x.vars)); len(names) > 0 {
				hint = diag.OneOf(first, names)
			}
			x.report(n, e, "unknown-reference", "there is no variable "+quote(first), orText(hint, word+path))
			return v, false
		}
		return x.member(n, varsWord+"."+first, v, rest, e)
	case of == nil:
		x.report(n, e, "unknown-reference", "${{ "+word+" }} means something only in an object with "+schema.ForEach,
			orText("is the line indented like its neighbours?", word+path))
	default:
		return x.member(n, word, of.value, name, e)
	}
	return v, false
}

// member finds a part of a mapping. A name may have dots, as the header of a column does.
func (x *expander) member(n *node, of string, v value, path string, e *element) (value, bool) {
	for path != "" {
		to := resolved(v.node)
		if to == nil || to.Kind != mappingNode {
			x.report(n, e, "unknown-reference", of+" is "+nodeType(v.node)+" and has no "+quote(path), "write ${{ "+of+" }}")
			return v, false
		}
		pairs := x.pairs(to)
		if !x.spend(n, len(pairs)/searchedPairs) {
			return v, false
		}
		first, rest, _ := strings.Cut(path, ".")
		var whole, part *node
		for written, value := range yamltext.Pairs(pairs) {
			switch key := resolved(written); {
			case key == nil || key.Kind != scalarNode:
			case key.Value == path:
				whole = value
			case key.Value == first:
				part = value
			}
		}
		switch {
		case whole != nil:
			return value{whole, v.file}, true
		case part == nil:
			x.report(n, e, "unknown-reference", of+" has no "+quote(first), cmp.Or(diag.OneOf(first, keysOf(pairs)), "it is empty"))
			return v, false
		}
		v, path, of = value{part, v.file}, rest, of+"."+first
	}
	return v, true
}

// keysOf are the keys of a mapping, as many as are compared with a word for a hint.
func keysOf(pairs []*node) []string {
	const most = 1000
	var names []string
	for key := range yamltext.Pairs(pairs) {
		if key = resolved(key); key != nil && key.Kind == scalarNode && len(names) < most {
			names = append(names, key.Value)
		}
	}
	slices.Sort(names)
	return names
}

// copyOf is a value in the place of its reference.
func (x *expander) copyOf(v value, place *node) *node {
	to, leave := x.ancestors.enter(v.node)
	defer leave()
	if to == nil || !x.spend(place, 1) {
		return broken(place)
	}
	content := to.Content
	if to.Kind == mappingNode {
		content = x.pairs(to)
	}
	c := at(place, to, nil)
	if c.Value = to.Value; to.Kind == scalarNode && x.origins != nil {
		x.origins[c] = x.originsOf(to, v.file)
	}
	for _, part := range content {
		c.Content = append(c.Content, x.copyOf(value{part, v.file}, place))
	}
	return c
}

// report reports what makes a template useless, and for which element.
func (x *expander) report(n *node, e *element, code, summary, hint string) {
	x.failed = true
	x.found.made = e
	x.tell(n, "", problem{code, summary, hint})
	x.found.made = nil
}

// spend counts elements that are looked at or made, and reports whether there may be so many.
func (x *expander) spend(n *node, elements int) bool {
	before := x.budget.overfull
	if x.budget.fill(elements) {
		return true
	}
	if !before {
		x.report(n, nil, "template-expansion", "the templates of the manifests stand for too many elements",
			"split the manifests and apply the parts one after another")
	}
	return false
}

// brokenTag marks what stands where a reference means nothing, so that nothing else is said of it.
const brokenTag = "!planform-broken"

func broken(place *node) *node {
	return &node{Kind: scalarNode, Tag: brokenTag, Line: place.Line, Column: place.Column}
}

func isBroken(n *node) bool {
	return n.Tag == brokenTag && n.Style&taggedStyle == 0 && n.Kind == scalarNode
}
