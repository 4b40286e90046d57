package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// upload makes the request of a create. Where that sends a file, it makes three: see
// [resource.UploadForm]. The service lists only what it was told of, and gives no second form for the same object. So what an
// earlier attempt left half-made, and the service names as the conflict of the first
// request, is deleted; there are never two.
func (s *Service) upload(ctx context.Context, step *planner.Step, params map[string]string, ids executor.IDs) (*apiclient.Response, error) {
	how := step.Kind.Upload
	i := slices.IndexFunc(step.Values, func(v *resource.Value) bool { return v.Content != nil })
	if how == nil || i < 0 {
		return s.send(ctx, step, params, ids)
	}
	content := step.Values[i].Content
	data, err := readContent(content)
	if err != nil {
		return nil, diag.WithHint(fmt.Errorf("%s: %w", step.Values[i].Text, err), "plan again")
	}
	if step.Replaces != "" {
		if err := s.discard(ctx, step, params, step.Replaces); err != nil {
			return nil, err
		}
	}
	res, err := s.send(ctx, step, params, ids)
	for range attempts {
		e, refused := errors.AsType[*apiclient.Error](err)
		if !refused || e.Status != 409 || e.ExistingID == "" {
			break
		}
		if _, v, failed := s.findCreated(ctx, step, params); v != absent {
			return nil, errors.Join(err, failed)
		}
		if wrong := s.claim(step, resource.Row{"id": e.ExistingID}, false); wrong != nil {
			return nil, errors.Join(err, wrong)
		}
		if err := s.discard(ctx, step, params, e.ExistingID); err != nil {
			return nil, err
		}
		res, err = s.send(ctx, step, params, ids)
	}
	if err != nil {
		return nil, err
	}
	form, _ := res.Row[how.Form].(map[string]any)
	row, _ := res.Row[how.Object].(map[string]any)
	res.Row = row
	if err := s.mixedUp(step, params, s.claim(step, res.Row, true)); err != nil {
		return nil, err // what follows would change the object that has the ID
	}
	if !step.Object.SameContent(res.Row) {
		return nil, diag.WithHint(fmt.Errorf("%s: the service takes no file of %d bytes", step.Values[i].Text, content.Size), "its FILE_SIZE_LIMIT is smaller: attach a smaller file, or give its address in links")
	}
	if err := s.client.Upload(ctx, form, step.Object.Text("name"), data); err != nil {
		return nil, err
	}
	confirm, _ := s.operation(step, resource.Confirm)
	at := maps.Clone(params)
	at[step.Kind.Param] = res.Row.ID()
	_, err = s.client.Do(ctx, apiclient.Request{Operation: confirm, Params: at, Body: fmt.Appendf(nil, `{%q:true}`, how.Done)})
	return res, err
}

// discard deletes an object that is to make way; that it is gone already is no error.
func (s *Service) discard(ctx context.Context, step *planner.Step, params map[string]string, id string) error {
	remove, _ := s.operation(step, resource.Delete)
	at := maps.Clone(params)
	at[step.Kind.Param] = id
	if _, err := s.client.Do(ctx, apiclient.Request{Operation: remove, Params: at}); err != nil && !notFound(err) {
		return err
	}
	return nil
}

// readContent reads a file, and makes sure that it is still the one of the plan.
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
