package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/planner"
)

// tally counts the steps of a plan: a row for each kind in each project, a column for each action that there is.
type tally struct {
	columns []string
	rows    []tallyRow
}

type tallyRow struct {
	project, kind string
	counts        []string // "" = none
}

func newTally(plan *planner.Plan) tally {
	type row struct{ project, kind string }
	actions := []planner.Action{planner.Create, planner.Update, planner.Adopt, planner.Delete, planner.AddMembers, planner.RemoveMembers, planner.NotPossible}
	counted, used := map[row]map[planner.Action]int{}, map[planner.Action]bool{}
	for _, s := range plan.Steps {
		if s.Continues {
			continue
		}
		r, n := row{project: projectOf(s)}, 1
		if s.Kind != nil {
			r.kind = s.Kind.Noun()
		}
		if s.Members != nil {
			r.kind, n = memberNoun(s)+" of "+strings.ReplaceAll(s.Members.Container.Address.Kind(), "_", " "), memberCount(s)
		}
		if counted[r] == nil {
			counted[r] = map[planner.Action]int{}
		}
		counted[r][shownAction(s)] += n
		used[shownAction(s)] = true
	}
	var t tally
	actions = slices.DeleteFunc(actions, func(a planner.Action) bool { return !used[a] })
	for _, a := range actions {
		t.columns = append(t.columns, actionWord(a))
	}
	for r, counts := range counted {
		shown := tallyRow{project: r.project, kind: r.kind}
		for _, a := range actions {
			shown.counts = append(shown.counts, strings.TrimPrefix(strconv.Itoa(counts[a]), "0"))
		}
		t.rows = append(t.rows, shown)
	}
	slices.SortFunc(t.rows, func(a, b tallyRow) int { return cmp.Or(cmp.Compare(a.project, b.project), cmp.Compare(a.kind, b.kind)) })
	return t
}

// shownAction is a step's action as people see it: what is adopted and changed is updated.
func shownAction(s *planner.Step) planner.Action {
	if s.Action == planner.Adopt && s.Changed() {
		return planner.Update
	}
	return s.Action
}

// actionWord is an action in a word or two.
func actionWord(a planner.Action) string {
	word, _, members := strings.Cut(a.String(), "_")
	if a == planner.NotPossible || !members {
		return strings.ReplaceAll(a.String(), "_", " ")
	}
	return word
}

// projectOf is the key of the project that a step's object lives in, or "".
func projectOf(s *planner.Step) string {
	a := s.Address
	if s.Members != nil {
		a = s.Members.Container.Address
	}
	for ; a != ""; a = a.Parent() {
		if a.Kind() == "project" {
			return a.Key()
		}
	}
	return ""
}
