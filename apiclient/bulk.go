package apiclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/planform/planform/internal/plane/resource"
)

// RowResult is the result of one row of a bulk request: the ID of its object, or the error of a row that was not done. The ID of a row that
// was done is "" if the answer has no UUID for it, or repeats it.
type RowResult struct {
	ID  string
	Err *Error
}

// Bulk sends a request of v2 with n rows, and returns the result of each in order. done is the service's word for success: created, updated
// or deleted. An error applies to the whole request. If the answer is not as documented ([ErrUndocumented]), the effect is unknown: the
// rows may exist.
func (c *Client) Bulk(ctx context.Context, req Request, done string, n int) ([]RowResult, error) {
	call, err := c.prepare(req)
	if err != nil {
		return nil, err
	}
	a, err := c.send(ctx, call)
	if err != nil {
		return nil, err
	}
	results, err := c.rowResults(call, a, done, n)
	if err != nil {
		return nil, c.unexpected(call, a, err)
	}
	return results, nil
}

// rowResults reads {"results": [{"index", "result", "id" or an error's content}], "succeeded", "failed"}.
func (c *Client) rowResults(call *call, a *answer, done string, n int) ([]RowResult, error) {
	answer, _ := a.value.(map[string]any)
	list, ok := answer["results"].([]any)
	if !ok {
		return nil, errors.New(`"results" is not a list`)
	}
	if len(list) != n {
		return nil, fmt.Errorf(`"results" has %d rows instead of %d`, len(list), n)
	}
	results, seen := make([]RowResult, n), make([]bool, n)
	rows := map[string]int{} // by ID
	failed := 0
	for at, v := range list {
		row, _ := v.(map[string]any)
		i := number(row["index"])
		if i < 0 || i >= n || seen[i] {
			return nil, fmt.Errorf(`"results[%d].index" is not that of a further row`, at)
		}
		seen[i] = true
		switch result, id := row["result"], resource.Row(row).ID(); {
		case result == "failed":
			failed++
			results[i].Err = c.rowError(call, a, row)
		case result != done:
			return nil, fmt.Errorf(`"results[%d].result" is neither %q nor "failed"`, at, done)
		case row["id"] == nil || id == "" && row["id"] != "":
			return nil, fmt.Errorf(`"results[%d].id" is no text`, at)
		default:
			rows[id]++
			results[i].ID = id
		}
	}
	for i, r := range results {
		if !resource.IsID(r.ID) || rows[r.ID] > 1 {
			results[i].ID = ""
		}
	}
	if number(answer["succeeded"]) != n-failed || number(answer["failed"]) != failed {
		return nil, errors.New(`"succeeded" and "failed" do not count the rows`)
	}
	return results, nil
}

// rowError returns the error of a row, as if it had been sent alone.
func (c *Client) rowError(call *call, a *answer, row map[string]any) *Error {
	e := c.failure(call, Rejected, nil)
	e.Attempts, e.Headers = a.attempts, a.headers
	e.problem = true
	kind, _ := row["type"].(string)
	e.Status = cmp.Or(map[string]int{
		"unauthorized": 401, "payment_required": 402, "forbidden": 403, "not_found": 404, "method_not_allowed": 405, "conflict": 409,
		"payload_too_large": 413, "rate_limited": 429, "server_error": 500, "service_unavailable": 503,
	}[kind], http.StatusBadRequest) // the status of an invalid_request
	if shown, ok := redactStrings(row, c.credential.redact).(map[string]any); ok {
		e.readProblem(shown)
	}
	return e
}
