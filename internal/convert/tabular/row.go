package tabular

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/text/diag"
)

// look records the key, the title, the ID and the dates of a row on the first reading.
func (e *export) look(c *Cells) error {
	key, title := c.One("key"), c.One("name")
	id := c.One("id")
	for _, number := range []struct{ what, text string }{{"key", key}, {"parent", c.One("parent")}, {"issue ID", id}} {
		if exponent.MatchString(number.text) || number.text == id && strings.ContainsAny(id, ".,") {
			return diag.WithHint(fmt.Errorf("%s: the %s %s is no whole number any more: a spreadsheet changed it", c.At, number.what, number.text),
				"export again, and do not save the file with a spreadsheet")
		}
	}
	if had, known := e.keys[key]; !known {
		e.keys[key] = first{c.At, title, c.digest()}
		e.titles[title] = append(e.titles[title], key)
	} else if e.anyTable && (had.title != title || (title == key || title == "") && c.digest() != had.row) {
		return diag.WithHint(convert.ColumnsError(fmt.Sprintf("%s: the key %s is that of another item, in line %d of %s", c.At,
			diag.Truncate(key, 60), had.at.Line, had.at.File)),
			"take a column that differs in each row, or add one with numbers, and name it as the key under columns: in the mapping")
	}
	if id != "" {
		e.ids[id] = key
	}
	texts := []string{c.One("created_at"), c.One("updated_at"), c.One("start_date"), c.One("target_date")}
	if e.Dates != nil {
		texts = append(texts, e.Dates(c)...)
	}
	for _, text := range texts {
		e.dates.Look(text, c.At)
	}
	return nil
}

func (e *export) row(c *Cells) error {
	e.rows++
	key := c.One("key")
	i := &convert.Issue{
		Key: key, ID: c.One("id"), Number: number(key, e.rows), Position: c.At, Left: map[string]int{},
		Title: c.One("name"), Text: convert.Text{Markup: e.markup, Body: c.One("description")},
		State: convert.State{Name: c.One("state"), Category: c.One("group")}, Resolution: c.One("resolution"), Type: c.One("type"),
		Priority:  e.words.Priority(c.One("priority")),
		Assignees: c.People("assignees", "assignee_names", "assignee_emails"), Components: c.Values("components"), URL: c.One("link"),
		Reporter: cmp.Or(c.People("created_by", "created_by_name", "created_by_email")...),
		Project:  cmp.Or(c.One("project"), c.One("project_name"), e.name),
	}
	if i.Archived = c.yes("archived"); c.yes("private") {
		i.Restricted = c.s.Header[c.s.fields["private"][0]]
	}
	for _, name := range c.Values("labels") {
		i.Labels = append(i.Labels, convert.Label{Name: name})
	}
	for _, name := range c.Values("cycle") {
		i.Sprints = append(i.Sprints, convert.Sprint{Name: name})
	}
	for _, name := range c.Values("versions") {
		i.Versions = append(i.Versions, convert.Version{Name: name, Due: dates.Day(c.Date(c.One("version_due")))})
	}
	i.State.Category = cmp.Or(i.State.Category, e.words.Group(i.State.Name))
	i.Created, i.Updated = c.Time(c.One("created_at"), i), c.Time(c.One("updated_at"), i)
	i.Start, i.Due = c.day("start_date", i), c.day("target_date", i)
	if parent := c.One("parent"); parent != "" {
		i.Parent = e.reference(c, parent)
	}
	for _, kind := range []string{"blocking", "blocked_by", "duplicate", "relates_to"} {
		for _, to := range e.references(c, kind) {
			i.Links = append(i.Links, convert.Link{Type: linkName(kind), To: to, Inward: kind == "blocked_by"})
		}
	}
	for _, file := range c.Values("attachments") {
		a := convert.Attachment{Name: file}
		if strings.Contains(file, "://") {
			a = convert.Attachment{Name: file[strings.LastIndexByte(file, '/')+1:], URL: file}
		}
		i.Attachments = append(i.Attachments, a)
	}
	for n, name := range c.s.header.names {
		if at := c.s.places[name]; len(at) == 0 || at[0] != n {
			continue
		}
		if value := strings.Join(slices.Collect(c.texts(c.s.places[name], e.anyTable)), ", "); value != "" && !e.empty(value) {
			i.Fields = append(i.Fields, convert.Field{Name: name, Value: value, Source: name})
		}
	}
	e.counted[i], _ = strconv.Atoi(c.One("comment_count"))
	e.scopes[i] = c.One("scope")
	if c.Cut() {
		e.to.Note("cut-cells", "cells of exactly 32,767 characters were cut by a spreadsheet, probably", key)
	}
	if project, _, ok := strings.Cut(i.Key, "-"); ok && e.settings.Word("prefix") != "" {
		i.Project = project
	}
	if e.Each != nil {
		e.Each(c, i)
	}
	if c.left != "" {
		e.leave(c)
		c.s.left[c.left]++
		return nil
	}
	c.s.roles.Enter(e.to, i, c.leaves())
	e.to.Project(convert.Project{Key: i.Project, Name: cmp.Or(c.One("project_name"), i.Project), Description: c.One("project_text")})
	e.issues = append(e.issues, i)
	e.to.PutAside(i)
	return nil
}

