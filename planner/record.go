package planner

import (
	"maps"
	"strings"
	"time"

	"github.com/planform/planform/internal/plane/resource"
)

// AttributeKey returns the key of a member's attribute in the member record of a container.
func AttributeKey(a *resource.Attribute, id string) string { return a.Name + " " + id }

// ShownKey returns the key under which a record has the value that the service showed after an apply, if it differs from the value that was
// sent: the service normalizes some values. While both values are unchanged, the field needs no update.
func ShownKey(field string) string { return field + " shown" }

// MergeValues returns the values of a record with newer values added. What the service showed of a former value is dropped, see [ShownKey].
// It returns a new map, unless there are no newer values.
func MergeValues(values, newer map[string]string) map[string]string {
	if len(newer) == 0 {
		return values
	}
	all := make(map[string]string, len(values)+len(newer))
	maps.Copy(all, values)
	for field := range newer {
		delete(all, ShownKey(field))
	}
	maps.Copy(all, newer)
	return all
}

// unseen begins the value of a record under [ShownKey] until the service shows the field.
const unseen = "?"

// UnverifiedValue returns the value of a record under [ShownKey] for a text that was sent in a batch, until the service shows it: the answer to
// a batch has only IDs. at is the time of the answer by the service's clock; zero = not known.
func UnverifiedValue(at time.Time) string {
	if at.IsZero() {
		return unseen
	}
	return unseen + at.UTC().Format(time.RFC3339)
}

// SentUnseen reports whether a field was sent, and no read has shown it since.
func (r *Record) SentUnseen(field string) bool {
	return strings.HasPrefix(r.Values[ShownKey(field)], unseen)
}

// leftOutMark is the prefix of a value under [ShownKey] if the service left out some of the references that were sent.
const leftOutMark = "!"

// LeftOutValue returns the value of a record under [ShownKey] if the service left out some of the references that were sent.
func LeftOutValue(canonical string) string { return leftOutMark + resource.Digest(canonical) }

// stillShown reports whether the service shows the normalized form of the value that was applied last, so that nobody changed it since.
// If the value is shown for the first time, this is certain only if the row was not changed after the answer to the write.
func (r *Record) stillShown(field *resource.Field, have string, row resource.Row) bool {
	_, applied := r.Values[field.Name]
	shown := r.Values[ShownKey(field.Name)]
	sent, err := time.Parse(time.RFC3339, strings.TrimPrefix(shown, unseen))
	changed, failed := time.Parse(time.RFC3339, row.Text("updated_at"))
	return applied && (shown == ShownValue(have) || shown == LeftOutValue(have) || r.SentUnseen(field.Name) && err == nil && failed == nil &&
		!changed.After(sent))
}

// hasApplied reports whether a value was applied last.
func (r *Record) hasApplied(field *resource.Field, canonical string) bool {
	applied, known := r.Values[field.Name]
	return known && resource.IsDigest(applied, canonical)
}

// hasDrifted reports whether somebody changed a field on the service since the last apply.
func (r *Record) hasDrifted(field *resource.Field, have string, row resource.Row) bool {
	applied, known := r.Values[field.Name]
	return known && !resource.IsDigest(applied, have) && !r.stillShown(field, have, row)
}

// ShownValue returns the value of a record under [ShownKey] for a value that the service showed.
func ShownValue(canonical string) string { return "=" + resource.Digest(canonical) }

// past holds what the state knows of an object.
type past struct {
	prior        *Record // without values that a request without an outcome may have changed; nil = there is none, or it is about another object
	wasAnnounced bool    // an earlier run announced the create of the object, and its outcome is not known
	inDoubt      bool    // an earlier run announced any request about the object, and its outcome is not known
	replaced     bool    // the state has another object under this address
}

func (pa *past) isKnown() bool { return pa.prior != nil && pa.prior.ID != "" }

// forgetPrior drops the state's record, because it is about another object.
func (pa *past) forgetPrior() { *pa = past{replaced: true} }

// forgetGone drops the record of an object that is gone. It keeps an announced create: an earlier run may have found the object gone, too.
func (pa *past) forgetGone() {
	*pa = past{replaced: true, wasAnnounced: pa.wasAnnounced, inDoubt: pa.wasAnnounced}
}
