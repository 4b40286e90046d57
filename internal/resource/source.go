package resource

import (
	"cmp"

	"github.com/planform/planform/internal/diag"
)

// Source is the service and workspace of the IDs and readable identifiers in a manifest.
// They mean nothing in another one.
type Source struct {
	BaseURL   string `json:"base_url"`
	Workspace string `json:"workspace"`
}

// String names the source for people.
func (s Source) String() string { return "the workspace " + s.Workspace + " of " + s.BaseURL }

// Origin is what an object is in the workspace that its manifest comes from.
type Origin struct {
	Source
	ID         string `json:"id,omitempty"`         // "" = the manifest does not say
	Identifier string `json:"identifier,omitempty"` // readable, such as WEB-7
}

// Is reports whether both are the same object. IDs are unique whatever address a service has; an identifier is one within
// its workspace.
func (o *Origin) Is(other *Origin) bool {
	switch {
	case o == nil || other == nil:
		return false
	case o.ID != "" && other.ID != "":
		return o.ID == other.ID
	default:
		return o.Identifier != "" && o.Identifier == other.Identifier && o.Source == other.Source
	}
}

// Next is what is known of an object's origin once a manifest gives another. Where several workspaces have the object,
// such as a label of one name, the first one stays.
func (o *Origin) Next(given *Origin) *Origin {
	if given == nil || o != nil && o.Source != given.Source && !o.Is(given) {
		return o
	}
	if o.Is(given) { // one export may say less than another
		return &Origin{Source: given.Source, ID: cmp.Or(given.ID, o.ID), Identifier: cmp.Or(given.Identifier, o.Identifier)}
	}
	return given
}

// String names the object for people.
func (o *Origin) String() string { return cmp.Or(o.Identifier, o.ID) + " of " + o.Source.String() }

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
