package manifest

import (
	"slices"
	"strings"
	"unicode"

	"github.com/planform/planform/internal/diag"
)

// synonyms are words that other trackers, and people, use for properties of a
// manifest. Of several the first that an object has is meant.
//
//nolint:gochecknoglobals // a constant table
var synonyms = map[string][]string{
	"acceptance_criteria": {"description"},
	"assigned_to":         {"assignees"},
	"assignee":            {"assignees"},
	"begin_date":          {"start_date"},
	"begins":              {"start_date"},
	"blockedby":           {"relations.blocked_by"},
	"blocks":              {"relations.blocking"},
	"body":                {"description", "text"},
	"bugs":                {"work_items"},
	"category":            {"labels", "group"},
	"categories":          {"labels"},
	"children":            {"work_items"},
	"code":                {"identifier"},
	"colour":              {"color"},
	"comment":             {"comments", "text"},
	"components":          {"modules", "module"},
	"component":           {"module", "modules"},
	"content":             {"description", "text"},
	"created":             {"created_at"},
	"creator":             {"created_by"},
	"author":              {"created_by"},
	"reporter":            {"created_by"},
	"customers_requests":  {"requests"},
	"deadline":            {"target_date", "end_date"},
	"depends_on":          {"relations.blocked_by"},
	"desc":                {"description"},
	"details":             {"description"},
	"display_name":        {"name"},
	"due":                 {"target_date", "end_date"},
	"due_date":            {"target_date", "end_date"},
	"due_on":              {"target_date", "end_date"},
	"duplicate_of":        {"relations.duplicate"},
	"duplicates":          {"relations.duplicate"},
	"finish_date":         {"target_date", "end_date"},
	"end":                 {"end_date", "target_date"},
	"end_date":            {"target_date"},
	"target_date":         {"end_date"},
	"epic":                {"parent", "work_items"},
	"epics":               {"parent", "work_items"},
	"estimate":            {"estimate_point"},
	"estimation":          {"estimate_point"},
	"points":              {"estimate_point"},
	"story_points":        {"estimate_point"},
	"features":            {"work_items"},
	"href":                {"url"},
	"html":                {"description_html", "comment_html"},
	"issue_type":          {"type"},
	"issue_types":         {"work_item_types"},
	"types":               {"work_item_types"},
	"issues":              {"work_items"},
	"items":               {"work_items"},
	"iteration":           {"cycle", "cycles"},
	"iterations":          {"cycles", "cycle"},
	"kind":                {"type", "group"},
	"label":               {"labels"},
	"leader":              {"lead"},
	"link":                {"url", "links"},
	"member":              {"members"},
	"markdown":            {"description", "text"},
	"milestones":          {"modules", "module"},
	"milestone":           {"module", "modules"},
	"notes":               {"description"},
	"owner":               {"owned_by", "lead", "assignees"},
	"owners":              {"assignees", "members"},
	"parent_id":           {"parent"},
	"people":              {"members", "assignees"},
	"prefix":              {"identifier"},
	"prio":                {"priority"},
	"project_key":         {"identifier"},
	"related":             {"relations.relates_to"},
	"related_to":          {"relations.relates_to"},
	"renamed_from":        {"previously"},
	"severity":            {"priority"},
	"short_name":          {"identifier"},
	"sprint":              {"cycle", "cycles"},
	"sprints":             {"cycles", "cycle"},
	"start":               {"start_date"},
	"starts":              {"start_date"},
	"state":               {"group", "status"},
	"status":              {"state", "group"},
	"statuses":            {"states"},
	"stories":             {"work_items"},
	"sub_issues":          {"work_items"},
	"sub_tasks":           {"work_items"},
	"subitems":            {"work_items"},
	"subtasks":            {"work_items"},
	"summary":             {"name", "title", "description"},
	"tag":                 {"labels"},
	"tags":                {"labels"},
	"tasks":               {"work_items"},
	"team":                {"members"},
	"teams":               {"teamspaces"},
	"tickets":             {"work_items"},
	"title":               {"name"},
	"name":                {"title"},
	"todos":               {"work_items"},
	"uri":                 {"url"},
	"urls":                {"links"},
	"user":                {"assignees", "lead"},
	"users":               {"members", "assignees"},
	"uuid":                {"id"},
	"website":             {"website_url"},
	"wiki":                {"pages"},
	"work_item":           {"work_items"},
	"workflow":            {"states"},
	"workitem_types":      {"work_item_types"},
	"workspace_slug":      {"workspace"},
	"slug":                {"workspace", "key"},
	"api_version":         {"version"},
}

// notYet are objects and fields of trackers that no manifest has, with what to do instead.
//
//nolint:gochecknoglobals // a constant table
var notYet = map[string]string{
	"attachment":          "attachments are not supported yet: upload them in Plane, or give their addresses in links",
	"attachments":         "attachments are not supported yet: upload them in Plane, or give their addresses in links",
	"files":               "attachments are not supported yet: upload them in Plane, or give their addresses in links",
	"custom_fields":       "custom properties are not supported yet",
	"custom_properties":   "custom properties are not supported yet",
	"properties":          "custom properties are not supported yet",
	"include":             "one manifest cannot include another: name several with -f, or a folder",
	"includes":            "one manifest cannot include another: name several with -f, or a folder",
	"intake":              "intake items are not supported yet",
	"subscribers":         "subscribers are not supported yet",
	"watchers":            "subscribers are not supported yet",
	"time_spent":          "worklogs are not supported yet",
	"variables":           "there are no variables: anchors may stand under a key that begins with x-",
	"vars":                "there are no variables: anchors may stand under a key that begins with x-",
	"views":               "views are not supported yet",
	"webhooks":            "webhooks are not supported yet",
	"worklogs":            "worklogs are not supported yet",
	"completed_at":        "the service sets it when the state says that the item is done",
	"updated_at":          "the service sets it",
	"sequence_id":         "the service numbers work items in the order in which they are written",
	"workspace_members":   "people are invited in Plane; a project lists its members",
	"invitations":         "people are invited in Plane; a project lists its members",
	"archived_at":         "write archived: true where the kind has it",
	"estimates":           "estimates are made in Plane; work items name their points in estimate_point",
	"project_members":     "a project lists them in its members",
	"assignee_ids":        "write assignees",
	"label_ids":           "write labels",
	"work_item_relations": "write relations inside the work item",
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
	candidates := synonyms[snake]
	if at := slices.IndexFunc(candidates, has); at >= 0 {
		return candidates[at]
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
	if hint := notYet[snakeCase(word)]; hint != "" {
		return hint
	}
	for _, to := range synonyms[snakeCase(word)] {
		if where := p.kinds.carriers(to, p.kind); len(where) > 0 && len(where) <= 3 {
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
