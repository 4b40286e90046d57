package tabular

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/words"
)

// linearIdentifier matches the key of an issue in JSON.
var linearIdentifier = regexp.MustCompile(`"identifier"\s*:\s*"[A-Za-z0-9_]+-[0-9]{1,9}"`)

// linearJSON returns the layout of the answers of Linear's API for issues. Unlike the CSV, they have comments, relations, and the groups of
// states.
func linearJSON() *Layout {
	return &Layout{
		Name: "linear-json", Tracker: "Linear",
		How: "in Linear: the JSON answer of the GraphQL query issues, with identifier, title, description, state { name type }, comments and relations",
		By:  `the fields "identifier" and "title"`, Within: linearLists(),
		Needs: [][]string{{"identifier", "title"}}, Columns: names("linear-json"), Key: linearKey, Lists: ", ", UTC: true, Zeros: true,
		detects: func(b *beginning, _ string) (string, bool) {
			if !b.records || !linearIdentifier.Match(b.text) {
				return "", false
			}
			for _, way := range append([]string{""}, linearLists()...) {
				if h := b.headers[0]; len(h.places[words.Fold(strings.TrimPrefix(way+".identifier", "."))]) > 0 && len(h.places[words.Fold(strings.TrimPrefix(way+".title", "."))]) > 0 {
					return `the fields "identifier" and "title"`, true
				}
			}
			return "", false
		},
		Bot: func(_, name string) bool { return name == "Linear" },
		Each: func(c *Cells, i *convert.Issue) string {
			i.Project, _, _ = strings.Cut(i.Key, "-")
			i.State.Category = cmp.Or(c.e.words.Own(c.Column("state.type")), i.State.Category)
			if n := c.Column("priority"); i.Priority == "" && n != "" {
				i.Priority = c.e.words.Priority(n)
			}
			i.Archived = c.Column("archivedAt") != "" || strings.EqualFold(c.Column("trashed"), "true")
			colors := map[string]string{}
			for _, r := range append(c.Records("labels.nodes"), c.Records("labels")...) {
				colors[r["name"]] = r["color"]
			}
			for n, l := range i.Labels {
				i.Labels[n].Color = colors[l.Name]
			}
			if number, name := c.Column("cycle.number"), c.Column("cycle.name"); number != "" || name != "" {
				start, end := c.Time(c.Column("cycle.startsAt"), i), c.Time(c.Column("cycle.endsAt"), i)
				i.Sprints = []convert.Sprint{{Name: cmp.Or(name, "Cycle "+number), Start: midnight(start, 0), End: midnight(end, -1)}}
			}
			i.State.ID = c.Column("state.id")
			linearIDs(c, i)
			comments := c.Records("comments.nodes")
			if len(comments) == 0 {
				comments = c.Records("comments")
			}
			for _, r := range comments {
				author := c.Person("", cmp.Or(r["user.name"], r["user.displayname"]), r["user.email"])
				text := convert.Text{Body: r["body"]}
				i.Comments = append(i.Comments, convert.Comment{ID: r["id"], Author: author, At: c.Date(r["createdat"]), Text: text})
			}
			for _, r := range c.Records("relations.nodes") {
				kind := map[string]string{"blocks": "Blocks", "duplicate": "Duplicate"}[strings.ToLower(r["type"])]
				i.Links = append(i.Links, convert.Link{Type: cmp.Or(kind, "Related"), To: r["relatedissue.identifier"]})
			}
			for _, r := range c.Records("children.nodes") {
				i.Children = append(i.Children, convert.Link{To: r["identifier"], Title: r["title"]})
			}
			for _, r := range c.Records("attachments.nodes") {
				i.Pages = append(i.Pages, convert.Attachment{Name: cmp.Or(r["title"], r["url"]), URL: r["url"]})
			}
			for _, list := range []string{"comments", "relations", "labels", "attachments"} {
				if c.Column(list+".pageInfo.hasNextPage") == "true" {
					c.e.to.Note("lists-cut", "issues whose "+list+" Linear cut at a page: ask for more of them, such as "+list+"(first: 250)", i.Key)
				}
			}
			i.Attachments = append(i.Attachments, linearUploads(i.Text.Body)...)
			return ""
		},
		Notes: func(names []string, _ int, note func(kind, text string)) {
			if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "comments.") }) {
				note("no-comments", "no issue has comments, or they were not asked for: comments { nodes { id body createdAt user { name email } } }")
			}
		},
	}
}

// linearIDs uses IDs in place of missing names, because exports by Linear's SDK have only IDs.
func linearIDs(c *Cells, i *convert.Issue) {
	id := func(of string) string { return c.Column(of + ".id") }
	if i.State.Name == "" && id("state") != "" {
		i.State.Name = id("state")
		c.e.to.Note("ids-alone", "the export has the IDs of states, people, projects and cycles and not their names: "+
			"ask Linear's API for state { name type }, assignee { name email } and the like, or answer for the IDs in the mapping", i.Key)
	}
	if assignee := id("assignee"); assignee != "" && len(i.Assignees) == 0 {
		i.Assignees = []string{c.Person(assignee, "", "")}
	}
	if i.Reporter == "" {
		i.Reporter = c.Person(id("creator"), "", "")
	}
	if project := id("project"); project != "" && len(i.Components) == 0 {
		i.Components = []string{project}
	}
	if cycle := id("cycle"); cycle != "" && len(i.Sprints) == 0 {
		i.Sprints = []convert.Sprint{{Name: cycle}}
	}
	if parent := id("parent"); i.Parent == "" {
		i.Parent = cmp.Or(c.ByID(parent), parent)
	}
}

// linearLists returns the paths at which an answer may have its issues.
func linearLists() []string {
	return []string{"data.issues.nodes", "data.team.issues.nodes", "data.project.issues.nodes", "issues.nodes", "nodes"}
}

// linearUploads returns the files of Linear that a text links to.
func linearUploads(text string) []convert.Attachment {
	var files []convert.Attachment
	for _, m := range linearUpload.FindAllStringSubmatch(text, -1) {
		id := m[2][strings.LastIndexByte(m[2], '/')+1:]
		files = append(files, convert.Attachment{ID: id, Name: cmp.Or(m[1], id), URL: m[2]})
	}
	return files
}
