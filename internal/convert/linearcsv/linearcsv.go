// Package linearcsv reads the CSV that Linear exports, of any year.
//
// The file does not say which kind a status is: that is told by the dates that most of its issues have.
// The package must not know manifests.
package linearcsv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/table"
)

// Format is the CSV of Linear.
func Format() *convert.Format {
	return &convert.Format{Name: "linear-csv", Tracker: "Linear", Detect: detect, Read: read}
}

// detect looks for the columns that every export has.
func detect(head []byte, _ string) (string, bool) {
	return `the columns "Team", "Cycle Number" and "Parent issue"`, table.Header(head, isHeader) != nil
}

func isHeader(header []string) bool {
	for _, name := range []string{"ID", "Team", "Title", "Status", "Cycle Number", "Parent issue"} {
		if !slices.ContainsFunc(header, func(cell string) bool { return strings.EqualFold(cell, name) }) {
			return false
		}
	}
	return true
}

var issueKey = regexp.MustCompile(`^([A-Za-z0-9_]+)-([0-9]{1,9})$`)

// status counts the issues of a status, and those of them that were begun or ended.
type status struct{ issues, started, completed, canceled int }

type export struct {
	to       convert.Sink
	issues   []convert.Issue
	statuses map[string]*status
	site     string
}

// read reads the files as one export.
func read(ctx context.Context, in convert.Input, to convert.Sink) error {
	e := &export{to: to, statuses: map[string]*status{}}
	if err := in.Each(ctx, e.file); err != nil {
		return err
	}
	for _, i := range e.issues {
		i.State.Category = e.statuses[i.State.Name].category(i.State.Name)
		to.Issue(&i)
	}
	to.Site(e.site, "/issue/{key}")
	to.Note(convert.Note{Kind: "no-comments", Text: "Linear's CSV has no comments and no attachments"})
	return nil
}

