package convert

import (
	"cmp"
	"maps"
	"path"
	"slices"
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

// putElement books an element of a part.
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

// either returns the outcome for a part that was written, or the other one.
func either(written bool, to, otherwise outcome) outcome {
	if written {
		return to
	}
	return otherwise
}

// wordsOfRelation is the part of an item for words of the source about a relation, such as its direction.
const wordsOfRelation Role = "words of a relation"

// outcome returns what became of a value. A value that no writer has booked is lost.
func (c *composer) outcome(i *Issue, h Held) outcome {
	field := cmp.Or(i.takes(h.Of.Name), h.Of.part)
	role := RoleOf(field)
	switch {
	case role == Technical, role == Secret, c.isLeftOut(role), h.Text == "": // or nothing but markup
		return decided
	case role == Uncarried:
		return lost
	}
	if to, ok := c.took.of(h, field, role); ok {
		return to
	}
	if role == OfField && nothing.MatchString(strings.Replace(strings.ToLower(h.Text), "no", "false", 1)) || role != OfField && isFlag(h.Text) {
		return decided
	}
	return lost
}

// of returns the outcome of the part that takes a value: of its element, of the element whose name is the value, or of all others.
func (b booked) of(h Held, field, role Role) (to outcome, ok bool) {
	var parts []part
	add := func(of Role, element string) { parts = append(parts, part{of, strings.ToLower(element)}) }
	passed := h.Element == NotTaken
	switch role {
	case OfField:
		for name := h.Of.Name; name != ""; name = name[:max(0, strings.LastIndexByte(name, '.'))] {
			add(OfField, name)
		}
	case OfComment:
		add(field, cmp.Or(h.Element, h.Text))
		if add(role, cmp.Or(h.Element, h.Text)); h.Element == "" {
			add(role, "")
		}
	case OfState, OfPriority, OfType, OfLabel, Component, OfVersion, Affects, OfSprint, Assignee, History, Relation, OfParent, OfFile:
		if h.Element != "" && role == History { // of a comment
			add(field, h.Element)
			add(role, h.Element)
		}
		add(role, h.Text)
		add(role, path.Base(h.Text))
		if to, ok = b.first(parts); !ok {
			to, ok = b.best(role, h.Text)
		}
		if parts = nil; ok {
			return to, ok
		}
		if role == Relation && h.Element != "" {
			role, field = wordsOfRelation, wordsOfRelation
			add(role, h.Element)
		}
		if !passed || slices.Contains([]Role{OfState, OfPriority, OfType, OfFile}, role) {
			add(field, "")
			add(role, "")
		}
	case Summed:
		if !passed {
			add(field, "")
			add(role, "")
		}
	default:
		add(field, h.Text)
		add(field, h.Element)
		add(role, h.Element)
	}
	return b.first(parts)
}

// first returns the outcome of the first part that is booked.
func (b booked) first(parts []part) (to outcome, ok bool) {
	for _, at := range parts {
		if to, ok = b[at]; ok {
			break
		}
	}
	return to, ok
}

// best returns the best outcome of the elements of a role that a list names.
func (b booked) best(role Role, list string) (best outcome, ok bool) {
	for name := range strings.FieldsFuncSeq(strings.ToLower(list), func(r rune) bool { return strings.ContainsRune(",;|<>[]{}\"\n\x1f", r) }) {
		if to, has := b[part{role, strings.TrimSpace(name)}]; has && strings.TrimSpace(name) != "" {
			best, ok = max(best, to), true
		}
	}
	return best, ok
}

// isLeftOut reports whether the mapping leaves out all parts of a role.
func (c *composer) isLeftOut(role Role) bool {
	switch m := c.mapping; role { //nolint:exhaustive // the others are not left out as a whole
	case Component:
		return m.Components == "skip"
	case OfVersion:
		return m.Versions.Fix == "skip"
	case OfSprint, SprintDate:
		return m.Sprints == "skip"
	case OfComment:
		return m.Comments.Skip
	}
	return false
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
	_, ofType := c.mapping.Types.Own(i.Type)
	b.putName(OfType, i.Type, ofType || has("type"))
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
		if _, mapped := c.mapping.Links.Own(i.Links[n].Type); mapped {
			b.putElement(Relation, i.Links[n].Type, carried)
		}
	}
	full := either(c.mapping.Summary == "full", asText, decided)
	if c.mapping.Summary == "off" || c.mapping.Comments.Skip {
		full = lost
	}
	b.put(Summed, full)
	b.put("watchers", either(full == lost, lost, asText))
	b.put("watcher_ids", either(full == lost, lost, decided)) // the names are written
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
	c.took.putElement(OfComment, at, to)
	c.took.put(OfComment, to)
	c.took.putElement(History, at, min(to, asText))
	header := c.mapping.Comments.Header
	by, _ := c.mapping.People.Find(one.Author)
	author := either(strings.Contains(header, "{author}") && !by.Anonymous, to, min(to, decided))
	c.took.putElement("comment_authors", at, author)
	for _, part := range []Role{"created_by", "created_by_name", "created_by_email"} { // where comments are records like issues
		c.took.putElement(part, at, min(author, asText))
	}
	c.took.putElement("comment_times", at, either(strings.Contains(header, "{date}"), to, min(to, decided)))
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

// account books the values of an issue that was written.
func (c *composer) account(at place, m manifest.Map) {
	c.bookItem(at, m)
	for _, h := range at.issue.Held {
		c.book(at.issue, h, c.outcome(at.issue, h))
	}
	clear(c.took)
	delete(c.report.ledger.told, at.issue)
}

// book counts a value of an issue, or of the export if i is nil. A loss that no other kind of loss names is reported by its field.
func (c *composer) book(i *Issue, h Held, to outcome) {
	l := c.report.ledger
	l.book(h, to)
	role, told := h.Of.Role, l.told[i]
	if role == Summed { // losses.txt lists losses of summed values under uncarried
		role = Uncarried
	}
	if to == lost && !told[role] && !l.told[nil][role] {
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
		c.book(nil, h, c.outcome(&Issue{}, h))
	}
	for _, h := range inOrder(c.found.double) {
		c.report.ledger.book(h, decided)
	}
	for _, h := range inOrder(c.found.unwritten) {
		to := lost
		if h.Of.Role == Technical {
			to = decided
		}
		c.report.ledger.book(h, to)
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
