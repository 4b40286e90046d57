// Package jira reads the exports of Jira, of Cloud and of Server: the CSV of the issue navigator,
// and the backup of a site. Package described reads the JSON of the REST API.
//
// This file has their common parts: keys, and roles of custom fields. Packages wiki and adf turn the texts into Markdown.
// The package must not know manifests.
package jira

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
)

var issueKey = regexp.MustCompile(`^([A-Z][A-Z0-9_]*)-([0-9]{1,9})$`)

// KeyOf splits the key of an issue into project and number.
func KeyOf(key string) (project string, number int, ok bool) {
	m := issueKey.FindStringSubmatch(key)
	if m == nil {
		return "", 0, false
	}
	number, err := strconv.Atoi(m[2])
	return m[1], number, err == nil
}

// isKey reports whether a text is the key of an issue.
func isKey(text string) bool { return issueKey.MatchString(text) }

// role is the meaning of a custom field for the conversion.
type role int

// The roles of custom fields.
const (
	other    role = iota
	sprints       // the sprints of an issue
	epicLink      // the key of its epic
	start         // its start date
	epicName      // another name of an epic
	own           // shown by the issue itself
	noise         // of no use to people
)

// roleOf returns the role of a field by its kind, such as com.pyxis.greenhopper.jira:gh-sprint, or by its name if the kind is unknown.
func roleOf(kind, name string) role {
	_, short, _ := strings.Cut(kind, ":")
	is := func(kinds, names string) bool {
		if kind == "" {
			return slices.Contains(strings.Split(names, ","), strings.ToLower(name))
		}
		return slices.Contains(strings.Split(kinds, ","), short)
	}
	switch {
	case is("gh-sprint", "sprint"):
		return sprints
	case is("gh-epic-link", "epic link"):
		return epicLink
	case strings.EqualFold(name, "Start date"):
		return start
	case is("gh-epic-label", "epic name"):
		return epicName
	case is("", "epic link summary"):
		return own
	case is("gh-lexo-rank,jsw-issue-color,devsummarycf,gh-epic-color", "epic color,epic colour,rank,issue color,development,vulnerability,security level"):
		return noise
	}
	return other
}

// IsSprint reports whether a field has the sprints of an issue.
func IsSprint(kind, name string) bool { return roleOf(kind, name) == sprints }

// unreadable matches values that only programs can read.
var unreadable = regexp.MustCompile(`^(\{\}|0\|[0-9a-z:]+|\d+\|[0-9a-z]+:[0-9a-z]*|\{repository=.*|ApprovalsCFValue\{.*|.*com\.atlassian\.[^ ]*@[0-9a-f]+.*)$`)

// SecurityLevel is the name of the field that limits the readers of an issue.
const SecurityLevel = "Security Level"

// Custom sets a value of an issue from a custom field, or keeps the field as it is. kind is "" if the export does not have it.
func Custom(i *convert.Issue, kind string, f convert.Field) {
	if f.Value == "" {
		return
	}
	of := roleOf(kind, f.Name)
	switch _, err := time.Parse(time.DateOnly, f.Value); {
	case of == own, of == epicName && f.Value == i.Title:
		i.Take(f.Source, "name")
	case of == epicLink && isKey(f.Value):
		i.Parent = cmp.Or(i.Parent, f.Value)
		i.Take(f.Source, convert.OfParent)
	case of == start && err == nil:
		i.Start = f.Value
		i.Take(f.Source, "start_date")
	default:
		f.Noise = of == noise || unreadable.MatchString(f.Value)
		i.Fields = append(i.Fields, f)
	}
}

// Times adds the fields about the resolution and the work of an issue, which every site has. Durations are in seconds.
func Times(i *convert.Issue, resolved time.Time, estimate, remaining, spent int) {
	for _, f := range []convert.Field{
		{Name: "Resolution", Value: i.Resolution, Part: "resolution"},
		{Name: "Resolved", Value: dates.Day(resolved), Part: "resolved_at"},
		{Name: "Original estimate", Value: dates.Duration(estimate), Part: "original_estimate"},
		{Name: "Remaining Estimate", Value: dates.Duration(remaining), Part: "remaining_estimate"},
		{Name: "Time Spent", Value: dates.Duration(spent), Part: "time_spent"},
	} {
		if f.Value != "" {
			i.Fields = append(i.Fields, f)
		}
	}
}

// discuss gives an issue its comments, in the order in which they were written.
func discuss(i *convert.Issue, comments []convert.Comment, counted int) {
	slices.SortStableFunc(comments, func(a, b convert.Comment) int { return a.At.Compare(b.At) })
	i.Discuss(comments, counted)
}

func wiki(body string) convert.Text { return convert.Text{Markup: convert.JiraWiki, Body: body} }

var serverField = regexp.MustCompile(`[\[,](name|state|startDate|endDate)=([^,\]]*)`)

// ServerSprint splits a sprint that Server writes as a text into name, state, startDate and endDate. For any other text, it returns an
// empty map.
func ServerSprint(text string) map[string]string {
	fields := map[string]string{}
	if strings.HasPrefix(text, "com.atlassian.greenhopper.service.sprint.Sprint@") {
		for _, m := range serverField.FindAllStringSubmatch(text, -1) {
			fields[m[1]] = m[2]
		}
	}
	return fields
}
