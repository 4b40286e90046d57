package planner

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// lostText is how many characters a plan shows of the text of an object that it deletes.
const lostText = 1000

// count notes how many objects an orphan has.
func (o *orphan) count(noun string, where Where, n int) {
	at := slices.IndexFunc(o.contents, func(c Content) bool { return c.Noun == noun && c.Where == where })
	switch {
	case at >= 0:
		o.contents[at].Count = n
	case n > 0:
		o.contents = append(o.contents, Content{noun, where, n})
	}
}

// clockSlack is how far the clock of the service and the one of who applied last may be apart, with what the service's own
// workers touch a moment after a write.
const clockSlack = time.Minute

// checkChanged keeps an orphan that somebody changed since it was applied: a field that was applied, a text, date or list that
// planform never set, or whatever else the service says that another user changed.
func (or *orphans) checkChanged(l *orphan) {
	fields, since := or.driftedFields(l), " since the last apply"
	if len(fields) == 0 && !or.touchedByOthers(l) {
		fields, since = or.movedFields(l), " after planform created it"
	}
	what := strings.Join(fields, ", ")
	by, at := or.lastChange(l)
	var last []string
	switch {
	case what != "" && by != "":
		what, last = "somebody changed its "+what, []string{"last change by " + by}
	case what != "":
		what = "somebody changed its " + what
	case or.touchedByOthers(l):
		what = by + " changed it"
	default:
		return
	}
	if !at.IsZero() {
		last = append(last, at.UTC().Format("2006-01-02 15:04 UTC"))
	}
	if what += since; len(last) > 0 {
		what += " (" + strings.Join(last, ", ") + ")"
	}
	or.keep(l, what)
}

