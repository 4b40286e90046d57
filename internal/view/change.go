package view

import (
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

// bare reports whether a field's values are shown without quotation marks: those
// that are names and words of a small language, not text.
func bare(f *resource.Field) bool {
	if f == nil {
		return false
	}
	switch f.Type {
	case resource.Text, resource.LongText, resource.Markdown, resource.HTML, resource.File:
		return false
	case resource.Date, resource.Enum, resource.Color, resource.URL, resource.Number, resource.Boolean,
		resource.JSON, resource.Ref, resource.RefSet:
		return true
	default:
		return false
	}
}

func fieldOf(s *planner.Step, path string) *resource.Field {
	if s.Kind == nil {
		return nil
	}
	f, _ := s.Kind.Field(path)
	return f
}

// isMark reports whether a change is about planform's mark, of which people need not know more.
func isMark(s *planner.Step, c *planner.Change) bool {
	return c.Path == "external_id" && s.Kind != nil && fieldOf(s, c.Path) == nil
}

// isList reports whether the values of a field are lists, an element a line.
func isList(f *resource.Field) bool { return f != nil && f.Type == resource.RefSet }

// flat is a value with its elements on one line, if it is a list.
func flat(f *resource.Field, text string) string {
	if isList(f) {
		return strings.ReplaceAll(text, "\n", ", ")
	}
	return text
}

// long reports whether a value is worth lines of its own.
func long(f *resource.Field, text *string) bool {
	return text != nil && (utf8.RuneCountInString(flat(f, *text)) > longText || strings.Contains(flat(f, *text), "\n"))
}

// inline shows a value on the line that it stands in.
func inline(f *resource.Field, text string) string {
	text = flat(f, text)
	shown := diag.Truncate(text, inlineText)
	cut := len(shown) != len(text)
	if bare(f) {
		shown = Safe(shown)
	} else {
		shown = quote(shown)
	}
	if cut {
		shown += " (" + diag.Count(utf8.RuneCountInString(text), "character") + ")"
	}
	return shown
}

// label starts a line of a field.
func (p *printer) label(name string, column int) {
	p.str("    ")
	p.safe(name)
	p.str(":")
	p.str(blanks(column - width(name) - 1))
}

// change shows one field that a step makes different.
func (p *printer) change(s *planner.Step, c *planner.Change, column int) {
	f := fieldOf(s, c.Path)
	create := s.Action == planner.Create
	switch {
	case isMark(s, c):
		p.str("    ")
		p.paint(p.dim, "(its mark on the service follows its key)")
		p.nl()
	case create && c.After == nil:
		return // nothing is what a new thing starts with
	case create && !isList(f) && strings.Contains(strings.TrimSuffix(*c.After, "\n"), "\n"):
		p.label(c.Path, 0)
		p.marks(s, f, c)
		p.nl()
		p.lines(added(*c.After), firstLines)
	case create:
		p.label(c.Path, column)
		p.str(inline(f, strings.TrimSuffix(*c.After, "\n")))
		p.marks(s, f, c)
		p.nl()
	case long(f, c.Before) || long(f, c.After):
		p.label(c.Path, 0)
		if c.Before == nil {
			p.str(" " + nothing(f, c) + " ->")
		} else if c.After == nil {
			p.str(" -> (none)")
		}
		p.marks(s, f, c)
		p.nl()
		p.lines(difference(c.Before, c.After), differLines)
	default:
		p.label(c.Path, column)
		if c.Before == nil {
			p.str(nothing(f, c))
		} else {
			p.paint(p.remove, inline(f, *c.Before))
		}
		p.str(" -> ")
		if c.After == nil {
			p.str("(none)")
		} else {
			p.paint(p.create, inline(f, *c.After))
		}
		p.marks(s, f, c)
		p.nl()
	}
}

// nothing is what stands for a value that is not there or that nobody could see.
func nothing(f *resource.Field, c *planner.Change) string {
	if c.Origin == planner.NotRefreshed || f != nil && f.WriteOnly {
		return "(unknown)"
	}
	return "(none)"
}

// marks says behind a change why it differs and what is in its way.
func (p *printer) marks(s *planner.Step, f *resource.Field, c *planner.Change) {
	mark := func(text string) {
		p.str("     ")
		p.paint(p.dim, text)
	}
	switch c.Origin {
	case planner.FromDrift:
		mark("(changed on the service since the last apply" + Safe(blame(c)) + ")")
	case planner.NotRefreshed:
		mark("(not refreshed)")
	case planner.Overwritten:
		mark("(overwrites the service's value)")
	case planner.FromManifest:
	}
	if c.Possible || s.Action == planner.NotPossible || s.Action == planner.Create {
		return
	}
	if f != nil && f.Immutable {
		mark("(cannot be changed after creation)")
	} else {
		mark("(the service cannot change this)")
	}
}

// blame says who changed a field on the service, and when, as far as that is known.
func blame(c *planner.Change) string {
	text := ""
	if c.By != "" {
		text += " by " + c.By
	}
	if at, err := time.Parse(time.RFC3339, c.At); err == nil {
		text += at.UTC().Format(", 2006-01-02 15:04 UTC")
	}
	return text
}

// kept shows the fields that are left as somebody changed them on the service.
func (p *printer) kept(plan *planner.Plan) {
	var last *resource.Object
	for _, d := range plan.Drift {
		if !d.Kept {
			continue
		}
		if d.Object != last {
			p.head("=", p.dim, string(d.Object.Address))
			p.nl()
		}
		last = d.Object
		f, _ := d.Object.Kind.Field(d.Change.Path)
		side := func(text *string) string {
			if text == nil {
				return "(none)"
			}
			return inline(f, *text)
		}
		why := "kept, changed on the service since the last apply" + Safe(blame(d.Change))
		if c := d.Change; long(f, c.Before) || long(f, c.After) {
			p.label(c.Path, 0)
			p.str(" ")
			p.paint(p.dim, "("+why+"; the manifest differs by:)")
			p.nl()
			p.lines(difference(c.Before, c.After), differLines)
			continue
		}
		p.label(d.Change.Path, max(labelColumn, width(d.Change.Path)+1)+1)
		p.str(side(d.Change.Before) + "     ")
		p.paint(p.dim, "("+why+"; the manifest says "+side(d.Change.After)+")")
		p.nl()
	}
}

// lines shows the lines of a text or a difference, so many of them at most.
func (p *printer) lines(lines []line, most int) {
	for i, l := range lines {
		if i == most && len(lines) > most+1 { // one more line takes no more place than saying so
			p.str("      ")
			p.paint(p.dim, "… "+diag.Count(len(lines)-most, "more line"))
			p.nl()
			return
		}
		if l.text != "" || l.sign != ' ' {
			p.str("      ")
		}
		switch l.sign {
		case '+':
			p.paint(p.create, strings.TrimRight("+ "+Safe(l.text), " "))
		case '-':
			p.paint(p.remove, strings.TrimRight("- "+Safe(l.text), " "))
		case gap:
			p.paint(p.dim, "…")
		default:
			p.str(strings.TrimRight("  "+Safe(l.text), " "))
		}
		p.nl()
	}
}
