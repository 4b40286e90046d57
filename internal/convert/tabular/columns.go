package tabular

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/words"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/table"
)

// sheet is one file with its columns.
type sheet struct {
	*table.Reader

	header *header
	name   string
	fields map[string][]int
	split  map[int]string
	places map[string][]int  // places of columns that are kept as a text, by name
	roles  *convert.Roles    // roles of columns
	single map[string]string // fields of one value, by column

	skipped int            // rows without a key, or with nothing else
	bare    []string       // keys of rows with nothing else
	left    map[string]int // rows left out, by reason
}

// newSheet returns a file whose columns are found in its header.
func (e *export) newSheet(name string, r *table.Reader) (*sheet, error) {
	s := &sheet{
		Reader: r, name: name, fields: map[string][]int{}, split: map[int]string{}, places: map[string][]int{}, single: map[string]string{},
		roles: convert.ReadRoles("technical = " + unsaid + "*"), left: map[string]int{},
	}
	for i, name := range s.Header {
		s.Header[i] = cmp.Or(name, place(i))
	}
	s.header = e.english(s.Header)
	e.sort(s)
	isNamed := func(column int) bool { _, ok := e.in.Columns.Own(s.Header[column]); return ok } // by the mapping; of a tracker's, the first counts
	if keys := s.fields["key"]; len(keys) > 1 && s.Header[keys[0]] != s.Header[keys[1]] && slices.ContainsFunc(keys, isNamed) {
		return nil, diag.WithHint(convert.ColumnsError(name+":1: the columns "+s.Header[keys[0]]+" and "+s.Header[keys[1]]+" cannot both be the key"),
			"choose the column that never changes, in the mapping")
	}
	if len(s.Header) > 0 && len(s.fields["key"])+len(s.fields["comment_of"]) == 0 { // a page may be empty
		return nil, diag.WithHint(convert.ColumnsError(name+":1: no column is known as the key, by which an item is found again: the columns are "+
			strings.Join(s.Header, ", ")),
			"write into the mapping file which it is, such as columns: {"+strconv.Quote(s.Header[0])+": key}; take one that never changes")
	}
	return s, nil
}

// known reports whether a line, read with some separator, is a header.
func (e *export) known(names []string) bool {
	h := e.english(names)
	return e.recognised(h) != nil || len(e.guess(h)) > 1 ||
		slices.ContainsFunc(names, func(cell string) bool { _, ok := e.in.Columns.Own(cell); return ok })
}

func (e *export) english(names []string) *header {
	if e.Header != nil {
		english, err := e.Header(names)
		e.foreign = cmp.Or(e.foreign, err)
		names = english
	}
	return newHeader(names)
}

// guess returns the fields that the names of columns suggest, by column. Of several columns for a field with one value in a table of no
// tracker, the first in the list wins.
func (l *layout) guess(h *header) map[string]string {
	found := map[string]string{}
	for _, column := range l.columns {
		for _, name := range column.Names {
			fits := h.places[words.Fold(name)]
			if before, after, part := strings.Cut(name, "*"); part { // any name with this beginning and end
				fits = nil
				for i, cell := range h.names {
					if strings.HasPrefix(cell, before) && strings.HasSuffix(cell, after) {
						fits = append(fits, i)
					}
				}
			}
			taken := false
			for _, i := range fits {
				if cell := h.names[i]; found[cell] == "" {
					found[cell], taken = column.Of, true
				}
			}
			if taken && l.anyTable && single[column.Of] {
				break
			}
		}
	}
	return found
}

// sort finds the fields of a file's columns.
func (e *export) sort(s *sheet) {
	guesses := e.guess(s.header)
	decided := map[string]bool{} // fields with one value whose column the mapping names
	for _, cell := range s.Header {
		if c, ok := e.in.Columns.Own(cell); ok {
			decided[c.Field] = single[c.Field]
		}
	}
	maps.DeleteFunc(guesses, func(_, guess string) bool { return decided[guess] })
	for i, cell := range s.header.names {
		field := guesses[cell]
		column, told := e.in.Columns.Own(s.Header[i])
		if !told && field == "" {
			column, told = e.in.Columns.Find(s.Header[i])
		}
		if told {
			field = column.Field
			s.split[i] = column.Split
		} else if one, whole := strings.CutPrefix(field, "whole "); whole { // such as a name, which may hold a comma
			field = one
			s.split[i] = table.Separator
		}
		if had := s.fields[field]; single[field] && len(had) > 0 && s.header.names[had[0]] == cell { // the field has its column
			n := 2
			for slices.Contains(s.header.names, cell+" ("+strconv.Itoa(n)+")") {
				n++
			}
			cell += " (" + strconv.Itoa(n) + ")"
			column, _ = e.in.Columns.Own(cell)
			s.header.names[i], field, s.split[i] = cell, column.Field, column.Split
		}
		if e.anyTable && !e.second && e.in.Propose != nil && cell != place(i) { // which may be empty
			e.in.Propose(cell, field)
		}
		part := convert.Role(strings.TrimPrefix(field, "raw "))
		if field == "" || field == "text" {
			part = convert.OfField
		}
		s.roles.Declare(cell, part)
		switch field {
		case "", "text":
			s.places[cell] = append(s.places[cell], i)
		case "skip":
		default:
			s.fields[field] = append(s.fields[field], i)
			if single[field] || slices.Contains([]string{"link", "parent", "created_at", "start_date", "target_date"}, field) {
				s.single[cell] = field
			}
		}
	}
}

// place returns a name for a column without one.
func place(i int) string { return "column " + strconv.Itoa(i+1) }

// single holds the fields that have one value, from one column.
//
//nolint:gochecknoglobals // a constant
var single = map[string]bool{"key": true, "name": true, "description": true, "state": true, "priority": true, "type": true, "project": true}
