package convert

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert/mapping"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/manifest"
)

// part is a part of an item that is made from values of the source: the field of [Issue] or the role of several fields, and the element of a
// list, such as the name of a label. The element "" stands for all elements that have no entry.
type part struct {
	of      Role
	element string
}

// booked holds the outcomes of the parts of an item. Each writer books the parts that it writes, leaves out or loses. Of two outcomes of one
// part the better one counts.
type booked map[part]outcome

// put books all elements of a part that have no entry.
func (b booked) put(of Role, to outcome) { b[part{of: of}] = max(b[part{of: of}], to) }

func (b booked) putElement(of Role, element string, to outcome) {
	if at := (part{of, strings.ToLower(element)}); element != "" {
		b[at] = max(b[at], to)
	}
}

// putName books a part that has a name in the source, if the item or the mapping has the name. Other values say the same in other words.
func (b booked) putName(of Role, name string, written bool) {
	if written {
		b.putElement(of, beginning(name), carried)
		b.put(of, decided)
	}
}

// limit books an element of a part, or all elements without an entry if the element is "". Of two outcomes the worse one counts.
func (b booked) limit(of Role, element string, to outcome) {
	at := part{of, strings.ToLower(element)}
	if had, ok := b[at]; !ok || to < had {
		b[at] = to
	}
}

func either(written bool, to, otherwise outcome) outcome {
	if written {
		return to
	}
	return otherwise
}

// wordsOfRelation is the part of an item for words of the source about a relation, such as its direction.
const wordsOfRelation Role = "words of a relation"

// wordsOfAuthor is the part of an item for the names of the people who wrote its comments.
const wordsOfAuthor Role = "words of an author"

// olderText begins the part of an item for the texts that a comment had in other files. The ID of the comment follows.
const olderText Role = "older text of comment "

// outcome returns what became of a value, and the words of the value that this is about. A value that no writer has booked is lost.
func (c *composer) outcome(i *Issue, h Held) (to outcome, words string) {
	field := cmp.Or(i.takes(h.Of.Name), h.Of.part)
	role, m := RoleOf(field), c.mapping
	switch {
	case role == Technical, role == Secret, role == Offered, h.Text == "", // or nothing but markup
		m.Components == "skip" && role == Component, m.Versions.Fix == "skip" && role == OfVersion,
		m.Sprints == "skip" && (role == OfSprint || role == SprintDate), m.Comments.Skip && role == OfComment:
		return decided, h.Text
	case role == Uncarried:
		return lost, h.Text
	}
	if to, words, ok := c.took.of(h, field, role); ok {
		return to, words
	}
	if role == OfField && nothing.MatchString(strings.Replace(strings.ToLower(h.Text), "no", "false", 1)) || role != OfField && isFlag(h.Text) {
		return decided, h.Text
	}
	return lost, h.Text
}

// of returns the outcome of the part that takes a value, and the words of the value that had the outcome. It looks for the element of the
// value, for the element whose name is the value, then for the part as a whole.
func (b booked) of(h Held, field, role Role) (to outcome, words string, ok bool) {
	switch role {
	case OfField:
		for name := h.Of.Name; name != "" && !ok; name = name[:max(0, strings.LastIndexByte(name, '.'))] {
			to, ok = b.find(name, OfField)
		}
		if !ok { // a text about a file that is the name of the file
			to, ok = b.find(h.Text, OfFile)
		}
	case OfComment:
		if to, ok = b.find(h.Text, olderText+Role(strings.ToLower(h.Element))); ok {
			return to, h.Text, ok
		}
		if to, ok = b.find(cmp.Or(h.Element, h.Text), field, role); !ok && h.Element == "" {
			to, ok = b.find("", field, role)
		}
	case Summed:
		if to, ok = b.find(h.Text, field); !ok && h.Element != NotTaken {
			to, ok = b.find("", field, role)
		}
	case OfState, OfPriority, OfType, OfLabel, Component, OfVersion, Affects, OfSprint, Assignee, History, Relation, OfParent, OfFile:
		return b.ofName(h, field, role)
	default:
		if to, ok = b.find(h.Text, field); !ok {
			if to, ok = b.find(h.Element, field); !ok {
				to, ok = b.find(h.Element, role)
			}
		}
	}
	if slices.Contains([]Role{"comment_authors", "comment_emails"}, field) {
		to = b.ofAuthor(h.Text, to)
	}
	return to, h.Text, ok
}

