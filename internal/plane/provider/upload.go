package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
)

// upload sends the request of a create. With a file, it sends three requests, with the form of the answer in between. The service lists only
// confirmed uploads, and gives no second form for the same object. So an incomplete object of an earlier attempt, which the service names as
// the conflict of the first request, is deleted, and there are never two.
func (w *write) upload(ctx context.Context, r row) (*apiclient.Response, error) {
	step := r.step
	i := slices.IndexFunc(step.Values(), func(v *resource.Value) bool { return v.Content != nil })
	if i < 0 {
		return w.sendOne(ctx, r)
	}
	content := step.Values()[i].Content
	data, err := readContent(content)
	if err != nil {
		return nil, diag.WithHint(fmt.Errorf("%s: %w", step.Values()[i].Text, err), "plan again")
	}
	if step.Write.Replaces != "" {
		if err := w.deleteReplaced(ctx, r, step.Write.Replaces); err != nil {
			return nil, err
		}
	}
	res, err := w.sendOne(ctx, r)
	for range attempts {
		e, refused := errors.AsType[*apiclient.Error](err)
		if !refused || e.Status != 409 || e.ExistingID == "" {
			break
		}
		if seen := w.findCreated(ctx, r); !seen.absent {
			return nil, errors.Join(err, seen.err)
		}
		if wrong := w.claimExisting(step, resource.Row{"id": e.ExistingID}); wrong != nil {
			return nil, errors.Join(err, wrong)
		}
		if err := w.deleteReplaced(ctx, r, e.ExistingID); err != nil {
			return nil, err
		}
		res, err = w.sendOne(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	form, row := resource.UploadForm(res.Row)
	res.Row = row
	if err := w.mixedUpError(r, w.claimNew(step, res.Row)); err != nil {
		return nil, err // the next requests would change the object with this ID
	}
	if !step.Object.SameContent(res.Row) {
		return nil, diag.WithHint(fmt.Errorf("%s: the service takes no file of %d bytes", step.Values()[i].Text, content.Size),
			"its FILE_SIZE_LIMIT is smaller: attach a smaller file, or give its address in links")
	}
	if err := w.client.Upload(ctx, form, step.Object.Text("name"), data); err != nil {
		return nil, err
	}
	confirm, _ := w.operation(step, resource.Confirm)
	_, err = w.client.Do(ctx, apiclient.Request{
		Operation: confirm, Params: r.paramsWith(res.Row.ID()), Body: []byte(resource.UploadDone),
	})
	return res, err
}

// deleteReplaced deletes the upload that a new one replaces: the upload of a file that has changed, or an upload that an earlier attempt
// began and did not confirm. It is not an error if the object is already gone.
func (w *write) deleteReplaced(ctx context.Context, r row, id string) error {
	remove, _ := w.operation(r.step, resource.Delete)
	if _, err := w.client.Do(ctx, apiclient.Request{Operation: remove, Params: r.paramsWith(id)}); err != nil && !isNotFound(err) {
		return err
	}
	return nil
}

// readContent reads a file, and checks that it is still the file of the plan.
func readContent(c *resource.Content) ([]byte, error) {
	f, err := c.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, c.Size+1))
	if sum := sha256.Sum256(data); err == nil && hex.EncodeToString(sum[:]) != c.SHA256 {
		err = errors.New("the file has changed since the plan was made")
	}
	return data, err
}
