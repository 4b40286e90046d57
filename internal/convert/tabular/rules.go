package tabular

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/table"
)

// asana reads the CSV of a project. Parents and dependencies are titles; a section is a state.
func asana(c *Cells, i *convert.Issue) {
	if strings.HasSuffix(i.Title, ":") && i.State.Name == "" && len(i.Assignees) == 0 {
		c.left = "sections"
		return
	}
	if day := c.Column("Completed At"); day != "" {
		i.Fields = append(i.Fields, convert.Field{Name: "Completed At", Value: day, Source: "Completed At"})
		if i.State.Name != "" && c.e.words.Group(i.State.Name) != "completed" {
			i.Fields = append(i.Fields, convert.Field{Name: "Section", Value: i.State.Name, Part: convert.OfState})
		}
		i.State = convert.State{Name: "Done", Category: "completed"}
	}
	if projects := c.list(c.Column("Projects"), ","); projects[0] != "" {
		i.Project = projects[0]
		if len(projects) > 1 {
			i.Fields = append(i.Fields, convert.Field{Name: "Projects", Value: strings.Join(projects, ", "), Part: "project"})
		}
	}
}

// azure reads the CSV of a query in Azure DevOps. The CSV of a tree has a title column for each depth.
func azure(c *Cells, i *convert.Issue) {
	for n := range 10 { // the deepest title
		if c.Column("Title "+strconv.Itoa(n+1)) == "" {
			continue
		}
		c.e.above = append(c.e.above[:min(n, len(c.e.above))], i.Key)
		if n > 0 && len(c.e.above) > 1 && i.Parent == "" {
			i.Parent = c.e.above[len(c.e.above)-2]
		}
	}
	area := strings.Split(c.Column("Area Path"), `\`)
	iteration := strings.Split(c.Column("Iteration Path"), `\`)
	if c.One("project") == "" {
		i.Project = cmp.Or(area[0], iteration[0], i.Project)
	}
	if len(area) > 1 {
		i.Components = []string{convert.PathName(area)}
	}
	if len(iteration) > 1 {
		i.Sprints = []convert.Sprint{{Name: convert.PathName(iteration)}}
	}
	for _, name := range []string{"Repro Steps", "Acceptance Criteria"} {
		if text := c.Column(name); text != "" {
			i.Text.Body += "<h2>" + name + "</h2>" + text
		}
	}
}

// clickup reads the CSV of a workspace or space. A list becomes a module.
func clickup(c *Cells, i *convert.Issue) {
	i.Text.Body = strings.ReplaceAll(i.Text.Body, `\n`, "\n")
	for _, name := range c.bracketed("Assignees") {
		i.Assignees = append(i.Assignees, c.Person(name, "", ""))
	}
	for _, name := range c.bracketed("Tags") {
		i.Labels = append(i.Labels, convert.Label{Name: name})
	}
	for n, list := range i.Components { // two folders may have a list of one name
		i.Components[n] = list + convert.Within + c.Column("Folder Name/Path")
	}
	i.Start, i.Due = c.localDay("Start Date", i), c.localDay("Due Date", i)
	for _, r := range c.Records("Attachments") {
		url := cmp.Or(r["url"], r["link"])
		i.Attachments = append(i.Attachments, convert.Attachment{ID: r["id"], Name: cmp.Or(r["title"], r["name"], url), URL: url})
	}
	c.comments(i)
}

// bracketed returns the elements of a column with a list such as [a, b].
func (c *Cells) bracketed(name string) []string {
	var all []string
	for _, text := range c.list(strings.Trim(c.Column(name), "[]"), ",") {
		if text = strings.Trim(text, `"`); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// gmt matches the offset from GMT at the end of a time.
var gmt = regexp.MustCompile(`GMT([+-]\d{1,2})(?::?(\d{2}))?$`)

// localDay returns the day of a time in the zone of the user who entered it, which another column tells.
func (c *Cells) localDay(name string, i *convert.Issue) string {
	at := c.Time(c.Column(name), i)
	if m := gmt.FindStringSubmatch(c.Column(name + " Text")); m != nil {
		hours, _ := strconv.Atoi(m[1])
		minutes, _ := strconv.Atoi(m[2])
		if hours < 0 {
			minutes = -minutes
		}
		if there := at.In(time.FixedZone("", (hours*60+minutes)*60)); dates.Valid(there) {
			at = there
		}
	}
	return dates.Day(at)
}

var (
	pivotalComment  = regexp.MustCompile(`(?s)^(.*?)\s*\(([^()]+) - ([A-Z][a-z]{2} \d{1,2}, \d{4})\)$`)
	pivotalPriority = regexp.MustCompile(`^p[0-3] - `)
)

// pivotal reads the CSV of a project. Columns repeat: one for each owner, comment and task.
func pivotal(c *Cells, i *convert.Issue) {
	i.Project = "pivotal"
	i.Priority = pivotalPriority.ReplaceAllString(i.Priority, "")
	i.Labels = nil
	for _, name := range c.list(strings.Join(c.Values("labels"), ","), ",") {
		if name != "" {
			i.Labels = append(i.Labels, convert.Label{Name: name})
		}
	}
	if n := c.Column("Iteration"); n != "" {
		i.Sprints = []convert.Sprint{{
			Name: "Iteration " + n, Start: dates.Day(c.Time(c.Column("Iteration Start"), i)), End: dates.Day(c.Time(c.Column("Iteration End"), i)),
		}}
	}
	for _, text := range c.All("raw comment") {
		comment := convert.Comment{Text: convert.Text{Body: text}, Source: text}
		if m := pivotalComment.FindStringSubmatch(text); m != nil {
			comment = convert.Comment{Text: convert.Text{Body: m[1]}, Author: c.Person("", m[2], ""), At: c.Date(m[3]), Source: text, Whole: true}
		}
		i.Comments = append(i.Comments, comment)
	}
	texts, states := c.All("raw text"), c.All("raw technical")
	for n, text := range texts {
		texts[n] = diag.OneLine(text)
	}
	tasks(i, texts, func(n int) bool { return strings.EqualFold(entry(states, n), "completed") })
}

func pivotalDates(c *Cells) []string { return c.All("raw sprint date") }

// plane reads Plane's own export, for a workspace that is gone except for this file.
func plane(c *Cells, i *convert.Issue) {
	if len(i.Sprints) == 1 {
		i.Sprints[0].Start, i.Sprints[0].End = dates.Day(c.Date(c.Column("Cycle Start Date"))), dates.Day(c.Date(c.Column("Cycle End Date")))
	}
	for _, name := range []string{"Link", "Links"} {
		for _, r := range c.Records(name) {
			i.Pages = append(i.Pages, convert.Attachment{Name: cmp.Or(r["title"], r["url"]), URL: r["url"]})
		}
	}
	c.comments(i)
	for _, r := range c.Records("Relations") {
		kind := strings.ToLower(r["type"])
		to, _ := c.e.resolve(r["issue"])
		incoming := r["direction"] == "incoming"
		inward := kind == "blocked_by" && !incoming || kind == "blocking" && incoming
		i.Links = append(i.Links, convert.Link{Type: linkName(kind), To: to, Inward: inward})
	}
}

var textile = regexp.MustCompile(`(?m)^(?:h[1-6]|bq|p)\. |<pre>`)

// NoteTextile adds a remark if the text of an issue of Redmine seems to be written in Textile.
func NoteTextile(i *convert.Issue, to convert.Sink) {
	if textile.MatchString(i.Text.Body) {
		to.Note("textile", "texts that seem to be written in Textile are carried as they are, as Markdown", i.Key)
	}
}

// redmineRelations returns the kinds of relations by the words before the number of the other issue.
var redmineRelations = sync.OnceValue(func() map[string]string { //nolint:gochecknoglobals // a constant
	return words.ByName(words.Section(layouts, "redmine relations"))
})

// redmine reads the CSV of a list of issues, in English.
func redmine(c *Cells, i *convert.Issue) {
	for _, text := range c.list(c.Column("Related issues"), ",") {
		for words, kind := range redmineRelations() {
			if strings.HasPrefix(strings.ToLower(text), words+" ") {
				kind, inward := strings.CutPrefix(kind, "inward ")
				i.Links = append(i.Links, convert.Link{Type: kind, To: text[strings.LastIndexByte(text, '#')+1:], Inward: inward})
			}
		}
	}
	NoteTextile(i, c.e.to)
}

// shortcut reads the CSV of all stories. Epics become modules; a column has the zone of the times.
func shortcut(c *Cells, i *convert.Issue) {
	if zone, err := time.Parse("-07:00", c.Column("utc_offset")); err == nil {
		for _, at := range []*time.Time{&i.Created, &i.Updated} {
			there := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, zone.Location())
			if !at.IsZero() && dates.Valid(there) {
				*at = there
			}
		}
	}
	if strings.EqualFold(c.Column("is_completed"), "true") {
		i.State.Category = "completed"
	}
	texts, done := slices.DeleteFunc(c.All("raw text"), func(text string) bool { return text == "" }), map[int]bool{}
	for n, text := range texts {
		text, done[n] = strings.CutPrefix(text, "[X]")
		texts[n] = strings.TrimSpace(strings.TrimPrefix(text, "[ ]"))
	}
	tasks(i, texts, func(n int) bool { return done[n] })
}

// addSprintAndComments adds the dates of the sprint and the comments in the row of an issue. Each column of comments is a list, and entry n
// of each list belongs to comment n.
func addSprintAndComments(c *Cells, i *convert.Issue) {
	if len(i.Sprints) == 1 {
		i.Sprints[0].Start, i.Sprints[0].End = c.day("cycle_start", i), c.day("cycle_end", i)
	}
	ids, authors, emails, times := c.listed("comment_ids"), c.listed("comment_authors"), c.listed("comment_emails"), c.listed("comment_times")
	for n, text := range c.listed("comment_texts") {
		if text != "" {
			i.Comments = append(i.Comments, convert.Comment{
				ID: entry(ids, n), Author: c.Person("", entry(authors, n), entry(emails, n)), At: c.Date(entry(times, n)), Text: convert.Text{Markup: c.e.markup, Body: text},
			})
		}
	}
}

func sprintAndCommentDates(c *Cells) []string {
	return slices.Concat(c.listed("comment_times"), c.listed("cycle_start"), c.listed("cycle_end"))
}

// listed returns the values of a field, with the empty values of a list.
func (c *Cells) listed(field string) (all []string) {
	for _, i := range c.s.fields[field] {
		if text := c.Cell(i); strings.TrimSpace(text) != "" {
			all = append(all, strings.Split(text, table.Separator)...)
		}
	}
	return all
}
