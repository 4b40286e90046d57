package tabular

import (
	"context"
	"fmt"
	"io"
	"strings"

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

// readJSON calls each with the values of each record: names of nested values have dots, and lists are texts with separators.
func readJSON(ctx context.Context, in io.Reader, name string, each func(values *record, line int) error) error {
	return records.Read(ctx, in, name, nil, func(r records.Record) error {
		values := flat(r.Tree(), "")
		if len(values.list) > maxNames {
			return tooMany(fmt.Errorf("%s: a record has more than %d names", r.Position, maxNames))
		}
		return each(values, r.Position.Line)
	})
}

// tooMany adds a hint to an error about too many names.
func tooMany(err error) error {
	return diag.WithHint(err, "probably IDs are used as names: write records with the same names")
}

// jsonHeader returns the names in all records.
func jsonHeader(ctx context.Context, in io.Reader, name string) (*nameList, error) {
	n := &nameList{}
	err := readJSON(ctx, in, name, func(values *record, line int) error {
		for _, name := range values.list {
			n.add(name)
		}
		if len(n.list) > maxNames {
			return tooMany(fmt.Errorf("%s:%d: there are more than %d different names up to here", name, line, maxNames))
		}
		return nil
	})
	return n, err
}

// rows calls a function for each record as a row of a table.
func (n *nameList) rows(ctx context.Context, in io.Reader, name string, each func(table.Row) error) error {
	return readJSON(ctx, in, name, func(values *record, line int) error {
		cells := make([]string, len(n.list))
		for i, name := range values.list {
			cells[n.places[name]] = values.texts[i]
		}
		return each(table.NewRow(line, cells))
	})
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

// put adds a text. If the name is there already, its texts become a list.
func (r *record) put(name, text string) {
	i, known := r.nameList.add(name)
	if known {
		r.texts[i] += table.Separator + text
		return
	}
	r.texts = append(r.texts, text)
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
