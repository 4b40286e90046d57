package view

import (
	"fmt"
	"strings"

	"github.com/planform/planform/internal/planfile"
)

// where stands over a plan.
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
	noun := "manifest"
	if len(w.Manifests) > 1 {
		noun = "manifests"
	}
	p.line(Safe(noun+" "+firstFew(w.Manifests)+"; state "+w.State), "\n")
}

// firstFew names the first few of a list.
func firstFew(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
