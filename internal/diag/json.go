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

// OrNull is a pointer to a value, nil where that is zero: in JSON, what is not known is null.
func OrNull[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// OrEmpty is a copy of a list that is not null in JSON where there is none.
func OrEmpty[L ~[]T, T any](list L) L { return append(L{}, list...) }

// OrEmpty is a copy of a list without a null in it.
func (l List) OrEmpty() List {
	l = OrEmpty(l)
	for i := range l {
		l[i].Related = OrEmpty(l[i].Related)
	}
	return l
}
