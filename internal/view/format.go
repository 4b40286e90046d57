package view

import (
	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/text/diag"
)

// format is an output format. It writes plans to standard output and findings to standard error; each format has its own file.
type format interface {
	plan(v *View, d *planfile.Document) error
	findings(p *printer, list diag.List)
}

// namedFormat is a format with its name in --output.
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

// Formats returns the names of the formats for plans, as --output takes them.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// formatOf returns the format with the given name, or text.
func formatOf(name string) format {
	for _, f := range formats() {
		if f.name == name {
			return f.format
		}
	}
	return textFormat{}
}

// Plan shows a new or saved plan on standard output, in the format of the options.
func (v *View) Plan(d *planfile.Document) error { return v.format.plan(v, d) }
