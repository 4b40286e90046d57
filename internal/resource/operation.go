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
	CreateMany   // many rows in one request, of which each succeeds or fails alone
	UpdateMany
	DeleteMany
	ListOverview // reads the members of all containers at once; see [Overview]
	ProbeV2      // answers where there is an API v2
	DescribeV2   // reads the service's own description of its API v2
	Confirm      // says that the file of a create is in the store
	Download     // leads to the file in the store, by a redirect
	SetValue     // sets the value of a custom field on an object
	GetValue
	ClearValue
	GetFields // reads the values of an object's custom fields, in API v2
	ListNames // reads the names by which API v2 knows custom fields
	NewSecret // replaces the object's secret: the answer shows the new one, once
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
	Rows        int // at most in one request, of the verbs for many; 0 for others
	// Overview is set for a ListOverview.
	Overview *Overview
	// Body lists the fields that a membership operation, or a documented create or update,
	// takes besides the kind's own, or the one that archives; empty for other operations.
	Body []string
	// OneAtATime is set where a membership operation takes one member at a time: by its
	// parameter in the path, or as the one text that the body's field holds.
	OneAtATime bool
	// ListInBody is the field of the body that holds the object, alone in a list, and the
	// answer is a list too; "" = the body is the object. A list such as state_ids holds the object's state_id.
	ListInBody string
	// RepeatInBody names path parameters that the body repeats, such as project_id.
	RepeatInBody []string
	// GetCommand is the word for a read in the get command; "" = it has none.
	GetCommand string
	Doc        string
}

// Documented reports whether the operation is one of the 20 of the contract.
func (o *Operation) Documented() bool { return o.ContractRow > 0 }

// Idempotent reports whether sending the same request twice is harmless. After a create
// without an answer, a look-up decides instead; of two new secrets, the one that is known need not be the last.
func (o *Operation) Idempotent() bool {
	return o.Verb != Create && o.Verb != CreateMany && o.Verb != NewSecret
}

// Writes reports whether the operation changes the service.
func (o *Operation) Writes() bool { return o.Method != "GET" }

// V2 reports whether the operation is of the second version of the API.
func (o *Operation) V2() bool { return strings.HasPrefix(o.Path, "/api/v2/") }

// Enclose is the body for an object: itself, or a list of it where the operation takes that.
func (o *Operation) Enclose(body []byte) []byte {
	if o.ListInBody == "" {
		return body
	}
	var fields map[string]json.RawMessage
	if strings.HasSuffix(o.ListInBody, "_ids") && json.Unmarshal(body, &fields) == nil {
		body = fields[strings.TrimSuffix(o.ListInBody, "s")]
	}
	return fmt.Appendf(nil, `{%q:[%s]}`, o.ListInBody, body)
}

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

// Match finds the parameters with which the template gives a path; ok is false where none do.
func (o *Operation) Match(path string) (params map[string]string, ok bool) {
	names, parts := strings.Split(o.Path, "/"), strings.Split(path, "/")
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

// String gives method and path template.
func (o *Operation) String() string { return o.Method + " " + o.Path }

// API is the set of operations and fields that may be used.
type API int

// Documented is the 20 operations of the contract with their documented fields; V1 adds
// the rest of API v1, and V2 the operations of API v2.
const (
	Documented API = iota
	V1
	V2
)

// Wide reports whether more than the documented operations may be used.
func (a API) Wide() bool { return a != Documented }

// Offers reports whether the operation may be used.
func (a API) Offers(o *Operation) bool {
	return a == V2 || o.Documented() || a == V1 && !o.V2()
}

// Sendable reports whether the field may be sent in a body.
func (a API) Sendable(f *Field) bool {
	return f.APIName() != "" && !f.ArchiveFlag && (a.Wide() && (!f.OnlyV2() || a == V2) || f.Documented)
}

// String gives the word of the --api flag.
func (a API) String() string {
	switch a {
	case V2:
		return "v2"
	case V1:
		return "v1"
	case Documented:
		return "documented"
	default:
		return "unknown"
	}
}

// Noun is the name of the API in messages.
func (a API) Noun() string {
	switch a {
	case V2:
		return "the API"
	case V1:
		return "API v1"
	case Documented:
		return "the documented operations"
	default:
		return "unknown"
	}
}

// Operations gathers the operations of every kind: the documented ones by their
// number, then the wider ones by path and method.
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

// workspace is the path that every operation on a workspace begins with.
const workspace = "/api/v1/workspaces/{workspace_slug}/"

// workspaceV2 is the same in API v2.
const workspaceV2 = "/api/v2/workspaces/{workspace_slug}/"

// bulk builds the operations of API v2 that write up to 50 objects of a kind below one path,
// which ends in a slash.
func bulk(path, scope string) []Operation {
	const rows = 50
	ops := []Operation{
		{Verb: CreateMany, Path: path + "bulk-create/"},
		{Verb: UpdateMany, Path: path + "bulk-update/"},
		{Verb: DeleteMany, Path: path + "bulk-delete/"},
	}
	for i := range ops {
		ops[i].Method, ops[i].Success, ops[i].Scope, ops[i].Rows = "POST", 200, scope+":write", rows
	}
	return ops
}

// overview is the list of all objects of a kind, of which a field holds the IDs of their
// members, or of the containers that they belong to.
func overview(path, scope, rows, field string) Operation {
	return Operation{
		Verb: ListOverview, Method: "GET", Path: workspaceV2 + path + "/", Success: 200, Scope: scope + ":read",
		Query: []string{"per_page", "cursor", "fields"}, Overview: &Overview{Rows: rows, Field: field},
	}
}

// manage is the operation of API v2 that adds or removes up to 100 members of a container.
func manage(verb Verb, path, scope string) Operation {
	list := "add"
	if verb == RemoveMembers {
		list = "remove"
	}
	return Operation{Verb: verb, Method: "POST", Path: workspaceV2 + path, Success: 200, Scope: scope + ":write", Body: []string{list}}
}

// crud builds the wider operations of a kind below one path, which ends in a slash; param
// is the parameter of the ID. verbs are letters: l list, g get, c create, u update, d delete.
func crud(path, param, scope, verbs string) []Operation {
	one, query := path+"{"+param+"}/", []string{"per_page", "cursor"}
	if strings.HasPrefix(path, workspaceV2) { // whose lists leave out long texts that are not named
		query = append(query, "fields")
	}
	all := map[rune]Operation{
		'l': {Verb: List, Method: "GET", Path: path, Success: 200, Scope: scope + ":read", Query: query},
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
		{
			Verb: ListArchived, Method: "GET", Path: project + "archived-" + section + "/", Success: 200, Scope: scope + ":read",
			Query: []string{"per_page", "cursor"},
		},
		{Verb: Unarchive, Method: "DELETE", Path: project + "archived-" + section + "/" + one + "unarchive/", Success: 204, Scope: scope +
			":write"},
	}
}
