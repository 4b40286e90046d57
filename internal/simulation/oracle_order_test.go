package simulation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// step is a step of a plan, with the addresses that it speaks of.
type step struct {
	*planfile.Step

	action  planner.Action
	at      int
	of      resource.Address   // the object, or the container of the members
	via     *resource.Kind     // the membership; nil = the step is about an object
	members []string           // addresses, else names or IDs
	above   []resource.Address // what the object lives in
	after   map[string]bool    // texts that the step writes
	kind    *resource.Kind     // of the object
}

// rule is a rule of order: first goes before then wherever it holds of the two.
type rule struct {
	name  string
	holds func(p *plan, first, then *step) bool
}

// plan is a plan whose order is checked.
type plan struct {
	steps   []*step
	creates map[resource.Address]*step
	today   string
}

// Violations returns a sentence for each two steps of a plan that stand in the wrong order.
func Violations(d *planfile.Document) (all []string) {
	p := &plan{creates: map[resource.Address]*step{}, today: time.Now().UTC().Format(time.DateOnly)}
	for i := range d.Steps {
		s := &step{Step: &d.Steps[i], action: d.Steps[i].PlannedAction(), at: i, of: d.Steps[i].Address, after: map[string]bool{}}
		if s.action == planner.NotPossible {
			continue
		}
		for _, c := range s.Changes {
			for _, text := range texts(c.After) {
				s.after[text] = true
			}
		}
		if container, via, _, ok := s.Address.ParseMembership(); ok {
			s.of, s.via = container, via
			for _, c := range s.Changes {
				s.members = slices.Concat(s.members, texts(c.Before), texts(c.After))
			}
		}
		s.kind = resource.MustLookup(s.of.Kind())
		for a := s.of.Parent(); a != ""; a = a.Parent() {
			s.above = append(s.above, a)
		}
		if p.steps = append(p.steps, s); s.action == planner.Create && p.creates[s.Address] == nil {
			p.creates[s.Address] = s
		}
	}
	rules := orderRules()
	for i, s := range p.steps {
		for _, other := range p.steps[i+1:] {
			for _, r := range rules {
				if r.holds(p, other, s) {
					all = append(all, fmt.Sprintf("%s: step %d (%s %s) goes before step %d (%s %s)", r.name, s.at, s.Action, s.Address, other.at, other.Action, other.Address))
				}
			}
		}
	}
	return all
}

// orderRules are the rules that each plan keeps.
func orderRules() []rule {
	return []rule{
		{"what a step needs goes before it", func(p *plan, first, then *step) bool {
			return slices.Contains(then.Needs, string(first.Address)) && !slices.ContainsFunc(p.steps, func(s *step) bool {
				return s.at < then.at && s.Address == first.Address
			})
		}},
		{"an object is created before any other step about it, and before what is in it", func(_ *plan, first, then *step) bool {
			return first.action == planner.Create && !first.Continues && (then.of == first.of && then.via != nil || then.Continues && then.of == first.of || then.inside(first.of))
		}},
		{"an object is created before a step names it", func(p *plan, first, then *step) bool {
			return first == p.creates[first.of] && then.of != first.of && (then.names(first.of) || slices.Contains(then.members, string(first.of)))
		}},
		{"a step comes before its continuation", func(_ *plan, first, then *step) bool {
			return then.Continues && !first.Continues && then.Address == first.Address
		}},
		{"work items are created in the order of the manifest, but for those that an earlier step names", func(p *plan, first, then *step) bool {
			return first.numbered() && then.numbered() && first.of.Parent() == then.of.Parent() && precedes(first, then) && first.value("parent") == then.value("parent") &&
				!p.pulled(then, first)
		}},
		{"a feature is switched on before what needs it is created", func(_ *plan, first, then *step) bool {
			return then.action == planner.Create && first.switches(then, "true")
		}},
		{"a feature is switched off after all steps about what needs it, but for deletions", func(_ *plan, first, then *step) bool {
			return first.action != planner.Delete && then.switches(first, "false")
		}},
		{"an object is brought back before any other step about it", func(_ *plan, first, then *step) bool {
			return first.archives("false") && then.touches(first.of)
		}},
		{"an object is archived after each step about it or what is in it, and after each that names it", func(_ *plan, first, then *step) bool {
			return then.archives("true") && first.action != planner.Delete && (first.touches(then.of) || first.names(then.of))
		}},
		{"a container is closed after its members are added", func(p *plan, first, then *step) bool {
			return first.action == planner.AddMembers && then.action == planner.Update && then.of == first.of && then.closes(p.today)
		}},
		{"people are members of a project before a step assigns them", func(_ *plan, first, then *step) bool {
			return first.action == planner.AddMembers && then.via == nil && then.inside(first.of) && then.assigns(first)
		}},
		{"a relation is removed before another one between the same items is added", func(_ *plan, first, then *step) bool {
			return first.action == planner.RemoveMembers && then.action == planner.AddMembers && first.relates() && then.relates() && first.between(then)
		}},
		{"an object joins its new containers before it leaves others, if it may be in several", func(_ *plan, first, then *step) bool {
			return first.action == planner.AddMembers && then.action == planner.RemoveMembers && first.via == then.via && !first.relates() &&
				!first.via.Membership.Exclusive && then.of != first.of && slices.ContainsFunc(first.members, func(m string) bool { return slices.Contains(then.members, m) })
		}},
		{"a name is given up before another object takes it", func(_ *plan, first, then *step) bool {
			return then.action != planner.Delete && (first.action == planner.Update || first.action == planner.Delete) && first.kind == then.kind &&
				first.of.Parent() == then.of.Parent() && then.takesNameOf(first)
		}},
		{"deletions come last, but for those that free something", func(p *plan, first, then *step) bool {
			return then.action == planner.Delete && first.action != planner.Delete && !slices.ContainsFunc(p.steps, func(s *step) bool {
				return s.at > then.at && slices.Contains(s.Needs, string(then.Address))
			})
		}},
		{"what is in an object is deleted before it, or right after it if it goes with it", func(_ *plan, first, then *step) bool {
			if first.action != planner.Delete || then.action != planner.Delete {
				return false
			}
			return first.inside(then.of) && first.Reason == nil || then.inside(first.of) && then.Reason != nil
		}},
		{"nothing names an object any more when it is deleted", func(_ *plan, first, then *step) bool {
			return then.action == planner.Delete && first.action != planner.Delete && (first.of == then.of || first.named(then.of))
		}},
	}
}

