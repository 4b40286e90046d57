package provider

import (
	"slices"
	"sync"

	"github.com/planform/planform/internal/plane/resource"
)

// unusedKeys lists keys that rows of many kinds have, and that nothing reads unless the row's kind has a field of that name.
//
//nolint:gochecknoglobals // a constant
var unusedKeys = []string{
	"attachments", "comment_json", "comment_stripped", "completed_at", "deleted_at", "description", "description_binary",
	"description_json", "description_stripped", "edited_at", "issue", "workspace",
}

const (
	maxPooled     = 10_000 // texts of a pool
	maxPooledText = 36     // bytes: an ID
)

// pool makes rows smaller: texts that many rows have, such as keys and the IDs of states and people, are stored once, and values that
// nothing reads are dropped. It is safe for concurrent use.
type pool struct {
	mu    sync.Mutex
	keys  map[string]string
	texts map[string]any // each is a string
}

// shrink replaces the rows of a kind by smaller ones.
func (pl *pool) shrink(kind *resource.Kind, rows []resource.Row) {
	drop := slices.DeleteFunc(slices.Clone(unusedKeys), func(key string) bool {
		return slices.ContainsFunc(kind.Fields, func(f resource.Field) bool {
			return slices.Contains(f.Wire[:], key) || f.APIName() == key || f.ShownIn == key || f.Within == key
		})
	})
	pl.mu.Lock()
	defer pl.mu.Unlock()
	if pl.keys == nil {
		pl.keys, pl.texts = map[string]string{}, map[string]any{}
	}
	for i, row := range rows {
		rows[i] = pl.small(row, drop)
	}
}

// small returns a row without some keys, with the texts of the pool.
func (pl *pool) small(row resource.Row, drop []string) resource.Row {
	small := make(resource.Row, max(0, len(row)-len(drop)))
	for key, v := range row {
		if slices.Contains(drop, key) {
			continue
		}
		if text, ok := v.(string); ok && key != "id" && len(text) <= maxPooledText {
			v = pooled(pl.texts, text, v)
		}
		small[pooled(pl.keys, key, key)] = v
	}
	return small
}

// pooled returns the value of the pool with this text, and adds v if there is none.
func pooled[V any](pool map[string]V, text string, v V) V {
	if same, ok := pool[text]; ok {
		return same
	}
	if len(pool) < maxPooled {
		pool[text] = v
	}
	return v
}
