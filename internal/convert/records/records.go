// Package records reads JSON as trackers write it: arrays, pages, several values one after another, in whatever mixture. It also reads XML.
//
// A record is an object: at the top of a file, in arrays there, or in the lists within an object that the caller names, such as
// the issues of a page. One record is in memory at a time. Errors name file and line.
// The package must not know any tracker.
package records

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/planform/planform/internal/text/diag"
)

// Record is one object.
type Record struct {
	List     string // the path of the list around the object; "" = the top of the file
	Page     bool   // the object had lists, whose elements were read before
	Position diag.Position

	data json.RawMessage
}

// maxRecord is the largest size of a record in bytes.
const maxRecord = 64 << 20

// maxArrays is the largest depth of arrays at the top of a file.
const maxArrays = 100

// Read calls each for the records of a file. lists are paths of lists within objects, such as data.issues.nodes, with a star for any name:
// their elements are records, before the record with the rest of the object. An object in place of a list is a list of one element.
func Read(ctx context.Context, in io.Reader, name string, lists []string, each func(Record) error) error {
	p := &place{in: in}
	r := &reader{name: name, place: p, d: json.NewDecoder(p), each: each, lists: map[string]bool{}, ways: map[string]bool{}}
	for _, list := range lists {
		r.lists[list] = true
		for i := range list {
			if list[i] == '.' {
				r.ways[list[:i]] = true
			}
		}
	}
	return r.top(ctx)
}

// Begin reports whether a text begins like JSON with records.
func Begin(head []byte) bool {
	head = bytes.TrimSpace(head)
	return len(head) > 0 && (head[0] == '[' || head[0] == '{')
}

// Name reports whether a text begins like records, and holds all these names.
func Name(head []byte, names ...string) bool {
	return Begin(head) && !slices.ContainsFunc(names, func(name string) bool { return !bytes.Contains(head, []byte(`"`+name+`"`)) })
}

// reader splits one file into records.
type reader struct {
	name  string
	place *place
	d     *json.Decoder
	lists map[string]bool
	ways  map[string]bool // objects on the way to lists
	each  func(Record) error
}

// top reads the objects at the top of a file, and in arrays there.
func (r *reader) top(ctx context.Context) error {
	for open := 0; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		token, err := r.token()
		if errors.Is(err, io.EOF) && open == 0 {
			return nil
		}
		if err != nil {
			return r.explain(err)
		}
		switch token {
		case json.Delim('['):
			if open++; open > maxArrays {
				return fmt.Errorf("%s: %d arrays within another", r.at(r.d.InputOffset()), open)
			}
		case json.Delim(']'):
			open--
		case json.Delim('{'):
			if err := r.object(ctx); err != nil {
				return err
			}
		default:
			return diag.WithHint(fmt.Errorf("%s: here is %v, where an object is expected", r.at(r.d.InputOffset()),
				diag.Truncate(fmt.Sprint(token), 40)), "probably the tracker did not export this file")
		}
	}
}

// object reads a record after its opening brace.
func (r *reader) object(ctx context.Context) error {
	at := r.at(r.d.InputOffset() - 1)
	rest, page, err := r.members(ctx, "", at)
	if err != nil {
		return err
	}
	return r.each(Record{Position: at, Page: page, data: append(rest, '}')})
}

// members reads an object after its opening brace, and the records in its lists. It returns the other members without the closing brace;
// within is the path of the object.
func (r *reader) members(ctx context.Context, within string, at diag.Position) (rest []byte, page bool, err error) {
	rest = []byte{'{'}
	for r.d.More() {
		key, err := r.token()
		if err != nil {
			return nil, page, r.explain(err)
		}
		name, _ := key.(string)
		var value json.RawMessage
		way := within + name
		if star := within + "*"; !r.lists[way] && !r.ways[way] && (r.lists[star] || r.ways[star]) {
			way = star
		}
		if r.lists[way] || r.ways[way] {
			page = true
			if value, err = r.list(ctx, way); err != nil {
				return nil, page, err
			}
			if value == nil {
				continue
			}
		} else if value, err = r.value(); err != nil {
			return nil, page, err
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, page, err
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, quoted...), ':'), value...)
		if len(rest) > maxRecord {
			return nil, page, tooLong(at, "value")
		}
	}
	_, err = r.token()
	return rest, page, r.explain(err)
}

