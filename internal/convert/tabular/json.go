package tabular

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/table"
)

// maxNames is the largest number of names that all records of a file may have together.
const maxNames = 2000

// nameList holds the names in records, in the order in which they occur.
type nameList struct {
	list   []string
	places map[string]int
}

// add returns the place of a name, and appends the name if it is new.
func (n *nameList) add(name string) (place int, known bool) {
	if n.places == nil {
		n.places = map[string]int{}
	}
	if place, known = n.places[name]; !known {
		place = len(n.list)
		n.places[name], n.list = place, append(n.list, name)
	}
	return place, known
}

// readJSON reads a file of records: first their names, which are the columns, then their values. Names of nested values have dots, and lists
// are texts with separators.
func (e *export) readJSON(ctx context.Context, f convert.File, each func(*Cells) error) (s *sheet, err error) {
	names := &nameList{}
	read := func(each func(values *record, at diag.Position) error) error {
		return f.Read(func(in io.Reader) error {
			return records.Read(ctx, in, f.Name, nil, func(r records.Record) error { return each(flat(r.Tree(), ""), r.Position) })
		})
	}
	err = read(func(values *record, at diag.Position) error {
		text := "there are more than %d different names up to here"
		if len(values.list) > maxNames {
			text = "a record has more than %d names"
		} else if names.row(0, values); len(names.list) <= maxNames {
			return nil
		}
		return diag.WithHint(fmt.Errorf("%s: "+text, at, maxNames), "probably IDs are used as names: write records with the same names")
	})
	if err != nil {
		return nil, err
	}
	if s, err = e.newSheet(f.Name, &table.Reader{Header: names.list}); err != nil {
		return nil, err
	}
	return s, read(func(values *record, at diag.Position) error { return e.cells(s, names.row(at.Line, values), each) })
}

// row returns a record as a row of a table, and appends new names.
func (n *nameList) row(line int, values *record) table.Row {
	for _, name := range values.list {
		n.add(name)
	}
	cells := make([]string, len(n.list))
	for i, name := range values.list {
		cells[n.places[name]] = values.texts[i]
	}
	return table.NewRow(line, cells)
}

// record holds the values of an object by their names: texts, and lists as texts with separators.
type record struct {
	nameList

	texts []string
}

// flat returns the values within a value that has a name.
func flat(v records.Value, name string) *record {
	r := &record{}
	r.add(v, name)
	return r
}

func (r *record) text(name string) string {
	if i, known := r.places[name]; known {
		return r.texts[i]
	}
	return ""
}

func (r *record) set(name, text string) {
	i, known := r.nameList.add(name)
	if !known {
		r.texts = append(r.texts, "")
	}
	r.texts[i] = text
}

// put adds a text. If the name is there already, its texts become a list.
func (r *record) put(name, text string) {
	if _, known := r.places[name]; known {
		text = r.text(name) + table.Separator + text
	}
	r.set(name, text)
}

// add adds the values within a value. A list becomes a list of texts; a list of objects becomes one list for each name, all of one length.
func (r *record) add(v records.Value, name string) {
	switch {
	case v.Object:
		for _, part := range v.Parts {
			r.add(part, strings.TrimPrefix(name+"."+part.Name, "."))
		}
		return
	case !v.List:
		r.put(name, v.Text)
		return
	}
	var places nameList
	var lists [][]string
	for n, part := range v.Parts {
		element := flat(part, name)
		for k, of := range element.list {
			i, known := places.add(of)
			if !known {
				lists = append(lists, make([]string, max(len(v.Parts), 2))) // a list of one is a list, too
			}
			lists[i][n] = strings.ReplaceAll(element.texts[k], table.Separator, ", ")
		}
	}
	for i, of := range places.list {
		r.put(of, strings.Join(lists[i], table.Separator))
	}
}
