package view

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
)

// Diagnostics shows findings on standard error, ordered by place; none are not shown.
func (v *View) Diagnostics(list diag.List) {
	if len(list) == 0 {
		return
	}
	list = slices.Clone(list)
	list.Sort()
	v.tell(func(p *printer) {
		if v.o.JSON {
			p.json(jsonDiagnostics{FormatVersion, diagnostics(list)})
			p.nl()
			return
		}
		p.findings(list)
	})
}

// Validation shows the findings that were asked for: as JSON they go to standard
// output even if there are none, as text they are shown as [View.Diagnostics] does.
func (v *View) Validation(list diag.List) error {
	if !v.o.JSON {
		v.Diagnostics(list)
		return nil
	}
	list = slices.Clone(list)
	list.Sort()
	return v.print(stdout, func(p *printer) {
		p.str("{\n")
		p.member("format_version", FormatVersion)
		p.str(`  "diagnostics": `)
		p.list(len(list), func(i int) any { return diagnostic(&list[i]) })
		p.str("\n}\n")
	})
}

// findings shows a list as text, with a line that counts them.
func (p *printer) findings(list diag.List) {
	problems, warnings := 0, 0
	for i := range list {
		p.finding(&list[i])
		switch list[i].Severity {
		case diag.Error:
			problems++
		case diag.Warning:
			warnings++
		case diag.Note:
		}
	}
	var parts []string
	if problems > 0 {
		parts = append(parts, diag.Count(problems, "error"))
	}
	if warnings > 0 {
		parts = append(parts, diag.Count(warnings, "warning"))
	}
	if len(parts) > 0 {
		p.paint(p.bold, strings.Join(parts, ", "))
		p.nl()
	}
}

func (p *printer) finding(d *diag.Diagnostic) {
	p.severity(d.Severity)
	p.safe(d.Summary)
	p.nl()
	p.place(d.Position, cmp.Or(d.Path, d.Address))
	for _, r := range d.Related {
		p.place(r.Position, r.Note)
	}
	p.hint(d.Hint)
}

func (p *printer) severity(s diag.Severity) {
	switch s {
	case diag.Error:
		p.paint(p.failure, "error:")
	case diag.Warning:
		p.paint(p.warning, "warning:")
	case diag.Note:
		p.paint(p.bold, "note:")
	}
	p.str(" ")
}

// place shows a position and what stands there, whichever of them there is.
func (p *printer) place(at diag.Position, what string) {
	if at.IsZero() && what == "" {
		return
	}
	p.str("  ")
	p.paint(p.dim, "-->")
	if !at.IsZero() {
		p.str(" ")
		p.safe(at.String())
		if what != "" {
			p.str(" ")
		}
	}
	if what != "" {
		p.str(" ")
		p.safe(what)
	}
	p.nl()
}

func (p *printer) hint(text string) {
	if text == "" {
		return
	}
	p.str("  ")
	p.safe(text)
	p.nl()
}

// Error shows an error on standard error, with its hint ([diag.HintOf]). The
// findings that an error holds ([diag.ListError]) are shown one by one.
func (v *View) Error(err error) {
	if list, ok := errors.AsType[diag.ListError](err); ok {
		v.Diagnostics(list.List)
		return
	}
	d := diag.Diagnostic{Severity: diag.Error, Summary: err.Error(), Hint: diag.HintOf(err)}
	v.tell(func(p *printer) {
		if v.o.JSON {
			p.json(jsonDiagnostics{FormatVersion, diagnostics(diag.List{d})})
			p.nl()
			return
		}
		p.severity(diag.Error)
		p.words(d.Summary)
		p.hint(d.Hint)
	})
}

// words shows what an error says: its first line where the cursor stands, further lines indented.
func (p *printer) words(text string) {
	for i, l := range strings.Split(strings.TrimSpace(text), "\n") {
		if i > 0 {
			p.str("    ")
		}
		p.safe(strings.TrimRight(l, " \t\r"))
		p.nl()
	}
}
