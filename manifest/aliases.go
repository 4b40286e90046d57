package manifest

import (
	"iter"
	"slices"
	"strings"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/yamltext"
)

// resolved returns the node that an alias stands for, or nil if that node is an alias too. It returns any other node as it is.
func resolved(n *node) *node {
	if n.Kind != aliasNode {
		return n
	}
	if n = n.Alias; n == nil || n.Kind == aliasNode {
		return nil
	}
	return n
}

// ancestors holds the lists and mappings around a node, outermost first.
type ancestors struct {
	open    []*node
	aliases int // the number of aliases among them: elements that an alias leads to count against the budget
}

// enter returns the node that n stands for, or nil if n is an alias of one of its ancestors. The caller calls leave after the node.
func (an *ancestors) enter(n *node) (to *node, leave func()) {
	isAlias := n.Kind == aliasNode
	if to = resolved(n); to == nil || isAlias && slices.Contains(an.open, to) {
		return nil, func() {}
	}
	an.open = append(an.open, to)
	if isAlias {
		an.aliases++
	}
	return to, func() {
		an.open = an.open[:len(an.open)-1]
		if isAlias {
			an.aliases--
		}
	}
}

// isNull reports whether a node is empty, ~ or null.
func isNull(n *node) bool {
	return n.Kind == scalarNode && n.Tag == "!!null" && n.Style&quotedStyles == 0
}

// describe returns the text of a scalar, or the type of another node, for a message.
func describe(n *node) string {
	if to := resolved(n); to != nil && to.Kind == scalarNode && !isNull(to) {
		return quote(to.Value)
	}
	return nodeType(n)
}

// nodeType returns the type of a node for a message, without its text: a file that is not a manifest may hold a secret.
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

// invalidTag returns a written tag that does not fit its node, or "".
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

// tagProblem returns the problem with a written tag, or nil.
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

// pass holds the state that every pass over a file needs.
type pass struct {
	*reader

	source  *source
	origins map[*node][]diag.Position // where the texts come from that references were replaced by; nil = not wanted
	memo    map[*node][]*node         // mappings with merge keys that were merged before; nil while one is being merged
	page    *pageFile                 // the page file that is being decoded, or nil
}

func (p *pass) position(n *node) diag.Position {
	if n.Line == 0 && p.page != nil { // the node was made for a page, and no manifest contains it
		return p.page.place
	}
	return diag.Position{File: p.source.name, Line: n.Line, Column: n.Column}
}

// reportNode reports a problem at a node.
func (p *pass) reportNode(n *node, path string, what problem, others ...diag.Related) {
	p.found.report(p.position(n), path, what, others...)
}

// checkTag reports a written tag that does not fit its node.
func (p *pass) checkTag(n *node, path string) bool {
	bad := tagProblem(n)
	if bad != nil {
		p.reportNode(n, path, *bad)
	}
	return bad != nil
}

// reportDuplicate reports the second use of a key in one mapping.
func (p *pass) reportDuplicate(name string, first, second *node, path string) {
	p.reportNode(second, path, problem{"duplicate-key", quote(name) + " is given twice", "remove one of them"},
		relatedPlace("first given at", p.position(first)))
}

// pairs returns the keys and values of a mapping in turn, with merge keys replaced by the pairs of the merged mappings. The mapping's own
// keys win over merged ones, and earlier merged keys over later ones.
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
			p.reportNode(n, "", problem{"alias-cycle", "a merge key refers to something that contains it", ""})
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
			p.reportNode(key, "", twice, relatedPlace("first given at", p.position(first)))
		default:
			first, merged = key, value
		}
	}
	flat = p.merge(flat, seen, merged)
	p.memo[n] = flat
	return flat
}

// eachPair yields the key and value of each pair of a mapping.
func (p *pass) eachPair(n *node) iter.Seq2[*node, *node] { return yamltext.Pairs(p.pairs(n)) }

// merge appends to flat the pairs of the mappings that a merge key names.
func (p *pass) merge(flat []*node, seen map[string]bool, value *node) []*node {
	all := []*node{value}
	if list := resolved(value); list != nil && list.Kind == sequenceNode {
		all = list.Content
	}
	for _, from := range all {
		to := resolved(from)
		if to == nil || to.Kind != mappingNode {
			p.reportNode(from, "", problem{
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
				continue // a key that is not a text is reported at its own mapping
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
