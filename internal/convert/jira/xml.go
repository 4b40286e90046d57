package jira

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/planform/planform/internal/diag"
)

// maxItem limits the length of an element, with its texts.
const maxItem = 64 << 20

var errTooLong = errors.New("too long")

// bounded reads no further than its limit.
type bounded struct {
	in          io.Reader
	read, limit int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.read > b.limit {
		return 0, errTooLong
	}
	n, err := b.in.Read(p)
	b.read += int64(n)
	return n, err
}

// explain says where a file is cut off, or is no XML.
func explain(name string, d *xml.Decoder, err error) error {
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

// customName returns the name of a custom field in the account.
func customName(field string) string { return "custom field " + field }
