package view

import (
	"bufio"
	"cmp"
	"io"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/planfile"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// Plan shows a plan, and where its document says that it goes, on standard output. As text, its notices go to standard error.
func (v *View) Plan(p *planner.Plan, d *planfile.Document) error {
	if v.o.JSON {
		return v.print(stdout, func(out *printer) { out.document(*d) })
	}
	v.Diagnostics(p.Notices)
	return v.show(func(out *printer) {
		out.where(d.Where())
		out.textPlan(p, v.o.Extent, v.o.PerMinute)
		out.hash(p, d)
	})
}

// PlanInShort shows where a plan goes and what it does in all: the steps were reviewed before.
func (v *View) PlanInShort(p *planner.Plan, d *planfile.Document) error {
	return v.print(stdout, func(out *printer) {
		out.where(d.Where())
		if unremarkable(p) {
			out.noChanges(p)
		} else {
			out.summary(p, v.o.PerMinute)
		}
	})
}

// hash shows the hash by which two plans can be compared.
func (p *printer) hash(plan *planner.Plan, d *planfile.Document) {
	if !unremarkable(plan) {
		p.line(p.dim.paint("plan " + Safe(d.Hash)))
	}
}

// WritePlan writes a plan as --output json shows it.
func WritePlan(w io.Writer, d *planfile.Document) error {
	p := &printer{w: bufio.NewWriter(w), palette: newPalette(false)}
	p.document(*d)
	return p.w.Flush()
}

func (p *printer) textPlan(plan *planner.Plan, extent Extent, perMinute int) {
	switch {
	case unremarkable(plan):
		p.noChanges(plan)
		return
	case extent == Counts:
		p.tally(newTally(plan))
	default:
		p.steps(plan, extent)
	}
	p.summary(plan, perMinute)
}

// usualEntries is how many entries of each action are shown if not all are asked for. Deletions always are.
const usualEntries = 100

// steps shows the steps of a plan.
func (p *printer) steps(plan *planner.Plan, extent Extent) {
	o := newOutline(plan)
	if extent != Full {
		o.group(plan)
	}
	shown, left := map[planner.Action]int{}, map[planner.Action]int{}
	for i, s := range plan.Steps {
		action := shownAction(s)
		switch {
		case o.nested[i] || s.Members != nil && o.batches[batchOf(s)].at != i:
			continue
		case extent != Full && action != planner.Delete && shown[action] == usualEntries:
			left[action]++
			continue
		}
		shown[action]++
		p.step(plan, o, i)
	}
	for _, u := range o.unsupported {
		p.unsupported(u)
	}
	kept := p.keptFields(plan, extent)
	for _, c := range plan.StateChanges {
		if c.Why != "" {
			p.line(heading("*", p.dim, string(c.From)), ": ", Safe(c.Why))
		}
	}
	p.left(left, kept)
}

// left says how many entries, and objects with kept fields, are not shown.
func (p *printer) left(entries map[planner.Action]int, kept int) {
	var parts []count
	for a := planner.Create; a <= planner.NotPossible; a++ {
		parts = append(parts, count{entries[a], actionWord(a)})
	}
	parts = append(parts, count{kept, "kept as changed on the service"})
	if text := counts(parts...); text != "" {
		p.line("… not shown: ", text, "; --full shows all")
	}
}

// tally shows how many steps there are of each kind.
func (p *printer) tally(t tally) {
	columns := append([]string{"project", "kind"}, t.columns...)
	rows := [][]string{columns}
	for _, r := range t.rows {
		rows = append(rows, append([]string{cmp.Or(r.project, "-"), r.kind}, r.counts...))
	}
	widths := make([]int, len(columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], width(Safe(cell)))
		}
	}
	for i, row := range rows {
		p.row(row, widths, []style{p.bold, {}}[min(i, 1)], false)
	}
	p.line()
}

// unremarkable reports whether there is nothing to do and nothing to tell.
func unremarkable(plan *planner.Plan) bool {
	return plan.Empty() && plan.Summary.Blocked == 0 && plan.Summary.Kept == 0
}

// unsupported says what an edition of the service lacks, and what is left out for that.
func (p *printer) unsupported(u *unsupported) {
	const few = 5
	sign, color := p.sigil(planner.NotPossible)
	p.line(heading(sign, color, "this edition of the service has no "+u.objects+", so these are left out:"))
	for i, s := range u.steps {
		if i == few {
			p.line("    and ", diag.Count(len(u.steps)-few, "other"))
			break
		}
		text := string(s.Address)
		if s.Members == nil && s.Object != nil && len(s.Values) == 0 {
			var paths []string
			for _, c := range s.Changes() {
				if isMark(s, &c) {
					c.Path = "its mark"
				}
				paths = append(paths, c.Path)
			}
			if len(paths) > 0 {
				text += ": " + strings.Join(paths, ", ")
			}
		}
		p.line("    ", Safe(text))
	}
}

func (p *printer) noChanges(plan *planner.Plan) {
	text := "All " + diag.Count(plan.Summary.Unchanged, "object") + " match the manifest"
	switch plan.Summary.Unchanged {
	case 0:
		text = "The manifest lists no objects"
	case 1:
		text = "The 1 object matches the manifest"
	}
	if n := plan.Summary.Ignored; n > 0 {
		text += "; " + diag.Count(n, "field") + " left to people (ignore_changes)"
	}
	p.line("No changes. ", text, " (", diag.Count(plan.Summary.Reads, "read request"), ").")
}

