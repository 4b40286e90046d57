package sandbox

import (
	"context"
	"net/http"
	"slices"
)

// index finds the records of a kind by the values of some fields, and says whether two may share
// them. The store keeps it up to date.
type index struct {
	name   string   // kinds with the same name share the index
	fields []string // a record without the last one is not in the index
	// clash answers a row whose value another record has; nil, or an answer of nil, lets it in.
	clash func(c *call, old, r row, other string) *reply
	// snapshot makes a request blind to records that were stored after it came.
	snapshot bool
}

// key is where a row stands in the index, nil if it does not.
func (ix *index) key(r row) []string {
	if r == nil {
		return nil
	}
	key := []string{ix.name}
	for _, name := range ix.fields {
		key = append(key, valueText(r[name]))
	}
	if key[len(key)-1] == "" {
		return nil
	}
	return append(key, text(r, "id"))
}

// updateIndexes keeps the indexes of a kind; old is nil for a new row, r for one that goes.
func (t *tx) updateIndexes(k *kind, old, r row) {
	for _, ix := range k.indexes {
		before, after := ix.key(old), ix.key(r)
		if slices.Equal(before, after) {
			continue
		}
		if before != nil {
			t.dropIndex(before...)
		}
		if after != nil {
			t.setIndex(text(r, "id"), after...)
		}
	}
}

// clash answers a row with a unique value that another record has.
func (c *call) clash(t *tx, k *kind, old, r row) *reply {
	for _, ix := range k.indexes {
		key := ix.key(r)
		if ix.clash == nil || key == nil {
			continue
		}
		for _, other := range t.under(1<<20, key[:len(key)-1]...) {
			if other == text(r, "id") || ix.snapshot && !c.sees(t, k, other) {
				continue
			}
			if refused := ix.clash(c, old, r, other); refused != nil {
				return refused
			}
		}
	}
	return nil
}

// uniqueName lets a name stand once below the record that the column in names.
func uniqueName(kind, in, message string) index {
	return index{name: kind + " name", fields: []string{in, "name"}, clash: func(_ *call, old, _ row, other string) *reply {
		if old != nil {
			return new(badPayload())
		}
		return new(reply{http.StatusConflict, row{"error": message, "id": other}})
	}}
}

// uniqueExternalID lets an external ID stand once below the record that the column in names. A new record is checked
// only if it has a source as well; a change is checked only if it brings another external ID, and is told its own record.
func uniqueExternalID(kind, in, what string) index {
	return index{
		name: kind + " external ID", fields: []string{in, "external_source", "external_id"}, snapshot: true,
		clash: func(c *call, old, r row, other string) *reply {
			if text(r, "external_source") == "" && (old == nil || kind == "label") {
				return nil
			}
			if old != nil {
				if _, given := c.in["external_id"]; !given || text(old, "external_id") == text(r, "external_id") {
					return nil
				}
				other = text(old, "id")
			}
			return new(reply{http.StatusConflict, row{"error": what + " with the same external id and external source already exists", "id": other}})
		},
	}
}

// snapshot is how many records of each kind a request knows of: later ones it does not notice where something must be
// unique. Nil is all there are; an empty one is none.
type snapshot map[*kind]uint64

type snapshotKey struct{}

func snapshotOf(req *http.Request) snapshot {
	h, _ := req.Context().Value(snapshotKey{}).(snapshot)
	return h
}

func (s snapshot) on(req *http.Request) *http.Request {
	return req.WithContext(context.WithValue(req.Context(), snapshotKey{}, s))
}

// Arrived is the request as one that came now: it does not notice an external ID that is stored from here on, as
// requests at the running server that come together. It is for tests.
func (s *Server) Arrived(req *http.Request) *http.Request {
	h := snapshot{}
	must(s.store.view(func(t *tx) error {
		for _, k := range s.kinds.every {
			h[k] = t.inserted(k)
		}
		return nil
	}))
	return h.on(req)
}

// Unaware is the request as one that notices nothing that must be unique. It is for tests.
func Unaware(req *http.Request) *http.Request { return snapshot{}.on(req) }

// unaware says whether the request notices nothing.
func (s snapshot) ignoresAll() bool { return s != nil && len(s) == 0 }

// sees reports whether a record counts for uniqueness.
func (c *call) sees(t *tx, k *kind, id string) bool {
	return c.snapshot == nil || !c.snapshot.ignoresAll() && t.number(k, id) <= c.snapshot[k]
}
