package jira

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/text/diag"
)

// ReadBackup calls each for the elements of entities.xml and for the sprints in activeobjects.xml: objects of their kind, with the values from
// attributes or, if they are long, from child elements. It also calls each for a list of the values in a row of another table, and for the text
// of a comment, which has no name.
func ReadBackup(ctx context.Context, in io.Reader, name string, each func(records.Value, diag.Position)) error {
	limited := &bounded{in: &legal{in: in}, limit: maxItem}
	d := xml.NewDecoder(limited)
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is decoded already
	root, table, columns := "", "", []string{}
	for {
		limited.limit = d.InputOffset() + maxItem
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return explain(name, d, err)
		}
		switch t := token.(type) {
		case xml.Comment:
			each(records.Value{Text: string(t)}, diag.Position{})
		case xml.StartElement:
			line, _ := d.InputPos()
			at, v := diag.Position{File: name, Line: line}, records.Value{Name: t.Name.Local, Object: true}
			for _, a := range t.Attr {
				v.Add(a.Name.Local, a.Value)
			}
			get := func(name string) (text string) {
				v.Visit(name, func(part records.Value) { text = part.Text })
				return text
			}
			switch {
			case root == "":
				root = v.Name
			case root != "backup", v.Name == "row":
				if err := readParts(d, &t, at, &v, columns); err != nil {
					return err
				}
				if root == "backup" {
					v.Name, v.Object, v.List = "activeobjects.xml", false, true
				}
				if table == "AO_60DB71_SPRINT" {
					v.Name, v.Object, v.List = "Sprint", true, false
				}
				each(v, at)
			case v.Name == "data":
				table, columns = get("tableName"), nil
			case v.Name == "column":
				columns = append(columns, strings.ToLower(get("name")))
			}
		}
	}
}

// readParts adds the texts of the elements within an element. Those of a row have the names of the columns.
func readParts(d *xml.Decoder, start *xml.StartElement, at diag.Position, to *records.Value, columns []string) error {
	var parts struct {
		All []struct {
			XMLName xml.Name
			Text    string `xml:",chardata"`
		} `xml:",any"`
	}
	err := d.DecodeElement(&parts, start)
	if errors.Is(err, errTooLong) {
		return diag.WithHint(fmt.Errorf("%s: the element that begins here is larger than 64 MiB", at), "no tracker has such an item: look at that place in the file")
	}
	if err != nil {
		return explain(at.File, d, err)
	}
	for n, part := range parts.All {
		if n < len(columns) {
			part.XMLName.Local = columns[n]
		}
		to.Add(part.XMLName.Local, part.Text)
	}
	return nil
}

// maxItem limits the bytes of an element with its texts.
const maxItem = 64 << 20

var errTooLong = errors.New("too long")

// bounded is a reader that ends with an error after its limit.
type bounded struct {
	in          io.Reader
	read, limit int64
}

func (bn *bounded) Read(p []byte) (int, error) {
	if bn.read > bn.limit {
		return 0, errTooLong
	}
	n, err := bn.in.Read(p)
	bn.read += int64(n)
	return n, err
}

// forbidden matches characters that XML forbids, as characters or as numbers. Jira writes them if somebody pasted them.
var forbidden = regexp.MustCompile(`[\x00-\x08\x0B\x0C\x0E-\x1F\x{FFFE}\x{FFFF}]|&#(?:0*(?:[0-8]|1[124-9]|2[0-9]|3[01]|6553[45])|[xX]0*(?:[0-8bcefBCEF]|1[0-9a-fA-F]|[fF]{3}[efEF]));`)

// legal is a reader of XML that replaces each forbidden character by a legal one. The replacements are removed and counted later.
type legal struct {
	in    io.Reader
	ready []byte
	rest  []byte // beginning of a reference or character that may be forbidden
	err   error
}

// Read returns XML without forbidden characters.
func (l *legal) Read(p []byte) (int, error) {
	for chunk := [1 << 15]byte{}; len(l.ready) == 0 && l.err == nil; {
		var n int
		n, l.err = l.in.Read(chunk[:])
		all := slices.Concat(l.rest, chunk[:n])
		end, longest := len(all), len("&#x0000FFFF;")
		if tail := all[max(0, end-longest):]; l.err == nil {
			if at := max(bytes.LastIndexByte(tail, '&'), bytes.LastIndexByte(tail, 0xEF)); at >= 0 {
				end -= len(tail) - at
			}
		}
		l.ready, l.rest = forbidden.ReplaceAllLiteral(all[:end], []byte{0x7F}), all[end:]
	}
	n := copy(p, l.ready)
	if l.ready = l.ready[n:]; n == 0 {
		return 0, l.err
	}
	return n, nil
}

// explain returns an error with the place where a file is cut off, or is no XML.
func explain(name string, d *xml.Decoder, err error) error {
	line, _ := d.InputPos()
	if bad, ok := errors.AsType[*xml.SyntaxError](err); ok {
		if strings.Contains(bad.Msg, "unexpected EOF") {
			return diag.WithHint(fmt.Errorf("%s:%d: the file ends within an element", name, bad.Line),
				"the file is cut off: export or copy it again")
		}
		return fmt.Errorf("%s:%d: it is not XML: %s", name, bad.Line, bad.Msg)
	}
	return fmt.Errorf("%s:%d: %w", name, line, err)
}
