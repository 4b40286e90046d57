package view

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/planfile"
	"github.com/planform/planform/planner"
)

const (
	// markdownBytes is the most that a plan takes as Markdown. A comment on GitHub takes 65,536 characters.
	markdownBytes = 65_000
	sectionEnd    = 250 // bytes that the beginning and the end of a section may take
	alikeSteps    = 3   // from which equal changes are shown as one
	namedSteps    = 10  // of equal changes
	tableRows     = 40
)

// PlanMarkdown shows a plan on standard output as Markdown, for a comment on a pull request: a summary, then a folded
// section for each action, what is most worth a look first. Steps with equal changes are one entry. Where it does not fit
// into a comment, the last entries are left out, and counted.
func (v *View) PlanMarkdown(plan *planner.Plan, d *planfile.Document) error {
	return v.show(func(out *printer) { out.print(markdownPlan(plan, d, v.o.PerMinute)) })
}

// markdown is a text that grows up to a limit.
type markdown struct {
	palette // without colours

	b strings.Builder
}

func markdownPlan(plan *planner.Plan, d *planfile.Document, perMinute int) string {
	m := &markdown{palette: newPalette(false)}
	m.head(plan, d, perMinute)
	m.table(plan)
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

// head is what the plan does in all, and where.
func (m *markdown) head(plan *planner.Plan, d *planfile.Document, perMinute int) {
	where := d.Where()
	m.line("### planform plan\n")
	m.line(inShort(plan, perMinute), "\n")
	place := where.Service
	if where.Sandbox != "" {
		place = "the sandbox"
	}
	if where.Workspace != "" {
		m.line("Workspace ", code(where.Workspace), " at ", code(place), ", manifest ", code(firstFew(where.Manifests)), ".\n")
	}
	if !unremarkable(plan) {
		m.line("Plan ", code(d.Hash), "\n")
	}
}

// table counts the steps of each kind in each project.
func (m *markdown) table(plan *planner.Plan) {
	t := newTally(plan)
	if len(t.rows) == 0 {
		return
	}
	m.line("| project | kind | ", strings.Join(t.columns, " | "), " |")
	m.line("|---|---|", strings.Repeat("--:|", len(t.columns)))
	for i, r := range t.rows {
		if i == tableRows {
			m.line("| … | ", diag.Count(len(t.rows)-i, "more row"), " |")
			break
		}
		m.line("| ", strings.ReplaceAll(code(cmp.Or(r.project, "-")), "|", `\|`), " | ", r.kind, " | ", strings.Join(r.counts, " | "), " |")
	}
	m.line()
}

// markdownSection is a folded list of entries.
type markdownSection struct {
	title   string
	open    bool
	n       int // of what the entries are about
	entries []string
}

// sections are those of a plan, what is most worth a look first.
func (m *markdown) sections(plan *planner.Plan) []markdownSection {
	steps := map[planner.Action][]*planner.Step{}
	outline := newOutline(plan)
	for i, s := range plan.Steps {
		action := shownAction(s)
		if s.Unsupported != "" || s.Members == nil || outline.batches[batchOf(s)].at == i {
			steps[action] = append(steps[action], s)
		}
	}
	var notices, kept, corrected []string
	for _, d := range plan.Notices {
		text := d.Severity.String() + ": " + escapeMarkdown(d.Summary)
		if !d.Position.IsZero() {
			text += " (" + code(d.Position.String()) + ")"
		}
		if d.Hint != "" {
			text += "; " + escapeMarkdown(d.Hint)
		}
		notices = append(notices, "- "+text+"\n")
	}
	for _, d := range plan.Drift {
		if d.Kept {
			s := &planner.Step{Kind: d.Object.Kind}
			kept = append(kept, "- "+code(string(d.Object.Address))+": "+code(d.Change.Path)+" "+m.value(s, d.Change, d.Change.Before)+
				", changed on the service"+escapeMarkdown(changedBy(d.Change))+"; the manifest says "+m.value(s, d.Change, d.Change.After)+"\n")
		}
	}
	for _, c := range plan.StateChanges {
		if c.Why != "" {
			corrected = append(corrected, "- "+code(string(c.From))+": "+escapeMarkdown(c.Why)+"\n")
		}
	}
	of := func(title string, open bool, a planner.Action) markdownSection {
		return markdownSection{title, open, len(steps[a]), m.entries(outline, steps[a])}
	}
	return []markdownSection{
		{"Notices", true, len(notices), notices},
		of("Not possible", true, planner.NotPossible),
		of("Delete", true, planner.Delete),
		{"Kept as changed on the service", false, len(kept), kept},
		of("Update", false, planner.Update),
		of("Remove members", false, planner.RemoveMembers),
		of("Create", false, planner.Create),
		of("Adopt", false, planner.Adopt),
		of("Add members", false, planner.AddMembers),
		{"Correct in the state", false, len(corrected), corrected},
	}
}

// section writes a section, as much of it as fits before the limit.
func (m *markdown) section(s markdownSection, limit int) {
	tag := "<details>"
	if s.open {
		tag = "<details open>"
	}
	m.line(tag, "<summary>", html.EscapeString(s.title), " (", strconv.Itoa(s.n), ")</summary>\n")
	for i, e := range s.entries {
		if m.b.Len()+len(e) > limit {
			m.line("- … ", diag.Count(len(s.entries)-i, "more entry"), ", left out because a comment takes no more: `planform plan --full` shows all")
			break
		}
		m.b.WriteString(e)
	}
	m.line("\n</details>\n")
}

// entries are those of steps of one action: one for each, or one for several with equal changes.
func (m *markdown) entries(o *outline, steps []*planner.Step) []string {
	var order []string
	alike := map[string][]*planner.Step{}
	for _, s := range steps {
		key := sameAs(s)
		if alike[key] == nil {
			order = append(order, key)
		}
		alike[key] = append(alike[key], s)
	}
	var entries []string
	for _, key := range order {
		same := alike[key]
		what := m.what(o, same[0])
		if len(same) < alikeSteps {
			for _, s := range same {
				entries = append(entries, "- "+code(containerAddress(s))+markdownName(s)+what)
			}
			continue
		}
		text := "- **" + diag.Count(len(same), "object") + "**"
		if same[0].Kind != nil {
			text = "- **" + diag.Count(len(same), same[0].Kind.Noun()) + "**"
		}
		text += what + "  " + strings.Join(firstNames(same, func(s *planner.Step) string { return code(containerAddress(s)) }), ", ")
		entries = append(entries, text+"\n")
	}
	return entries
}

// markdownName is what people call the object of a step, behind its address.
func markdownName(s *planner.Step) string {
	text := ""
	identifier, title := called(s)
	if identifier != "" {
		text = " " + code(identifier)
	}
	if title != "" {
		text += " " + code(quote(diag.Truncate(title, longText)))
	}
	return text
}

// sameAs is equal for steps that change equal fields of one kind in the same way. Each deletion is worth its own look.
func sameAs(s *planner.Step) string {
	if s.Members != nil || s.Kind == nil || s.Action == planner.Delete {
		return "at " + strconv.Itoa(s.Index)
	}
	var key strings.Builder
	fmt.Fprintln(&key, s.Kind.Name, why(s), s.Unsupported)
	for _, c := range s.Changes() {
		text := []string{"", ""}
		for i, t := range []*string{c.Before, c.After} {
			if t != nil {
				text[i] = strconv.Quote(*t)
			}
		}
		if c.References > 0 {
			text = nil
		}
		fmt.Fprintln(&key, c.Path, text, c.Origin, c.Possible, c.By, c.At, c.References)
	}
	return key.String()
}

// what a step does, behind its address: on the same line, with lines below for long texts.
func (m *markdown) what(o *outline, s *planner.Step) string {
	if s.Members != nil {
		text := ": " + diag.Count(memberCount(s), memberNoun(s))
		if b := o.batches[batchOf(s)]; b != nil {
			text = ": " + diag.Count(b.members, memberNoun(s))
			if b.members <= fewMembers {
				names := make([]string, 0, len(b.few))
				for _, member := range b.few {
					names = append(names, code(memberName(s, member)))
				}
				text += " " + strings.Join(names, ", ")
			}
		}
		return text + m.reason(s) + "\n"
	}
	var short, long []string
	changes := s.Changes()
	for i := range changes {
		c := &changes[i]
		f := s.Field(c.Path)
		switch {
		case isMark(s, c):
			short = append(short, "its mark on the service follows its key")
		case c.References > 0:
			short = append(short, code(c.Path)+" "+diag.Count(c.References, "reference"))
		case s.Action == planner.Create && c.After == nil: // a new object starts without
		case s.Action == planner.Create && c.Path == "name":
			short = slices.Insert(short, 0, code(inline(f, *c.After)))
		case s.Action == planner.Create:
			short = append(short, code(c.Path)+" "+code(inline(f, strings.TrimSuffix(*c.After, "\n"))))
		case isLong(f, c.Before) || isLong(f, c.After):
			long = append(long, "  "+code(c.Path)+m.remark(s, c)+"\n"+fenced(difference(c.Before, c.After, false)))
		default:
			short = append(short, code(c.Path)+" "+m.value(s, c, c.Before)+" → "+m.value(s, c, c.After)+m.remark(s, c))
		}
	}
	text := m.reason(s)
	if len(short) > 0 {
		text += ": " + strings.Join(short, ", ")
	}
	return text + "\n" + strings.Join(long, "")
}

func (m *markdown) reason(s *planner.Step) string {
	switch {
	case s.Unsupported != "":
		return ": " + escapeMarkdown("this edition of the service has no "+s.Unsupported)
	case why(s) != "":
		return " (" + escapeMarkdown(why(s)) + ")"
	}
	return ""
}

// why is the reason of a step, or by what its object was found.
func why(s *planner.Step) string {
	if s.Action == planner.Adopt {
		return s.FoundBy()
	}
	return s.Reason
}

func (m *markdown) value(s *planner.Step, c *planner.Change, text *string) string {
	f := s.Field(c.Path)
	if text == nil {
		return absent(f, c)
	}
	return code(inline(f, *text))
}

func (m *markdown) remark(s *planner.Step, c *planner.Change) string {
	if text := strings.TrimSpace(m.remarks(s, s.Field(c.Path), c)); text != "" {
		return " " + escapeMarkdown(text)
	}
	return ""
}

// code is a text as code, in which nothing is markup and nobody is mentioned.
func code(text string) string {
	text = strings.ReplaceAll(Safe(text), "\n", " ")
	fence := strings.Repeat("`", longestRun(text)+1)
	if text == "" || strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// fenced is a difference as a block of code within a list.
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
			texts = []string{"- ", "+ "} // which are coloured
			for _, e := range l.edits {
				texts[0] += e.same + e.old
				texts[1] += e.same + e.added
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

// longestRun is the length of the longest run of back-ticks.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// escapeMarkdown makes a text plain: no markup, no HTML, no mention.
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
