package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

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
