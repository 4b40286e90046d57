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

// Rewriter changes texts of Markdown, and the targets of links and images, also of those in HTML. What is in code stays as it is, and so
// do the texts of images and in HTML.
type Rewriter struct {
	// Text gets a piece of plain text as it is written, bare addresses in it, and returns what stands in its place.
	Text func(piece string) string
	// Link gets the target of a link or image, and returns another, "" = it stays. label stands in place of a label that is the target.
	Link func(target string) (to, label string)
}

// Rewrite is the Markdown with the changes; all else is as it was written.
func (r Rewriter) Rewrite(markdown string) string {
	if isExcessive(markdown) {
		return markdown
	}
	w := rewriting{Rewriter: r, source: []byte(markdown)}
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

func (w *rewriting) replace(start, stop int, with string) {
	if with != string(w.source[start:stop]) {
		w.edits = append(w.edits, edit{start, stop, with})
	}
}

func (w *rewriting) visit(n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
		w.at = max(w.at, n.Lines().At(0).Start)
	}
	switch n := n.(type) {
	case *ast.CodeSpan, *ast.CodeBlock, *ast.FencedCodeBlock:
		w.extent(n)
		return ast.WalkSkipChildren, nil
	case *ast.HTMLBlock:
		w.html(n.Lines())
	case *ast.RawHTML:
		w.html(n.Segments)
	case *ast.Link:
		at := w.at
		w.link(n, n.Destination)
		w.images(n, at)
		return ast.WalkSkipChildren, nil
	case *ast.Image:
		w.link(n, n.Destination)
		return ast.WalkSkipChildren, nil
	case *ast.AutoLink:
		w.autoLink(n)
	case *ast.Text:
		w.text(n)
	}
	return ast.WalkContinue, nil
}

// extent is where the texts in a node begin and end; start is -1 where there are none.
func (w *rewriting) extent(n ast.Node) (start, stop int) {
	start, stop = -1, -1
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			if start < 0 {
				start = t.Segment.Start
			}
			stop = t.Segment.Stop
			w.at = max(w.at, stop)
		}
		return ast.WalkContinue, nil
	})
	return start, stop
}

// text rewrites a text up to the next node of another kind, or the end of its line.
func (w *rewriting) text(n *ast.Text) {
	if before, ok := n.PreviousSibling().(*ast.Text); ok && before.Segment.Stop == n.Segment.Start {
		return // with that one
	}
	start, stop := n.Segment.Start, n.Segment.Stop
	for next, ok := n.NextSibling().(*ast.Text); ok && next.Segment.Start == stop; next, ok = next.NextSibling().(*ast.Text) {
		stop = next.Segment.Stop
	}
	w.at = max(w.at, stop)
	w.replace(start, stop, w.Text(string(w.source[start:stop])))
}

var targets = regexp.MustCompile(`(?i)\s(?:href|src)\s*=\s*(?:"([^"]*)"|'([^']*)')`)

// html rewrites the targets within tags.
func (w *rewriting) html(parts *text.Segments) {
	for _, part := range parts.Sliced(0, parts.Len()) {
		w.at = max(w.at, part.Stop)
		for _, m := range targets.FindAllSubmatchIndex(part.Value(w.source), -1) {
			start, stop := part.Start+max(m[2], m[4]), part.Start+max(m[3], m[5])
			if to, _ := w.Link(html.UnescapeString(string(w.source[start:stop]))); to != "" {
				w.replace(start, stop, html.EscapeString(to))
			}
		}
	}
}

// link rewrites a link or image with a target of its own: [label](target).
func (w *rewriting) link(n ast.Node, destination []byte) {
	start, stop := w.extent(n)
	to, label := w.Link(string(destination))
	if to == "" {
		return
	}
	if start < 0 { // an image without a text
		after := bytes.Index(w.source[w.at:], append([]byte("!["), append([]byte("]("), destination...)...))
		if after < 0 {
			return
		}
		start = w.at + after + len("![")
		stop = start
		w.at = stop
	}
	rest := bytes.TrimLeft(w.source[stop:], "*_~`")
	target, ok := bytes.CutPrefix(rest, []byte("]("))
	target = bytes.TrimPrefix(target, []byte("<"))
	if !ok || !bytes.HasPrefix(target, destination) {
		return
	}
	if string(w.source[start:stop]) == string(destination) {
		w.replace(start, stop, label)
	}
	at := len(w.source) - len(target)
	w.replace(at, at+len(destination), to)
}

// images rewrites the images in the label of a link, which begins after at.
func (w *rewriting) images(label ast.Node, at int) {
	end := w.at
	w.at = at
	_ = ast.Walk(label, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if image, ok := n.(*ast.Image); ok && entering {
			w.link(image, image.Destination)
		}
		return ast.WalkContinue, nil
	})
	w.at = max(w.at, end)
}

// autoLink rewrites an address in angle brackets.
func (w *rewriting) autoLink(n *ast.AutoLink) {
	whole := "<" + string(n.Label(w.source)) + ">"
	start := bytes.Index(w.source[w.at:], []byte(whole))
	if start < 0 {
		return
	}
	start += w.at
	w.at = start + len(whole)
	if to, label := w.Link(string(n.URL(w.source))); to != "" {
		w.replace(start, w.at, "["+label+"]("+to+")")
	}
}
