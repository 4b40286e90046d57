package convert

import (
	"cmp"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/planform/planform/internal/convert/jira/adf"
	"github.com/planform/planform/internal/convert/jira/wiki"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/markup"
)

func (c *composer) markdown(i *Issue, t Text) string {
	options := wiki.Options{
		Person: c.person,
		File: func(name string) (string, bool) {
			if file, ok := c.uploads[name]; ok {
				media, _ := resource.MediaType(name)
				return file.link, strings.HasPrefix(media, "image/")
			}
			for _, a := range i.Attachments {
				if a.Name == name {
					return a.URL, false
				}
			}
			return "", false
		},
	}
	var text string
	var lost wiki.Lost
	switch t.Markup {
	case JiraWiki:
		body := c.clean(i, t.Body)
		if text, lost = wiki.Markdown(body, options); wiki.IsMarkdown(body) {
			text = markup.HardBreaks(markup.ShowTags(text, markup.IsElement))
		}
	case ADF:
		text, lost = adf.Markdown([]byte(t.Body), options)
		text = c.clean(i, text)
	case Plain:
		text = plain(c.clean(i, t.Body))
	case HTML:
		text = fromHTML(c.clean(i, t.Body))
	case Markdown, Unsaid:
		if t.Markup == Unsaid && c.mapping.Text.Plain {
			text = plain(c.clean(i, t.Body))
			break
		}
		if text = c.tags(t.Body, i); !c.format.HTML { // trackers with GitHub's rules have no such marks
			text = markup.Bold(text)
		}
		text = markup.HardBreaks(text)
	case CommonMark:
		text = c.tags(t.Body, i)
	}
	for kind, n := range lost {
		c.report.lose(kind, i, n)
	}
	return c.refer(i, text)
}

// tags returns a text in Markdown without comments that its tracker hides, and with tags that the tracker shows escaped as text.
func (c *composer) tags(text string, i *Issue) string {
	text = c.clean(i, text)
	if c.format.HTML {
		return markup.ShowTags(alerts(strings.TrimSpace(withoutComments(text))), markup.IsSwallowing)
	}
	return markup.ShowTags(alerts(strings.TrimSpace(text)), markup.IsElement)
}

// special matches characters of plain text that Markdown would take for markup.
var special = regexp.MustCompile("[*`\\\\\\[\\]]|<(?:[A-Za-z/!?])|&(?:#?\\w+;)|\\b_|_\\b|(?m:^(?: {4,}|[#>+=~]))")

// plain returns plain text as Markdown that looks the same. Lists stay lists.
func plain(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, " \t")
		bullet := listItem.FindString(line)
		line = bullet + special.ReplaceAllStringFunc(line[len(bullet):], func(s string) string {
			if strings.TrimSpace(s) == "" {
				return "" // blanks at the beginning would make code
			}
			return "\\" + s
		})
		if i+1 < len(lines) && line != "" && strings.TrimSpace(lines[i+1]) != "" && !listItem.MatchString(lines[i+1]) {
			if strings.HasSuffix(line, "\\") { // a backslash would escape another one
				line += "  "
			} else {
				line += "\\"
			}
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

var (
	listItem   = regexp.MustCompile(`^ {0,3}(?:[-*•]|\d{1,3}[.)]) +`)
	attributes = regexp.MustCompile(`(?i)\s(?:style|class|id|align|data-[a-z-]+|dir|lang|face|size|color)\s*=\s*(?:"[^"]*"|'[^']*')`)
	blankLines = regexp.MustCompile(`\n\s*\n`)
)

// fromHTML returns HTML as Markdown. A text without an equivalent stays HTML, which Markdown may hold.
func fromHTML(text string) string {
	text = attributes.ReplaceAllString(text, "")
	if text, ok := markup.Markdown(text); ok {
		return strings.TrimSpace(text)
	}
	return "<div>" + blankLines.ReplaceAllString(strings.TrimSpace(text), "\n") + "</div>"
}

// person returns the name of a person for texts.
func (c *composer) person(id string) string {
	p, _ := c.mapping.People.Find(id)
	if p.Anonymous {
		return "a former colleague"
	}
	return plainName(cmp.Or(p.As, c.found.name(id)))
}

// clean removes the characters that no manifest can hold, and cuts texts that are too long.
func (c *composer) clean(i *Issue, text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	whole := utf8.RuneCountInString(text)
	text = withoutControls(text)
	c.report.lose("control-characters", i, whole-utf8.RuneCountInString(text))
	const most = 2 << 20 // a manifest takes texts of 2.5 MiB
	if len(text) > most {
		c.report.lose("texts-cut", i, 1)
		text = beginningOf(text, most) + "…"
	}
	return text
}

// withoutControls removes control characters except line feeds and tabs, and the code points U+FEFF, U+FFFE and U+FFFF.
func withoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7F || r == 0xFEFF || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, text)
}

// htmlComment matches comments of HTML, and code, whose comments stay.
var htmlComment = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|<!--.*?-->\n?")

