package view

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/planfile"
)

//go:embed page/plan.html
var pageHTML string

//go:embed page/plan.css
var pageCSS string

//go:embed page/plan.js
var pageJS string

//nolint:gochecknoglobals // parsed once, never changed after
var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("plan").Parse(pageHTML)) })

const (
	pageText  = 20_000 // characters of a text that a page shows
	shortText = 160    // characters of changes beside an address
)

// htmlFormat shows a plan as a page of its own: all steps, which can be filtered, and texts as differences. The page loads
// nothing, and nothing in it can: its policy allows its own style and script only.
type htmlFormat struct{ textFormat }

func (htmlFormat) plan(v *View, d *planfile.Document) error {
	var failed error
	err := v.show(func(out *printer) { failed = page().Execute(out.w, newPlanPage(newShownPlan(d, v.o.PerMinute))) })
	return cmp.Or(err, failed)
}

// planPage is what the template shows. All texts in it are safe to show, not yet HTML.
type planPage struct {
	Policy, Title, Summary string
	Style                  template.CSS
	Script                 template.JS
	Facts                  []pageFact
	Lists                  []pageList
	Counts                 tally
	Kinds, Actions         []string
	Steps                  []*pageStep
}

type pageFact struct {
	Name, Text string
	Code       bool
}

type pageList struct {
	Title   string
	Entries []string
}

type pageStep struct {
	Kind, Action, Class, Symbol, Address, Title, Short, Remarks string
	Changes                                                     []pageChange
}

type pageChange struct {
	Path, Short, Remark, Text string
	Rows                      []diffRow
}

// diffRow is a line that both texts have, one that only one of them has, a line that changes, or a gap between equal lines.
type diffRow struct {
	Gap               bool
	Equal, Old, Added string // "" = not such a line
	Edits             []edit
}

func newPlanPage(plan *shownPlan) *planPage {
	where := plan.Where()
	place := where.Service
	if plan.Sandbox {
		place = "the sandbox " + where.Sandbox
	}
	_, summary := plan.verdict()
	p := &planPage{
		Policy: "default-src 'none'; style-src '" + integrity(pageCSS) + "'; script-src '" + integrity(pageJS) + "'; base-uri 'none'; form-action 'none'",
		Style:  template.CSS(pageCSS), Script: template.JS(pageJS), //nolint:gosec // the program's own
		Title: Safe(where.Workspace), Summary: strings.TrimSpace(summary), Counts: newTally(plan),
	}
	for _, f := range []pageFact{
		{"workspace", where.Workspace, true},
		{"service", place, true},
		{"user", where.User, false},
		{"manifest", diag.First(where.Manifests, fewManifests), true},
		{"state", where.State, true},
		{"plan", plan.Hash, true},
	} {
		if f.Text = Safe(f.Text); f.Text != "" {
			p.Facts = append(p.Facts, f)
		}
	}
	notices, unseen, kept, stateChanges := plan.lists(true)
	for _, l := range []list{notices, unseen, kept, stateChanges} {
		if len(l.sentences) > 0 {
			p.Lists = append(p.Lists, pageList{l.title, l.texts(func(s span) string { return Safe(s.text) })})
		}
	}
	for i := range plan.entries {
		s := newPageStep(&plan.entries[i])
		p.Steps, p.Kinds, p.Actions = append(p.Steps, s), append(p.Kinds, s.Kind), append(p.Actions, s.Action)
	}
	slices.Sort(p.Kinds)
	slices.Sort(p.Actions)
	p.Kinds, p.Actions = slices.Compact(p.Kinds), slices.Compact(p.Actions)
	return p
}

// integrity is the hash of a text as a policy names it.
func integrity(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func newPageStep(e *entry) *pageStep {
	symbol, _ := (&palette{}).symbol(e.action)
	action := actionWord(e.action)
	class, _, _ := strings.Cut(action, " ")
	title := e.step.Identifier
	if e.step.Title != title {
		title = strings.TrimSpace(title + " " + e.step.Title)
	}
	s := &pageStep{
		Kind: e.kindName(), Action: action, Class: class, Symbol: symbol,
		Address: Safe(string(e.address)), Title: Safe(title), Remarks: Safe(e.facts()),
	}
	if e.isMembership {
		s.Short = diag.Count(len(e.members), e.noun())
		names := e.memberNames()
		for i := range names {
			names[i] = Safe(names[i])
		}
		s.Changes = []pageChange{{Path: e.kind.Membership.Path(), Text: shownText(strings.Join(names, "\n"))}}
		return s
	}
	var short []string
	for _, change := range e.changes() {
		c := newPageChange(&change)
		s.Changes = append(s.Changes, c)
		if change.form != added {
			short = append(short, strings.TrimSpace(c.Path+" "+c.Short))
		}
	}
	if lost := e.lost(); lost != "" {
		short = append(short, Safe(lost))
	}
	s.Short = diag.Truncate(strings.Join(short, ", "), shortText)
	return s
}

// facts are why a step is as it is, where the manifest has its object, and what that is on the service.
func (e *entry) facts() string {
	var parts []string
	if reason := e.reason(); reason != "" {
		parts = append(parts, reason)
	}
	if e.step.Position != nil {
		parts = append(parts, e.step.Position.String())
	}
	if e.step.ID != nil {
		parts = append(parts, "ID "+*e.step.ID)
	}
	return strings.Join(parts, "; ")
}

func newPageChange(c *change) pageChange {
	page := pageChange{Path: Safe(c.path), Short: c.note, Remark: Safe(c.remark)}
	switch {
	case c.form == added && c.after.isLong():
		page.Text = shownText(c.after.text)
	case c.form == added:
		page.Short = c.after.inline(true)
	case c.form == edited && !c.before.list && !c.after.list:
		page.Rows = diffRows(compareTexts(c.before.text, c.after.text))
	case c.form != noted:
		page.Short = c.before.inline(true) + " → " + c.after.inline(true)
	}
	return page
}

// shownText is a text with its lines, as much of it as a page shows.
func shownText(text string) string {
	text = strings.TrimSuffix(text, "\n")
	cut := diag.Truncate(text, pageText)
	lines := splitLines(cut)
	for i := range lines {
		lines[i] = Safe(lines[i])
	}
	if more := utf8.RuneCountInString(text) - utf8.RuneCountInString(cut); more > 0 {
		lines = append(lines, "(and "+diag.Count(more, "more character")+": planform show --output json has all)")
	}
	return strings.Join(lines, "\n")
}

// diffRows sets lines beside those whose place they take, and marks the words that differ.
func diffRows(lines []line) []diffRow {
	var rows []diffRow
	shown := func(text string) string { return Safe(cut(text, pageText)) }
	whole := func(l line) string { return cmp.Or(shown(l.text), " ") }
	eachRun(lines, func(l line) {
		rows = append(rows, diffRow{Gap: l.sign == gap, Equal: whole(l)})
	}, func(old, added []line) {
		for i := range max(len(old), len(added)) {
			switch {
			case i >= len(old):
				rows = append(rows, diffRow{Added: whole(added[i])})
			case i >= len(added):
				rows = append(rows, diffRow{Old: whole(old[i])})
			default:
				edits := compareWords(old[i].text, added[i].text)
				for j, e := range edits {
					edits[j] = edit{shown(e.Same), shown(e.Old), shown(e.Added)}
				}
				rows = append(rows, diffRow{Edits: edits})
			}
		}
	})
	return rows
}
