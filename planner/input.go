package planner

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
)

// Action is what a step does.
type Action int

// MarshalText gives the word of [Action.String].
func (a Action) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the word of an action that can be carried out.
func (a *Action) UnmarshalText(word []byte) error {
	for *a = range NotPossible {
		if a.String() == string(word) {
			return nil
		}
	}
	return fmt.Errorf("there is no action %q", word)
}

// The actions, in the order in which a summary names them.
const (
	Create Action = iota
	Update
	Adopt // found on the service by its natural key or external ID; with changes it is updated too
	AddMembers
	RemoveMembers
	Delete
	NotPossible // wanted, but the service offers no way; Step.Reason says why
)

// String gives the word that the JSON plan uses.
func (a Action) String() string {
	words := []string{"create", "update", "adopt", "add_members", "remove_members", "delete", "not_possible"}
	if int(a) >= len(words) {
		return "unknown"
	}
	return words[a]
}

// Input is everything that a plan depends on.
type Input struct {
	Settings

	Workspace string
	BaseURL   string // for the plan's reader only
	WebURL    string // of the web app, whose pages texts link to
	API       resource.API
	Now       time.Time          // to tell what is over; zero = nothing is
	APIFound  bool               // the API is what the service offers, not what somebody chose
	Desired   []*resource.Object // parents before children, otherwise in the order of the manifest
	// Owner is whose the manifests are.
	Owner resource.Owner
	// FormerOwners are the owners under which the state was written: what it knows may bear their marks still.
	FormerOwners []resource.Owner
	// Knowing is set where the state knows all that planform made for the owner, since a run has ended with it.
	Knowing  bool
	Prior    Prior
	Observed Observed
	// OtherSources holds the manifests that the state names, that are still there and that
	// are not read: what stands in one of them is not orphaned.
	OtherSources map[string]bool
	// Deletes, if it is not nil, are the addresses of what may be deleted, whichever manifests have it: of an undo.
	Deletes map[resource.Address]bool
	// Leaves are the IDs of members that are to leave, by the addresses at which the state has the members of their containers.
	Leaves map[resource.Address]map[string]bool
	// Left says, of an undo, in which container the undone runs left a member, by the membership and the member's ID; "" = in none.
	Left map[string]map[string]string
	// AnyOrder lets objects of one kind in one place be created side by side. Otherwise
	// they are created one after the other, as the manifest has them, and so numbered.
	AnyOrder bool
	// ExactOrder does so also where many are created in one request, which cannot hold an
	// object and what it is in, and where an object is before its parent: the parent is set afterwards.
	ExactOrder bool
	// Pull looks for what people changed on the service, for the manifests: see [Plan] Divergences. Drift is no error then.
	Pull bool
	// Contents are the kinds that a Pull looks for also where the manifest has none: objects in those of the manifest, and memberships of
	// these, a request for each object or container.
	Contents map[string]bool
	// Notices are told with the plan.
	Notices diag.List
}

// otherOwner returns the owner whose mark a record bears; ok is false if that is the manifest's owner, or was and the state knows the object.
func (in *Input) otherOwner(row resource.Row, known bool) (owner resource.Owner, ok bool) {
	owner, marked := row.Owner()
	return owner, marked && owner != in.Owner && !(known && slices.Contains(in.FormerOwners, owner))
}

// takesOver reports whether the run takes an object from another owner.
func (in *Input) takesOver(o *resource.Object) bool { return in.TakeOver && in.Targets.include(o) }

// marks are planform's marks on the objects of the manifest's owner.
func (in *Input) marks() resource.Marks {
	return resource.Marks{Workspace: in.Workspace, Owner: in.Owner}
}

// objectID is the place of a wanted object in [Input.Desired], and of what is known of it.
type objectID int

// Prior is what the last apply left, from the state file.
type Prior map[resource.Address]Record

