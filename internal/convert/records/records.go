// Package records reads JSON as trackers write it: arrays, pages, several values one after another, in whatever mixture.
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
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/planform/planform/internal/diag"
)

// Record is one object.
type Record struct {
	List     string // the list that it is an element of; "" is the top
	Page     bool   // lists were in it, whose elements came before
	Position diag.Position

	data json.RawMessage
}

// maxRecord is how long a record may be, with its texts.
const maxRecord = 64 << 20

// maxArrays is how deep arrays at the top may lie within another.
const maxArrays = 100

// Read hands out the records of a file. Elements of the lists come as they are read, and what else stands in the object that has
// them follows as a record without these. A list within objects is named by the way to it, such as data.issues.nodes, in which a star
// stands for any name. An object in place of a list is its one element.
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

// Begin reports whether a text begins as records do.
func Begin(head []byte) bool {
	head = bytes.TrimSpace(head)
	return len(head) > 0 && (head[0] == '[' || head[0] == '{')
}

// Name reports whether records begin in a text, and have all these names.
func Name(head []byte, names ...string) bool {
	return Begin(head) && !slices.ContainsFunc(names, func(name string) bool { return !bytes.Contains(head, []byte(`"`+name+`"`)) })
}

// Decode reads a record into a value. of says what it is to be, such as "issue of GitHub".
func (r Record) Decode(v any, of string) error {
	err := json.Unmarshal(r.data, v)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return diag.WithHint(fmt.Errorf("%s: the field %s holds a %s, which no %s has there", r.Position, wrong.Field, wrong.Value, of),
			"it is the export of another tracker, probably")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.Position, err)
	}
	return nil
}

// With returns the record with other content.
func (r Record) With(data json.RawMessage) Record {
	r.data = data
	return r
}

// Elements are the objects of a list of a record, as records of their own.
func (r Record) Elements(name string) []Record {
	var all map[string]json.RawMessage
	var list []json.RawMessage
	if json.Unmarshal(r.data, &all) != nil || json.Unmarshal(all[name], &list) != nil {
		return nil
	}
	var elements []Record
	for _, data := range list {
		if len(data) > 0 && data[0] == '{' {
			elements = append(elements, Record{List: name, Position: r.Position, data: data})
		}
	}
	return elements
}

// Values are what a record holds, by names such as user.login: texts, numbers, true and false, but for what is empty. Elements of a
// list have the name of the list. All begin with the prefix. Where whole reports that a name stands for all that is in it, an object
// there is one value, as JSON.
func (r Record) Values(prefix string, whole func(name string) bool) iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		prefix := strings.TrimSuffix(prefix, ".")
		decode(r.data, prefix, whole).Leaves(prefix, yield)
	}
}

type reader struct {
	name  string
	place *place
	d     *json.Decoder
	lists map[string]bool
	ways  map[string]bool // objects on the way to lists
	each  func(Record) error
}

// top reads what stands at the top: values, and arrays of values.
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
				diag.Truncate(fmt.Sprint(token), 40)), "it is another file than the tracker exported, probably")
		}
	}
}

// object reads a record whose brace was read.
func (r *reader) object(ctx context.Context) error {
	at := r.at(r.d.InputOffset() - 1)
	rest, page, err := r.members(ctx, "", at)
	if err != nil {
		return err
	}
	return r.each(Record{Position: at, Page: page, data: append(rest, '}')})
}

// members reads what is in an object: its lists, and the rest, whose last brace is left out. within is the way to the object.
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
			return nil, page, tooLong(at)
		}
	}
	_, err = r.token()
	return rest, page, r.explain(err)
}

// list reads the elements of a list, which may be null as they may, or goes on to the lists of an object, of which it gives what is left.
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
		if string(value) == "null" { // in place of what may not be read, or was deleted
			continue
		}
		if value[0] != '{' {
			return nil, fmt.Errorf("%s: %s holds what is no object", at, name)
		}
		if err := r.each(Record{List: name, Position: at, data: value}); err != nil {
			return nil, err
		}
	}
	_, err = r.token()
	return nil, r.explain(err)
}

func (r *reader) token() (json.Token, error) {
	r.place.limit = r.d.InputOffset() + maxRecord
	token, err := r.d.Token()
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		bad.Offset++ // Decode counts the wrong character, Token does not
	}
	return token, err
}

func (r *reader) value() (value json.RawMessage, err error) {
	start := r.d.InputOffset()
	r.place.limit = start + maxRecord
	if err := r.d.Decode(&value); errors.Is(err, errTooLong) {
		return nil, tooLong(r.at(start))
	} else if err != nil {
		return nil, r.explain(err)
	}
	return value, nil
}

func (r *reader) at(offset int64) diag.Position {
	return diag.Position{File: r.name, Line: r.place.line(offset)}
}

func tooLong(at diag.Position) error {
	return diag.WithHint(fmt.Errorf("%s: the value that begins here is larger than 64 MiB", at),
		"no tracker has such an item: see what stands there")
}

func (r *reader) explain(err error) error {
	bad, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case err == nil:
		return nil
	case ok && strings.Contains(err.Error(), "max depth"):
		return fmt.Errorf("%s: the value that begins here is nested too deeply", r.at(r.d.InputOffset()))
	case ok && !strings.Contains(err.Error(), "unexpected end"):
		return fmt.Errorf("%s: it is not JSON: %w", r.at(bad.Offset-1), err)
	case ok, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return diag.WithHint(fmt.Errorf("%s: the file ends within a value", r.at(r.place.total)), "the file is cut off: export or copy it again")
	case errors.Is(err, errTooLong):
		return tooLong(r.at(r.d.InputOffset()))
	}
	return err
}

var errTooLong = errors.New("too long")

// place finds lines by offsets in a text that a decoder reads ahead. They are asked for in ascending order.
type place struct {
	in     io.Reader
	ends   []int64 // of lines, from the last one that was asked for
	before int     // lines before these
	total  int64
	limit  int64 // where a value has to end
}

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
