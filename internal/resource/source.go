package resource

import "github.com/planform/planform/internal/diag"

// Source is the service and workspace that the IDs and readable identifiers in a
// manifest belong to. They mean nothing in another one.
type Source struct{ BaseURL, Workspace string }

// String names the source for people.
func (s Source) String() string { return "the workspace " + s.Workspace + " of " + s.BaseURL }

// Omission is a reference that is left out, such as the identifier of a work item
// that exists in the manifest's source only.
type Omission struct {
	Field    *Field
	Text     string // as written
	Why      string
	Position diag.Position
}

// IsForeign reports whether the object's ID or identifier, if it had one, belongs to another
// service or workspace than the one that the manifest goes to.
func (o *Object) IsForeign() bool { return o.Source != nil }

// Numbered reports whether the service numbers things of the kind, such as WEB-7:
// their readable identifiers are as little chosen by people as their IDs.
func (k *Kind) Numbered() bool { return k.Identifier != nil && k.Identifier.APIName == "" }
