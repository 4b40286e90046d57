// Package jira knows what the exports of Jira have in common: keys, categories of states, and what custom fields are.
//
// The package must not know how the exports are written.
package jira

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var issueKey = regexp.MustCompile(`^([A-Z][A-Z0-9_]*)-([0-9]{1,9})$`)

// Key takes the key of an issue apart.
func Key(key string) (project string, number int, ok bool) {
	m := issueKey.FindStringSubmatch(key)
	if m == nil {
		return "", 0, false
	}
	number, err := strconv.Atoi(m[2])
	return m[1], number, err == nil
}

// IsKey reports whether a text is the key of an issue.
func IsKey(text string) bool { return issueKey.MatchString(text) }

// Category is the group of states that the key of a category stands for.
func Category(key string) string {
	return map[string]string{"new": "unstarted", "indeterminate": "started", "done": "completed"}[key]
}

// Role is what a custom field is for.
type Role int

// The roles of custom fields.
const (
	Other    Role = iota
	Sprint        // the sprints of an issue
	EpicLink      // the key of its epic
	Start         // its start date
	Own           // shown by the issue itself
	Noise         // of no use to people
)

// RoleOf tells the role of a field by its kind, such as com.pyxis.greenhopper.jira:gh-sprint, or by its name, if the kind is unknown.
func RoleOf(kind, name string) Role {
	_, short, _ := strings.Cut(kind, ":")
	is := func(kinds, names string) bool {
		if kind == "" {
			return slices.Contains(strings.Split(names, ","), strings.ToLower(name))
		}
		return slices.Contains(strings.Split(kinds, ","), short)
	}
	switch {
	case is("gh-sprint", "sprint"):
		return Sprint
	case is("gh-epic-link", "epic link"):
		return EpicLink
	case strings.EqualFold(name, "Start date"):
		return Start
	case is("gh-epic-label,gh-epic-status,gh-epic-color", "epic name,epic status,epic color,epic colour,epic link summary"):
		return Own
	case is("gh-lexo-rank,jsw-issue-color,devsummarycf", "rank,issue color,development,vulnerability,security level"):
		return Noise
	}
	return Other
}

var noise = regexp.MustCompile(`^(\{\}|0\|[0-9a-z:]+|\{repository=.*|ApprovalsCFValue\{.*|.*com\.atlassian\.[^ ]*@[0-9a-f]+.*)$`)

// IsNoise reports a value that only programs can read.
func IsNoise(value string) bool { return noise.MatchString(value) }

var serverField = regexp.MustCompile(`[\[,](name|state|startDate|endDate)=([^,\]]*)`)

// ServerSprint takes a sprint apart that Server writes as a text: name, state, startDate, endDate. Another text has none of them.
func ServerSprint(text string) map[string]string {
	fields := map[string]string{}
	if strings.HasPrefix(text, "com.atlassian.greenhopper.service.sprint.Sprint@") {
		for _, m := range serverField.FindAllStringSubmatch(text, -1) {
			fields[m[1]] = m[2]
		}
	}
	return fields
}
