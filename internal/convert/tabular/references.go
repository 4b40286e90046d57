package tabular

import (
	"cmp"
	"strings"
)

// reference is the key that a text means: one of a key, or of a title that one item alone has.
func (e *export) reference(c *Cells, text string) string {
	key, known := e.resolve(text)
	if same := e.titles[text]; len(same) > 1 && !known {
		e.to.Note("ambiguous-titles", "titles of several items, by which another item names one of these: which one is not known", c.One("key"))
	}
	return key
}

// ByID is the key of the item that has an internal ID, "" if there is none.
func (c *Cells) ByID(id string) string { return c.e.ids[id] }

func (e *export) resolve(text string) (key string, ok bool) {
	for _, key := range []string{text, strings.TrimPrefix(text, "#")} {
		if _, ok := e.keys[key]; ok {
			return key, true
		}
	}
	if same := e.titles[text]; len(same) == 1 {
		return same[0], true
	}
	return text, false
}

// references are the keys that a list means. A title may hold what separates the list.
func (e *export) references(c *Cells, field string) []string {
	var keys []string
	for _, i := range c.s.fields[field] {
		text := c.clean(c.Cell(i))
		if text == "" {
			continue
		}
		by := cmp.Or(c.s.split[i], c.e.Lists, ",")
		parts := c.list(text, c.s.split[i])
		for from := 0; from < len(parts); {
			to := min(len(parts), from+10)
			for ; to > from+1; to-- {
				if _, ok := e.resolve(strings.Join(parts[from:to], by+" ")); ok {
					break
				}
			}
			if text := strings.Join(parts[from:to], by+" "); text != "" {
				keys = append(keys, e.reference(c, text))
			}
			from = to
		}
	}
	return keys
}
