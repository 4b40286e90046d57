package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/diag"
)

// Report is what became of an export.
type Report struct {
	FormatVersion int        `json:"format_version"`
	Source        Source     `json:"source"`
	Counts        Counts     `json:"counts"`  // of the source
	Carried       Counts     `json:"carried"` // of these, into the manifests
	Losses        []Loss     `json:"losses"`
	Questions     []Question `json:"questions"`
	Notes         []Remark   `json:"notes"`
	Numbers       []Numbers  `json:"numbers,omitempty"`
	Since         *Since     `json:"since_last_run,omitempty"`

	lost    map[string]*Loss
	leftOut tally // by decision of the mapping
	linked  int   // links in texts to items
	custom  tally // values of custom fields
}

// Source is what was read.
type Source struct {
	Format     string   `json:"format"`
	DetectedBy string   `json:"detected_by"`
	Files      []string `json:"files"`
}

// Loss is a kind of content that the manifests do not hold.
type Loss struct {
	Kind   string   `json:"kind"`
	Text   string   `json:"text"`
	Count  int      `json:"count"`
	Agreed bool     `json:"agreed"` // by allow
	Items  []string `json:"items"`
}

// Question is an open entry of the mapping file.
type Question struct {
	Section  string `json:"section"`
	Name     string `json:"name"`
	Items    int    `json:"items"` // issues behind it
	Position string `json:"position"`
}

// Remark is something to know of the export.
type Remark struct {
	Kind  string   `json:"kind"`
	Text  string   `json:"text"`
	Items []string `json:"items,omitempty"`
}

// losses are all kinds, in the order of a report.
func losses() [][2]string {
	return [][2]string{
		{"archived", "archived items"},
		{"assignees", "assignees who are no member: named at the foot of the description"},
		{"relations-outside", "relations to issues that are not in the export"},
		{"relations-skipped", "relations of a type that the mapping skips"},
		{"numbers-changed", "items that Plane numbers anew, " +
			"although numbers: keep or fill is wanted: of gaps, or of parents with a higher number"},
		{"second-relations", "further relations between the same two items, of which one is kept"},
		{"relation-types", "relations of a type that Plane has not: carried as relates_to"},
		{"parents-outside", "parents that are not in the export, or in another project"},
		{"parents-in-a-circle", "parents that are below their own child"},
		{"attachments", "attached files that are not in the folder of attachments: the item links to the old address"},
		{"attachments-refused", "attached files that cannot be uploaded, as attachments.tsv says of each: the item links to the old address"},
		{"comments-not-exported", "comments that the export counts and does not hold"},
		{"comments-restricted", "comments that only some may see: a workspace has none of that kind"},
		{"bot-comments", "comments of those whom the mapping calls a bot"},
		{"empty-comments", "comments without a text"},
		{"former-sprints", "sprints before the last: an item has one cycle"},
		{"affected-versions", "affected versions"},
		{"times-of-day", "times of day: an item has calendar dates"},
		{"check-item-people", "people of check items"},
		{"start-after-due", "start dates after the due date"},
		{"field-values", "values of custom fields that are not of the field's type, or of items without a type"},
		{"dates-not-understood", "dates that could not be read"},
		{"titles-cut", "titles over 255 characters: the whole one leads the description"},
		{"texts-cut", "texts over 2 MiB, cut"},
		{"control-characters", "control characters in texts, taken out"},
		{"colours", "colours of text"},
		{"table-spans", "table cells over several columns or rows"},
		{"text-nodes", "macros and other parts of texts that Plane has not: their text is kept"},
		{"texts-not-understood", "texts that could not be read"},
		{"watchers", "watchers"},
		{"votes", "votes"},
		{"worklogs", "work logs"},
		{"reactions", "reactions"},
	}
}

func lossKinds() []string {
	var kinds []string
	for _, l := range losses() {
		kinds = append(kinds, l[0])
	}
	return kinds
}

