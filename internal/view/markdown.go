package view

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

const (
	// markdownBytes is the maximum size of a plan as Markdown. GitHub allows 65,536 characters in a comment.
	markdownBytes = 65_000
	sectionEnd    = 250 // bytes that the beginning and the end of a section may take
	alikeSteps    = 3   // equal changes from which they are shown as one
	tableRows     = 40
)

// markdownFormat shows a plan for a comment on a pull request: a summary, then a folded section for each action, the most
// important one first. If a section does not fit into the comment, its last entries are left out and counted.
type markdownFormat struct{ textFormat }

func (markdownFormat) plan(v *View, d *planfile.Document) error {
	_, err := v.show(func(out *printer) { out.print(markdownPlan(newShownPlan(d, v.o.PerMinute))) })
	return err
}

// markdown builds the Markdown text of a plan.
type markdown struct{ b strings.Builder }

func markdownPlan(plan *shownPlan) string {
	m := &markdown{}
	m.head(plan)
	m.table(newTally(plan))
	sections := slices.DeleteFunc(m.sections(plan), func(s markdownSection) bool { return len(s.entries) == 0 })
	for i, s := range sections {
		m.section(s, markdownBytes-sectionEnd*(len(sections)-i))
	}
	return m.b.String()
}

func (m *markdown) line(parts ...string) {
	for _, p := range parts {
		m.b.WriteString(p)
	}
	m.b.WriteByte('\n')
}

// head writes the summary of the plan, its workspace, its service and its manifests.
func (m *markdown) head(plan *shownPlan) {
	m.line("### planform plan\n")
	_, text := plan.verdict()
	m.line(strings.TrimSpace(text), "\n")
	if told := plan.notices(); told != "" {
		m.line(escapeMarkdown(told), "\n")
	}
	place := plan.BaseURL
	if plan.SandboxFile != nil {
		place = "the sandbox"
	}
	if plan.Workspace != "" {
		noun, names := plan.Where().From(fewManifests)
		m.line("Workspace ", code(plan.Workspace), " at ", code(place), ", "+noun+" ", code(names), ".\n")
	}
	if !plan.isUnremarkable() {
		m.line("Plan ", code(plan.Hash), "\n")
	}
}

// table counts the steps of each kind in each project.
func (m *markdown) table(t tally) {
	if len(t.Rows) == 0 {
		return
	}
	m.line("| project | kind | ", strings.Join(t.Columns, " | "), " |")
	m.line("|---|---|", strings.Repeat("--:|", len(t.Columns)))
	for i, r := range t.Rows {
		if i == tableRows {
			m.line("| … | ", diag.Count(len(t.Rows)-i, "more row"), " |")
			break
		}
		m.line("| ", strings.ReplaceAll(code(cmp.Or(r.Project, "-")), "|", `\|`), " | ", r.Kind, " | ", strings.Join(r.Counts, " | "), " |")
	}
	m.line()
}

// markdownSection is a folded list of entries.
type markdownSection struct {
	title   string
	open    bool
	n       int // number of steps or sentences, in the title
	entries []string
}

// sections returns the sections of a plan, the most important ones first. Some may be empty.
func (m *markdown) sections(plan *shownPlan) []markdownSection {
	said := func(l list, open bool) markdownSection {
		entries := l.texts(span.markdown)
		for i, text := range entries {
			entries[i] = "- " + text + "\n"
		}
		return markdownSection{l.title, open, len(entries), entries}
	}
	notices, unseen, kept, stateChanges := plan.lists(false)
	all := []markdownSection{said(notices, true)}
	for _, of := range sections() {
		s := markdownSection{title: of.title, open: of.open}
		for _, project := range plan.review(of) {
			s.n += len(slices.Concat(project.groups...))
			entries := markdownEntries(project.groups)
			if text := project.title(code); text != "" {
				entries[0] = strings.Repeat("\n", min(len(s.entries), 1)) + "**" + text + "**\n\n" + entries[0]
			}
			s.entries = append(s.entries, entries...)
		}
		all = append(all, s)
		if of.action == planner.NotPossible && !of.old {
			all = append(all, said(unseen, false), said(kept, false))
		}
	}
	return append(all, said(stateChanges, false))
}

// section writes a section. It stops before an entry that would exceed the limit, and counts the rest.
func (m *markdown) section(s markdownSection, limit int) {
	tag := "<details>"
	if s.open {
		tag = "<details open>"
	}
	m.line(tag, "<summary>", html.EscapeString(s.title), " (", strconv.Itoa(s.n), ")</summary>\n")
	for i, e := range s.entries {
		if m.b.Len()+len(e) > limit {
			m.line("- … ", diag.Count(len(s.entries)-i, "more entry"),
				", left out because a comment takes no more: `planform plan --full` shows all")
			break
		}
		m.b.WriteString(e)
	}
	m.line("\n</details>\n")
}

