package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// memberNoun is what a person calls a member, such as "work item".
func memberNoun(kind *resource.Kind) string {
	m := kind.Membership
	if m.Member == m.Container { // what matters is how the two stand to each other
		return strings.ReplaceAll(m.Field, "_", " ") + " relation"
	}
	return resource.MustLookup(m.Member).Noun()
}

// containerAddress is the address of a membership step's container, of another step its own.
func containerAddress(s *planner.Step) string {
	if s.Members != nil {
		return string(s.Members.Container.Address)
	}
	return string(s.Address)
}

// symbol is the character and colour that stand for an action.
func (p *palette) symbol(a planner.Action) (string, style) {
	colors := []style{p.create, p.update, p.adopt, p.member, p.remove, p.remove, p.refuse}
	return "+~=><-!"[a : a+1], colors[a]
}

// verb is what a step does, as a command and in the past, with what stands between members and their container.
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

// attempted says what a step was to do: "create work_item/web/shop".
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

// status is the word for how a step ended.
func status(r *executor.StepResult) string {
	if r.Status == executor.NotStarted && r.Step != nil && r.Step.Action == planner.NotPossible {
		return "not_possible"
	}
	words := map[executor.Status]string{
		executor.NotStarted: "not_started", executor.Done: "done", executor.Failed: "failed", executor.Blocked: "blocked",
	}
	return cmp.Or(words[r.Status], "unknown")
}

// approximate gives a duration in seconds, from two minutes on in minutes.
func approximate(d time.Duration) string {
	if seconds := int((d + time.Second - 1) / time.Second); seconds < 120 {
		return strconv.Itoa(max(0, seconds)) + " s"
	}
	return diag.Minutes(int((d + time.Minute/2) / time.Minute))
}

// count is a number of something, such as 2 "to create".
type count struct {
	n    int
	text string
}

// noun is a count of what a noun names.
func noun(n int, singular string) count {
	if n == 1 {
		return count{n, singular}
	}
	return count{n, diag.Plural(singular)}
}

func (c count) and(text string) count { return count{c.n, c.text + " " + text} }

// counts lists those that are not zero: "2 to create, 1 to update".
func counts(list ...count) string {
	var parts []string
	for _, c := range list {
		if c.n > 0 {
			parts = append(parts, strconv.Itoa(c.n)+" "+c.text)
		}
	}
	return strings.Join(parts, ", ")
}

// sentence is what follows the word that begins a line of counts.
func sentence(parts ...string) string {
	text := strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
	if text != "" {
		text = " " + text
	}
	return text + "."
}
