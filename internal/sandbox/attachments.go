package sandbox

import (
	"encoding/base64"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func (k *kinds) attachments() {
	k.attachment = k.add(&kind{
		name: "attachment",
		columns: audit("attributes", "asset", "entity_type", "entity_identifier", "is_deleted", "is_archived", "external_id", "external_source",
			"size",
			"is_uploaded", "storage_metadata", "created_by", "updated_by", "user", "workspace", "draft_issue", "project", "issue", "comment",
			"page"),
		hidden:  []string{"signature", "content"},
		indexes: []index{uniqueExternalID("attachment", "issue", "Issue")},
		param:   "attachment", scope: inItem,
		afterDelete: func(c *call, t *tx, _ row) {
			c.logActivity(t, "deleted", "attachment", nil, nil, "deleted the attachment")
		},
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

// createAttachment hands out the form for an upload to the store. The attachment stays out of
// the list until a change says that the file is there.
func createAttachment(c *call, t *tx) reply {
	name, media := text(c.in, "name"), text(c.in, "type")
	wrong := func(message string) reply {
		return reply{http.StatusBadRequest, row{"error": message, "status": false}}
	}
	size, err := strconv.ParseInt(fmt.Sprint(c.in["size"]), 10, 64)
	switch {
	case name == "" || err != nil || size == 0:
		return wrong("Invalid request.")
	case media == "" || slices.Contains([]string{
		"application/x-msdownload", "application/x-sh", "text/html", "message/rfc822", "image/heic",
		"video/x-matroska",
	}, media):
		return wrong("Invalid file type.")
	}
	if item, ok := t.get(c.kinds.workItem, c.vars["item"]); !ok || item.row["project"] != c.vars["project"] {
		return notFound()
	}
	size = min(size, c.opts.FileLimit) // the store refuses the file then
	id := newID()
	key := workspaceID + "/" + strings.ReplaceAll(newID(), "-", "") + "-" + name
	r := row{
		"attributes": row{"name": name, "type": media, "size": integer(int(size))}, "asset": key, "entity_type": "ISSUE_ATTACHMENT",
		"is_deleted": false, "is_archived": false, "size": float(float64(size)), "is_uploaded": false, "storage_metadata": row{},
		"issue":       c.vars["item"],
		"external_id": c.in["external_id"], "external_source": c.in["external_source"], "signature": strings.ReplaceAll(newID(), "-", ""),
	}
	c.setAudit(c.kinds.attachment, r)
	r["id"] = id
	if refused := c.clash(t, c.kinds.attachment, nil, r); refused != nil {
		return *refused
	}
	t.insert(c.kinds.attachment, inItem(c), r)
	return reply{http.StatusOK, row{
		"upload_data": row{"url": c.storeURL(), "fields": row{
			"Content-Type": media, "key": key, "x-amz-algorithm": "AWS4-HMAC-SHA256", "x-amz-credential": id,
			"x-amz-date": c.now.UTC().Format("20060102T150405Z"),
			"policy":     base64.StdEncoding.EncodeToString([]byte(key)), "x-amz-signature": text(r, "signature"),
		}},
		"asset_id":   id,
		"attachment": c.kinds.attachment.visible(r),
		"asset_url": "/api/assets/v2/workspaces/" + c.opts.Workspace + "/projects/" + c.vars["project"] + "/issues/" + c.vars["item"] +
			"/attachments/" + id + "/",
	}}
}

// confirmAttachment believes that the file is in the store, as the service does.
func confirmAttachment(c *call, t *tx) reply {
	s, ok := t.in(c.kinds.attachment, inItem(c), c.vars["attachment"])
	if !ok {
		return notFound()
	}
	s.row["is_uploaded"] = true
	t.save(c.kinds.attachment, s)
	return reply{status: http.StatusNoContent}
}

// leadToFile answers with the address of the file in the store.
func leadToFile(c *call, t *tx) reply {
	s, ok := t.in(c.kinds.attachment, inItem(c), c.vars["attachment"])
	switch {
	case !ok:
		return notFound()
	case !flag(s.row, "is_uploaded"):
		return reply{http.StatusBadRequest, row{"error": "The asset is not uploaded.", "status": false}}
	}
	query := url.Values{"id": {text(s.row, "id")}, "X-Amz-Signature": {text(s.row, "signature")}}
	c.headers.Set("Location", c.storeURL()+"?"+query.Encode())
	c.headers.Set("Content-Type", htmlText)
	return reply{status: http.StatusFound}
}

// storePath is where the files are: another server than the service, but for its address.
const storePath = "/uploads"

func (c *call) storeURL() string { return "http://" + c.req.Host + c.opts.Prefix + storePath }

// serveStore is the store. It knows no users, only signatures, and refuses whoever sends it a credential.
func (s *Server) serveStore(w http.ResponseWriter, req *http.Request) {
	refuse := func(status int, code, message string) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		const form = "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>%s</Message><Signed>%s</Signed></Error>"
		_, _ = fmt.Fprintf(w, form, code, message, req.URL.RawQuery) //nolint:gosec // as a store does, and no page
	}
	for _, name := range []string{"X-Api-Key", "Authorization", "Cookie"} {
		if req.Header.Get(name) != "" {
			refuse(http.StatusBadRequest, "InvalidRequest", "a credential of the service came to the store")
			return
		}
	}
	id, signature := req.URL.Query().Get("id"), req.URL.Query().Get("X-Amz-Signature")
	var file []byte
	if req.Method == http.MethodPost {
		form, err := req.MultipartReader()
		for err == nil && file == nil {
			var part *multipart.Part
			if part, err = form.NextPart(); err != nil {
				break
			}
			var data []byte
			data, err = io.ReadAll(io.LimitReader(part, 2*maxBody))
			switch part.FormName() {
			case "x-amz-credential":
				id = string(data)
			case "x-amz-signature":
				signature = string(data)
			case "file": // what follows it is ignored
				file = append([]byte{}, data...)
			}
		}
		if file == nil {
			refuse(http.StatusBadRequest, "MalformedPOSTRequest", "the form holds no file")
			return
		}
	}
	var found *stored
	err := s.store.update(func(t *tx) error {
		a, ok := t.get(s.kinds.attachment, id)
		if !ok || text(a.row, "signature") != signature {
			return nil
		}
		if found = &a; file != nil && int64(len(file)) <= sizeOf(a.row) {
			a.row["content"] = base64.StdEncoding.EncodeToString(file)
			t.save(s.kinds.attachment, a)
		}
		return nil
	})
	switch {
	case err != nil:
		refuse(http.StatusInternalServerError, "InternalError", "the store is broken")
	case found == nil:
		refuse(http.StatusForbidden, "SignatureDoesNotMatch", "the signature is not valid")
	case int64(len(file)) > sizeOf(found.row):
		refuse(http.StatusBadRequest, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size")
	case file != nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		content, _ := base64.StdEncoding.DecodeString(text(found.row, "content"))
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(content)
	}
}

// sizeOf is the size that an attachment was announced with.
func sizeOf(r row) int64 {
	size, _ := strconv.ParseFloat(fmt.Sprint(r["size"]), 64)
	return int64(size)
}
