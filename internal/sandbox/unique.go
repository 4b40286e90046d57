package sandbox

import (
	"context"
	"net/http"
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
		return new(reply{http.StatusConflict, row{"error": what + " with the same external id and external source already exists", "id": other}})
	}
	return nil
}

// horizon is how many records of each kind a request knows of: later ones it does not notice where something must be
// unique. Nil is all there are; an empty one is none.
type horizon map[*kind]uint64

type horizonKey struct{}

func horizonOf(req *http.Request) horizon {
	h, _ := req.Context().Value(horizonKey{}).(horizon)
	return h
}

func (h horizon) on(req *http.Request) *http.Request {
	return req.WithContext(context.WithValue(req.Context(), horizonKey{}, h))
}

// Arrived is the request as one that came now: it does not notice an external ID that is stored from here on, as
// requests at the running server that come together. It is for tests.
func (s *Server) Arrived(req *http.Request) *http.Request {
	h := horizon{}
	must(s.store.view(func(t *tx) error {
		for _, k := range s.kinds.every() {
			h[k] = t.made(k)
		}
		return nil
	}))
	return h.on(req)
}

// Unaware is the request as one that notices nothing that must be unique. It is for tests.
func Unaware(req *http.Request) *http.Request { return horizon{}.on(req) }

// unaware says whether the request notices nothing.
func (h horizon) unaware() bool { return h != nil && len(h) == 0 }

// notices says whether a record that is there counts for what must be unique.
func (c *call) notices(t *tx, k *kind, id string) bool {
	return c.noticed == nil || !c.noticed.unaware() && t.number(k, id) <= c.noticed[k]
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
