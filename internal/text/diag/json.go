package diag

import (
	"bytes"
	"encoding/json"
)

// JSON encodes a value without a line end, and without escapes for HTML.
func JSON(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// OrNull returns a pointer to a value, or nil for the zero value, so that unknown values are null in JSON.
func OrNull[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// OrEmpty returns a copy of a list that is never null in JSON.
func OrEmpty[L ~[]T, T any](list L) L { return append(L{}, list...) }

// OrEmpty returns a copy of the list in which nothing is null in JSON.
func (l List) OrEmpty() List {
	l = OrEmpty(l)
	for i := range l {
		l[i].Related = OrEmpty(l[i].Related)
	}
	return l
}