// lose notes that something of an issue is not carried over.
func (r *Report) lose(kind, item string, n int) {
	if n == 0 {
		return
	}
	if r.lost == nil {
		r.lost = map[string]*Loss{}
	}
	l := r.lost[kind]
	if l == nil {
		l = &Loss{Kind: kind}
		r.lost[kind] = l
	}
	l.Count += n
	if len(l.Items) == 0 || l.Items[len(l.Items)-1] != item {
		l.Items = append(l.Items, item)
	}
}

// finish puts the report together.
func (r *Report) finish(m *mapping.Mapping, c *collection, issues []*Issue, tracker string) {
	r.Losses, r.Questions, r.Notes = []Loss{}, []Question{}, []Remark{}
	for _, kind := range losses() {
		if l := r.lost[kind[0]]; l != nil {
			l.Text = kind[1]
			allowed, ok := m.Allow[l.Kind]
			l.Agreed = ok && (allowed < 0 || l.Count <= allowed)
			slices.Sort(l.Items)
			l.Items = slices.Compact(l.Items)
			r.Losses = append(r.Losses, *l)
		}
	}
	for _, q := range m.Questions {
		r.Questions = append(r.Questions, Question{q.Section, q.Name, behind(q, issues), q.Position.String()})
	}
	if m.UnknownPeople == "text" {
		r.Notes = append(r.Notes,
			Remark{Kind: "people", Text: "people without an e-mail address in the mapping are not assigned; their names stay in the texts"})
	}
	slices.SortStableFunc(r.Questions, func(a, b Question) int { return cmp.Compare(b.Items, a.Items) })
	r.Notes = append(r.Notes, c.notes...)
	if len(r.leftOut) > 0 {
		var names []string
		for _, name := range slices.Sorted(maps.Keys(r.leftOut)) {
			names = append(names, fmt.Sprintf("%s (%d)", name, r.leftOut[name]))
		}
		r.Notes = append(r.Notes, Remark{Kind: "left-out", Text: "left out, as the mapping says: " + strings.Join(names, ", ")})
	}
	if note, some := r.customRemark(); some {
		r.Notes = append(r.Notes, note)
	}
	references := "texts link to the items of the issues that they name (" + diag.Count(r.linked, "link") + "), or to those in " + tracker
	if m.PlainText {
		references = "issue numbers in texts stay text"
	}
	r.Notes = append(r.Notes,
		Remark{Kind: "references", Text: references + "; each item has a link to its old address in " + tracker + ", as far as that is known"},
		Remark{
			Kind: "service",
			Text: "Plane numbers the items anew, in ascending order; keeps no update times; " +
				"takes the time of the import for when an item was completed; and shows the owner of the API key as the author of comments",
		})
}

// behind counts the issues that an open entry is about.
func behind(q mapping.Question, issues []*Issue) int {
	n := 0
	for _, i := range issues {
		hit := false
		switch q.Section {
		case "people":
			hit = slices.Contains(i.involved(), q.Name)
		case "states":
			hit = i.State.Name == q.Name
		case "priorities":
			hit = i.Priority == q.Name
		case "types":
			hit = i.Type == q.Name
		case "links":
			hit = slices.ContainsFunc(i.Links, func(l Link) bool { return l.Type == q.Name })
		case "projects":
			hit = i.Project == q.Name
		case "source", "columns":
			hit = true
		}
		if hit {
			n++
		}
	}
	return n
}

// Settled reports whether nothing is open, and every loss is agreed.
func (r *Report) Settled() bool {
	return len(r.Questions) == 0 && !slices.ContainsFunc(r.Losses, func(l Loss) bool { return !l.Agreed })
}

// Headline is the report in one line.
func (r *Report) Headline() string {
	lost := 0
	for _, l := range r.Losses {
		lost += l.Count
	}
	of := func(a, b int, noun string) string { return fmt.Sprintf("%d of %s", a, diag.Count(b, noun)) }
	losses := "no losses"
	switch {
	case lost == 1:
		losses = "1 loss"
	case lost > 1:
		losses = fmt.Sprintf("%d losses in ", lost) + diag.Count(len(r.Losses), "kind")
	}
	return of(r.Carried.Items, r.Counts.Items, "item") + ", " + of(r.Carried.Comments, r.Counts.Comments, "comment") + ", " +
		of(r.Carried.Relations, r.Counts.Relations, "relation") +
		"; " + losses + "; " + diag.Count(len(r.Questions), "question")
}

