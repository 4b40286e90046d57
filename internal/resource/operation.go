package resource

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"
)

// Verb is the effect of an operation on objects of its kind.
type Verb int

// The verbs. List reads all objects of the parent; Find reads one by its readable
// identifier, Get by its ID, Self the credential's own user; ListArchived reads the
// archived objects, which List leaves out; Summary counts an object's content. The member
// verbs belong to memberships.
const (
	Create Verb = iota
	Update
	Delete
	List
	Get
	Find
	AddMembers
	RemoveMembers
	ListMembers
	Self
	Archive
	Unarchive
	ListArchived
	Summary
	UpdateMember // changes the attribute of a membership
)

// Operation is one call that the service offers on a kind.
type Operation struct {
	Kind        string // set by registration
	Verb        Verb
	ContractRow int    // row of the documented operations (1 to 20); 0 = the wider API
	Method      string // HTTP method
	Path        string // template below the base URL, with {parameters}
	Success     int    // status that the contract promises; any other 2xx is accepted too
	Scope       string // scope that an access token needs
	Query       []string
	// Body lists the fields that a membership operation, or a documented create or update,
	// takes besides the kind's own; empty for other operations.
	Body []string
	// OneAtATime is set where a membership operation takes one member at a time: by its
	// parameter in the path, or as the one text that the body's field holds.
	OneAtATime bool
	// RepeatInBody names path parameters that the body repeats, such as project_id.
	RepeatInBody []string
	// GetCommand is the word for a read in the get command; "" = it has none.
	GetCommand string
	Doc        string
}

// Documented reports whether the operation is one of the 20 of the contract.
func (o *Operation) Documented() bool { return o.ContractRow > 0 }

// Idempotent reports whether sending the same request twice is harmless. After a create
// without an answer, a look-up decides instead.
func (o *Operation) Idempotent() bool { return o.Verb != Create }

// Writes reports whether the operation changes the service.
func (o *Operation) Writes() bool { return o.Method != "GET" }

// V2 reports whether the operation is of the second version of the API.
func (o *Operation) V2() bool { return strings.HasPrefix(o.Path, "/api/v2/") }

// Params lists the path's parameters in order.
func (o *Operation) Params() []string {
	var names []string
	for rest := o.Path; ; {
		_, after, found := strings.Cut(rest, "{")
		if !found {
			return names
		}
		name, tail, _ := strings.Cut(after, "}")
		names, rest = append(names, name), tail
	}
}

// Expand fills the path template. Each value is escaped as one path segment, so that no
// value can reach another path. missing is the first parameter without a value, or "".
func (o *Operation) Expand(params map[string]string) (path, missing string) {
	var b strings.Builder
	b.Grow(len(o.Path) + 64)
	rest := o.Path
	for {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			return b.String(), missing
		}
		name, tail, _ := strings.Cut(after, "}")
		rest = tail
		v := params[name]
		if v != "" && v != "." && v != ".." {
			b.WriteString(url.PathEscape(v))
			continue
		}
		if missing == "" {
			missing = name
		}
		b.WriteString("{" + name + "}")
	}
}

// TakesOne reports whether an operation of a membership takes one member at a time.
func (o *Operation) TakesOne(membership *Kind) bool {
	m := membership.Membership
	return o.OneAtATime || m.Member != m.Container && strings.Contains(o.Path, "{"+MustLookup(m.Member).Param+"}")
}

// String gives method and path template.
func (o *Operation) String() string { return o.Method + " " + o.Path }

// API is the set of operations and fields that may be used.
type API int

// Documented is the 20 operations of the contract with their documented fields; Full adds the wider API.
const (
	Documented API = iota
	Full
)

// Offers reports whether the operation may be used.
func (a API) Offers(o *Operation) bool { return a == Full || o.Documented() }

// Sendable reports whether the field may be sent in a body.
func (a API) Sendable(f *Field) bool {
	return f.APIName != "" && !f.ArchiveFlag && (a == Full || f.Documented)
}

// String gives the word of the --api flag.
func (a API) String() string {
	if a == Full {
		return "full"
	}
	return "documented"
}

// Noun is the name of the API in messages.
func (a API) Noun() string {
	if a == Full {
		return "wider API"
	}
	return "documented operations"
}

// Operations gathers the operations of every kind: the documented ones by their
// number, then the wider ones by path and method.
func Operations() []*Operation {
	var ops []*Operation
	for _, k := range kinds.sorted {
		for i := range k.Operations {
			ops = append(ops, &k.Operations[i])
		}
	}
	row := func(o *Operation) int {
		if o.Documented() {
			return o.ContractRow
		}
		return math.MaxInt
	}
	slices.SortStableFunc(ops, func(a, b *Operation) int {
		return cmp.Or(cmp.Compare(row(a), row(b)), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return ops
}

// workspace is the path that every operation on a workspace begins with.
const workspace = "/api/v1/workspaces/{workspace_slug}/"

// crud builds the wider operations of a kind below one path, which ends in a slash; param
// is the parameter of the ID. verbs are letters: l list, g get, c create, u update, d delete.
func crud(path, param, scope, verbs string) []Operation {
	one := path + "{" + param + "}/"
	all := map[rune]Operation{
		'l': {Verb: List, Method: "GET", Path: path, Success: 200, Scope: scope + ":read", Query: []string{"per_page", "cursor"}},
		'g': {Verb: Get, Method: "GET", Path: one, Success: 200, Scope: scope + ":read"},
		'c': {Verb: Create, Method: "POST", Path: path, Success: 201, Scope: scope + ":write"},
		'u': {Verb: Update, Method: "PATCH", Path: one, Success: 200, Scope: scope + ":write"},
		'd': {Verb: Delete, Method: "DELETE", Path: one, Success: 204, Scope: scope + ":write"},
	}
	ops := make([]Operation, 0, len(verbs))
	for _, v := range verbs {
		op, ok := all[v]
		if !ok {
			panic("resource: unknown verb letter in " + strings.TrimSpace(verbs))
		}
		ops = append(ops, op)
	}
	return ops
}

// archiveOps builds the operations that archive and restore objects of a project; section
// is their word in the path.
func archiveOps(section, param, scope string) []Operation {
	const project = workspace + "projects/{project_id}/"
	one := "{" + param + "}/"
	return []Operation{
		{Verb: Archive, Method: "POST", Path: project + section + "/" + one + "archive/", Success: 204, Scope: scope + ":write"},
		{Verb: ListArchived, Method: "GET", Path: project + "archived-" + section + "/", Success: 200, Scope: scope + ":read", Query: []string{"per_page", "cursor"}},
		{Verb: Unarchive, Method: "DELETE", Path: project + "archived-" + section + "/" + one + "unarchive/", Success: 204, Scope: scope + ":write"},
	}
}
