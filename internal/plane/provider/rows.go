package provider

import (
	"slices"
	"unique"

	"github.com/planform/planform/internal/plane/resource"
)

// unusedKeys lists keys that rows of many kinds have, and that nothing reads unless the row's kind has a field of that name.
//
//nolint:gochecknoglobals // a constant
var unusedKeys = []string{
	"attachments", "comment_json", "comment_stripped", "completed_at", "deleted_at", "description", "description_binary",
	"description_json", "description_stripped", "edited_at", "issue", "workspace",
}

// maxShared is the length of an ID in bytes: longer texts are not shared.
const maxShared = 36

// shrink replaces the rows of a kind by smaller ones. Texts that many rows have, such as keys and the IDs of states and people, are stored
// once, and values that nothing reads are dropped.
func shrink(kind *resource.Kind, rows []resource.Row) {
	drop := slices.DeleteFunc(slices.Clone(unusedKeys), func(key string) bool {
		return slices.ContainsFunc(kind.Fields, func(f resource.Field) bool {
			return slices.Contains(f.Wire[:], key) || f.APIName() == key || f.Within == key
		})
	})
	for i, row := range rows {
		small := make(resource.Row, max(0, len(row)-len(drop)))
		for key, v := range row {
			if slices.Contains(drop, key) {
				continue
			}
			if text, ok := v.(string); ok && key != "id" && len(text) <= maxShared {
				v = unique.Make(v).Value()
			}
			small[unique.Make(key).Value()] = v
		}
		rows[i] = small //nolint:gosec // i is an index of rows
	}
}
