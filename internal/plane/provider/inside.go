package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// sendInside writes an object in the row of its parent, by an update of the parent. The API does not say whether entries missing from such
// a list are deleted, so every request repeats the IDs of all of them.
func (w *write) sendInside(ctx context.Context, r row, body []byte) (*apiclient.Response, error) {
	op, _ := w.operation(r.step, resource.List)
	others, err := w.client.List(ctx, apiclient.Request{Operation: op, Params: r.params})
	if err != nil {
		return nil, err
	}
	own, known := r.params[r.step.Kind.Param], map[string]bool{}
	var list []string
	for _, other := range others {
		id := other.ID()
		if known[id] = true; id != own {
			list = append(list, fmt.Sprintf(`{"id":%q}`, id))
		}
	}
	if r.step.Action != planner.Create {
		body = fmt.Appendf(nil, `{"id":%q,%s`, own, body[1:])
	}
	body = r.step.Operation.Enclose([]byte(strings.Join(append(list, string(body)), ",")))
	res, err := w.client.Do(ctx, apiclient.Request{Operation: r.step.Operation, Params: r.params, Body: body, Again: w.checkBeforeRetry([]row{r}, 0)})
	if err != nil {
		return nil, err
	}
	shown, _ := res.Row[r.step.Kind.Inside()].([]any)
	res.Row = resource.Row{} // without the values of the parent
	for _, v := range shown {
		object, _ := v.(map[string]any)
		id := resource.Row(object).ID()
		if r.step.Action == planner.Create && !known[id] && r.step.Object.SameNaturalKey(object, w.idResolver(r.step.Object, w.ids)) || id == own {
			res.Row = object
		}
	}
	return res, nil
}
