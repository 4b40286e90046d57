package resource

import (
	"crypto/sha256"
	"encoding/hex"
)

// MarkSource is the external_source of everything that planform creates where the wider API is there.
const MarkSource = "planform"

// Mark is the external_id of a thing: the same for the same workspace, kind and key, for ever.
func Mark(workspaceSlug string, a Address) string {
	const longest = 255 // the service's limit
	mark := workspaceSlug + "/" + string(a)
	if len(mark) <= longest {
		return mark
	}
	sum := sha256.Sum256([]byte(mark))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Marked reports whether the record carries that mark.
func (r Row) Marked(mark string) bool {
	return r["external_source"] == MarkSource && r["external_id"] == mark
}
