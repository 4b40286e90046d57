package manifest

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/yamltext"
	"github.com/planform/planform/schema"
)

// First words of references to the variables of a document, and to the element of a for_each.
const (
	varsWord = "vars"
	eachWord = "each"
)

// fileNode is a node together with the name of its file.
type fileNode struct {
	node *node
	file string
}

func (fn fileNode) position() diag.Position {
	return diag.Position{File: fn.file, Line: fn.node.Line, Column: fn.node.Column}
}

// element is one element of the list that a for_each repeats over.
type element struct {
	name  string // the first word of references to it
	value fileNode
	outer *element // the element of the surrounding for_each, or nil
}

// related returns the positions of the for_each elements around an object, for a finding.
func (e *element) related() []diag.Related {
	var list []diag.Related
	for ; e != nil; e = e.outer {
		list = append(list, diag.Related{Position: e.value.position(), Note: e.name + " is at"})
	}
	return list
}

// expander expands the templates of one document: for_each becomes objects, and references become values. It works on nodes, not on text,
// and expands only what the document contains, not the values. Nodes without templates stay the same.
type expander struct {
	*pass

	vars      map[string]fileNode
	made      map[*node]*element // the objects that a for_each made
	ancestors ancestors
	declares  bool // the values of variables are being read, which cannot contain references
	failed    bool // a template could not be expanded, and that was reported
}

// isTemplate reports whether a document has variables or a for_each. Only then its references have a meaning.
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

// expandDocument expands the properties of a document, keys and values in turn. It returns nil if the budget is exceeded.
func (x *expander) expandDocument(pairs []*node) []*node {
	for key, value := range yamltext.Pairs(pairs) {
		if key = resolved(key); key != nil && key.Value == schema.Vars {
			x.readVariables(value)
		}
	}
	root := &node{Kind: mappingNode, Content: pairs}
	written := x.replaceParts(root, root, func(key, value *node) *node {
		if k, isSection := x.kinds.top[key.Value]; isSection {
			return x.expandList(k, value, nil)
		}
		if strings.HasPrefix(key.Value, schema.Extension) ||
			slices.Contains([]string{schema.Vars, schema.Include, schema.Version}, key.Value) {
			return value
		}
		return x.expandValue(value, nil)
	})
	if x.budget.overfull {
		return nil
	}
	return written.Content
}

// expandList expands a list of objects of kind k, or any other list if k is nil.
func (x *expander) expandList(k *kindInfo, n *node, e *element) *node {
	to, written, leave := x.enter(n, e)
	defer leave()
	if to != nil && to.Kind == mappingNode && k != nil && schema.TakesFolder(k.Kind) {
		return x.replaceParts(n, to, func(_, value *node) *node { return x.expandValue(value, e) })
	}
	if to == nil || to.Kind != sequenceNode {
		return written
	}
	content, changed := make([]*node, 0, len(to.Content)), false
	for _, entry := range to.Content {
		if objects, ok := x.expandForEach(k, entry, e); ok {
			content, changed = append(content, objects...), true
			continue
		}
		o := x.expandObject(k, entry, e)
		content, changed = append(content, o), changed || o != entry
	}
	if !changed {
		return n
	}
	return withContent(n, to, content)
}

// enter returns the list or mapping that n stands for, or nil. For other nodes, written is n in its expanded form. The caller calls leave
// after the node.
func (x *expander) enter(n *node, e *element) (to, written *node, leave func()) {
	to, leave = x.ancestors.enter(n)
	switch {
	case to == nil || !x.spend(n, 1):
		return nil, n, leave
	case to.Kind == scalarNode:
		return nil, x.fillText(n, to, e), leave
	}
	return to, n, leave
}

// withContent returns a copy of a list or mapping with other contents, at the position of n.
func withContent(n, of *node, content []*node) *node {
	return &node{Kind: of.Kind, Style: of.Style, Tag: of.Tag, Content: content, Line: n.Line, Column: n.Column}
}