func markdownEntries(groups [][]*entry) []string {
	var all []string
	for _, same := range groups {
		e := same[0]
		if len(same) > 1 {
			places := positions(same)
			if places != "" {
				places = "; " + places
			}
			all = append(all, "- "+"**"+diag.Count(len(same), e.noun())+"**"+e.markdown()+"  "+firstNames(same, code)+escapeMarkdown(places)+"\n")
			continue
		}
		text := "- " + code(string(e.address))
		// The object has a page of its own only if it has an ID. The URL must not break the markup.
		if link := e.link(); link != "" && e.step.ID != nil && !strings.ContainsAny(link, "<>()\\` \n") {
			text = "- [" + code(string(e.address)) + "](" + link + ")"
		}
		identifier, title := e.displayNames()
		if identifier != "" {
			text += " " + code(identifier)
		}
		if title != "" {
			text += " " + "**" + code(diag.Truncate(title, inlineText)) + "**"
		}
		all = append(all, text+e.markdown())
	}
	return all
}

// markdown returns the text after the entry's address: short changes on the same line, differences of long texts on lines below.
func (e *entry) markdown() string {
	why := ""
	switch text := escapeMarkdown(e.reason()); {
	case e.step.Unsupported != "":
		why = ": " + text
	case text != "":
		why = " (" + text + ")"
	}
	if e.isMembership {
		text := ": " + diag.Count(len(e.members), e.noun())
		names := e.namedMembers()
		for i, name := range names {
			names[i] = code(name)
		}
		if len(names) > 0 {
			text += " " + diag.First(names, namedSteps)
		}
		return text + why + "\n"
	}
	var short, long []string
	for _, c := range e.changes() {
		path, remark := code(c.label()), ""
		if c.remark != "" {
			remark = " (" + escapeMarkdown(c.remark) + ")"
		}
		switch {
		case c.path == "":
			short = append(short, c.note)
		case c.form == formNoted:
			short = append(short, path+" "+c.note+remark)
		case c.form == formAdded:
			short = append(short, path+" "+c.after.span(false).markdown())
		case c.form == formRelisted:
			short = append(short, path+" "+c.relisting("-", false, func(text string, _ bool) string { return code(text) })+remark)
		case c.form == formEdited:
			long = append(long, "  "+path+remark+"\n"+fenced(difference(c.before.text, c.after.text, false)))
		case c.form == formReplaced:
			short = append(short, path+" "+c.before.span(false).markdown()+" → "+c.after.span(false).markdown()+remark)
		}
	}
	if lost := e.lost(); lost != "" {
		short = append(short, escapeMarkdown(lost))
	}
	if len(short) > 0 {
		why += ": " + strings.Join(short, ", ")
	}
	return why + "\n" + strings.Join(long, "")
}

func (sp span) markdown() string {
	if sp.code {
		return code(sp.text)
	}
	return escapeMarkdown(sp.text)
}

// code returns a text as Markdown code, so that nothing in it is markup or a mention.
func code(text string) string {
	text = strings.ReplaceAll(Safe(text), "\n", " ")
	fence := strings.Repeat("`", longestRun(text)+1)
	if text == "" || strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// fenced returns a difference as a code block within a list.
func fenced(lines []line) string {
	var b strings.Builder
	longest := 2
	for i, l := range lines {
		switch {
		case i == differLines && len(lines) > differLines+1:
			l = line{sign: ' ', text: "… " + moreLines(lines[i:])}
		case i > differLines && len(lines) > differLines+1:
			continue
		case l.sign == gap:
			l = line{sign: ' ', text: "…"}
		}
		texts := []string{string(l.sign) + " " + l.text}
		if l.sign == '~' {
			texts = []string{"- ", "+ "} // GitHub colours lines with these signs
			for _, e := range l.edits {
				texts[0] += e.Same + e.Old
				texts[1] += e.Same + e.Added
			}
		}
		for _, text := range texts {
			text = strings.TrimRight(Safe(text), " ")
			longest = max(longest, longestRun(text))
			b.WriteString("  " + text + "\n")
		}
	}
	fence := strings.Repeat("`", longest+1)
	return "\n  " + fence + "diff\n" + b.String() + "  " + fence + "\n"
}

// longestRun returns the length of the longest run of back-ticks in a text.
func longestRun(text string) (longest int) {
	for run := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '`' }) {
		longest = max(longest, len(run))
	}
	return longest
}

// escapeMarkdown escapes a text, so that it contains no markup, HTML or mention.
func escapeMarkdown(text string) string {
	var b strings.Builder
	for _, r := range Safe(text) {
		if strings.ContainsRune("\\`*_{}[]<>#|~@&", r) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
