package resource

import (
	"path"
	"slices"
	"strings"
)

func init() {
	const items = workspace + "projects/{project_id}/work-items/{work_item_id}/attachments/"
	register(Kind{
		Name: "attachment", Section: "attachments", Parent: "work_item", Param: "attachment_id", Scope: "projects.work_items.attachments",
		WebPath: "/api/assets/v2/workspaces/{workspace_slug}/projects/{project_id}/{attachment_id}/", HasExternalID: true, UniqueExternalID: true,
		Doc: "A file of a work item. The file lies in or below the manifest's folder and has 5 MiB at most. " +
			"The service cannot change an attachment. If its file or name changes, planform uploads a new one and deletes its own old one.",
		Example: `{key: design, file: files/design.pdf}`,
		KeyFrom: []string{"name", "file"}, Short: "file",
		Fields: []Field{
			{
				Name: "file", Wire: Wire{ContractDialect: "size"}, read: fileAttribute("size"), Type: Upload, Required: true, Immutable: true,
				Doc: "The file, relative to the manifest, in or below its folder. Web pages, e-mails and programs are refused, because the service refuses them: put them into an archive.", Example: "files/design.pdf",
			},
			{
				Name: "name", read: fileAttribute("name"), Type: Text, Implied: baseOfFile, Immutable: true, MaxLength: 255,
				TextRules: TextRules{Forbidden: `/\`}, Doc: "Name that the service shows. Default: the name of the file.", Example: "Design.pdf",
			},
		},
		Operations: append(crud(items, "attachment_id", "lcd"),
			Operation{Verb: Confirm, Path: items + "{attachment_id}/", Success: 204},
			Operation{Verb: Download, Path: items + "{attachment_id}/"},
		),
	})
}

// UploadForm returns the form for the file store and the new object, from the answer to the create of an upload.
func UploadForm(answer Row) (form, object Row) {
	inner, _ := answer["upload_data"].(map[string]any)
	row, _ := answer["attachment"].(map[string]any)
	return inner, row
}

// UploadDone is the body of the request that tells the service that the file is in the store.
const UploadDone = `{"is_uploaded":true}`

// MaxUpload is the service's default limit for a file, in bytes.
const MaxUpload = 5 << 20

// MediaType returns the media type of a file by its name; ok is false if the service refuses it.
func MediaType(name string) (media string, ok bool) {
	ext := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	switch ext {
	case "html", "htm", "xhtml", "eml", "heic", "heif", "mkv", "exe", "dll", "msi", "sh":
		return "", false
	}
	for _, known := range []string{
		"image/jpeg jpg jpeg", "image/png png", "image/gif gif", "image/svg+xml svg", "image/webp webp", "image/tiff tif tiff", "image/bmp bmp",
		"application/pdf pdf", "text/plain txt log", "text/csv csv", "text/css css", "application/json json", "application/xml xml",
		"application/msword doc", "application/vnd.openxmlformats-officedocument.wordprocessingml.document docx",
		"application/vnd.ms-excel xls", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx",
		"application/vnd.ms-powerpoint ppt", "application/vnd.openxmlformats-officedocument.presentationml.presentation pptx",
		"audio/mpeg mp3", "audio/wav wav", "video/mp4 mp4", "video/mpeg mpeg mpg", "video/webm webm", "video/quicktime mov",
		"video/x-msvideo avi",
		"application/zip zip", "application/gzip gz tgz", "application/x-tar tar",
	} {
		if words := strings.Fields(known); slices.Contains(words[1:], ext) {
			return words[0], true
		}
	}
	return "application/octet-stream", true // the service accepts this type
}

// fileAttribute returns a function that reads an attribute of a file from the row of an attachment.
func fileAttribute(name string) func(Row) (any, bool) {
	return func(r Row) (any, bool) {
		if v, shown := r[name]; shown {
			return v, true
		}
		inner, _ := r["attributes"].(map[string]any)
		v, shown := inner[name]
		return v, shown
	}
}

// baseOfFile returns the default name of an attachment: the base name of its file.
func baseOfFile(o *Object) *Value {
	if file, given := o.Value("file"); given && file.Text != "" {
		return &Value{Text: path.Base(file.Text), Position: file.Position}
	}
	return nil
}
