package planner

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/resource"
)

// AttributeKey is the key of a member's attribute in the record of its container's members.
func AttributeKey(a *resource.Attribute, id string) string { return a.Name + " " + id }

// ShownKey is the key of what the service showed of a field after it was applied, where that
// differs: the service normalizes some values. While both are unchanged, there is nothing to do.
func ShownKey(field string) string { return field + " shown" }

// MergeValues are the values of a record with newer ones, in a new map.
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

// Unverified is the value of a record under [ShownKey] of a text that was sent in a batch, whose answer has IDs only, until the service
// shows it. at is when the answer came, by the service's clock; zero = not known.
func Unverified(at time.Time) string {
	if at.IsZero() {
		return unseen
	}
	return unseen + at.UTC().Format(time.RFC3339)
}

// SentUnseen reports whether a field was sent, and nothing has shown it since.
func (r *Record) SentUnseen(field string) bool {
	return strings.HasPrefix(r.Values[ShownKey(field)], unseen)
}

// leftOutMark begins a value under [ShownKey] where the service left out some of the references that were sent.
const leftOutMark = "!"

// LeftOut is the value of a record under [ShownKey] where the service left out some of the references that were sent.
func LeftOut(canonical string) string { return leftOutMark + resource.Digest(canonical) }

// stillShown reports whether the service shows of a field what it made of the value that was applied last, where it
// normalized that: nobody changed it since. Of a value that is shown for the first time that is certain only while nobody has
// touched the row; what was sent, in its normal form, lacks what the service removes anyway. Any other difference may be somebody's.
func (r *Record) stillShown(field *resource.Field, have string, row resource.Row) bool {
	_, applied := r.Values[field.Name]
	shown := r.Values[ShownKey(field.Name)]
	sent, err := time.Parse(time.RFC3339, strings.TrimPrefix(shown, unseen))
	changed, failed := time.Parse(time.RFC3339, row.Text("updated_at"))
	return applied && (shown == Shown(have) || shown == LeftOut(have) || r.SentUnseen(field.Name) && err == nil && failed == nil &&
		!changed.After(sent))
}

// forgetIntent drops the intent of a record, and what was applied last of the fields that the announced request may have written.
func (r *Record) forgetIntent() {
	was := *r
	if r.PendingIntent = nil; was.PendingIntent.creates() {
		return // it is about another object, such as the next version of a file
	}
	r.Values = maps.Clone(r.Values)
	maps.DeleteFunc(r.Values, func(key, _ string) bool { return was.mayHaveSent(strings.TrimSuffix(key, ShownKey(""))) })
}

// mayHaveSent reports whether a request without an outcome may have written a field, in whatever form the request had the field's text.
func (r *Record) mayHaveSent(field string) bool {
	i := r.PendingIntent
	if i == nil || i.Action != Update || len(i.Fields) == 0 {
		return i != nil
	}
	k, _ := resource.Lookup(r.Address.Kind())
	return slices.ContainsFunc(i.Fields, func(sent string) bool { return sent == field || k != nil && k.OneText(sent, field) })
}

// lastSent returns when planform last wrote what a record is about, or announced a request whose outcome is not known.
func (r *Record) lastSent() time.Time {
	if i := r.PendingIntent; i != nil && i.At.After(r.AppliedAt) {
		return i.At
	}
	return r.AppliedAt
}

// drifted reports whether somebody changed a field on the service since it was applied.
func (r *Record) drifted(field *resource.Field, have string, row resource.Row) bool {
	applied, known := r.Values[field.Name]
	return known && !resource.IsDigest(applied, have) && !r.stillShown(field, have, row)
}

// Shown is the value of a record under [ShownKey].
func Shown(canonical string) string { return "=" + resource.Digest(canonical) }
