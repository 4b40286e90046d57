package described

import (
	"regexp"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
)

// asana describes the answers of Asana's REST API for tasks, for their stories, and for their attachments. It also reads the export of a
// project as JSON, in which subtasks are within their tasks.
func asana() *api { return described(textOf("asana"), asanaHooks) }

func asanaHooks() hooks {
	return hooks{place: asanaPlace, html: asanaHTML, title: func(name string) string { return strings.ReplaceAll(name, "_", " ") }}
}

// asanaPlace sets the project of a task, and its state: the section, or Done if the task is completed.
func asanaPlace(x *reader, i *convert.Issue, v records.Value) {
	if kind := x.text(v, []string{"resource_subtype"}); kind == "milestone" || kind == "approval" {
		i.Type = strings.ToUpper(kind[:1]) + kind[1:]
	}
	var others []string
	for n, m := range v.At("memberships") {
		project, section := x.text(m, []string{"project.name"}), x.text(m, []string{"section.name"})
		if section == "Untitled section" || section == "(no section)" {
			section = ""
		}
		if n == 0 {
			i.Project, i.State = project, convert.State{Name: section, Category: x.words.Group(section)}
		} else {
			others = append(others, strings.TrimSuffix(project+" ("+section+")", " ()"))
		}
	}
	for _, name := range x.texts(v.At("projects")) {
		if i.Project == "" {
			i.Project = name
		} else if name != i.Project && len(v.At("memberships")) == 0 {
			others = append(others, name)
		}
	}
	field(i, "Projects", strings.Join(others, ", "), "memberships.project.name")
	if x.text(v, []string{"completed"}) != "true" {
		return
	}
	if i.State.Name != "" && i.State.Category != "completed" {
		i.Fields = append(i.Fields, convert.Field{Name: "Section", Value: i.State.Name, Part: convert.OfState})
	}
	i.State = convert.State{Name: "Done", Category: "completed"}
	field(i, "Completed", dates.Minute(x.time(i, x.text(v, []string{"completed_at"}))), "completed_at")
}

var (
	asanaBody  = regexp.MustCompile(`</?body[^>]*>`)
	asanaBlock = regexp.MustCompile(`\n*(</?(?:ul|ol|li|h[1-6]|pre|blockquote|hr|table|tr|td)\b[^>]*>)\n*`)
)

// asanaHTML turns line ends of a text with tags into line breaks of HTML.
func asanaHTML(text string) string {
	text = asanaBlock.ReplaceAllString(asanaBody.ReplaceAllString(text, ""), "$1")
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "<br>")
}
