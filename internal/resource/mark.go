package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"strings"
)

// Owner says whose an object is, where several manifests share a workspace; "" is that of manifests that name none.
type Owner string

// OwnerPattern is what the name of an owner looks like.
const OwnerPattern = "^[a-z0-9][a-z0-9._-]{0,59}$"

const longestOwner = 60

// Valid reports whether an owner can be written in a manifest.
func (o Owner) Valid() bool { return regexp.MustCompile(OwnerPattern).MatchString(string(o)) }

// OwnerOfFolder is an owner for the manifests of a folder; "" where its name has nothing to make one of.
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

// String is the owner as messages name it.
func (o Owner) String() string {
	if o == "" {
		return "a manifest without an owner"
	}
	return "owner " + string(o)
}

// externalSource begins the external_source of every object that planform creates through the wider API.
const externalSource = "planform"

// Source is the external_source of the owner's objects.
func (o Owner) Source() string {
	if o == "" {
		return externalSource
	}
	return externalSource + "/" + string(o)
}

// Owner is whose mark a row bears; ok is false where it bears none of planform's.
func (r Row) Owner() (owner Owner, ok bool) {
	source, name, _ := strings.Cut(r.Text("external_source"), "/")
	return Owner(name), source == externalSource
}

// ExternalID is the external_id of an object. The same workspace and address always give the same one.
func ExternalID(workspaceSlug string, a Address) string {
	const longest = 255 // the service's limit
	id := workspaceSlug + "/" + string(a)
	if len(id) <= longest {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Marks are planform's marks on the objects of one owner in a workspace.
type Marks struct {
	Workspace string // slug
	Owner     Owner
}

// ID is the external ID of the object at an address.
func (m Marks) ID(a Address) string { return ExternalID(m.Workspace, a) }

// On reports whether a row bears the owner's mark of an address.
func (m Marks) On(r Row, a Address) bool { return m.Has(r, m.ID(a)) }

// Has reports whether a row bears the owner's mark with that external ID.
func (m Marks) Has(r Row, id string) bool {
	owner, marked := r.Owner()
	return marked && owner == m.Owner && r.Text("external_id") == id
}

// Fields are the mark of an address as a body or a query has it.
func (m Marks) Fields(a Address) [][2]string {
	return [][2]string{{"external_source", m.Owner.Source()}, {"external_id", m.ID(a)}}
}
