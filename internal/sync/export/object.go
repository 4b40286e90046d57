package export

import (
	"slices"
	"time"

	"github.com/planform/planform/internal/plane/resource"
)

// object is an object of the service and its place in the tree. The workspace itself is an object without a kind.
type object struct {
	kind       *resource.Kind
	row        resource.Row
	parent     *object
	children   map[*resource.Kind][]*object
	byID       map[serviceID]*object        // the same children by ID
	members    map[*resource.Field][]string // IDs of its members by the field that declares them, from the member lists
	content    *resource.Content            // file of an attachment, once it is in the spool
	spooled    string                       // path of that file
	attributes map[string]string            // attributes of its members, such as a role, by ID of the member
	values     map[string][]any             // values of custom fields, by the ID of the property

	named map[*resource.Kind]*resource.Names // names of its children, made when first needed

	exported   bool
	identifier string // readable; "" = none that a manifest can give
	key        string
	writesKey  bool // the manifest gives the key
	writesID   bool // the manifest gives the ID, because nothing else identifies the object
	// writesPlace is set if people reordered the object and its siblings after their creation. The order of a list
	// in a manifest only decides the order in a new workspace.
	writesPlace bool
	address     resource.Address
}

// serviceID identifies an object on the service.
type serviceID struct {
	kind *resource.Kind
	id   string
}

// text returns the value of a field in the form in which texts are compared, or the name of the object to which the field refers.
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

// name returns the name of the object for people.
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

// setAttribute sets an attribute of a member, such as the role in a project; "" = none.
func (ob *object) setAttribute(member, value string) {
	if value == "" {
		return
	}
	if ob.attributes == nil {
		ob.attributes = map[string]string{}
	}
	ob.attributes[member] = value
}

func (ob *object) isArchived() bool {
	at, _ := ob.row["archived_at"].(string)
	return at != ""
}

// ancestor returns the nearest object of a kind at or above the object; "" is the workspace.
func (ob *object) ancestor(kind string) *object {
	for ob.kind != nil && ob.kind.Name != kind { // the workspace has no parent
		ob = ob.parent
	}
	return ob
}

// hasAny reports whether an object can have members of a kind. Some kinds exist only in workspaces that manage them.
func (ob *object) hasAny(k *resource.Kind) bool {
	return !k.Governance.AtWorkspace || len(ob.ancestor("").children[k]) > 0
}

// target returns the object that a field names by ID, of its project or else of the workspace, or nil.
func (ob *object) target(f *resource.Field, id string) *object {
	if to := ob.find(resource.MustLookup(f.Ref), id); to != nil || f.OrRef == "" {
		return to
	}
	return ob.find(resource.MustLookup(f.OrRef), id)
}

// find returns the object with the kind and ID among the objects that ob can refer to, or nil.
func (ob *object) find(k *resource.Kind, id string) *object {
	return ob.scope(k).byID[serviceID{k, id}]
}

// scope returns the object that contains the objects of a kind to which ob can refer.
func (ob *object) scope(k *resource.Kind) *object {
	ob = ob.ancestor(k.NamedWithin())
	if host, ok := resource.Lookup(k.Parent); ok && host.Single && len(ob.children[host]) > 0 {
		return ob.children[host][0]
	}
	return ob
}

// params returns the path parameters for the object's children.
func (ob *object) params(workspace string) map[string]string {
	p := map[string]string{"workspace_slug": workspace}
	for ; ob.kind != nil; ob = ob.parent {
		p[ob.kind.Param] = ob.row.ID()
	}
	return p
}

// exportedChildren returns the exported children of a kind.
func (ob *object) exportedChildren(k *resource.Kind) []*object {
	return slices.DeleteFunc(slices.Clone(ob.children[k]), func(one *object) bool { return !one.exported })
}

// zone returns the time zone of the object's children, or nil if the object has none.
func (ob *object) zone() *time.Location {
	if name, ok := ob.row["timezone"].(string); ok {
		return resource.Zone(name)
	}
	return nil
}