// Record is what is known of one object, or of the members of one container. Its
// JSON is a line of the state file.
type Record struct {
	Address resource.Address `json:"address,omitempty"`
	// ID is the service's; "" while an intent is pending; of a membership the container's, where it was kept.
	ID         string `json:"id,omitempty"`
	Identifier string `json:"identifier,omitempty"` // readable, such as WEB-7
	// CreatedByUs is set where planform made the object. What it only found, or was told of,
	// it never deletes; nor what a state file from before this was kept knows.
	CreatedByUs bool `json:"made,omitempty"`
	// Protect is set where the manifest said so last: the object is never deleted.
	Protect bool `json:"protect,omitempty"`
	// Sources are the manifests that declared the object when they were last applied,
	// sorted, as paths from the folder that the state is for; "-" is standard input. Of
	// the members of a container those of what names it, or them. Nil = not known.
	Sources []string          `json:"files,omitempty"`
	Values  map[string]string `json:"values,omitempty"`  // by field: digest of the canonical value last applied
	Members []string          `json:"members,omitempty"` // of a membership: IDs of the members, sorted
	// those of Members that planform did not add, such as what an export saw; pruning leaves them in
	Found     []string  `json:"found,omitempty"`
	AppliedAt time.Time `json:"applied_at,omitzero"` // when values or members were last applied; zero = not known
	// Origin is what the object is in the workspace that its manifest came from; nil = it came from no other, or none that is known.
	Origin *resource.Origin `json:"source,omitempty"`
	// Late is until when the service may still carry out a request that made or changed the object and was sent again; zero = none was.
	Late time.Time `json:"late,omitzero"`
	// PendingIntent is set where a request was sent, or may have been, and its outcome is not known.
	PendingIntent *Intent `json:"open,omitempty"`
}

// Intent is a write that was announced in the journal and has no outcome there.
type Intent struct {
	Action Action    `json:"action"`
	Name   string    `json:"name,omitempty"`  // the text of the object's natural key; of members that were to be added or taken out: [Members.IntentName]
	After  int       `json:"after,omitempty"` // highest readable number that was known in its sequence, such as the 57 of WEB-57; 0 = none
	At     time.Time `json:"at,omitzero"`     // when it was written; zero = not known
	Batch  bool      `json:"batch,omitempty"` // it was to be sent with others, by API v2
	// Fields are the names of those that an update sends; none = it may be any. Sent is their [Said]; "" = it is not known.
	Fields []string `json:"fields,omitempty"`
	Sent   string   `json:"sent,omitempty"`
}

// Updates reports whether fields of an object were sent that is there.
func (i *Intent) Updates() bool { return i.Action == Update || i.Action == Adopt }

// Read is one read request.
type Read struct {
	Operation  *resource.Operation
	Path       string         // expanded, below the base URL
	Fields     string         // of a list: the only fields that are needed, with commas between; "" = all
	Optional   bool           // where it is forbidden, the plan does without: the answer has no rows
	ExternalID string         // of a list: only the object that bears planform's mark with this ID, wherever it is; "" = all
	Owner      resource.Owner // of that mark
	Probe      bool           // of a list: one row is enough, it only matters whether there is such a list
}

// membersInV1 reports whether API v1 lists the members of a container too that API v2 is asked for: it is used where that has no such list
// or does not show it to the credential.
func (r *Read) membersInV1() bool {
	_, v1 := resource.MustLookup(r.Operation.Kind).Op(resource.ListMembers, resource.V1)
	return r.Operation.Verb == resource.ListMembers && r.Operation.V2() && v1
}

// readOf is the read of an operation; ok is false where a path parameter is not known.
func readOf(op *resource.Operation, params map[string]string) (r Read, ok bool) {
	path, missing := op.Expand(params)
	r = Read{Operation: op, Path: path}
	r.Optional = r.membersInV1()
	return r, missing == ""
}

// Observed holds the answers to the reads made so far.
type Observed map[Read]Answer

