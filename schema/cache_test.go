package schema_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/schema"
)

// TestTheCacheDoesNotChangeTheResultOfACheck tries every property of every kind with every value of a list, alone and with others.
func TestTheCacheDoesNotChangeTheResultOfACheck(t *testing.T) {
	t.Parallel()
	cached := schema.New()
	var values []any
	for _, text := range []string{
		"", " ", "a", "A b", "high", "hihg", "2026-02-28", "2026-02-30", "#22c55e", "red", "https://a.example/x", "a.example", "3", "8", "WEB", "WEB-7",
		"8a234ec6-0000-4000-8000-000000000000", string(make([]byte, 100)), fmt.Sprintf("%0300d", 1),
	} {
		values = append(values, text, []any{"a", text})
	}
	values = append(values, nil, true, []any{}, []any{nil}, []any{"a", map[string]any{}}, map[string]any{})
	checked := 0
	for _, k := range resource.Kinds() {
		if k.Section == "" {
			continue
		}
		names := []string{"key", "id", "identifier"}
		for i := range k.Fields {
			names = append(names, k.Fields[i].Path())
		}
		for _, name := range names {
			for _, beside := range []string{"", "key", "id", names[len(names)-1], "key\x00name"} {
				for i, v := range values {
					if !sample.Takes(i+len(name)+len(beside), 5) { // each is checked under many names
						continue
					}
					instance := map[string]any{name: v}
					if beside != "" && beside != name {
						instance[beside] = "a"
					}
					want := schema.New().Check(k.Name, instance)
					for range 2 {
						got := cached.Check(k.Name, maps.Clone(instance))
						if !slices.EqualFunc(got, want, func(a, b schema.Violation) bool { return a.Keyword == b.Keyword && a.Property == b.Property }) {
							t.Errorf("%s %v: %v, and at first %v", k.Name, instance, got, want)
						}
					}
					checked++
				}
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d objects were compared", checked)
	}
}
