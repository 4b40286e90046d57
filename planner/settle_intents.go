package planner

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/plane/resource"
)

// intents holds the requests that earlier runs announced and that have no outcome, by the current addresses of their records. The records
// that other stages see have no intents.
type intents map[resource.Address]*Intent

// takeIntents takes the intents out of the records of the state.
func takeIntents(prior Prior) (Prior, intents) {
	open := intents{}
	for a, r := range prior {
		if r.PendingIntent != nil {
			open[a] = r.PendingIntent
		}
	}
	if len(open) == 0 {
		return prior, open
	}
	prior = maps.Clone(prior)
	for a := range open {
		r := prior[a]
		r.PendingIntent = nil
		prior[a] = r
	}
	return prior, open
}

func (i *Intent) creates() bool { return i != nil && i.Action == Create }

// isOpen reports whether a request about a record has no outcome.
func (is intents) isOpen(a resource.Address) bool { return is[a] != nil }

// mayHaveSent reports whether a request without an outcome may have written a field. A text may have been sent in another format, under
// another field's name.
func (is intents) mayHaveSent(a resource.Address, field string) bool {
	i := is[a]
	if i == nil || i.Action != Update || len(i.Fields) == 0 {
		return i != nil
	}
	k, _ := resource.Lookup(a.Kind())
	return slices.ContainsFunc(i.Fields, func(sent string) bool { return sent == field || k != nil && k.OneText(sent, field) })
}

// lastSent returns the time of planform's last write of a record's object or members, or of an announced request without an outcome.
func (is intents) lastSent(a resource.Address, r *Record) time.Time {
	if i := is[a]; i != nil && i.At.After(r.AppliedAt) {
		return i.At
	}
	return r.AppliedAt
}

// forget drops the last applied values of the fields that the announced request of a record may have written.
func (is intents) forget(a resource.Address, r *Record) {
	if i := is[a]; i == nil || i.creates() {
		return // a create is about another object, such as the next version of a file
	}
	r.Values = maps.Clone(r.Values)
	maps.DeleteFunc(r.Values, func(key, _ string) bool { return is.mayHaveSent(a, strings.TrimSuffix(key, ShownKey(""))) })
}

// past returns what the state knows of an object.
func (is intents) past(a resource.Address, r Record) past {
	is.forget(a, &r)
	return past{prior: &r, wasAnnounced: is[a].creates(), inDoubt: is.isOpen(a)}
}
