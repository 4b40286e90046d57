package tabular

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert/records"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/table"
)

// maxNames is how many names records may have together.
const maxNames = 2000

// names are those of records, in the order in which they occur.
type names struct {
	list   []string
	places map[string]int
}

func (n *names) add(values []value) {
	if n.places == nil {
		n.places = map[string]int{}
	}
	for _, v := range values {
		if _, known := n.places[v.name]; !known {
			n.places[v.name] = len(n.list)
			n.list = append(n.list, v.name)
		}
	}
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
			var values []value
			_ = object(d, "", &values) // which is cut
			var n names
			n.add(values)
			return n.list
		}
	}
}

// readJSON hands out the values of records: those within objects have names with a dot, lists are texts with separators.
func readJSON(ctx context.Context, in io.Reader, name string, each func(values []value, line int) error) error {
	return records.Read(ctx, in, name, nil, func(r records.Record) error {
		var raw json.RawMessage
		if err := r.Decode(&raw, "record"); err != nil {
			return err
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if _, err := d.Token(); err != nil {
			return err
		}
		var values []value
		if err := object(d, "", &values); err != nil {
			return fmt.Errorf("%s: %w", r.Position, err)
		}
		return each(values, r.Position.Line)
	})
}

// jsonHeader reads the names of all records.
func jsonHeader(ctx context.Context, in io.Reader, name string) (*names, error) {
	n := &names{}
	err := readJSON(ctx, in, name, func(values []value, line int) error {
		if n.add(values); len(n.list) > maxNames {
			return diag.WithHint(fmt.Errorf("%s:%d: there are more than %d different names up to here", name, line, maxNames), "IDs are used as names, probably: write records with the same names")
		}
		return nil
	})
	return n, err
}

// rows hands out the records as rows of a table.
func (n *names) rows(ctx context.Context, in io.Reader, name string, each func(table.Row) error) error {
	return readJSON(ctx, in, name, func(values []value, line int) error {
		cells := make([]string, len(n.list))
		for _, v := range values {
			cells[n.places[v.name]] = v.text
		}
		return each(table.NewRow(line, cells))
	})
}

type value struct{ name, text string }

// object reads the rest of an object.
func object(d *json.Decoder, prefix string, to *[]value) error {
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if len(*to) > maxNames {
			return diag.WithHint(fmt.Errorf("a record has more than %d names", maxNames), "IDs are used as names, probably: write records with the same names")
		}
		if err := member(d, prefix+fmt.Sprint(name), to); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

func member(d *json.Decoder, name string, to *[]value) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case nil:
	case json.Delim:
		if v == '{' {
			return object(d, name+".", to)
		}
		return array(d, name, to)
	default:
		put(to, name, fmt.Sprint(v))
	}
	return nil
}

// array makes a list of texts of its members; of objects a list for each name, all of one length.
func array(d *json.Decoder, name string, to *[]value) error {
	var lists []value
	n := 0
	for ; d.More(); n++ {
		var values []value
		if err := member(d, name, &values); err != nil {
			return err
		}
		for _, v := range values {
			i := slices.IndexFunc(lists, func(had value) bool { return had.name == v.name })
			if i < 0 {
				i = len(lists)
				lists = append(lists, value{v.name, strings.Repeat(table.Separator, max(n-1, 0))})
			}
			if n > 0 {
				lists[i].text += table.Separator
			}
			lists[i].text += strings.ReplaceAll(v.text, table.Separator, ", ")
		}
		for i := range lists {
			if n > 0 && !slices.ContainsFunc(values, func(v value) bool { return v.name == lists[i].name }) {
				lists[i].text += table.Separator
			}
		}
	}
	for _, l := range lists {
		if n == 1 { // a list of one, whatever it holds
			l.text += table.Separator
		}
		put(to, l.name, l.text)
	}
	_, err := d.Token()
	return err
}

func put(to *[]value, name, text string) {
	for i := range *to {
		if (*to)[i].name == name { // twice in a record
			(*to)[i].text += table.Separator + text
			return
		}
	}
	*to = append(*to, value{name, text})
}