func (p *printer) summary(plan *planner.Plan, perMinute int) {
	s := &plan.Summary
	changes := counts(
		count{s.Create, "to create"}, count{s.Update, "to update"}, count{s.Adopt, "to adopt"},
		noun(s.AddMembers, "membership"), noun(s.RemoveMembers, "membership").and("to remove"), count{s.Delete, "to delete"},
		count{len(plan.StateChanges), "to correct in the state"}, count{s.Blocked, "not possible"}, count{s.Kept, "kept as changed on the service"},
		count{s.Ignored, "left to people (ignore_changes)"},
	)
	requests := diag.Count(s.Requests, "request")
	if s.Requests > 0 {
		requests += " by " + apiName(plan.API) + ", " + diag.AtRate(s.Requests, perMinute)
	}
	p.line(p.bold.paint("Plan:"), sentence(changes, counts(count{s.Unchanged, "unchanged"})), " ", requests, ".")
}

// apiName is what people call an API.
func apiName(a resource.API) string {
	if a.Wide() {
		return "API " + a.String()
	}
	return a.Noun()
}

// step shows one step with what belongs to it.
func (p *printer) step(plan *planner.Plan, o *outline, i int) {
	s := plan.Steps[i]
	if s.Members != nil {
		p.membership(s, o, i)
		return
	}
	sign, color := p.stepSigil(s)
	title := heading(sign, color, string(s.Address))
	same := o.same[i]
	identifier, name := called(s)
	if same != nil {
		title, identifier, name = color.paint(sign)+" "+diag.Count(len(same), s.Kind.Noun()), "", ""
	}
	if identifier != "" {
		title += "  " + Safe(identifier)
	}
	if name != "" {
		title += "  " + p.dim.paint(quote(diag.Truncate(name, longText)))
	}
	switch s.Action {
	case planner.Adopt:
		title += "  " + p.dim.paint(adopted(s))
	case planner.NotPossible:
		title += ": " + Safe(s.Reason)
	case planner.Delete:
		if s.ID != "" {
			title += "  " + p.dim.paint("("+Safe(s.ID)+")")
		}
		if s.Reason != "" {
			title += "  " + p.dim.paint(Safe(s.Reason))
		}
	case planner.Create:
		if s.Reason != "" {
			title += "  " + p.dim.paint("("+Safe(s.Reason)+")")
		}
	case planner.Update, planner.AddMembers, planner.RemoveMembers:
	}
	p.line(title)
	p.manifestPosition(s)
	changes := s.Changes()
	for _, more := range o.continued[i] {
		changes = append(changes, more.Changes()...)
	}
	column := labelColumn
	for j := range changes {
		if !isMark(s, &changes[j]) {
			column = max(column, width(changes[j].Path)+1)
		}
	}
	for _, child := range o.children[i] {
		column = max(column, width(section(child))+1)
	}
	column++
	for j := range changes {
		p.change(s, &changes[j], column)
	}
	if same != nil {
		p.line("    ", p.dim.paint(strings.Join(firstNames(same, func(s *planner.Step) string { return Safe(string(s.Address)) }), ", ")))
	}
	last := ""
	for _, child := range o.children[i] {
		p.child(child, section(child) == last, column)
		last = section(child)
	}
}

// manifestPosition shows where the manifest has what is not possible.
func (p *printer) manifestPosition(s *planner.Step) {
	if s.Action == planner.NotPossible && !s.Position.IsZero() {
		p.line("    ", p.dim.paint("-->"), " ", Safe(s.Position.String()))
	}
}

func heading(sign string, color style, address string) string {
	return color.paint(sign) + " " + Safe(address)
}

// adopted says what an adopted object is on the service, and by what it was found.
func adopted(s *planner.Step) string {
	text := "(exists on the service"
	if s.ID != "" {
		text += " as " + Safe(s.ID)
	}
	if found := Safe(s.FoundBy()); found != "" {
		text += ", " + found
	}
	return text + ")"
}

// membership shows all batches of one container's members as one.
func (p *printer) membership(s *planner.Step, o *outline, i int) {
	batch, shown := o.batches[batchOf(s)]
	if !shown || batch.at != i {
		return // shown with the first
	}
	members := diag.Count(batch.members, memberNoun(s))
	text := ": " + Safe(s.Reason) + " (" + members + ")"
	switch s.Action {
	case planner.AddMembers:
		text = ": add " + members
	case planner.RemoveMembers:
		text = ": remove " + members
	case planner.Update:
		text = ": change " + members
	case planner.NotPossible, planner.Create, planner.Adopt, planner.Delete:
	}
	sign, color := p.sigil(s.Action)
	p.line(heading(sign, color, containerAddress(s)), text)
	p.manifestPosition(s)
	if batch.members > fewMembers {
		return
	}
	var names []string
	for _, m := range batch.few {
		names = append(names, Safe(memberName(s, m)))
	}
	if len(names) > 0 {
		p.line("    ", strings.Join(names, ", "))
	}
}

// section is the name of the list that an object stands in.
func section(s *planner.Step) string {
	if s.Kind == nil {
		return ""
	}
	return s.Kind.Section
}

// child shows an object that is created within the one above it, on one line, with the name of its list where that is the first of it.
func (p *printer) child(s *planner.Step, more bool, column int) {
	beginning := blanks(4 + column)
	if !more {
		beginning = label(section(s), column)
	}
	name := s.Object.Name()
	var fields []string
	for _, c := range s.Changes() {
		if c.After != nil && *c.After != name {
			fields = append(fields, Safe(c.Path)+": "+inline(s.Field(c.Path), *c.After))
		}
	}
	text := ""
	if len(fields) > 0 {
		text = "  " + p.dim.paint("("+strings.Join(fields, ", ")+")")
	}
	p.line(beginning, p.create.paint("+"), " ", Safe(name), text)
}