// linkName returns the type of a link for a field.
func linkName(kind string) string {
	if strings.HasPrefix(kind, "block") {
		return "blocks"
	}
	return kind
}

// lastNumber matches the last number in a key.
var lastNumber = regexp.MustCompile(`([0-9]{1,18})[^0-9]*$`)

// number returns the last number in a key, or else the number of the row. Items are sorted by it.
func number(key string, row int) int {
	if m := lastNumber.FindStringSubmatch(key); m != nil {
		row, _ = strconv.Atoi(m[1])
	}
	return row
}

func (e *export) comment(c *Cells) {
	one := convert.Comment{
		ID: c.One("comment_id"), At: c.Date(c.One("created_at")), Edited: c.Date(c.One("updated_at")),
		Author: cmp.Or(c.People("created_by", "created_by_name", "created_by_email")...),
		Text:   convert.Text{Markup: e.markup, Body: c.One("comment_text")},
	}
	if one.ID == "" {
		one.Source = c.One("created_at") + " " + c.One("comment_text")
	}
	issue := c.One("comment_of")
	if same := e.titles[c.One("comment_title")]; e.keys[issue].at.IsZero() && len(same) == 1 {
		issue = same[0]
	}
	if n, _ := strconv.Atoi(c.One("comment_likes")); n > 0 {
		e.to.Lose("reactions", issue, n)
	}
	of, id := c.One("scope")+"#"+issue, cmp.Or(one.ID, one.Source)
	e.comments.Add(of, one)
	var all []convert.Leaf
	for name, text := range c.values {
		switch role := c.s.roles.Of(name); {
		case len(c.s.places[name]) > 0: // a comment has no table of fields
			e.to.Hold(nil, convert.Leaf{Name: "comments: " + name, Text: text}, convert.OfField, 1)
		case role == convert.OfType:
			e.to.Hold(nil, convert.Leaf{Name: "comments: " + name, Text: text}, convert.Technical, 1)
		default:
			all = append(all, convert.Leaf{Name: name, Text: text, Element: id})
		}
	}
	c.s.roles.Enter(e.to, e.apart.Of(of), all)
}

// reference returns the key that a text stands for: the text may be a key, or a title that only one item has.
func (e *export) reference(c *Cells, text string) string {
	key, known := e.resolve(text)
	if same := e.titles[text]; len(same) > 1 && !known {
		e.to.Note("ambiguous-titles", "titles of several items, by which another item names one of these: which one is not known", c.One("key"))
	}
	return key
}

// ByID returns the key of the item with an internal ID, or "" if there is none.
func (c *Cells) ByID(id string) string { return c.e.ids[id] }

// resolve returns the key of the item with that key or title; ok is false if there is no such item, or several have the title.
func (e *export) resolve(text string) (key string, ok bool) {
	for _, key := range []string{text, strings.TrimPrefix(text, "#")} {
		if _, ok := e.keys[key]; ok {
			return key, true
		}
	}
	if same := e.titles[text]; len(same) == 1 {
		return same[0], true
	}
	return text, false
}

// references returns the keys that a list stands for. A title may hold the separator of the list.
func (e *export) references(c *Cells, field string) []string {
	var keys []string
	for _, i := range c.s.fields[field] {
		text := c.clean(c.Cell(i))
		if text == "" {
			continue
		}
		by := cmp.Or(c.s.split[i], c.e.lists, ",")
		parts := c.list(text, c.s.split[i])
		for from := 0; from < len(parts); {
			to := min(len(parts), from+10)
			for ; to > from+1; to-- {
				if _, ok := e.resolve(strings.Join(parts[from:to], by+" ")); ok {
					break
				}
			}
			if text := strings.Join(parts[from:to], by+" "); text != "" {
				keys = append(keys, e.reference(c, text))
			}
			from = to
		}
	}
	return keys
}
