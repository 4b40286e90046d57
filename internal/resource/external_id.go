package resource

import (
	"crypto/sha256"
	"encoding/hex"
)

// ExternalSource is the external_source of every object that planform creates through the wider API.
const ExternalSource = "planform"

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

// HasExternalID reports whether planform created the object under that external ID.
func (r Row) HasExternalID(id string) bool {
	return r["external_source"] == ExternalSource && r["external_id"] == id
}
