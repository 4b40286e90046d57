package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// row is one record as the API shows it: JSON values by field name. Numbers are
// json.Number, so that 65535.0 does not come back as 65535.
type row = map[string]any

// shown is a row with the order in which its fields are written. Fields that
// the order does not name are kept back: that is how a row carries what the
// API does not show.
type shown struct {
	order []string
	row   row
}

// object makes a shown row from name, value pairs, in their order.
func object(pairs ...any) shown {
	s := shown{row: make(row, len(pairs)/2)}
	for i := 0; i+1 < len(pairs); i += 2 {
		name := pairs[i].(string)
		s.order = append(s.order, name)
		s.row[name] = pairs[i+1]
	}
	return s
}

// only leaves the named fields of the row; no names leave it as it is.
func (s shown) only(names []string) shown {
	if names == nil {
		return s
	}
	kept := make(row, len(names))
	for _, name := range names {
		if v, ok := s.row[name]; ok {
			kept[name] = v
		}
	}
	return shown{s.order, kept}
}

// appendJSON writes v as JSON. It knows the types that rows are made of and
// leaves all others to encoding/json.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return appendString(b, v)
	case json.Number:
		return append(b, v...)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case json.RawMessage:
		return append(b, v...)
	case shown:
		return appendRow(b, v.order, v.row)
	case row:
		return appendRow(b, slices.Sorted(maps.Keys(v)), v)
	case []string:
		return appendList(b, v)
	case []any:
		return appendList(b, v)
	case []shown:
		return appendList(b, v)
	case []json.RawMessage:
		return appendList(b, v)
	}
	enc, err := json.Marshal(v)
	if err != nil {
		// Only values of this package come here; one that cannot be
		// written is a mistake in it, and is answered as a 500.
		panic(fmt.Sprintf("sandbox: encode %T: %v", v, err))
	}
	return append(b, enc...)
}

func appendList[T any](b []byte, list []T) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(b, v)
	}
	return append(b, ']')
}

func appendRow(b []byte, order []string, r row) []byte {
	b = append(b, '{')
	first := true
	for _, name := range order {
		v, ok := r[name]
		if !ok {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = appendString(b, name)
		b = append(b, ':')
		b = appendJSON(b, v)
	}
	return append(b, '}')
}

func appendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendEscaped(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendEscaped(b []byte, s string) []byte {
	buf := bytes.NewBuffer(b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(fmt.Sprintf("sandbox: encode a string: %v", err))
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// decodeRow is the inverse of appendRow.
func decodeRow(b []byte) (row, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var r row
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("decode a stored row: %w", err)
	}
	return r, nil
}

// clone copies a row one level deep, which is as deep as handlers change rows.
func clone(r row) row { return maps.Clone(r) }

// text is the string under name, or "" if there is none.
func text(r row, name string) string {
	s, _ := r[name].(string)
	return s
}

// flag is the boolean under name.
func flag(r row, name string) bool {
	b, _ := r[name].(bool)
	return b
}

// list is the strings under name.
func list(r row, name string) []string {
	items, _ := r[name].([]any)
	out := make([]string, 0, len(items))
	for _, v := range items {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// number is the number under name, 0 if there is none.
func number(r row, name string) float64 {
	n, ok := r[name].(json.Number)
	if !ok {
		return 0
	}
	f, err := n.Float64()
	if err != nil {
		return 0
	}
	return f
}

func integer[T ~int | ~uint64](n T) json.Number { return json.Number(strconv.FormatInt(int64(n), 10)) }

// float writes a number as Python does: 1 is 1.0.
func float(f float64) json.Number {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if f == float64(int64(f)) {
		s += ".0"
	}
	return json.Number(s)
}

// anyList makes the list of a row from strings.
func anyList(items []string) []any {
	out := make([]any, len(items))
	for i, s := range items {
		out[i] = s
	}
	return out
}

const stampLayout = "2006-01-02T15:04:05.000000Z"

func stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

// shownMoment is how the service shows a moment that it was given: with microseconds, if there are any.
func shownMoment(t time.Time) string {
	if t.Nanosecond()/1000 == 0 {
		return t.UTC().Format(time.RFC3339)
	}
	return stamp(t)
}
