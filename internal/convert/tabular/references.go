package tabular

import (
	"cmp"
	"strings"
)

// reference returns the key that a text stands for: the text may be a key, or a title that only one item has.
func (e *export) reference(c *Cells, text string) string {
	key, known := e.resolve(text)
	if same := e.titles[text]; len(same) > 1 && !known {
		e.to.Note("ambiguous-titles", "titles of several items, by which another item names one of these: which one is not known", c.One("key"))
	}
	return key
}

// ByID returns the key of the item with an internal ID, or "" if there is none.
func (c *Cells) ByID(id string) string { return c.e.ids[id] }

// resolve returns the key of the item with that key or title; ok is false if there is no such item, or several have the title.
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

// references returns the keys that a list stands for. A title may hold the separator of the list.
func (e *export) references(c *Cells, field string) []string {
	var keys []string
	for _, i := range c.s.fields[field] {
		text := c.clean(c.Cell(i))
		if text == "" {
			continue
		}
		by := cmp.Or(c.s.split[i], c.e.lists, ",")
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
