package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"
)

// row is one record as the API shows it: JSON values by field name. Numbers are json.Number, so that 65535.0 does not come back as 65535.
type row = map[string]any

// selectFields returns the named fields of a row, or the row itself if names is nil.
func selectFields(r row, names []string) row {
	if names == nil {
		return r
	}
	kept := make(row, len(names))
	for _, name := range names {
		if v, ok := r[name]; ok {
			kept[name] = v
		}
	}
	return kept
}

// visible returns the columns of a row that the API shows.
func (k *kind) visible(r row) row { return selectFields(r, k.columns) }

// encode writes JSON as the service does, without escapes for HTML. v must hold values of this package.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	must(enc.Encode(v))
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// decodeRow is the inverse of encode.
func decodeRow(b []byte) (row, error) {
	v, err := decodeJSON(b)
	r, _ := v.(row)
	return r, err
}

// rowCache holds decoded rows by their encoding, because decoding the same rows for each request took a third of the
// time. Callers may change the returned rows one level deep, which is as deep as handlers change rows.
type rowCache struct {
	mu   sync.Mutex
	rows map[string]row
}

const maxCachedRows = 4_000 // some 20 MB

func (rc *rowCache) decode(b []byte) (row, error) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if r, ok := rc.rows[string(b)]; ok {
		return clone(r), nil
	}
	r, err := decodeRow(b)
	if err != nil {
		return nil, err
	}
	if rc.rows == nil || len(rc.rows) == maxCachedRows {
		rc.rows = map[string]row{}
	}
	rc.rows[string(b)] = clone(r)
	return r, nil
}

func (rc *rowCache) clear() {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.rows = nil
}

// clone copies a row one level deep, which is as deep as handlers change rows.
func clone(r row) row { return maps.Clone(r) }

// text returns the string under name, or "" if there is none.
func text(r row, name string) string {
	s, _ := r[name].(string)
	return s
}

// flag returns the boolean under name.
func flag(r row, name string) bool {
	b, _ := r[name].(bool)
	return b
}

// list returns the strings under name.
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

// number returns the number under name, or 0 if there is none.
func number(r row, name string) float64 {
	n, _ := r[name].(json.Number)
	f, _ := n.Float64()
	return f
}

func integer[T ~int | ~uint64](n T) json.Number { return json.Number(strconv.FormatInt(int64(n), 10)) }

// float returns a number as Python writes it: 1 is 1.0.
func float(f float64) json.Number {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if f == float64(int64(f)) {
		s += ".0"
	}
	return json.Number(s)
}

// anyList returns strings as the list of a row.
func anyList(items []string) []any {
	out := make([]any, len(items))
	for i, s := range items {
		out[i] = s
	}
	return out
}

const stampLayout = "2006-01-02T15:04:05.000000Z"

func stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

// momentText returns a time as the service shows it: with microseconds, if there are any.
func momentText(t time.Time) string {
	if t.Nanosecond()/1000 == 0 {
		return t.UTC().Format(time.RFC3339)
	}
	return stamp(t)
}

// decodeJSON reads a body. The wording of its errors differs from the service's.
func decodeJSON(raw []byte) (any, error) {
	if !utf8.Valid(raw) { // encoding/json would replace invalid bytes with U+FFFD
		return nil, errors.New("no UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it is about
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return v, nil
}
