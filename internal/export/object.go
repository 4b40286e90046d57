package export

import (
	"slices"
	"time"

	"github.com/planform/planform/internal/resource"
)

// object is a record of the service and where it stands. The workspace itself is one without a kind.
type object struct {
	kind       *resource.Kind
	row        resource.Row
	parent     *object
	children   map[*resource.Kind][]*object
	byID       map[serviceID]*object        // the same
	members    map[*resource.Field][]string // their IDs by the field that declares them, from the member lists
	content    *resource.Content            // of an attachment's file, once it is in the spool
	spooled    string                       // that file
	attributes map[string]string            // what those lists say of them, by ID
	values     map[string][]any             // of custom fields, by the ID of the property

	named map[*resource.Kind]*resource.Names // its children, made when first needed

	exported   bool
	identifier string // readable; "" = none that a manifest can give
	key        string
	writesKey  bool // the key is written
	writesID   bool // the ID is written, since nothing else tells the object from others
	// writesPlace is set where people ordered the object and its siblings otherwise than they were created: the order
	// of a list says that of a new workspace only.
	writesPlace bool
	address     resource.Address
}

// serviceID identifies an object on the service.
type serviceID struct {
	kind *resource.Kind
	id   string
}

// text is what the record shows for a field, in the form in which texts are compared; of another object its name.
func (ob *object) text(field string) string {
	f, ok := ob.kind.Field(field)
	if !ok {
		return ""
	}
	text, _ := f.ObservedIn(ob.row)
	if f.Type == resource.Ref {
		if to := ob.find(resource.MustLookup(f.Ref), text); to != nil {
			return to.name()
		}
	}
	return text
}

// name is what people call the object.
func (ob *object) name() string {
	if ob.identifier != "" {
		return ob.identifier
	}
	for _, f := range ob.kind.NaturalFields() {
		if text := ob.text(f.Name); text != "" {
			return text
		}
	}
	return ob.row.ID()
}

// label names the object in a sentence.
func (ob *object) label() string {
	if ob.kind == nil {
		return "the workspace"
	}
	return ob.name()
}

// setAttribute keeps what a member list says of a member, such as the role of a project's; "" = nothing.
func (ob *object) setAttribute(member, value string) {
	if value == "" {
		return
	}
	if ob.attributes == nil {
		ob.attributes = map[string]string{}
	}
	ob.attributes[member] = value
}

func (ob *object) archived() bool {
	at, _ := ob.row["archived_at"].(string)
	return at != ""
}

// ancestor is the object itself, or the nearest one above it, that is of the kind; "" is the workspace.
func (ob *object) ancestor(kind string) *object {
	for ob.kind != nil && ob.kind.Name != kind { // the workspace has no parent
		ob = ob.parent
	}
	return ob
}

// hasAny reports whether an object can have members of a kind: of those that only some workspaces manage themselves, there may be none.
func (ob *object) hasAny(k *resource.Kind) bool {
	return !k.Governance.AtWorkspace || len(ob.ancestor("").children[k]) > 0
}

// target is the object that a field names by ID, of its project or else of the workspace; nil = none.
func (ob *object) target(f *resource.Field, id string) *object {
	if to := ob.find(resource.MustLookup(f.Ref), id); to != nil || f.OrRef == "" {
		return to
	}
	return ob.find(resource.MustLookup(f.OrRef), id)
}

// find is the object with the kind and ID among what t can refer to: its siblings, and those of its ancestors. nil = none.
func (ob *object) find(k *resource.Kind, id string) *object {
	return ob.scope(k).byID[serviceID{k, id}]
}

// scope is what the objects of a kind live in that t can refer to.
func (ob *object) scope(k *resource.Kind) *object {
	ob = ob.ancestor(k.NamedWithin())
	if host, ok := resource.Lookup(k.Parent); ok && host.Single && len(ob.children[host]) > 0 {
		return ob.children[host][0]
	}
	return ob
}

// params are the path parameters for the object's children.
func (ob *object) params(workspace string) map[string]string {
	p := map[string]string{"workspace_slug": workspace}
	for ; ob.kind != nil; ob = ob.parent {
		p[ob.kind.Param] = ob.row.ID()
	}
	return p
}

// exports lists the children of a kind that are exported.
func (ob *object) exports(k *resource.Kind) []*object {
	return slices.DeleteFunc(slices.Clone(ob.children[k]), func(one *object) bool { return !one.exported })
}

// zone is the time zone of the object's children; nil where it shows none.
func (ob *object) zone() *time.Location {
	if name, ok := ob.row["timezone"].(string); ok {
		return resource.Zone(name)
	}
	return nil
}
