package sandbox

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// wholeNumber is a number in a question, by which an item is found as well.
var wholeNumber = regexp.MustCompile(`\b[0-9]+\b`)

// searchItems finds items by their names, their numbers and the identifier of their project, the newest first.
func searchItems(c *call, t *tx) reply {
	query := strings.ToLower(c.query.Get("search"))
	if query == "" {
		return reply{http.StatusOK, row{"issues": []row{}}}
	}
	only := ""
	if in := c.query.Get("project_id"); in != "" && (!c.query.Has("workspace_search") || c.query.Get("workspace_search") == "false") {
		var ok bool
		if only, ok = anyID(in); !ok {
			return refuse(http.StatusBadRequest, "error", textBadDetail)
		}
	}
	most := 10
	if c.query.Has("limit") {
		var err error
		if most, err = strconv.Atoi(c.query.Get("limit")); err != nil || most < 0 {
			return serverError()
		}
	}
	numbers := wholeNumber.FindAllString(query, -1)
	found := []stored{}
	for _, project := range c.searched(t, only) {
		named := strings.Contains(strings.ToLower(text(project, "identifier")), query)
		for _, s := range t.all(c.kinds.workItem, scope(text(project, "id"))) {
			if named || strings.Contains(strings.ToLower(text(s.row, "name")), query) || slices.Contains(numbers, valueText(s.row["sequence_id"])) {
				found = append(found, s)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b stored) int { return strings.Compare(text(b.row, "created_at"), text(a.row, "created_at")) })
	return reply{http.StatusOK, row{"issues": renderPart(found, 0, most, func(s stored) row {
		project, _ := t.get(c.kinds.project, text(s.row, "project"))
		return row{
			"id": s.row["id"], "name": s.row["name"], "sequence_id": s.row["sequence_id"], "project_id": s.row["project"],
			"project__identifier": project.row["identifier"], "workspace__slug": c.opts.Workspace,
		}
	})}}
}

// searched is the projects that the user is in and that are not archived, or only one of them.
func (c *call) searched(t *tx, only string) []row {
	var out []row
	if c.vars["workspace"] != c.opts.Workspace {
		return nil
	}
	for _, id := range t.under(1<<20, "joined", c.user) {
		m, _ := t.get(c.kinds.projectMember, id)
		p, ok := t.get(c.kinds.project, text(m.row, "project"))
		if ok && p.row["archived_at"] == nil && (only == "" || text(p.row, "id") == only) {
			out = append(out, p.row)
		}
	}
	return out
}
