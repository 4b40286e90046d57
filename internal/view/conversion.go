package view

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/text/diag"
)

// Converted shows a summary of a conversion to a folder and the next step, or the report as JSON.
func (v *View) Converted(r *convert.Report, dir string) error {
	if v.json {
		return v.JSON(r)
	}
	lines := []string{
		fmt.Sprintf("Converted %s (%s, by %s) to %s.", diag.Count(len(r.Source.Files), "file"), r.Source.Format, r.Source.DetectedBy, dir),
		conversionHeadline(r) + ".",
	}
	if r.Since != nil {
		lines = append(lines, sinceLine(r.Since)+".")
	}
	for _, n := range r.Notes {
		if n.Kind == "selection" {
			lines = append(lines, n.Text+".")
		}
	}
	for _, q := range r.Questions[:min(len(r.Questions), 10)] {
		lines = append(lines, fmt.Sprintf("  ? %s: %s  (%s, %s)", q.Section, diag.Truncate(q.Name, 100), diag.Count(q.Items, "item"), q.Position))
	}
	for _, l := range r.Losses {
		if !l.Agreed {
			lines = append(lines, fmt.Sprintf("  - %s: %d (%s)", l.Kind, l.Count, l.Text))
		}
	}
	next := "planform plan -f " + dir
	if !r.Settled() {
		next = "read " + dir + "/report.md, answer the questions and accept losses in " + r.Mapping + ", and run it again"
	}
	return v.Lines(append(lines, "Next: "+next)...)
}

// conversionHeadline returns the main numbers of a conversion in one line.
func conversionHeadline(r *convert.Report) string {
	lost := 0
	for _, l := range r.Losses {
		lost += l.Count
	}
	losses := "no losses"
	switch {
	case lost == 1:
		losses = "1 loss"
	case lost > 1:
		losses = fmt.Sprintf("%d losses in %s", lost, diag.Count(len(r.Losses), "kind"))
	}
	return fmt.Sprintf("%d of %s, %d of %s, %d of %s; %s; %s", r.Carried.Items, diag.Count(r.Counts.Items, "item"), r.Carried.Comments,
		diag.Count(r.Counts.Comments, "comment"), r.Carried.Relations, diag.Count(r.Counts.Relations, "relation"), losses,
		diag.Count(len(r.Questions), "question"))
}

// sinceLine returns the numbers of new, changed, gone and moved issues in one line.
func sinceLine(s *convert.Since) string {
	return fmt.Sprintf("Since the last export: %d new, %d changed, %d gone, %d moved; %s new, %d edited", len(s.New), len(s.Changed),
		len(s.Gone), len(s.Moved), diag.Count(s.CommentsNew, "comment"), s.CommentsEdited)
}

// conversionText is a report in Markdown that grows.
type conversionText struct{ text strings.Builder }

func (ct *conversionText) add(text string) { ct.text.WriteString(text) }

// cell returns a text for a cell or a line.
func (*conversionText) cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "<", "\\<").Replace(text)
}

func (ct *conversionText) heading(text string) { ct.add("\n## " + text + "\n\n") }

// section writes a section with a table, or with a sentence if the table has no rows.
func (ct *conversionText) section(title, otherwise, introduction string, columns []string, rows [][]any) {
	if ct.heading(title); rows == nil {
		ct.add(otherwise + "\n")
		return
	}
	ct.add(introduction + "\n\n")
	ct.table(columns, rows)
}

// table writes a table. A column whose name ends with a colon has numbers.
func (ct *conversionText) table(columns []string, rows [][]any) {
	line := "|"
	for i, name := range columns {
		name, number := strings.CutSuffix(name, ":")
		columns[i], line = name, line+map[bool]string{true: " ---: |", false: " --- |"}[number]
	}
	ct.add("| " + strings.Join(columns, " | ") + " |\n" + line + "\n")
	for _, row := range rows {
		for _, cell := range row {
			ct.add("| " + ct.cell(fmt.Sprint(cell)) + " ")
		}
		ct.add("|\n")
	}
}

// firstItems returns the first items of a list, and the place of the others.
func firstItems(items []string) string {
	const most = 10
	text := diag.First(items, most)
	if len(items) > most {
		text += " (all in report.json)"
	}
	return text
}

// ConversionReport returns the report of a conversion in Markdown.
func ConversionReport(r *convert.Report) []byte {
	t := &conversionText{}
	t.add("<!-- Written by planform convert; changes here are lost. -->\n\n# What becomes of the export\n\n" + conversionHeadline(r) + ".\n\n")
	t.add(fmt.Sprintf("Format: %s (recognised by %s). Files: %s.\n", r.Source.Format, r.Source.DetectedBy, t.cell(strings.Join(r.Source.Files, ", "))))
	var rows [][]any
	for _, q := range r.Questions {
		name := diag.Truncate(q.Name, 100)
		if q.Called != "" {
			name += " (" + diag.Truncate(q.Called, 100) + ")"
		}
		rows = append(rows, []any{q.Section + ": " + name, q.Items, q.Position})
	}
	t.section("Questions", "None is open.", "Answer them in "+t.cell(r.Mapping)+", then run planform convert again.", []string{"question", "items:", "where"}, rows)
	rows = nil
	for _, l := range r.Losses {
		rows = append(rows, []any{l.Kind, l.Count, map[bool]string{true: "yes", false: "no"}[l.Agreed], l.Text, firstItems(l.Items)})
	}
	t.section("Losses", "None.", "Write those that you accept under allow: in the mapping.", []string{"kind", "count:", "accepted", "what", "items"}, rows)
	t.numbers(r)
	t.values(r.Values)
	if r.KeepsNumbers && len(r.Numbers) > 0 {
		t.renumbered(r.Numbers)
	}
	if r.Since != nil {
		t.since(r.Since)
	}
	t.heading("To know")
	for _, n := range r.Notes {
		text := "- " + t.cell(n.Text)
		if len(n.Items) > 0 {
			text += ": " + t.cell(firstItems(n.Items))
		}
		t.add(text + "\n")
	}
	return []byte(t.text.String())
}