// ofName returns the outcome of a value that names a part, or several parts.
func (b booked) ofName(h Held, field, role Role) (to outcome, words string, ok bool) {
	if h.Element != "" && role == History { // of a comment
		if to, ok = b.find(h.Element, field, role); ok {
			return b.ofAuthor(h.Text, to), h.Text, ok
		}
	}
	for _, name := range []string{h.Text, path.Base(h.Text)} {
		if to, ok = b.find(name, role); ok {
			return to, h.Text, ok
		}
	}
	if to, words, ok = b.worst(role, h.Text); ok {
		return to, words, ok
	}
	if role == Relation && h.Element != "" {
		role, field = wordsOfRelation, wordsOfRelation
		if to, ok = b.find(h.Element, role); ok {
			return to, h.Text, ok
		}
	}
	if h.Element != NotTaken || slices.Contains([]Role{OfState, OfPriority, OfType, OfFile}, role) {
		to, ok = b.find("", field, role)
	}
	return to, h.Text, ok
}

// ofAuthor returns the outcome of the words for the author of a comment, which are written at most as the comment is.
func (b booked) ofAuthor(words string, to outcome) outcome {
	if named, ok := b.find(words, wordsOfAuthor); ok {
		return min(named, to)
	}
	return to
}

// find returns the outcome of an element of the first role that has the element booked.
func (b booked) find(element string, roles ...Role) (to outcome, ok bool) {
	for _, role := range roles {
		if to, ok = b[part{role, strings.ToLower(element)}]; ok {
			break
		}
	}
	return to, ok
}

// worst returns the worst outcome of the elements of a role that a list names, and the first element that had it.
func (b booked) worst(role Role, list string) (worst outcome, words string, ok bool) {
	for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return strings.ContainsRune(",;|<>[]{}\"\n\x1f", r) }) {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if to, has := b.find(name, role); has && (!ok || to < worst) {
			worst, words, ok = to, name, true
		}
	}
	return worst, words, ok
}

// bookPerson books a person of a role under the name, the ID and the address. The mapping lists people by their IDs, with their names.
func (c *composer) bookPerson(role Role, id string, to outcome) {
	p, _ := c.mapping.People.Find(id)
	_, mapped := c.mapping.People.Own(id)
	listed := either(mapped || to == carried, carried, either(p.Anonymous && role == History, decided, lost))
	for _, known := range []*Person{{Name: id}, c.found.people[id]} {
		if known == nil {
			continue
		}
		c.took.putElement(role, beginning(known.Name), either(known.Name == c.person(id), to, listed))
		c.took.putElement(role, known.Email, either(strings.EqualFold(known.Email, p.Email), listed, lost))
	}
	c.took.put(role, min(to, decided)) // other names
}

// bookNames books the name, the ID and the address of a person as the part of a role: the name that texts show as written, others as left
// out unless the mapping lists them.
func (c *composer) bookNames(of Role, id string, to outcome) {
	p, _ := c.mapping.People.Find(id)
	_, mapped := c.mapping.People.Own(id)
	shown := c.person(id)
	for _, text := range c.found.words(id) {
		listed := mapped && (text == id || strings.EqualFold(text, p.Email))
		c.took.putElement(of, beginning(text), either(listed || plainName(text) == shown, to, min(to, decided)))
	}
}

