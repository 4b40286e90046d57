package resource

import (
	"encoding/json"
	"maps"
)

// Row is an object in the service's answer, with numbers as json.Number.
type Row map[string]any

// ID returns the object's ID in lower case, or "".
func (r Row) ID() string {
	s, _ := r["id"].(string)
	return LowerID(s)
}

// Hidden returns the reason why no list shows the object: archived, or a draft; "" = lists show it.
func (r Row) Hidden() string {
	if at, _ := r["archived_at"].(string); at != "" {
		return "archived"
	}
	if draft, _ := r["is_draft"].(bool); draft {
		return "a draft"
	}
	return ""
}

// Shown returns the raw value of a field, under either of its names; false = the row does not have it.
func (r Row) Shown(f *Field) (any, bool) {
	_, v, ok := r.rawValue(f)
	return v, ok
}

// rawValue returns the raw value of a field and its name. The newer name comes first, because an edition that uses it may use the older
// name for another field (a customer request's description is an object there).
func (r Row) rawValue(f *Field) (name string, v any, ok bool) {
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
	switch {
	case f.Within != "":
		v, ok = r.rawWithin(f)
	case f.read != nil:
		v, ok = f.read(r)
	default:
		v, ok = r[name]
	}
	return name, v, ok
}

// rawWithin returns the raw value of a field in the inner object that holds it. A missing value is empty.
func (r Row) rawWithin(f *Field) (any, bool) {
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

// rowID returns the ID of a reference in a row: an ID, or an expanded object.
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

// Counts returns the numbers of objects in the row of a Summary, by the service's names.
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
