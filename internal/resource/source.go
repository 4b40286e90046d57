package resource

import "github.com/planform/planform/internal/diag"

// Source is the service and workspace of the IDs and readable identifiers in a manifest.
// They mean nothing in another one.
type Source struct{ BaseURL, Workspace string }

// String names the source for people.
func (s Source) String() string { return "the workspace " + s.Workspace + " of " + s.BaseURL }

// Omission is a reference that is left out, such as the identifier of a work item that
// exists only in the manifest's source.
type Omission struct {
	Field    *Field
	Text     string // as written
	Why      string
	Position diag.Position
}

// IsForeign reports whether the object's ID or identifier, if any, belongs to another
// service or workspace than the manifest's target.
func (o *Object) IsForeign() bool { return o.Source != nil }

// Numbered reports whether the service numbers objects of the kind, such as WEB-7. People
// choose these identifiers as little as IDs.
func (k *Kind) Numbered() bool { return k.Identifier != nil && k.Identifier.APIName == "" }
