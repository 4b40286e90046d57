package schema

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// cache remembers accepted objects. The rules of a kind are of two sorts only: the allowed
// sets of properties, and the allowed values of each. So an object is valid if its set of
// properties was accepted before and each of its values is valid.
type cache struct {
	mu    sync.Mutex
	kinds map[*kindRules]*accepted
}

type accepted struct {
	sets   map[string]bool            // of properties
	values map[string]map[string]bool // by property: short texts
}

// The limits of a cache: bytes of a value, values of each property, sets of properties.
const (
	maxCachedBytes = 64
	maxCached      = 4096
)

// accepts reports whether the cache shows that an object satisfies every rule.
func (c *cache) accepts(r *kindRules, instance map[string]any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.kinds[r]
	if known == nil || !known.sets[setOf(instance)] {
		return false
	}
	for name, value := range instance {
		if !known.accepts(r, name, value) {
			return false
		}
	}
	return true
}

func (a *accepted) accepts(r *kindRules, property string, value any) bool {
	text, isText := value.(string)
	if isText && a.values[property][text] {
		return true
	}
	if r.known.schema.Properties[property].Validate(value) != nil {
		return false
	}
	if isText && len(text) <= maxCachedBytes && len(a.values[property]) < maxCached {
		if a.values[property] == nil {
			a.values[property] = map[string]bool{}
		}
		a.values[property][strings.Clone(text)] = true
	}
	return true
}

// add remembers the set of properties of an object that satisfies every rule.
func (c *cache) add(r *kindRules, instance map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds == nil {
		c.kinds = map[*kindRules]*accepted{}
	}
	known := c.kinds[r]
	if known == nil {
		known = &accepted{sets: map[string]bool{}, values: map[string]map[string]bool{}}
		c.kinds[r] = known
	}
	if len(known.sets) < maxCached {
		known.sets[setOf(instance)] = true
	}
}

func setOf(instance map[string]any) string {
	return strings.Join(slices.Sorted(maps.Keys(instance)), "\x00")
}