// list reads the elements of a list as records; the list and its elements may be null. If the path leads to an object that holds lists, it
// reads these, and returns the other members.
func (r *reader) list(ctx context.Context, name string) (rest json.RawMessage, err error) {
	token, err := r.token()
	switch {
	case err != nil:
		return nil, r.explain(err)
	case token == nil:
		return nil, nil
	case token == json.Delim('{') && r.ways[name]:
		rest, _, err := r.members(ctx, name+".", r.at(r.d.InputOffset()-1))
		return append(rest, '}'), err
	case token == json.Delim('{') && r.lists[name]:
		at := r.at(r.d.InputOffset() - 1)
		rest, _, err := r.members(ctx, name+".", at)
		if err != nil {
			return nil, err
		}
		return nil, r.each(Record{List: name, Position: at, data: append(rest, '}')})
	case token != json.Delim('[') || !r.lists[name]:
		return nil, fmt.Errorf("%s: %s is no list", r.at(r.d.InputOffset()), name)
	}
	for r.d.More() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		value, err := r.value()
		if err != nil {
			return nil, err
		}
		at := r.at(r.d.InputOffset() - int64(len(value)))
		if string(value) == "null" { // stands for a deleted or unreadable object
			continue
		}
		if value[0] != '{' {
			return nil, fmt.Errorf("%s: %s has an entry that is not an object", at, name)
		}
		if err := r.each(Record{List: name, Position: at, data: value}); err != nil {
			return nil, err
		}
	}
	_, err = r.token()
	return nil, r.explain(err)
}

// token reads a token, and corrects the offset of a syntax error.
func (r *reader) token() (json.Token, error) {
	r.place.limit = r.d.InputOffset() + maxRecord
	token, err := r.d.Token()
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		bad.Offset++ // Decode counts the wrong character, Token does not
	}
	return token, err
}

// value reads a value of at most maxRecord bytes.
func (r *reader) value() (value json.RawMessage, err error) {
	start := r.d.InputOffset()
	r.place.limit = start + maxRecord
	if err := r.d.Decode(&value); errors.Is(err, errTooLong) {
		return nil, tooLong(r.at(start), "value")
	} else if err != nil {
		return nil, r.explain(err)
	}
	return value, nil
}

func (r *reader) at(offset int64) diag.Position {
	return diag.Position{File: r.name, Line: r.place.line(offset)}
}

func tooLong(at diag.Position, what string) error {
	return diag.WithHint(fmt.Errorf("%s: the %s that begins here is larger than 64 MiB", at, what),
		"no tracker has such an item: look at that place in the file")
}

// explain adds a position and a hint to an error of the decoder.
func (r *reader) explain(err error) error {
	bad, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case err == nil:
		return nil
	case ok && strings.Contains(err.Error(), "max depth"):
		return fmt.Errorf("%s: the value that begins here is nested too deeply", r.at(r.d.InputOffset()))
	case ok && !strings.Contains(err.Error(), "unexpected end"):
		err = fmt.Errorf("%s: it is not JSON: %w", r.at(bad.Offset-1), err)
		return diag.WithHint(err, "export again; a program that writes NaN or Infinity has to write null instead")
	case ok, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return diag.WithHint(fmt.Errorf("%s: the file ends within a value", r.at(r.place.total)), "the file is cut off: export or copy it again")
	case errors.Is(err, errTooLong):
		return tooLong(r.at(r.d.InputOffset()), "value")
	}
	return err
}

// errTooLong is the error of place.Read if a value exceeds maxRecord.
var errTooLong = errors.New("too long")

// place counts the lines of a text that a decoder reads ahead. Callers must ask for lines in ascending order of offsets.
type place struct {
	in     io.Reader
	ends   []int64 // ends of lines, from the last line that a caller asked for
	before int     // number of lines before ends
	total  int64
	limit  int64 // largest offset at which the current value may end
}

// Read reads the text up to the limit, and records the ends of lines.
func (p *place) Read(b []byte) (int, error) {
	if p.total > p.limit {
		return 0, errTooLong
	}
	n, err := p.in.Read(b[:min(int64(len(b)), p.limit-p.total+1)])
	for i := 0; i < n; i++ {
		next := bytes.IndexByte(b[i:n], '\n')
		if next < 0 {
			break
		}
		i += next
		p.ends = append(p.ends, p.total+int64(i))
	}
	p.total += int64(n)
	return n, err
}

func (p *place) line(offset int64) int {
	n := sort.Search(len(p.ends), func(i int) bool { return p.ends[i] >= offset })
	p.ends, p.before = p.ends[n:], p.before+n
	return 1 + p.before
}
