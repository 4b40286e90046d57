package markup

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"golang.org/x/net/html"
)

//nolint:gochecknoglobals // a function, never assigned again: the parser is built once, does not change and may be shared
var plainParser = sync.OnceValue(func() parser.Parser { return newMarkdown().Parser() })

// Rewriter changes the texts of Markdown, and the targets of links and images, including those in HTML.
// Code, texts of images and texts in HTML stay unchanged.
type Rewriter struct {
	// Text gets a piece of plain text as written, with bare addresses in it, and returns its replacement.
	Text func(piece string) string
	// Link gets the target of a link or image and returns another target, or "" to keep it. label replaces a
	// label that equals the target.
	Link func(target string) (to, label string)
}

// Rewrite returns the Markdown with the changes. The rest stays as written.
func (rw Rewriter) Rewrite(markdown string) string {
	if isExcessive(markdown) {
		return markdown
	}
	w := rewriting{Rewriter: rw, source: []byte(markdown)}
	_ = ast.Walk(plainParser().Parse(text.NewReader(w.source)), w.visit)
	slices.SortStableFunc(w.edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, e := range w.edits {
		if e.start < at {
			continue
		}
		b.WriteString(markdown[at:e.start] + e.with)
		at = e.stop
	}
	return b.String() + markdown[at:]
}

// rewriting is one run of a Rewriter.
type rewriting struct {
	Rewriter

	source []byte
	at     int // end of the last text that was seen
	edits  []edit
}

// edit replaces a part of the source.
type edit struct {
	start, stop int
	with        string
}

func (re *rewriting) replace(start, stop int, with string) {
	if with != string(re.source[start:stop]) {
		re.edits = append(re.edits, edit{start, stop, with})
	}
}

func (re *rewriting) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
		re.at = max(re.at, n.Lines().At(0).Start)
	}
	switch n := n.(type) {
	case *ast.CodeSpan, *ast.CodeBlock, *ast.FencedCodeBlock:
		re.textExtent(n)
		return ast.WalkSkipChildren, nil
	case *ast.HTMLBlock:
		re.html(n.Lines())
	case *ast.RawHTML:
		re.html(n.Segments)
	case *ast.Link:
		at := re.at
		re.link(n, n.Destination)
		re.images(n, at)
		return ast.WalkSkipChildren, nil
	case *ast.Image:
		re.link(n, n.Destination)
		return ast.WalkSkipChildren, nil
	case *ast.AutoLink:
		re.autoLink(n)
	case *ast.Text:
		re.text(n)
	}
	return ast.WalkContinue, nil
}

// textExtent returns the beginning and the end of the texts in a node; start is -1 if it has none.
func (re *rewriting) textExtent(n ast.Node) (start, stop int) {
	start, stop = -1, -1
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			if start < 0 {
				start = t.Segment.Start
			}
			stop = t.Segment.Stop
			re.at = max(re.at, stop)
		}
		return ast.WalkContinue, nil
	})
	return start, stop
}

// text rewrites a text up to the next node of another kind, or the end of its line.
func (re *rewriting) text(n *ast.Text) {
	if before, ok := n.PreviousSibling().(*ast.Text); ok && before.Segment.Stop == n.Segment.Start {
		return // it was rewritten with an earlier text
	}
	start, stop := n.Segment.Start, n.Segment.Stop
	for next, ok := n.NextSibling().(*ast.Text); ok && next.Segment.Start == stop; next, ok = next.NextSibling().(*ast.Text) {
		stop = next.Segment.Stop
	}
	re.at = max(re.at, stop)
	re.replace(start, stop, re.Text(string(re.source[start:stop])))
}

var targets = regexp.MustCompile(`(?i)\s(?:href|src)\s*=\s*(?:"([^"]*)"|'([^']*)')`)

// html rewrites the targets within tags.
func (re *rewriting) html(parts *text.Segments) {
	for _, part := range parts.Sliced(0, parts.Len()) {
		re.at = max(re.at, part.Stop)
		for _, m := range targets.FindAllSubmatchIndex(part.Value(re.source), -1) {
			start, stop := part.Start+max(m[2], m[4]), part.Start+max(m[3], m[5])
			if to, _ := re.Link(html.UnescapeString(string(re.source[start:stop]))); to != "" {
				re.replace(start, stop, html.EscapeString(to))
			}
		}
	}
}

// link rewrites a link or image with a target in parentheses: [label](target).
func (re *rewriting) link(n ast.Node, destination []byte) {
	start, stop := re.textExtent(n)
	to, label := re.Link(string(destination))
	if to == "" {
		return
	}
	if start < 0 { // an image without a text
		after := bytes.Index(re.source[re.at:], append([]byte("!["), append([]byte("]("), destination...)...))
		if after < 0 {
			return
		}
		start = re.at + after + len("![")
		stop = start
		re.at = stop
	}
	rest := bytes.TrimLeft(re.source[stop:], "*_~`")
	target, ok := bytes.CutPrefix(rest, []byte("]("))
	target = bytes.TrimPrefix(target, []byte("<"))
	if !ok || !bytes.HasPrefix(target, destination) {
		return
	}
	if string(re.source[start:stop]) == string(destination) {
		re.replace(start, stop, label)
	}
	at := len(re.source) - len(target)
	re.replace(at, at+len(destination), to)
}

// images rewrites the images in the label of a link, which begins after at.
func (re *rewriting) images(label ast.Node, at int) {
	end := re.at
	re.at = at
	_ = ast.Walk(label, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if image, ok := n.(*ast.Image); ok && entering {
			re.link(image, image.Destination)
		}
		return ast.WalkContinue, nil
	})
	re.at = max(re.at, end)
}

// autoLink rewrites an address in angle brackets.
func (re *rewriting) autoLink(n *ast.AutoLink) {
	whole := "<" + string(n.Label(re.source)) + ">"
	start := bytes.Index(re.source[re.at:], []byte(whole))
	if start < 0 {
		return
	}
	start += re.at
	re.at = start + len(whole)
	if to, label := re.Link(string(n.URL(re.source))); to != "" {
		re.replace(start, re.at, "["+label+"]("+to+")")
	}
}
