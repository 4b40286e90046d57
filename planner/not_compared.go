package planner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/planform/planform/internal/resource"
)

// NotCompared is something that a plan did not hold against the service: what people changed in it, the plan does not show.
type NotCompared struct {
	Kind      string             `json:"kind"`            // of the objects
	Field     string             `json:"field,omitempty"` // of theirs, as manifests name it; "" = the objects as a whole
	Count     int                `json:"count"`           // objects
	What      string             `json:"what"`            // for people, such as values of custom fields of 12 work items
	Why       string             `json:"why"`
	Hint      string             `json:"hint,omitempty"` // what compares it; "" = nothing does
	Addresses []resource.Address `json:"addresses"`      // of the first of the objects
	All       []resource.Address `json:"-"`              // of them
}

// gapReason is why something is not compared, and what would compare it.
type gapReason struct{ why, hint string }

//nolint:gochecknoglobals // constants
var (
	expensive    = gapReason{"reading them takes more than " + strconv.Itoa(maxSingleReads) + " requests", "--refresh-all reads them"}
	skipsRefresh = gapReason{"--no-refresh trusts the state file", "without --no-refresh they are read"}
	notShown     = gapReason{why: "the service does not show it"}
	notThere     = gapReason{why: "the service does not show it under the name that planform sends"}
	unrecorded   = gapReason{why: "planform's mark is on it, and neither the manifest nor the state has it"}
	leftAlone    = gapReason{why: "archived or a draft, and left alone"}
	leftDeleted  = gapReason{why: "deleted on the service, and left so"}
)

// maxSingleReads is how many requests for one or a few objects each a person waits for: a minute of the usual quota.
const maxSingleReads = 60

// gaps gathers what is not compared.
type gaps struct {
	byKey   map[gapKey]*gap
	objects map[*resource.Object]bool // of which something is not compared
}

type gapKey struct {
	kind   *resource.Kind
	field  string
	reason gapReason
}

// gap is something that is not compared, of some objects.
type gap struct {
	what    string // of the objects, such as values of custom fields; "" = they as a whole
	objects []*resource.Object
}

func newGaps() *gaps { return &gaps{byKey: map[gapKey]*gap{}, objects: map[*resource.Object]bool{}} }

// add notes that something of an object is not compared; field is "" where nothing of it is.
func (g *gaps) add(o *resource.Object, field, what string, reason gapReason) {
	key := gapKey{o.Kind, field, reason}
	if g.byKey[key] == nil {
		g.byKey[key] = &gap{what: what}
	}
	found := g.byKey[key]
	if n := len(found.objects); n == 0 || found.objects[n-1] != o { // which an object's other fields note too
		found.objects = append(found.objects, o)
	}
	g.objects[o] = true
}

// list is what is not compared, in the order of kinds.
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
