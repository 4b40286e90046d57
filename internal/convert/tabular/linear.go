package tabular

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
)

var (
	linearKey     = regexp.MustCompile(`^[A-Za-z0-9_]+-[0-9]{1,9}$`)
	linearAddress = regexp.MustCompile(`https://linear\.app/[^/\s]+/issue/`)
	linearUpload  = regexp.MustCompile(`\[([^\]\n]*)\]\((https://uploads\.linear\.app/[^)\s]+)\)`)
)

// IsLinearKey reports whether a text is the key of an issue of Linear.
func IsLinearKey(text string) bool { return linearKey.MatchString(text) }

// linear reads the CSV of a workspace or view, of any year.
func linear(c *Cells, i *convert.Issue) {
	if number, name := c.Column("Cycle Number"), c.Column("Cycle Name"); number != "" || name != "" {
		start, end := c.Time(c.Column("Cycle Start"), i), c.Time(c.Column("Cycle End"), i)
		i.Sprints = []convert.Sprint{{Name: cmp.Or(name, "Cycle "+number), Start: Midnight(start, 0), End: Midnight(end, -1)}}
	}
	for _, l := range []struct{ column, kind string }{{"Blocked by", "Blocks"}, {"Duplicate of", "Duplicate"}, {"Related to", "Related"}} {
		for _, to := range c.list(c.Column(l.column), c.e.lists) {
			if to != "" { // both issues have the relation: it begins at one of them
				i.Links = append(i.Links, convert.Link{Type: l.kind, To: to, Inward: l.kind == "Blocks" || l.kind == "Related" && to < i.Key})
			}
		}
	}
	i.Attachments = append(i.Attachments, LinearUploads(i.Text.Body)...)
	for n, f := range i.Fields { // the item's state tells enough without these dates
		when := []string{"Triaged", "Started", "Completed", "Canceled", "SLA Status", "Time in status (minutes)"}
		i.Fields[n].Noise = slices.Contains(when, f.Name)
	}
}

// linearGroups sets the groups of statuses, which the CSV lacks: they are guessed by the dates that most issues of a status have.
func linearGroups(issues []*convert.Issue, to convert.Sink) {
	n, site := map[string]int{}, ""
	for _, i := range issues {
		n[i.State.Name]++
		to.Recall(i)
		for _, f := range i.Fields {
			n[i.State.Name+"\n"+f.Name]++
		}
		site = cmp.Or(site, strings.TrimSuffix(linearAddress.FindString(i.Text.Body), "/issue/"))
		to.PutAside(i)
	}
	for _, i := range issues {
		i.State.Category = linearCategory(i.State.Name, func(date string) bool { return 2*n[i.State.Name+"\n"+date] > n[i.State.Name] })
	}
	to.Site(site, "/issue/{key}")
	to.Note("no-comments", "Linear's CSV has no comments and no attachments")
}

// linearCategory returns the group of a status, by its name, or by the dates that most of its issues have.
func linearCategory(name string, most func(date string) bool) string {
	switch word := strings.ToLower(name); {
	case word == "triage":
		return "backlog"
	case word == "duplicate", most("Canceled"):
		return "cancelled"
	case most("Completed"):
		return "completed"
	case most("Started"):
		return "started"
	}
	return "unstarted"
}

// Midnight returns the day that begins nearest to a time, plus some days. Cycles begin and end at midnight in the team's time zone, which
// the export does not tell.
func Midnight(at time.Time, days int) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Add(12*time.Hour).AddDate(0, 0, days).Format(time.DateOnly)
}

// LinearUploads returns the files of Linear that a text links to.
func LinearUploads(text string) []convert.Attachment {
	var files []convert.Attachment
	for _, m := range linearUpload.FindAllStringSubmatch(text, -1) {
		id := m[2][strings.LastIndexByte(m[2], '/')+1:]
		files = append(files, convert.Attachment{ID: id, Name: cmp.Or(m[1], id), URL: m[2]})
	}
	return files
}
