package jira

import (
	"cmp"
	_ "embed"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/tabular"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/table"
)

// CSV returns the format of the issue navigator's exports, of Cloud and of Server, in any language.
func CSV() *convert.Format { return tabular.Format(columnList, "jira-csv", csvRules()) }

// detectCSV recognises an export by the columns that every export has.
func detectCSV(head []byte) (string, bool) {
	if records.Begin(head) { // JSON is no table, and has many words on its first line
		return "", false
	}
	for _, header := range table.Headers(head) {
		english, _, key := inEnglish(header)
		if isHeader(english) {
			key = header[slices.IndexFunc(english, func(cell string) bool { return is(cell, "Issue key", "Key") })]
		}
		if key != "" {
			return "the column " + strconv.Quote(key), true
		}
	}
	return "", false
}

// isHeader reports whether a line has the columns that every export has.
func isHeader(header []string) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(header, func(cell string) bool { return is(cell, name) })
	}
	return has("Summary") && (has("Issue key") || has("Key") && (has("Issue Type") || has("Status")))
}

// columnList has the settings of the table, and its columns with their meanings. The columns of its last line repeat other columns, or have
// no meaning without Jira.
//
//go:embed columns.txt
var columnList string

// csvRules returns the rules of the table. The name of a column repeats for each value of a list.
func csvRules() tabular.Rules {
	categories := words.Of("jira categories")
	return tabular.Rules{
		Key: issueKey, Detects: detectCSV,
		Bot: func(id, name string) bool {
			return strings.HasPrefix(id, "557058:") && strings.Contains(name, "Automation")
		},
		Header: csvHeader, Notes: csvNotes, Finish: csvSite,
		Each: func(c *tabular.Cells, i *convert.Issue) {
			i.State.Category = cmp.Or(categories.Group(c.Column("Status Category")), categories.Group(i.State.Name))
			csvIssue(c, i)
		},
		Dates: func(c *tabular.Cells) []string {
			var all []string
			for _, comment := range c.All("comments") {
				date, _, _ := strings.Cut(comment, ";")
				all = append(all, date)
			}
			return all
		},
	}
}

// csvHeader returns a header in English, or an error if the language of the header is not known.
func csvHeader(names []string) ([]string, error) {
	english, _, key := inEnglish(names)
	if key != "" && !isHeader(english) {
		return english, diag.WithHint(fmt.Errorf("the header is in a language that is not known here: it says %q for \"Issue key\"", key),
			"set the language of your Jira profile to English and export again")
	}
	return english, nil
}

func csvNotes(names []string, rows int, note func(kind, text string)) {
	english, language, _ := inEnglish(names)
	if rows == 1000 {
		note("exactly-1000", "exactly 1,000 issues, which is the limit of an export: export the rest by key, such as key >= A-1001")
	}
	if language != "" {
		note("language", "the header is in "+language+"; columns without a known translation were read as custom fields. "+
			"If one of them matters, set the language of your Jira profile to English and export again")
	}
	if !slices.ContainsFunc(english, func(cell string) bool { return is(cell, "Comment", "Comments") }) {
		note("no-comments", `no column "Comment": no issue has one, or only the current fields were exported; choose "all fields"`)
	}
}

func csvIssue(c *tabular.Cells, i *convert.Issue) {
	i.Environment = wiki(c.Column("Environment"))
	i.Creator = cmp.Or(c.People("creator_id", "creator", "")...)
	i.Watchers = c.People("watcher_ids", "watchers", "") // often the only names for the authors of comments
	for _, cell := range c.Values("worklogs") {
		i.Work = append(i.Work, csvWork(c, cell))
	}
	i.Left["watchers"], i.Left["worklogs"] = len(c.All("watchers")), len(c.Values("worklogs"))
	i.Left["votes"], _ = strconv.Atoi(c.Column("Votes"))
	i.Affects = c.Values("affects")
	for n, s := range i.Sprints {
		i.Sprints[n].Name = cmp.Or(ServerSprint(s.Name)["name"], s.Name)
	}
	for _, cell := range c.All("files") {
		i.Attachments = append(i.Attachments, csvAttachment(cell))
	}
	for _, cell := range c.All("comments") {
		i.Comments = append(i.Comments, csvComment(c, cell))
	}
	csvParent(c, i)
}

var (
	linkColumn  = regexp.MustCompile(`(?i)^(inward|outward) issue link \((.*)\)$`)
	customField = regexp.MustCompile(`^Custom field \((.*?)\)?$`)
)

