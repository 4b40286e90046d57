package adf_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert/jira/adf"
	"github.com/planform/planform/internal/convert/jira/wiki"
)

func options() wiki.Options {
	return wiki.Options{
		Person: func(id string) string { return map[string]string{"1": "Ada L."}[id] },
		File: func(name string) (string, bool) {
			return map[string]string{"a.png": "https://x.example/a.png", "ours.png": "planform:ours"}[name], name == "ours.png"
		},
	}
}

func doc(blocks string) string { return `{"version":1,"type":"doc","content":[` + blocks + `]}` }

func para(inline string) string { return `{"type":"paragraph","content":[` + inline + `]}` }

func text(s string, marks ...string) string {
	t := `{"type":"text","text":"` + s + `"`
	for i, m := range marks {
		if !strings.HasPrefix(m, "{") {
			marks[i] = `{"type":"` + m + `"}`
		}
	}
	return t + `,"marks":[` + strings.Join(marks, ",") + `]}`
}

func TestDocumentsBecomeMarkdown(t *testing.T) {
	t.Parallel()
	item := func(blocks ...string) string {
		return `{"type":"listItem","content":[` + strings.Join(blocks, ",") + `]}`
	}
	list := func(kind string, items ...string) string {
		return `{"type":"` + kind + `","content":[` + strings.Join(items, ",") + `]}`
	}
	cell := func(kind, attrs, blocks string) string {
		return `{"type":"` + kind + `","attrs":{` + attrs + `},"content":[` + blocks + `]}`
	}
	const link = `{"type":"link","attrs":{"href":"https://x.example/a(b)"}}`
	for name, tt := range map[string]struct {
		blocks, want string
		lost         wiki.Lost
	}{
		"what means something in Markdown only": {para(text("List<T> a*b* __init__ [x] `c` #1")), "List\\<T> a\\*b\\* \\_\\_init\\_\\_ \\[x\\] \\`c\\` #1", nil},
		"a number that begins a line":           {para(text("1. no list") + `,{"type":"hardBreak"},` + text("# no heading")), "1\\. no list\\\n\\# no heading", nil},
		"breaks at the ends":                    {para(`{"type":"hardBreak"},` + text("a") + `,{"type":"hardBreak"},` + text(" ")), "a", nil},
		"marks":                                 {para(text("a", "strong") + "," + text("b", "em", "strong") + "," + text("c", "strike") + "," + text("d", "underline") + "," + text("2", `{"type":"subsup","attrs":{"type":"sup"}}`)), "**a*b***~~c~~<u>d</u><sup>2</sup>", nil},
		"blanks within marks":                   {para(text("a ", "strong") + "," + text("b") + "," + text(" c ", "em") + "," + text("d")), "**a** b *c* d", nil},
		"a mark that ends in a colon":           {para(text("Note:", "strong") + "," + text("it works")), "**Note:** it works", nil},
		"links":                                 {para(text("see ", link) + "," + text("this", "strong", link) + "," + text("f()", "code", link)), "[see **this**`f()`](https://x.example/a%28b%29)", nil},
		"colours":                               {para(text("red", `{"type":"textColor","attrs":{"color":"#f00"}}`)), "red", wiki.Lost{"colours": 1}},
		"what stands in a line": {para(`{"type":"mention","attrs":{"id":"1","text":"@ada"}},` + text(" ") + `,{"type":"mention","attrs":{"id":"2","text":"@Bob_"}},` + text(" ") + `,{"type":"emoji","attrs":{"shortName":":x:","text":"😀"}},` + text(" ") +
			`,{"type":"date","attrs":{"timestamp":"1735725600000"}},` + text(" ") + `,{"type":"status","attrs":{"text":"DONE","color":"green"}},` + text(" ") + `,{"type":"inlineCard","attrs":{"url":"https://x.example/1"}}`), "@Ada L. @Bob\\_ 😀 2025-01-01 `DONE` <https://x.example/1>", nil},
		"code":                     {`{"type":"codeBlock","attrs":{"language":"go"},"content":[` + text("a := `b`\\n\\n```\\nc") + `]}`, "````go\na := `b`\n\n```\nc\n````", nil},
		"a panel with a list":      {`{"type":"panel","attrs":{"panelType":"warning"},"content":[` + para(text("a")) + "," + list("bulletList", item(para(text("b")))) + `]}`, "> **Warning**\n>\n> a\n>\n> - b", nil},
		"an expand":                {`{"type":"expand","attrs":{"title":"More_"},"content":[` + para(text("a")) + `]}`, "**More\\_**\n\na", nil},
		"lists in lists":           {list("bulletList", item(para(text("a")), list("orderedList", item(para(text("b"))), item(para(text("c")), `{"type":"codeBlock","content":[`+text("x")+`]}`))), item()), "- a\n  1. b\n  2. c\n\n     ```\n     x\n     ```\n-", nil},
		"a list that goes on":      {`{"type":"orderedList","attrs":{"order":9},"content":[` + item(para(text("a"))) + "," + item(para(text("b")), list("bulletList", item(para(text("c"))))) + `]}`, "9. a\n10. b\n    - c", nil},
		"tasks":                    {list("taskList", `{"type":"taskItem","attrs":{"state":"DONE"},"content":[`+text("a")+`]}`, list("taskList", `{"type":"taskItem","attrs":{"state":"TODO"},"content":[`+text("b")+`]}`)), "- [x] a\n  - [ ] b", nil},
		"a table":                  {`{"type":"table","content":[` + list("tableRow", cell("tableHeader", "", para(text("A"))), cell("tableHeader", "", para(text("B")))) + "," + list("tableRow", cell("tableCell", "", para(text("a | b"))+","+list("bulletList", item(para(text("c"))))), cell("tableCell", "", `{"type":"codeBlock","content":[`+text("x\\ny")+`]}`)) + `]}`, "| A | B |\n| --- | --- |\n| a \\| b<br>- c | `x y` |", nil},
		"a table without a header": {`{"type":"table","content":[` + list("tableRow", cell("tableHeader", "", para(text("A"))), cell("tableCell", `"colspan":2`, para(text("b")))) + `]}`, "|  |  |  |\n| --- | --- | --- |\n| **A** | b |  |", wiki.Lost{"table-spans": 1}},
		"images":                   {`{"type":"mediaSingle","content":[{"type":"media","attrs":{"type":"file","id":"u","alt":"a.png"}}]},{"type":"mediaGroup","content":[{"type":"media","attrs":{"type":"file","id":"v"}}]},{"type":"mediaSingle","content":[{"type":"media","attrs":{"type":"external","url":"https://x.example/b"}}]}`, "[image: a.png](https://x.example/a.png)\n\n\\[image: image 1\\]\n\n[image: image 2](https://x.example/b)", nil},
		"a document that does not decode shows its texts": {
			para(`{"type":"text","text":"a *sign","marks":"strong"},{"type":"text","text":" and more"}`) + `,{"type":"blockquote","content":{"type":"paragraph","content":[` + text("b") + `]}}`,
			"a \\*sign and more\n\nb",
			wiki.Lost{"texts-not-understood": 1},
		},
		"attributes that are a text hide no other node": {
			`{"type":"paragraph","attrs":"x","content":[` + text("for ") + `,{"type":"mention","attrs":{"id":"1","text":"@ada"}},` + text(" ") + `,{"type":"status","attrs":{"text":"DONE"}}]}`,
			"for @Ada L. `DONE`", nil,
		},
		"code keeps blank lines at its beginning": {`{"type":"codeBlock","content":[` + text(`\n\nx`) + `]}`, "```\n\n\nx\n```", wiki.Lost{}},
		"nodes of an unknown kind":                {`{"type":"new","content":[` + para(text("a")+`,{"type":"newer","content":[`+text("b")+`]}`) + `]},{"type":"extension","attrs":{"text":"roadmap"}}`, "ab\n\nroadmap", wiki.Lost{"text-nodes": 3}},
		"an empty one":                            {"", "", nil},
		"attributes of other types":               {`{"type":"heading","attrs":{"level":"x"},"content":[` + text("a") + `]},{"type":"orderedList","attrs":{"order":-1e99},"content":[` + item(para(text("b"))) + `]}`, "# a\n\n1. b", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !adf.Is([]byte(doc(tt.blocks))) {
				t.Error("it is no document")
			}
			got, lost := adf.Markdown([]byte(doc(tt.blocks)), options())
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if len(lost)+len(tt.lost) > 0 && !cmp.Equal(tt.lost, lost) {
				t.Error(lost)
			}
		})
	}
}

func TestDepthIsBoundedAndTextIsKept(t *testing.T) {
	t.Parallel()
	const deep = 1500
	for _, open := range []string{`{"type":"blockquote","content":[`, `{"type":"bulletList","content":[{"type":"listItem","content":[`, `{"type":"taskList","content":[`} {
		shut := strings.NewReplacer("{", "}", "[", "]").Replace(strings.Map(func(r rune) rune {
			if r == '{' || r == '[' {
				return r
			}
			return -1
		}, open))
		runes := []rune(shut)
		for i, j := 0, len(runes)-1; i < j; i, j = i+1, j-1 {
			runes[i], runes[j] = runes[j], runes[i]
		}
		got, lost := adf.Markdown([]byte(doc(strings.Repeat(open, deep)+para(text("kept"))+strings.Repeat(string(runes), deep))), options())
		if !strings.Contains(got, "kept") || lost["text-nodes"] == 0 || len(got) > 20000 {
			t.Errorf("%s: %d characters, %v", open, len(got), lost)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add([]byte(doc(para(text("a", "strong")))))
	f.Add([]byte(`{"type":"doc","content":[{"type":"table","content":[{"content":[{}]}]}]}`))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = adf.Markdown(data, options()) })
}
