package sandbox

import (
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
)

func (ks *kinds) describeCycles() {
	ks.cycle = ks.add(&kind{
		name: "cycle",
		columns: audit(groupTotals + " name description start_date end_date view_props sort_order external_source external_id " +
			"progress_snapshot archived_at logo_props timezone version created_by updated_by project workspace owned_by"),
		computed: names(groupTotals),
		indexes:  []index{uniqueExternalID("cycle", "project", "Cycle")},
		fields: bodyFields("name*=line description=prose start_date=moment? end_date=moment?"+externalPair,
			field{name: "owned_by", ref: &ks.user, null: true, derived: true},
			field{name: "timezone", check: timezone, initial: "UTC"},
		),
		param: "cycle", scope: inProject,
		readableArchived: true,
		created: func(c *call, t *tx, r row) {
			r["sort_order"] = orderBefore(t.all(ks.cycle, inProject(c)))
			r["view_props"], r["progress_snapshot"], r["logo_props"], r["version"] = row{}, row{}, row{}, 1
		},
		prepare: prepareCycle,
		refuseChange: func(c *call, old row) *reply {
			switch {
			case old["archived_at"] != nil:
				return new(refuse(http.StatusBadRequest, "error", "Archived cycle cannot be edited"))
			case isCompleted(old, c.now):
				if _, moves := c.in["sort_order"]; !moves {
					return new(refuse(http.StatusBadRequest, "error", "The Cycle has already been completed so it cannot be edited"))
				}
			}
			return nil
		},
		beforeDelete: onlyByCreator("owned_by", "cycle"),
		contents:     []**kind{&ks.cycleIssue},
		show: func(c *call, t *tx, r row, listed bool) row {
			return c.addTotals(t, r, listed, c.kinds.cycleIssue)
		},
	})
	ks.cycleIssue = ks.add(&kind{
		name:     "cycle_issue",
		columns:  names("id sub_issues_count created_at updated_at deleted_at created_by updated_by project workspace issue cycle"),
		computed: names("sub_issues_count"),
		indexes:  []index{{name: "cycle membership", fields: []string{"issue", "cycle"}}},
	})
}

// groupTotals are the columns that addTotals fills.
const groupTotals = "total_issues cancelled_issues completed_issues started_issues unstarted_issues backlog_issues"

// onlyByCreator refuses to delete a record for everybody but the admins of the project and the user in a column.
func onlyByCreator(column, noun string) func(c *call, t *tx, r row) *reply {
	return func(c *call, t *tx, r row) *reply {
		if projectRole(t, text(r, "project"), c.user) != roleAdmin && r[column] != c.user {
			return new(refuse(http.StatusForbidden, "error", "Only admin or creator can delete the "+noun))
		}
		return nil
	}
}

// addTotals adds the number of items of a listed cycle or module in each group.
func (c *call) addTotals(t *tx, r row, listed bool, members *kind) row {
	if !listed {
		return r
	}
	r = clone(r)
	counts := map[string]int{}
	n := 0
	for _, m := range t.all(members, scope(text(r, "id"))) {
		item, ok := c.itemOrDeleted(t, text(m.row, "issue"))
		if ok && !isHidden(item.row) && item.row["project"] == r["project"] { // a deleted item that is added counts
			n++
			counts[c.groupOf(t, text(item.row, "state"))]++
		}
	}
	r["total_issues"] = n
	for _, g := range []string{"backlog", "unstarted", "started", "completed", "cancelled"} {
		if members == c.kinds.moduleIssue && !c.answersByContract() {
			counts[g] = min(counts[g], 1) // the service counts the groups, not the items
		}
		r[g+"_issues"] = counts[g]
	}
	return r
}

func prepareCycle(c *call, t *tx, old, r row) *reply {
	project := text(r, "project")
	start, end := text(r, "start_date"), text(r, "end_date")
	if refused := c.cycleProject(t, old); refused != nil {
		return refused
	}
	if start > end && end != "" {
		return new(badRequest("Start date cannot exceed end date"))
	}
	if text(c.in, "start_date") != "" && text(c.in, "end_date") != "" { // a single date is stored as it was sent
		r["start_date"], r["end_date"] = c.cycleDates(zoneOf(t, c, project), start, end)
	}
	// An update that names no owner makes its sender the owner.
	r["owned_by"] = c.user
	if owner := text(c.in, "owned_by"); owner != "" {
		r["owned_by"] = owner
	}
	return nil
}

