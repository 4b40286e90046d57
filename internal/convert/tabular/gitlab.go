package tabular

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/words"
)

var (
	gitlabAddress = regexp.MustCompile(`^(https?://[^/]+)/(.+?)(?:/-)?/(?:issues|work_items)/(?:incident/)?[0-9]+$`) // of an issue
	gitlabPage    = regexp.MustCompile(`/([a-z_]+)/[0-9]+$`)                                                         // of another thing with a number
)

// gitlab reads the CSV that GitLab mails, and the REST API's answers for issues and for their notes.
func gitlab(c *Cells, i *convert.Issue) {
	if m := gitlabAddress.FindStringSubmatch(i.URL); m != nil {
		i.Project = m[2]
	} else if page := gitlabPage.FindStringSubmatch(i.URL); page != nil {
		c.left = "they are of the list " + page[1]
		return
	} else if id := c.One("scope"); id != "" {
		i.Project = "project-" + id
	}
	GitLab(i, c.e.words)
	i.About = []convert.About{
		{Of: convert.OfVersion, Name: c.Column("milestone.title"), Text: c.Column("milestone.description")},
		{Of: convert.OfSprint, Name: c.Column("iteration.title"), Text: c.Column("iteration.description")},
	}
	for n, label := range c.Records("labels") {
		if n < len(i.Labels) && label["name"] == i.Labels[n].Name {
			i.Labels[n].Color, i.Labels[n].Description = label["color"], label["description"]
		}
	}
	title, start, end := c.Column("iteration.title"), c.Column("iteration.start_date"), c.Column("iteration.due_date")
	if title != "" || start != "" { // one of a cadence has no title
		i.Sprints = []convert.Sprint{{Name: cmp.Or(title, start+" to "+end), Start: start, End: end}}
	}
	for n, f := range i.Fields {
		if seconds, err := strconv.Atoi(f.Value); err == nil && strings.HasPrefix(f.Name, "Time ") {
			i.Fields[n].Value = dates.Duration(seconds)
		}
	}
	i.Fields = slices.DeleteFunc(i.Fields, func(f convert.Field) bool { return f.Value == "" || f.Name == "Locked" && f.Value == "No" })
}

// GitLab sets the state, type and priority of an issue from GitLab's words and scoped labels.
func GitLab(i *convert.Issue, words *words.Words) {
	switch i.State.Name {
	case "opened", "Open":
		i.State = convert.State{Name: "Open", Category: "unstarted"}
	case "closed", "Closed":
		i.State = convert.State{Name: "Closed", Category: "completed"}
	}
	i.Type = strings.ToLower(i.Type)
	for _, l := range i.Labels { // scoped ones are GitLab's fields
		group, name, scoped := strings.Cut(l.Name, "::")
		switch {
		case !scoped:
		case group == "priority":
			i.Priority = name
		case (group == "workflow" || group == "status") && i.State.Name == "Open":
			i.State = convert.State{Name: name, Category: words.Group(name)}
		}
	}
}

var gitlabFile = regexp.MustCompile(`\[([^\]\n]*)\]\((/uploads/[0-9a-f]+/([^)\s]+))\)`)

// gitlabFiles adds the files that an issue's texts link to, and makes the links absolute, because texts link from the project.
func gitlabFiles(i *convert.Issue) {
	m := gitlabAddress.FindStringSubmatch(i.URL)
	if m == nil {
		return
	}
	project := m[1] + "/" + m[2]
	texts := []*string{&i.Text.Body}
	for n := range i.Comments {
		texts = append(texts, &i.Comments[n].Text.Body)
	}
	for _, text := range texts {
		for _, m := range gitlabFile.FindAllStringSubmatch(*text, -1) {
			file := convert.Attachment{ID: strings.Split(m[2], "/")[2], Name: m[3], URL: project + m[2]}
			if !slices.Contains(i.Attachments, file) {
				i.Attachments = append(i.Attachments, file)
			}
		}
		*text = gitlabFile.ReplaceAllString(*text, "[$1]("+strings.ReplaceAll(project, "$", "$$")+"$2)")
	}
}
