package tabular

import (
	"cmp"
	"hash/fnv"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/dates"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/table"
)

// Cells are the cells of a row.
type Cells struct {
	At diag.Position

	left string // the reason if the row is left out
	e    *export
	s    *sheet
	table.Row
}

var (
	zero     = regexp.MustCompile(`^(?i:0(?:[.,]0+)?|false)$`)
	exponent = regexp.MustCompile(`^\d+(?:[.,]\d+)?[eE]\+?\d+$`)
)

// clean returns the value of a cell, without blanks around it, without a guard against formulas, and "" for a text that means empty.
func (c *Cells) clean(text string) string {
	text = strings.TrimSpace(text)
	if c.e.guarded {
		text = table.Unguard(text)
	}
	if slices.Contains(c.e.blanks, text) {
		return ""
	}
	return text
}

// unsaid begins the names of values that mean empty, such as None in a column of people.
const unsaid = "nothing said: "

// values calls a function for each value of the row with the name of its column, except zeros in columns that are kept as text.
func (c *Cells) values(yield func(name, text string) bool) {
	for i, name := range c.s.header.names {
		wordy := c.e.anyTable && (len(c.s.places[name]) > 0 || slices.Contains(c.s.fields["name"], i))
		for text := range c.texts([]int{i}, c.e.anyTable) {
			called := name
			if !wordy && slices.Contains(c.e.blanks, text) {
				called = unsaid + name
			}
			if !(len(c.s.places[name]) > 0 && c.e.empty(text)) && !yield(called, text) {
				return
			}
		}
	}
}

// leaves returns the values of the row. Of several columns for a field with one value, the first with a value is taken.
func (c *Cells) leaves() (all []convert.Leaf) {
	for name, text := range c.values {
		one := convert.Leaf{Name: name, Text: text}
		if field := c.s.single[name]; field != "" && c.One(field) != text {
			one.Element = convert.NotTaken
		}
		all = append(all, one)
	}
	return all
}

// empty reports whether a value in a column that is kept as text says nothing: zero or false.
func (e *export) empty(text string) bool { return !e.anyTable && !e.zeros && zero.MatchString(text) }

func (c *Cells) digest() uint64 {
	h := fnv.New64a()
	for name, text := range c.values {
		_, _ = io.WriteString(h, name+"\x00"+text+"\x00") // a hash returns no error
	}
	return h.Sum64()
}

// texts returns the texts in some columns that are not empty. If all is true, words that mean empty are texts.
func (c *Cells) texts(columns []int, all bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, i := range columns {
			for text := range strings.SplitSeq(c.Cell(i), table.Separator) {
				cleaned := c.clean(text)
				if all && cleaned == "" {
					cleaned = strings.TrimSpace(text)
				}
				if cleaned != "" && !yield(cleaned) {
					return
				}
			}
		}
	}
}

// One returns the first value in the columns of a field, or "".
func (c *Cells) One(field string) string {
	for text := range c.texts(c.s.fields[field], c.e.anyTable && field == "name") {
		return text
	}
	return ""
}

// All returns the values of a field, including empty elements of lists.
func (c *Cells) All(field string) []string {
	var all []string
	for _, i := range c.s.fields[field] {
		if text := c.clean(c.Cell(i)); text != "" {
			all = append(all, c.list(text, cmp.Or(c.s.split[i], c.e.lists))...)
		}
	}
	return all
}

// list splits a list. Without a known separator, line ends and semicolons are tried before commas.
func (c *Cells) list(text, by string) []string {
	if strings.Contains(text, table.Separator) {
		by = table.Separator
	}
	if by == "" {
		by = ","
		for _, other := range []string{"\n", ";"} {
			if strings.Contains(text, other) {
				by = other
				break
			}
		}
	}
	parts := strings.Split(text, by)
	for i, part := range parts {
		parts[i] = c.clean(part)
	}
	return parts
}

