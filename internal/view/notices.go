package view

import (
	"fmt"
	"strconv"

	"github.com/planform/planform/internal/text/diag"
)

const fewPeople = 8 // people who are named with their notices

// notices returns sentences with the number of notices and their receivers, or "".
func (s *shownPlan) notices() string {
	n := s.Summary.Notices
	if n == nil {
		return ""
	}
	items := "this work item"
	if n.Items != 1 {
		items = "these " + diag.Count(n.Items, "work item")
	}
	text := "Notifies the people who follow " + items + "; the service does not show who they are."
	if n.People > 0 {
		names := make([]string, len(n.Known))
		for i, person := range n.Known {
			names[i] = Safe(person.Name) + " " + strconv.Itoa(person.Notices)
		}
		text = fmt.Sprintf("Notifies at least %s (%s, up to %s): %s", diag.Count(n.People, "person"), diag.Count(n.Notices, "notice"),
			diag.Count(n.Mails, "e-mail"), diag.First(names, fewPeople))
		if n.Items > 0 {
			text += "; and whoever else follows " + items
		}
		text += "."
	}
	return text + " Comments, links, cycles and new items notify nobody."
}
