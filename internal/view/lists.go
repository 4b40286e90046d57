package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// keptField is a field that keeps its value on the service. before is the kept value, and after is the value that says introduces.
type keptField struct {
	change

	says, differs string // words about the manifest, or about the values before the undone runs
	address       resource.Address
}

func (s *shownPlan) keptFields() []keptField {
	all := make([]keptField, len(s.Kept))
	for i := range s.Kept {
		k := &s.Kept[i]
		kind, _ := resource.Lookup(k.Address.Kind())
		says, differs := "the manifest says", "the manifest differs"
		if len(s.Options.Undo) > 0 {
			says, differs = "before the run it was", "before the run it differed"
		}
		if all[i] = (keptField{s.newChange(kind, planner.Update, &k.Change), says, differs, k.Address}); k.Change.Origin != string(planner.FromDrift) {
			all[i].remark = "since the object is archived"
		}
	}
	return all
}

// list holds sentences about a plan besides its steps, such as its notices, under a title.
type list struct {
	title     string
	sentences [][]span
}

// span is a part of a sentence: plain words or code.
type span struct {
	text string
	code bool // the text is an address, a value or another name
}

// lists returns the notices of a plan, its parts that were not compared, its kept fields and its changes of the state. If whole
// is false, long values are cut.
func (s *shownPlan) lists(whole bool) (notices, unseen, kept, stateChanges list) {
	for _, same := range equalFindings(s.Notices) {
		n := same[0]
		text, begin, end := []span{{text: n.Severity.String() + ": " + diag.Together(same)}}, " (", ")"
		if len(same) > 1 {
			begin += strconv.Itoa(len(same)) + " times: "
		}
		var places []span
		for _, n := range same {
			if !n.Position.IsZero() && len(places) < 2*fewPlaces {
				places = append(places, span{text: ", "}, span{n.Position.String(), true})
			}
		}
		if len(places) > 0 {
			if more := len(same) - fewPlaces; more > 0 {
				end = fmt.Sprintf(" and %d more)", more)
			}
			text = append(append(append(text, span{text: begin}), places[1:]...), span{text: end})
		}
		if n.Hint != "" {
			text = append(text, span{text: "; " + n.Hint})
		}
		notices.sentences = append(notices.sentences, text)
	}
	for _, n := range s.NotCompared {
		text := []span{{text: n.What + ": " + n.Why}}
		if n.Hint != "" {
			text = append(text, span{text: "; " + n.Hint})
		}
		for i, a := range n.Addresses {
			text = append(text, span{text: []string{": ", ", "}[min(i, 1)]}, span{string(a), true})
		}
		if more := n.Count - len(n.Addresses); more > 0 {
			text = append(text, span{text: fmt.Sprintf(" and %d more", more)})
		}
		unseen.sentences = append(unseen.sentences, text)
	}
	for _, k := range s.keptFields() {
		said := span{text: ", " + k.remark + "; " + k.says + " "}
		kept.sentences = append(kept.sentences, []span{
			{string(k.address), true}, {text: ": "}, {k.label(), true}, {text: " "}, k.before.span(whole), said, k.after.span(whole),
		})
	}
	for _, c := range s.shownStateChanges() {
		stateChanges.sentences = append(stateChanges.sentences, []span{{string(c.From), true}, {text: ": " + c.Why}})
	}
	notices.title, unseen.title, kept.title, stateChanges.title = "Notices", "Not compared", keptTitle, stateChangesTitle
	return notices, unseen, kept, stateChanges
}

// texts returns the sentences of a list as texts. form formats each span.
func (ls list) texts(form func(span) string) []string {
	all := make([]string, len(ls.sentences))
	for i, spans := range ls.sentences {
		var text strings.Builder
		for _, s := range spans {
			text.WriteString(form(s))
		}
		all[i] = text.String()
	}
	return all
}

// shownStateChanges returns the changes of the state that are shown. What is in an object with a new address moves along, and is only counted.
func (s *shownPlan) shownStateChanges() []planfile.StateChange {
	return slices.DeleteFunc(slices.Clone(s.StateChanges), func(c planfile.StateChange) bool { return c.Why == "" })
}

func (vl *value) span(whole bool) span { return span{vl.inline(whole), vl.missing == ""} }

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
