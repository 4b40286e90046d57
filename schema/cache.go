package schema

import (
	"maps"
	"slices"
	"strings"
)

// cache spares the full validation of most objects of a kind. No rule of a kind relates the values of two properties. So an object is valid
// if an object with the same set of properties was accepted before, and each of its values is valid by itself.
type cache struct {
	sets  map[string]bool            // accepted sets of properties
	texts map[string]map[string]bool // by property: accepted short texts
}

// Limits of a cache: bytes of a text, texts of each property, and sets of properties.
const (
	maxCachedBytes = 64
	maxCached      = 4096
)

// accepts reports whether the cache shows that an object is valid.
func (c *cache) accepts(r *rules, instance map[string]any) bool {
	if !c.sets[propertySet(instance)] {
		return false
	}
	for name, value := range instance {
		text, isText := value.(string)
		if isText && c.texts[name][text] {
			continue
		}
		if property, ok := r.schema.Properties[name]; !ok || property.Validate(value) != nil {
			return false
		}
		if isText && len(text) <= maxCachedBytes && len(c.texts[name]) < maxCached {
			if c.texts[name] == nil {
				c.texts[name] = map[string]bool{}
			}
			c.texts[name][strings.Clone(text)] = true
		}
	}
	return true
}

// add remembers the set of properties of a valid object.
func (c *cache) add(instance map[string]any) {
	if len(c.sets) < maxCached {
		c.sets[propertySet(instance)] = true
	}
}

func propertySet(instance map[string]any) string {
	return strings.Join(slices.Sorted(maps.Keys(instance)), "\x00")
}
