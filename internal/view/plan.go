package view

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

const (
	labelColumn  = 10  // values start after a label of this many characters, its colon included
	firstLines   = 3   // lines of a new text that are shown
	differLines  = 20  // lines of a difference that are shown
	usualEntries = 100 // entries of each action that are shown if not all are asked for; deletions always are
)

// PlanInShort shows the target of a plan, its impossible steps and its counts. It is for a plan whose steps were reviewed before.
func (v *View) PlanInShort(d *planfile.Document) error {
	impossible := slices.DeleteFunc(slices.Clone(d.Steps), func(s planfile.Step) bool { return s.PlannedAction() != planner.NotPossible })
	return v.print(stdout, func(out *printer) {
		out.where(d.Where())
		out.entries(newShownPlan(&planfile.Document{Steps: impossible, Names: d.Names, Options: d.Options}, v.o.PerMinute))
		out.verdict(&shownPlan{Document: d, perMinute: v.o.PerMinute})
	})
}

// WritePlan writes a plan in the form of --output json.
func WritePlan(w io.Writer, d *planfile.Document) error {
	p := &printer{w: bufio.NewWriter(w), palette: newPalette(false)}
	p.document(*d)
	return p.w.Flush()
}

// textFormat shows plans and findings to people.
type textFormat struct{}

// plan shows a plan on standard output, and its notices on standard error. It repeats all findings after a plan that is longer
// than the terminal.
func (textFormat) plan(v *View, d *planfile.Document) error {
	v.Diagnostics(d.Notices)
	long, err := v.show(func(out *printer) {
		plan := newShownPlan(d, v.o.PerMinute)
		out.where(d.Where())
		switch {
		case plan.isUnremarkable():
		case v.o.Extent == Counts:
			out.tally(newTally(plan))
		default:
			out.entries(plan)
		}
		out.verdict(plan)
		if !plan.isUnremarkable() {
			out.line(out.dim.paint("plan " + Safe(d.Hash))) // the hash lets people compare two plans
		}
	})
	if long {
		v.printError(func(p *printer) { p.diagnostics(v.findings) })
	}
	return err
}

func (textFormat) findings(p *printer, list diag.List) { p.diagnostics(list) }

func (p *printer) verdict(plan *shownPlan) {
	head, text := plan.verdict()
	if head != "" {
		head = p.bold.paint(head)
	}
	p.line(head, text)
	if told := plan.notices(); told != "" {
		p.line(told)
	}
}

// where shows the workspace, service, user, manifests and state of a plan.
func (p *printer) where(w planfile.Where) {
	if w.Workspace == "" {
		return
	}
	place := w.Service
	if w.Sandbox != "" {
		place = "the sandbox " + w.Sandbox
	}
	if w.User != "" {
		place += ", as " + w.User
	}
	p.line(p.bold.paint("Workspace "+Safe(w.Workspace)), Safe(" at "+place))
	noun, names := w.From(fewManifests)
	p.line(Safe(noun+" "+names+"; state "+w.State), "\n")
}

// tally shows a table with the number of steps of each kind in each project.
func (p *printer) tally(t tally) {
	rows := [][]string{append([]string{"project", "kind"}, t.Columns...)}
	for _, r := range t.Rows {
		rows = append(rows, append([]string{cmp.Or(r.Project, "-"), r.Kind}, r.Counts...))
	}
	widths := columnWidths(rows)
	if p.columns > 0 {
		shrink(widths, p.columns)
	}
	p.rows(rows, widths)
	p.line()
}

