package resource

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Verb is the effect of an operation on objects of its kind.
type Verb int

// The verbs. List reads all objects of the parent; Find reads one by its readable identifier, Get by its ID, Self the user of the
// credential; ListArchived reads the archived objects, which List leaves out; Summary counts the contents of an object. The member verbs
// belong to memberships.
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
	CreateMany   // many rows in one request; each succeeds or fails by itself
	UpdateMany
	DeleteMany
	ListOverview // reads the members of all containers at once; see [Overview]
	ProbeV2      // succeeds if the service has API v2
	DescribeV2   // reads the description that the service has of its API v2
	Confirm      // tells the service that the file of a create is in the store
	Download     // redirects to the file in the store
	SetValue     // sets the value of a custom field on an object
	GetValue
	ClearValue
	GetFields // reads the values of an object's custom fields, in API v2
	ListNames // reads the names of custom fields in API v2
	NewSecret // replaces the object's secret; the answer shows the new one, once
	Version   // reads the version of the service
	ListLite  // reads roles, and who left; the community edition has it since version 1.4
)

// Operation is a call that the service offers for a kind.
type Operation struct {
	Kind        string // set by registration
	Verb        Verb
	ContractRow int    // number of the documented operation (1 to 20); 0 = the wider API
	Method      string // HTTP method; a descriptor lists only an unusual one for the verb
	Path        string // template below the base URL, with {parameters}
	Success     int    // status of the contract, like Method; any other 2xx is accepted too
	Scope       string // scope that an access token needs for it; a descriptor lists only another one than that of the kind
	Query       []string
	Rows        int // most rows in one request, for verbs on many rows
	// Overview is set for a ListOverview.
	Overview *Overview
	// Body lists the fields of a membership operation, the path parameters that a create repeats besides the object's fields, or the field
	// that archives; empty for other operations.
	Body []string
	// OneAtATime is set if a membership operation takes one member: as a path parameter, or as the single text in the field of the body.
	OneAtATime bool
	// ListInBody is the field of the body that holds the object as the only element of a list; the answer is a list too. A list such as
	// state_ids holds the object's state_id. "" = the body is the object.
	ListInBody string
	// GetCommand is the name of a read in the get command; "" = none.
	GetCommand string
	Doc        string
}

// fillUsual sets the usual method of the verb, and the usual status and scope of the method, unless the descriptor has others.
func (op *Operation) fillUsual(scope string) {
	if op.Method == "" {
		switch op.Verb {
		case Create, AddMembers, Archive, SetValue, NewSecret:
			op.Method = "POST"
		case Update, UpdateMember, Confirm:
			op.Method = "PATCH"
		case Delete, RemoveMembers, Unarchive, ClearValue:
			op.Method = "DELETE"
		default:
			op.Method = "GET"
		}
	}
	op.Success = cmp.Or(op.Success, map[string]int{"POST": 201, "DELETE": 204}[op.Method], 200)
	switch {
	case op.Scope != "" || scope == "" || op.Public():
	case op.Writes():
		op.Scope = scope + ":write"
	default:
		op.Scope = scope + ":read"
	}
}

// Documented reports whether the contract has the operation among its 20.
func (op *Operation) Documented() bool { return op.ContractRow > 0 }

// Idempotent reports whether sending the request twice is harmless. It is not for a create, after which a lookup decides instead, and for a
// new secret, because the known secret need not be the last one.
func (op *Operation) Idempotent() bool {
	return op.Verb != Create && op.Verb != CreateMany && op.Verb != NewSecret
}

// Public reports whether the request is sent without the credential.
func (op *Operation) Public() bool { return op.Verb == Version }

// Writes reports whether the operation changes the service.
func (op *Operation) Writes() bool { return op.Method != "GET" }

// V2 reports whether the operation belongs to API v2.
func (op *Operation) V2() bool { return strings.HasPrefix(op.Path, "/api/v2/") }

// Enclose returns the body of a request about one object: the object itself, or with ListInBody a field with a list of that one object. A
// list of IDs has only its ID.
func (op *Operation) Enclose(body []byte) []byte {
	if op.ListInBody == "" {
		return body
	}
	var fields map[string]json.RawMessage
	if strings.HasSuffix(op.ListInBody, "_ids") && json.Unmarshal(body, &fields) == nil {
		body = fields[strings.TrimSuffix(op.ListInBody, "s")]
	}
	return fmt.Appendf(nil, `{%q:[%s]}`, op.ListInBody, body)
}

// Params lists the path's parameters in order.
func (op *Operation) Params() []string {
	var names []string
	for rest := op.Path; ; {
		_, after, found := strings.Cut(rest, "{")
		if !found {
			return names
		}
		name, tail, _ := strings.Cut(after, "}")
		names, rest = append(names, name), tail
	}
}

