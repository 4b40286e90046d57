package resource

import (
	"slices"
	"strings"
	"unicode"
)

// Names maps texts to the objects of one kind in one container, and back to a unique text, for plans, runs and exports alike. The zero
// value is empty.
type Names struct {
	by       [anyCase + 1]map[string][]string // IDs by text
	nameless bool                             // names on the service do not identify objects of the kind, because several may share one
}

// Naming is a way in which a text can name an object. Earlier ways take precedence.
type Naming int8

// Keys and names of the manifest take precedence over names of the service, and exact names over names in another case.
const (
	ByKey Naming = iota
	ByManifest
	ByIdentifier
	ByService
	anyCase
)

// mostNamesakes limits the stored objects with one name: an error names no more.
const mostNamesakes = 10

// Add records that a text names an object. An empty text is ignored.
func (n *Names) Add(way Naming, text, id string) {
	if text = strings.TrimSpace(text); text == "" || id == "" {
		return
	}
	if n.by[way] == nil {
		n.by[way] = map[string][]string{}
	}
	// A list that changes while its pages are read shows a row twice.
	if ids := n.by[way][text]; len(ids) < mostNamesakes && !slices.Contains(ids, id) {
		n.by[way][text] = append(ids, id)
	}
	if way == ByService {
		n.Add(anyCase, strings.ToLower(text), id)
	}
}

// AddRow records the names of a row: its readable identifier in the given project, and its display texts.
func (n *Names) AddRow(k *Kind, row Row, project string) {
	n.Add(ByIdentifier, strings.ToUpper(k.ReadableID(row, project)), row.ID())
	n.nameless = k.AdoptOnRequestOnly
	for _, text := range k.DisplayTexts(row) {
		n.Add(ByService, text, row.ID())
	}
}

// Named returns the IDs of the objects that a text names. Several IDs mean that the text is ambiguous.
func (n *Names) Named(text string) []string {
	text = strings.TrimSpace(text)
	for way, ids := range n.by {
		if n.nameless && Naming(way) == ByService {
			return nil
		}
		if Naming(way) == anyCase {
			text = strings.ToLower(text)
		}
		if found := ids[text]; len(found) > 0 {
			return found
		}
	}
	return nil
}

// InAnyCase returns the IDs of the objects that the service names by a text, in any case.
func (n *Names) InAnyCase(text string) []string {
	return n.by[anyCase][strings.ToLower(strings.TrimSpace(text))]
}

// Text returns the first of the texts that names only the object with the ID, and that a manifest can contain; "" = none.
func (n *Names) Text(id string, texts ...string) string {
	for _, text := range texts {
		if text == "" || IsID(text) || text == Me || strings.ContainsFunc(text, unicode.IsControl) {
			continue
		}
		if meant := n.Named(text); len(meant) == 1 && meant[0] == id {
			return text
		}
	}
	return ""
}
