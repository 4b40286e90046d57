package planner

import (
	"slices"

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// edge identifies a membership by its kind, and by the IDs of the container and of the member. An edge without a container stands for the
// field of the member, an edge without a member for the field of the container.
type edge struct{ kind, container, member string }

// declaration is the reference by which an object declares an edge.
type declaration struct {
	object *resource.Object
	value  *resource.Value
	ref    *resource.Reference
}

// position returns the place of a declaration in the manifest.
func (d declaration) position() diag.Position {
	switch {
	case d.ref != nil:
		return d.ref.Position
	case d.value != nil:
		return d.value.Position
	}
	return diag.Position{}
}

// wish is the manifest's wish about an edge.
type wish int8

const (
	silent       wish = iota // the manifest has no wish
	here                     // the member should be in the container
	elsewhere                // the member names other containers, or the list that would have the edge is empty
	nowhere                  // the member's field, which names one container, is null
	takenBack                // an undo ends the edge
	leftToPeople             // ignore_changes
)

// sighting is whether the service shows an edge.
type sighting int8

const (
	notRead sighting = iota
	shownIn
	shownOut
)

// standing is the state's knowledge of an edge.
type standing int8

const (
	noRecord    standing = iota // the state does not have the edge, or an open request may have changed it
	foundThere                  // somebody else made the edge
	addedBefore                 // planform made the edge
)

func (r *Record) has(id string) bool {
	_, has := slices.BinarySearch(r.Members, id)
	return has
}

// standing returns whether a member record has a member, and who added the member.
func (r *Record) standing(id string) standing {
	switch {
	case !r.has(id):
		return noRecord
	case r.addedByUs(id):
		return addedBefore
	}
	return foundThere
}

// edgeFacts holds the facts that decide about one edge.
type edgeFacts struct {
	wish      wish
	seen      sighting
	prior     standing
	exclusive bool // a member is in one container at most
	unlisted  bool // the API has no list of the members
	moved     bool // people removed the member from the container in which the state, or the undone run, has it
	inOther   bool // the service shows the member in another container
	cleared   bool // an earlier run left the member in no container, as the manifest wanted
	dropped   bool // every manifest that may declare the edge was read, and the declaring object is targeted
	prune     bool
	away      bool // the edge is left alone: another owner declares it, or the container or member is hidden or deleted
	onDrift   OnDrift

	wants, shows, applied string // the edge's attribute: wanted, on the service, in the state; "" = none, or not known
}

// edgeAction is the action of a run on an edge.
type edgeAction int8

const (
	leaveEdge edgeAction = iota
	addEdge
	removeEdge
	changeEdge // the attribute
)

// verdict holds the decision about an edge.
type verdict struct {
	action    edgeAction
	drift     bool // people changed the edge since the last apply
	conflict  bool // the manifest changed, too
	kept      bool // the drift stays
	gap       bool // the edge was not compared
	noteFound bool // the state records the edge as found
	forget    bool // the state drops the edge
	orphaned  bool // --prune would end the edge
}

// decide decides about an edge like about a field: it compares the manifest, the service, and the last apply.
func (f *edgeFacts) decide() (v verdict) {
	switch {
	case f.away, f.wish == leftToPeople:
		return v
	case f.wish == here:
		v = f.decideWanted()
	case f.seen == shownOut:
		kept := f.wish == nowhere && f.inOther && f.onDrift == Keep
		v.forget = f.prior != noRecord && !kept && (f.wish != silent || f.dropped)
	default:
		v = f.decideUnwanted()
	}
	if v.drift && f.onDrift == Keep {
		v.action, v.kept = leaveEdge, true
	}
	return v
}

func (f *edgeFacts) decideWanted() (v verdict) {
	switch {
	case f.seen == shownOut:
		v.action, v.conflict = addEdge, f.prior == noRecord && f.moved
		v.drift = v.conflict || f.prior != noRecord
		return v
	case f.seen == notRead && f.prior == noRecord:
		v.action = addEdge
		return v
	}
	v.gap, v.noteFound = f.seen == notRead, f.prior == noRecord
	switch now := f.shows; {
	case f.wants == "" || f.wants == now:
	case now != "":
		v.action, v.drift = changeEdge, f.applied != "" && f.applied != now
		v.conflict = v.drift && f.applied != f.wants
	case f.applied != "" && f.applied != f.wants:
		v.action = changeEdge
	default:
		v.gap = true
	}
	return v
}

func (f *edgeFacts) decideUnwanted() (v verdict) {
	leaves := false
	switch f.wish {
	case takenBack:
		leaves = true
	case nowhere:
		leaves = f.prior != noRecord || f.seen == shownIn
		v.drift = f.prior == noRecord && leaves && (f.cleared || f.moved)
		v.conflict = v.drift && f.moved
	case elsewhere: // a member of an exclusive membership leaves by being added to another container
		leaves = !f.exclusive && f.prior != noRecord
	case silent:
		v.orphaned = f.dropped && f.prior == addedBefore
		leaves = f.prune && v.orphaned
	case here, leftToPeople:
	}
	switch {
	case leaves && (f.seen == shownIn || f.unlisted):
		v.action = removeEdge
	case leaves:
		v.gap = true
	}
	return v
}
