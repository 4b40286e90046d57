package sandbox

import (
	"net/http"
	"slices"
	"strings"
)

func (k *kinds) attachments() {
	k.attachment = k.add(&kind{
		name: "attachment",
		columns: audit("attributes", "asset", "entity_type", "entity_identifier", "is_deleted", "is_archived", "external_id", "external_source", "size",
			"is_uploaded", "storage_metadata", "created_by", "updated_by", "user", "workspace", "draft_issue", "project", "issue", "comment", "page"),
	})
}

func listAttachments(c *call, t *tx) reply {
	out := []row{}
	for _, s := range t.all(c.kinds.attachment, inItem(c)) {
		if flag(s.row, "is_uploaded") {
			out = append(out, c.kinds.attachment.visible(s.row))
		}
	}
	return reply{http.StatusOK, out}
}

// createAttachment hands out an address for an upload that the sandbox does not
// take: the attachment stays without a file, and out of the list.
func createAttachment(c *call, t *tx) reply {
	name, media := text(c.in, "name"), text(c.in, "type")
	wrong := func(message string) reply {
		return reply{http.StatusBadRequest, row{"error": message, "status": false}}
	}
	size, bad := real(t, c.in["size"])
	switch {
	case name == "" || bad != nil:
		return wrong("Invalid request.")
	case media == "" || slices.Contains([]string{"application/x-msdownload", "application/x-sh"}, media):
		return wrong("Invalid file type.")
	}
	id := newID()
	asset := workspaceID + "/" + strings.ReplaceAll(newID(), "-", "") + "-" + name
	r := row{
		"attributes": row{"name": name, "type": media, "size": c.in["size"]}, "asset": asset, "entity_type": "ISSUE_ATTACHMENT",
		"is_deleted": false, "is_archived": false, "size": size, "is_uploaded": false, "storage_metadata": row{}, "issue": c.vars["item"],
		"external_id": c.in["external_id"], "external_source": c.in["external_source"],
	}
	c.setAudit(c.kinds.attachment, r)
	r["id"] = id
	t.insert(c.kinds.attachment, inItem(c), r)
	return reply{http.StatusOK, row{
		"upload_data": row{"url": "http://127.0.0.1:9/uploads", "fields": row{
			"Content-Type": media, "key": asset, "x-amz-algorithm": "",
			"x-amz-credential": "", "x-amz-date": "", "policy": "", "x-amz-signature": "",
		}},
		"asset_id":   id,
		"attachment": c.kinds.attachment.visible(r),
		"asset_url":  "/api/assets/v2/workspaces/" + c.opts.Workspace + "/projects/" + c.vars["project"] + "/issues/" + c.vars["item"] + "/attachments/" + id + "/",
	}}
}