// entries shows the entries of a plan project by project, then unsupported parts, kept fields and changes of the state.
// Without --full it shows only the first entries of each action, but all deletions.
func (p *printer) entries(plan *shownPlan) {
	shown, omitted := map[planner.Action]int{}, map[planner.Action]int{}
	listed := plan.entriesWhere(func(e *entry) bool { return e.step.Unsupported == "" && !e.isChild && (p.whole || !e.isOld) })
	blocks := &blocks{printer: p}
	for _, project := range plan.byProject(p.groups(listed)) {
		blocks.title = project.title(Safe)
		for _, same := range project.groups {
			action := same[0].action
			if !p.whole && action != planner.Delete && shown[action] == usualEntries {
				omitted[action]++
				continue
			}
			shown[action]++
			blocks.add(func() { p.entry(same) })
		}
	}
	unsupported := func(e *entry) (string, bool) { return e.step.Unsupported, true }
	for i, same := range gather(plan.entriesWhere(func(e *entry) bool { return e.step.Unsupported != "" && (p.whole || !e.isOld) }), 1, unsupported) {
		if i == 0 {
			blocks.title = "Left out"
		}
		blocks.add(func() { p.unsupported(same[0].step.Unsupported, same) })
	}
	kept := p.keptFields(blocks, plan.keptFields())
	for i, c := range plan.shownStateChanges() {
		if i == 0 {
			blocks.title = stateChangesTitle
		}
		blocks.add(func() { p.line(p.heading("*", p.dim, string(c.From)), ": ", Safe(c.Why)) })
	}
	var parts []count
	for a := planner.Create; a <= planner.NotPossible; a++ {
		parts = append(parts, count{omitted[a], actionWord(a)})
	}
	text := counts(append(parts, count{kept, "kept as on the service"})...)
	blocks.title = ""
	if n := len(plan.entriesWhere(func(e *entry) bool { return e.isOld })); n > 0 && !p.whole {
		blocks.end()
		blocks.add(func() {
			p.line(p.refuse.paint("!"), " ", p.bold.paint(strconv.Itoa(n)+" not possible, as before"), "; --full shows them")
		})
	}
	if text != "" {
		blocks.end()
		blocks.add(func() { p.line("… not shown: ", text, "; --full shows all") })
	}
	blocks.end()
}

// blocks prints blocks of text under titles, with an empty line around each block of several lines.
type blocks struct {
	*printer

	text  bytes.Buffer
	title string // of the next blocks; "" = it is already printed, or the blocks have no title
	above int    // lines of the block above; 0 = no block
}

// add prints the output of show as a block, below the title if it is not printed yet.
func (bl *blocks) add(show func()) {
	out := bl.w
	bl.text.Reset()
	bl.w = bufio.NewWriter(&bl.text)
	show()
	_ = bl.w.Flush() // a buffer takes everything
	bl.w = out
	if bl.title != "" {
		bl.end()
		bl.line(bl.bold.paint(bl.title))
		bl.title = ""
	}
	lines := bytes.Count(bl.text.Bytes(), []byte("\n"))
	if bl.above > 1 || bl.above == 1 && lines > 1 {
		bl.line()
	}
	bl.print(bl.text.String())
	bl.above = lines
}

// end prints the empty line below the last block.
func (bl *blocks) end() {
	if bl.above > 0 {
		bl.line()
	}
	bl.above = 0
}

// groups returns the entries in groups to show as one: equal updates, and refusals for one reason. With --full each entry stays
// alone. The update of an adopted object stays alone too, unless its kind has only one object in a place.
func (p *printer) groups(list []*entry) [][]*entry {
	return groupEntries(list, namedSteps+1, func(e *entry) bool {
		return !p.whole && (e.action == planner.NotPossible || e.action == planner.Update && (e.step.Adopted == nil || e.kind.Singleton))
	})
}

// entry shows an entry with its changes, members and children, or a group of entries with equal changes as one.
func (p *printer) entry(same []*entry) {
	e := same[0]
	if symbol, color := p.symbol(e.action); len(same) > 1 {
		why := ""
		switch {
		case e.action == planner.NotPossible:
			why = ": " + Safe(e.why())
		case e.step.Adopted != nil:
			why = "  " + p.dim.paint("("+Safe(e.why())+")")
		}
		p.line(color.paint(symbol), " ", p.bold.paint(diag.Count(len(same), e.noun())), why)
	} else if identifier, name := e.displayNames(); name == "" {
		p.line(p.heading(symbol, color, string(e.address)), gapBefore(identifier), p.entryDetails(e))
	} else {
		p.line(color.paint(symbol), " ", Safe(string(e.address)), gapBefore(identifier), "  ", p.bold.paint((&value{text: name}).inline(p.whole)), p.entryDetails(e))
	}
	if places := positions(same); places != "" {
		p.line("    ", p.dim.paint("-->"), " ", places)
	}
	if lost := e.lost(); lost != "" {
		p.line("    ", p.dim.paint(Safe(lost)))
	}
	if names := e.namedMembers(); e.isMembership && len(names) > 0 {
		p.line("    ", Safe(diag.First(names, namedSteps)))
	}
	column, changes := labelColumn, e.changes()
	for i := range changes {
		column = max(column, width(changes[i].label())+1)
	}
	for _, child := range e.children {
		column = max(column, width(child.kind.Section)+1)
	}
	column++
	for i := range changes {
		p.change(&changes[i], column)
	}
	if len(same) > 1 {
		p.line("    ", p.dim.paint(firstNames(same, Safe)))
	}
	section := ""
	for _, child := range e.children {
		p.child(child, child.kind.Section == section, column)
		section = child.kind.Section
	}
}

