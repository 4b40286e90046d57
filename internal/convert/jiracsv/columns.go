package jiracsv

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/jira"
	"github.com/planform/planform/internal/table"
)

// columns are the places of what is read; names repeat, so that most are lists.
type columns struct {
	key, id, summary int

	projectName, projectText, description, environment, status, category, resolution, kind, priority []int
	created, updated, due, start, votes, labels, components, versions, affects, sprints              []int
	parent, parentKey, parentID, epic, comments, attachments, worklogs                               []int

	assignee, reporter, creator, watchers people

	links  []linkColumns
	fields []fieldColumns
}

// people are columns with names, and those with the IDs for them.
type people struct{ names, ids []int }

type linkColumns struct {
	name    string
	inward  bool
	columns []int
}

type fieldColumns struct {
	name    string
	noise   bool
	seconds bool
	columns []int
}

//nolint:gochecknoglobals // a constant
var keyColumn = []string{"Issue key", "Key"}

func is(cell string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, cell) })
}

// isHeader reports whether a line has the columns that every export has.
func isHeader(header []string) bool {
	header, _ = english(header)
	has := func(names ...string) bool {
		return slices.ContainsFunc(header, func(cell string) bool { return is(cell, names...) })
	}
	return has(keyColumn...) && has("Summary") && (has("Issue key") || has("Issue Type", "Status"))
}

// foreign is what another language says for Issue key, if the header has that.
func foreign(header []string) string {
	words := []string{"Chiave segnalazione", "이슈 키"} // the others are read
	for _, l := range languages() {
		for word, name := range l.english() {
			if name == "Issue key" {
				words = append(words, word)
			}
		}
	}
	for _, cell := range header {
		if is(cell, words...) {
			return cell
		}
	}
	return ""
}

var linkColumn = regexp.MustCompile(`(?i)^(inward|outward) issue link \((.*)\)$`)

func newColumns(r *table.Reader) columns {
	taken := map[int]bool{}
	of := func(names ...string) []int {
		list := r.Columns(names...)
		for _, i := range list {
			taken[i] = true
		}
		return list
	}
	one := func(names ...string) int {
		if list := of(names...); len(list) > 0 {
			return list[0]
		}
		return -1
	}
	who := func(name string) people { return people{of(name), of(name + " Id")} }
	c := columns{
		key: one(keyColumn...), id: one("Issue id"), summary: one("Summary"),
		projectName: of("Project name"), projectText: of("Project description"), description: of("Description"), environment: of("Environment"),
		status: of("Status"), category: of("Status Category"), resolution: r.Columns("Resolution"), kind: of("Issue Type"), priority: of("Priority"),
		created: of("Created"), updated: of("Updated"), due: of("Due date"), votes: of("Votes"),
		labels: of("Labels"), components: of("Components", "Component/s"), versions: of("Fix versions", "Fix Version/s"), affects: of("Affects versions", "Affects Version/s"),
		sprints: of("Sprint"), parent: of("Parent"), parentKey: of("Parent key"), parentID: of("Parent id"),
		comments: of("Comment", "Comments"), attachments: of("Attachment"), worklogs: of("Log Work"),
		assignee: who("Assignee"), reporter: who("Reporter"), creator: who("Creator"), watchers: who("Watchers"),
	}
	// What stands in other columns already, or says nothing without Jira.
	of("Project key", "Project type", "Project lead", "Project lead id", "Project url", "Last Viewed", "Parent summary", "Epic Link Summary", "Status Category Changed", "Work Ratio",
		"Σ Original Estimate", "Σ Remaining Estimate", "Σ Time Spent", "Issue id")
	for i, cell := range r.Header {
		if m := linkColumn.FindStringSubmatch(cell); m != nil {
			c.links = append(c.links, linkColumns{m[2], strings.EqualFold(m[1], "inward"), []int{i}})
			taken[i] = true
		}
	}
	places := map[string]int{}
	for i, cell := range r.Header {
		if taken[i] || cell == "" {
			continue
		}
		name := cell
		if inner, ok := strings.CutPrefix(cell, "Custom field ("); ok {
			if strings.HasSuffix(inner, ")Id") { // the account IDs of the column before
				continue
			}
			name = strings.TrimSuffix(inner, ")")
		}
		role := jira.RoleOf("", name)
		switch role {
		case jira.Sprint:
			c.sprints = append(c.sprints, i)
		case jira.EpicLink:
			c.epic = append(c.epic, i)
		case jira.Start:
			c.start = append(c.start, i)
		case jira.Own:
		case jira.Noise, jira.Other:
			at, known := places[name]
			if !known {
				at = len(c.fields)
				places[name] = at
				c.fields = append(c.fields, fieldColumns{name: name, noise: role == jira.Noise, seconds: is(name, "Original estimate", "Remaining Estimate", "Time Spent")})
			}
			c.fields[at].columns = append(c.fields[at].columns, i)
		}
	}
	return c
}

// category is the group of states that a category of Jira belongs to.
func category(name string) string {
	switch strings.ToLower(name) {
	case "to do", "new", "por hacer", "tareas por hacer", "zu erledigen", "à faire", "tarefas pendentes", "к выполнению", "do zrobienia", "待办":
		return "unstarted"
	case "in progress", "en curso", "en progreso", "in arbeit", "en cours", "em andamento", "в работе", "w toku", "处理中", "進行中":
		return "started"
	case "done", "complete", "listo", "hecho", "finalizado", "fertig", "terminé", "concluído", "itens concluídos", "готово", "выполнено", "gotowe", "完成", "完了":
		return "completed"
	}
	return ""
}

// sprints are sprints by their names, which Server writes within their data.
func sprints(cells []string) []convert.Sprint {
	var list []convert.Sprint
	for _, cell := range cells {
		list = append(list, convert.Sprint{Name: cmp.Or(jira.ServerSprint(cell)["name"], cell)})
	}
	return list
}
