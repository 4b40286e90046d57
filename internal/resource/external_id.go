package resource

import (
	"crypto/sha256"
	"encoding/hex"
)

// ExternalSource is the external_source of everything that planform creates where the wider API is there.
const ExternalSource = "planform"

// ExternalID is the external_id of a thing: the same for the same workspace, kind and key, for ever.
func ExternalID(workspaceSlug string, a Address) string {
	const longest = 255 // the service's limit
	mark := workspaceSlug + "/" + string(a)
	if len(mark) <= longest {
		return mark
	}
	sum := sha256.Sum256([]byte(mark))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// HasExternalID reports whether the record carries that mark.
func (r Row) HasExternalID(mark string) bool {
	return r["external_source"] == ExternalSource && r["external_id"] == mark
}