// yes reports whether a field holds anything but no.
func (c *Cells) yes(field string) bool {
	return slices.ContainsFunc(c.s.fields[field], func(i int) bool {
		return !slices.Contains([]string{"", "no", "n", "false", "0", "public"}, strings.ToLower(c.clean(c.Cell(i))))
	})
}

// Values returns the distinct values of a field that are not empty.
func (c *Cells) Values(field string) []string {
	var all []string
	for _, text := range c.All(field) {
		if text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// Column returns the value of the column with a name, or "".
func (c *Cells) Column(name string) string {
	for _, i := range c.s.header.places[words.Fold(name)] {
		if text := c.clean(c.Cell(i)); text != "" {
			return text
		}
	}
	return ""
}

// Records returns the objects of a list, which stand in columns of their own or as JSON in a cell.
func (c *Cells) Records(name string) []map[string]string {
	var all []map[string]string
	put := func(field, list string) {
		for n, text := range strings.Split(list, table.Separator) {
			if n >= len(all) {
				all = append(all, map[string]string{})
			}
			all[n][words.Fold(field)] = text
		}
	}
	prefix := words.Fold(name) + "."
	for i, cell := range c.s.header.folded {
		if field, ok := strings.CutPrefix(cell, prefix); ok && c.Cell(i) != "" {
			put(field, c.Cell(i))
		}
	}
	if text := c.Column(name); strings.HasPrefix(text, "[{") {
		if list, ok := records.Parse(text); ok {
			values := flat(list, name)
			for i, field := range values.list {
				put(strings.TrimPrefix(field, name+"."), values.texts[i])
			}
		}
	}
	return slices.DeleteFunc(all, func(r map[string]string) bool { return cmp.Or(slices.Collect(maps.Values(r))...) == "" })
}

// comments adds the comments in the column Comments: objects, or a text that is one comment.
func (c *Cells) comments(i *convert.Issue) {
	all, cell := c.Records("Comments"), c.Column("Comments")
	whole := cell != "" && len(all) > 0
	if cell != "" && len(all) == 0 {
		all = append(all, map[string]string{"text": cell})
	}
	for _, r := range all {
		text := cmp.Or(r["text"], r["comment"], r["commenttext"])
		i.Comments = append(i.Comments, convert.Comment{
			ID: r["id"], Author: c.Person(cmp.Or(r["by"], r["user"], r["author"], r["email"], r["createdby"]), "", ""), At: c.Time(cmp.Or(r["date"], r["createdat"]), i),
			Text: convert.Text{Markup: c.e.markup, Body: text}, Source: cmp.Or(cell, r["comment"]), Whole: whole,
		})
	}
}

// tasks appends a list of tasks to the text of an issue.
func tasks(i *convert.Issue, texts []string, done func(n int) bool) {
	if len(texts) == 0 {
		return
	}
	i.Text.Body += "\n\n## Tasks\n"
	for n, text := range texts {
		i.Text.Body += map[bool]string{true: "\n- [x] ", false: "\n- [ ] "}[done(n)] + text
	}
	i.Text.Body = strings.TrimSpace(i.Text.Body)
}

// Time reads a time of an issue. A text that cannot be read is counted as a loss, and the zero time is returned.
func (c *Cells) Time(text string, i *convert.Issue) time.Time {
	at, ok := c.e.dates.Moment(text)
	if !ok && text != "" {
		i.Left["dates-not-understood"]++
	}
	return at
}

// day reads a calendar day of an issue, and counts its time of day as a loss.
func (c *Cells) day(field string, i *convert.Issue) string {
	at := c.Time(c.One(field), i)
	if hour, minute, second := at.Clock(); hour+minute+second > 0 {
		i.Left["times-of-day"]++
	}
	return dates.Day(at)
}

// Date reads a time, and returns the zero time if the text cannot be read.
func (c *Cells) Date(text string) time.Time {
	at, _ := c.e.dates.Moment(text)
	return at
}
