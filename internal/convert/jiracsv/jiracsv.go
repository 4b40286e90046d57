// Package jiracsv reads the CSV that Jira's issue navigator exports, of Cloud and of Server.
//
// It reads the files twice: first what is needed of all rows to understand one (the IDs behind parents, the order of day and
// month), then the issues. See columns.go for the header, and package dates for what people's profiles do to dates.
// The package must not know manifests.
package jiracsv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/jira"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/table"
)

// Format is the CSV of Jira.
func Format() *convert.Format {
	return &convert.Format{Name: "jira-csv", Tracker: "Jira", Detect: detect, Read: read}
}

// detect looks for the columns that every export has.
func detect(head []byte, _ string) (string, bool) {
	for _, cell := range table.Header(head, func(h []string) bool { return isHeader(h) || foreign(h) != "" }) {
		if is(cell, keyColumn...) || foreign([]string{cell}) != "" {
			return "the column " + strconv.Quote(cell), true
		}
	}
	return "", false
}

// export is what all files say together.
type export struct {
	in      convert.Input
	to      convert.Sink
	keys    map[string]string // issue ID -> key
	dates   *dates.Reader
	decided bool // day and month are told apart: it is the second reading
	site    string
}

// read reads the files as one export.
func read(ctx context.Context, in convert.Input, to convert.Sink) error {
	e := &export{in: in, to: to, keys: map[string]string{}, dates: dates.New(in.Zone, in.Dates)}
	for _, each := range []func(*sheet, table.Row) error{e.look, e.row} {
		if err := in.Each(ctx, func(ctx context.Context, text io.Reader, name string) error { return e.file(ctx, text, name, each) }); err != nil {
			return err
		}
		e.dates.Decide()
		e.decided = true
	}
	if at := e.dates.Open; !at.IsZero() {
		to.AskDates(at)
	}
	to.AssumedZone()
	to.Site(e.site, "/browse/{key}")
	return nil
}

// sheet is one file with its columns.
type sheet struct {
	*table.Reader
	columns

	name, language string
}

func (e *export) file(ctx context.Context, text io.Reader, name string, each func(*sheet, table.Row) error) error {
	word := ""
	r, err := table.Open(text, name, func(header []string) bool {
		word = cmp.Or(word, foreign(header))
		return isHeader(header)
	})
	if err != nil {
		if word != "" {
			return diag.WithHint(fmt.Errorf("%s:1: the header is in a language that is not known here: it says %q for \"Issue key\"", name, word), "set the language of your Jira profile to English and export again")
		}
		return diag.WithHint(err, `the export of Jira has the columns "Issue key" and "Summary"`)
	}
	header, language := english(r.Header)
	s := &sheet{Reader: r, name: name, language: language, columns: newColumns(&table.Reader{Header: header})}
	skipped := 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if key := table.Trim(row.Cell(s.key)); !jira.IsKey(key) {
			if row.Filled() == 1 { // such as "Generated at ..."
				skipped++
				continue
			}
			return diag.WithHint(fmt.Errorf("%s:%d: %q is no issue key", name, row.Line, key), "a quotation mark or a separator is missing before, or a spreadsheet changed the file: export it again")
		}
		if err := each(s, row); err != nil {
			return err
		}
	}
	if e.decided {
		e.notes(s, skipped)
	}
	return nil
}

// notes says what the file itself lacks.
func (e *export) notes(s *sheet, skipped int) {
	note := func(kind, format string, args ...any) {
		e.to.Note(convert.Note{Kind: kind, Text: s.name + ": " + fmt.Sprintf(format, args...)})
	}
	const limit = 1000
	rows := s.Rows - skipped
	if rows == limit {
		note("exactly-1000", "exactly 1,000 issues, which is the limit of an export: export the rest by key, such as key >= A-1001")
	}
	if s.language != "" {
		note("language", "the header is in %s; columns without a known translation were read as custom fields. If one of them matters, set the language of your Jira profile to English and export again", s.language)
	}
	if skipped > 0 {
		note("rows-skipped", "%s without an issue skipped", diag.Count(skipped, "line"))
	}
	if s.Headers > 0 {
		note("headers-skipped", "the header stands in the file %s more: files were pasted together", diag.Count(s.Headers, "time"))
	}
	if s.Returns > 0 {
		note("line-ends", "%s within texts made line feeds", diag.Count(s.Returns, "carriage return"))
	}
	if len(s.comments) == 0 {
		note("no-comments", `no column "Comment": no issue has one, or only the current fields were exported; choose "all fields"`)
	}
}