// withoutComments removes the comments of templates, except in code.
func withoutComments(text string) string {
	if !strings.Contains(text, "<!--") {
		return text
	}
	return htmlComment.ReplaceAllStringFunc(text, func(part string) string {
		if part[0] == '`' {
			return part
		}
		return ""
	})
}

// alert matches the first line of an alert, and code, which stays.
var alert = regexp.MustCompile("(?ms)^```.*?^```|^[ >]*> ?\\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\\][ \t]*$")

// alerts turns the mark of an alert of GitHub or GitLab, such as [!NOTE], into a first line in bold.
func alerts(text string) string {
	if !strings.Contains(text, "[!") {
		return text
	}
	return alert.ReplaceAllStringFunc(text, func(part string) string {
		before, word, ok := strings.Cut(part, "[!")
		if !ok || strings.HasPrefix(part, "`") {
			return part
		}
		word, _, _ = strings.Cut(word, "]")
		return before + "**" + word[:1] + strings.ToLower(word[1:]) + "**\n" + strings.TrimRight(before, " ")
	})
}

// plainName returns a name for a manifest: one line without control characters, of 255 characters at most.
func plainName(text string) string {
	name, _ := cut(diag.OneLine(withoutControls(text)))
	return name
}

// cut shortens a name to 255 characters, at a word if there is one, and reports whether it was longer.
func cut(text string) (string, bool) {
	const n = 255
	if utf8.RuneCountInString(text) <= n {
		return text, false
	}
	short := string([]rune(text)[:n-1])
	if i := strings.LastIndexByte(short, ' '); i > len(short)/2 {
		short = short[:i]
	}
	return strings.TrimRight(short, " ,;:.-") + "…", true
}

// escapeCell escapes a text for a cell of a Markdown table.
//
//nolint:gochecknoglobals // a constant
var escapeCell = strings.NewReplacer("\\", "\\\\", "<", "\\<", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "\n", "<br>")

// row is a row of the table in a description: a name, and Markdown.
type row struct{ name, text string }

// fieldTable returns a table of values without a field of their own.
func fieldTable(fields []row) string {
	if len(fields) == 0 {
		return ""
	}
	rows := [][]wiki.Cell{{{Text: "Field"}, {Text: "Value"}}}
	for _, f := range fields {
		rows = append(rows, []wiki.Cell{{Text: escapeCell.Replace(diag.OneLine(f.name))}, {Text: f.text}})
	}
	return strings.Join(wiki.Table(rows, true), "\n")
}

// description returns the issue's text, followed by values without a field of their own.
func (c *composer) description(i *Issue, title string, short bool, unknown []string, files []Attachment) string {
	var parts []string
	part := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if short {
		part("**" + title + "**")
	}
	if text := c.markdown(i, i.Text); text != "" {
		c.took.put("description", carried)
		c.took.put(OfText, asText)
		part(text)
	}
	if text := c.markdown(i, i.Environment); text != "" {
		c.took.put("environment", carried)
		part("## Environment\n\n" + text)
	}
	fields := c.awayRows(i)
	for _, f := range i.Fields {
		if _, custom := c.mapping.Custom.Find(f.Name); custom {
			continue
		}
		if _, _, ok := c.measure(f); ok {
			continue
		}
		if c.isText(f) {
			c.bookField(f, asText)
			fields = append(fields, row{f.Name, escapeCell.Replace(strings.TrimSpace(c.clean(i, f.Value)))})
		} else {
			c.report.leftOut[f.Name]++
			c.bookField(f, decided)
		}
	}
	var names []string
	for _, file := range files {
		if file.URL == "" && file.Name != "" { // the others are links
			names = append(names, escapeCell.Replace(plainName(file.Name)))
		}
	}
	if len(names) > 0 {
		fields = append(fields, row{"Files", strings.Join(names, "<br>")})
	}
	part(fieldTable(fields))
	var foot []string
	by, full := cmp.Or(i.Reporter, i.Creator), c.mapping.History.Dates == "full"
	p, _ := c.mapping.People.Find(by)
	var words []string
	if by != "" && (!full || p.Email == "") {
		words = append(words, markup.Escape(c.person(by)))
		c.bookPerson(History, by, asText)
	}
	if i.Creator != "" && i.Creator != by && c.person(i.Creator) != c.person(by) { // one person may have two IDs
		words = append(words, "written by "+markup.Escape(c.person(i.Creator)))
		c.bookPerson(History, i.Creator, asText)
	}
	if !full && !i.Created.IsZero() {
		words = append(words, resource.Moment(i.Created))
	}
	if len(words) > 0 {
		foot = append(foot, "Reported in "+c.format.Tracker+": "+strings.Join(words, ", "))
	}
	for _, id := range unknown {
		foot = append(foot, "Assignee in "+c.format.Tracker+": "+markup.Escape(c.person(id)))
	}
	if to := c.address(i); to != "" && c.mapping.History.Link == "text" {
		foot = append(foot, "["+markup.Escape(i.title()+" in "+c.format.Tracker)+"]("+wiki.Destination(to)+")")
	}
	part(strings.Join(foot, "\\\n"))
	return strings.Join(parts, "\n\n")
}
