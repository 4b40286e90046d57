package view

import (
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/planfile"
)

// format is a form of output: how a plan looks in it, and the findings on standard error. Each has a file of its own.
type format interface {
	plan(v *View, d *planfile.Document) error
	findings(p *printer, list diag.List)
}

// namedFormat is a format under the name that --output has for it.
type namedFormat struct {
	name string
	format
}

func formats() []namedFormat {
	return []namedFormat{
		{"text", textFormat{}},
		{"json", jsonFormat{}},
		{"markdown", markdownFormat{}},
		{"html", htmlFormat{}},
		{"github", githubFormat{}},
	}
}

// Formats are the names of the formats that a plan is shown in.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// formatOf is the format of a name, or text.
func formatOf(name string) format {
	for _, f := range formats() {
		if f.name == name {
			return f.format
		}
	}
	return textFormat{}
}

// Plan shows a plan, fresh or saved, on standard output in the format of the options.
func (v *View) Plan(d *planfile.Document) error { return v.format.plan(v, d) }