// Answer is what the service said to a read.
type Answer struct {
	Rows []resource.Row // of a list all rows; of a single record that one
	// NotFound: the service says that there is no such object.
	NotFound bool
	// Several: of a look-up by external ID, several objects carry it.
	Several bool
	// Unsupported: this edition of the service has no such route.
	Unsupported bool
	// Forbidden: the credential may not make this read, which is optional.
	Forbidden bool
	// Unread counts the rows of lists in the answer that no membership reads, by their name.
	Unread map[string]int
}

// onDrift says what becomes of the object's fields that somebody changed.
func (in *Input) onDrift(o *resource.Object) OnDrift {
	if o.Policy != nil && o.Policy.OnDrift != "" {
		return OnDrift(o.Policy.OnDrift)
	}
	return in.OnDrift
}

// Targets are patterns of addresses, one of which an object must match to be planned.
// In a pattern * stands for any text within a key, ** for any text at all, and ?
// for one character, such as cycle/web/* or work_item/**. No targets are all objects.
type Targets []Target

// Target is one pattern.
type Target struct {
	Pattern  string
	Contents bool // [Select] also selects what the manifest has in or below the objects that match
	expr     *regexp.Regexp
}

// Patterns returns the patterns of the targets.
func (ts Targets) Patterns() (patterns []string) {
	for _, t := range ts {
		patterns = append(patterns, t.Pattern)
	}
	return patterns
}

// NewTarget makes a target of a pattern.
func NewTarget(pattern string) Target {
	expr := strings.NewReplacer(`\*\*`, ".*", `\*`, "[^/]*", `\?`, "[^/]").Replace(regexp.QuoteMeta(pattern))
	return Target{Pattern: pattern, expr: regexp.MustCompile("(?s)^" + strings.ToValidUTF8(expr, "\uFFFD") + "$")}
}

// include reports whether an object is targeted, or is in or below one that is.
func (ts Targets) include(o *resource.Object) bool {
	for seen := map[*resource.Object]bool{}; o != nil && !seen[o]; { // parents that lead back to themselves are an error of its own
		if ts.Mean(o.Address) || o.Parent != nil && ts.include(o.Parent) {
			return true
		}
		seen[o] = true
		v, above := o.Value(o.Kind.ParentField)
		if o = nil; above && len(v.Refs) > 0 {
			o = v.Refs[0].Target
		}
	}
	return false
}

// Select returns the objects that match a target, with what they need: what they
// live in and what they name, and so on. What lives in them is not needed. known
// are further addresses that a target may mean, such as of what is to be deleted.
// A target that means nothing is an error.
func Select(desired []*resource.Object, targets Targets, known []resource.Address) ([]*resource.Object, diag.List) {
	if len(targets) == 0 {
		return desired, nil
	}
	used := make([]bool, len(targets))
	means := func(a resource.Address) bool {
		meant := false
		for i := range targets {
			if targets[i].expr.MatchString(string(a)) {
				used[i], meant = true, true
			}
		}
		return meant
	}
	var meant []*resource.Object
	for _, o := range desired {
		if means(o.Address) || targets[0].Contents && targets.include(o) {
			meant = append(meant, o)
		}
	}
	for _, a := range known {
		means(a)
	}
	var found diag.List
	for i, t := range targets {
		if !used[i] {
			found.Add(diag.Diagnostic{
				Code: "no-target", Summary: "no address of the manifest matches --target " + t.Pattern,
				Hint: nearTarget(t.Pattern, desired),
			})
		}
	}
	needed := map[*resource.Object]bool{}
	for _, o := range WithNeeded(meant) {
		needed[o] = true
	}
	return slices.DeleteFunc(slices.Clone(desired), func(o *resource.Object) bool { return !needed[o] }), found
}

// WithNeeded returns objects with what they need: what they live in, which comes first, and what they name, and so on.
func WithNeeded(objects []*resource.Object) (all []*resource.Object) {
	seen := map[*resource.Object]bool{}
	var need func(o *resource.Object)
	need = func(o *resource.Object) {
		if o == nil || seen[o] {
			return
		}
		seen[o] = true
		need(o.Parent)
		all = append(all, o)
		for i := range o.Values {
			need(o.Values[i].Field.Definition)
			for k := range o.Values[i].Refs {
				need(o.Values[i].Refs[k].Target)
			}
		}
	}
	for _, o := range objects {
		need(o)
	}
	return all
}

