package manifest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/planform/planform/internal/text/diag"
)

// scanner passes a file to the YAML reader line by line, and checks each line first. It stops at a line that is too large, contains
// forbidden characters or exceeds the limit on elements, before memory is used for it.
type scanner struct {
	ctx    context.Context //nolint:containedctx // lives as long as one call of Load
	in     *bufio.Reader
	file   string
	limits Limits
	spent  *spending // by all files so far

	ready      string // checked text that was not returned yet
	eof        bool
	size       int64
	line       int // number of the last line
	directives int
	anchors    bool            // there may be an anchor
	kept       strings.Builder // the text so far, for syntaxError; empty if it is too long
	finding    *diag.Diagnostic
}

// errScan makes the YAML reader stop; the scanner has the finding.
var errScan = errors.New("stopped")

// Read returns checked text.
func (sc *scanner) Read(p []byte) (int, error) {
	for sc.ready == "" {
		if sc.finding != nil {
			return 0, errScan
		}
		if sc.eof {
			return 0, io.EOF
		}
		sc.next()
	}
	n := copy(p, sc.ready)
	sc.ready = sc.ready[n:]
	return n, nil
}

// next reads and checks the next line.
func (sc *scanner) next() {
	if sc.ctx.Err() != nil {
		sc.stop(1, "interrupted", "reading was interrupted", "")
		return
	}
	text, err := sc.readLine()
	sc.line++
	sc.size += int64(len(text))
	sc.spent.bytes += int64(len(text))
	sc.eof = err != nil
	if sc.line == 1 {
		text = strings.TrimPrefix(text, "\uFEFF")
	}
	switch {
	case sc.size > sc.limits.FileBytes:
		sc.stop(1, "too-large", "the file is larger than "+bytesText(sc.limits.FileBytes), "split it: -f takes several files, or a folder")
	case len(text) > sc.limits.ScalarBytes:
		sc.stop(1, "too-large", "a line is longer than "+bytesText(int64(sc.limits.ScalarBytes)), "")
	case err != nil && !errors.Is(err, io.EOF):
		sc.stop(1, "unreadable", "cannot read the file: "+diag.PlainText(err), "")
	case sc.line == 1 && (strings.HasPrefix(text, "\xFF\xFE") || strings.HasPrefix(text, "\xFE\xFF")):
		sc.stop(1, "not-utf8", "the file is UTF-16", "save it as UTF-8")
	case sc.line == 1 && !sc.isText(text):
		sc.stop(1, "not-text", "the file is not a text", "name a manifest, which is a text in YAML")
	default:
		sc.checkLine(text)
	}
	if sc.finding != nil {
		return
	}
	sc.ready = text
	if sc.size <= keptBytes {
		sc.kept.WriteString(text)
	} else {
		sc.kept.Reset()
	}
}

// isText reports whether a file begins like a text. Binary files have zero bytes there.
func (sc *scanner) isText(line string) bool {
	const enough = 512
	head, _ := sc.in.Peek(enough)
	return !strings.Contains(line[:min(len(line), enough)]+string(head), "\x00")
}

// readLine reads a line with its end. It stops early if the line is too long.
func (sc *scanner) readLine() (string, error) {
	var line []byte
	for {
		part, err := sc.in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) > sc.limits.ScalarBytes {
			return string(line), err
		}
	}
}

// checkLine checks the characters of a line, and counts the elements that may begin in it.
func (sc *scanner) checkLine(text string) {
	column, marks, before := 0, 0, '\n'
	for i, r := range text {
		column++
		switch r {
		case '[', '{', ',', ':', '?':
			marks++
		case '-':
			if before == ' ' || before == '\n' || before == '-' {
				marks++
			}
		case '&':
			sc.anchors = sc.anchors || strings.ContainsRune(" \n\t\r[{,:-", before)
		case utf8.RuneError:
			if !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
				sc.stop(column, "not-utf8", "the file is not UTF-8 here", "save it as UTF-8")
				return
			}
		default:
			if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7F && r < 0xA0 && r != 0x85 || r == 0xFEFF || r == 0xFFFE ||
				r == 0xFFFF {
				sc.stop(column, "control-character", "the file contains the control character "+runeName(r), "remove it")
				return
			}
		}
		before = r
	}
	const maxDirectives = 100 // the library compares each directive with all earlier ones
	if strings.HasPrefix(text, "%") {
		sc.directives++
	}
	sc.spent.elements += max(marks, 1)
	switch most, _ := densityLimits(sc.spent.bytes); {
	case sc.directives > maxDirectives:
		sc.stop(1, "too-large", "more than "+strconv.Itoa(maxDirectives)+" lines begin with %",
			"remove the directives: a manifest needs none")
	case sc.spent.elements > min(most, sc.limits.Elements):
		sc.stop(1, "too-large", "the manifest has too many elements for its size", splitHint)
	}
}

// spending counts the bytes and elements of the files that were read so far.
type spending struct {
	bytes    int64
	elements int
}

func (sc *scanner) stop(column int, code, summary, hint string) {
	sc.finding = &diag.Diagnostic{
		Code: code, Position: diag.Position{File: sc.file, Line: max(1, sc.line), Column: column}, Summary: summary,
		Hint: hint,
	}
}
