package convert

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/planform/planform/internal/text/diag"
)

// aside locates the texts and the past of an issue in the spool, where they wait until the issue is written. They are the largest part of
// an export.
type aside struct {
	line span // the issue as it is compared, see [collection.line]
	held span // its values: numbers and a text of each

	hasText, marked bool // there is a text; it has marks of Markdown
	past            bool // work was logged, or something was changed
}

// putAside moves the texts, the past and the booked values of an issue to the spool.
func (cl *collection) putAside(i *Issue) {
	line, err := line(i)
	var held []byte
	for _, h := range i.Held {
		for _, n := range []int{h.Of.number, h.N, len(h.Text)} {
			held = binary.AppendUvarint(held, uint64(n)) //nolint:gosec // none is negative
		}
		held = append(held, h.Text...)
	}
	cl.err = errors.Join(cl.err, err)
	i.aside = aside{
		line: cl.to.add(line), held: cl.to.add(held), past: len(i.Work)+len(i.Events) > 0,
		hasText: i.Text.Body != "", marked: i.Text.Markup == Unsaid && markdownMarks.MatchString(i.Text.Body),
	}
	i.forget()
}

// line returns an issue as a line of JSON for comparison between runs, without its update time, its counts of losses and its position.
func line(i *Issue) ([]byte, error) {
	content := *i
	content.Updated, content.Left, content.Position = time.Time{}, nil, diag.Position{}
	line, err := json.Marshal(stored{Issue: &content})
	return append(line, '\n'), err
}

// line returns the line of an issue, from the spool if the issue was put aside.
func (cl *collection) line(i *Issue) ([]byte, error) {
	if i.aside.line.n == 0 {
		return line(i)
	}
	return cl.to.read(i.aside.line)
}

// recall reads back the texts, the past and the values of an issue that was put aside. An error goes to c.err.
func (cl *collection) recall(i *Issue) {
	if i.aside.line.n == 0 || cl.err != nil {
		return
	}
	var was stored
	line, err1 := cl.to.read(i.aside.line)
	held, err2 := cl.to.read(i.aside.held)
	if err := cmp.Or(err1, err2); err != nil {
		cl.err = err
		return
	}
	if cl.err = json.Unmarshal(line, &was); cl.err != nil {
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
		i.Held = append(i.Held, Held{cl.numbered[n[0]], n[1], string(held[:n[2]])})
		held = held[n[2]:]
	}
}

// forget frees the memory of the texts, the past and the values of an issue after they were put aside or written.
func (i *Issue) forget() {
	i.Text.Body, i.Environment.Body, i.Work, i.Events, i.Held = "", "", nil, nil, nil
	for n := range i.Comments {
		i.Comments[n].Text.Body = ""
	}
}

// Parts are pieces of one issue from several places of the files. A format collects them in a temporary file until it can make the issue.
type Parts []span

// Keep writes one more part of an issue to the temporary file. [Input.Kept] returns the error, if the file cannot be written.
func (ip Input) Keep(of *Parts, part []byte) { *of = append(*of, ip.spool.add(part)) }

// Kept returns the parts of an issue in the order of their Keep calls.
func (ip Input) Kept(of Parts) (parts [][]byte, err error) {
	for _, at := range of {
		part, err := ip.spool.read(at)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}
