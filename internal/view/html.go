package view

import (
	"bufio"
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
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
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

// PlanHTML shows a plan on standard output as a page of its own: all steps, which can be filtered, and texts as differences. The
// page loads nothing, and nothing in it can: its policy allows its own style and script only.
func (v *View) PlanHTML(plan *planner.Plan, d *planfile.Document) error {
	var failed error
	err := v.show(func(out *printer) { failed = page().Execute(out.w, newPlanPage(plan, d, v.o.PerMinute)) })
	return cmp.Or(err, failed)
}

// planPage is what the template shows. All texts in it are safe to show, not yet HTML.
type planPage struct {
	Policy, Title, Summary string
	Style                  template.CSS
	Script                 template.JS
	Facts                  []pageFact
	Lists                  []pageList
	Counts                 *pageCounts
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

type pageCounts struct {
	Columns []string
	Rows    []pageRow
}

type pageRow struct {
	Project, Kind string
	Counts        []string
}

type pageStep struct {
	Kind, Action, Class, Sign, Address, Title, Short, Remarks string
	Changes                                                   []pageChange
}

type pageChange struct {
	Path, Short, Remark, Text string
	Rows                      []diffRow
}

// diffRow is a line that both texts have, a gap between such lines, or a line that takes the place of another.
type diffRow struct {
	Gap      bool
	Equal    string
	Old, New []piece
}

// piece is a part of a line.
type piece struct {
	Text    string
	Differs bool
}

func newPlanPage(plan *planner.Plan, d *planfile.Document, perMinute int) *planPage {
	where := d.Where()
	place := where.Service
	if d.Sandbox {
		place = "the sandbox " + where.Sandbox
	}
	p := &planPage{
		Policy: "default-src 'none'; style-src '" + integrity(pageCSS) + "'; script-src '" + integrity(pageJS) + "'; base-uri 'none'; form-action 'none'",
		Style:  template.CSS(pageCSS), Script: template.JS(pageJS), //nolint:gosec // the program's own
		Title: Safe(where.Workspace), Summary: inShort(plan, perMinute),
	}
	for _, f := range []pageFact{
		{"workspace", where.Workspace, true},
		{"service", place, true},
		{"user", where.User, false},
		{"manifest", firstFew(where.Manifests), true},
		{"state", where.State, true},
		{"plan", d.Hash, true},
	} {
		if f.Text = Safe(f.Text); f.Text != "" {
			p.Facts = append(p.Facts, f)
		}
	}
	p.lists(plan)
	if t := newTally(plan); len(t.rows) > 0 {
		p.Counts = &pageCounts{Columns: t.columns}
		for _, r := range t.rows {
			p.Counts.Rows = append(p.Counts.Rows, pageRow{Safe(r.project), r.kind, r.counts})
		}
	}
	m := palette{}
	last := map[resource.Address]*pageStep{}
	for _, s := range plan.Steps {
		shown := m.pageStep(s)
		if first := last[s.Address]; s.Continues && first != nil {
			first.Changes = append(first.Changes, shown.Changes...)
			continue
		}
		shown.Title = Safe(s.Identifier)
		if title := s.Title(); title != s.Identifier {
			shown.Title = strings.TrimSpace(shown.Title + " " + Safe(title))
		}
		p.Steps, last[s.Address] = append(p.Steps, shown), shown
	}
	distinct := func(of func(*pageStep) string) []string {
		var all []string
		for _, s := range p.Steps {
			all = append(all, of(s))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	p.Kinds, p.Actions = distinct(func(s *pageStep) string { return s.Kind }), distinct(func(s *pageStep) string { return s.Action })
	return p
}

// integrity is the hash of a text as a policy names it.
func integrity(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// inShort is the line that closes a plan as text.
func inShort(plan *planner.Plan, perMinute int) string {
	var b strings.Builder
	text := &printer{w: bufio.NewWriter(&b), palette: newPalette(false)}
	if unremarkable(plan) {
		text.noChanges(plan)
	} else {
		text.summary(plan, perMinute)
	}
	_ = text.w.Flush() // a string takes everything
	return strings.TrimPrefix(strings.TrimSpace(b.String()), "Plan: ")
}

// lists are what is to be known of a plan besides its steps.
func (p *planPage) lists(plan *planner.Plan) {
	var notices, kept, corrected []string
	for _, n := range plan.Notices {
		text := n.Severity.String() + ": " + n.Summary
		if !n.Position.IsZero() {
			text += " (" + n.Position.String() + ")"
		}
		if n.Hint != "" {
			text += "; " + n.Hint
		}
		notices = append(notices, Safe(text))
	}
	for _, k := range plan.Drift {
		if k.Kept {
			f, _ := k.Object.Kind.Field(k.Change.Path)
			kept = append(kept, Safe(string(k.Object.Address)+" "+k.Change.Path)+": "+shortValue(f, k.Change, k.Change.Before)+
				", changed on the service"+Safe(changedBy(k.Change))+"; the manifest says "+shortValue(f, k.Change, k.Change.After))
		}
	}
	for _, c := range plan.StateChanges {
		if c.Why != "" {
			corrected = append(corrected, Safe(string(c.From)+": "+c.Why))
		}
	}
	p.Lists = slices.DeleteFunc([]pageList{{"Notices", notices}, {"Kept as changed on the service", kept}, {"Corrected in the state", corrected}},
		func(l pageList) bool { return len(l.Entries) == 0 })
}

func (p *palette) pageStep(s *planner.Step) *pageStep {
	sign, _ := p.stepSigil(s)
	action := actionWord(shownAction(s))
	class, _, _ := strings.Cut(action, " ")
	page := &pageStep{Action: action, Class: class, Sign: sign, Address: Safe(containerAddress(s)), Remarks: Safe(stepRemarks(s))}
	if s.Kind != nil {
		page.Kind = s.Kind.Noun()
	}
	if s.Members != nil {
		page.Kind = memberNoun(s) + " of " + strings.ReplaceAll(s.Members.Container.Address.Kind(), "_", " ")
		page.Short = diag.Count(memberCount(s), memberNoun(s))
		var names strings.Builder
		for i := range s.Members.Items {
			names.WriteString(Safe(memberName(s, &s.Members.Items[i])) + "\n")
		}
		page.Changes = []pageChange{{Path: Safe(memberField(s)), Text: shownText(names.String())}}
		return page
	}
	var short []string
	changes := s.Changes()
	for i := range changes {
		c := &changes[i]
		if s.Action == planner.Create && c.After == nil { // a new object starts without
			continue
		}
		shown := p.pageChange(s, c)
		page.Changes = append(page.Changes, shown)
		switch {
		case s.Action == planner.Create:
		case shown.Short != "":
			short = append(short, shown.Path+" "+shown.Short)
		default:
			short = append(short, shown.Path)
		}
	}
	page.Short = diag.Truncate(strings.Join(short, ", "), shortText)
	return page
}

// stepRemarks are where the manifest has a step's object, what it is on the service, and why the step is as it is.
func stepRemarks(s *planner.Step) string {
	var parts []string
	switch {
	case s.Unsupported != "":
		parts = append(parts, "this edition of the service has no "+s.Unsupported)
	case why(s) != "":
		parts = append(parts, why(s))
	}
	if !s.Position.IsZero() {
		parts = append(parts, s.Position.String())
	}
	if s.ID != "" {
		parts = append(parts, "ID "+s.ID)
	}
	return strings.Join(parts, "; ")
}

func (p *palette) pageChange(s *planner.Step, c *planner.Change) pageChange {
	f := s.Field(c.Path)
	page := pageChange{Path: Safe(c.Path), Remark: strings.TrimSpace(p.remarks(s, f, c))}
	switch {
	case isMark(s, c):
		page.Path, page.Short = "mark", "on the service, it follows the key"
	case c.References > 0:
		page.Short = diag.Count(c.References, "reference")
	case s.Action == planner.Create && isLong(f, c.After):
		page.Text = shownText(*c.After)
	case s.Action == planner.Create:
		page.Short = shortValue(f, c, c.After)
	case isList(f):
		page.Short = shortValue(f, c, c.Before) + " → " + shortValue(f, c, c.After)
	case isLong(f, c.Before) || isLong(f, c.After):
		if page.Rows = diffRows(compareTexts(c.Before, c.After)); page.Rows == nil {
			page.Short = "differs in line ends only"
		}
	default:
		page.Short = shortValue(f, c, c.Before) + " → " + shortValue(f, c, c.After)
	}
	return page
}

// shortValue is a value on one line, whole.
func shortValue(f *resource.Field, c *planner.Change, text *string) string {
	switch {
	case text == nil:
		return absent(f, c)
	case unquoted(f):
		return Safe(joined(f, *text))
	default:
		return quote(strings.TrimSuffix(*text, "\n"))
	}
}

// shownText is a text with its lines, as much of it as a page shows.
func shownText(text string) string {
	text = strings.TrimSuffix(text, "\n")
	cut := diag.Truncate(text, pageText)
	lines := splitLines(&cut)
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
	whole := func(l line) []piece { return []piece{{Text: Safe(cut(l.text, pageText))}} }
	eachRun(lines, func(l line) {
		rows = append(rows, diffRow{Gap: l.sign == gap, Equal: cmp.Or(Safe(cut(l.text, pageText)), " ")})
	}, func(old, added []line) {
		for i := range max(len(old), len(added)) {
			var row diffRow
			switch {
			case i >= len(old):
				row.New = whole(added[i])
			case i >= len(added):
				row.Old = whole(old[i])
			default:
				row.Old, row.New = sides(compareWords(old[i].text, added[i].text))
			}
			rows = append(rows, row)
		}
	})
	return rows
}

// sides are the two texts of a line that changes, with all its changes.
func sides(edits []edit) (old, added []piece) {
	add := func(to []piece, text string, differs bool) []piece {
		if text == "" {
			return to
		}
		return append(to, piece{Safe(cut(text, pageText)), differs})
	}
	for _, e := range edits {
		old, added = add(old, e.same, false), add(added, e.same, false)
		old, added = add(old, e.old, true), add(added, e.added, true)
	}
	return old, added
}