// expandObject expands one object.
func (x *expander) expandObject(k *kindInfo, n *node, e *element) *node {
	if k == nil {
		return x.expandValue(n, e)
	}
	to, written, leave := x.enter(n, e)
	defer leave()
	if to == nil || to.Kind != mappingNode {
		return written
	}
	return x.replaceParts(n, to, func(key, value *node) *node {
		if i := slices.IndexFunc(k.sections, func(s section) bool { return s.name == key.Value }); i >= 0 {
			return x.expandList(k.sections[i].kind, value, e)
		}
		if list := resolved(value); list != nil && list.Kind == sequenceNode {
			return x.expandList(nil, value, e) // such as members
		}
		return x.expandValue(value, e)
	})
}

// expandValue expands a value that contains no objects.
func (x *expander) expandValue(n *node, e *element) *node {
	to, written, leave := x.enter(n, e)
	defer leave()
	if to == nil {
		return written
	}
	return x.replaceParts(n, to, func(_, value *node) *node { return x.expandValue(value, e) })
}

// replaceParts replaces each entry of a list, or each value of a mapping, by the result of each. key is nil in a list.
func (x *expander) replaceParts(n, to *node, each func(key, value *node) *node) *node {
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
	return withContent(n, to, changed)
}

// expandForEach returns an object for each element if a list entry has for_each; otherwise ok is false.
func (x *expander) expandForEach(k *kindInfo, entry *node, outer *element) (objects []*node, ok bool) {
	to, leave := x.ancestors.enter(entry)
	defer leave()
	if to == nil || to.Kind != mappingNode {
		return nil, false
	}
	var over, as *node
	var rest []*node
	for written, value := range x.eachPair(to) {
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
			x.reportDuplicate(key.Value, *of, written, "")
		}
		*of = value
	}
	if over == nil {
		return nil, false
	}
	name, list := x.readElementName(as), x.readElements(over, outer)
	if name == "" {
		return nil, true
	}
	template := withContent(entry, to, rest)
	for _, v := range list {
		e := &element{name, v, outer}
		if !x.spend(entry, 1) {
			return nil, true
		}
		o := x.expandObject(k, template, e)
		if o == template {
			o = withContent(entry, to, rest)
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

// readElementName returns the first word of references to the element of a for_each, or "" if the word is invalid.
func (x *expander) readElementName(as *node) string {
	if as == nil {
		return eachWord
	}
	to := resolved(as)
	if to == nil || to.Kind != scalarNode || !variableName.MatchString(to.Value) || to.Value == varsWord {
		x.report(as, nil, "bad-template", schema.As+" must be a name of letters, digits, - and _, not "+describe(as),
			"write "+schema.As+": project, for ${{ project.NAME }}")
		return ""
	}
	return to.Value
}

// readElements returns the elements that a for_each repeats over.
func (x *expander) readElements(over *node, outer *element) []fileNode {
	list := fileNode{x.expandValue(over, outer), x.source.name}
	to := resolved(over)
	if to != nil && to.Kind == scalarNode {
		if v, whole := x.wholeReference(to, outer); whole { // through a whole reference, elements keep their positions
			list = v
		}
	}
	to = resolved(list.node)
	if name, isTable := tableName(to); isTable {
		var ok bool
		if list, ok = x.given.readTable(x, over, name); !ok {
			return nil
		}
		to = list.node
	}
	switch {
	case to == nil || isBroken(to):
		return nil
	case to.Kind != sequenceNode:
		x.report(over, outer, "bad-template", schema.ForEach+" needs a list, not "+describe(to),
			"write "+schema.ForEach+": [{key: web}, {key: ops}], {csv: FILE} or ${{ vars.NAME }}")
		return nil
	}
	all := make([]fileNode, 0, len(to.Content))
	for _, n := range to.Content {
		if n = resolved(n); n != nil && x.spend(over, 1) {
			all = append(all, fileNode{n, list.file})
		}
	}
	return all
}

// tableName returns the file that a value {csv: FILE} names.
func tableName(n *node) (name *node, ok bool) {
	if n == nil || n.Kind != mappingNode || len(n.Content) != 2 || n.Content[0].Value != "csv" {
		return nil, false
	}
	return resolved(n.Content[1]), true
}

// reference matches a possible reference: a $ before it, the first word, the rest, and its end if present.
var reference = regexp.MustCompile(`(\$?)\$\{\{[ \t]*([A-Za-z_][A-Za-z0-9_-]*)?([^}\n]*)(\}\})?`)

// Refers reports whether a text looks like a reference in a document with variables.
func Refers(text string) bool { return strings.Contains(text, "${{") }

// fillText replaces the references in a text by their values. n is the text itself, or its alias.
func (x *expander) fillText(n, text *node, e *element) *node {
	if !x.spend(n, len(text.Value)/searchedBytes) {
		return n
	}
	var all [][]int
	if strings.Contains(text.Value, "${{") {
		if !x.spend(n, len(text.Value)/matchedBytes) {
			return n
		}
		if v, whole := x.wholeReference(text, e); whole {
			return x.copyValue(v, n)
		}
		all = reference.FindAllStringSubmatchIndex(text.Value, -1)
	}
	var b strings.Builder
	var origins []diag.Position
	known := map[diag.Position]bool{} // the entries of origins
	rest := 0
	if !x.spend(n, len(all)) {
		return n
	}
	for _, m := range all {
		b.WriteString(text.Value[rest:m[0]])
		rest = m[1]
		if m[2] < m[3] { // a doubled $ escapes the reference
			b.WriteString(text.Value[m[0]+1 : m[1]])
			continue
		}
		word, path := "", text.Value[m[6]:m[7]]
		if m[4] >= 0 {
			word = text.Value[m[4]:m[5]]
		}
		v, ok := x.lookup(n, word, path, m[8] >= 0, e)
		if !ok {
			return brokenNode(n)
		}
		name := word + path
		switch to := resolved(v.node); {
		case to == nil || to.Kind != scalarNode:
			x.report(n, e, "bad-template", strings.TrimSpace(name)+" is "+nodeType(v.node)+", so it cannot be part of a text",
				"write the reference alone, as the whole value")
			return brokenNode(n)
		case isNull(to):
			x.report(n, e, "bad-template", strings.TrimSpace(name)+" is empty, so it cannot be part of a text", `write "" where no text is meant`)
			return brokenNode(n)
		default:
			of := x.originsOf(to, v.file)
			if len(of) > 1 && !x.spend(n, len(of)) {
				return brokenNode(n)
			}
			for _, at := range of {
				if !known[at] {
					known[at], origins = true, append(origins, at)
				}
			}
			if b.WriteString(to.Value); b.Len() > x.budget.limits.ScalarBytes {
				x.report(n, e, "too-large", "the text is larger than "+bytesText(int64(x.budget.limits.ScalarBytes))+" with the values in it", "")
				return brokenNode(n)
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

// originsOf returns the position of a text, or the positions of the texts that replaced its references.
func (x *expander) originsOf(n *node, file string) []diag.Position {
	if of, ok := x.origins[n]; ok || x.origins == nil {
		return of
	}
	return []diag.Position{fileNode{n, file}.position()}
}

// wholeReference returns the value of a text that consists of one reference only.
func (x *expander) wholeReference(text *node, e *element) (v fileNode, ok bool) {
	m := reference.FindStringSubmatch(text.Value)
	if m == nil || m[0] != text.Value || m[1] != "" || m[2] == "" || m[4] == "" {
		return v, false
	}
	if v, ok = x.lookup(text, m[2], m[3], true, e); !ok {
		v.node = brokenNode(text)
	}
	return v, true
}

// firstWords returns the valid first words of references.
func (x *expander) firstWords(e *element) []string {
	words := []string{varsWord, eachWord}
	for ; e != nil; e = e.outer {
		words = append(words, e.name)
	}
	return words
}

// orText adds to a hint how to write a text that looks like a reference.
func orText(hint, reference string) string {
	if !strings.HasSuffix(hint, "?") {
		hint += ";"
	}
	return hint + " if it is meant as text, write $${{ " + truncate(strings.TrimSpace(reference)) + " }}"
}

// lookup returns the value of the reference ${{ word path }} in the text n, or reports why there is no value. For ${{ vars.NAME }}, word is
// vars and path is .NAME. closed is false if the reference has no end. e is the element of the innermost for_each around the text, or nil.
func (x *expander) lookup(n *node, word, path string, closed bool, e *element) (v fileNode, ok bool) {
	path = strings.TrimSpace(path)
	of := e
	for of != nil && of.name != word {
		of = of.outer
	}
	name, dotted := strings.CutPrefix(path, ".")
	words := x.firstWords(e)
	switch {
	case word == "env" && dotted:
		x.report(n, e, "unknown-reference", quote(strings.TrimSpace("${{ "+word+path)+" }}")+" is not a valid reference",
			orText("declare a variable for it: vars: {NAME: {env: PLANFORM_NAME}}, and write ${{ vars.NAME }}", word+path))
	case !slices.Contains(words, word) && (dotted || path == "" && word != ""):
		x.report(n, e, "unknown-reference", "unknown name "+quote(word)+" in a reference", orText(diag.OneOf(word, words), word+path))
	case !slices.Contains(words, word):
		x.report(n, e, "unknown-reference", quote(strings.TrimSpace("${{ "+word+path)+" }}")+" is not a valid reference",
			orText("write ${{ vars.NAME }}: a reference cannot contain an expression", word+path))
	case x.declares:
		x.report(n, e, "bad-template", "the value of a variable cannot contain a reference", orText("write the text itself", word+path))
	case !closed:
		x.report(n, e, "bad-template", "the reference ${{ "+word+truncate(path)+" has no end",
			orText("write ${{ "+word+".NAME }}", word+path))
	case path != "" && (!dotted || name == "" || word == varsWord && !partOfName.MatchString(name)):
		x.report(n, e, "bad-template", "the reference "+quote(word+path)+" is more than a name",
			"write ${{ "+word+".NAME }}: a reference cannot contain an expression")
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
		return x.lookupMember(n, varsWord+"."+first, v, rest, e)
	case of == nil:
		x.report(n, e, "unknown-reference", "${{ "+word+" }} can be used only in an object with "+schema.ForEach,
			orText("is the line indented like its neighbours?", word+path))
	default:
		return x.lookupMember(n, word, of.value, name, e)
	}
	return v, false
}

// lookupMember returns a member of a mapping. Names may contain dots, like column headers.
func (x *expander) lookupMember(n *node, of string, v fileNode, path string, e *element) (fileNode, bool) {
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
			return fileNode{whole, v.file}, true
		case part == nil:
			x.report(n, e, "unknown-reference", of+" has no "+quote(first), cmp.Or(diag.OneOf(first, keysOf(pairs)), "it is empty"))
			return v, false
		}
		v, path, of = fileNode{part, v.file}, rest, of+"."+first
	}
	return v, true
}

// keysOf returns the keys of a mapping, up to a number that can be compared for a hint.
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

// copyValue returns a copy of a value at the position of its reference.
func (x *expander) copyValue(v fileNode, place *node) *node {
	to, leave := x.ancestors.enter(v.node)
	defer leave()
	if to == nil || !x.spend(place, 1) {
		return brokenNode(place)
	}
	content := to.Content
	if to.Kind == mappingNode {
		content = x.pairs(to)
	}
	c := withContent(place, to, nil)
	if c.Value = to.Value; to.Kind == scalarNode && x.origins != nil {
		x.origins[c] = x.originsOf(to, v.file)
	}
	for _, part := range content {
		c.Content = append(c.Content, x.copyValue(fileNode{part, v.file}, place))
	}
	return c
}

// report reports why a template cannot be expanded, and for which element.
func (x *expander) report(n *node, e *element, code, summary, hint string) {
	x.failed = true
	x.found.element = e
	x.reportNode(n, "", problem{code, summary, hint})
	x.found.element = nil
}

// spend counts elements, and reports whether the budget allows them.
func (x *expander) spend(n *node, elements int) bool {
	before := x.budget.overfull
	if x.budget.fill(elements) {
		return true
	}
	if !before {
		x.report(n, nil, "template-expansion", "the templates of the manifests expand to too many elements",
			"split the manifests and apply the parts one after another")
	}
	return false
}

// brokenTag marks a node that replaces an invalid reference, so that no further problem is reported for it.
const brokenTag = "!planform-broken"

// brokenNode returns a node that stands for an invalid reference at a place.
func brokenNode(place *node) *node {
	return &node{Kind: scalarNode, Tag: brokenTag, Line: place.Line, Column: place.Column}
}

func isBroken(n *node) bool {
	return n.Tag == brokenTag && n.Style&taggedStyle == 0 && n.Kind == scalarNode
}
