package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/planform/planform/internal/http/wire"
	"github.com/planform/planform/internal/plane/resource"
)

const (
	maxDepth  = 500       // of nesting; descriptions in JSON reach a few dozen
	maxValues = 4_000_000 // in one answer; each takes far more memory than bytes
)

var (
	errHTML  = errors.New("the answer is a web page, not the API's: is the base URL right?")
	errEmpty = errors.New("the answer is empty")
)

// decode decodes an answer that is one JSON text. Numbers become json.Number.
func decode(contentType string, body []byte) (any, error) {
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) == 0 {
		return nil, errEmpty
	}
	if isHTML("", trimmed) || strings.Contains(contentType, "html") && trimmed[0] != '{' && trimmed[0] != '[' {
		return nil, errHTML
	}
	switch depth, values := measure(trimmed); {
	case depth > maxDepth:
		return nil, fmt.Errorf("the answer is nested more than %d deep", maxDepth)
	case values > maxValues:
		return nil, fmt.Errorf("%w: more than %d values", wire.ErrTooLarge, maxValues)
	}
	d := json.NewDecoder(bytes.NewReader(trimmed))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("the answer is not JSON: %w", err)
	}
	if d.InputOffset() != int64(len(trimmed)) {
		return nil, errors.New("the answer is not JSON: something follows the value")
	}
	if v == nil {
		return nil, errors.New("the answer is null")
	}
	return v, nil
}

// measure returns the nesting depth of a JSON text, and the approximate number of its values.
func measure(body []byte) (deepest, values int) {
	depth := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[':
			depth++
			values++
			deepest = max(deepest, depth)
		case ',':
			values++
		case '}', ']':
			depth--
		case '"':
			i = stringEnd(body, i+1)
		}
	}
	return deepest, values
}

// stringEnd returns the position of the closing quote of the string that begins at i.
func stringEnd(body []byte, i int) int {
	for i < len(body) {
		n := bytes.IndexByte(body[i:], '"')
		if n < 0 {
			return len(body)
		}
		i += n
		backslashes := 0
		for j := i - 1; j >= 0 && body[j] == '\\'; j-- {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i
		}
		i++
	}
	return i
}

// rowsOf converts a JSON array to rows.
func rowsOf(list []any) ([]resource.Row, error) {
	rows := make([]resource.Row, len(list))
	for i, e := range list {
		row, ok := e.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("entry %d of the list is not an object", i+1)
		}
		rows[i] = row
	}
	return rows, nil
}