// json is the report for programs.
func (r *Report) json() []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil { // it is made of texts and numbers
		panic(err)
	}
	return out.Bytes()
}

// most is how many items a line names.
const most = 10

// first are the first few of many.
func first(items []string) string {
	text := diag.First(items, most)
	if len(items) > most {
		text += " (all in report.json)"
	}
	return text
}

// markdown is the report for people.
func (r *Report) markdown(m *mapping.Mapping, mappingName string) []byte {
	var b strings.Builder
	cell := strings.NewReplacer("|", "\\|", "\n", " ", "<", "\\<").Replace
	b.WriteString("<!-- Written by planform convert; changes here are lost. -->\n\n# What becomes of the export\n\n" + r.Headline() + ".\n\n")
	fmt.Fprintf(&b, "Format: %s (recognised by %s). Files: %s.\n", r.Source.Format, r.Source.DetectedBy,
		cell(strings.Join(r.Source.Files, ", ")))
	b.WriteString("\n## Questions\n\n")
	if len(r.Questions) == 0 {
		b.WriteString("None is open.\n")
	} else {
		b.WriteString("Answer them in " + cell(mappingName) +
			", then run planform convert again.\n\n| question | items | where |\n| --- | ---: | --- |\n")
		for _, q := range r.Questions {
			fmt.Fprintf(&b, "| %s: %s | %d | %s |\n", q.Section, cell(q.Name), q.Items, cell(q.Position))
		}
	}
	b.WriteString("\n## Losses\n\n")
	if len(r.Losses) == 0 {
		b.WriteString("None.\n")
	} else {
		b.WriteString("Those that you agree with go under allow: in the mapping.\n\n" +
			"| kind | count | agreed | what | items |\n| --- | ---: | --- | --- | --- |\n")
		for _, l := range r.Losses {
			agreed := "no"
			if l.Agreed {
				agreed = "yes"
			}
			fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", l.Kind, l.Count, agreed, l.Text, cell(first(l.Items)))
		}
	}
	b.WriteString("\n## Numbers to check\n\n| what | in the export | carried over |\n| --- | ---: | ---: |\n")
	for _, row := range []struct {
		name string
		a, b int
	}{
		{"items", r.Counts.Items, r.Carried.Items},
		{"comments", r.Counts.Comments, r.Carried.Comments},
		{"relations", r.Counts.Relations, r.Carried.Relations},
		{"items with a parent", r.Counts.Parents, r.Carried.Parents},
		{"labels", r.Counts.Labels, r.Carried.Labels},
		{"attachments", r.Counts.Attachments, r.Carried.Attachments},
		{"people", r.Counts.People, r.Carried.People},
	} {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", row.name, row.a, row.b)
	}
	b.WriteString("\n| state | becomes | items | carried over |\n| --- | --- | ---: | ---: |\n")
	for _, name := range slices.Sorted(maps.Keys(r.Counts.States)) {
		s, _ := m.States.Find(name)
		to := s.Name
		if s.Else != "" {
			to += " or " + s.Else
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d |\n", cell(cmp.Or(name, "(none)")), cell(to), r.Counts.States[name], r.Carried.States[name])
	}
	if m.Numbers != "new" && len(r.Numbers) > 0 {
		b.WriteString("\n## Numbers of items\n\n" + numbersTable(r.Numbers))
	}
	if s := r.Since; s != nil {
		b.WriteString("\n## Since the last export\n\n" + s.Line() + ".\n")
		s.details(&b, cell)
	}
	b.WriteString("\n## To know\n\n")
	for _, n := range r.Notes {
		text := "- " + cell(n.Text)
		if len(n.Items) > 0 {
			text += ": " + cell(first(n.Items))
		}
		b.WriteString(text + "\n")
	}
	return []byte(b.String())
}
