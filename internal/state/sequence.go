package state

import (
	"maps"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// number takes a thing's readable number in, such as the 7 of WEB-7. An intent
// to create another one is written with the highest that is known: what the
// request makes gets a higher one. A number counts also when its thing is gone,
// for the service gives none twice.
func (m *store) number(r *planner.Record) {
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

// resetSequence forgets the numbers of what was in a thing that is no more, or is
// another one now: what is made in that is numbered from 1.
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
