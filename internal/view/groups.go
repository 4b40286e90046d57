package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// isOld reports whether the entry was not possible in the last applied run, either.
func (e *entry) isOld() bool { return e.step.AsBefore && e.action == planner.NotPossible }

// inProject is what a plan does in one project, or outside of all.
type inProject struct {
	key, name string // of the project; both are empty of the workspace, and the key of what several projects have
	groups    [][]*entry
}

// title is the heading above the project, with names in the form that a format gives them; "" = it needs none.
func (p *inProject) title(form func(string) string) string {
	switch {
	case p.key == "":
		return p.name
	case p.name == "", strings.EqualFold(p.name, p.key):
		return "Project " + form(p.key)
	default:
		return "Project " + form(p.key) + ": " + form(p.name)
	}
}

// byProject puts groups of entries below the projects that they are in, after those of the workspace and those of several projects.
func (s *shownPlan) byProject(groups [][]*entry) []inProject {
	all, at := []inProject{{}, {name: "Several projects"}}, map[string]int{"": 0}
	for _, same := range groups {
		key := projectOf(same[0].address)
		i, known := at[key]
		switch {
		case slices.ContainsFunc(same, func(e *entry) bool { return projectOf(e.address) != key }):
			i = 1
		case !known:
			i = len(all)
			at[key], all = i, append(all, inProject{key: key, name: s.names[resource.NewAddress("project", key)]})
		}
		all[i].groups = append(all[i].groups, same)
	}
	return slices.DeleteFunc(all, func(p inProject) bool { return len(p.groups) == 0 })
}

// grouped puts entries of one kind into a group if their changes are equal and there are at least `least` of them, or if their
// refusals are equal. A membership stays alone, and so does each entry for which may is false.
func grouped(entries []*entry, least int, may func(*entry) bool) [][]*entry {
	meanings, count := map[*entry]string{}, map[string]int{}
	for _, e := range entries {
		if !e.isMembership && may(e) {
			meanings[e] = e.meaning()
			count[meanings[e]]++
		}
	}
	groups := gather(entries, alikeSteps, func(e *entry) (string, bool) {
		key, ok := meanings[e]
		return key, ok && (e.action == planner.NotPossible || count[key] >= least)
	})
	for i, same := range groups {
		if len(same) > 1 && same[0].action == planner.NotPossible {
			groups[i] = append([]*entry{merged(same)}, same[1:]...)
		}
	}
	return groups
}

// merged returns the first of several refusals, with the words of the others.
func merged(same []*entry) *entry {
	e, step := *same[0], *same[0].step
	reason, others, known := e.why(), []string(nil), map[string]bool{}
	for _, other := range same {
		_, own := other.pattern()
		for _, word := range own {
			if !known[word] && !strings.Contains(e.why(), word) {
				known[word], others = true, append(others, word)
			}
		}
	}
	if len(others) > 0 {
		reason += "; the same of " + diag.First(others, namedWords)
	}
	e.step, step.Reason, e.same = &step, &reason, same
	return &e
}

// pattern returns why an entry is, with gaps for the words that are its own (its values, its project), and these words.
func (e *entry) pattern() (reason string, own []string) {
	reason = e.why()
	project, _, _ := strings.Cut(e.address.Path(), "/")
	own = []string{"project/" + project}
	for _, c := range e.changes() {
		own = append(own, splitLines(c.after.text)...)
	}
	own = slices.DeleteFunc(own, func(word string) bool { return len(word) < 3 || !strings.Contains(reason, word) })
	for _, word := range own {
		reason = strings.ReplaceAll(reason, word, "…")
	}
	return reason, own
}

// meaning is what entries have in common that make equal changes of objects of one kind.
func (e *entry) meaning() string {
	var key strings.Builder
	why := e.why()
	if e.action == planner.NotPossible {
		why, _ = e.pattern()
	}
	fmt.Fprintf(&key, "%v %s %q %q", e.action, e.kind.Name, why, e.step.Unsupported)
	if e.action == planner.Create {
		key.WriteString(e.step.Title)
	}
	for _, c := range e.changes() {
		if e.action == planner.NotPossible && c.form != noted {
			fmt.Fprintf(&key, " %q", c.path)
			continue
		}
		values := fmt.Sprintf("%q %q", c.before.text, c.after.text)
		if c.form == relisted { // whatever stays in the list
			values = c.relisting("-", true, func(text string, _ bool) string { return text })
		}
		fmt.Fprintf(&key, " %q %d %q %s %q", c.path, c.form, c.note, values, c.remark)
	}
	return key.String()
}

// firstNames names the first of several entries.
func firstNames(entries []*entry, name func(string) string) string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = name(string(e.address))
	}
	return diag.First(names, namedSteps)
}

// section is what a plan does in one way, for people who review it.
type section struct {
	title  string
	action planner.Action
	open   bool // it is worth a look before anything else
	old    bool // it was not possible in the last applied run, either
}

// sections are those of a plan, what is most worth a look first.
func sections() []section {
	return []section{
		{title: "Delete", action: planner.Delete, open: true},
		{title: "Not possible", action: planner.NotPossible, open: true},
		{title: "Update", action: planner.Update},
		{title: "Remove members", action: planner.RemoveMembers},
		{title: "Create", action: planner.Create},
		{title: "Adopt", action: planner.Adopt},
		{title: "Add members", action: planner.AddMembers},
		{title: "Not possible, as before", action: planner.NotPossible, old: true},
	}
}

// review returns the entries of a section by project, several with equal changes as one. Each deletion is worth its own look.
func (s *shownPlan) review(of section) []inProject {
	entries := s.choose(func(e *entry) bool { return e.action == of.action && e.isOld() == of.old })
	return s.byProject(grouped(entries, alikeSteps, func(*entry) bool { return of.action != planner.Delete }))
}