// cycleProject checks the project in the body, which a change may leave out. The path decides which project is written.
func (c *call) cycleProject(t *tx, old row) *reply {
	named := c.in["project_id"]
	id := pythonText(named)
	if c.since14() {
		named, id = nil, c.vars["project"]
	} else if isFalsy(named) {
		if old == nil {
			return new(badRequest("Project ID is required"))
		}
		id = text(old, "project")
	}
	_, isText := named.(string)
	p, ok := t.get(c.kinds.project, id)
	switch _, err := uuid.Parse(id); {
	case isText && err != nil:
		return new(badRequest(fmt.Sprintf("“%s” is not a valid UUID.", id)))
	case !ok:
		return new(badRequest("Project not found"))
	case !flag(p.row, "cycle_view"):
		return new(badRequest("Cycles are not enabled for this project"))
	}
	return nil
}

// cycleDates returns the dates of a cycle as the service stores them. A cycle that starts today starts now, any other one
// second into its day; it ends a minute before the end of its last day. Days follow the project's time zone.
func (c *call) cycleDates(zone *time.Location, start, end string) (string, string) {
	moment := func(date string, hour, minute, second int) string {
		d, _ := parseMoment(date)
		return time.Date(d.Year(), d.Month(), d.Day(), hour, minute, second, 0, zone).UTC().Format(time.RFC3339)
	}
	first := c.stamp()
	if s, _ := parseMoment(start); s.Format(time.DateOnly) != c.now.In(zone).Format(time.DateOnly) {
		first = moment(start, 0, 0, 1)
	}
	return first, moment(end, 23, 59, 0)
}

// zoneOf returns the time zone of a project.
func zoneOf(t *tx, c *call, project string) *time.Location {
	p, _ := t.get(c.kinds.project, project)
	zone, err := time.LoadLocation(text(p.row, "timezone"))
	must(err)
	return zone
}

func isCompleted(r row, now time.Time) bool {
	end, ok := parseMoment(text(r, "end_date"))
	return ok && end.Before(now)
}

// createCycle checks that both dates are given before it checks the fields, as the service does.
func createCycle(c *call, t *tx) reply {
	if c.notAnObject() != nil {
		return serverError()
	}
	start, end := c.in["start_date"], c.in["end_date"]
	if (start == nil) != (end == nil) {
		return refuse(http.StatusBadRequest, "error", "Both start date and end date are either required or are to be null")
	}
	return c.kinds.cycle.create(c, t)
}

// archive archives a cycle or module, or restores it.
func archive(k *kind, away bool) handler {
	return func(c *call, t *tx) reply {
		s, ok := t.getWithin(k, k.scope(c), c.vars[k.param])
		if !ok {
			return notFound()
		}
		s.row["archived_at"] = nil
		if away {
			if k == c.kinds.cycle && s.row["end_date"] == nil {
				return serverError() // the service compares the date without checking that there is one
			}
			if k == c.kinds.cycle && !isCompleted(s.row, c.now) {
				return refuse(http.StatusBadRequest, "error", "Only completed cycles can be archived")
			}
			if status := text(s.row, "status"); c.isCommunity() && k == c.kinds.module && status != "completed" && status != "cancelled" {
				return refuse(http.StatusBadRequest, "error", "Only completed or cancelled modules can be archived")
			}
			s.row["archived_at"] = c.stamp()
		}
		s.row["updated_at"], s.row["updated_by"] = c.stamp(), c.user
		t.save(k, s)
		return reply{status: http.StatusNoContent}
	}
}

func listArchived(k *kind) handler {
	return func(c *call, t *tx) reply {
		found := k.renderWhere(c, t, func(r row) bool { return r["archived_at"] != nil })
		for _, r := range found {
			if c.isCommunity() && k == c.kinds.cycle && c.fields() == nil {
				r["total_estimates"], r["started_estimates"], r["completed_estimates"] = nil, nil, nil
			}
		}
		return pageOf(c, found)
	}
}