func nearTarget(pattern string, desired []*resource.Object) string {
	const most = 20_000 // beyond, comparing takes longer than anybody waits for a hint
	var all []string
	for _, o := range desired[:min(most, len(desired))] {
		all = append(all, string(o.Address))
	}
	if hint := diag.DidYouMean(pattern, all); hint != "" {
		return hint
	}
	kind, path, _ := strings.Cut(pattern, "/")
	switch _, known := resource.Lookup(kind); {
	case known && path == "":
		return "write " + kind + "/** for all of them"
	case known:
		return "the manifest has no such " + strings.ReplaceAll(kind, "_", " ") + "; * stands for a key, ** for any"
	}
	if meant := diag.Typo(kind, resource.Listed()); len(meant) > 0 {
		return fmt.Sprintf("did you mean %q?", meant[0]+"/"+cmp.Or(path, "**"))
	}
	var kinds []string
	for _, o := range desired {
		kinds = append(kinds, o.Kind.Name)
	}
	slices.Sort(kinds)
	return "an address is KIND/KEY, and the kinds of the manifest are " + strings.Join(slices.Compact(kinds), ", ")
}

// standardInput is the name of the manifest that is read from it.
const standardInput = "-"

// Mean reports whether an address is targeted.
func (ts Targets) Mean(a resource.Address) bool {
	return len(ts) == 0 || slices.ContainsFunc(ts, func(t Target) bool { return t.expr.MatchString(string(a)) })
}

func (in *Input) targeted(a resource.Address) bool {
	if in.Deletes != nil {
		return in.Deletes[a]
	}
	return in.Targets.Mean(a)
}

// untargeted says why an object stays that is not targeted.
func (in *Input) untargeted() string {
	if in.Deletes != nil {
		return "was not created by what is undone"
	}
	return "is not targeted"
}

// onlyByWider reports whether another API than the one that manages a kind can do something, a wider one.
func onlyByWider(api resource.API, can func(resource.API) bool) bool {
	for wider := api + 1; wider <= resource.V2; wider++ {
		if can(wider) {
			return true
		}
	}
	return false
}

// offeredByWider reports whether a wider API has an operation.
func offeredByWider(api resource.API, k *resource.Kind, verb resource.Verb) bool {
	return onlyByWider(api, func(wider resource.API) bool {
		_, ok := k.Op(verb, wider)
		return ok
	})
}

// namesNeed is the hint for a name that cannot be looked up, with the choice of another API where there is one.
func (in *Input) namesNeed(hint string) string {
	if in.APIFound {
		return hint + ": names need the wider API, which is missing or closed to this credential"
	}
	return hint + ", or use --api auto"
}

// sourceGone reports whether every manifest that had an object is part of this run or was
// deleted. A record without sources may belong to any manifest.
func (in *Input) sourceGone(r *Record) bool {
	return (len(r.Sources) > 0 || in.Deletes != nil) && in.otherSource(r) == ""
}

// otherSource is a manifest that had an object and is not part of this run, or "".
func (in *Input) otherSource(r *Record) string {
	if in.Deletes != nil {
		return ""
	}
	for _, file := range r.Sources {
		if in.OtherSources[file] {
			return file
		}
	}
	return ""
}

func (i *Intent) creates() bool { return i != nil && i.Action == Create }

func (r *Record) dropMembers(gone func(id string) bool) {
	r.Members = slices.DeleteFunc(slices.Clone(r.Members), gone)
	r.Values = maps.Clone(r.Values)
	maps.DeleteFunc(r.Values, func(key, _ string) bool {
		_, id, ofMember := strings.Cut(key, " ")
		return ofMember && gone(id)
	})
}

// addedByUs reports whether planform added a member of the record, or one that an intent names: no export only found it.
func (r *Record) addedByUs(id string) bool {
	_, found := slices.BinarySearch(r.Found, id)
	return !found
}
