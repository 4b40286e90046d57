package jira

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/planform/planform/internal/text/diag"
)

// maxItem limits the bytes of an element with its texts.
const maxItem = 64 << 20

var errTooLong = errors.New("too long")

// bounded is a reader that ends with an error after its limit.
type bounded struct {
	in          io.Reader
	read, limit int64
}

func (bn *bounded) Read(p []byte) (int, error) {
	if bn.read > bn.limit {
		return 0, errTooLong
	}
	n, err := bn.in.Read(p)
	bn.read += int64(n)
	return n, err
}

// forbidden matches characters that XML forbids, as characters or as numbers. Jira writes them if somebody pasted them.
var forbidden = regexp.MustCompile(`[\x00-\x08\x0B\x0C\x0E-\x1F\x{FFFE}\x{FFFF}]|&#(?:0*(?:[0-8]|1[124-9]|2[0-9]|3[01]|6553[45])|[xX]0*(?:[0-8bcefBCEF]|1[0-9a-fA-F]|[fF]{3}[efEF]));`)

// legal is a reader of XML that replaces each forbidden character by a legal one. The replacements are removed and counted later.
type legal struct {
	in    io.Reader
	ready []byte
	rest  []byte // beginning of a reference or character that may be forbidden
	err   error
}

// Read returns XML without forbidden characters.
func (l *legal) Read(p []byte) (int, error) {
	for chunk := [1 << 15]byte{}; len(l.ready) == 0 && l.err == nil; {
		var n int
		n, l.err = l.in.Read(chunk[:])
		all := slices.Concat(l.rest, chunk[:n])
		end, longest := len(all), len("&#x0000FFFF;")
		if tail := all[max(0, end-longest):]; l.err == nil {
			if at := max(bytes.LastIndexByte(tail, '&'), bytes.LastIndexByte(tail, 0xEF)); at >= 0 {
				end -= len(tail) - at
			}
		}
		l.ready, l.rest = forbidden.ReplaceAllLiteral(all[:end], []byte{0x7F}), all[end:]
	}
	n := copy(p, l.ready)
	if l.ready = l.ready[n:]; n == 0 {
		return 0, l.err
	}
	return n, nil
}

// explain returns an error with the place where a file is cut off, or is no XML.
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
