package view

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/text/diag"
)

const fewPlaces = 3 // places of a warning that are listed

// Diagnostics shows findings on standard error, ordered by place. It writes nothing for an empty list.
func (v *View) Diagnostics(list diag.List) {
	if len(list) == 0 {
		return
	}
	list = slices.Clone(list)
	list.Sort()
	v.printError(func(p *printer) {
		v.findings = append(v.findings, list...)
		v.format.findings(p, list)
	})
}

// Validation shows the findings of a validation. As JSON they go to standard output,
// also an empty list; as text they go to standard error, like those of [View.Diagnostics].
func (v *View) Validation(list diag.List) error {
	if !v.json {
		v.Diagnostics(list)
		return nil
	}
	list = slices.Clone(list)
	list.Sort()
	return v.print(stdout, func(p *printer) { p.document(jsonDiagnostics{FormatVersion, list.OrEmpty()}) })
}

// diagnostics shows findings as text and then counts the errors and warnings in one line.
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
			if d.Severity != diag.Error && !p.whole { // an error has to be corrected in each place
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
			note, at := strings.CutSuffix(r.Note, " at")
			if at {
				note += " here"
			}
			p.position(r.Position, note)
		}
		p.hint(d.Hint)
	}
	if text := counts(noun(count[diag.Error], "error"), noun(count[diag.Warning], "warning")); text != "" {
		p.line(p.bold.paint(text))
	}
}

// equalFindings groups findings that say the same about several places or several names.
func equalFindings(list diag.List) [][]diag.Diagnostic {
	return gather(list, alikeSteps, diag.Diagnostic.Rule)
}

// severity returns the word that begins a message, such as "error: ".
func (pl *palette) severity(s diag.Severity) string {
	switch s {
	case diag.Error:
		return pl.failure.paint("error:") + " "
	case diag.Warning:
		return pl.warning.paint("warning:") + " "
	default:
		return pl.bold.paint("note:") + " "
	}
}

// position shows a position in a file and a text about it. Either may be empty.
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

// Error shows an error on standard error, with its hint ([diag.HintOf]) and, as JSON, its code. If the
// error holds a list of findings ([diag.ListError]), it shows each finding.
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

// error shows the text of an error after the given beginning, then the position and the hint. Further lines of the text are indented.
func (p *printer) error(beginning string, err error, at diag.Position) {
	for l := range strings.SplitSeq(strings.TrimSpace(diag.PlainText(err)), "\n") {
		p.line(beginning, Safe(strings.TrimRight(l, " \t\r")))
		beginning = "    "
	}
	p.position(at, "")
	p.hint(diag.HintOf(err))
}
