package view

import (
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/planner"
)

// Plan shows a plan and where it goes on standard output. As text, its notices go to standard error.
func (v *View) Plan(p *planner.Plan, where Where) error {
	if v.o.JSON {
		return v.print(stdout, func(out *printer) { out.jsonPlan(p, where) })
	}
	v.Diagnostics(p.Notices)
	return v.print(stdout, func(out *printer) {
		out.where(where)
		out.textPlan(p, v.o.PerMinute)
	})
}

func (p *printer) textPlan(plan *planner.Plan, perMinute int) {
	if plan.Empty() && plan.Summary.Blocked == 0 && plan.Summary.Kept == 0 {
		p.noChanges(plan)
		return
	}
	o := arrange(plan)
	for i := range plan.Steps {
		if !o.nested[i] {
			p.step(plan, o, i)
		}
	}
	for _, a := range o.lacking {
		p.absence(a)
	}
	p.kept(plan)
	for i := range plan.StateChanges {
		p.correction(&plan.StateChanges[i])
	}
	p.summary(&plan.Summary, len(plan.StateChanges), perMinute)
}

// correction shows what changes in the state only.
func (p *printer) correction(c *planner.StateChange) {
	if c.Why == "" {
		return
	}
	p.head("*", p.dim, string(c.From))
	p.str(": ")
	p.safe(c.Why)
	p.nl()
}

// absence says what an edition of the service lacks, and what is left out for that.
func (p *printer) absence(a *absence) {
	const few = 5
	sign, color := p.sigil(planner.NotPossible)
	p.head(sign, color, "this edition of the service has no "+a.things+", so these are left out:")
	p.nl()
	for i, s := range a.steps {
		if i == few {
			p.str("    and " + diag.Count(len(a.steps)-few, "other"))
			p.nl()
			break
		}
		p.str("    ")
		p.safe(string(s.Address))
		for j, c := range s.Changes() {
			if s.Members != nil || s.Object == nil || len(s.Values) > 0 {
				break
			}
			if j == 0 {
				p.str(": ")
			} else {
				p.str(", ")
			}
			if isMark(s, &c) {
				p.str("its mark")
			} else {
				p.safe(c.Path)
			}
		}
		p.nl()
	}
}

func (p *printer) noChanges(plan *planner.Plan) {
	s := &plan.Summary
	p.str("No changes.")
	switch s.Unchanged {
	case 0:
		p.str(" The manifest lists no objects")
	case 1:
		p.str(" The 1 object matches the manifest")
	default:
		p.str(" All " + diag.Count(s.Unchanged, "object") + " match the manifest")
	}
	p.str(" (" + diag.Count(s.Reads, "read request") + ").\n")
}

func (p *printer) summary(s *planner.Summary, corrections, perMinute int) {
	p.paint(p.bold, "Plan:")
	separator := " "
	part := func(n int, text string) {
		if n == 0 {
			return
		}
		p.str(separator)
		p.num(n)
		p.str(text)
		separator = ", "
	}
	part(s.Create, " to create")
	part(s.Update, " to update")
	part(s.Adopt, " to adopt")
	part(s.AddMembers, memberships(s.AddMembers))
	part(s.RemoveMembers, memberships(s.RemoveMembers)+" to remove")
	part(s.Delete, " to delete")
	part(corrections, " to correct in the state")
	part(s.Blocked, " not possible")
	part(s.Kept, " kept as changed on the service")
	if separator != " " {
		separator = "; "
	}
	part(s.Unchanged, " unchanged")
	p.str(". " + diag.Count(s.Requests, "request"))
	if s.Requests > 0 {
		p.str(", " + atRate(s.Requests, perMinute) + " at ")
		p.num(perMinute)
		p.str("/min")
	}
	p.str(".\n")
}

// memberships is what follows their number.
func memberships(n int) string {
	if n == 1 {
		return " membership"
	}
	return " memberships"
}

