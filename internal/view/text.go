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

// memberNoun is what a person calls a member of the step, such as "work item".
func memberNoun(s *planner.Step) string {
	if s.Kind == nil || s.Kind.Membership == nil {
		return "member"
	}
	m := s.Kind.Membership
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

// called is what people call the object of a step: its readable identifier and its title, where the address, or the field of
// a new object, does not say the same.
func called(s *planner.Step) (identifier, title string) {
	if s.Action == planner.Create || s.Members != nil {
		return "", ""
	}
	key := s.Address.Key()
	if !strings.EqualFold(s.Identifier, key) && (s.Object == nil || s.Action != planner.NotPossible) { // else the reason says it
		identifier = s.Identifier
	}
	if name := s.Title(); name != s.Identifier && strings.ReplaceAll(strings.ToLower(name), " ", "-") != key {
		title = name
	}
	return identifier, title
}

// memberField is the field of a manifest that says who the step's members are.
func memberField(s *planner.Step) string {
	if s.Kind == nil || s.Kind.Membership == nil {
		return ""
	}
	return s.Kind.Membership.Path()
}

// memberName is what a member is called, and what the membership says of it.
func memberName(s *planner.Step, m *planner.Member) string {
	name := cmp.Or(string(m.Address), m.Text, m.ID)
	if s.Kind != nil && s.Kind.Membership != nil {
		name += m.Note(s.Kind.Membership)
	}
	return name
}

// sigil is the character and colour that stand for an action.
func (p *palette) sigil(a planner.Action) (string, style) {
	switch a {
	case planner.Create:
		return "+", p.create
	case planner.Update:
		return "~", p.update
	case planner.Adopt:
		return "=", p.adopt
	case planner.AddMembers:
		return ">", p.member
	case planner.RemoveMembers:
		return "<", p.remove
	case planner.Delete:
		return "-", p.remove
	case planner.NotPossible:
		return "!", p.refuse
	default:
		return "?", p.dim
	}
}

// stepSigil is the sign of a step: what is adopted and changed is shown as a change.
func (p *palette) stepSigil(s *planner.Step) (string, style) {
	return p.sigil(shownAction(s))
}

// verb is what a step does, as a command and in the past, with what stands between its members and their container.
func verb(s *planner.Step) (command, past, preposition string) {
	switch s.Action {
	case planner.Create:
		return "create", "created", ""
	case planner.Update:
		if s.Members != nil {
			return "change", "changed", " of "
		}
		return "update", "updated", ""
	case planner.Adopt:
		return "adopt", "adopted", ""
	case planner.Delete:
		return "delete", "deleted", ""
	case planner.AddMembers:
		return "add", "added", " to "
	case planner.RemoveMembers:
		return "remove", "removed", " from "
	case planner.NotPossible:
		return "change", "left out", ""
	default:
		return s.Action.String(), s.Action.String(), ""
	}
}

// attempted says what a step was to do: "create work_item/web/shop".
func attempted(s *planner.Step) string {
	command, _, preposition := verb(s)
	if preposition != "" {
		return command + " " + diag.Count(memberCount(s), memberNoun(s)) + preposition + Safe(containerAddress(s))
	}
	return command + " " + Safe(string(s.Address))
}

// carriedOut says what a step did, with so many members: "created work_item/web/shop as WEB-12".
func carriedOut(r *executor.StepResult, members int) string {
	s := r.Step
	_, past, preposition := verb(s)
	text := past + " " + Safe(string(s.Address))
	switch {
	case preposition != "":
		return past + " " + diag.Count(members, memberNoun(s)) + preposition + Safe(containerAddress(s))
	case s.Action == planner.Create && r.Outcome.Identifier != "":
		text += " as " + Safe(r.Outcome.Identifier)
	case s.Action == planner.Adopt && s.Changed():
		text = "updated " + Safe(string(s.Address)) + " (adopted)"
	}
	if r.Found() {
		return strings.Replace(text, "created", "adopted", 1) + " (another run had created it)"
	}
	if r.Outcome.RecoveredByLookup {
		text += " (the answer was lost; a check showed that it was done)"
	}
	return text
}

func memberCount(s *planner.Step) int {
	if s.Members == nil {
		return 0
	}
	return len(s.Members.Items)
}

// membersDone is how many members a step that is done has added or removed.
func membersDone(r *executor.StepResult) int {
	if r.Step.Action == planner.AddMembers {
		return len(r.Outcome.Members) // the service may have dropped some
	}
	return max(0, memberCount(r.Step)-len(r.Missing))
}

// status is the word for how a step ended.
func status(r *executor.StepResult) string {
	switch r.Status {
	case executor.Done:
		return "done"
	case executor.Failed:
		return "failed"
	case executor.Blocked:
		return "blocked"
	case executor.Unknown:
		return "unknown"
	case executor.NotStarted:
		if r.Step != nil && r.Step.Action == planner.NotPossible {
			return "not_possible"
		}
		return "not_started"
	default:
		return "unknown"
	}
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
