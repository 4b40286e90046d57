package resource

import (
	"encoding/json"
	"maps"
)

// Row is one object as the service returns it, with numbers as json.Number.
type Row map[string]any

// ID is the object's ID in lower case, or "".
func (r Row) ID() string {
	s, _ := r["id"].(string)
	return LowerID(s)
}

// Hidden says why no list of the service shows the object: archived, or a draft; "" = lists show it.
func (r Row) Hidden() string {
	if at, _ := r["archived_at"].(string); at != "" {
		return "archived"
	}
	if draft, _ := r["is_draft"].(bool); draft {
		return "a draft"
	}
	return ""
}

// Shown is the raw value of a field, under either of its names; false = the row has none.
func (r Row) Shown(f *Field) (any, bool) {
	_, v, ok := r.shown(f)
	return v, ok
}

// shown prefers the newer name: an edition that uses it may use the older one for another
// field (a customer request's description is an object there).
func (r Row) shown(f *Field) (name string, v any, ok bool) {
	if f.Definition != nil {
		values, _ := r[CustomFieldsRow].(map[string]any)
		v, ok = values[f.Definition.Key]
		return f.APIName(), v, ok
	}
	if f.Renamed() {
		name = f.Wire[NewerDialect]
		if v, ok = r[name]; ok {
			return name, v, true
		}
	}
	name = f.APIName()
	if f.Within != "" {
		v, ok = r.within(f)
		return name, v, ok
	}
	if v, ok = r[name]; !ok && f.ShownIn != "" {
		inner, _ := r[f.ShownIn].(map[string]any)
		v, ok = inner[name]
	}
	return name, v, ok
}

// within is the value of a field in the object that holds it. What is not in that is empty.
func (r Row) within(f *Field) (any, bool) {
	inner, isObject := r[f.Within].(map[string]any)
	if raw, shown := r[f.Within]; !isObject {
		return nil, shown && raw == nil
	}
	if !f.Rest {
		return inner[f.APIName()], true
	}
	rest := maps.Clone(inner)
	for _, other := range f.siblings {
		if _, known := other.ObservedIn(r); known {
			delete(rest, other.APIName())
		}
	}
	return rest, true
}

// rowID is the ID of a reference in a row, which is an ID or an expanded object.
func rowID(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return LowerID(v), true
	case map[string]any:
		id := Row(v).ID()
		return id, id != ""
	default:
		return "", false
	}
}

// Counts are the numbers of objects in the row of a Summary, by the service's names for them.
func (r Row) Counts() map[string]int {
	shown, _ := r["counts"].(map[string]any)
	counts := make(map[string]int, len(shown))
	for name, n := range shown {
		if n, ok := n.(json.Number); ok {
			i, _ := n.Int64()
			counts[name] = int(i)
		}
	}
	return counts
}
