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

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

//go:embed page/plan.html
var pageHTML string

//go:embed page/plan.css
var pageCSS string

//go:embed page/plan.js
var pageJS string

// page returns the parsed template of a plan's page.
//
//nolint:gochecknoglobals // parsed once, never changed after
var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("plan").Parse(pageHTML)) })

const (
	pageText  = 20_000 // characters of a text that a page shows
	shortText = 160    // characters of changes beside an address
	fewFields = 3      // changed fields up to which the text beside an address has no count
	manyRows  = 20     // steps of one kind from which a page folds them
)

// htmlFormat shows a plan as one page with all steps, filters, and differences of texts. The page loads nothing, because
// its content security policy allows only its own style and script.
type htmlFormat struct{ textFormat }

func (htmlFormat) plan(v *View, d *planfile.Document) error {
	var failed error
	_, err := v.show(func(out *printer) { failed = page().Execute(out.w, newPlanPage(newShownPlan(d, v.o.PerMinute))) })
	return cmp.Or(err, failed)
}

// planPage holds the values for the template. Its texts went through [Safe]; the template escapes them for HTML.
type planPage struct {
	Policy, Title, Summary   string
	Told                     string // sentences about the people whom the plan tells, or ""
	Style                    template.CSS
	Script                   template.JS
	Changes                  []pageCount
	Facts                    []pageFact
	Notices, Lists           []pageList
	Counts                   tally
	Projects, Kinds, Actions []string
	Sections                 []pageSection
}

// pageCount is a count in words. If Action is set, the count links to the steps with this action.
type pageCount struct{ Text, Action, Class string }

type pageFact struct {
	Name, Text string
	Code       bool
}

type pageList struct {
	Title   string
	Entries []string
}

type pageSection struct {
	Title, Class string
	Size         int // in objects and memberships
	Projects     []pageProject
}

type pageProject struct {
	Title string // "" = no heading
	Rows  []pageRows
}

// pageRows holds one step, or many steps of one kind that are folded under a title.
type pageRows struct {
	Title string
	Steps []*pageStep
}

// pageStep is a step, or several steps with equal changes.
type pageStep struct {
	Kind, Action, Class, Symbol, Many, Short, Why, Lost string
	Items                                               []pageItem
	Changes                                             []pageChange
	Members                                             []pageItem
}

// One returns the object of a step, or nil if the step stands for several objects.
func (ps *pageStep) One() *pageItem {
	if ps.Many != "" {
		return nil
	}
	return &ps.Items[0]
}

type pageItem struct{ Project, Name, Identifier, Address, Link, Remarks string }

type pageChange struct {
	Name, Note, Remark, Text string
	Before, After            pageValue
	Elements                 []pageElement
	Rows                     []diffRow
}

type pageValue struct {
	Text    string
	Missing bool
}

type pageElement struct {
	Text  string
	Added bool
}

// diffRow is a row of a difference: an equal line, a removed or added line, a changed line, or a gap for omitted equal lines.
type diffRow struct {
	Gap               bool
	Equal, Old, Added string // "" = the row is of another type
	Edits             []edit
}

func newPlanPage(plan *shownPlan) *planPage {
	where := plan.Where()
	place := where.Service
	if plan.Sandbox {
		place = "the sandbox " + where.Sandbox
	}
	p := &planPage{
		Policy: "default-src 'none'; style-src '" + integrity(pageCSS) + "'; script-src '" + integrity(pageJS) +
			"'; base-uri 'none'; form-action 'none'",
		Style: template.CSS(pageCSS), Script: template.JS(pageJS), //nolint:gosec // the program's own
		Title: Safe(cmp.Or(where.Workspace, "planform")), Counts: newTally(plan),
	}
	var changes []string
	for _, c := range plan.changeCounts() {
		if text := counts(c.count); text != "" {
			changes, p.Changes = append(changes, text), append(p.Changes, pageCount{text, c.action, classOf(c.action)})
		}
	}
	_, summary := plan.verdict() // without the counts, because p.Changes shows them
	p.Summary = strings.TrimLeft(strings.TrimPrefix(strings.TrimSpace(summary), strings.Join(changes, ", ")), ";. ")
	p.Told = plan.notices()
	noun, names := where.From(fewManifests)
	for _, f := range []pageFact{
		{"service", place, true},
		{"user", where.User, false},
		{noun, names, true},
		{"state", where.State, true},
		{"plan", plan.Hash, true},
	} {
		if f.Text = Safe(f.Text); f.Text != "" {
			p.Facts = append(p.Facts, f)
		}
	}
	notices, unseen, kept, stateChanges := plan.lists(true)
	p.Notices, p.Lists = newPageLists(notices), newPageLists(unseen, kept, stateChanges)
	for _, of := range sections() {
		section := pageSection{Title: of.title, Class: classOf(actionWord(of.action))}
		for _, project := range plan.review(of) {
			shown := pageProject{Title: project.title(Safe)}
			for _, rows := range gather(project.groups, manyRows, func(same []*entry) (string, bool) {
				return same[0].noun(), of.action != planner.Delete && len(same) == 1
			}) {
				part := pageRows{}
				if len(rows) > 1 {
					part.Title = diag.Count(len(rows), rows[0][0].noun())
				}
				for _, same := range rows {
					s := newPageStep(same)
					part.Steps, p.Kinds, p.Actions = append(part.Steps, s), append(p.Kinds, s.Kind), append(p.Actions, s.Action)
					section.Size += len(s.Items)
					for i := range s.Items {
						p.Projects = append(p.Projects, s.Items[i].Project)
					}
				}
				shown.Rows = append(shown.Rows, part)
			}
			section.Projects = append(section.Projects, shown)
		}
		if len(section.Projects) > 0 {
			p.Sections = append(p.Sections, section)
		}
	}
	for _, list := range []*[]string{&p.Projects, &p.Kinds, &p.Actions} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return p
}

