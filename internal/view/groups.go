package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

// projectGroups holds the groups of entries of one project, of the workspace, or of several projects.
type projectGroups struct {
	key, name string // of the project; the key is empty for the workspace and for several projects, the name for the workspace
	groups    [][]*entry
}

// title returns the heading above the groups, or "" above the groups of the workspace. form formats the key and the name.
func (pg *projectGroups) title(form func(string) string) string {
	switch {
	case pg.key == "":
		return pg.name
	case pg.name == "", strings.EqualFold(pg.name, pg.key):
		return "Project " + form(pg.key)
	default:
		return "Project " + form(pg.key) + ": " + form(pg.name)
	}
}

// byProject sorts groups of entries by project. The groups of the workspace come first, then the groups that span several projects.
func (s *shownPlan) byProject(groups [][]*entry) []projectGroups {
	all, at := []projectGroups{{}, {name: "Several projects"}}, map[string]int{"": 0}
	for _, same := range groups {
		key := projectOf(same[0].address)
		i, known := at[key]
		switch {
		case slices.ContainsFunc(same, func(e *entry) bool { return projectOf(e.address) != key }):
			i = 1
		case !known:
			i = len(all)
			at[key], all = i, append(all, projectGroups{key: key, name: s.names[resource.NewAddress("project", key)]})
		}
		all[i].groups = append(all[i].groups, same)
	}
	return slices.DeleteFunc(all, func(p projectGroups) bool { return len(p.groups) == 0 })
}

// groupEntries groups entries of one kind with equal changes if a group has at least `least` entries, and entries with equal refusals
// if it has alikeSteps. A membership stays alone, like an entry for which mayGroup returns false.
func groupEntries(entries []*entry, least int, mayGroup func(*entry) bool) [][]*entry {
	keys, count := map[*entry]string{}, map[string]int{}
	for _, e := range entries {
		if !e.isMembership && mayGroup(e) {
			keys[e] = e.groupKey()
			count[keys[e]]++
		}
	}
	groups := gather(entries, alikeSteps, func(e *entry) (string, bool) {
		key, ok := keys[e]
		return key, ok && (e.action == planner.NotPossible || count[key] >= least)
	})
	for i, same := range groups {
		if len(same) > 1 && same[0].action == planner.NotPossible {
			groups[i] = append([]*entry{mergeRefusals(same)}, same[1:]...)
		}
	}
	return groups
}

// mergeRefusals returns a copy of the first of several refusals. Its reason also names the words that are specific to the other refusals.
func mergeRefusals(same []*entry) *entry {
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

// pattern returns the reason of an entry with an ellipsis for each of the entry's own words, and these words. An entry's own
// words are its new values and its project.
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

// groupKey returns a key that is equal for entries of one kind with equal changes, and for refusals that differ only in their own words.
func (e *entry) groupKey() string {
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
		if e.action == planner.NotPossible && c.form != formNoted {
			fmt.Fprintf(&key, " %q", c.path)
			continue
		}
		values := fmt.Sprintf("%q %q", c.before.text, c.after.text)
		if c.form == formRelisted { // elements that stay in the list do not matter
			values = c.relisting("-", true, func(text string, _ bool) string { return text })
		}
		fmt.Fprintf(&key, " %q %d %q %s %q", c.path, c.form, c.note, values, c.remark)
	}
	return key.String()
}

// firstNames lists the addresses of the first entries and counts the others.
func firstNames(entries []*entry, name func(string) string) string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = name(string(e.address))
	}
	return diag.First(names, namedSteps)
}

// section is a part of a plan for reviewers: the entries with one action.
type section struct {
	title  string
	action planner.Action
	open   bool // it is shown unfolded, because reviewers should see it first
	old    bool // it holds the entries with isOld
}

// sections returns the sections of a plan, the most important ones first.
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

// review returns the entries of a section by project, with equal changes grouped. Deletions are never grouped, so that each one is reviewed.
func (s *shownPlan) review(of section) []projectGroups {
	entries := s.entriesWhere(func(e *entry) bool { return e.action == of.action && e.isOld == of.old })
	return s.byProject(groupEntries(entries, alikeSteps, func(*entry) bool { return of.action != planner.Delete }))
}

// gather groups elements with equal keys, at the place of the first element, if a group has at least `least` elements.
// An element without a key, or in a smaller group, stays alone.
func gather[T any, K comparable](list []T, least int, key func(T) (k K, ok bool)) [][]T {
	keys, alike := make([]*K, len(list)), map[K][]T{}
	for i, one := range list {
		if k, ok := key(one); ok {
			keys[i], alike[k] = &k, append(alike[k], one)
		}
	}
	groups, done := make([][]T, 0, len(list)), map[K]bool{}
	for i, k := range keys {
		switch {
		case k == nil || len(alike[*k]) < least:
			groups = append(groups, list[i:i+1])
		case !done[*k]:
			done[*k] = true
			groups = append(groups, alike[*k])
		}
	}
	return groups
}