// inside reports whether the step is about what lives in an object.
func (s *step) inside(a resource.Address) bool { return slices.Contains(s.above, a) }

// texts are the texts of a value in a plan, also of one that was read from JSON.
func texts(value any) (list []string) {
	switch v := value.(type) {
	case string:
		list = []string{v}
	case []string:
		list = v
	case []any:
		for _, each := range v {
			list = append(list, fmt.Sprint(each))
		}
	}
	return list
}

// names reports whether the step writes a value that names an object.
func (s *step) names(a resource.Address) bool { return s.after[string(a)] }

// named reports whether the step takes an object out of a value, or adds or removes it as a member.
func (s *step) named(a resource.Address) bool {
	return slices.Contains(s.members, string(a)) || slices.ContainsFunc(s.Changes, func(c planfile.Change) bool { return slices.Contains(texts(c.Before), string(a)) })
}

// touches reports whether the step is about an object, what is in it, or its members.
func (s *step) touches(a resource.Address) bool {
	return s.of == a || s.inside(a) || slices.Contains(s.members, string(a))
}

// value returns what the step writes into a field, or "".
func (s *step) value(field string) string {
	for _, c := range s.Changes {
		if v := texts(c.After); c.Path == field && len(v) == 1 {
			return v[0]
		}
	}
	return ""
}

// numbered reports whether the step creates a work item.
func (s *step) numbered() bool { return s.action == planner.Create && s.of.Kind() == "work_item" }

// precedes reports whether a step is of an earlier line of the same manifest.
func precedes(s, other *step) bool {
	a, b := s.Position, other.Position
	return a != nil && b != nil && a.File == b.File && (a.Line < b.Line || a.Line == b.Line && a.Column < b.Column)
}

// pulled reports whether a create goes early since a step before another one, or that one itself, needs it.
func (pl *plan) pulled(s, before *step) bool {
	return slices.ContainsFunc(pl.steps, func(other *step) bool {
		return other.at > s.at && other.at <= before.at && slices.Contains(other.Needs, string(s.Address))
	})
}

// switches reports whether the step sets the switch that an object needs.
func (s *step) switches(user *step, to string) bool {
	holder, f := user.kind.Switch()
	if f == nil || user.via != nil || s.via != nil || s.action == planner.Create || s.of.Kind() != holder.Name || s.value(f.Path()) != to {
		return false
	}
	return user.of.Parent() == s.of || user.inside(s.of.Parent()) || s.of.Parent() == user.of.Parent()
}

// archives reports whether the step archives an object, or brings it back.
func (s *step) archives(to string) bool {
	return s.via == nil && s.action == planner.Update && slices.ContainsFunc(s.kind.Fields, func(f resource.Field) bool {
		return f.ArchiveFlag && s.value(f.Path()) == to
	})
}

// closes reports whether the step gives an object a last day that is over.
func (s *step) closes(today string) bool {
	closes := s.kind.ClosedAfter
	return s.via == nil && closes != "" && s.value(closes) != "" && s.value(closes) < today
}

// assigns reports whether the step names a person that another one adds, in a field that takes members only.
func (s *step) assigns(added *step) bool {
	return slices.ContainsFunc(s.Changes, func(c planfile.Change) bool {
		f, ok := s.kind.Field(c.Path)
		return ok && f.MustBeMemberOf == added.via.Name && slices.ContainsFunc(added.AllMembers(), func(m planfile.Member) bool {
			return m.Text != "" && slices.Contains(texts(c.After), m.Text)
		})
	})
}

// relates reports whether the step is about relations between work items.
func (s *step) relates() bool { return s.via != nil && s.via.Membership.Inverse != "" }

// between reports whether two steps are about the same two items.
func (s *step) between(other *step) bool {
	return slices.ContainsFunc(s.members, func(m string) bool {
		return s.of == other.of && slices.Contains(other.members, m) || m == string(other.of) && slices.Contains(other.members, string(s.of))
	})
}

// takesNameOf reports whether the step gives its object a name that the service takes once, and that another step gives up.
func (s *step) takesNameOf(other *step) bool {
	if s.via != nil || other.via != nil {
		return false
	}
	for _, f := range s.kind.Fields {
		name := s.value(f.Path())
		if !f.Unique || name == "" {
			continue
		}
		if other.action == planner.Delete && f.Name == "name" && strings.EqualFold(other.Title, name) {
			return true
		}
		if other.action == planner.Update && slices.ContainsFunc(other.Changes, func(c planfile.Change) bool {
			return c.Path == f.Path() && slices.Equal(texts(c.Before), []string{name})
		}) {
			return true
		}
	}
	return false
}
