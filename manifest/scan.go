package manifest

import (
	"context"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/planform/planform/internal/diag"
)

// scanner hands a file to the YAML reader and looks at each byte before: a file
// that is too large, holds what YAML forbids, or has more elements than the limit
// ends there, with the place, before memory is spent on it.
type scanner struct {
	ctx    context.Context //nolint:containedctx // lives as long as one call of Load
	in     io.Reader
	file   string
	limits Limits
	spent  *spending // of all files so far

	buf     []byte  // one block
	rest    [4]byte // of the block before: the beginning of a character
	carry   int     // how many bytes of rest are in use
	ready   []byte  // looked at, not handed out yet
	eof     bool
	started bool
	size    int64
	line    int    // of the next byte
	column  int    // characters before it in its line
	since   int    // bytes since the last line end
	before  byte   // the byte before the next one
	anchors bool   // an anchor may have been seen
	hyphens int    // that may begin an object
	percent int    // lines that begin as directives do
	kept    []byte // the text so far, for the words about an error in it; nil where there is too much of it
	finding *diag.Diagnostic
}

// errScan tells the YAML reader to stop; the finding says why.
var errScan = errors.New("stopped")

const blockSize = 64 << 10

// Read hands out bytes that have been looked at.
func (s *scanner) Read(p []byte) (int, error) {
	for len(s.ready) == 0 {
		if s.finding != nil {
			return 0, errScan
		}
		if s.eof {
			return 0, io.EOF
		}
		s.fill()
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

// fill reads and checks the next block.
func (s *scanner) fill() {
	if s.buf == nil {
		s.buf = make([]byte, blockSize)
		s.line = 1
	}
	if err := s.ctx.Err(); err != nil {
		s.stop("interrupted", "reading was interrupted", "")
		return
	}
	copy(s.buf, s.rest[:s.carry])
	n, err := io.ReadAtLeast(s.in, s.buf[s.carry:], 1)
	s.size += int64(n)
	s.spent.bytes += int64(n)
	s.eof = err != nil
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		s.stop("unreadable", "cannot read the file: "+err.Error(), "")
		return
	case s.size > s.limits.FileBytes:
		s.stop("too-large", "the file is larger than "+bytesText(s.limits.FileBytes), "split it: -f takes several files, or a directory")
		return
	}
	block := s.buf[:s.carry+n]
	if !s.started {
		if len(block) < 3 && !s.eof {
			s.carry = copy(s.rest[:], block)
			return
		}
		s.started = true
		block = s.start(block)
		if s.finding != nil {
			return
		}
	}
	good := s.look(block)
	s.ready = block[:good]
	if s.finding != nil {
		s.ready = nil // nothing after the last good block matters
		return
	}
	s.carry = copy(s.rest[:], block[good:])
	if s.size <= keptBytes {
		s.kept = append(s.kept, s.ready...)
	} else {
		s.kept = nil
	}
}

// start drops a byte order mark and refuses other encodings.
func (s *scanner) start(block []byte) []byte {
	switch {
	case len(block) >= 3 && block[0] == 0xEF && block[1] == 0xBB && block[2] == 0xBF:
		return block[3:]
	case len(block) >= 2 && (block[0] == 0xFF && block[1] == 0xFE || block[0] == 0xFE && block[1] == 0xFF):
		s.stop("not-utf8", "the file is UTF-16", "save it as UTF-8")
	}
	return block
}

// What a byte is to the scanner.
const (
	isPlain  = iota
	isLine   // ends a line
	isMark   // may begin an element
	isAmp    // may begin an anchor
	isSign   // may begin a directive
	isHigh   // begins a character of several bytes
	isDenied // never in a text
)

//nolint:gochecknoglobals // a constant table
var class = func() (t [256]byte) {
	for c := range t {
		switch {
		case c == '\n':
			t[c] = isLine
		case c == '[' || c == '{' || c == ',' || c == ':' || c == '?' || c == '-':
			t[c] = isMark
		case c == '&':
			t[c] = isAmp
		case c == '%':
			t[c] = isSign
		case c >= 0x80:
			t[c] = isHigh
		case c < 0x20 && c != '\t' && c != '\r' || c == 0x7F:
			t[c] = isDenied
		}
	}
	return t
}()

// look checks a block and returns how many bytes of it are whole characters.
func (s *scanner) look(block []byte) int {
	elements, before := 0, s.before
	i, begin := 0, 0 // begin is where the current line begins in the block
	for i < len(block) {
		c := block[i]
		switch class[c] {
		case isPlain:
		case isLine:
			elements++
			if s.since+i-begin > s.limits.ScalarBytes {
				s.stop("too-large", "a line is longer than "+bytesText(int64(s.limits.ScalarBytes)), "")
				return 0
			}
			s.line++
			s.column, s.since = 0, 0
			begin = i + 1
		case isMark:
			if c != '-' || before == ' ' || before == '\n' || before == '-' {
				elements++
			}
			if c == '-' && i+1 < len(block) && block[i+1] == ' ' {
				s.hyphens++
			}
		case isAmp:
			switch before {
			case ' ', '\n', '\t', '[', '{', ',', ':', '-', '\r', 0:
				s.anchors = true
			}
		case isSign:
			const most = 100 // directives, each of which the library compares with all before it
			if before == '\n' {
				s.percent++
			}
			if s.percent > most {
				s.stop("too-large", "more than "+strconv.Itoa(most)+" lines begin with %", "remove the directives: a manifest needs none")
				return 0
			}
		case isDenied:
			s.column += utf8.RuneCount(block[begin:i])
			s.denied(rune(c))
			return 0
		case isHigh:
			if !s.eof && !utf8.FullRune(block[i:]) {
				s.before = before
				s.end(block[begin:i], elements)
				return i
			}
			r, size := utf8.DecodeRune(block[i:])
			if r == utf8.RuneError && size == 1 || r < 0xA0 && r != 0x85 || r == 0xFEFF || r == 0xFFFE || r == 0xFFFF {
				s.column += utf8.RuneCount(block[begin:i])
				if r == utf8.RuneError && size == 1 {
					s.stop("not-utf8", "the file is not UTF-8 here", "save it as UTF-8")
				} else {
					s.denied(r)
				}
				return 0
			}
			i += size - 1
		}
		before = c
		i++
	}
	s.before = before
	s.end(block[begin:], elements)
	return len(block)
}

// end takes over what a block added.
func (s *scanner) end(lastLine []byte, elements int) {
	s.column += utf8.RuneCount(lastLine)
	s.since += len(lastLine)
	if s.since > s.limits.ScalarBytes {
		s.stop("too-large", "a line is longer than "+bytesText(int64(s.limits.ScalarBytes)), "")
	}
	s.spent.elements += elements
	if most, _ := dense(s.spent.bytes); s.spent.elements > min(most, s.limits.Elements) {
		s.stop("too-large", "the manifest has too many elements for its size", "split it and apply the parts one after another")
	}
}

// spending is what the files that were read so far cost.
type spending struct {
	bytes    int64
	elements int
}

func (s *scanner) denied(r rune) {
	s.stop("control-character", "the file holds the control character "+runeName(r), "remove it")
}

func (s *scanner) stop(code, summary, hint string) {
	s.finding = &diag.Diagnostic{
		Code: code, Summary: summary, Hint: hint,
		Position: diag.Position{File: s.file, Line: max(1, s.line), Column: s.column + 1},
	}
}
