package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

// readers is how many reads are under way at once; the service answers no faster with more.
const readers = 4

// Patience says how long what a former run sent may still be carried out. The
// zero value is not at all.
type Patience struct {
	For     time.Duration       // that the service goes on, at most, with a request that its client has given up
	GivenUp time.Time           // by then the former run had done so; zero, or later than now, is now
	Tell    func(time.Duration) // told of a wait before it begins; nil = nobody
}

// begin turns the zero time, and one to come, into now.
func (p Patience) begin() Patience {
	if now := time.Now(); p.GivenUp.IsZero() || p.GivenUp.After(now) {
		p.GivenUp = now
	}
	return p
}

// left is how long it still is.
func (p Patience) left() time.Duration { return time.Until(p.GivenUp.Add(p.For)) }

// wait returns when it is at an end.
func (p Patience) wait(ctx context.Context) error {
	left := p.left()
	if left <= 0 {
		return nil
	}
	if p.Tell != nil {
		p.Tell(left)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(left):
		return nil
	}
}

// Plan makes every read that the planner asks for and then the plan. in.Observed
// may hold answers already. What may have been sent and is not there is looked
// for again when patience is at an end. An error is a read that failed; findings
// are what the planner says.
func Plan(ctx context.Context, client *apiclient.Client, in planner.Input, patience Patience) (*planner.Plan, diag.List, error) {
	patience = patience.begin()
	early := patience.left() > 0
	in.Observed = maps.Clone(in.Observed)
	if in.Observed == nil {
		in.Observed = planner.Observed{}
	}
	for {
		survey := planner.Look(in)
		reads := survey.Reads()
		if unseen := survey.Unseen(); early && len(reads) == 0 && len(unseen) > 0 {
			early = false
			if err := patience.wait(ctx); err != nil {
				return nil, nil, err
			}
			for _, r := range unseen {
				delete(in.Observed, r)
			}
			continue
		}
		if len(reads) == 0 {
			plan, findings := survey.Build()
			if plan != nil {
				attribute(ctx, client, plan, in.Observed)
			}
			return plan, findings, ctx.Err()
		}
		if err := answer(ctx, client, reads, in.Observed); err != nil {
			return nil, nil, err
		}
	}
}

// attribute finds out who changed on the service what is not as it was applied.
// A plan is as good without: that it cannot be read is a notice.
func attribute(ctx context.Context, client *apiclient.Client, plan *planner.Plan, observed planner.Observed) {
	reads := slices.DeleteFunc(plan.Activities(), func(r planner.Read) bool {
		_, have := observed[r]
		return have
	})
	if err := answer(ctx, client, reads, observed); err != nil {
		plan.Notices.Add(diag.Diagnostic{Severity: diag.Warning, Code: "unattributed", Summary: "who changed things on the service is not known: " + err.Error()})
	}
	plan.Summary.Reads = len(observed)
	plan.Attribute(observed)
}

// answer makes the reads and puts what the service says into observed. Several
// memberships can be told from one answer; it is asked for once.
func answer(ctx context.Context, client *apiclient.Client, reads []planner.Read, observed planner.Observed) error {
	type request struct{ path, fields string }
	same := map[request][]planner.Read{}
	for _, r := range reads {
		at := request{r.Path, r.Fields}
		same[at] = append(same[at], r)
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for _, r := range reads {
		all := same[request{r.Path, r.Fields}]
		if r != all[0] {
			continue
		}
		group.Go(func() error {
			a, err := ask(ctx, client, r)
			if err != nil {
				return fmt.Errorf("reading what the service holds: %w", err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, r := range all {
				observed[r] = part(a, r.Operation)
			}
			return nil
		})
	}
	return group.Wait()
}

// part is what an answer says to one operation, where it holds the lists of several.
func part(a planner.Answer, o *resource.Operation) planner.Answer {
	m := resource.Must(o.Kind).Membership
	if m == nil || m.Under == "" || len(a.Rows) == 0 {
		return a
	}
	list, _ := a.Rows[0][m.Under].([]any)
	a.Rows = make([]resource.Row, 0, len(list))
	for _, e := range list {
		if row, ok := e.(map[string]any); ok {
			a.Rows = append(a.Rows, row)
		}
	}
	return a
}

// ask makes one read. That a thing or a route is not there is an answer.
func ask(ctx context.Context, client *apiclient.Client, r planner.Read) (planner.Answer, error) {
	var query url.Values
	if r.Fields != "" {
		query = url.Values{"fields": {r.Fields}}
	}
	rows, err := read(ctx, client, r, query)
	switch {
	case errors.Is(err, apiclient.ErrRouteAbsent):
		return planner.Answer{Lacking: true}, nil
	case errors.Is(err, apiclient.ErrNotFound):
		return planner.Answer{Missing: true}, nil
	}
	return planner.Answer{Rows: rows}, err
}

func read(ctx context.Context, client *apiclient.Client, r planner.Read, query url.Values) ([]resource.Row, error) {
	if !r.Probe {
		return client.Read(ctx, r.Operation, r.Path, query)
	}
	_, err := client.Do(ctx, apiclient.Request{Operation: r.Operation, Path: r.Path, Query: url.Values{"per_page": {"1"}}})
	return nil, err
}

// Detect finds out whether the wider API is there, with one read that a plan
// can use again: the answer is put into observed.
func Detect(ctx context.Context, client *apiclient.Client, workspace string, observed planner.Observed) (resource.API, error) {
	op, ok := resource.Must("project").Op(resource.List, resource.Full)
	if !ok {
		return resource.Documented, nil
	}
	path, _ := op.Expand(map[string]string{"workspace_slug": workspace})
	read := planner.Read{Operation: op, Path: path}
	a, err := ask(ctx, client, read)
	switch {
	case errors.Is(err, apiclient.ErrForbidden):
		return resource.Documented, nil
	case err != nil:
		return resource.Documented, err
	case a.Lacking || a.Missing:
		return resource.Documented, nil
	}
	observed[read] = a
	return resource.Full, nil
}