// numbers writes the counts of the export beside those of the manifests.
func (ct *conversionText) numbers(r *convert.Report) {
	ct.heading("Numbers to check")
	ct.table([]string{"what", "in the export:", "carried over:"}, [][]any{
		{"items", r.Counts.Items, r.Carried.Items},
		{"comments", r.Counts.Comments, r.Carried.Comments},
		{"relations", r.Counts.Relations, r.Carried.Relations},
		{"items with a parent", r.Counts.Parents, r.Carried.Parents},
		{"labels", r.Counts.Labels, r.Carried.Labels},
		{"attachments", r.Counts.Attachments, r.Carried.Attachments},
		{"people", r.Counts.People, r.Carried.People},
	})
	var rows [][]any
	for _, s := range r.States {
		rows = append(rows, []any{cmp.Or(s.Name, "(none)"), s.Category, r.Counts.States[s.Name], r.Carried.States[s.Name]})
	}
	ct.add("\n")
	ct.table([]string{"state", "becomes", "items:", "carried over:"}, rows)
}

// values writes the sums of the account, and the fields with the most losses.
func (ct *conversionText) values(v *convert.Values) {
	const most = 30
	ct.heading("Values")
	ct.add(fmt.Sprintf("The export holds %s: %d are in fields of items, %d in texts, %d left out by decision or of use to "+
		"the tracker only, %d lost. report.json has all fields.\n", diag.Count(v.Read, "value"), v.Carried, v.AsText, v.Decided, v.Lost))
	short := slices.DeleteFunc(slices.Clone(v.Fields), func(f convert.ValueCount) bool { return f.Lost == 0 })
	slices.SortStableFunc(short, func(a, b convert.ValueCount) int { return cmp.Compare(b.Lost, a.Lost) })
	var rows [][]any
	for _, f := range short[:min(len(short), most)] {
		rows = append(rows, []any{f.Name, f.Read, f.Lost, f.Example})
	}
	if rows != nil {
		ct.add("\n")
		ct.table([]string{"field of the export", "values:", "lost:", "example"}, rows)
	}
}

func (ct *conversionText) renumbered(list []convert.Numbers) {
	const most = 100
	ct.heading("Numbers of items")
	if !slices.ContainsFunc(list, func(n convert.Numbers) bool {
		return !strings.HasSuffix(n.From, fmt.Sprintf("-%d", n.New)) && n.From != strconv.Itoa(n.New)
	}) {
		ct.add("In projects that are empty, all items keep the numbers that they have.\n")
		return
	}
	ct.add("In projects that are empty, items get these numbers:\n\n")
	var rows [][]any
	for _, n := range list[:min(len(list), most)] {
		becomes := fmt.Sprintf("%s-%d", n.Project, n.New)
		if more := keyNumber(n.To) - keyNumber(n.From); more > 0 {
			becomes += fmt.Sprintf(" to %s-%d", n.Project, n.New+more)
		}
		rows = append(rows, []any{n.From, n.To, becomes})
	}
	if ct.table([]string{"from", "to", "becomes"}, rows); len(list) > most {
		ct.add(fmt.Sprintf("\n%d more are in report.json.\n", len(list)-most))
	}
}

// keyNumber returns the number at the end of an issue's key, such as 12 of SHOP-12. It returns 0 if there is none.
func keyNumber(key string) int {
	n, _ := strconv.Atoi(key[strings.LastIndexByte(key, '-')+1:])
	return n
}

func (ct *conversionText) since(s *convert.Since) {
	ct.heading("Since the last export")
	ct.add(sinceLine(s) + ".\n")
	var changed, moved []string
	for _, c := range s.Changed {
		changed = append(changed, c.Item+" ("+strings.Join(c.Fields, ", ")+")")
	}
	for _, m := range s.Moved {
		text := m.From + " is now " + m.To
		if m.Anew {
			text += ", in another project: planform creates it there, and the old item stays"
		}
		moved = append(moved, text)
	}
	for _, list := range []struct {
		what  string
		items []string
	}{
		{"New", s.New},
		{"Changed", changed},
		{"Moved", moved},
		{"Gone from the export, and kept in the manifests until a run with --drop-missing", s.Gone},
	} {
		if len(list.items) > 0 {
			ct.add("\n" + list.what + ": " + ct.cell(firstItems(list.items)) + ".\n")
		}
	}
}
