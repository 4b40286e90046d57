package manifest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/planform/planform/internal/diag"
)

// scanner hands a file to the YAML reader line by line, and checks each line before: a
// file that is too large, holds what YAML forbids, or has more elements than the limit
// ends there, with the place, before memory is spent on it.
type scanner struct {
	ctx    context.Context //nolint:containedctx // lives as long as one call of Load
	in     *bufio.Reader
	file   string
	limits Limits
	spent  *spending // of all files so far

	ready      string // checked, not handed out yet
	eof        bool
	size       int64
	line       int // number of the last line that was read
	directives int
	anchors    bool            // an anchor may have been seen
	kept       strings.Builder // the text so far, for syntaxError; empty where there is too much of it
	finding    *diag.Diagnostic
}

// errScan tells the YAML reader to stop; the finding says why.
var errScan = errors.New("stopped")

// Read hands out text that was checked.
func (s *scanner) Read(p []byte) (int, error) {
	for s.ready == "" {
		if s.finding != nil {
			return 0, errScan
		}
		if s.eof {
			return 0, io.EOF
		}
		s.next()
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

// next reads and checks the next line.
func (s *scanner) next() {
	if s.ctx.Err() != nil {
		s.stop(1, "interrupted", "reading was interrupted", "")
		return
	}
	text, err := s.readLine()
	s.line++
	s.size += int64(len(text))
	s.spent.bytes += int64(len(text))
	s.eof = err != nil
	if s.line == 1 {
		text = strings.TrimPrefix(text, "\uFEFF")
	}
	switch {
	case s.size > s.limits.FileBytes:
		s.stop(1, "too-large", "the file is larger than "+bytesText(s.limits.FileBytes), "split it: -f takes several files, or a directory")
	case len(text) > s.limits.ScalarBytes:
		s.stop(1, "too-large", "a line is longer than "+bytesText(int64(s.limits.ScalarBytes)), "")
	case err != nil && !errors.Is(err, io.EOF):
		s.stop(1, "unreadable", "cannot read the file: "+diag.PlainText(err), "")
	case s.line == 1 && (strings.HasPrefix(text, "\xFF\xFE") || strings.HasPrefix(text, "\xFE\xFF")):
		s.stop(1, "not-utf8", "the file is UTF-16", "save it as UTF-8")
	case s.line == 1 && !s.isText(text):
		s.stop(1, "not-text", "the file is no text", "name a manifest, which is a text in YAML")
	default:
		s.check(text)
	}
	if s.finding != nil {
		return
	}
	s.ready = text
	if s.size <= keptBytes {
		s.kept.WriteString(text)
	} else {
		s.kept.Reset()
	}
}

// isText reports whether the beginning of a file looks like text: other files have zero bytes there.
func (s *scanner) isText(line string) bool {
	const enough = 512
	head, _ := s.in.Peek(enough)
	return !strings.Contains(line[:min(len(line), enough)]+string(head), "\x00")
}

// readLine reads a line with its end, or as much of it as shows that it is too long.
func (s *scanner) readLine() (string, error) {
	var line []byte
	for {
		part, err := s.in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) || len(line) > s.limits.ScalarBytes {
			return string(line), err
		}
	}
}

// check looks at every character of a line, and counts the elements that may begin in it.
func (s *scanner) check(text string) {
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
			s.anchors = s.anchors || strings.ContainsRune(" \n\t\r[{,:-", before)
		case utf8.RuneError:
			if !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
				s.stop(column, "not-utf8", "the file is not UTF-8 here", "save it as UTF-8")
				return
			}
		default:
			if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0x7F && r < 0xA0 && r != 0x85 || r == 0xFEFF || r == 0xFFFE ||
				r == 0xFFFF {
				s.stop(column, "control-character", "the file holds the control character "+runeName(r), "remove it")
				return
			}
		}
		before = r
	}
	const maxDirectives = 100 // each of which the library compares with all before it
	if strings.HasPrefix(text, "%") {
		s.directives++
	}
	s.spent.elements += max(marks, 1)
	switch most, _ := dense(s.spent.bytes); {
	case s.directives > maxDirectives:
		s.stop(1, "too-large", "more than "+strconv.Itoa(maxDirectives)+" lines begin with %",
			"remove the directives: a manifest needs none")
	case s.spent.elements > min(most, s.limits.Elements):
		s.stop(1, "too-large", "the manifest has too many elements for its size", splitHint)
	}
}

// spending is what the files that were read so far cost.
type spending struct {
	bytes    int64
	elements int
}

func (s *scanner) stop(column int, code, summary, hint string) {
	s.finding = &diag.Diagnostic{
		Code: code, Position: diag.Position{File: s.file, Line: max(1, s.line), Column: column}, Summary: summary,
		Hint: hint,
	}
}
