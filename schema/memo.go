package schema

import (
	"strings"

	"github.com/planform/planform/internal/resource"
)

// Memo says whether objects satisfy the rules that [Checker.Check] checks, many
// times faster: the validator sees each set of properties, and each short value
// of a property, once, and its verdict is remembered. Where Fits says no, Check
// says why. A Memo belongs to one goroutine.
type Memo struct {
	checker *Checker
	kinds   map[string]*kindMemo
	key     []byte
}

// Given is one property that an object carries.
type Given struct {
	Property int      // its place in [Properties]
	Text     string   // the value, if it is a text
	List     []string // the value, if it is a list of texts
	Value    any      // the value otherwise
	Form     Form
}

// Form says which of the three holds the value.
type Form uint8

// The forms of a value.
const (
	Text Form = iota
	List
	Other
)

// Instance is the value as JSON.
func (g *Given) Instance() any {
	switch g.Form {
	case Text:
		return g.Text
	case List:
		list := make([]any, len(g.List))
		for i, text := range g.List {
			list[i] = text
		}
		return list
	case Other:
	}
	return g.Value
}

type kindMemo struct {
	rules  *kindRules
	shapes map[uint64]bool       // by the set of properties
	good   []map[string]struct{} // by the property: values that satisfy its rule
}

// What is remembered at most: values of so many bytes, so many of each property.
const (
	longestRemembered = 64
	mostRemembered    = 4096
)

// Properties lists the properties of an object of a kind that a [Checker] looks
// at; the place in the list is the number under which a property is [Given].
func Properties(k *resource.Kind) []string {
	var names []string
	for _, p := range properties(k, false) {
		names = append(names, p.name)
	}
	return names
}

// Memo returns a new memo.
func (c *Checker) Memo() *Memo { return &Memo{checker: c, kinds: map[string]*kindMemo{}} }

// Fits reports whether an object of the kind with these properties satisfies every rule.
func (m *Memo) Fits(kind string, given []Given) bool {
	k := m.kinds[kind]
	if k == nil {
		rules, ok := m.checker.kinds[kind]
		if !ok {
			return false
		}
		k = &kindMemo{rules: rules, shapes: map[uint64]bool{}, good: make([]map[string]struct{}, len(rules.order))}
		m.kinds[kind] = k
	}
	return k.fitsShape(given) && m.fitValues(k, given)
}

func (k *kindMemo) fitsShape(given []Given) bool {
	var set uint64
	for i := range given {
		if given[i].Property >= 64 {
			return k.shape(given) == nil
		}
		set |= 1 << given[i].Property
	}
	good, known := k.shapes[set]
	if !known {
		good = k.shape(given) == nil
		k.shapes[set] = good
	}
	return good
}

// shape asks the validator about a set of properties.
func (k *kindMemo) shape(given []Given) error {
	p := k.rules
	instance := make(map[string]any, len(given))
	for i := range given {
		instance[p.order[given[i].Property]] = nil
	}
	if k.rules.meant(instance) {
		return p.shape.Validate(instance)
	}
	return p.bareShape.Validate(instance)
}

func (m *Memo) fitValues(k *kindMemo, given []Given) bool {
	for i := range given {
		g := &given[i]
		good := k.good[g.Property]
		m.key = m.key[:0]
		remember := true
		switch g.Form {
		case Text:
			if remember = len(g.Text) <= longestRemembered && !strings.HasPrefix(g.Text, "\x00"); remember {
				if _, known := good[g.Text]; known {
					continue
				}
				m.key = append(m.key, g.Text...)
			}
		case List:
			m.key = append(m.key, 0) // begins no text
			for _, text := range g.List {
				m.key = append(append(m.key, byte(min(len(text), 255))), text...)
			}
			if remember = len(m.key) <= longestRemembered; remember {
				if _, known := good[string(m.key)]; known {
					continue
				}
			}
		case Other:
			remember = false
		}
		if k.rules.values[g.Property].Validate(g.Instance()) != nil {
			return false
		}
		if remember && len(good) < mostRemembered {
			if good == nil {
				good = map[string]struct{}{}
				k.good[g.Property] = good
			}
			good[string(m.key)] = struct{}{}
		}
	}
	return true
}
