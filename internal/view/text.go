package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// memberNoun returns the readable name of a membership's members, such as "work item".
func memberNoun(kind *resource.Kind) string {
	m := kind.Membership
	if m.Member == m.Container { // the name of the relation says more than the kind of both sides
		return strings.ReplaceAll(m.Field, "_", " ") + " relation"
	}
	return resource.MustLookup(m.Member).Noun()
}

// containerAddress returns the address of a membership step's container, or another step's own address.
func containerAddress(s *planner.Step) string {
	if s.Members != nil {
		return string(s.Members.Container.Address)
	}
	return string(s.Address)
}

// symbol returns the character and the colour of an action.
func (pl *palette) symbol(a planner.Action) (string, style) {
	colors := []style{pl.create, pl.update, pl.adopt, pl.member, pl.remove, pl.remove, pl.refuse}
	return "+~=><-!"[a : a+1], colors[a]
}

// verb returns the verb of an action in two forms, such as "create" and "created". For an action about members, the preposition stands
// between members and container, as in "add 2 members to a cycle"; otherwise it is empty.
func verb(a planner.Action, members bool) (command, past, preposition string) {
	if a == planner.Update && members {
		return "change", "changed", " of "
	}
	words := [][3]string{
		planner.Create: {"create", "created"}, planner.Update: {"update", "updated"}, planner.Adopt: {"adopt", "adopted"},
		planner.AddMembers: {"add", "added", " to "}, planner.RemoveMembers: {"remove", "removed", " from "},
		planner.Delete: {"delete", "deleted"}, planner.NotPossible: {"change", "left out"},
	}[a]
	return words[0], words[1], words[2]
}

// attempted returns the planned action of a step in words: "create work_item/web/shop".
func attempted(s *planner.Step) string {
	command, _, preposition := verb(s.Action, s.Members != nil)
	if preposition != "" {
		return command + " " + diag.Count(memberCount(s), memberNoun(s.Kind)) + preposition + Safe(containerAddress(s))
	}
	return command + " " + Safe(string(s.Address))
}

func memberCount(s *planner.Step) int {
	if s.Members == nil {
		return 0
	}
	return len(s.Members.Items)
}

// status returns the status of a step as one of the words in the JSON of a result.
func status(r *executor.StepResult) string {
	if r.Status == executor.NotStarted && r.Step != nil && r.Step.Action == planner.NotPossible {
		return "not_possible"
	}
	words := map[executor.Status]string{
		executor.NotStarted: "not_started", executor.Done: "done", executor.Failed: "failed", executor.Blocked: "blocked",
	}
	return cmp.Or(words[r.Status], "unknown")
}

// approximate returns a duration in words: in seconds, or in minutes from two minutes on.
func approximate(d time.Duration) string {
	if seconds := int((d + time.Second - 1) / time.Second); seconds < 120 {
		return strconv.Itoa(max(0, seconds)) + " s"
	}
	return diag.Minutes(int((d + time.Minute/2) / time.Minute))
}

// count is a number with its words, such as 2 "to create".
type count struct {
	n    int
	text string
}

// noun returns a count with a noun in the singular or plural.
func noun(n int, singular string) count {
	if n == 1 {
		return count{n, singular}
	}
	return count{n, diag.Plural(singular)}
}

func (cn count) and(text string) count { return count{cn.n, cn.text + " " + text} }

// counts lists the counts that are greater than zero: "2 to create, 1 to update".
func counts(list ...count) string {
	var parts []string
	for _, c := range list {
		if c.n > 0 {
			parts = append(parts, strconv.Itoa(c.n)+" "+c.text)
		}
	}
	return strings.Join(parts, ", ")
}

// sentence joins the parts that are not empty, with a space before and a full stop after: " 2 to create; 3 unchanged.".
func sentence(parts ...string) string {
	text := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
	if text != "" {
		text = " " + text
	}
	return text + "."
}
