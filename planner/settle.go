package planner

import (
	"slices"
	"strings"

	"github.com/planform/planform/internal/plane/resource"
)

// Doubt holds the reads that requests of earlier runs may still change. Such a request has no answer, or it was sent again, so that its
// first copy may still arrive.
type Doubt struct {
	// Again lists the reads to repeat after the grace period: they do not show the effect of these requests yet.
	Again []Read
	// Creates is set if an object may still be made that the service then refuses to this run. A short wait is enough, and nothing is
	// read again: the refusal names the object.
	Creates bool
}

// doubtCollector finds the reads whose answers requests of earlier runs may still change, see [Doubt].
type doubtCollector struct {
	*World

	doubt Doubt
}

// Settle returns the reads that requests of earlier runs may still change. A request that says the same as the manifest is left out.
func (wo *World) Settle() Doubt {
	s := &doubtCollector{World: wo, doubt: Doubt{Again: wo.service.unconfirmed}}
	for i := range wo.objects.count() {
		s.settleObject(i)
	}
	for _, set := range wo.memberships.sets {
		if set.record.late && s.differs(set) {
			if read, ok := wo.objects.membersRead(set.kind, set.params); ok {
				s.doubt.Again = append(s.doubt.Again, read)
			}
		}
	}
	for _, l := range wo.orphans.list {
		if l.decision == toDelete && l.record.Late.After(wo.in.Now) {
			s.addReadsOf(l.record.ID, "")
		}
	}
	return s.doubt
}

// settleObject adds the reads that a request of an earlier run about an object may still change.
func (dc *doubtCollector) settleObject(i objectID) {
	o, f := dc.in.Desired[i], &dc.objects.states[i]
	intent, was, in := dc.objects.intents[o.Address], dc.in.Prior[o.Address].ID, ""
	if (f.unconfirmed || intent != nil) && f.info.list != nil && (f.parent == noObject || dc.objects.states[f.parent].presence == exists) {
		in = dc.snapshot.listPath(f.info, f.parent)
	}
	seen := f.presence == exists && (!f.foreign || dc.objects.staysArchived(i)) || f.presence == hidden && f.id != "" && f.isAway(o)
	switch {
	case f.unconfirmed && dc.isRefusedTwice(i):
		dc.doubt.Creates = true
	case f.unconfirmed:
		dc.addReadsOf(unusedID, in)
	case !seen:
	case intent != nil && (was == "" || was == f.id) && dc.mayStillChange(i, intent):
		dc.addReadsOf(f.id, in)
	case f.prior != nil && f.prior.Late.After(dc.in.Now) && dc.differ.isWritten(i):
		dc.addReadsOf(f.id, "")
	}
}

// differs reports whether a container lacks a wanted member, or has it with another attribute.
func (dc *doubtCollector) differs(set *memberSet) bool {
	return slices.ContainsFunc(set.wanted, func(e *member) bool {
		return !set.isIn(e) || e.attribute != "" && set.kind.Membership.Attribute != nil && dc.memberships.shownAttribute(set, e) != e.attribute
	})
}

// isRefusedTwice reports whether the service would refuse a create of an object if it has carried out the create that an earlier run
// announced. It is false if that run may have sent another key or name, or many objects in one request.
func (dc *doubtCollector) isRefusedTwice(i objectID) bool {
	o, f := dc.in.Desired[i], &dc.objects.states[i]
	intent := dc.objects.intents[o.Address]
	_, many := o.Kind.Op(resource.CreateMany, f.info.api)
	return o.Kind.UniqueField() && intent.Name == o.Name() ||
		o.Kind.UniqueExternalID && f.info.externalIDs && !many && !intent.Batch && len(AllAddresses(o)) == 1
}

// mayStillChange reports whether a request of an earlier run sent other values than the manifest has now. It does not matter whether the
// service shows these values already, because a copy of a request that was sent again may still arrive.
func (dc *doubtCollector) mayStillChange(i objectID, intent *Intent) bool {
	if intent.Action == Delete {
		return true
	}
	if !intent.Updates() || len(intent.Fields) == 0 {
		return false
	}
	values := make([]*resource.Value, len(intent.Fields))
	for k, name := range intent.Fields {
		v, ok := dc.in.Desired[i].Value(name)
		if !ok {
			return true
		}
		values[k] = v
	}
	return intent.Sent != ContentDigest(values)
}

// addReadsOf adds the reads that show an object or its custom fields. in is the path of the list that may have the object.
func (dc *doubtCollector) addReadsOf(id, in string) {
	for read, a := range dc.in.Observed {
		verb := read.Operation.Verb
		custom := (verb == resource.GetValue || verb == resource.GetFields) && strings.Contains(read.Path, id)
		alone := verb == resource.Get && strings.HasSuffix(read.Path, id+"/")
		if custom || alone || read.Path == in || slices.ContainsFunc(a.Rows, func(row resource.Row) bool { return row.ID() == id }) {
			dc.doubt.Again = append(dc.doubt.Again, read)
		}
	}
}
