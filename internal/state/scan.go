package state

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// scanner reads a state that is exactly as [content.encode] writes one, several
// times faster than encoding/json does. At anything else it gives up, and
// [decoder] reads the file, or says what is wrong with it.
type scanner struct {
	text   string
	at     int
	failed bool
	files  []string // of the last entry that has any: most have the same
}

func scan(text string) (*content, bool) {
	if !utf8.ValidString(text) {
		return nil, false
	}
	s := scanner{text: text}
	c := &content{entries: make(map[resource.Address]entry, strings.Count(text, "\n"))}
	s.want(`{"format_version":1,"lineage":`)
	c.Lineage = s.string()
	s.want(`,"serial":`)
	c.Serial = s.number()
	s.want(`,"base_url":`)
	c.BaseURL = s.string()
	s.want(`,"workspace":`)
	c.Workspace = s.string()
	c.Journal = s.field(`,"journal":`)
	s.want(`,"objects":[`)
	for more := !s.skip("\n]}\n"); more && !s.failed; {
		s.want("\n")
		e := s.entry()
		if _, twice := c.entries[e.Address]; twice || e.Address == "" {
			return nil, false
		}
		c.entries[e.Address] = e
		if more = s.skip(","); !more {
			s.want("\n]}\n")
		}
	}
	return c, !s.failed && s.at == len(text) && c.Lineage != ""
}

func (s *scanner) entry() entry {
	var e entry
	s.want(`{"address":`)
	e.Address = resource.Address(s.string())
	e.ID = s.field(`,"id":`)
	e.Identifier = s.field(`,"identifier":`)
	e.CreatedByUs = s.skip(`,"made":true`)
	e.Protect = s.skip(`,"protect":true`)
	if files := s.list(`,"files":[`); len(files) > 0 {
		if !slices.Equal(files, s.files) {
			s.files = files
		}
		e.Sources = s.files
	}
	if s.skip(`,"values":{`) {
		e.Values = make(map[string]string, 8)
		for more := true; more && !s.failed; more = s.skip(",") {
			name := s.string()
			s.want(":")
			e.Values[name] = s.string()
		}
		s.want("}")
	}
	e.Members = s.list(`,"members":[`)
	e.Found = s.list(`,"found":[`)
	if s.skip(`,"applied_at":`) {
		var err error
		if e.applied, err = parseTime(s.string()); err != nil {
			s.failed = true
		}
	}
	if s.skip(`,"open":{"action":`) {
		e.PendingIntent = s.intent()
	}
	s.want("}")
	e.Record = normalRecord(e.Record)
	return e
}

func (s *scanner) intent() *planner.Intent {
	action, err := parseAction(s.string())
	intent := &planner.Intent{Action: action, Name: s.field(`,"name":`)}
	if s.skip(`,"after":`) {
		n := s.number()
		s.failed = s.failed || n > math.MaxInt32
		intent.After = int(min(n, math.MaxInt32))
	}
	if s.skip(`,"at":`) {
		var bad error
		intent.At, bad = parseTime(s.string())
		s.failed = s.failed || bad != nil
	}
	s.want("}")
	s.failed = s.failed || err != nil
	return intent
}

func (s *scanner) skip(text string) bool {
	if s.failed || !strings.HasPrefix(s.text[s.at:], text) {
		return false
	}
	s.at += len(text)
	return true
}

func (s *scanner) want(text string) {
	if !s.skip(text) {
		s.failed = true
	}
}

// field is a text that may be left out.
func (s *scanner) field(key string) string {
	if !s.skip(key) {
		return ""
	}
	return s.string()
}

// list is a list of texts that may be left out.
func (s *scanner) list(key string) []string {
	if !s.skip(key) {
		return nil
	}
	var list []string
	for more := true; more && !s.failed; more = s.skip(",") {
		list = append(list, s.string())
	}
	s.want("]")
	return list
}

// string reads a JSON string, without a copy unless something is escaped in it.
func (s *scanner) string() string {
	s.want(`"`)
	start := s.at
	for i := start; i < len(s.text) && !s.failed; i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.at = i + 1
			return s.text[start:i]
		case c == '\\':
			return s.escaped(start-1, i)
		case c < ' ':
			s.failed = true
		}
	}
	s.failed = true
	return ""
}

// escaped reads a JSON string of which the first backslash is at i.
func (s *scanner) escaped(start, i int) string {
	for ; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case '"':
			s.at = i + 1
			var text string
			if json.Unmarshal([]byte(s.text[start:s.at]), &text) != nil {
				s.failed = true
			}
			return text
		}
	}
	s.failed = true
	return ""
}

// number reads a number that fits easily.
func (s *scanner) number() uint64 {
	start := s.at
	n := uint64(0)
	for ; s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9'; s.at++ {
		n = n*10 + uint64(s.text[s.at]-'0')
	}
	if digits := s.at - start; digits == 0 || digits > 18 || digits > 1 && s.text[start] == '0' {
		s.failed = true // or let the other reader judge
	}
	return n
}
