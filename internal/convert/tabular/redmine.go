package tabular

import (
	"regexp"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/words"
)

// textile matches markup of Textile.
var textile = regexp.MustCompile(`(?m)^(?:h[1-6]|bq|p)\. |<pre>`)

// NoteTextile adds a remark if the text of an issue of Redmine seems to be written in Textile.
func NoteTextile(i *convert.Issue, to convert.Sink) {
	if textile.MatchString(i.Text.Body) {
		to.Note("textile", "texts that seem to be written in Textile are carried as they are, as Markdown", i.Key)
	}
}

// redmine returns the rules of the CSV of a list of issues, in English.
func redmine() Rules {
	relations := words.ByName(words.Section(layouts, "redmine relations"))
	return Rules{
		Each: func(c *Cells, i *convert.Issue) string {
			for _, text := range c.list(c.Column("Related issues"), ",") {
				for words, kind := range relations { // the words before the number of another issue
					if strings.HasPrefix(strings.ToLower(text), words+" ") {
						kind, inward := strings.CutPrefix(kind, "inward ")
						i.Links = append(i.Links, convert.Link{Type: kind, To: text[strings.LastIndexByte(text, '#')+1:], Inward: inward})
					}
				}
			}
			NoteTextile(i, c.e.to)
			return ""
		},
	}
}
