package tabular

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/words"
)

// anyTable returns the layout of a table of no known tracker.
func anyTable(kind string, known []words.Line) *Layout {
	guess := func(h *header) map[string]string { return guess(known, h) }
	return &Layout{
		Name: kind, Tracker: "the export", How: "the first line of a table names its columns, with commas, semicolons or tabs between", Markup: convert.Unsaid,
		Empty: []string{"None", "null", "N/A", "n/a"}, guess: guess,
		detects: func(b *beginning, name string) (string, bool) {
			if b.records != (kind == "jsonl") || !b.records && (kind == "xlsx") != strings.EqualFold(path.Ext(name), ".xlsx") {
				return "", false
			}
			for _, h := range b.headers {
				found := guess(h)
				if fields := slices.Collect(maps.Values(found)); !slices.Contains(fields, "key") || !slices.Contains(fields, "name") {
					continue
				}
				var names []string
				for _, cell := range h.names {
					if found[cell] == "key" || found[cell] == "name" {
						names = append(names, cell)
					}
				}
				return quoted(names), true
			}
			return "", false
		},
	}
}

// guess returns the fields of columns with well-known names. Of several columns for a field with one value, the first in the list wins.
func guess(known []words.Line, h *header) map[string]string {
	found := map[string]string{}
	for _, column := range known {
		for _, name := range column.Names {
			taken := false
			for _, i := range h.places[name] {
				if cell := h.names[i]; found[cell] == "" {
					found[cell], taken = column.Of, true
				}
			}
			if taken && single[column.Of] {
				break
			}
		}
	}
	return found
}
