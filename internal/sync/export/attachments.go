package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// downloadAll puts the files of attachments into the spool. It leaves out files that no manifest could attach,
// and files that the store does not deliver.
func (ct *content) downloadAll(ctx context.Context, client *apiclient.Client, o Options) error {
	for _, k := range resource.Kinds() {
		if !k.Uploads() {
			continue
		}
		var all []*object
		for id, t := range ct.byID {
			if id.kind == k && t.exported {
				all = append(all, t)
			}
		}
		slices.SortFunc(all, func(a, b *object) int { return strings.Compare(a.row.ID(), b.row.ID()) })
		if len(all) > 0 {
			o.Expect(len(all), humanize(k.Section))
		}
		for _, t := range all {
			why, err := t.download(ctx, client, o)
			o.Answered()
			switch {
			case err != nil:
				return err
			case why != "":
				t.exported = false
				ct.omitted.add(omission{k.Noun(), why, true}, t.label()+" of "+t.parent.label(), 1)
			}
		}
	}
	return nil
}

// download puts the file of one attachment into the spool. why says why it cannot.
func (ob *object) download(ctx context.Context, client *apiclient.Client, o Options) (why string, err error) {
	op, _ := ob.kind.Op(resource.Download, resource.V1)
	media, accepted := resource.MediaType(ob.text("name"))
	if !accepted {
		return "a manifest takes no files of its type", nil
	}
	if size, err := strconv.ParseInt(ob.text("file"), 10, 64); err == nil && size > resource.MaxUpload {
		return "it has more than 5 MiB", nil
	}
	at, _ := op.Expand(ob.params(o.Workspace))
	data, err := client.Fetch(ctx, op, at, resource.MaxUpload)
	e, answered := errors.AsType[*apiclient.Error](err)
	switch {
	case ctx.Err() != nil, answered && (e.Credential() || e.Status < 400 || e.Status >= 500):
		return "", fmt.Errorf("reading the attachment %s: %w", ob.row.ID(), err)
	case err != nil:
		return diag.PlainText(err), nil
	case len(data) == 0:
		return "its file is empty", nil
	}
	sum := sha256.Sum256(data)
	ob.content = &resource.Content{Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:]), Media: media}
	ob.spooled = filepath.Join(o.Spool, ob.row.ID())
	return "", os.WriteFile(ob.spooled, data, 0o600)
}

// extension returns the extension of a file name from the service, or "" if it is not usable.
func extension(name string) string {
	ext := resource.Slug(strings.TrimPrefix(path.Ext(name), "."))
	if ext == "" || len(ext) > 10 {
		return ""
	}
	return "." + ext
}
