package state

import (
	"maps"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// noteNumber notes the readable number of an object, such as the 7 of WEB-7. The intent of
// a create holds the highest known number: the created object gets a higher one. The
// numbers of deleted objects count, too, since the service never reuses them.
func (m *store) noteNumber(r *planner.Record) {
	hyphen := strings.LastIndexByte(r.Identifier, '-')
	if hyphen < 0 {
		return
	}
	n, err := strconv.ParseUint(r.Identifier[hyphen+1:], 10, 31)
	if err != nil {
		return
	}
	if m.newest == nil {
		m.newest = map[string]int{}
	}
	scope := r.Address.NumberingScope()
	m.newest[scope] = max(m.newest[scope], int(n))
}

// resetSequence forgets the numbers in a parent that was deleted or replaced: a new one
// numbers its objects from 1.
func (m *store) resetSequence(parent resource.Address) {
	maps.DeleteFunc(m.newest, func(scope string, _ int) bool {
		a := resource.Address(scope)
		if a.Path() != parent.Path() {
			return false
		}
		k, ok := resource.Lookup(a.Kind())
		return ok && k.Parent == parent.Kind()
	})
}
