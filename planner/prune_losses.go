package planner

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// lostText limits the characters that a plan shows of the text of a deleted object.
const lostText = 1000

// clockSlack allows for the difference between the clocks of the service and of planform's machine, and for the service's background work
// after a write.
const clockSlack = time.Minute

// changedByOthers returns a cause if somebody changed an orphan: an applied field, a text, date or list that planform never set, or any other
// part, if the service shows a later write by another user.
func (rp *orphans) changedByOthers(l *orphan) []Cause {
	fields, since := rp.driftedFields(l), " since the last apply"
	touched := len(fields) == 0 && rp.touchedByOthers(l)
	if len(fields) == 0 && !touched {
		fields, since = rp.movedFields(l), " after planform created it"
	}
	if len(fields) == 0 && !touched {
		return nil
	}
	by, at := rp.lastChange(l)
	text, last := by+" changed it", []string(nil)
	if !touched {
		text = "somebody changed its " + strings.Join(fields, ", ")
		if by != "" {
			last = append(last, "last change by "+by)
		}
	}
	if !at.IsZero() {
		last = append(last, at.UTC().Format("2006-01-02 15:04 UTC"))
	}
	if text += since; len(last) > 0 {
		text += " (" + strings.Join(last, ", ") + ")"
	}
	return []Cause{ofOthers(text)}
}

