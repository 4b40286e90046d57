package convert

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
)

// guessed is the comment of an entry that convert filled in.
const guessed = "# guessed"

type tally map[string]int

// each calls a function for each name: first the open names, then the others, and the most frequent first.
func (t tally) each(open func(name string) bool, do func(name string, n int)) {
	names := slices.SortedFunc(maps.Keys(t), func(a, b string) int {
		if x, y := open(a), open(b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(t[b], t[a]), cmp.Compare(a, b))
	})
	for _, name := range names {
		if name != "" {
			do(name, t[name])
		}
	}
}

// never returns false: no name is open.
func never(string) bool { return false }

// complete adds to the mapping file the entries that the export needs and the file lacks.
func complete(f *mapping.File, m *mapping.Mapping, c *collection, issues []*Issue, format *Format, zone string) {
	f.Set("version", 1, "")
	source, hints := manifest.Map{{Key: "format", Value: format.Name}}, []string{}
	if c.browse != "" {
		source = append(source, manifest.Entry{Key: "site", Value: cmp.Or(c.site, mapping.Open)})
		if c.site == "" {
			hints = append(hints, "site: what stands before "+c.browse+" in the addresses of "+format.Tracker+", such as https://example.com")
		}
	}
	if c.zone {
		source = append(source, manifest.Entry{Key: "timezone", Value: zone})
	}
	if !c.dates.IsZero() {
		source = append(source, manifest.Entry{Key: "dates", Value: mapping.Open})
		hints = append(hints, "dates: dmy or mdy, as day or month comes first")
	}
	f.Set("source", source, strings.TrimSuffix("# "+strings.Join(hints, "; "), "# "))
	completeColumns(f, c)
	guessProjects(f, m, c, issues)
	guessPeople(f, c, issues)
	f.Set("unknown_people", "text",
		"# text: not assigned, named in the description; fail: exit code 3; or the e-mail address of the person who gets their items")
	guessStates(f, issues, format)
	guessNames(f, c, issues)
	f.Set("labels", manifest.Map{{Key: "rename", Value: manifest.Map{}}, {Key: "skip", Value: []string{}}, {Key: "add", Value: []string{}}, {Key: "case", Value: "fold"}}, "")
	f.Set("components", "module", "# module, label or skip")
	due, archived, attached, past := false, false, false, false
	for _, i := range c.issues {
		archived, attached = archived || i.Archived, attached || len(i.Attachments) > 0
	}
	for _, i := range issues {
		due = due || slices.ContainsFunc(i.Versions, func(v Version) bool { return v.Due != "" })
		past = past || i.aside.past || i.Left["watchers"]+i.Left["votes"] > 0
	}
	versions := "label"
	if due || slices.Contains([]string{"github", "gitlab"}, format.Name) {
		versions = "module"
	}
	f.Set("versions", manifest.Map{{Key: "fix", Value: versions}, {Key: "affects", Value: "skip"}, {Key: "prefix", Value: ""}},
		"# fix: module, label or skip")
	f.Set("sprints", "cycle", "# cycle or skip")
	if archived {
		f.Set("archived", "skip", "# skip, keep or archive")
	}
	text, comment := manifest.Map{{Key: "references", Value: "link"}}, "# references: link (to the items that texts name) or text"
	if kind := guessMarkup(issues); kind != "" {
		text, comment = append(text, manifest.Entry{Key: "markup", Value: kind}), comment+"; markup: markdown or plain, guessed"
	}
	f.Set("text", text, comment)
	f.Set("comments", manifest.Map{{Key: "to", Value: "comments"}}, "")
	if attached {
		f.Set("attachments", manifest.Map{{Key: "to", Value: "upload"}, {Key: "folder", Value: "attachments"}},
			"# to: upload (what lies in the folder; the rest is linked to) or skip")
	}
	f.Set("history", manifest.Map{{Key: "dates", Value: "text"}, {Key: "link", Value: "text"}},
		"# dates: text (author and date in the text) or full (created_at and created_by); link to the old address: text, link (one request an item) or none")
	if past {
		f.Set("summary", "off", "# a comment of each item with its work logs, watchers, votes and changes: off, short, or full (each of them)")
	}
	f.Set("allow", manifest.Map{}, "# losses that you accept, such as {watchers: all, titles-cut: 3}")
}

