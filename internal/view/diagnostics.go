package view

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
)

const fewPlaces = 3 // of a warning that are named

// Diagnostics shows findings on standard error, ordered by place; none are not shown.
func (v *View) Diagnostics(list diag.List) {
	if len(list) == 0 {
		return
	}
	list = slices.Clone(list)
	list.Sort()
	v.printError(func(p *printer) { v.format.findings(p, list) })
}

// Validation shows the findings that were asked for: as JSON they go to standard
// output even if there are none, as text they are shown as [View.Diagnostics] does.
func (v *View) Validation(list diag.List) error {
	if !v.json {
		v.Diagnostics(list)
		return nil
	}
	list = slices.Clone(list)
	list.Sort()
	return v.print(stdout, func(p *printer) { p.document(jsonDiagnostics{FormatVersion, list.OrEmpty()}) })
}

// diagnostics shows a list as text, with a line that counts them.
func (p *printer) diagnostics(list diag.List) {
	count := map[diag.Severity]int{}
	for _, same := range equalFindings(list) {
		d, places := same[0], same
		count[d.Severity] += len(same)
		times, summary := "", diag.Together(same)
		if len(same) > 1 {
			if summary == d.Summary {
				times = " (" + strconv.Itoa(len(same)) + " times)"
			}
			if d.Severity != diag.Error && !p.whole { // an error has to be mended in each place
				places = same[:fewPlaces]
			}
		}
		p.line(p.severity(d.Severity), Safe(summary), times)
		for _, d := range places {
			text := cmp.Or(d.Path, d.Address)
			if times == "" && len(same) > 1 {
				_, text, _ = d.Subject()
			}
			p.position(d.Position, text)
		}
		if more := len(same) - len(places); more > 0 {
			p.line("  ", p.dim.paint("-->"), " and ", diag.Count(more, "more place"), "; --output json names all")
		}
		for _, r := range d.Related {
			p.position(r.Position, r.Note)
		}
		p.hint(d.Hint)
	}
	if text := counts(noun(count[diag.Error], "error"), noun(count[diag.Warning], "warning")); text != "" {
		p.line(p.bold.paint(text))
	}
}

// equalFindings gathers findings that say the same of several places, or of several names.
func equalFindings(list diag.List) [][]diag.Diagnostic {
	return gather(list, alikeSteps, diag.Diagnostic.Rule)
}

// severity begins a message.
func (p *palette) severity(s diag.Severity) string {
	switch s {
	case diag.Error:
		return p.failure.paint("error:") + " "
	case diag.Warning:
		return p.warning.paint("warning:") + " "
	default:
		return p.bold.paint("note:") + " "
	}
}

// position shows a position and what stands there, whichever of them there is.
func (p *printer) position(at diag.Position, text string) {
	switch {
	case !at.IsZero() && text != "":
		p.line("  ", p.dim.paint("-->"), " ", Safe(at.String()), "  ", Safe(text))
	case !at.IsZero():
		p.line("  ", p.dim.paint("-->"), " ", Safe(at.String()))
	case text != "":
		p.line("  ", p.dim.paint("-->"), " ", Safe(text))
	}
}

func (p *printer) hint(text string) {
	if text != "" {
		p.line("  ", Safe(text))
	}
}

// Error shows an error on standard error, with its hint ([diag.HintOf]) and, to programs, its code. The
// findings that an error holds ([diag.ListError]) are shown one by one.
func (v *View) Error(code string, err error) {
	if list, ok := errors.AsType[diag.ListError](err); ok {
		v.Diagnostics(list.List)
		return
	}
	if v.json {
		v.Diagnostics(diag.List{{Severity: diag.Error, Code: code, Summary: diag.PlainText(err), Hint: diag.HintOf(err)}})
		return
	}
	v.printError(func(p *printer) { p.error(p.severity(diag.Error), err, diag.Position{}) })
}

// error shows what an error says behind a beginning, further lines indented, where it is, and its hint.
func (p *printer) error(beginning string, err error, at diag.Position) {
	for l := range strings.SplitSeq(strings.TrimSpace(diag.PlainText(err)), "\n") {
		p.line(beginning, Safe(strings.TrimRight(l, " \t\r")))
		beginning = "    "
	}
	p.position(at, "")
	p.hint(diag.HintOf(err))
}
