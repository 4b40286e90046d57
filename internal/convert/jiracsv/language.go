package jiracsv

import (
	"regexp"
	"strings"
)

// language is a language of headers other than English. Columns that it does not translate are read as fields.
type language struct {
	name            string
	words           map[string]string // in lower case -> English
	custom          *regexp.Regexp    // Custom field (...)
	outward, inward *regexp.Regexp    // Outward issue link (...)
}

// spanish has what was seen in exports, and the columns that go with these.
func spanish() language {
	return language{
		name: "Spanish",
		words: map[string]string{
			"resumen": "Summary", "clave de incidencia": "Issue key", "clave de la incidencia": "Issue key", "id de la incidencia": "Issue id", "id de incidencia": "Issue id",
			"tipo de incidencia": "Issue Type", "estado": "Status", "categoría de estado": "Status Category", "prioridad": "Priority", "resolución": "Resolution",
			"clave del proyecto": "Project key", "nombre del proyecto": "Project name", "tipo de proyecto": "Project type", "descripción del proyecto": "Project description",
			"persona asignada": "Assignee", "informador": "Reporter", "creador": "Creator", "observadores": "Watchers", "votos": "Votes",
			"creada": "Created", "actualizada": "Updated", "resuelta": "Resolved", "fecha de vencimiento": "Due date", "última visualización": "Last Viewed",
			"etiquetas": "Labels", "componentes": "Components", "descripción": "Description", "entorno": "Environment", //nolint:misspell // Spanish
			"adjunto": "Attachment", "comentario": "Comment", "principal": "Parent", "clave principal": "Parent key", "id principal": "Parent id",
		},
		custom:  regexp.MustCompile(`(?i)^campo personalizado \((.*)$`),
		outward: regexp.MustCompile(`(?i)^enlace de incidencia saliente (\(.*\))$`),
		inward:  regexp.MustCompile(`(?i)^enlace de incidencia entrante (\(.*\))$`),
	}
}

var idColumn = regexp.MustCompile(`(?i)\bid\b`)

// english is a header in English, and the language that it was in if that is another one. The language is known by its words for
// Issue key and Summary; some columns stay English in every language.
func english(header []string) (translated []string, name string) {
	l := spanish()
	translated = make([]string, len(header))
	key, summary := false, false
	for i, cell := range header {
		word := l.words[strings.ToLower(cell)]
		key, summary = key || word == "Issue key", summary || word == "Summary"
		switch {
		case word != "":
			translated[i] = word
		case l.custom.MatchString(cell):
			translated[i] = "Custom field (" + l.custom.FindStringSubmatch(cell)[1]
		case l.outward.MatchString(cell):
			translated[i] = "Outward issue link " + l.outward.FindStringSubmatch(cell)[1]
		case l.inward.MatchString(cell):
			translated[i] = "Inward issue link " + l.inward.FindStringSubmatch(cell)[1]
		case i > 0 && is(translated[i-1], "Assignee", "Reporter", "Creator", "Watchers") && idColumn.MatchString(cell):
			translated[i] = translated[i-1] + " Id" // it stands beside the name
		default:
			translated[i] = cell
		}
	}
	if !key || !summary {
		return header, ""
	}
	return translated, l.name
}