// completeColumns adds the columns of tables to the mapping file, with guesses or open questions.
func completeColumns(f *mapping.File, c *collection) {
	f.Set("version", 1, "")
	for _, column := range c.columns {
		comment := guessed
		if column.Value == mapping.Open {
			comment = "# write a field, skip, or text (a row of the table in the description); until then it is text"
		}
		f.Add("columns", column.Key, column.Value, comment)
	}
}

// markdownMarks matches signs of Markdown in a text.
var markdownMarks = regexp.MustCompile("(?m)^```|^#{2,6} \\S|\\*\\*[^*\\s][^*\\n]*\\*\\*|\\[[^\\]\\n]+\\]\\([a-z]+:|`[^`\\n]+`|^[-*] \\[[ xX]\\] ")

// guessMarkup returns the markup of texts for which the format does not know it, or "" if there are none. The guess is Markdown if one text
// of ten has signs of it.
func guessMarkup(issues []*Issue) string {
	texts, marked := 0, 0
	for _, i := range issues {
		if i.Text.Markup != Unsaid || !i.aside.hasText {
			continue
		}
		if texts++; i.aside.marked {
			marked++
		}
	}
	switch {
	case texts == 0:
		return ""
	case marked*10 >= texts:
		return "markdown"
	}
	return "plain"
}

var notIdentifier = regexp.MustCompile(`[^A-Z0-9_]+`)

// guessProjects adds the projects of the export with unique keys and identifiers.
func guessProjects(f *mapping.File, m *mapping.Mapping, c *collection, issues []*Issue) {
	n := tally{}
	for _, i := range issues {
		n[i.Project]++
	}
	keys, identifiers := map[string]bool{}, map[string]bool{}
	for _, name := range m.Projects.Named(func(mapping.Project) bool { return true }) {
		p, _ := m.Projects.Find(name)
		keys[p.Key], identifiers[strings.ToUpper(p.Identifier)] = true, true
	}
	n.each(never, func(key string, _ int) {
		if _, known := m.Projects.Find(key); known {
			return
		}
		_, short, _ := strings.Cut(key, "/")
		short = cmp.Or(c.projects[key].Short, short, key)
		identifier := notIdentifier.ReplaceAllString(strings.ToUpper(short), "")
		identifier = cmp.Or(identifier[:min(len(identifier), 12)], "PROJECT")
		slug, name := cmp.Or(resource.Slug(short), "project"), projectName(cmp.Or(c.projects[key].Name, short))
		first := [3]string{slug, identifier, name}
		for number := 2; keys[slug] || identifiers[identifier]; number++ { // two repositories of one name, or names that begin alike
			n := strconv.Itoa(number)
			slug, identifier, name = first[0]+"-"+n, beginningOf(first[1], 12-len(n))+n, first[2]+" "+n
		}
		keys[slug], identifiers[identifier] = true, true
		f.Add("projects", key, manifest.Map{{Key: "key", Value: slug}, {Key: "identifier", Value: identifier}, {Key: "name", Value: name}},
			guessed)
	})
}

// projectName returns a name without the characters that the service refuses in the name of a project.
func projectName(name string) string {
	field, _ := resource.MustLookup("project").Field("name")
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(field.Forbidden, r) || r < ' ' {
			return ' '
		}
		return r
	}, name)
	return cmp.Or(diag.Truncate(diag.OneLine(name), 200), "Project")
}

