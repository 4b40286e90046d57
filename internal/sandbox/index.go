package sandbox

import (
	"context"
	"net/http"
	"slices"
)

// index finds the records of a kind by the values of some fields, and decides whether two records may share them. The
// store keeps it up to date.
type index struct {
	name   string   // kinds with the same name share the index
	fields []string // a record whose last field is empty is not in the index
	// clash answers a row whose value another record has. If clash or its answer is nil, the row is accepted.
	clash func(c *call, old, r row, other string) *reply
	// snapshot makes a request ignore records that were stored after it arrived.
	snapshot bool
}

// key returns the key of a row in the index, or nil if the row is not in it.
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

// updateIndexes updates the indexes of a kind; old is nil for a new row, r for a deleted row.
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

// findClash refuses a row with a unique value that another record has.
func (c *call) findClash(t *tx, k *kind, old, r row) *reply {
	for _, ix := range k.indexes {
		key := ix.key(r)
		if ix.clash == nil || key == nil {
			continue
		}
		for _, other := range t.indexValues(1<<20, key[:len(key)-1]...) {
			if other == text(r, "id") || ix.snapshot && !c.noticed(t, k, other) {
				continue
			}
			if refused := ix.clash(c, old, r, other); refused != nil {
				return refused
			}
		}
	}
	return nil
}

// uniqueName returns an index that allows a name once below the record that the column in names.
func uniqueName(kind, in, message string) index {
	return index{name: kind + " name", fields: []string{in, "name"}, clash: func(_ *call, old, _ row, other string) *reply {
		if old != nil {
			return new(badPayload())
		}
		return new(reply{http.StatusConflict, row{"error": message, "id": other}})
	}}
}

// uniqueExternalID returns an index that allows an external ID once below the record that the column in names. It checks a new record
// only if it has a source as well, and a change only if it brings another external ID; the refusal of a change names the changed record.
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

// snapshot holds the number of records of each kind when a request arrived. Checks for uniqueness ignore later records. A
// nil snapshot ignores no record, an empty one all.
type snapshot map[*kind]uint64

type snapshotKey struct{}

func snapshotOf(req *http.Request) snapshot {
	h, _ := req.Context().Value(snapshotKey{}).(snapshot)
	return h
}

func (sn snapshot) attachTo(req *http.Request) *http.Request {
	return req.WithContext(context.WithValue(req.Context(), snapshotKey{}, sn))
}

// Arrived returns the request as one that arrived now: it does not notice external IDs that are stored later, like
// simultaneous requests at a real server. It is for tests.
func (s *Server) Arrived(req *http.Request) *http.Request {
	h := snapshot{}
	must(s.store.view(func(t *tx) error {
		for _, k := range s.kinds.all {
			h[k] = t.inserted(k)
		}
		return nil
	}))
	return h.attachTo(req)
}

// Unaware returns the request as one that makes no check for uniqueness. It is for tests.
func Unaware(req *http.Request) *http.Request { return snapshot{}.attachTo(req) }

// ignoresAll reports whether the request makes no check for uniqueness.
func (sn snapshot) ignoresAll() bool { return sn != nil && len(sn) == 0 }

// noticed reports whether a record counts for uniqueness.
func (c *call) noticed(t *tx, k *kind, id string) bool {
	return c.snapshot == nil || !c.snapshot.ignoresAll() && t.number(k, id) <= c.snapshot[k]
}