// positions lists the first positions of refusals in the manifests, each one once. It returns "" for other entries.
func positions(entries []*entry) string {
	var places []string
	for _, e := range entries {
		if at := e.step.Position; at != nil && e.action == planner.NotPossible && !slices.Contains(places, Safe(at.String())) {
			places = append(places, Safe(at.String()))
		}
	}
	return diag.First(places, namedSteps)
}

// heading returns the beginning of an entry without a name: its symbol and its address.
func (pl *palette) heading(symbol string, color style, address string) string {
	return color.paint(symbol) + " " + pl.bold.paint(Safe(address))
}

// gapBefore returns a word with a gap before it, or "" for no word.
func gapBefore(word string) string {
	if word == "" {
		return ""
	}
	return "  " + Safe(word)
}

// entryDetails returns the text after an entry's name, such as the ID, the reason, or the number of members.
func (p *printer) entryDetails(e *entry) string {
	if e.isMembership {
		members := diag.Count(len(e.members), e.noun())
		if e.action == planner.NotPossible {
			return ": " + Safe(e.why()) + " (" + members + ")"
		}
		command, _, _ := verb(e.action, true)
		return ": " + command + " " + members
	}
	text, id, why := "", "", Safe(e.why())
	if e.step.ID != nil {
		id = Safe(*e.step.ID)
	}
	aside := func(text string) string { return "  " + p.dim.paint(text) }
	switch {
	case e.step.Adopted != nil:
		found := "exists on the service"
		if id != "" {
			found += " as " + id
		}
		if why != "" {
			found += ", " + why
		}
		text += aside("(" + found + ")")
	case e.action == planner.NotPossible:
		text += ": " + why
	case e.action == planner.Delete:
		if id != "" {
			text += aside("(" + id + ")")
		}
		if why != "" {
			text += aside(why)
		}
	case e.action == planner.Create && why != "":
		text += aside("(" + why + ")")
	}
	return text
}

// child shows a new object within the entry of its parent, on one line. The line begins with the name of the object's list,
// unless more is true because the line above belongs to the same list.
func (p *printer) child(e *entry, more bool, column int) {
	beginning := spaces(4 + column)
	if !more {
		beginning = label(e.kind.Section, column)
	}
	name := cmp.Or(e.step.Title, e.address.Key())
	var fields []string
	for _, c := range e.changes() {
		fields = append(fields, Safe(c.label())+": "+c.after.inline(false))
	}
	text := ""
	if len(fields) > 0 {
		text = "  " + p.dim.paint("("+strings.Join(fields, ", ")+")")
	}
	p.line(beginning, p.create.paint("+"), " ", Safe(name), text)
}

// unsupported names a feature that the service's edition lacks, and the objects and fields that are left out for this reason.
func (p *printer) unsupported(objects string, entries []*entry) {
	const few = 5
	symbol, color := p.symbol(planner.NotPossible)
	p.line(p.heading(symbol, color, "this edition of the service has no "+objects+", so these are left out:"))
	for i, e := range entries {
		if i == few {
			p.line("    and ", diag.Count(len(entries)-few, "other"))
			break
		}
		var paths []string
		for _, c := range e.changes() {
			paths = append(paths, cmp.Or(c.label(), "its mark"))
		}
		text := string(e.step.Address)
		if len(paths) > 0 {
			text += ": " + strings.Join(paths, ", ")
		}
		p.line("    ", Safe(text))
	}
}

// label returns the beginning of a field's line: its name, and spaces up to the column.
func label(name string, column int) string {
	return "    " + Safe(name) + ":" + spaces(column-width(name)-1)
}

