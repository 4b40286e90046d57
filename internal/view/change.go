package view

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

const (
	labelColumn  = 10  // values start behind a label of this many characters, its colon included
	longText     = 60  // characters from which a text that changes is shown as a difference of lines
	inlineText   = 100 // characters of a new text that are shown on its line
	firstLines   = 3   // lines of a new text that are shown
	differLines  = 20  // lines of a difference that are shown
	contextLines = 2   // equal lines that are shown around a difference
)

// unquoted reports whether a field's values are shown without quotation marks: those
// that are names and words of a small language, not text.
func unquoted(f *resource.Field) bool {
	if f == nil {
		return false
	}
	switch f.Type {
	case resource.Text, resource.LongText, resource.Markdown, resource.HTML, resource.File, resource.Upload:
		return false
	case resource.Date, resource.Enum, resource.Color, resource.URL, resource.Number, resource.Boolean,
		resource.JSON, resource.Ref, resource.RefSet, resource.CustomFields:
		return true
	default:
		return false
	}
}

// isMark reports whether a change is about planform's mark, of which people need not know more.
func isMark(s *planner.Step, c *planner.Change) bool {
	return c.Path == "external_id" && s.Kind != nil && s.Field(c.Path) == nil
}

// isList reports whether the values of a field are lists, an element a line.
func isList(f *resource.Field) bool { return f != nil && f.Type == resource.RefSet }

// joined is a value with its elements on one line, if it is a list.
func joined(f *resource.Field, text string) string {
	if isList(f) {
		return strings.ReplaceAll(text, "\n", ", ")
	}
	return text
}

// isLong reports whether a value is worth lines of its own.
func isLong(f *resource.Field, text *string) bool {
	return text != nil && (utf8.RuneCountInString(joined(f, *text)) > longText || strings.Contains(joined(f, *text), "\n"))
}

// inline shows a value on the line that it stands in.
func inline(f *resource.Field, text string) string {
	text = joined(f, text)
	shown := diag.Truncate(text, inlineText)
	cut := len(shown) != len(text)
	if unquoted(f) {
		shown = Safe(shown)
	} else {
		shown = quote(shown)
	}
	if cut {
		shown += " (" + diag.Count(utf8.RuneCountInString(text), "character") + ")"
	}
	return shown
}

// inline shows a value on the line that it stands in: whole, if all is asked for.
func (p *printer) inline(f *resource.Field, text string) string {
	switch {
	case !p.whole:
		return inline(f, text)
	case unquoted(f):
		return Safe(joined(f, text))
	default:
		return quote(joined(f, text))
	}
}

// label is the beginning of a line of a field.
func label(name string, column int) string {
	return "    " + Safe(name) + ":" + blanks(column-width(name)-1)
}

// change shows one field that a step makes different.
func (p *printer) change(s *planner.Step, c *planner.Change, column int) {
	f := s.Field(c.Path)
	before, after := absent(f, c), "(none)"
	switch {
	case isMark(s, c):
		p.line("    ", p.dim.paint("(its mark on the service follows its key)"))
	case c.References > 0:
		p.line(label(c.Path, column), diag.Count(c.References, "reference"))
	case s.Action == planner.Create && c.After == nil: // a new object starts without
	case s.Action == planner.Create && !isList(f) && strings.Contains(strings.TrimSuffix(*c.After, "\n"), "\n"):
		p.line(label(c.Path, 0), p.remarks(s, f, c))
		p.lines(p.addedLines(*c.After), firstLines)
	case s.Action == planner.Create:
		p.line(label(c.Path, column), p.inline(f, strings.TrimSuffix(*c.After, "\n")), p.remarks(s, f, c))
	case isLong(f, c.Before) || isLong(f, c.After):
		arrow := ""
		if c.Before == nil {
			arrow = " " + before + " ->"
		} else if c.After == nil {
			arrow = " -> " + after
		}
		lines := difference(c.Before, c.After, p.whole)
		if len(lines) == 0 {
			arrow = " differs in line ends only"
		}
		p.line(label(c.Path, 0), arrow, p.remarks(s, f, c))
		p.lines(lines, differLines)
	default:
		if c.Before != nil {
			before = p.remove.paint(p.inline(f, *c.Before))
		}
		if c.After != nil {
			after = p.create.paint(p.inline(f, *c.After))
		}
		p.line(label(c.Path, column), before, " -> ", after, p.remarks(s, f, c))
	}
}

