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
func (d declaration) position() (at diag.Position) {
	if d.value != nil {
		at = d.value.Position
	}
	if d.ref != nil {
		at = d.ref.Position
	}
	return at
}

// wish is the manifest's wish about an edge.
type wish int8

const (
	noWish         wish = iota // the manifest has no wish
	wantsHere                  // the member should be in the container
	wantsElsewhere             // the member names other containers, or the list that would have the edge is empty
	wantsNone                  // the member's field, which names one container, is null
	undone                     // an undo ends the edge
	leftToPeople               // ignore_changes
)

// sighting is whether the service shows an edge.
type sighting int8

const (
	notRead sighting = iota
	shownIn
	shownOut
)

// provenance is the state's knowledge of an edge.
type provenance int8

const (
	noRecord    provenance = iota // the state does not have the edge, or an open request may have changed it
	foundThere                    // somebody else made the edge
	addedBefore                   // planform made the edge
)

func (r *Record) has(id string) bool {
	_, has := slices.BinarySearch(r.Members, id)
	return has
}

// provenanceOf returns whether a member record has a member, and who added the member.
func (r *Record) provenanceOf(id string) provenance {
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
	prior     provenance
	exclusive bool // a member is in one container at most
	unlisted  bool // the API has no list of the members
	moved     bool // people removed the member from the container in which the state, or the undone run, has it
	inOther   bool // the service shows the member in another container
	cleared   bool // an earlier run left the member in no container, as the manifest wanted
	dropped   bool // every manifest that may declare the edge was read, and the declaring object is targeted
	prune     bool
	leftAlone bool // the edge is left alone: another owner declares it, or the container or member is hidden or deleted
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
func (ef *edgeFacts) decide() (v verdict) {
	switch {
	case ef.leftAlone, ef.wish == leftToPeople:
		return v
	case ef.wish == wantsHere:
		v = ef.decideWanted()
	case ef.seen == shownOut:
		kept := ef.wish == wantsNone && ef.inOther && ef.onDrift == Keep
		v.forget = ef.prior != noRecord && !kept && (ef.wish != noWish || ef.dropped)
	default:
		v = ef.decideUnwanted()
	}
	if v.drift && ef.onDrift == Keep {
		v.action, v.kept = leaveEdge, true
	}
	return v
}

func (ef *edgeFacts) decideWanted() (v verdict) {
	switch {
	case ef.seen == shownOut:
		v.action, v.conflict = addEdge, ef.prior == noRecord && ef.moved
		v.drift = v.conflict || ef.prior != noRecord
		return v
	case ef.seen == notRead && ef.prior == noRecord:
		v.action = addEdge
		return v
	}
	v.gap, v.noteFound = ef.seen == notRead, ef.prior == noRecord
	switch now := ef.shows; {
	case ef.wants == "" || ef.wants == now:
	case now != "":
		v.action, v.drift = changeEdge, ef.applied != "" && ef.applied != now
		v.conflict = v.drift && ef.applied != ef.wants
	case ef.applied != "" && ef.applied != ef.wants:
		v.action = changeEdge
	default:
		v.gap = true
	}
	return v
}

func (ef *edgeFacts) decideUnwanted() (v verdict) {
	leaves := false
	switch ef.wish {
	case undone:
		leaves = true
	case wantsNone:
		leaves = ef.prior != noRecord || ef.seen == shownIn
		v.drift = ef.prior == noRecord && leaves && (ef.cleared || ef.moved)
		v.conflict = v.drift && ef.moved
	case wantsElsewhere: // a member of an exclusive membership leaves by being added to another container
		leaves = !ef.exclusive && ef.prior != noRecord
	case noWish:
		v.orphaned = ef.dropped && ef.prior == addedBefore
		leaves = ef.prune && v.orphaned
	case wantsHere, leftToPeople:
	}
	switch {
	case leaves && (ef.seen == shownIn || ef.unlisted):
		v.action = removeEdge
	case leaves:
		v.gap = true
	}
	return v
}
