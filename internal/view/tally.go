package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// tally is a table of a plan's steps, with a row for each kind in each project and a column for each action in the plan.
// Its fields are exported because the HTML template reads them.
type tally struct {
	Columns []string
	Rows    []tallyRow
}

// tallyRow holds the counts of one kind in one project.
type tallyRow struct {
	Project, Kind string
	Counts        []string // "" = none
}

// newTally counts the steps of a plan. Membership steps count as their members.
func newTally(plan *shownPlan) tally {
	type row struct{ project, kind string }
	actions := []planner.Action{
		planner.Create, planner.Update, planner.Adopt, planner.Delete, planner.AddMembers, planner.RemoveMembers,
		planner.NotPossible,
	}
	counted, used := map[row]map[planner.Action]int{}, map[planner.Action]bool{}
	for i := range plan.entries {
		e := &plan.entries[i]
		r, n := row{projectOf(e.address), e.kindName()}, 1
		if e.isMembership {
			n = len(e.members)
		}
		if counted[r] == nil {
			counted[r] = map[planner.Action]int{}
		}
		counted[r][e.action] += n
		used[e.action] = true
	}
	var t tally
	actions = slices.DeleteFunc(actions, func(a planner.Action) bool { return !used[a] })
	for _, a := range actions {
		t.Columns = append(t.Columns, actionWord(a))
	}
	for r, counts := range counted {
		shown := tallyRow{Project: Safe(r.project), Kind: r.kind}
		for _, a := range actions {
			shown.Counts = append(shown.Counts, strings.TrimPrefix(strconv.Itoa(counts[a]), "0"))
		}
		t.Rows = append(t.Rows, shown)
	}
	slices.SortFunc(t.Rows, func(a, b tallyRow) int { return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Kind, b.Kind)) })
	return t
}

// actionWord returns an action in one or two words. Membership actions lose the word "members".
func actionWord(a planner.Action) string {
	word, _, members := strings.Cut(a.String(), "_")
	if a == planner.NotPossible || !members {
		return strings.ReplaceAll(a.String(), "_", " ")
	}
	return word
}

// projectOf returns the key of the object's project, or "" for an object outside of projects.
func projectOf(a resource.Address) string {
	for ; a != ""; a = a.Parent() {
		if a.Kind() == "project" {
			return a.Key()
		}
	}
	return ""
}
