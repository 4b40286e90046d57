package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"strings"
)

// Owner identifies one of several manifests that share a workspace; "" is the owner of manifests without a name.
type Owner string

// OwnerPattern matches the name of an owner.
const OwnerPattern = "^[a-z0-9][a-z0-9._-]{0,59}$"

const longestOwner = 60

// Valid reports whether an owner can be written in a manifest.
func (ow Owner) Valid() bool { return regexp.MustCompile(OwnerPattern).MatchString(string(ow)) }

// OwnerOfFolder returns an owner for the manifests of a folder, from its name; "" if the name has no usable letters.
func OwnerOfFolder(dir string) Owner {
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	o := Owner(strings.TrimLeft(Slug(filepath.Base(dir)), "._-"))
	if o = o[:min(len(o), longestOwner)]; !o.Valid() {
		return ""
	}
	return o
}

// String returns the owner in words for a message.
func (ow Owner) String() string {
	if ow == "" {
		return "a manifest without an owner"
	}
	return "owner " + string(ow)
}

// externalSource is the beginning of the external_source of every object that planform creates through the wider API.
const externalSource = "planform"

// Source returns the external_source of the owner's objects.
func (ow Owner) Source() string {
	if ow == "" {
		return externalSource
	}
	return externalSource + "/" + string(ow)
}

// Owner returns the owner whose mark a row has; ok is false if it has no mark of planform.
func (r Row) Owner() (owner Owner, ok bool) {
	source, name, _ := strings.Cut(r.Text("external_source"), "/")
	return Owner(name), source == externalSource
}

// ExternalID returns the external_id of an object. Equal workspaces and addresses give equal IDs.
func ExternalID(workspaceSlug string, a Address) string {
	const longest = 255 // the service's limit
	id := workspaceSlug + "/" + string(a)
	if len(id) <= longest {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Marks makes the marks for the objects of one owner in a workspace.
type Marks struct {
	Workspace string // slug
	Owner     Owner
}

// ID returns the external ID of the object at an address.
func (mk Marks) ID(a Address) string { return ExternalID(mk.Workspace, a) }

// On reports whether a row has the owner's mark for an address.
func (mk Marks) On(r Row, a Address) bool { return mk.Has(r, mk.ID(a)) }

// Has reports whether a row has the owner's mark with this external ID.
func (mk Marks) Has(r Row, id string) bool {
	owner, marked := r.Owner()
	return marked && owner == mk.Owner && r.Text("external_id") == id
}

// Fields returns the mark of an address as the fields of a body or a query.
func (mk Marks) Fields(a Address) [][2]string {
	return [][2]string{{"external_source", mk.Owner.Source()}, {"external_id", mk.ID(a)}}
}
