package apiclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/planform/planform/internal/resource"
)

const (
	maxDepth  = 500       // of nesting; descriptions in JSON reach some dozens
	maxValues = 4_000_000 // of one answer; each costs far more memory than it has bytes
)

var (
	errTooLarge = errors.New("the answer is too large")
	errHTML     = errors.New("the answer is a web page, not the API's: is the base URL right?")
	errEmpty    = errors.New("the answer is empty")
)

// readBody reads an answer of at most limit bytes into a buffer of the client's.
func readBody(buf *bytes.Buffer, body io.Reader, limit int64) error {
	n, err := buf.ReadFrom(io.LimitReader(body, limit+1))
	if n > limit {
		return fmt.Errorf("%w: more than %d MiB", errTooLarge, limit>>20)
	}
	return err //nolint:wrapcheck // judged and wrapped by the caller
}

// decode reads a JSON text that is all of the answer. Numbers stay as they were written.
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
		return nil, fmt.Errorf("%w: more than %d values", errTooLarge, maxValues)
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

// measure tells how deep brackets are nested outside of strings, and about how many values there are.
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

// stringEnd is the position of the quote that ends the string which begins at i.
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

// rowsOf takes a JSON array for a list of records.
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