func newPageLists(lists ...list) []pageList {
	var all []pageList
	for _, l := range lists {
		if len(l.sentences) > 0 {
			all = append(all, pageList{l.title, l.texts(func(s span) string { return Safe(s.text) })})
		}
	}
	return all
}

// classOf returns the CSS class of the elements of an action: its first word.
func classOf(action string) string {
	class, _, _ := strings.Cut(action, " ")
	return class
}

// integrity returns the hash of a text in the form of a content security policy.
func integrity(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func newPageStep(same []*entry) *pageStep {
	e := same[0]
	symbol, _ := (&palette{}).symbol(e.action)
	action := actionWord(e.action)
	s := &pageStep{Kind: e.kindName(), Action: action, Class: classOf(action), Symbol: symbol, Lost: Safe(e.lost())}
	if e.action == planner.NotPossible {
		s.Why = Safe(e.reason())
	}
	for _, one := range same {
		s.Items = append(s.Items, newPageItem(one, len(same) > 1))
	}
	if len(same) > 1 {
		s.Many = diag.Plural(e.noun())
	}
	if e.isMembership {
		s.Short = diag.Count(len(e.members), e.noun())
		for i, name := range e.memberNames() {
			address := e.members[i].Address
			s.Members = append(s.Members, pageItem{Name: Safe(e.plan.names[address]), Address: Safe(name)})
		}
		return s
	}
	var short []string
	for _, change := range e.changes() {
		c := newPageChange(&change)
		s.Changes = append(s.Changes, c)
		if change.form != formAdded {
			short = append(short, c.short())
		}
	}
	s.Short = strings.Join(short, ", ")
	if n := len(short); n > fewFields {
		s.Short = diag.Count(n, "field") + ": " + s.Short
	}
	s.Short = diag.Truncate(s.Short, shortText)
	return s
}

// newPageItem returns the line of the HTML page about one object. With ofMany, the line is in a group of objects with the same change, and
// the group shows the change and its reason.
func newPageItem(e *entry, ofMany bool) pageItem {
	item := pageItem{Project: Safe(cmp.Or(projectOf(e.address), "-")), Address: Safe(string(e.address)), Remarks: Safe(e.facts(ofMany))}
	item.Name = Safe(cmp.Or(e.step.Title, e.plan.names[e.address]))
	if e.step.Identifier != e.step.Title {
		item.Identifier = Safe(e.step.Identifier)
	}
	item.Link = e.link()
	return item
}

// link returns the URL of the object's page in the web app, or of its container's page, or "" if the URL is unknown.
func (e *entry) link() string {
	if e.plan.WebURL == "" || e.step.Page == "" {
		return ""
	}
	return strings.TrimSuffix(e.plan.WebURL, "/") + e.step.Page
}

// facts returns the step's reason, the object's position in the manifest, and its ID on the service. With ofMany it returns only the position.
func (e *entry) facts(ofMany bool) string {
	var parts []string
	if reason := e.reason(); reason != "" && !ofMany && e.action != planner.NotPossible {
		parts = append(parts, reason)
	}
	if e.step.Position != nil {
		parts = append(parts, e.step.Position.String())
	}
	if e.step.ID != nil && !ofMany {
		parts = append(parts, "ID "+*e.step.ID)
	}
	return strings.Join(parts, "; ")
}

func newPageChange(c *change) pageChange {
	page := pageChange{Name: Safe(c.label()), Note: c.note, Remark: Safe(c.remark)}
	value := func(v *value) pageValue { return pageValue{v.inline(true), v.missing != ""} }
	switch {
	case c.form == formAdded && c.after.isLong():
		page.Text = shownText(c.after.text)
	case c.form == formAdded:
		page.Note = c.after.inline(true)
	case c.form == formRelisted:
		c.relisting("−", true, func(text string, added bool) string {
			page.Elements = append(page.Elements, pageElement{Safe(text), added})
			return text
		})
	case c.form == formEdited && !c.before.list && !c.after.list:
		page.Rows = diffRows(c.before.text, c.after.text)
	case c.form != formNoted:
		page.Before, page.After = value(&c.before), value(&c.after)
	}
	return page
}

// short returns the change as one line, to stand beside an address.
func (pc *pageChange) short() string {
	parts := []string{pc.Name, pc.Note}
	if pc.After.Text != "" {
		parts = append(parts, pc.Before.Text, "→", pc.After.Text)
	}
	for _, e := range pc.Elements {
		parts = append(parts, e.Text)
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// shownText returns a text with its line ends, cut after the number of characters that a page shows.
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

// diffRows returns the difference of two texts as rows of an old line beside a new line, with the words that differ.
func diffRows(before, after string) []diffRow {
	var rows []diffRow
	c := &comparison{comparedPairs}
	shown := func(text string) string { return Safe(cut(text, pageText)) }
	whole := func(l line) string { return cmp.Or(shown(l.text), " ") }
	eachRun(c.texts(before, after), func(l line) {
		rows = append(rows, diffRow{Gap: l.sign == gap, Equal: whole(l)})
	}, func(old, added []line) {
		for i := range max(len(old), len(added)) {
			switch {
			case i >= len(old):
				rows = append(rows, diffRow{Added: whole(added[i])})
			case i >= len(added):
				rows = append(rows, diffRow{Old: whole(old[i])})
			default:
				edits := c.words(old[i].text, added[i].text)
				for j, e := range edits {
					edits[j] = edit{shown(e.Same), shown(e.Old), shown(e.Added)}
				}
				rows = append(rows, diffRow{Edits: edits})
			}
		}
	})
	return rows
}
