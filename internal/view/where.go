package view

import (
	"fmt"
	"strings"
)

// Where says where a plan goes, and what it is made from.
type Where struct {
	Service   string // base URL
	Workspace string
	User      string // whom the credential belongs to; "" = not known
	Sandbox   string // the sandbox's file; "" = it is a real service
	Manifests []string
	State     string
}

// String is the place as a question names it.
func (w Where) String() string {
	if w.Sandbox != "" {
		return "the workspace " + w.Workspace + " of the sandbox"
	}
	return fmt.Sprintf("the workspace %s at %s", w.Workspace, w.Service)
}

// where stands over a plan.
func (p *printer) where(w Where) {
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
