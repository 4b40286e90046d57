package manifest

import (
	"slices"
	"strings"
	"unicode"

	"github.com/planform/planform/internal/diag"
)

// synonyms are words that other trackers, and people, use for a property of a manifest.
// Of several properties with one word, the first that an object has is meant.
//
//nolint:gochecknoglobals // a constant table
var synonyms = []struct{ property, words string }{
	{"color", "colour"},
	{"comments", "comment"},
	{"created_at", "created"},
	{"created_by", "creator author reporter"},
	{"description_html", "html"},
	{"comment_html", "html"},
	{"estimate_point", "estimate estimation points story_points"},
	{"id", "uuid"},
	{"identifier", "code prefix project_key short_name"},
	{"labels", "category categories label tag tags"},
	{"name", "display_name summary title"},
	{"owned_by", "owner"},
	{"pages", "wiki"},
	{"parent", "epic epics parent_id"},
	{"previously", "renamed_from"},
	{"priority", "prio severity"},
	{"relations.blocked_by", "blockedby depends_on"},
	{"relations.blocking", "blocks"},
	{"relations.start_before", "starts_before"},
	{"relations.start_after", "starts_after"},
	{"relations.finish_before", "finishes_before"},
	{"relations.finish_after", "finishes_after"},
	{"relations.duplicate", "duplicate_of duplicates"},
	{"relations.relates_to", "related related_to"},
	{"requests", "customers_requests"},
	{"start_date", "begin_date begins start starts"},
	{"state", "status"},
	{"states", "statuses workflow"},
	{"teamspaces", "teams"},
	{"title", "summary name"},
	{"description", "acceptance_criteria body content desc details markdown notes summary"},
	{"text", "body comment content markdown"},
	{"type", "issue_type kind"},
	{"group", "category kind state status"},
	{"status", "state"},
	{"url", "href link uri"},
	{"links", "link urls"},
	{"website_url", "website"},
	{"work_item_types", "issue_types types workitem_types"},
	{"intake", "inbox intake_items"},
	{"work_items", "bugs children epic epics features issues items stories sub_issues sub_tasks subitems subtasks tasks tickets todos work_item"},
	{"workspace", "workspace_slug slug"},
	{"key", "slug"},
	{"target_date", "deadline due due_date due_on finish_date end_date"},
	{"end_date", "deadline due due_date due_on finish_date end target_date"},
	{"target_date", "end"},
	{"assignees", "assigned_to assignee owners user"},
	{"lead", "leader owner user"},
	{"members", "member owners people team users"},
	{"assignees", "owner people users"},
	{"cycle", "iteration sprint"},
	{"cycles", "iteration iterations sprint sprints"},
	{"cycle", "iterations sprints"},
	{"module", "component milestone"},
	{"modules", "components component milestones milestone"},
	{"module", "components milestones"},
	{"attachments", "attachment files uploads"},
	{"fields", "custom_fields custom_properties properties"},
	{"properties", "custom_fields custom_properties fields"},
}

// unsupported are objects and fields of trackers that no manifest has, with what to do instead.
//
//nolint:gochecknoglobals // a constant table
var unsupported = []struct{ hint, words string }{
	{"include stands at the top of a document: include: [states.yaml]", "include includes"},
	{"subscribers are not supported yet", "subscribers watchers"},
	{"worklogs are not supported yet", "time_spent worklogs"},
	{"for_each stands in an entry of a list of objects, such as a work item", "for_each foreach loop with_items"},
	{"variables stand at the top of a document, under vars:", "variables vars"},
	{
		"protect: true forbids deleting the object, ignore_changes: [name] leaves fields to people, create: false wants it to exist",
		"lifecycle prevent_destroy",
	},
	{
		"a manifest begins with version: 1 and workspace: SLUG, and lists its projects, pages, … below",
		"api_version metadata spec resource resources provider terraform",
	},
	{"the service sets it when the state says that the item is done", "completed_at"},
	{"the service sets it", "updated_at"},
	{"the service numbers work items in the order in which they are written", "sequence_id"},
	{"a project lists its members, and --invite invites those whom the workspace does not have", "workspace_members invitations"},
	{"write archived: true where the kind has it", "archived_at"},
	{"a project lists them in its members", "project_members"},
	{"write assignees", "assignee_ids"},
	{"write labels", "label_ids"},
	{"write relations inside the work item", "work_item_relations"},
}

// candidates are the properties that a word may stand for.
func candidates(word string) []string {
	var properties []string
	for _, s := range synonyms {
		if slices.Contains(strings.Fields(s.words), word) {
			properties = append(properties, s.property)
		}
	}
	return properties
}

// synonymOf is the property of an object that a word probably stands for, or "".
func synonymOf(word string, has func(property string) bool) string {
	snake := snakeCase(word)
	if snake != word && has(snake) {
		return snake
	}
	for _, number := range []string{diag.Plural(snake), strings.TrimSuffix(snake, "s")} {
		if number != word && has(number) {
			return number
		}
	}
	properties := candidates(snake)
	if at := slices.IndexFunc(properties, has); at >= 0 {
		return properties[at]
	}
	return ""
}

// synonym is a hint for a property that is unknown where it stands, or "".
func (p *properties) synonym(name string) string {
	has := func(property string) bool { return slices.Contains(p.names, property) }
	if p.kind != nil {
		has = func(property string) bool {
			known, ok := p.kind.props[property]
			return ok && known.what != isUnknown
		}
	}
	word := name
	if group, inner, ok := strings.Cut(name, "."); ok && p.kind != nil && p.kind.props[group].what == isGroup {
		word = inner
	}
	if to := synonymOf(word, has); to != "" {
		if group, field, ok := strings.Cut(to, "."); ok {
			return "did you mean " + quote(field) + ", inside " + group + ":?"
		}
		return "did you mean " + quote(to) + "?"
	}
	for _, u := range unsupported {
		if slices.Contains(strings.Fields(u.words), snakeCase(word)) {
			return u.hint
		}
	}
	for _, to := range candidates(snakeCase(word)) {
		if where := p.kinds.kindsWith(to, p.kind); len(where) > 0 && len(where) <= mostPlaces {
			return "did you mean " + quote(to) + "? That belongs to " + enumerate(where)
		}
	}
	return ""
}

// snakeCase writes a word as properties are written: dueDate and Due-Date are due_date.
func snakeCase(word string) string {
	const longest = 40 // longer ones are in no table
	if len(word) > longest {
		return word
	}
	var b strings.Builder
	before := rune(0)
	for _, r := range word {
		switch {
		case r == '-' || r == ' ' || r == '.':
			r = '_'
		case unicode.IsUpper(r):
			if unicode.IsLower(before) {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return b.String()
}
