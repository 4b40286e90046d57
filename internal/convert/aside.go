package convert

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/text/diag"
)

// aside locates the texts, the past and the values of an issue in the spool, where they wait until the issue is written. They are the largest
// part of an export.
type aside struct {
	line   span // the issue as it is compared, see [collection.line]
	fields span // its fields
	held   span // its values: numbers and a text of each

	hasText, marked bool // there is a text; it has marks of Markdown
	past            bool // work was logged, or something was changed
}

// PutAside moves the texts, the past, the fields and the booked values of an issue to the spool.
func (cl *collection) PutAside(i *Issue) {
	for n, c := range i.Comments {
		i.Comments[n].Source = strings.Clone(beginning(c.Source))
	}
	line, err := line(i)
	cl.err = errors.Join(cl.err, err)
	var fields, held []byte
	for _, f := range i.Fields {
		fields = appendText(appendText(appendText(appendText(fields, f.Name), f.Value), f.Source), string(f.Part))
		fields = append(fields, map[bool]byte{true: 1}[f.Noise])
	}
	held = binary.AppendUvarint(held, uint64(len(i.taken)))
	for _, source := range slices.Sorted(maps.Keys(i.taken)) {
		held = appendText(appendText(held, source), string(i.taken[source]))
	}
	for _, h := range i.Held {
		held = binary.AppendUvarint(binary.AppendUvarint(held, uint64(h.Of.number)), uint64(h.N)) //nolint:gosec // none is negative
		held = appendText(appendText(held, h.Text), h.Element)
	}
	i.aside = aside{
		line: cl.to.add(line), fields: cl.to.add(fields), held: cl.to.add(held), past: len(i.Work)+len(i.Events) > 0,
		hasText: i.Text.Body != "", marked: i.Text.Markup == Unsaid && markdownMarks.MatchString(i.Text.Body),
	}
	i.forget()
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// packed holds the written numbers and texts that are not read yet.
type packed []byte

func (p *packed) number() int {
	n, size := binary.Uvarint(*p)
	*p = (*p)[size:]
	return int(n) //nolint:gosec // it was one
}

func (p *packed) text() string {
	n := p.number()
	text := string((*p)[:n])
	*p = (*p)[n:]
	return text
}

// fields returns the fields of an issue, from the spool if the issue was put aside.
func (cl *collection) fields(i *Issue) (list []Field) {
	if i.aside.fields.n == 0 {
		return i.Fields
	}
	data, err := cl.to.read(i.aside.fields)
	cl.err = errors.Join(cl.err, err)
	for p := packed(data); len(p) > 0; {
		list = append(list, Field{Name: p.text(), Value: p.text(), Source: p.text(), Part: Role(p.text()), Noise: p.number() == 1})
	}
	return append(list, i.Fields...)
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

// Recall reads back the parts that PutAside moved to the spool. Values that the issue got in the meantime come after them.
func (cl *collection) Recall(i *Issue) {
	cl.recall(i)
	i.aside = aside{}
}

// recall reads back the texts, the past, the fields and the values of an issue that was put aside. An error goes to cl.err.
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
	if i.Environment = was.Issue.Environment; i.Text.Body == "" {
		i.Text = was.Issue.Text
	}
	i.Work, i.Events = append(was.Issue.Work, i.Work...), append(was.Issue.Events, i.Events...)
	i.Fields = append(was.Issue.Fields[:0], cl.fields(i)...) // an empty list stays one, because runs are compared as JSON
	for n := range i.Comments {
		i.Comments[n].Text = was.Issue.Comments[n].Text
	}
	var values []Held
	p := packed(held)
	for range p.number() {
		i.Take(p.text(), Role(p.text()))
	}
	for len(p) > 0 {
		values = append(values, Held{cl.numbered[p.number()], p.number(), p.text(), p.text()})
	}
	i.Held = append(values, i.Held...)
}

// forget frees the memory of the texts, the past, the fields and the values of an issue after they were put aside or written.
func (i *Issue) forget() {
	i.Text.Body, i.Environment.Body, i.Work, i.Events, i.Fields, i.Held, i.taken = "", "", nil, nil, nil, nil, nil
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
