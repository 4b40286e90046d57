package markup

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

var htmlTag = regexp.MustCompile(`<[/!?]?([A-Za-z][A-Za-z0-9-]*)?`)

// ShowTags returns Markdown in which some HTML tags become text. shows reports whether a tag does; its name may be empty.
func ShowTags(markdown string, shows func(tag string) bool) string {
	for range 10 { // the end of one tag may begin another one
		if !strings.Contains(markdown, "<") || isExcessive(markdown) {
			return markdown
		}
		var at []int
		find := func(lines *text.Segments) {
			for n := range lines.Len() {
				segment := lines.At(n)
				for _, m := range htmlTag.FindAllStringSubmatchIndex(markdown[segment.Start:segment.Stop], -1) {
					if m[1]-m[0] > 1 && shows(strings.ToLower(markdown[segment.Start+max(m[2], 0):segment.Start+max(m[3], 0)])) {
						at = append(at, segment.Start+m[0])
					}
				}
			}
		}
		_ = ast.Walk(plainParser().Parse(text.NewReader([]byte(markdown))), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.RawHTML:
				if entering {
					find(n.Segments)
				}
			case *ast.HTMLBlock:
				if entering {
					find(n.Lines())
					if n.HasClosure() {
						closing := text.NewSegments()
						closing.Append(n.ClosureLine)
						find(closing)
					}
				}
			}
			return ast.WalkContinue, nil
		})
		if len(at) == 0 {
			return markdown
		}
		slices.Sort(at)
		for _, i := range slices.Backward(slices.Compact(at)) {
			markdown = markdown[:i] + "&lt;" + markdown[i+1:]
		}
	}
	return markdown
}

// IsElement reports whether a tag is an element or a comment of HTML. Other words in angle brackets are text.
func IsElement(tag string) bool { return tag == "" || kindOf(tag) != unknown || isStandard(tag) }

// IsSwallowing reports whether a browser, or the service, removes more than the tag of an element.
func IsSwallowing(tag string) bool {
	return slices.Contains([]string{
		"title", "textarea", "style", "xmp", "iframe", "noembed", "noframes", "script", "plaintext", "noscript", "template", "select", "svg", "math", "object",
	}, tag)
}
