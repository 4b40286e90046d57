package tabular

import (
	"regexp"
	"strings"

	"github.com/planform/planform/internal/convert"
)

var textile = regexp.MustCompile(`(?m)^(?:h[1-6]|bq|p)\. |<pre>`)

// redmineRelations are the words before the number of another issue.
func redmineRelations() []struct {
	words, kind string
	inward      bool
} {
	return []struct {
		words, kind string
		inward      bool
	}{
		{"blocks", "blocks", false},
		{"blocked by", "blocks", true},
		{"related to", "relates_to", false},
		{"is duplicate of", "duplicate", false},
		{"has duplicate", "duplicate", true},
		{"precedes", "precedes", false},
		{"follows", "precedes", true},
		{"copied to", "copied to", false},
		{"copied from", "copied to", true},
	}
}

// redmine is the CSV of a list of issues, in English.
func redmine() *Layout {
	return &Layout{
		Name: "redmine", Tracker: "Redmine", How: "in Redmine, with your language set to English: Issues, Also available in CSV, all columns, with description; for another language say what the columns are under columns: in the mapping",
		Needs:   [][]string{{"#", "Tracker", "Subject"}},
		Columns: names("redmine"),
		Lists:   "\n", Limit: 500, Lacks: "comments",
		Each: func(c *Cells, i *convert.Issue) string {
			if i.Priority == "Immediate" {
				i.Priority = "Urgent"
			}
			for _, text := range c.list(c.Column("Related issues"), ",") {
				for _, r := range redmineRelations() {
					if strings.HasPrefix(strings.ToLower(text), r.words+" ") {
						i.Links = append(i.Links, convert.Link{Type: r.kind, To: text[strings.LastIndexByte(text, '#')+1:], Inward: r.inward})
					}
				}
			}
			if textile.MatchString(i.Text.Body) {
				c.e.to.Note(convert.Note{Kind: "textile", Text: "texts that seem to be written in Textile are carried as they are, as Markdown", Item: i.Key})
			}
			return ""
		},
	}
}