// guessPeople adds the people of the export with their e-mail addresses, or with open questions.
func guessPeople(f *mapping.File, c *collection, issues []*Issue) {
	assigned, reported, commented, all := tally{}, tally{}, tally{}, tally{}
	for _, i := range issues {
		for _, id := range i.Assignees {
			assigned[id]++
		}
		reported[cmp.Or(i.Reporter, i.Creator)]++
		for _, comment := range i.Comments {
			commented[comment.Author]++
		}
		for _, id := range i.involved() {
			all[id]++
		}
	}
	same := map[string][]string{} // IDs of people, by their name
	for _, id := range slices.Sorted(maps.Keys(all)) {
		same[c.name(id)] = append(same[c.name(id)], id)
	}
	open := func(id string) bool { p := c.people[id]; return p == nil || p.Email == "" && !p.Bot && !p.Left }
	all.each(open, func(id string, _ int) {
		var did []string
		for _, what := range []struct {
			n    int
			word string
		}{{assigned[id], "assigned"}, {reported[id], "reported"}} {
			if what.n > 0 {
				did = append(did, fmt.Sprintf("%d %s", what.n, what.word))
			}
		}
		if commented[id] > 0 {
			did = append(did, diag.Count(commented[id], "comment"))
		}
		comment := strings.TrimSuffix("# "+diag.Truncate(c.name(id), 100)+" - "+strings.Join(did, ", "), " - ")
		if others := slices.DeleteFunc(slices.Clone(same[c.name(id)]), func(other string) bool { return other == id }); len(others) > 0 {
			comment += "; " + strings.Join(others, ", ") + " has the same name"
		}
		switch p := c.people[id]; {
		case p != nil && p.Left:
			f.Add("people", id, "text", comment+"; guessed: left")
		case p != nil && c.isOutsider(p.Email):
			f.Add("people", id, "text", comment+"; guessed: "+p.Email+" is no member")
		case p != nil && p.Email != "":
			f.Add("people", id, p.Email, comment)
		case p != nil && p.Bot:
			f.Add("people", id, "bot", comment+"; guessed")
		default:
			f.Add("people", id, mapping.Open, comment)
		}
	})
}

// predefined returns the default state of Plane that a name stands for, or "" if there is none.
func predefined(name string) string { return words.Guess("state", mapping.Fold(name)) }

// groupOf returns the group of a default state of Plane, or "" for another state.
func groupOf(state string) string {
	if predefined(state) != state {
		return ""
	}
	return words.Guess("group", mapping.Fold(state))
}

// guessStates adds the states of the export with their names and groups in Plane.
func guessStates(f *mapping.File, issues []*Issue, format *Format) {
	tells := slices.Contains([]string{"jira-json", "jira-backup", "linear-json"}, format.Name) // which group a state is of
	n, category, resolved := tally{}, map[string]string{}, map[string]bool{}
	for _, i := range issues {
		n[i.State.Name]++
		category[i.State.Name] = cmp.Or(category[i.State.Name], i.State.Category)
		resolved[i.State.Name] = resolved[i.State.Name] || i.Resolution != ""
	}
	group := func(name string) string {
		undone := words.Guess("undone", strings.NewReplacer("'", "", "’", "", "-", "", "_", "").Replace(mapping.Fold(name)))
		return cmp.Or(groupOf(predefined(name)), undone, category[name], mapping.Open) // the tracker's own group may be completed
	}
	n.each(func(name string) bool { return group(name) == mapping.Open }, func(name string, _ int) {
		to := cmp.Or(predefined(name), plainName(name))
		if strings.EqualFold(to, "triage") { // the service reserves this name
			to = "In Triage"
		}
		pairs := manifest.Map{{Key: "name", Value: to}}
		if predefined(name) == "" {
			pairs = append(pairs, manifest.Entry{Key: "group", Value: group(name)})
		}
		if group(name) == "completed" && resolved[name] {
			cancelled := []string{"Won't Do", "Won't Fix", "Duplicate", "Cannot Reproduce", "Declined", "Invalid", "not_planned"}
			pairs = append(pairs, manifest.Entry{Key: "unless", Value: manifest.Map{{Key: "resolution", Value: cancelled}}},
				manifest.Entry{Key: "else", Value: "Cancelled"})
		}
		if len(pairs) == 1 {
			f.Add("states", name, to, guessed)
			return
		}
		comment := guessed
		if tells && predefined(name) == "" && group(name) == category[name] {
			comment += "; the group is that of " + format.Tracker
		}
		f.Add("states", name, pairs, comment)
	})
}

