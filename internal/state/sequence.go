package state

import (
	"maps"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// noteNumber records the readable number of an object, such as the 7 of WEB-7. The intent of a create holds the highest known number,
// because the created object gets a higher one. Numbers of deleted objects count, too, because the service never reuses them.
func (st *store) noteNumber(r *planner.Record) {
	hyphen := strings.LastIndexByte(r.Identifier, '-')
	if hyphen < 0 {
		return
	}
	n, err := strconv.ParseUint(r.Identifier[hyphen+1:], 10, 31)
	if err != nil {
		return
	}
	if st.newest == nil {
		st.newest = map[string]int{}
	}
	scope := r.Address.NumberingScope()
	st.newest[scope] = max(st.newest[scope], int(n))
}

// resetSequence forgets the numbers in a parent that was deleted or replaced, because a new parent numbers its objects from 1.
func (st *store) resetSequence(parent resource.Address) {
	maps.DeleteFunc(st.newest, func(scope string, _ int) bool {
		a := resource.Address(scope)
		if a.Path() != parent.Path() {
			return false
		}
		k, ok := resource.Lookup(a.Kind())
		return ok && k.Parent == parent.Kind()
	})
}
