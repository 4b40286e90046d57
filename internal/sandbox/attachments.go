package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func (ks *kinds) describeAttachments() {
	ks.attachment = ks.add(&kind{
		name: "attachment",
		columns: audit("attributes asset entity_type entity_identifier is_deleted is_archived external_id external_source size " +
			"is_uploaded storage_metadata created_by updated_by user workspace draft_issue project issue comment page"),
		hidden:  names("signature content"),
		indexes: []index{uniqueExternalID("attachment", "issue", "Issue")},
		param:   "attachment", scope: inItem,
		afterDelete: func(c *call, t *tx, _ row) {
			c.logActivity(t, "deleted", "attachment", nil, nil, "deleted the attachment")
		},
	})
}

// ofAttachments wraps a handler with the service's own checks for attachments: first whether the item exists, then
// whether the user is in the project, in any role. For a download only the latter.
func ofAttachments(verb string, h handler) handler {
	return func(c *call, t *tx) reply {
		item, ok := t.get(c.kinds.workItem, c.vars["item"])
		elsewhere := c.vars["workspace"] != c.opts.Workspace
		if c.req.Method != http.MethodGet && (!ok || elsewhere || item.row["project"] != c.vars["project"]) {
			return notFound()
		}
		if projectRole(t, c.vars["project"], c.user) == 0 {
			return refuse(http.StatusForbidden, "error", "You are not allowed to "+verb+" this attachment")
		}
		return h(c, t)
	}
}

func listAttachments(c *call, t *tx) reply {
	return c.kinds.attachment.listAll(slices.DeleteFunc(t.all(c.kinds.attachment, inItem(c)), func(s stored) bool {
		return !flag(s.row, "is_uploaded") || c.vars["workspace"] != c.opts.Workspace
	}))
}

// createAttachment returns the form for an upload to the store. The list shows the attachment after a change confirms that the file is there.
func createAttachment(c *call, t *tx) reply {
	if _, ok := c.body.(row); !ok {
		return serverError()
	}
	name, media := text(c.in, "name"), text(c.in, "type")
	wrong := func(message string) reply {
		return reply{http.StatusBadRequest, row{"error": message, "status": false}}
	}
	announced := c.in["size"]
	number, isNumber := announced.(json.Number)
	size, err := number.Float64()
	if announced == true {
		size, isNumber, err = 1, true, nil
	}
	switch {
	case name == "" || isFalsy(announced):
		return wrong("Invalid request.")
	case !isNumber || err != nil:
		return serverError() // the service compares the value with a number
	case media == "" || slices.Contains([]string{
		"application/x-msdownload", "application/x-sh", "text/html", "message/rfc822", "image/heic",
		"video/x-matroska",
	}, media):
		return wrong("Invalid file type.")
	}
	if limit := float64(c.opts.FileLimit); size > limit { // the store will refuse the file
		size, announced = limit, integer(int(c.opts.FileLimit))
	}
	id := newID()
	key := workspaceID + "/" + strings.ReplaceAll(newID(), "-", "") + "-" + name
	r := row{
		"attributes": row{"name": name, "type": media, "size": announced}, "asset": key, "entity_type": "ISSUE_ATTACHMENT",
		"is_deleted": false, "is_archived": false, "size": float(size), "is_uploaded": false, "storage_metadata": row{},
		"issue":       c.vars["item"],
		"external_id": nil, "external_source": nil, "signature": strings.ReplaceAll(newID(), "-", ""),
	}
	for _, field := range []string{"external_id", "external_source"} {
		if v := c.in[field]; v != nil {
			r[field] = pythonText(v)
		}
	}
	c.setAudit(c.kinds.attachment, r)
	r["id"] = id
	if refused := c.findClash(t, c.kinds.attachment, nil, r); refused != nil {
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

// attachmentOfRoute returns an attachment of the route's project. The service does not check the item.
func attachmentOfRoute(c *call, t *tx) (stored, bool) {
	s, ok := t.get(c.kinds.attachment, c.vars["attachment"])
	return s, ok && s.row["project"] == c.vars["project"] && c.vars["workspace"] == c.opts.Workspace
}

func removeAttachment(c *call, t *tx) reply {
	s, ok := attachmentOfRoute(c, t)
	if !ok {
		return notFound()
	}
	c.kinds.attachment.deleteRow(c, t, s)
	return reply{status: http.StatusNoContent}
}

// confirmAttachment marks a file as uploaded without checking the store, as the service does.
func confirmAttachment(c *call, t *tx) reply {
	s, ok := attachmentOfRoute(c, t)
	if !ok {
		return notFound()
	}
	if !flag(s.row, "is_uploaded") {
		s.row["is_uploaded"], s.row["created_by"] = true, c.user
	}
	s.row["updated_at"], s.row["updated_by"] = c.stamp(), c.user
	t.save(c.kinds.attachment, s)
	return reply{status: http.StatusNoContent}
}

// leadToFile redirects to the file in the store.
func leadToFile(c *call, t *tx) reply {
	s, ok := attachmentOfRoute(c, t)
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

// storePath is the path of the store of files, which is a separate server except for its address.
const storePath = "/uploads"

func (c *call) storeURL() string { return "http://" + c.req.Host + c.opts.Prefix + storePath }

// serveStore answers as the store. It knows no users, only signatures, and refuses requests with a credential.
func (s *Server) serveStore(w http.ResponseWriter, req *http.Request) {
	refuse := func(status int, code, message string) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		const form = "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>%s</Message><Signed>%s</Signed></Error>"
		_, _ = fmt.Fprintf(w, form, code, message, req.URL.RawQuery)
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
			case "file": // later parts are ignored
				file = append([]byte{}, data...)
			}
		}
		if file == nil {
			refuse(http.StatusBadRequest, "MalformedPOSTRequest", "the form holds no file")
			return
		}
	}
	var found *stored
	must(s.store.update(func(t *tx) error {
		a, ok := t.get(s.kinds.attachment, id)
		if !ok || text(a.row, "signature") != signature {
			return nil
		}
		if found = &a; file != nil && int64(len(file)) <= sizeOf(a.row) {
			a.row["content"] = base64.StdEncoding.EncodeToString(file)
			t.save(s.kinds.attachment, a)
		}
		return nil
	}))
	switch {
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

// sizeOf returns the announced size of an attachment.
func sizeOf(r row) int64 {
	size, _ := strconv.ParseFloat(fmt.Sprint(r["size"]), 64)
	return int64(size)
}
