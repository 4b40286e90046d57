package wiki_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert/jira/wiki"
)

func options() wiki.Options {
	return wiki.Options{
		Person: func(id string) string { return map[string]string{"5b10": "Ada L.", "bob": "Bob"}[id] },
		File: func(name string) (string, bool) {
			return map[string]string{"a b.png": "https://x.test/a b.png", "ours.png": "planform:ours"}[name], name == "ours.png"
		},
	}
}

func TestMarksWithinALine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ jira, want string }{
		"bold":                            {"a *bold* word", "a **bold** word"},
		"italic":                          {"_so_, really", "*so*, really"},
		"bold in italic":                  {"_a *b* c_", "*a **b** c*"},
		"deleted and inserted":            {"-old- +new+", "~~old~~ <u>new</u>"},
		"raised and lowered":              {"x^2^ and H~2~O", "x^2^ and H\\~2\\~O"},
		"raised behind a blank":           {"x ^2^ and ~2~", "x <sup>2</sup> and <sub>2</sub>"},
		"a citation":                      {"??Homer??", "*Homer*"},
		"names in code style":             {"snake_case_name a-b-c 2*3*4 x+y+z", "snake_case_name a-b-c 2\\*3\\*4 x+y+z"},
		"a mark without an end":           {"*open and _open", "\\*open and \\_open"},
		"a mark with blanks":              {"2 * 3 * 4", "2 \\* 3 \\* 4"},
		"forced marks":                    {"un{*}believ{*}able {_}x{_}y", "un**believ**able *x*y"},
		"escaped marks":                   {`\*not bold\* \{code} \[x]`, `\*not bold\* {code} \[x\]`},
		"code":                            {"run {{rm *a* _b_}} now", "run `rm *a* _b_` now"},
		"code with backticks":             {"{{a`b}}", "``a`b``"},
		"code that ends in a brace":       {"{{a{b}}}", "`a{b}`"},
		"colour around bold":              {"*Result:*{color:#36b37e} {color}{color:#36b37e}PASS{color}", "**Result:** PASS"},
		"a link with a text":              {"[the *docs*|https://x.test/a_b_c]", "[the **docs**](https://x.test/a_b_c)"},
		"a link alone":                    {"[https://x.test/a]", "<https://x.test/a>"},
		"a smart link":                    {"[https://x.test/a|https://x.test/a|smart-link]", "<https://x.test/a>"},
		"a smart card with a text":        {"[Plan|https://x.test/(a)|smart-card]", "[Plan](https://x.test/%28a%29)"},
		"a bare address":                  {"see https://x.test/a_b*c_d, and go", "see <https://x.test/a_b*c_d>, and go"},
		"a mail address":                  {"[mailto:a@x.test]", "<mailto:a@x.test>"},
		"a network folder":                {"[share|file://srv/x y]", "[share](file://srv/x%20y)"},
		"brackets that are no link":       {"[text] and [x]", "\\[text\\] and \\[x\\]"},
		"an anchor":                       {"{anchor:top}[#top] [up|#top]", "top up"},
		"an issue":                        {"[PROJ-1] and PROJ-2", "\\[PROJ-1\\] and PROJ-2"},
		"a page":                          {"[Home|DOC:Home page]", "Home (DOC:Home page)"},
		"a mention":                       {"[~accountid:5b10] and [~bob], [~gone]", "@Ada L. and @Bob, @gone"},
		"an image":                        {"!a b.png|width=613,height=426!", "[image: a b.png](https://x.test/a%20b.png)"},
		"an image that is not there":      {"!c.png!", "\\[image: c.png\\]"},
		"exclamations":                    {"wow! so much! yes", "wow! so much! yes"},
		"an attached file":                {"[^a b.png]", "[a b.png](https://x.test/a%20b.png)"},
		"icons":                           {"(/) passed (x) failed f(x)", "✅ passed ❌ failed f(x)"},
		"a line break":                    {`one\\two`, "one\\\ntwo"},
		"a network path":                  {`\\server\share`, `\\\\server\\share`},
		"generics":                        {"Map<String, List<T>> < 3", "Map\\<String, List\\<T>> < 3"},
		"dunders":                         {"__init__ and _x", "\\_\\_init\\_\\_ and \\_x"},
		"an entity":                       {"a &amp; b & c", "a \\&amp; b & c"},
		"a number at the start of a line": {"1. first", "1\\. first"},
		"an issue number at the start":    {"#12 is it", "#12 is it"},
		"a quotation mark at the start":   {"> so", "\\> so"},
		"Markdown that people paste":      {"see **bold** and `x_y` and [a](https://x.test)", "see **bold** and `x_y` and [a](https://x.test)"},
		"a hard blank":                    {"a\u00a0*b*", "a **b**"},
		"a text of blanks":                {" \n\n ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := wiki.Markdown(tt.jira, options())
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ jira, want string }{
		"lines of a paragraph stay lines": {"one\ntwo\n\nthree", "one\\\ntwo\n\nthree"},
		"headings":                        {"h1. One\ntext\nh3. *Two*", "# One\n\ntext\n\n### **Two**"},
		"ordered lists with blanks":       {" # one\n # two", "1. one\n2. two"},
		"nested lists":                    {"* a\n** b\n*** c\n* d", "- a\n  - b\n    - c\n- d"},
		"mixed lists":                     {"# a\n#* b\n#* c\n# d\n*# x", "1. a\n   - b\n   - c\n2. d\n   1. x"},
		"a list that begins deep":         {"** a\n** b", "- a\n- b"},
		"hyphens":                         {"- a\n- b", "- a\n- b"},
		"dashes are no list":              {"-- so", "-- so"},
		"hyphens below a list":            {"* a\n*- b\n-- c\n--- d\n* e", "- a\n  - b\n  - c\n    - d\n- e"},
		"boxes are quotations":            {"{note:title=Mind}be *careful*{note}\n{info}x{info}{warning}y{warning}\n{tip}\nz\n{tip}", "> **Mind**\n>\n> be **careful**\n\n> x\n\n> y\n\n> z"},
		"a section that opens":            {"{expand:More of it}\n* a\n{expand}", "> **More of it**\n>\n> - a"},
		"a box within another":            {"{panel}{note}a{note}{panel}", "> > a"},
		"the words of boxes":              {"{notes} and {info", "{notes} and {info"},
		"a list item of two lines":        {"* a\nmore\n* b", "- a\\\n  more\n- b"},
		"code in a list item":             {"# a\n{code:java}\nx *y*\n{code}\n# b", "1. a\n\n   ```java\n   x *y*\n   ```\n2. b"},
		"code":                            {"{code:title=Main.java|borderStyle=solid}\nint *p = {x};\n{code}", "**Main.java**\n\n```\nint *p = {x};\n```"},
		"nothing in code is markup":       {"{noformat}\nh1. {quote} *x* ||a||\n{noformat}\nend", "```\nh1. {quote} *x* ||a||\n```\n\nend"},
		"fences in code":                  {"{code}\n```\na\n````\n{code}", "`````\n```\na\n````\n`````"},
		"code without an end":             {"{code}\na\nb", "```\na\nb\n```"},
		"code within a line":              {"see {code}x{code} there", "see\n\n```\nx\n```\n\nthere"},
		"a quotation":                     {"{quote}\na\n\n* b\n{quote}\nc", "> a\n>\n> - b\n\nc"},
		"a short quotation":               {"bq. so\nnot", "> so\n\nnot"},
		"a panel":                         {"{panel:title=Note|bgColor=#fff}\na\n{panel}", "> **Note**\n>\n> a"},
		"a rule":                          {"a\n----\nb", "a\n\n---\n\nb"},
		"a table":                         {"||h||i||\n|a|b|", "| h | i |\n| --- | --- |\n| a | b |"},
		"a table without a header":        {"|a|b|\n|c|", "|  |  |\n| --- | --- |\n| a | b |\n| c |  |"},
		"a header in a row":               {"||h|x|", "| h | x |\n| --- | --- |"},
		"a header in a later row":         {"||h||i||\n||k|x|", "| h | i |\n| --- | --- |\n| **k** | x |"},
		"links and bars in cells":         {"|[a|https://x.test]|{{a|b}}|c\\|d|", "|  |  |  |\n| --- | --- | --- |\n| [a](https://x.test) | `a\\|b` | c\\|d |"},
		"line breaks in cells":            {"|a\nb|c\\\\d|", "|  |  |\n| --- | --- |\n| a<br>b | c<br>d |"},
		"code in a cell":                  {"|{code:sql}select *{code}|b|", "|  |  |\n| --- | --- |\n| `select *` | b |"},
		"lines of code in a cell":         {"|a|{code:java}\nif (x) {\n  y();\n}\n{code}|{noformat}\nz\nzz{noformat}|\n|b|c|", "|  |  |  |\n| --- | --- | --- |\n| a | `if (x) {`<br>`y();`<br>`}` | `z`<br>`zz` |\n| b | c |  |"},
		"code below a row":                {"|a|\n{code}\nx|y\n{code}", "|  |\n| --- |\n| a |\n\n```\nx|y\n```"},
		"a table in a panel":              {"{panel}\n||a||\n|b|\n{panel}", "> | a |\n> | --- |\n> | b |"},
		"Markdown that people paste":      {"## Steps\n\n- a **b**\n\n```go\nx\n```", "## Steps\n\n- a **b**\n\n```go\nx\n```"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := wiki.Markdown(tt.jira, options())
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s\n%s", diff, got)
			}
		})
	}
}

func TestColoursAreCounted(t *testing.T) {
	t.Parallel()
	if _, lost := wiki.Markdown("{color:red}a{color} {color:#fff}b{color}", options()); lost["colours"] != 2 {
		t.Error(lost)
	}
}

func TestHostileTextsEndSoon(t *testing.T) {
	t.Parallel()
	const n = 5_000
	for _, piece := range []string{"{{", "*a ", "{code:x}", "{quote}", "{panel:a}", "[", "[a|", "|{code}", "!a", "{color:", "`{*}", "_*", `\\`, "* a\n", "||a", "|a\n", "??", "&", "{quote}{code}"} {
		wiki.Markdown(strings.Repeat(piece, n), options())
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("h1. *a* {code}x{code} |a|b|\n# x\n{quote}")
	f.Fuzz(func(_ *testing.T, text string) { wiki.Markdown(text, options()) })
}
