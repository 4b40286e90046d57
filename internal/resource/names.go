package resource

import (
	"slices"
	"strings"
	"unicode"
)

// Names finds what a text means among the objects of one kind in one place, and the text that means one of them alone, for
// plans, runs and exports alike. The zero value has no names.
type Names struct {
	by       [anyCase + 1]map[string][]string // IDs by text
	nameless bool                             // what the service calls a row means nothing: several may bear one name, by right
}

// Naming is a way in which a text names an object. The first way in which it names any is what it means.
type Naming int8

// A manifest's own keys and names come before those of the service. Names of the service are taken as they are written, or
// else, where nothing bears that name, in any case.
const (
	ByKey Naming = iota
	ByManifest
	ByIdentifier
	ByService
	anyCase
)

// mostNamesakes is how many objects with one name are kept: as many as an error names.
const mostNamesakes = 10

// Add lets a text name an object. An empty text names nothing.
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

// AddRow adds a row of a list by its readable identifier in the project with that identifier, and by what people call it.
func (n *Names) AddRow(k *Kind, row Row, project string) {
	n.Add(ByIdentifier, strings.ToUpper(k.ReadableID(row, project)), row.ID())
	n.nameless = k.AdoptOnRequestOnly
	for _, text := range k.DisplayTexts(row) {
		n.Add(ByService, text, row.ID())
	}
}

// Named are the IDs of what a text means: of several, it is ambiguous.
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

// InAnyCase are the IDs of what the service calls by a text, in any case.
func (n *Names) InAnyCase(text string) []string {
	return n.by[anyCase][strings.ToLower(strings.TrimSpace(text))]
}

// Text is the first of some texts that means the object with the ID, and no other, and that a manifest can hold; "" = none does.
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
