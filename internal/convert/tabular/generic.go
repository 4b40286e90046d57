package tabular

import (
	"path"
	"strings"

	"github.com/planform/planform/internal/convert"
)

// anyTable is a table of no tracker.
func anyTable(kind string) *Layout {
	return &Layout{
		Name: kind, Tracker: "the export", How: "the first line of a table names its columns", Markup: convert.Markdown,
		Empty: []string{"None", "null", "N/A", "n/a"}, guess: guess,
		detects: func(b *beginning, name string) (string, bool) {
			if b.records != (kind == "jsonl") || kind == "csv" && strings.EqualFold(path.Ext(name), ".xlsx") {
				return "", false
			}
			for _, h := range b.headers {
				found := guess(h)
				if !has(found, "key", "name") {
					continue
				}
				var names []string
				for _, cell := range h.names {
					if found[cell] == "key" || found[cell] == "name" {
						names = append(names, cell)
					}
				}
				return quoted(names), true
			}
			return "", false
		},
	}
}

func has(found map[string]string, fields ...string) bool {
	for _, field := range found {
		for i, want := range fields {
			if field == want {
				fields = append(fields[:i:i], fields[i+1:]...)
				break
			}
		}
	}
	return len(fields) == 0
}

// wellKnown are names of columns, folded. Of those for a field with one value the first in the list counts.
func wellKnown() [][2]string {
	return [][2]string{
		{"key", "key issuekey taskkey ticketkey ref reference identifier externalid id issueid taskid ticketid workitemid number issuenumber ticketnumber nr no # ticket issue"},
		{"name", "title summary name subject taskname issuetitle headline task"},
		{"description", "description body notes details text content"},
		{"state", "state status stage column list section"},
		{"resolution", "resolution"},
		{"type", "type issuetype tasktype workitemtype tracker kind"},
		{"priority", "priority severity importance"},
		{"labels", "labels label tags tag"},
		{"components", "components component modules module area category"},
		{"versions", "versions version fixversion fixversions milestone milestones release targetversion"},
		{"cycle", "sprint sprints cycle cycles iteration"},
		{"project", "projectkey projectid projectidentifier project board"},
		{"project_name", "projectname"},
		{"assignees", "assignees assignee assignedto owner owners responsible"},
		{"assignee_names", "assigneename assigneenames ownername assignee.name assignees.name"},
		{"assignee_emails", "assigneeemail assigneeemails owneremail assignee.email assignees.email"},
		{"created_by", "reporter author createdby creator requester reportedby openedby"},
		{"created_by_name", "reportername authorname creatorname reporter.name author.name creator.name"},
		{"created_by_email", "reporteremail authoremail creatoremail reporter.email author.email creator.email"},
		{"created_at", "created createdat createdon createddate creationdate dateofcreation datecreated opened openedat"},
		{"updated_at", "updated updatedat updatedon lastmodified modified changeddate lastupdated"},
		{"start_date", "startdate start starton startsat startat"},
		{"target_date", "duedate due dueon duedatetime deadline targetdate enddate dueat"},
		{"parent", "parent parentkey parentid parenttask parentissue epic epickey epiclink"},
		{"blocking", "blocks blocking"},
		{"blocked_by", "blockedby dependson dependencies dependency predecessors"},
		{"duplicate", "duplicate duplicates duplicateof"},
		{"relates_to", "relatesto related relatedto relatedissues links"},
		{"link", "url link permalink weburl issueurl address"},
		{"attachments", "attachments attachment files"},
	}
}

// guess is what columns hold by their names.
func guess(h *header) map[string]string {
	found := map[string]string{}
	for _, known := range wellKnown() {
		for name := range strings.FieldsSeq(known[1]) {
			taken := false
			for _, i := range h.places[name] {
				if cell := h.names[i]; found[cell] == "" {
					found[cell], taken = known[0], true
				}
			}
			if taken && single[known[0]] {
				break
			}
		}
	}
	return found
}