// absent stands for a value that is not there or that nobody could see.
func absent(f *resource.Field, c *planner.Change) string {
	if c.Origin == planner.NotRefreshed || f != nil && f.WriteOnly {
		return "(unknown)"
	}
	return "(none)"
}

// remarks say behind a change why it differs and why it cannot be made.
func (p *palette) remarks(s *planner.Step, f *resource.Field, c *planner.Change) string {
	remark := func(text string) string { return "     " + p.dim.paint("("+text+")") }
	text := ""
	switch c.Origin {
	case planner.FromDrift:
		text = remark("changed on the service since the last apply" + Safe(changedBy(c)))
	case planner.NotRefreshed:
		text = remark("not refreshed")
	case planner.Overwritten:
		text = remark("overwrites the service's value")
	case planner.FromManifest:
	}
	switch {
	case c.Possible || s.Action == planner.NotPossible || s.Action == planner.Create:
		return text
	case f != nil && f.Immutable:
		return text + remark("cannot be changed after creation")
	default:
		return text + remark("the service cannot change this")
	}
}

// changedBy says who changed a field on the service, and when, as far as that is known.
func changedBy(c *planner.Change) string {
	text := ""
	if c.By != "" {
		text += " by " + c.By
	}
	if at, err := time.Parse(time.RFC3339, c.At); err == nil {
		text += at.UTC().Format(", 2006-01-02 15:04 UTC")
	}
	return text
}

// keptFields shows the fields that are left as somebody changed them on the service, and returns how many objects it leaves out.
func (p *printer) keptFields(plan *planner.Plan, extent Extent) (left int) {
	var last *resource.Object
	shown := 0
	for _, d := range plan.Drift {
		if !d.Kept {
			continue
		}
		first := d.Object != last
		last = d.Object
		switch {
		case extent != Full && shown == usualEntries && first:
			left++
			continue
		case left > 0:
			continue
		case first:
			shown++
			p.line(heading("=", p.dim, string(d.Object.Address)))
		}
		c := d.Change
		f, _ := d.Object.Kind.Field(c.Path)
		value := func(text *string) string {
			if text == nil {
				return "(none)"
			}
			return p.inline(f, *text)
		}
		why := "kept, changed on the service since the last apply" + Safe(changedBy(c))
		if isLong(f, c.Before) || isLong(f, c.After) {
			p.line(label(c.Path, 0), " ", p.dim.paint("("+why+"; the manifest differs by:)"))
			p.lines(difference(c.Before, c.After, p.whole), differLines)
			continue
		}
		p.line(label(c.Path, max(labelColumn, width(c.Path)+1)+1), value(c.Before), "     ", p.dim.paint("("+why+"; the manifest says "+value(c.After)+")"))
	}
	return left
}

// lines shows the lines of a text or a difference, so many of them at most.
func (p *printer) lines(lines []line, most int) {
	colors := map[byte]style{'+': p.create, '-': p.remove}
	for i, l := range lines {
		switch {
		case i == most && len(lines) > most+1 && !p.whole: // one more line takes no more place than saying so
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

// edits shows the words of a line that are taken out and put in.
func (p *palette) edits(edits []edit) string {
	var b strings.Builder
	for _, e := range edits {
		b.WriteString(Safe(e.same))
		if e.old != "" {
			b.WriteString(p.remove.paint("[-" + Safe(e.old) + "-]"))
		}
		if e.added != "" {
			b.WriteString(p.create.paint("{+" + Safe(e.added) + "+}"))
		}
	}
	return b.String()
}

// moreLines says how many lines are not shown, and how many of them are changes.
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
