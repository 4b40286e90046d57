package tabular

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/table"
)

// maxNames is how many names records may have together.
const maxNames = 2000

// maxDepth is how deep objects and lists within a record are looked into. What is deeper is one text, as JSON.
const maxDepth = 16

// nameList are the names of records, in the order in which they occur.
type nameList struct {
	list   []string
	places map[string]int
}

// add gives a name its place.
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

// firstNames are the names of the first record, as far as it is in the beginning of a text.
func firstNames(head []byte) []string {
	d := json.NewDecoder(bytes.NewReader(head))
	for {
		token, err := d.Token()
		if err != nil {
			return nil
		}
		if token == json.Delim('{') {
			var first record
			_ = first.object(d, "", 0) // which is cut
			return first.list
		}
	}
}

// readJSON hands out the values of records: those within objects have names with a dot, lists are texts with separators. page takes
// what stands beside the lists of a page, whose records came before.
func readJSON(
	ctx context.Context, in io.Reader, name string, lists []string, page func(records.Record), each func(values *record, line int) error,
) error {
	return records.Read(ctx, in, name, lists, func(r records.Record) error {
		if r.Page {
			page(r)
			return nil
		}
		var raw json.RawMessage
		if err := r.Decode(&raw, "record"); err != nil {
			return err
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if _, err := d.Token(); err != nil {
			return err
		}
		values := &record{}
		if err := values.object(d, "", 0); err != nil {
			return fmt.Errorf("%s: %w", r.Position, err)
		}
		return each(values, r.Position.Line)
	})
}

// jsonHeader reads the names of all records.
func jsonHeader(ctx context.Context, in io.Reader, name string, lists []string) (*nameList, error) {
	n := &nameList{}
	err := readJSON(ctx, in, name, lists, func(records.Record) {}, func(values *record, line int) error {
		for _, name := range values.list {
			n.add(name)
		}
		if len(n.list) > maxNames {
			return diag.WithHint(fmt.Errorf("%s:%d: there are more than %d different names up to here", name, line, maxNames),
				"IDs are used as names, probably: write records with the same names")
		}
		return nil
	})
	return n, err
}

// rows hands out the records as rows of a table.
func (n *nameList) rows(
	ctx context.Context, in io.Reader, name string, lists []string, page func(records.Record), each func(table.Row) error,
) error {
	return readJSON(ctx, in, name, lists, page, func(values *record, line int) error {
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

// put adds a value. A name that is in the object twice has a list.
func (r *record) put(name, text string) {
	i, known := r.add(name)
	if known {
		r.texts[i] += table.Separator + text
		return
	}
	r.texts = append(r.texts, text)
}

// object reads the rest of an object.
func (r *record) object(d *json.Decoder, prefix string, depth int) error {
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if len(r.list) > maxNames {
			return diag.WithHint(fmt.Errorf("a record has more than %d names", maxNames),
				"IDs are used as names, probably: write records with the same names")
		}
		if err := r.member(d, prefix+fmt.Sprint(name), depth+1); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func (r *record) member(d *json.Decoder, name string, depth int) error {
	if depth > maxDepth {
		var whole json.RawMessage
		err := d.Decode(&whole)
		if err == nil {
			r.put(name, string(whole))
		}
		return err
	}
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case nil:
	case json.Delim:
		if v == '{' {
			return r.object(d, name+".", depth)
		}
		return r.array(d, name, depth)
	default:
		r.put(name, fmt.Sprint(v))
	}
	return nil
}

// list is a list of texts that grows.
type list struct {
	text       strings.Builder
	separators int
}

// fill adds separators until there are so many.
func (l *list) fill(until int) {
	for ; l.separators < until; l.separators++ {
		l.text.WriteString(table.Separator)
	}
}

// array makes a list of texts of its members; of objects a list for each name, all of one length. Of a list that is cut it has what
// there is.
func (r *record) array(d *json.Decoder, name string, depth int) (err error) {
	var places nameList
	var lists []*list
	n := 0
	for ; err == nil && d.More(); n++ {
		var element record
		err = element.member(d, name, depth+1)
		for k, of := range element.list {
			i, known := places.add(of)
			if !known {
				lists = append(lists, &list{})
			}
			lists[i].fill(n)
			lists[i].text.WriteString(strings.ReplaceAll(element.texts[k], table.Separator, ", "))
		}
	}
	for i, of := range places.list {
		lists[i].fill(n - 1)
		if n == 1 { // a list of one, whatever it holds
			lists[i].fill(1)
		}
		r.put(of, lists[i].text.String())
	}
	if err == nil {
		_, err = d.Token()
	}
	return err
}
