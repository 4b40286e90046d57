// Package jira reads the CSV of Jira's issue navigator. Package described reads the JSON of the REST API, and the backup of a site.
//
// This file has their common parts: keys, and roles of custom fields. Packages wiki and adf turn the texts into Markdown.
// The package must not know manifests.
package jira

import (
	"cmp"
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/words"
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

func isKey(text string) bool { return issueKey.MatchString(text) }

// fieldList has the roles of custom fields.
//
//go:embed fields.txt
var fieldList string

var byKind, byName = sync.OnceValue(rolesOf("kinds")), sync.OnceValue(rolesOf("names")) //nolint:gochecknoglobals // constants

func rolesOf(section string) func() map[string]string {
	return func() map[string]string { return words.ByName(words.Section(fieldList, section)) }
}

// roleOf returns the role of a field by its kind, such as com.pyxis.greenhopper.jira:gh-sprint, or by its name if the kind is unknown.
func roleOf(kind, name string) string {
	_, short, _ := strings.Cut(kind, ":")
	switch {
	case strings.EqualFold(name, "Start date"):
		return "start"
	case kind == "":
		return byName()[strings.ToLower(name)]
	}
	return byKind()[short]
}

// IsSprint reports whether a field has the sprints of an issue.
func IsSprint(kind, name string) bool { return roleOf(kind, name) == "sprint" }

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
	case of == "own", of == "epic name" && f.Value == i.Title:
		i.Take(f.Source, "name")
	case of == "epic link" && isKey(f.Value):
		i.Parent = cmp.Or(i.Parent, f.Value)
		i.Take(f.Source, convert.OfParent)
	case of == "start" && err == nil:
		i.Start = f.Value
		i.Take(f.Source, "start_date")
	default:
		f.Noise = of == "noise" || unreadable.MatchString(f.Value)
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