// bookItem books the parts of an item that are single, by the fields of its manifest.
func (c *composer) bookItem(at place, m manifest.Map) {
	i, b := at.issue, c.took
	has := func(field string) bool { return m.Get(field) != nil }
	b.put("key", carried)
	b.put("name", carried)
	b.putElement("project", beginning(i.Project), carried) // the mapping lists it
	if _, row := b[part{of: "project"}]; !row {
		b.put("project", carried)
	}
	name := c.found.projects[i.Project].Name
	b.putElement("project_name", beginning(name), either(words.Fold(at.project.Name) == words.Fold(name), carried, decided))
	b.put("project_text", either(c.found.projects[i.Project].Description != "", carried, lost))
	b.put("archived", either(has("archived"), carried, decided))
	b.put("link", decided)
	if to := c.address(i); to != "" && c.mapping.History.Link != "none" {
		b.putElement("link", beginning(to), carried)
	}
	_, ofState := c.mapping.States.Own(i.State.Name)
	b.putName(OfState, i.State.Name, ofState || has("state"))
	_, ofPriority := c.mapping.Priorities.Own(i.Priority)
	b.putName(OfPriority, i.Priority, ofPriority || has("priority"))
	kind, ofType := c.mapping.Types.Own(i.Type)
	b.putName(OfType, i.Type, ofType && !kind.Skip || has("type"))
	if kind, _ = c.mapping.Types.Find(i.Type); kind.Skip {
		b.put(OfType, decided)
	}
	b.put("start_date", either(has("start_date"), carried, lost))
	b.put("target_date", either(has("target_date"), carried, lost))
	b.put("created_at", either(has("created_at"), carried, either(i.Created.IsZero(), lost, asText)))
	if has("created_by") {
		c.bookPerson(History, cmp.Or(i.Reporter, i.Creator), carried)
	}
	b.putElement(Component, i.Project, carried) // the path of an area or iteration begins with the project
	b.putElement(OfSprint, i.Project, carried)
	if len(i.Assignees) == 0 {
		b.put(Assignee, decided) // it stands for nobody, such as Unassigned
	}
	if i.Parent != "" {
		_, placed := c.placed[i.Project+"/"+i.Parent]
		to := either(has("parent"), carried, either(!placed, asText, lost))
		b.putElement(OfParent, strings.TrimPrefix(i.Parent, "issue "), to)
		b.put(OfParent, min(to, decided))
		b.putElement(Relation, i.Parent, to) // some trackers call it a relation
		if placed {
			parent := c.placed[i.Project+"/"+i.Parent].issue
			b.putElement(OfParent, parent.ID, to)
			b.putElement(OfParent, beginning(parent.Title), to)
		}
	}
	b.put(wordsOfRelation, decided)
	for n, r := range i.relations() {
		b.putElement(Relation, i.Links[n].To, c.joined[r])
		b.putElement(Relation, i.Key, c.joined[r])
		for _, text := range i.Links[n].Files {
			b.putElement(OfFile, beginning(text), c.joined[r])
		}
		b.put(Relation, c.joined[r])
		b.putElement(wordsOfRelation, i.Links[n].To, min(c.joined[r], decided))
		if as, mapped := c.mapping.Links.Own(i.Links[n].Type); mapped && as.Kind != "skip" {
			b.putElement(Relation, i.Links[n].Type, carried)
		}
	}
	full := either(c.mapping.Summary == "full", asText, decided)
	if c.mapping.Summary == "off" || c.mapping.Comments.Skip {
		full = lost
	}
	b.put(Summed, full)
	watched := either(full == lost, lost, asText)
	b.putElement("watchers", strconv.Itoa(i.Left["watchers"]), watched)
	for _, of := range []Role{"watchers", "watcher_ids"} {
		b.put(of, min(watched, decided)) // other words for a person whose name is written
		for _, id := range i.Watchers {
			c.bookNames(of, id, watched)
		}
	}
	for _, w := range i.Work {
		c.bookNames(Summed, w.Author, full)
	}
	b.put("changes", min(full, decided))
	for _, e := range i.Events {
		c.bookNames(Summed, e.Author, full)
		for _, text := range []string{e.Field, e.From, e.To} {
			b.putElement("changes", beginning(text), full)
		}
	}
	b.put("votes", either(full == lost, lost, asText))
	if len(i.Attachments) > 0 { // the list of files has them all
		to := either(c.mapping.Attachments.Skip, decided, carried)
		for _, a := range i.Attachments {
			for _, text := range []string{a.ID, a.Name, a.URL} {
				b.putElement(OfFile, beginning(text), to)
			}
		}
		b.put("attachments", to)
		b.put("files", to)
		b.put(OfFile, decided) // another address
	}
}

// bookField books a field that the item has, or that the mapping leaves out.
func (c *composer) bookField(f Field, to outcome) {
	c.took.putElement(OfField, cmp.Or(f.Source, f.Name), to)
	if RoleOf(f.Part) == OfState {
		c.took.putElement(OfState, beginning(f.Value), to)
	} else if f.Part != "" {
		c.took.put(f.Part, to)
	}
}