// change shows the change of a field.
func (p *printer) change(c *change, column int) {
	remark := ""
	if c.remark != "" {
		remark = "     " + p.dim.paint("("+Safe(c.remark)+")")
	}
	switch {
	case c.path == "":
		p.line("    ", p.dim.paint("("+c.note+")"))
	case c.form == formNoted:
		p.line(label(c.label(), column), c.note, remark)
	case c.form == formRelisted:
		p.line(label(c.label(), column), c.relisting("-", p.whole, func(text string, added bool) string {
			if added {
				return p.create.paint(Safe(text))
			}
			return p.remove.paint(Safe(text))
		}), remark)
	case c.form == formAdded && !c.after.list && strings.Contains(c.after.text, "\n"):
		p.line(label(c.label(), 0), remark)
		p.lines(p.addedLines(c.after.text), firstLines)
	case c.form == formAdded:
		p.line(label(c.label(), column), c.after.inline(p.whole), remark)
	case c.form == formEdited:
		arrow := ""
		if c.before.missing != "" {
			arrow = " " + c.before.missing + " ->"
		} else if c.after.missing != "" {
			arrow = " -> " + c.after.missing
		}
		p.line(label(c.label(), 0), arrow, remark)
		p.lines(difference(c.before.text, c.after.text, p.whole), differLines)
	case c.form == formReplaced:
		p.line(label(c.label(), column), p.value(&c.before, p.remove), " -> ", p.value(&c.after, p.create), remark)
	}
}

func (p *printer) value(v *value, color style) string {
	if v.missing != "" {
		return v.missing
	}
	return color.paint(v.inline(p.whole))
}

// keptFields shows the fields that keep their values on the service, by object. It returns the number of objects that it left out.
func (p *printer) keptFields(blocks *blocks, list []keptField) (omitted int) {
	objects := gather(list, 1, func(k keptField) (resource.Address, bool) { return k.address, true })
	for i, fields := range objects {
		switch i {
		case 0:
			blocks.title = keptTitle
		case usualEntries:
			if !p.whole {
				return len(objects) - i
			}
		}
		blocks.add(func() {
			p.line(p.heading("=", p.dim, string(fields[0].address)))
			for i := range fields {
				p.keptField(&fields[i])
			}
		})
	}
	return 0
}

func (p *printer) keptField(k *keptField) {
	why := "kept, " + Safe(k.remark)
	if k.form == formEdited {
		p.line(label(k.label(), 0), " ", p.dim.paint("("+why+"; "+k.differs+" by:)"))
		p.lines(difference(k.before.text, k.after.text, p.whole), differLines)
		return
	}
	why += "; " + k.says + " " + k.after.inline(p.whole)
	p.line(label(k.label(), max(labelColumn, width(k.label())+1)+1), k.before.inline(p.whole), "     ", p.dim.paint("("+why+")"))
}

// lines shows the first lines of a text or a difference, and counts the rest. With --full it shows all lines.
func (p *printer) lines(lines []line, most int) {
	colors := map[byte]style{'+': p.create, '-': p.remove}
	for i, l := range lines {
		switch {
		case i == most && len(lines) > most+1 && !p.whole: // one more line takes no more space than the remark that it is missing
			p.line("      ", p.dim.paint("… "+moreLines(lines[most:])))
			return
		case l.sign == gap:
			p.line("      ", p.dim.paint("…"))
		case l.sign == '~':
			p.line("      ", p.update.paint("~"), " ", p.edits(l.edits))
		case l.sign == ' ' && l.text == "":
			p.line()
		default:
			p.line("      ", colors[l.sign].paint(strings.TrimRight(string(l.sign)+" "+Safe(l.text), " ")))
		}
	}
}

// edits returns a changed line with its removed words as [-old-] and its added words as {+new+}.
func (pl *palette) edits(edits []edit) string {
	var b strings.Builder
	for _, e := range edits {
		b.WriteString(Safe(e.Same))
		if e.Old != "" {
			b.WriteString(pl.remove.paint("[-" + Safe(e.Old) + "-]"))
		}
		if e.Added != "" {
			b.WriteString(pl.create.paint("{+" + Safe(e.Added) + "+}"))
		}
	}
	return b.String()
}

// moreLines returns a remark with the number of lines that are not shown, and the number of changes in them.
func moreLines(lines []line) string {
	changes, added := 0, 0
	for _, l := range lines {
		if l.sign != ' ' && l.sign != gap {
			changes++
		}
		if l.sign == '+' {
			added++
		}
	}
	text := diag.Count(len(lines), "more line")
	if changes > 0 && added < len(lines) {
		text += ", " + strconv.Itoa(changes) + " of them changed; --full shows all"
	}
	return text
}

// addedLines returns the lines of a new text as added. Without --full long lines are cut.
func (p *printer) addedLines(text string) []line {
	texts := splitLines(text)
	lines := make([]line, len(texts))
	for i, t := range texts {
		if !p.whole {
			t = diag.Truncate(t, lineText)
		}
		lines[i] = line{sign: '+', text: t}
	}
	return lines
}