func (e *export) file(ctx context.Context, text io.Reader, name string) error {
	r, err := table.Open(text, name, isHeader)
	if err != nil {
		return diag.WithHint(err, `the export of Linear has the columns "ID", "Team", "Cycle Number" and "Parent issue"`)
	}
	columns := map[string]int{}
	var fields []string
	for i, cell := range r.Header {
		column := strings.ToLower(cell)
		if _, twice := columns[column]; twice || column == "" {
			continue
		}
		columns[column] = i
		if !slices.Contains(known(), column) {
			fields = append(fields, cell)
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		cell := func(column string) string {
			i, ok := columns[strings.ToLower(column)]
			if !ok {
				return ""
			}
			return table.Unguard(table.Trim(row.Cell(i)))
		}
		at := diag.Position{File: name, Line: row.Line}
		if !issueKey.MatchString(cell("ID")) {
			return diag.WithHint(fmt.Errorf("%s: %q is no ID of an issue", at, diag.Truncate(cell("ID"), 40)), "a quotation mark or a separator is missing before, or a spreadsheet changed the file: export it again")
		}
		e.issue(cell, fields, at)
	}
}

// known are the columns with a meaning of their own, and those that say nothing without Linear.
func known() []string {
	return []string{
		"id", "uuid", "team", "title", "description", "status", "priority", "project", "creator", "assignee", "labels", "cycle number", "cycle name", "cycle start", "cycle end",
		"created", "updated", "archived", "due date", "milestone", "project milestone", "parent issue", "related to", "blocked by", "duplicate of", "project id", "project milestone id",
	}
}

// dates are the columns of when something happened to an issue, which the item shows by its state.
func dates() []string {
	return []string{"Triaged", "Started", "Completed", "Canceled", "SLA Status", "Time in status (minutes)"}
}

var (
	issueAddress = regexp.MustCompile(`https://linear\.app/[^/\s]+/issue/`)
	upload       = regexp.MustCompile(`\[([^\]\n]*)\]\((https://uploads\.linear\.app/[^)\s]+)\)`)
)

func (e *export) issue(cell func(string) string, fields []string, at diag.Position) {
	key := cell("ID")
	m := issueKey.FindStringSubmatch(key)
	i := convert.Issue{
		Key: key, ID: cell("UUID"), Project: m[1], Position: at, Left: map[string]int{}, Title: cell("Title"), Text: convert.Text{Body: cell("Description")},
		State: convert.State{Name: cell("Status")}, Priority: cell("Priority"), Reporter: e.person(cell("Creator")), Parent: cell("Parent issue"), Archived: cell("Archived") != "",
	}
	i.Number, _ = strconv.Atoi(m[2])
	e.to.Project(convert.Project{Key: m[1], Name: cell("Team")})
	if id := e.person(cell("Assignee")); id != "" {
		i.Assignees = []string{id}
	}
	for _, name := range list(cell("Labels")) {
		i.Labels = append(i.Labels, convert.Label{Name: name})
	}
	if name := cell("Project"); name != "" {
		i.Components = []string{name}
	}
	if name := cmp.Or(cell("Project Milestone"), cell("Milestone")); name != "" {
		i.Versions = []convert.Version{{Name: name}}
	}
	if number, name := cell("Cycle Number"), cell("Cycle Name"); number != "" || name != "" {
		start, end := moment(&i, cell("Cycle Start")), moment(&i, cell("Cycle End"))
		i.Sprints = []convert.Sprint{{Name: cmp.Or(name, "Cycle "+number), Start: midnight(start, 0), End: midnight(end, -1)}}
	}
	i.Created, i.Updated = moment(&i, cell("Created")), moment(&i, cell("Updated"))
	if due := moment(&i, cell("Due Date")); !due.IsZero() {
		i.Due = due.Format(time.DateOnly)
	}
	for _, other := range list(cell("Blocked by")) {
		i.Links = append(i.Links, convert.Link{Type: "Blocks", To: other, Inward: true})
	}
	for _, other := range list(cell("Duplicate of")) {
		i.Links = append(i.Links, convert.Link{Type: "Duplicate", To: other})
	}
	for _, other := range list(cell("Related to")) { // both sides say it: it is named from one of them
		i.Links = append(i.Links, convert.Link{Type: "Related", To: other, Inward: other < key})
	}
	for _, m := range upload.FindAllStringSubmatch(i.Text.Body, -1) {
		id := m[2][strings.LastIndexByte(m[2], '/')+1:]
		i.Attachments = append(i.Attachments, convert.Attachment{ID: id, Name: cmp.Or(m[1], id), URL: m[2]})
	}
	for _, name := range fields {
		if value := cell(name); value != "" {
			i.Fields = append(i.Fields, convert.Field{Name: name, Value: value, Noise: slices.Contains(dates(), name)})
		}
	}
	if e.site == "" {
		e.site = strings.TrimSuffix(issueAddress.FindString(i.Text.Body), "/issue/")
	}
	s := e.statuses[i.State.Name]
	if s == nil {
		s = &status{}
		e.statuses[i.State.Name] = s
	}
	s.issues++
	for name, n := range map[string]*int{"Started": &s.started, "Completed": &s.completed, "Canceled": &s.canceled} {
		if cell(name) != "" {
			*n++
		}
	}
	e.issues = append(e.issues, i)
}

// category is the group of states that a status belongs to: by its name, or by the dates of most of its issues.
func (s *status) category(name string) string {
	switch word := strings.ToLower(name); {
	case word == "triage":
		return "backlog"
	case word == "duplicate", 2*s.canceled > s.issues:
		return "cancelled"
	case 2*s.completed > s.issues:
		return "completed"
	case 2*s.started > s.issues:
		return "started"
	}
	return "unstarted"
}

// list are the values of a cell that holds several.
func list(cell string) []string {
	var all []string
	for value := range strings.SplitSeq(cell, ", ") {
		if value = table.Trim(value); value != "" && !slices.Contains(all, value) {
			all = append(all, value)
		}
	}
	return all
}

// person notes somebody: the export has e-mail addresses, or names.
func (e *export) person(id string) string {
	if id == "" {
		return ""
	}
	p := convert.Person{ID: id}
	if strings.Contains(id, "@") {
		p.Email = id
	}
	e.to.Person(p)
	return id
}

// moment reads a date as JavaScript writes it, or as programs do.
func moment(i *convert.Issue, text string) time.Time {
	text, _, _ = strings.Cut(text, " (")
	return i.Moment(text, "Mon Jan 02 2006 15:04:05 GMT-0700", time.RFC3339, time.DateTime, time.DateOnly)
}

// midnight is the day that begins next to a moment, and days after: cycles begin, and end, at midnight of the team's time zone,
// which the export does not tell.
func midnight(at time.Time, days int) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Add(12*time.Hour).AddDate(0, 0, days).Format(time.DateOnly)
}