// driftedFields returns the names of an orphan's fields that differ from the applied values, or have content that planform never set. A text that
// was applied in two forms differs if both differ.
func (rp *orphans) driftedFields(l *orphan) (names []string) {
	row := l.info.kind.InZone(rp.rowOf(l), rp.zoneOf(l.record.Address.Parent()))
	fields := l.info.kind.Fields
	for i := range fields {
		f := &fields[i]
		have, known := f.ObservedIn(row)
		if !known || f.Virtual || f.ArchiveFlag || f.Type == resource.Upload || slices.ContainsFunc(fields[:i], f.SharesAPIName) {
			continue
		}
		applied, differs := false, true
		for k := i; k < len(fields); k++ {
			form := &fields[k]
			if _, set := l.record.Values[form.Name]; set && (k == i || form.SharesAPIName(*f)) {
				applied = true
				differs = differs && !rp.objects.intents.mayHaveSent(l.record.Address, form.Name) && l.record.hasDrifted(form, have, row) && !rp.lostOnlyDeleted(l, form, have)
			}
		}
		if !applied {
			differs = have != "" && len(l.record.Values) > 0 && isContent(f)
		}
		if differs && !rp.objects.intents.mayHaveSent(l.record.Address, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// movedFields returns the names of an orphan's fields that planform never applied and that a work item's activities show as changed, by any
// user at any time.
func (rp *orphans) movedFields(l *orphan) (names []string) {
	k := resource.Activities()
	op, ok := rp.objects.op(k, resource.List)
	if !ok || k.Parent != l.info.kind.Name || len(l.record.Values) == 0 {
		return nil
	}
	read, _ := readOf(op, l.params)
	if !rp.mayRead(l, read) {
		return nil
	}
	changed := map[string]bool{}
	for _, row := range rp.service.askOptional(read).Rows {
		changed[row.Text("field")] = true
	}
	for name := range l.record.Values {
		changed[resource.ActivityField(name)] = false
	}
	for i := range l.info.kind.Fields {
		f := &l.info.kind.Fields[i]
		if name := resource.ActivityField(f.Name); changed[name] && !rp.objects.intents.mayHaveSent(l.record.Address, f.Name) && !f.Virtual &&
			!l.info.viaMembership(f) { // memberships are checked in the lists of members
			names, changed[name] = append(names, name), false
		}
	}
	return names
}

// lostOnlyDeleted reports whether a field of an orphan lost only references to objects that the lists show to be deleted. It is false if no
// list can be read.
func (rp *orphans) lostOnlyDeleted(l *orphan, f *resource.Field, have string) (read bool) {
	gone := lostReferences(f, l.record.Values[f.Name], have)
	if len(gone) == 0 {
		return false
	}
	for _, t := range rp.objects.namedBy(f) {
		for _, list := range rp.siblingLists(l, t) {
			a := rp.service.askOptional(list.read)
			if slices.ContainsFunc(a.Rows, func(r resource.Row) bool { return slices.Contains(gone, r.ID()) }) {
				return false
			}
			read = read || !a.Unsupported && !a.Forbidden && !a.NotFound
		}
	}
	return read
}

// isContent reports whether a field has content by people: a text, a date, or a list that is empty in a new object.
func isContent(f *resource.Field) bool {
	return f.Rich() || f.Type == resource.LongText || f.Type == resource.Date || f.Type == resource.RefSet && f.ParentDefault == ""
}

// zoneOf returns the time zone of a parent, for the dates of its contents.
func (rp *orphans) zoneOf(parent resource.Address) *time.Location {
	if i, wanted := rp.objects.indexOf(parent); wanted {
		return rp.objects.currentZone(i)
	}
	if l := rp.byAddress[parent]; l != nil {
		return resource.Zone(rp.rowOf(l).Text("timezone"))
	}
	return time.UTC
}

// lastChange returns the user who changed an orphan last, and the time.
func (rp *orphans) lastChange(l *orphan) (by string, at time.Time) {
	row := rp.rowOf(l)
	at, _ = time.Parse(time.RFC3339, row.Text("updated_at"))
	if id := cmp.Or(row.Text("updated_by"), row.Text("created_by")); id != "" {
		by = rp.nameOf(l, rp.objects.kinds[resource.People()], id)
	}
	return by, at
}

// nameOf returns the name of an object that an orphan refers to, or the ID if the name cannot be read.
func (rp *orphans) nameOf(l *orphan, t *kindInfo, id string) string {
	if read, listed := t.listRead(l.params); listed {
		for _, row := range rp.service.askOptional(read).Rows {
			if texts := t.kind.DisplayTexts(row); row.ID() == resource.LowerID(id) && len(texts) > 0 {
				return texts[len(texts)-1]
			}
		}
	}
	return id
}

// loss returns the data that is lost with an orphan.
func (rp *orphans) loss(l *orphan) *Loss {
	loss, row := &Loss{Contents: l.contents, Unread: l.unread}, rp.rowOf(l)
	for _, c := range l.causes {
		loss.Despite = append(loss.Despite, c.Text)
	}
	for i := range l.info.kind.Fields {
		f := &l.info.kind.Fields[i]
		have, known := f.ObservedIn(row)
		switch {
		case !known || have == "" || f.Past:
		case f.IsRef() && f.Ref == resource.People().Name:
			for id := range strings.SplitSeq(have, ",") {
				if name := rp.nameOf(l, rp.objects.kinds[resource.People()], id); !slices.Contains(loss.People, name) {
					loss.People = append(loss.People, name)
				}
			}
		case f.Name == l.info.kind.Progress && f.IsRef():
			loss.Progress = rp.nameOf(l, rp.objects.kind(f.Ref), have)
		case f.Name == l.info.kind.Progress:
			loss.Progress = have
		case loss.Text == "" && f.Rich():
			loss.Text = diag.Truncate(strings.TrimSpace(resource.PlainText(have)), lostText)
		case loss.Text == "" && f.Type == resource.LongText && f.Definition == nil:
			loss.Text = diag.Truncate(strings.TrimSpace(have), lostText)
		}
	}
	by, at := rp.lastChange(l)
	if loss.ChangedBy = by; !at.IsZero() {
		loss.ChangedAt = at.UTC().Format(time.RFC3339)
	}
	return loss
}

// touchedByOthers reports whether another user changed an orphan after planform's last write of the orphan, its contents or its memberships.
// The service updates the orphan's time of change for writes of contents and memberships, too.
func (rp *orphans) touchedByOthers(l *orphan) bool {
	by := resource.LowerID(rp.rowOf(l).Text("updated_by"))
	at, err := time.Parse(time.RFC3339, rp.rowOf(l).Text("updated_at"))
	if by == "" || err != nil || l.record.AppliedAt.IsZero() {
		return false
	}
	if rp.lastWrites == nil {
		rp.lastWrites = rp.records.lastWrites()
	}
	for _, last := range []time.Time{l.record.AppliedAt, rp.lastWrites[string(l.record.Address)], rp.lastWrites[l.record.ID]} {
		if !at.After(last.Add(clockSlack)) {
			return false
		}
	}
	self := rp.snapshot.self(rp.objects.kinds[resource.People()])
	return self != "" && self != by
}