var csvMoment = regexp.MustCompile(`^\d{1,2}/\p{L}{3,5}\.?/\d{2}(?:\d{2})? \d{1,2}:\d{2}\s*(?:[AaPp][Mm])?$`)

// csvParent sets the parent from the columns for it, the best column first. Then it converts the fields without a known column, because one
// of them may name the epic.
func csvParent(c *tabular.Cells, i *convert.Issue) {
	i.Parent, i.ParentTitle = c.Column("Parent key"), c.Column("Parent summary")
	id := cmp.Or(c.Column("Parent"), c.Column("Parent id"))
	for _, text := range []string{c.Column("Parent"), c.Column("Parent id")} {
		if i.Parent = cmp.Or(i.Parent, c.ByID(text)); isKey(text) {
			i.Parent = cmp.Or(i.Parent, text)
		}
	}
	fields := i.Fields
	i.Fields = nil
	for _, f := range fields {
		if m := linkColumn.FindStringSubmatch(f.Name); m != nil {
			i.Take(f.Source, convert.Relation)
			for to := range strings.SplitSeq(f.Value, ", ") {
				i.Links = append(i.Links, convert.Link{Type: m[2], To: to, Inward: strings.EqualFold(m[1], "inward")})
			}
			continue
		}
		if m := customField.FindStringSubmatch(f.Name); m != nil {
			if strings.HasSuffix(f.Name, ")Id") { // the account IDs of the column before
				continue
			}
			f.Name = m[1]
		}
		if is(f.Name, "Resolution") {
			i.Resolution = f.Value
		}
		if n, err := strconv.Atoi(f.Value); err == nil && is(f.Name, "Original estimate", "Remaining Estimate", "Time Spent") {
			f.Value = dates.Duration(n)
		}
		if csvMoment.MatchString(f.Value) { // in the form that the exporting user's profile has
			if at := c.Date(f.Value); !at.IsZero() {
				f.Value = dates.Day(at)
			}
		}
		Custom(i, "", f)
	}
	if i.Parent == "" && id != "" {
		i.Parent = "issue " + id // outside the export
	}
}

// csvComment parses date;author;text. Only the first two semicolons separate, because texts contain semicolons.
func csvComment(c *tabular.Cells, cell string) convert.Comment {
	if parts := strings.SplitN(cell, ";", 3); len(parts) == 3 {
		if at := c.Date(parts[0]); !at.IsZero() {
			author := c.Person(strings.TrimSpace(parts[1]), "", "")
			return convert.Comment{At: at, Author: author, Text: wiki(strings.TrimSpace(parts[2])), Source: cell, Whole: true}
		}
	}
	return convert.Comment{Text: wiki(cell), Source: cell}
}

// csvWork parses text;date;author;seconds. The text may contain semicolons.
func csvWork(c *tabular.Cells, cell string) convert.Work {
	parts := strings.Split(cell, ";")
	n := len(parts)
	seconds, err := strconv.Atoi(strings.TrimSpace(parts[n-1]))
	if n < 4 || err != nil {
		return convert.Work{Text: wiki(cell)}
	}
	return convert.Work{
		Author: c.Person(strings.TrimSpace(parts[n-2]), "", ""), At: c.Date(parts[n-3]), Seconds: seconds,
		Text: wiki(strings.Join(parts[:n-3], ";")),
	}
}

var attachmentID = regexp.MustCompile(`/attachment/(?:content/)?([0-9]+)`)

// csvAttachment parses date;author;file name;URL. The name may contain semicolons.
func csvAttachment(cell string) convert.Attachment {
	a := convert.Attachment{Name: cell}
	if parts := strings.Split(cell, ";"); len(parts) >= 4 {
		a = convert.Attachment{Name: strings.Join(parts[2:len(parts)-1], ";"), URL: strings.TrimSpace(parts[len(parts)-1])}
	}
	if m := attachmentID.FindStringSubmatch(a.URL); m != nil {
		a.ID = m[1]
	}
	return a
}

// csvSite finds the site in the first attachment that has an address.
func csvSite(issues []*convert.Issue, to convert.Sink) {
	site := ""
	for _, i := range issues {
		for _, a := range i.Attachments {
			at, err := url.Parse(a.URL)
			if err != nil || at.Host == "" || site != "" {
				continue
			}
			base, _, ok := strings.Cut(at.Path, "/rest/")
			if !ok {
				base, _, _ = strings.Cut(at.Path, "/secure/")
			}
			site = (&url.URL{Scheme: at.Scheme, Host: at.Host, Path: base}).String()
		}
	}
	to.Site(site, "/browse/{key}")
}
