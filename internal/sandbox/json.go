package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"unicode/utf8"
)

// jsonError is what the parser of the service says of a body that is no JSON.
type jsonError struct {
	text string
	at   int // code point; negative if the service does not say where
	body []rune
}

func (e *jsonError) Error() string {
	if e.at < 0 {
		return e.text
	}
	line, column := 1, e.at+1
	for i, c := range e.body[:e.at] {
		if c == '\n' {
			line, column = line+1, e.at-i
		}
	}
	return fmt.Sprintf("%s: line %d column %d (char %d)", e.text, line, column, e.at)
}

// decodeJSON reads a body. What is wrong with one is said in the words of the service, of which
// clients may show the place.
func decodeJSON(raw []byte) (any, error) {
	if at := invalidUTF8(raw); at >= 0 { // encoding/json would replace it by U+FFFD
		return nil, &jsonError{text: fmt.Sprintf("'utf-8' codec can't decode byte 0x%02x in position %d: invalid start byte", raw[at], at), at: -1}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	if err == nil {
		if _, end := dec.Token(); errors.Is(end, io.EOF) {
			return v, nil
		}
	}
	if s := (&jsonScanner{body: []rune(string(raw))}); s.document() != nil {
		return nil, s.wrong
	}
	return nil, errors.Join(err, errors.New("nested too deeply"))
}

func invalidUTF8(raw []byte) int {
	for i := 0; i < len(raw); {
		c, n := utf8.DecodeRune(raw[i:])
		if c == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// jsonScanner goes through a body as the service does, to find what it complains of.
type jsonScanner struct {
	body  []rune
	at    int
	wrong *jsonError
}

func (s *jsonScanner) refuse(at int, text string) *jsonError {
	s.wrong = &jsonError{text, at, s.body}
	return s.wrong
}

// next is the next character that is no space, 0 at the end.
func (s *jsonScanner) next() rune {
	for s.at < len(s.body) && (s.body[s.at] == ' ' || s.body[s.at] == '\t' || s.body[s.at] == '\n' || s.body[s.at] == '\r') {
		s.at++
	}
	if s.at == len(s.body) {
		return 0
	}
	return s.body[s.at]
}

func (s *jsonScanner) document() *jsonError {
	if len(s.body) > 0 && s.body[0] == '\ufeff' {
		return s.refuse(0, "Unexpected UTF-8 BOM (decode using utf-8-sig)")
	}
	if s.value() != nil {
		return s.wrong
	}
	if s.next() != 0 {
		return s.refuse(s.at, "Extra data")
	}
	return nil
}

var (
	jsonNumber   = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?`)
	jsonConstant = regexp.MustCompile(`^(true|false|null)`)
	noJSONNumber = regexp.MustCompile(`^(NaN|-?Infinity)`)
)

func (s *jsonScanner) value() *jsonError {
	switch s.next() {
	case '{':
		return s.list('}', func() *jsonError {
			if s.next() != '"' {
				return s.refuse(s.at, "Expecting property name enclosed in double quotes")
			}
			if s.text() != nil {
				return s.wrong
			}
			if s.next() != ':' {
				return s.refuse(s.at, "Expecting ':' delimiter")
			}
			s.at++
			return s.value()
		})
	case '[':
		return s.list(']', s.value)
	case '"':
		return s.text()
	}
	rest := string(s.body[s.at:min(s.at+400, len(s.body))])
	if name := noJSONNumber.FindString(rest); name != "" {
		return s.refuse(-1, "Out of range float values are not JSON compliant: '"+name+"'")
	}
	for _, form := range []*regexp.Regexp{jsonConstant, jsonNumber} {
		if found := form.FindString(rest); found != "" {
			s.at += len(found)
			return nil
		}
	}
	return s.refuse(s.at, "Expecting value")
}

// list reads what is between brackets.
func (s *jsonScanner) list(end rune, entry func() *jsonError) *jsonError {
	s.at++
	if s.next() == end {
		s.at++
		return nil
	}
	for {
		if entry() != nil {
			return s.wrong
		}
		switch s.next() {
		case end:
			s.at++
			return nil
		case ',':
			s.at++
		default:
			return s.refuse(s.at, "Expecting ',' delimiter")
		}
	}
}

func (s *jsonScanner) text() *jsonError {
	begin := s.at
	for s.at++; s.at < len(s.body); s.at++ {
		switch c := s.body[s.at]; {
		case c == '"':
			s.at++
			return nil
		case c < ' ':
			return s.refuse(s.at, "Invalid control character at")
		case c == '\\':
			if s.escape(begin) != nil {
				return s.wrong
			}
		}
	}
	return s.refuse(begin, "Unterminated string starting at")
}

// escape reads a backslash and what belongs to it, but for the last character.
func (s *jsonScanner) escape(begin int) *jsonError {
	s.at++
	if s.at == len(s.body) {
		return s.refuse(begin, "Unterminated string starting at")
	}
	switch s.body[s.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		digits := string(s.body[s.at+1 : min(s.at+5, len(s.body))])
		if _, err := strconv.ParseUint(digits, 16, 32); err != nil || len(digits) != 4 {
			return s.refuse(s.at, "Invalid \\uXXXX escape")
		}
		s.at += 4
		return nil
	}
	return s.refuse(s.at-1, "Invalid \\escape")
}
