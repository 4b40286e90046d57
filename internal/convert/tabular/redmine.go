package tabular

import (
	"regexp"
	"strings"

	"github.com/planform/planform/internal/convert"
)

// textile matches markup of Textile.
var textile = regexp.MustCompile(`(?m)^(?:h[1-6]|bq|p)\. |<pre>`)

// NoteTextile adds a remark if the text of an issue of Redmine seems to be written in Textile.
func NoteTextile(i *convert.Issue, to convert.Sink) {
	if textile.MatchString(i.Text.Body) {
		to.Note("textile", "texts that seem to be written in Textile are carried as they are, as Markdown", i.Key)
	}
}

// redmine returns the layout of the CSV of a list of issues, in English.
func redmine() *Layout {
	relations := names("redmine relations")
	return &Layout{
		Name: "redmine", Tracker: "Redmine",
		How: "in Redmine, with your language set to English: Issues, Also available in CSV, all columns, with description; " +
			"for another language say what the columns are under columns: in the mapping",
		Needs:   [][]string{{"#", "Tracker", "Subject"}},
		Columns: names("redmine"),
		Lists:   "\n", Limit: 500, Lacks: "comments",
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
