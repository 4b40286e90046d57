package manifest

import (
	"iter"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/yamltext"
)

// resolved gives what an alias stands for; nil if that is an alias again.
func resolved(n *node) *node {
	if n.Kind != aliasNode {
		return n
	}
	if n = n.Alias; n == nil || n.Kind == aliasNode {
		return nil
	}
	return n
}

// ancestors are the lists and mappings around a node, outermost first.
type ancestors struct {
	open    []*node
	aliases int // how many of them an alias led to: their elements count
}

// enter gives the node that n stands for, or nil where that is one of its ancestors. leave
// must be called when it has been dealt with.
func (a *ancestors) enter(n *node) (to *node, leave func()) {
	isAlias := n.Kind == aliasNode
	if to = resolved(n); to == nil || isAlias && slices.Contains(a.open, to) {
		return nil, func() {}
	}
	a.open = append(a.open, to)
	if isAlias {
		a.aliases++
	}
	return to, func() {
		a.open = a.open[:len(a.open)-1]
		if isAlias {
			a.aliases--
		}
	}
}

// isNull reports whether a node is empty, ~ or null.
func isNull(n *node) bool {
	return n.Kind == scalarNode && n.Tag == "!!null" && n.Style&quotedStyles == 0
}

// describe says what a node is, for people.
func describe(n *node) string {
	if to := resolved(n); to != nil && to.Kind == scalarNode && !isNull(to) {
		return quote(to.Value)
	}
	return nodeType(n)
}

// nodeType is describe without a word of what is written there: a file that is no manifest may be a secret.
func nodeType(n *node) string {
	n = resolved(n)
	switch {
	case n == nil:
		return "an alias of itself"
	case n.Kind == sequenceNode:
		return "a list"
	case n.Kind == mappingNode:
		return "a mapping"
	case isNull(n):
		return "nothing"
	default:
		return "a text"
	}
}

// truncate shortens a text for a message.
func truncate(text string) string { return diag.Truncate(text, 61) }

func quote(text string) string { return diag.Quote(text) }

// invalidTag says what is wrong with a tag that was written out, or "".
func invalidTag(n *node) string {
	valid := false
	switch n.Tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp":
		valid = n.Kind == scalarNode
	case "!!null":
		valid = n.Kind == scalarNode && (n.Value == "" || n.Value == "~" || strings.EqualFold(n.Value, "null"))
	case "!!map":
		valid = n.Kind == mappingNode
	case "!!seq":
		valid = n.Kind == sequenceNode
	}
	if valid || n.Style&taggedStyle == 0 && n.Tag != "!" {
		return ""
	}
	return n.Tag
}

// tagProblem says that a tag which was written out cannot be used, or nil.
func tagProblem(n *node) *problem {
	if n == nil {
		return nil
	}
	if tag := invalidTag(n); tag != "" {
		hint := "remove it"
		if n.Kind == scalarNode {
			hint = "a text cannot begin with !: " + quotesHint
		}
		return &problem{"unknown-tag", "the tag " + quote(tag) + " cannot be used here", hint}
	}
	return nil
}

// pass is what every pass over a file knows.
type pass struct {
	*reader

	source  *source
	origins map[*node][]diag.Position // where the texts stand that references lead to; nil = nobody wants to know
	memo    map[*node][]*node         // mappings with merge keys that were merged before; nil while one is being merged
	page    *pageFile                 // the page of a folder that is looked at, or nil
}

func (p *pass) position(n *node) diag.Position {
	if n.Line == 0 && p.page != nil { // of what no manifest writes
		return p.page.place
	}
	return diag.Position{File: p.source.name, Line: n.Line, Column: n.Column}
}

// tell reports a node.
func (p *pass) tell(n *node, path string, what problem, others ...diag.Related) {
	p.found.report(p.position(n), path, what, others...)
}

// checkTag reports a tag that was written out and says something else than what is there.
func (p *pass) checkTag(n *node, path string) bool {
	bad := tagProblem(n)
	if bad != nil {
		p.tell(n, path, *bad)
	}
	return bad != nil
}

// twice reports a key that a mapping has already.
func (p *pass) twice(name string, first, second *node, path string) {
	p.tell(second, path, problem{"duplicate-key", quote(name) + " is given twice", "remove one of them"},
		other("first given at", p.position(first)))
}

// pairs gives the keys and values of a mapping in turn, its merge keys replaced by
// what they stand for: a key of its own wins over a merged one, an earlier merged
// one over a later one.
func (p *pass) pairs(n *node) []*node {
	merges := false
	for key := range yamltext.Pairs(n.Content) {
		merges = merges || isMerge(key)
	}
	if !merges {
		return n.Content
	}
	if flat, ok := p.memo[n]; ok {
		if flat == nil {
			p.tell(n, "", problem{"alias-cycle", "a merge key stands for something that it is part of", ""})
		}
		return flat
	}
	p.memo[n] = nil
	flat := make([]*node, 0, len(n.Content)+8)
	seen := make(map[string]bool, len(n.Content))
	var first, merged *node
	for key, value := range yamltext.Pairs(n.Content) {
		switch {
		case !isMerge(key):
			flat = append(flat, key, value)
			if k := resolved(key); k != nil && k.Kind == scalarNode {
				seen[k.Value] = true
			}
		case first != nil:
			twice := problem{"duplicate-key", "the merge key << is given twice", "write a list: <<: [*one, *two]"}
			p.tell(key, "", twice, other("first given at", p.position(first)))
		default:
			first, merged = key, value
		}
	}
	flat = p.merge(flat, seen, merged)
	p.memo[n] = flat
	return flat
}

// each gives the pairs of a mapping.
func (p *pass) each(n *node) iter.Seq2[*node, *node] { return yamltext.Pairs(p.pairs(n)) }

// merge adds what the value of a merge key stands for.
func (p *pass) merge(flat []*node, seen map[string]bool, value *node) []*node {
	all := []*node{value}
	if list := resolved(value); list != nil && list.Kind == sequenceNode {
		all = list.Content
	}
	for _, from := range all {
		to := resolved(from)
		if to == nil || to.Kind != mappingNode {
			p.tell(from, "", problem{
				"bad-merge", "a merge key takes a mapping or a list of mappings, not " + describe(from),
				"write <<: *name, where &name marks a mapping",
			})
			continue
		}
		pairs := p.pairs(to)
		if !p.budget.expand(len(pairs) + 1) {
			return flat
		}
		for written, value := range yamltext.Pairs(pairs) {
			key := resolved(written)
			if key == nil || key.Kind != scalarNode || seen[key.Value] {
				continue // a key that is no text is reported where it is written
			}
			seen[key.Value] = true
			flat = append(flat, written, value)
		}
	}
	return flat
}

func isMerge(key *node) bool {
	return len(key.Value) == 2 && key.Value == "<<" && key.Kind == scalarNode && key.Tag == "!!merge"
}
