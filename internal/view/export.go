package view

import (
	"fmt"
	"strings"

	"github.com/planform/planform/internal/sync/export"
	"github.com/planform/planform/internal/text/diag"
)

// Export is the summary of an export, as text and as JSON.
type Export struct {
	Workspace string            `json:"workspace"`
	Directory string            `json:"directory"`
	Files     []string          `json:"files"`
	State     string            `json:"state"`
	Counts    []export.Count    `json:"counts"`
	NotRead   []export.Count    `json:"not_read"` // kinds that were not read, with the number of requests to read each
	LeftOut   []export.Omission `json:"left_out"`
	Requests  int               `json:"requests"`
}

// Export shows the summary of an export on standard output.
func (v *View) Export(e Export) error {
	if v.json {
		e.Counts, e.NotRead, e.LeftOut = diag.OrEmpty(e.Counts), diag.OrEmpty(e.NotRead), diag.OrEmpty(e.LeftOut)
		return v.JSON(struct {
			FormatVersion int `json:"format_version"`
			Export
		}{FormatVersion, e})
	}
	return v.print(stdout, func(p *printer) { p.export(&e) })
}

func (p *printer) export(e *Export) {
	p.line(p.bold.paint("Exported"), Safe(fmt.Sprintf(" %s to %s: %s, with the state in %s. %s.",
		e.Workspace, e.Directory, diag.Count(len(e.Files), "file"), e.State, diag.Count(e.Requests, "request"))))
	for _, c := range e.Counts {
		p.line(fmt.Sprintf("  %-20s %6d", strings.ReplaceAll(c.Name, "_", " "), c.Number))
	}
	if len(e.NotRead) == 0 {
		return
	}
	var names []string
	most, at := 0, "at"
	for _, c := range e.NotRead {
		names, most = append(names, c.Name), max(most, c.Number)
		if c.Number != e.NotRead[0].Number {
			at = "at most"
		}
	}
	p.line(fmt.Sprintf("Not exported: %s, %s %s each; --with %s exports them.", strings.Join(names, ", "), at, diag.Count(most, "request"),
		strings.Join(names, ",")))
}