// look takes from a row what is needed to understand others.
func (e *export) look(s *sheet, row table.Row) error {
	if id := table.Trim(row.Cell(s.id)); id != "" {
		if strings.ContainsAny(id, "eE.,") {
			return diag.WithHint(fmt.Errorf("%s:%d: the issue ID %s is no whole number: a spreadsheet changed it", s.name, row.Line, id), "export again, and do not save the file with a spreadsheet")
		}
		e.keys[id] = table.Trim(row.Cell(s.key))
	}
	at := diag.Position{File: s.name, Line: row.Line}
	for _, i := range slices.Concat(s.created, s.updated, s.due, s.start) {
		e.dates.Look(row.Cell(i), at)
	}
	for _, i := range s.comments {
		if date, _, ok := strings.Cut(row.Cell(i), ";"); ok {
			e.dates.Look(date, at)
		}
	}
	return nil
}

// row hands out an issue.
func (e *export) row(s *sheet, row table.Row) error {
	cell := func(list []int) string {
		for _, i := range list {
			if text := table.Trim(row.Cell(i)); text != "" {
				return text
			}
		}
		return ""
	}
	cells := func(list []int) []string {
		var all []string
		for _, i := range list {
			if text := table.Trim(row.Cell(i)); text != "" && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
		return all
	}
	key := table.Trim(row.Cell(s.key))
	project, number, _ := jira.Key(key)
	at := diag.Position{File: s.name, Line: row.Line}
	issue := convert.Issue{
		Key: key, ID: table.Trim(row.Cell(s.id)), Project: project, Number: number, Position: at, Left: map[string]int{},
		Title: table.Trim(row.Cell(s.summary)), Text: wiki(cell(s.description)), Environment: wiki(cell(s.environment)),
		State: convert.State{Name: cell(s.status), Category: category(cell(s.category))}, Resolution: cell(s.resolution),
		Type: cell(s.kind), Priority: cell(s.priority),
		Reporter: e.person(s.reporter, row), Creator: e.person(s.creator, row),
		Components: cells(s.components), Affects: cells(s.affects), Sprints: sprints(cells(s.sprints)),
	}
	e.to.Project(convert.Project{Key: project, Name: cell(s.projectName), Description: cell(s.projectText)})
	if id := e.person(s.assignee, row); id != "" {
		issue.Assignees = []string{id}
	}
	for i := range s.watchers.names { // who a comment is by is often told nowhere else
		_ = e.person(people{s.watchers.names[i : i+1], at1(s.watchers.ids, i)}, row)
		if row.Cell(s.watchers.names[i]) != "" {
			issue.Left["watchers"]++
		}
	}
	for _, name := range cells(s.labels) {
		issue.Labels = append(issue.Labels, convert.Label{Name: name})
	}
	for _, name := range cells(s.versions) {
		issue.Versions = append(issue.Versions, convert.Version{Name: name})
	}
	issue.Created = e.moment(&issue, cell(s.created))
	issue.Updated = e.moment(&issue, cell(s.updated))
	issue.Start, issue.Due = dates.Day(e.moment(&issue, cell(s.start))), dates.Day(e.moment(&issue, cell(s.due)))
	issue.Parent = e.parent(s, cell)
	if votes, _ := strconv.Atoi(cell(s.votes)); votes > 0 {
		issue.Left["votes"] = votes
	}
	if n := len(cells(s.worklogs)); n > 0 {
		issue.Left["worklogs"] = n
	}
	for _, l := range s.links {
		for _, to := range cells(l.columns) {
			issue.Links = append(issue.Links, convert.Link{Type: l.name, To: to, Inward: l.inward})
		}
	}
	for _, i := range s.attachments {
		e.attachment(&issue, row.Cell(i))
	}
	for _, i := range s.comments {
		e.comment(&issue, row.Cell(i))
	}
	for _, f := range s.fields {
		value := strings.Join(cells(f.columns), ", ")
		if n, err := strconv.Atoi(value); err == nil && f.seconds {
			value = dates.Duration(n)
		}
		if value != "" {
			issue.Fields = append(issue.Fields, convert.Field{Name: f.name, Value: value, Noise: f.noise || jira.IsNoise(value)})
		}
	}
	if row.Cut() {
		e.to.Note(convert.Note{Kind: "cut-cells", Text: "cells of exactly 32,767 characters were cut by a spreadsheet, probably", Item: key})
	}
	e.to.Issue(&issue)
	return nil
}

func wiki(body string) convert.Text { return convert.Text{Markup: convert.JiraWiki, Body: body} }

func at1(list []int, i int) []int {
	if i < len(list) {
		return list[i : i+1]
	}
	return nil
}

// person is who a pair of columns names: the account ID where there is one, else the name.
func (e *export) person(p people, row table.Row) string {
	p1 := func(list []int) string {
		if len(list) == 0 {
			return ""
		}
		return table.Trim(row.Cell(list[0]))
	}
	name, id := p1(p.names), p1(p.ids)
	if id == "" {
		id = name
	}
	if id == "" || id == "Unassigned" || id == "Sin asignar" {
		return ""
	}
	e.to.Person(convert.Person{ID: id, Name: name, Bot: strings.HasPrefix(id, "557058:") && strings.Contains(name, "Automation")})
	return id
}

// parent is the key of the parent: the columns that say it, best first.
func (e *export) parent(s *sheet, cell func([]int) string) string {
	if key := cell(s.parentKey); key != "" {
		return key
	}
	for _, list := range [][]int{s.parent, s.parentID} {
		text := cell(list)
		if key := e.keys[text]; key != "" {
			return key
		}
		if jira.IsKey(text) {
			return text
		}
	}
	if epic := cell(s.epic); epic != "" {
		return epic
	}
	if id := cell(slices.Concat(s.parent, s.parentID)); id != "" {
		return "issue " + id // outside the export
	}
	return ""
}

// comment takes date;author;text. Only the first two separate: texts hold semicolons too.
func (e *export) comment(issue *convert.Issue, cell string) {
	if table.Trim(cell) == "" {
		return
	}
	parts := strings.SplitN(cell, ";", 3)
	c := convert.Comment{Text: wiki(strings.TrimSpace(cell))}
	if len(parts) == 3 {
		if at, ok := e.dates.Moment(parts[0]); ok {
			c = convert.Comment{At: at, Author: strings.TrimSpace(parts[1]), Text: wiki(strings.TrimSpace(parts[2]))}
		}
	}
	if c.Author != "" {
		e.to.Person(convert.Person{ID: c.Author})
	}
	issue.Comments = append(issue.Comments, c)
}

var attachmentID = regexp.MustCompile(`/attachment/(?:content/)?([0-9]+)`)

// attachment takes date;author;file name;URL. A name may hold semicolons.
func (e *export) attachment(issue *convert.Issue, cell string) {
	if table.Trim(cell) == "" {
		return
	}
	parts := strings.Split(cell, ";")
	a := convert.Attachment{Name: table.Trim(cell)}
	if len(parts) >= 4 {
		a = convert.Attachment{Name: strings.Join(parts[2:len(parts)-1], ";"), URL: table.Trim(parts[len(parts)-1])}
	}
	if m := attachmentID.FindStringSubmatch(a.URL); m != nil {
		a.ID = m[1]
	}
	if at, err := url.Parse(a.URL); err == nil && at.Host != "" && e.site == "" {
		base, _, ok := strings.Cut(at.Path, "/rest/")
		if !ok {
			base, _, _ = strings.Cut(at.Path, "/secure/")
		}
		e.site = (&url.URL{Scheme: at.Scheme, Host: at.Host, Path: base}).String()
	}
	issue.Attachments = append(issue.Attachments, a)
}

func (e *export) moment(issue *convert.Issue, text string) time.Time {
	at, ok := e.dates.Moment(text)
	if !ok && text != "" {
		issue.Left["dates-not-understood"]++
	}
	return at
}
