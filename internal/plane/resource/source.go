package resource

import (
	"cmp"

	"github.com/planform/planform/internal/text/diag"
)

// Source is the service and workspace to which the IDs and readable identifiers of a manifest belong. They have no meaning in another
// workspace.
type Source struct {
	BaseURL   string `json:"base_url"`
	Workspace string `json:"workspace"`
}

// String returns the source in words.
func (s Source) String() string { return "the workspace " + s.Workspace + " of " + s.BaseURL }

// Origin identifies an object in the workspace from which its manifest comes.
type Origin struct {
	Source
	ID         string `json:"id,omitempty"`         // "" = unknown
	Identifier string `json:"identifier,omitempty"` // readable, such as WEB-7
}

// Is reports whether both identify the same object. IDs are unique for every service; an identifier is unique within its workspace.
func (og *Origin) Is(other *Origin) bool {
	switch {
	case og == nil || other == nil:
		return false
	case og.ID != "" && other.ID != "":
		return og.ID == other.ID
	default:
		return og.Identifier != "" && og.Identifier == other.Identifier && og.Source == other.Source
	}
}

// Next returns the origin to store when a manifest gives another one. If several workspaces have the object, such as a label of the same
// name, the first one stays.
func (og *Origin) Next(given *Origin) *Origin {
	if given == nil || og != nil && og.Source != given.Source && !og.Is(given) {
		return og
	}
	if og.Is(given) { // one export may contain less than another
		return &Origin{Source: given.Source, ID: cmp.Or(given.ID, og.ID), Identifier: cmp.Or(given.Identifier, og.Identifier)}
	}
	return given
}

// String returns the object in words.
func (og *Origin) String() string { return cmp.Or(og.Identifier, og.ID) + " of " + og.Source.String() }

// Omission is a reference that is left out, such as the identifier of a work item that exists only in the manifest's source.
type Omission struct {
	Field    *Field
	Text     string // as written
	Why      string
	Position diag.Position
}

// Numbered reports whether the service numbers objects of the kind, such as WEB-7. Like IDs, such identifiers are not chosen by people.
func (k *Kind) Numbered() bool { return k.Identifier != nil && k.Identifier.APIName == "" }
