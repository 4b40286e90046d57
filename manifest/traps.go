package manifest

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/schema"
)

// warnTraps warns of texts that their author probably did not mean: an anchor without an alias, curly quotes, and a reference in a document
// without templates. refers is set if references have a meaning.
func (c *collector) warnTraps(root *node, refers bool) {
	used := map[*node]bool{}
	var all func(n *node, visit func(n *node))
	all = func(n *node, visit func(n *node)) {
		visit(n)
		for _, part := range n.Content {
			all(part, visit)
		}
	}
	all(root, func(n *node) { used[n.Alias] = true })
	all(root, func(n *node) {
		if n.Kind != scalarNode {
			return
		}
		warn := func(code, summary, hint string) {
			c.found.add(diag.Diagnostic{Severity: diag.Warning, Code: code, Position: c.position(n), Summary: summary, Hint: hint})
		}
		if n.Anchor != "" && !used[n] {
			warn("unused-anchor", "&"+truncate(n.Anchor)+" is an anchor that is never used, and not part of the text", "a text cannot begin with &: "+quotesHint)
		}
		const curly = "“”„‟‘’‚«»"
		if n.Style&quotedStyles == 0 && strings.IndexAny(n.Value, curly) == 0 && strings.ContainsAny(n.Value[len(n.Value)-min(len(n.Value), 3):], curly) {
			warn("curly-quotes", "the curly quotes are part of the text "+truncate(n.Value), "write straight quotes, or none")
		}
		if refers || !strings.Contains(n.Value, "${{") {
			return
		}
		if m := reference.FindStringSubmatch(n.Value); m != nil && m[1] == "" && !strings.Contains(n.Value, "\n") &&
			slices.Contains([]string{varsWord, eachWord}, m[2]) {
			hint := "declare it at the top of this document, under vars:"
			if m[2] == eachWord {
				hint = "write for_each inside the entry that uses ${{ each }}"
			}
			warn("text-reference", quote(m[0])+" is plain text here: the document has neither "+schema.Vars+" nor "+schema.ForEach, hint)
		}
	})
}
