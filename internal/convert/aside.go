package convert

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/planform/planform/internal/diag"
)

// aside is what the issues of a collection hold that is needed again only when they are written: their texts and their past, which
// are the most of a large export.
type aside struct {
	line span // the issue as it is compared, see [collection.line]
	held span // its values: numbers and a text of each

	hasText, marked bool // there is a text; it has marks of Markdown
	past            bool // work was logged, or something was changed
}

// putAside keeps what an issue holds elsewhere.
func (c *collection) putAside(i *Issue) {
	line, err := line(i)
	var held []byte
	for _, h := range i.Held {
		for _, n := range []int{h.Of.number, h.N, len(h.Text)} {
			held = binary.AppendUvarint(held, uint64(n)) //nolint:gosec // none is negative
		}
		held = append(held, h.Text...)
	}
	c.err = errors.Join(c.err, err)
	i.aside = aside{
		line: c.to.add(line), held: c.to.add(held), past: len(i.Work)+len(i.Events) > 0,
		hasText: i.Text.Body != "", marked: i.Text.Markup == Unsaid && markdownMarks.MatchString(i.Text.Body),
	}
	i.forget()
}

// line is an issue as it is compared with that of another run, without what says nothing of its content.
func line(i *Issue) ([]byte, error) {
	content := *i
	content.Updated, content.Left, content.Position = time.Time{}, nil, diag.Position{}
	line, err := json.Marshal(stored{Issue: &content})
	return append(line, '\n'), err
}

// line is that of an issue which may be put aside.
func (c *collection) line(i *Issue) ([]byte, error) {
	if i.aside.line.n == 0 {
		return line(i)
	}
	return c.to.read(i.aside.line)
}

// recall gives an issue back what was put aside. An error is that of the collection.
func (c *collection) recall(i *Issue) {
	if i.aside.line.n == 0 || c.err != nil {
		return
	}
	var was stored
	line, err1 := c.to.read(i.aside.line)
	held, err2 := c.to.read(i.aside.held)
	if err := cmp.Or(err1, err2); err != nil {
		c.err = err
		return
	}
	if c.err = json.Unmarshal(line, &was); c.err != nil {
		return
	}
	i.Text, i.Environment, i.Work, i.Events = was.Issue.Text, was.Issue.Environment, was.Issue.Work, was.Issue.Events
	for n := range i.Comments {
		i.Comments[n].Text = was.Issue.Comments[n].Text
	}
	i.Held = i.Held[:0]
	for len(held) > 0 {
		var n [3]int
		for k := range n {
			value, size := binary.Uvarint(held)
			n[k], held = int(value), held[size:] //nolint:gosec // it was one
		}
		i.Held = append(i.Held, Held{c.numbered[n[0]], n[1], string(held[:n[2]])})
		held = held[n[2]:]
	}
}

// forget lets go of what is put aside, or written.
func (i *Issue) forget() {
	i.Text.Body, i.Environment.Body, i.Work, i.Events, i.Held = "", "", nil, nil, nil
	for n := range i.Comments {
		i.Comments[n].Text.Body = ""
	}
}

// Parts are what a format keeps of an issue before it can make it, as it stands all over the files.
type Parts []span

// Keep keeps one more part of an issue, in a file: of a large export, they are most of it. An error is that of [Input.Kept].
func (in Input) Keep(of *Parts, part []byte) { *of = append(*of, in.spool.add(part)) }

// Kept are the parts of an issue, in the order in which they were kept.
func (in Input) Kept(of Parts) (parts [][]byte, err error) {
	for _, at := range of {
		part, err := in.spool.read(at)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}