// driftedFields are the fields of an orphan that differ from what was applied, and those with content that planform never set.
func (or *orphans) driftedFields(l *orphan) []string {
	row := l.info.kind.InZone(or.shown(l), or.zoneOf(l.record.Address.Parent()))
	var names []string
	for i := range l.info.kind.Fields {
		f := &l.info.kind.Fields[i]
		have, known := f.ObservedIn(row)
		if !known || f.Virtual || f.ArchiveFlag || f.Type == resource.Upload || i > 0 && slices.ContainsFunc(l.info.kind.Fields[:i],
			f.SharesAPIName) {
			continue
		}
		applied, drifted := false, have != "" && len(l.record.Values) > 0 && isContent(f)
		for k := i; k < len(l.info.kind.Fields); k++ {
			other := &l.info.kind.Fields[k]
			if _, set := l.record.Values[other.Name]; set && (k == i || other.SharesAPIName(*f)) {
				drifted = !l.record.mayHaveSent(other.Name) && l.record.drifted(other, have, row) && (drifted || !applied) && !or.lostOnlyDeleted(l, other, have)
				applied = true
			}
		}
		if drifted && !l.record.mayHaveSent(f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// movedFields returns the fields of an orphan that planform never applied and that somebody changed, by whatever login and whenever: the
// activities of a work item tell.
func (or *orphans) movedFields(l *orphan) (names []string) {
	k := resource.MustLookup(activity)
	op, ok := or.objects.op(k, resource.List)
	if !ok || k.Parent != l.info.kind.Name || len(l.record.Values) == 0 {
		return nil
	}
	read, _ := readOf(op, l.params)
	if !or.mayRead(l, read) {
		return nil
	}
	changed := map[string]bool{}
	log := or.service.askOptional(read)
	for _, row := range log.Rows {
		changed[row.Text("field")] = true
	}
	for name := range l.record.Values {
		changed[activityField(name)] = false
	}
	for i := range l.info.kind.Fields {
		f := &l.info.kind.Fields[i]
		if name := activityField(f.Name); changed[name] && !l.record.mayHaveSent(f.Name) && !f.Virtual &&
			!l.info.viaMembership(f) { // who is where, the members tell
			names, changed[name] = append(names, name), false
		}
	}
	return names
}

// lostOnlyDeleted is [comparer.lostOnlyDeleted] for an orphan: the lists that tell are read. Where none can be, somebody changed it.
func (or *orphans) lostOnlyDeleted(l *orphan, f *resource.Field, have string) bool {
	gone := lost(f, l.record.Values[f.Name], have)
	if len(gone) == 0 {
		return false
	}
	told := false
	for _, t := range or.objects.namedBy(f) {
		for _, list := range or.listsBeside(l, t) {
			a := or.service.askOptional(list.read)
			switch {
			case a.Unsupported, a.Forbidden, a.NotFound:
			case slices.ContainsFunc(a.Rows, func(r resource.Row) bool { return slices.Contains(gone, r.ID()) }):
				return false
			default:
				told = true
			}
		}
	}
	return told
}

// isContent reports whether people write the field, and the service gives a new object none.
func isContent(f *resource.Field) bool {
	return f.Rich() || f.Type == resource.LongText || f.Type == resource.Date || f.Type == resource.RefSet && f.ParentDefault == ""
}

// zoneOf is the time zone of what objects at an address live in.
func (or *orphans) zoneOf(parent resource.Address) *time.Location {
	if i, wanted := or.objects.indexOf(parent); wanted {
		return or.objects.currentZone(i)
	}
	if l := or.byAddress[parent]; l != nil {
		return resource.Zone(or.shown(l).Text("timezone"))
	}
	return time.UTC
}

// lastChange is who changed an orphan last, and when.
func (or *orphans) lastChange(l *orphan) (by string, at time.Time) {
	row := or.shown(l)
	at, _ = time.Parse(time.RFC3339, row.Text("updated_at"))
	if id := cmp.Or(row.Text("updated_by"), row.Text("created_by")); id != "" {
		by = or.nameOf(l, or.objects.kinds[people()], id)
	}
	return by, at
}

// nameOf is what people call an object that an orphan names, or the ID where that cannot be read.
func (or *orphans) nameOf(l *orphan, t *kindInfo, id string) string {
	if read, listed := t.listRead(l.params); listed {
		a := or.service.askOptional(read)
		for _, row := range a.Rows {
			if texts := t.kind.DisplayTexts(row); row.ID() == resource.LowerID(id) && len(texts) > 0 {
				return texts[len(texts)-1]
			}
		}
	}
	return id
}

// loss is what goes with an orphan.
func (or *orphans) loss(l *orphan) *Loss {
	loss := &Loss{Contents: l.contents, Despite: l.despite, Unread: l.unread}
	row := or.shown(l)
	for i := range l.info.kind.Fields {
		f := &l.info.kind.Fields[i]
		have, known := f.ObservedIn(row)
		switch {
		case !known || have == "" || f.Past:
		case f.IsRef() && f.Ref == people().Name:
			for id := range strings.SplitSeq(have, ",") {
				if name := or.nameOf(l, or.objects.kinds[people()], id); !slices.Contains(loss.People, name) {
					loss.People = append(loss.People, name)
				}
			}
		case f.Name == l.info.kind.Progress && f.IsRef():
			loss.Progress = or.nameOf(l, or.objects.kind(f.Ref), have)
		case f.Name == l.info.kind.Progress:
			loss.Progress = have
		case loss.Text == "" && f.Rich():
			loss.Text = diag.Truncate(strings.TrimSpace(resource.PlainText(have)), lostText)
		case loss.Text == "" && f.Type == resource.LongText && f.Definition == nil:
			loss.Text = diag.Truncate(strings.TrimSpace(have), lostText)
		}
	}
	by, at := or.lastChange(l)
	if loss.ChangedBy = by; !at.IsZero() {
		loss.ChangedAt = at.UTC().Format(time.RFC3339)
	}
	return loss
}

// touchedByOthers reports whether the service says that another user changed an orphan since planform did anything to it.
func (or *orphans) touchedByOthers(l *orphan) bool {
	by := resource.LowerID(or.shown(l).Text("updated_by"))
	_, at := or.lastChange(l)
	if by == "" || at.IsZero() || l.record.AppliedAt.IsZero() {
		return false
	}
	last := l.record.lastSent() // or of something in it, or of its membership: the service notes that on it, too
	for a, r := range or.in.Prior {
		inside := strings.HasPrefix(a.Path(), l.record.Address.Path()+"/") || strings.HasPrefix(string(a), string(l.record.Address)+"#")
		if sent := r.lastSent(); sent.After(last) && (inside || or.records.concerns(a, l.record.ID)) {
			last = sent
		}
	}
	if !at.After(last.Add(clockSlack)) {
		return false
	}
	self := or.snapshot.self(or.objects.kinds[people()])
	return self != "" && self != by
}
