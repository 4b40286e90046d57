package sandbox

import "net/http"

// Uniqueness says when something is refused because there is already a record
// with its external id, or a link with its URL.
type Uniqueness int

const (
	// UniqueAlways refuses whatever is there already.
	UniqueAlways Uniqueness = iota
	// UniqueInTurn does not notice an external id that was stored after the
	// request had arrived. The running server is like that: of simultaneous
	// requests several succeed.
	UniqueInTurn
	// UniqueNever refuses nothing.
	UniqueNever
)

// taken answers 409 if another record of the list has the external id. A new
// record is checked only if it has a source as well; a change is checked only if
// it brings another external id, and is told its own record.
func (c *call) taken(t *tx, k *kind, in string, old, r row, what string) *reply {
	source, id := text(r, "external_source"), text(r, "external_id")
	if id == "" || source == "" && (old == nil || k == c.kinds.label) {
		return nil
	}
	if _, given := c.in["external_id"]; old != nil && (!given || text(old, "external_id") == id) {
		return nil
	}
	for _, other := range t.under(2, "external", k.name, in, source, id) {
		if other == text(r, "id") || !c.notices(t, k, other) {
			continue
		}
		if old != nil {
			other = text(old, "id")
		}
		return new(reply{http.StatusConflict, object("error", what+" with the same external id and external source already exists", "id", other)})
	}
	return nil
}

// arrival is how many records of each kind there had been when a request came;
// nil if it does not matter.
type arrival map[*kind]uint64

func (s *Server) arrive() arrival {
	if s.opts.Unique != UniqueInTurn {
		return nil
	}
	a := arrival{}
	err := s.store.view(func(t *tx) error {
		for _, k := range s.kinds.every() {
			a[k] = t.made(k)
		}
		return nil
	})
	if err != nil {
		s.report(err)
	}
	return a
}

// notices says whether a record that is there counts for what must be unique.
func (c *call) notices(t *tx, k *kind, id string) bool {
	switch c.opts.Unique {
	case UniqueInTurn:
		return t.number(k, id) <= c.arrived[k]
	case UniqueNever:
		return false
	case UniqueAlways:
	}
	return true
}

// setExternal keeps the index of external ids up to date; either row may be
// nil.
func setExternal(t *tx, k *kind, in string, old, r row) {
	if old != nil && r != nil && old["external_source"] == r["external_source"] && old["external_id"] == r["external_id"] {
		return
	}
	if old != nil && text(old, "external_id") != "" {
		id := text(old, "id")
		t.dropIndex("external", k.name, in, text(old, "external_source"), text(old, "external_id"), id)
	}
	if r != nil && text(r, "external_id") != "" {
		id := text(r, "id")
		t.setIndex(id, "external", k.name, in, text(r, "external_source"), text(r, "external_id"), id)
	}
}