// bookComment books a comment by its ID or its value in the source.
func (c *composer) bookComment(one Comment, to outcome) {
	at := cmp.Or(one.ID, one.Source)
	header := c.mapping.Comments.Header
	by, _ := c.mapping.People.Find(one.Author)
	author := either(one.Author == "" || strings.Contains(header, "{author}") && !by.Anonymous, to, min(to, decided))
	date := either(one.At.IsZero() || strings.Contains(header, "{date}"), to, min(to, decided))
	c.bookNames(wordsOfAuthor, one.Author, carried)
	whole := to
	if one.Whole {
		whole = min(date, c.took.ofAuthor(one.Author, author))
	}
	c.took.limit(OfComment, at, whole)
	c.took.limit(OfComment, "", whole)
	for older := range strings.SplitSeq(one.Older, "\x00") {
		if older != beginning(one.Text.Body) {
			c.took.putElement(olderText+Role(strings.ToLower(at)), older, decided)
		}
	}
	c.took.putElement(History, at, min(to, asText))
	c.took.putElement("comment_authors", at, author)
	c.took.limit("comment_authors", "", author)
	for _, part := range []Role{"created_by", "created_by_name", "created_by_email"} { // where comments are records like issues
		c.took.putElement(part, at, min(author, asText))
	}
	c.took.putElement("comment_times", at, date)
	c.took.limit("comment_times", "", date)
}

// bookExport books the people and projects of the export itself.
func (c *composer) bookExport() {
	for key, p := range c.found.projects {
		to, _ := c.mapping.Projects.Find(key)
		c.took.putElement("project", key, carried)
		c.took.putElement("project_name", beginning(p.Name), either(words.Fold(to.Name) == words.Fold(p.Name), carried, decided))
		c.took.putElement("project_text", beginning(p.Description), either(to.Skip, decided, carried))
	}
	for _, role := range []Role{Assignee, History} {
		for _, id := range c.mapping.People.Named(func(mapping.Person) bool { return true }) {
			if c.bookPerson(role, id, carried); c.found.people[id] != nil {
				c.took.putElement(role, c.found.people[id].Email, decided)
			}
		}
		c.took.put(role, decided) // people that no item names
	}
}

func (c *composer) account(at place, m manifest.Map) {
	c.bookItem(at, m)
	for _, h := range at.issue.Held {
		c.book(at.issue, h)
	}
	clear(c.took)
	delete(c.report.ledger.told, at.issue)
}

// book counts a value of an issue, or of the export if i is nil. A loss that no other kind of loss names is reported by its field.
func (c *composer) book(i *Issue, h Held) {
	l := c.report.ledger
	to, words := c.outcome(cmp.Or(i, &Issue{}), h)
	h.Text = words
	l.book(h, to)
	named := func(part Role) bool { return l.told[i][part] || l.told[nil][part] }
	if to == lost && !named(h.Of.part) && !named(h.Of.Role) {
		c.report.lost("values", h.Of.Name, h.N)
	}
}

// isFlag reports whether a value is yes or no, which means nothing without its name.
func isFlag(text string) bool {
	return slices.Contains([]string{"true", "false", "yes", "no", "completed", "not completed"}, strings.ToLower(text))
}

// isText reports whether a field becomes a row of the description.
func (c *composer) isText(f Field) bool {
	to, _ := c.mapping.Fields.Find(f.Name)
	return to != "skip" && to != "" && !f.Noise
}

// accountForRest books the values of the export itself and of issues without an item.
func (c *composer) accountForRest(composed map[*Issue]bool) {
	c.bookExport()
	for _, h := range inOrder(c.found.held) {
		c.book(nil, h)
	}
	for _, h := range inOrder(c.found.double) {
		c.report.ledger.book(h, decided)
	}
	for _, h := range inOrder(c.found.outdated) {
		c.book(nil, h)
	}
	for _, h := range inOrder(c.found.unwritten) {
		c.report.ledger.book(h, either(h.Of.Role == Technical, decided, lost))
	}
	for id := range c.found.closed {
		c.report.lost("restricted", path.Base(id), 1)
	}
	for _, i := range c.found.clashes {
		c.report.lost("doubles", i.key, 1)
	}
	for _, i := range c.found.issues {
		if !composed[i] {
			c.found.recall(i)
			for _, h := range i.Held {
				c.report.ledger.book(h, decided)
			}
			i.forget()
		}
	}
	c.report.Values = c.report.ledger.sums(len(c.found.closed) > 0)
}

// inOrder returns values with their counts, in the order of their names and texts.
func inOrder(values map[Held]int) []Held {
	list := slices.SortedFunc(maps.Keys(values), func(a, b Held) int { return cmp.Or(cmp.Compare(a.Of.Name, b.Of.Name), cmp.Compare(a.Text, b.Text)) })
	for n := range list {
		list[n].N = values[list[n]]
	}
	return list
}