func guessPriority(name string) string {
	return cmp.Or(words.Guess("priority", mapping.Fold(name)), mapping.Open)
}

func guessLink(name string) string {
	switch word := mapping.Fold(name); {
	case strings.HasPrefix(word, "block"):
		return "blocks"
	case strings.HasPrefix(word, "duplicate"):
		return "duplicate"
	}
	return "relates_to"
}

// guessNames adds the priorities, types, links and fields of the export.
func guessNames(f *mapping.File, c *collection, issues []*Issue) {
	priorities, types, links, fields, noise := tally{}, tally{}, tally{}, tally{}, map[string]bool{}
	held := map[string]tally{}           // values of fields
	said := map[string]map[bool]string{} // words of a type of link, by whether they are inward
	for _, i := range issues {
		priorities[i.Priority]++
		types[i.Type]++
		for _, l := range i.Links {
			links[l.Type]++
			if said[l.Type] == nil {
				said[l.Type] = map[bool]string{}
			}
			said[l.Type][l.Inward] = cmp.Or(said[l.Type][l.Inward], l.Word)
			said[l.Type][!l.Inward] = cmp.Or(said[l.Type][!l.Inward], l.Other)
		}
		for _, field := range c.fields(i) {
			if _, seen := fields[field.Name]; !seen {
				noise[field.Name], held[field.Name] = true, tally{}
			}
			if value := diag.Truncate(diag.OneLine(plainName(field.Value)), 30); len(held[field.Name]) < 100 || held[field.Name][value] > 0 {
				held[field.Name][value]++
			}
			fields[field.Name]++
			noise[field.Name] = noise[field.Name] && field.Noise
		}
	}
	priorities.each(func(name string) bool { return guessPriority(name) == mapping.Open }, func(name string, _ int) {
		comment := guessed
		if guessPriority(name) == mapping.Open {
			comment = "# urgent, high, medium, low or none"
		}
		f.Add("priorities", name, guessPriority(name), comment)
	})
	types.each(never, func(name string, _ int) {
		var to any = plainName(name)
		switch kind := words.Guess("type", mapping.Fold(name)); {
		case kind == "epic":
			to = manifest.Map{{Key: "name", Value: to}, {Key: "is_epic", Value: true}}
		case kind != "":
			to = kind
		case to == "skip": // the word skip would leave the type out
			to = manifest.Map{{Key: "name", Value: name}}
		}
		f.Add("types", name, to, guessed)
	})
	links.each(never, func(name string, _ int) {
		comment := guessed
		if kind := guessLink(name); kind == "relates_to" && !strings.HasPrefix(mapping.Fold(name), "relate") {
			outward, inward := cmp.Or(diag.OneLine(said[name][false]), "TEXT"), cmp.Or(diag.OneLine(said[name][true]), "TEXT")
			comment += "; or {outward: " + outward + ", inward: " + inward + "}, with API v2"
		}
		f.Add("links", name, guessLink(name), comment)
	})
	fields.each(never, func(name string, items int) {
		comment, to := guessed+"; in "+diag.Count(items, "item"), "text"
		held[name].each(never, func(value string, n int) { // the most frequent comes first
			if n > 1 && !strings.Contains(comment, " value") {
				comment += ", " + diag.Count(len(held[name]), "value") + ": " + value + " " + strconv.Itoa(n)
			}
		})
		switch words.Guess("field", mapping.Fold(name)) {
		case estimatePoint:
			comment += "; write estimate_point to make the value the item's estimate"
		case "sort_order":
			comment += "; write sort_order to keep the order of the items"
		}
		if noise[name] {
			to = "skip"
		}
		f.Add("fields", name, to, comment)
	})
}
