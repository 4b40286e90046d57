package schema_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/schema"
)

// The two ways of checking must not disagree: every property of every kind with
// every value of a list, alone and beside others.
func TestAMemoAgreesWithTheChecker(t *testing.T) {
	t.Parallel()
	c := newChecker(t)
	m := c.Memo()
	texts := []string{
		"", " ", "a", "A b", "high", "hihg", "2026-02-28", "2026-02-30", "#22c55e", "red", "https://a.example/x", "a.example", "3", "8", "WEB", "WEB-7",
		"8a234ec6-0000-4000-8000-000000000000", string(make([]byte, 100)), fmt.Sprintf("%0300d", 1),
	}
	var values []schema.Given
	for _, text := range texts {
		values = append(values, schema.Given{Form: schema.Text, Text: text}, schema.Given{Form: schema.List, List: []string{"a", text}})
	}
	for _, v := range []any{nil, true, []any{}, []any{nil}, []any{"a", map[string]any{}}, map[string]any{}} {
		values = append(values, schema.Given{Form: schema.Other, Value: v})
	}
	values = append(values, schema.Given{Form: schema.List})
	checked := 0
	for _, k := range resource.Kinds() {
		if k.Section == "" {
			continue
		}
		order := schema.Properties(k)
		names := []string{"key", "id", "identifier"}
		for i := range k.Fields {
			names = append(names, k.Fields[i].Name)
		}
		for _, name := range names {
			at := slices.Index(order, name)
			if at < 0 {
				continue
			}
			for _, beside := range append([]string{""}, names...) {
				other := slices.Index(order, beside)
				for range 2 { // what is remembered must not differ either
					for _, v := range values {
						v.Property = at
						given := []schema.Given{v}
						instance := map[string]any{name: v.Instance()}
						if other >= 0 && beside != name {
							given = append(given, schema.Given{Property: other, Form: schema.Text, Text: "a"})
							instance[beside] = "a"
						}
						vs := c.Check(k.Name, instance)
						if got := m.Fits(k.Name, given); got != (len(vs) == 0) {
							t.Errorf("%s %v: the memo says %v, the checker %v", k.Name, instance, got, vs)
						}
						checked++
					}
				}
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d objects were compared", checked)
	}
}
