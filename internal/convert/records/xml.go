package records

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

	"github.com/planform/planform/internal/text/diag"
)

// ReadXML calls each for the elements within the first element of a file, and for the rows of its tables, in which elements data and column
// have the names. A value is an object with the name of the element or table, and with the texts from attributes or, if they are long, from
// elements within. A comment is a text without a name.
func ReadXML(ctx context.Context, in io.Reader, name string, each func(Value, diag.Position)) error {
	p := &place{in: &legal{in: in}, limit: maxRecord}
	d := xml.NewDecoder(p)
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is decoded already
	root, table, columns := "", "", []string{}
	for {
		p.limit = d.InputOffset() + maxRecord
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return explainXML(name, d, err)
		}
		switch t := token.(type) {
		case xml.Comment:
			each(Value{Text: string(t)}, diag.Position{})
		case xml.StartElement:
			at, v := diag.Position{File: name, Line: p.line(d.InputOffset())}, Value{Name: t.Name.Local, Object: true}
			for _, a := range t.Attr {
				v.Add(a.Name.Local, a.Value)
			}
			switch {
			case root == "":
				root = v.Name
			case root != "backup", v.Name == "row":
				if err := v.addElements(d, &t, at, columns); err != nil {
					return err
				}
				if root == "backup" {
					v.Name = table
				}
				each(v, at)
			case v.Name == "data":
				columns = nil
				v.Visit("tableName", func(name Value) { table = name.Text })
			case v.Name == "column":
				v.Visit("name", func(name Value) { columns = append(columns, strings.ToLower(name.Text)) })
			}
		}
	}
}

// addElements adds the texts of the elements within an element. The elements of a row get the names of columns.
func (v *Value) addElements(d *xml.Decoder, start *xml.StartElement, at diag.Position, columns []string) error {
	var parts struct {
		All []struct {
			XMLName xml.Name
			Text    string `xml:",chardata"`
		} `xml:",any"`
	}
	err := d.DecodeElement(&parts, start)
	if errors.Is(err, errTooLong) {
		return tooLong(at, "element")
	}
	if err != nil {
		return explainXML(at.File, d, err)
	}
	for n, part := range parts.All {
		if n < len(columns) {
			part.XMLName.Local = columns[n]
		}
		v.Add(part.XMLName.Local, part.Text)
	}
	return nil
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

// explainXML returns an error with the place where a file is cut off, or is no XML.
func explainXML(name string, d *xml.Decoder, err error) error {
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