// step shows one step with what belongs to it.
func (p *printer) step(plan *planner.Plan, o *outline, i int) {
	s := plan.Steps[i]
	if s.Members != nil {
		p.membership(s, o, i)
		return
	}
	sign, color := p.stepSigil(s)
	p.head(sign, color, string(s.Address))
	switch s.Action {
	case planner.Adopt:
		p.str("  ")
		p.paint(p.dim, adopted(s))
	case planner.NotPossible:
		p.str(": ")
		p.safe(s.Reason)
	case planner.Delete:
		if s.ID != "" {
			p.str("  ")
			p.paint(p.dim, "("+Safe(s.ID)+")")
		}
		if s.Reason != "" {
			p.str("  ")
			p.paint(p.dim, Safe(s.Reason))
		}
	case planner.Create, planner.Update, planner.AddMembers, planner.RemoveMembers:
	}
	p.nl()
	p.cause(s)
	changes := s.Changes()
	column := labelColumn
	for j := range changes {
		if !isMark(s, &changes[j]) {
			column = max(column, width(changes[j].Path)+1)
		}
	}
	for child := o.first(i); child >= 0; child = o.after(child) {
		column = max(column, width(section(plan.Steps[child]))+1)
	}
	column++
	for j := range changes {
		p.change(s, &changes[j], column)
	}
	last := ""
	for child := o.first(i); child >= 0; child = o.after(child) {
		last = p.child(plan.Steps[child], last, column)
	}
}

// cause shows where the manifest has what is not possible.
func (p *printer) cause(s *planner.Step) {
	if s.Action == planner.NotPossible && !s.Position.IsZero() {
		p.str("  ")
		p.place(s.Position, "")
	}
}

func (p *printer) head(sign string, color style, address string) {
	p.str(color.on)
	p.str(sign)
	p.str(color.off)
	p.str(" ")
	p.safe(address)
}

// adopted says what an adopted thing is on the service, and by what it was found.
func adopted(s *planner.Step) string {
	text := "(exists on the service"
	if s.ID != "" {
		text += " as " + Safe(s.ID)
	}
	if found := Safe(foundBy(s)); found != "" {
		text += ", " + found
	}
	return text + ")"
}

// foundBy says by what an adopted thing was found.
func foundBy(s *planner.Step) string {
	o := s.Object
	switch {
	case s.Reason != "" || o == nil:
		return s.Reason
	case o.ID != "":
		return "found by id"
	case o.Identifier != "":
		return "found by identifier"
	}
	for _, f := range o.Kind.NaturalKey {
		if o.Text(f) != "" {
			return "found by " + f
		}
	}
	return ""
}

// membership shows all batches of one container's members as one.
func (p *printer) membership(s *planner.Step, o *outline, i int) {
	batch, shown := o.batches[batchOf(s)]
	if !shown || batch.at != i {
		return // shown with the first
	}
	sign, color := p.sigil(s.Action)
	p.head(sign, color, base(s))
	members := diag.Count(batch.members, memberNoun(s))
	switch s.Action {
	case planner.AddMembers:
		p.str(": add " + members)
	case planner.RemoveMembers:
		p.str(": remove " + members)
	case planner.Update:
		p.str(": change " + members)
	case planner.NotPossible, planner.Create, planner.Adopt, planner.Delete:
		p.str(": ")
		p.safe(s.Reason)
		p.str(" (" + members + ")")
	}
	p.nl()
	p.cause(s)
	if batch.members > fewMembers {
		return
	}
	for j, m := range batch.few {
		if j == 0 {
			p.str("    ")
		} else {
			p.str(", ")
		}
		p.safe(memberName(s, m))
	}
	if len(batch.few) > 0 {
		p.nl()
	}
}

// section is the name of the list that a nested thing stands in.
func section(s *planner.Step) string {
	if s.Kind == nil {
		return ""
	}
	return s.Kind.Section
}

// child shows a thing that is created within the one above it, on one line. It
// returns the label, which is shown once.
func (p *printer) child(s *planner.Step, last string, column int) string {
	label := section(s)
	if label == last {
		p.str(blanks(4 + column))
	} else {
		p.label(label, column)
	}
	p.paint(p.create, "+")
	p.str(" ")
	name := s.Object.Name()
	p.safe(name)
	changes := s.Changes()
	opened := false
	for i := range changes {
		c := &changes[i]
		if c.After == nil || *c.After == name {
			continue
		}
		if opened {
			p.str(", ")
		} else {
			p.str("  " + p.dim.on + "(")
			opened = true
		}
		p.safe(c.Path)
		p.str(": ")
		p.str(inline(fieldOf(s, c.Path), *c.After))
	}
	if opened {
		p.str(")" + p.dim.off)
	}
	p.nl()
	return label
}