// Expand fills the path template. Each value is escaped as one path segment, so that it cannot reach another path. missing is the first
// parameter without a value, or "".
func (op *Operation) Expand(params map[string]string) (path, missing string) {
	var b strings.Builder
	b.Grow(len(op.Path) + 64)
	rest := op.Path
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
func (op *Operation) TakesOne(membership *Kind) bool {
	m := membership.Membership
	return op.OneAtATime || m.Member != m.Container && strings.Contains(op.Path, "{"+MustLookup(m.Member).Param+"}")
}

// Match returns the parameters with which the template gives a path; ok is false if there are none.
func (op *Operation) Match(path string) (params map[string]string, ok bool) {
	names, parts := strings.Split(op.Path, "/"), strings.Split(path, "/")
	if len(names) != len(parts) {
		return nil, false
	}
	params = map[string]string{}
	for i, name := range names {
		part, err := url.PathUnescape(parts[i])
		switch {
		case err != nil:
			return nil, false
		case strings.HasPrefix(name, "{"):
			params[strings.Trim(name, "{}")] = part
		case name != part:
			return nil, false
		}
	}
	return params, true
}

// String returns the method and the path template.
func (op *Operation) String() string { return op.Method + " " + op.Path }

// API is a set of operations and fields that may be used.
type API int

// Documented contains the 20 operations of the contract with their documented fields; V1 adds the rest of API v1, and V2 the operations of
// API v2.
const (
	Documented API = iota
	V1
	V2
)

// Wide reports whether more than the documented operations may be used.
func (ap API) Wide() bool { return ap != Documented }

// Offers reports whether the operation may be used.
func (ap API) Offers(o *Operation) bool {
	return ap == V2 || o.Documented() || ap == V1 && !o.V2()
}

// Sendable reports whether the field may be sent in a body.
func (ap API) Sendable(f *Field) bool {
	return f.APIName() != "" && !f.ArchiveFlag && (ap.Wide() && (!f.OnlyV2() || ap == V2) || f.Documented)
}

// String returns the word of the --api flag.
func (ap API) String() string { return [...]string{"documented", "v1", "v2"}[ap] }

// Noun returns the name of the API for messages.
func (ap API) Noun() string { return [...]string{"the documented operations", "API v1", "the API"}[ap] }

// Operations returns the operations of all kinds: the documented ones by number, then the others by path and method.
func Operations() []*Operation { return slices.Clone(operations()) }

var operations = sync.OnceValue(func() []*Operation { //nolint:gochecknoglobals // computed once from the registry, never changed after
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
})

// workspace is the path prefix of every operation on a workspace.
const workspace = "/api/v1/workspaces/{workspace_slug}/"

// workspaceV2 is the path prefix in API v2.
const workspaceV2 = "/api/v2/workspaces/{workspace_slug}/"

// bulk returns the operations of API v2 that write up to 50 objects of a kind below one path, which ends in a slash.
func bulk(path string) []Operation {
	const rows = 50
	ops := []Operation{
		{Verb: CreateMany, Path: path + "bulk-create/"},
		{Verb: UpdateMany, Path: path + "bulk-update/"},
		{Verb: DeleteMany, Path: path + "bulk-delete/"},
	}
	for i := range ops {
		ops[i].Method, ops[i].Success, ops[i].Rows = "POST", 200, rows
	}
	return ops
}

// overview returns the operation that lists all objects of a kind. A field of them holds the IDs of their members, or of their containers.
func overview(path, scope, rows, field string) Operation {
	return Operation{
		Verb: ListOverview, Path: workspaceV2 + path + "/", Scope: scope + ":read",
		Query: []string{"per_page", "cursor", "fields"}, Overview: &Overview{Rows: rows, Field: field},
	}
}

// manage returns the operation of API v2 that adds or removes up to 100 members of a container.
func manage(verb Verb, path string) Operation {
	list := "add"
	if verb == RemoveMembers {
		list = "remove"
	}
	return Operation{Verb: verb, Method: "POST", Path: workspaceV2 + path, Success: 200, Body: []string{list}}
}

// crud returns the wider operations of a kind below one path, which ends in a slash; param is the parameter of the ID. verbs are letters: l
// list, g get, c create, u update, d delete.
func crud(path, param, verbs string) []Operation {
	one, query := path+"{"+param+"}/", []string{"per_page", "cursor"}
	if strings.HasPrefix(path, workspaceV2) { // lists leave out long texts unless they are named
		query = append(query, "fields")
	}
	all := map[rune]Operation{
		'l': {Verb: List, Path: path, Query: query},
		'g': {Verb: Get, Path: one},
		'c': {Verb: Create, Path: path},
		'u': {Verb: Update, Path: one},
		'd': {Verb: Delete, Path: one},
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

// archiveOps returns the operations that archive and restore objects of a project; section is their word in the path.
func archiveOps(section, param string) []Operation {
	const project = workspace + "projects/{project_id}/"
	one := "{" + param + "}/"
	return []Operation{
		{Verb: Archive, Path: project + section + "/" + one + "archive/", Success: 204},
		{Verb: ListArchived, Path: project + "archived-" + section + "/", Query: []string{"per_page", "cursor"}},
		{Verb: Unarchive, Path: project + "archived-" + section + "/" + one + "unarchive/"},
	}
}
