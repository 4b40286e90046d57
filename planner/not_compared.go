package planner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/planform/planform/internal/plane/resource"
)

// NotCompared is a group of objects, or a field of objects, that a plan did not compare with the service. The plan does not show changes
// that people made there.
type NotCompared struct {
	Kind      string             `json:"kind"`            // of the objects
	Field     string             `json:"field,omitempty"` // the field's name in manifests; "" = the objects as a whole
	Count     int                `json:"count"`           // objects
	What      string             `json:"what"`            // for people, such as values of custom fields of 12 work items
	Why       string             `json:"why"`
	Hint      string             `json:"hint,omitempty"` // the way to compare it; "" = there is none
	Addresses []resource.Address `json:"addresses"`      // the addresses of the first objects
	All       []resource.Address `json:"-"`              // the addresses of all objects
}

// gapReason says why objects or fields are not compared, and how they can be.
type gapReason struct{ why, hint string }

//nolint:gochecknoglobals // constants
var (
	gapExpensive    = gapReason{"reading them takes more than " + strconv.Itoa(maxSingleReads) + " requests", "--refresh-all reads them"}
	gapNotRefreshed = gapReason{"--no-refresh trusts the state file", "without --no-refresh they are read"}
	gapNotShown     = gapReason{why: "the service does not show it"}
	gapOtherName    = gapReason{why: "the service does not show it under the name that planform sends"}
	gapUnrecorded   = gapReason{why: "planform's mark is on it, and neither the manifest nor the state has it"}
	gapLeftAlone    = gapReason{why: "archived or a draft, and left alone"}
	gapLeftDeleted  = gapReason{why: "deleted on the service, and left so"}
)

// maxSingleReads limits the requests that read only one or a few objects: 60 requests take a minute of the usual quota.
const maxSingleReads = 60

// gaps collects the objects and fields that are not compared.
type gaps struct {
	byKey   map[gapKey]*gap
	objects map[*resource.Object]bool // objects with a gap
}

type gapKey struct {
	kind   *resource.Kind
	field  string
	reason gapReason
}

// gap is a part of some objects that is not compared.
type gap struct {
	what    string // the part for people, such as "values of custom fields"; "" = the objects as a whole
	objects []*resource.Object
}

func newGaps() *gaps { return &gaps{byKey: map[gapKey]*gap{}, objects: map[*resource.Object]bool{}} }

// add records that a field of an object is not compared; field "" = the whole object.
func (g *gaps) add(o *resource.Object, field, what string, reason gapReason) {
	key := gapKey{o.Kind, field, reason}
	if g.byKey[key] == nil {
		g.byKey[key] = &gap{what: what}
	}
	found := g.byKey[key]
	if n := len(found.objects); n == 0 || found.objects[n-1] != o { // other fields of the object may have added it
		found.objects = append(found.objects, o)
	}
	g.objects[o] = true
}

// list returns the gaps, in the order of kinds.
func (g *gaps) list() []NotCompared {
	const few = 10 // addresses
	keys := slices.SortedFunc(maps.Keys(g.byKey), func(a, b gapKey) int {
		return cmp.Or(cmp.Compare(resource.Order(a.kind.Name), resource.Order(b.kind.Name)), cmp.Compare(a.field, b.field),
			cmp.Compare(a.reason.why, b.reason.why))
	})
	var all []NotCompared
	for _, key := range keys {
		found := g.byKey[key]
		addresses := make([]resource.Address, len(found.objects))
		for i, o := range found.objects {
			addresses[i] = o.Address
		}
		slices.Sort(addresses)
		addresses = slices.Compact(addresses)
		n := NotCompared{
			Kind: key.kind.Name, Field: key.field, Count: len(addresses), What: countOf(len(addresses), key.kind),
			Why: key.reason.why, Hint: key.reason.hint,
		}
		if found.what != "" {
			n.What = found.what + " of " + n.What
		}
		n.Addresses, n.All = slices.Clip(addresses[:min(few, len(addresses))]), addresses
		all = append(all, n)
	}
	return all
}
