package markup

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	ghtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// newConverter builds the renderer: CommonMark with the extensions of GitHub's Markdown that the service's HTML supports. Footnotes stay
// plain text, because CommonMark would read them as addresses of links. Text between single tildes, as in H~2~O, stays plain text, too.
func newConverter() goldmark.Markdown { return newMarkdown(extension.Linkify) }

// newMarkdown builds a renderer with the extensions that every text needs, and more.
func newMarkdown(more ...goldmark.Extender) goldmark.Markdown {
	blocks := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(util.Prioritized(references{parser.LinkReferenceParagraphTransformer}, 100)),
	)
	blocks.AddOptions(parser.WithInlineParsers(util.Prioritized(strikethrough{extension.NewStrikethroughParser()}, 500)))
	return goldmark.New(
		goldmark.WithParser(blocks),
		goldmark.WithExtensions(append(more, extension.Table, extension.TaskList)...),
		goldmark.WithRendererOptions(
			ghtml.WithUnsafe(), // raw HTML is the author's, and the service sanitises it
			renderer.WithNodeRenderers(util.Prioritized(taskLists{}, 100), util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500)),
		),
	)
}

// references reads the link definitions of a paragraph, unless it has footnotes.
type references struct{ parser.ParagraphTransformer }

func (rf references) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := node.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		if bytes.HasPrefix(bytes.TrimLeft(line.Value(reader.Source()), " "), []byte("[^")) {
			return
		}
	}
	rf.ParagraphTransformer.Transform(node, reader, pc)
}

// strikethrough needs pairs of tildes. A longer run of tildes is text; the standard parser would measure it from each of its tildes.
type strikethrough struct{ parser.InlineParser }

func (s strikethrough) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if line, _ := block.PeekLine(); !bytes.HasPrefix(line, []byte("~~")) || bytes.HasPrefix(line, []byte("~~~")) {
		return nil
	}
	return s.InlineParser.Parse(parent, block, pc)
}
