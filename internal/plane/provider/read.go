package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/planner"
)

// readers is the number of concurrent reads; the service answers no faster with more.
const readers = 4

// Reader reads from the service for plans and exports.
type Reader struct {
	Client   *apiclient.Client
	API      resource.API
	Observed planner.Observed // the answers; a read with an answer is not repeated
	// Expect is called with the number of requests that follow, and Answered after each of them. Both may be nil.
	Expect   func(requests int)
	Answered func()

	requests int // number of requests
	// shared holds answers that contain the answers of several reads: overviews, which show the members of many containers, and by requests
	// without an operation the answers that contain several lists.
	shared map[planner.Read]planner.Answer
	// showsRoles and lacksRoles tell whether the service has the lists of members with their roles, once one was asked for.
	showsRoles, lacksRoles bool
}

// Read makes the reads, and stores the answers in Observed. Memberships that one answer shows together share a request. A missing object or
// route is an answer, not an error. A lack of permission is an answer too if the read is optional.
func (rd *Reader) Read(ctx context.Context, reads []planner.Read) error {
	if rd.shared == nil {
		rd.shared = map[planner.Read]planner.Answer{}
	}
	reads, err := rd.answerWithoutRoles(ctx, reads)
	if err != nil {
		return err
	}
	for len(reads) > 0 {
		direct, overviews := rd.answerFromOverviews(reads)
		wanted := map[planner.Read][]planner.Read{} // by request, which is a read without its operation
		var requests []planner.Read
		for _, read := range direct {
			request := read
			request.Operation = nil
			a, have := rd.shared[request]
			switch _, observed := rd.Observed[read]; {
			case observed || slices.Contains(wanted[request], read):
				continue
			case have:
				rd.Observed[read] = selectList(a, read.Operation, false)
				continue
			case wanted[request] == nil:
				requests = append(requests, read)
			}
			wanted[request] = append(wanted[request], read)
		}
		reads = nil
		for _, overview := range slices.SortedFunc(maps.Keys(overviews), func(a, b planner.Read) int { return strings.Compare(a.Path, b.Path) }) {
			requests, reads = append(requests, overview), append(reads, overviews[overview]...) // its answer contains theirs
		}
		answers, err := rd.ask(ctx, requests)
		if err != nil {
			return err
		}
		for i, request := range requests {
			if request.Operation.Overview != nil {
				rd.shared[request] = answers[i]
				continue
			}
			m := resource.MustLookup(request.Operation.Kind).Membership
			request.Operation = nil
			for k, read := range wanted[request] {
				rd.Observed[read] = selectList(answers[i], read.Operation, k == 0)
			}
			if m != nil && m.ResultKey != "" {
				rd.shared[request] = answers[i]
			}
		}
	}
	return nil
}

// answerWithoutRoles answers reads of roles without a request if the service refused one before, because it lacks all such lists then. It asks
// for the first one alone. It returns the other reads.
func (rd *Reader) answerWithoutRoles(ctx context.Context, reads []planner.Read) (others []planner.Read, err error) {
	for _, read := range reads {
		switch {
		case read.Operation.Verb != resource.ListLite || rd.showsRoles:
			others = append(others, read)
		case rd.lacksRoles:
			rd.Observed[read] = planner.Answer{Unsupported: true}
		default:
			answers, err := rd.ask(ctx, []planner.Read{read})
			if err != nil {
				return nil, err
			}
			rd.Observed[read], rd.lacksRoles = answers[0], answers[0].Unsupported || answers[0].NotFound
			rd.showsRoles = !rd.lacksRoles
		}
	}
	return others, nil
}

// ask sends requests concurrently.
func (rd *Reader) ask(ctx context.Context, requests []planner.Read) ([]planner.Answer, error) {
	if rd.Expect != nil && len(requests) > 0 {
		rd.Expect(len(requests))
	}
	rd.requests += len(requests)
	answers := make([]planner.Answer, len(requests))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, request := range requests {
		group.Go(func() (err error) {
			answers[i], err = ask(ctx, rd.Client, request)
			switch kind := resource.MustLookup(request.Operation.Kind); {
			case kind.Membership == nil:
				shrink(kind, answers[i].Rows)
			case kind.Membership.ResultKey != "": // most objects have no relations
				answers[i].Rows = slices.DeleteFunc(answers[i].Rows, func(whole resource.Row) bool {
					maps.DeleteFunc(whole, func(_ string, list any) bool { l, _ := list.([]any); return len(l) == 0 })
					return len(whole) == 0
				})
			}
			if rd.Answered != nil {
				rd.Answered()
			}
			if err != nil {
				return fmt.Errorf("reading the workspace: %w", err)
			}
			return nil
		})
	}
	return answers, group.Wait()
}

// selectList returns the answer for one operation from a response that contains the lists of several. counting adds the sizes of lists that
// no operation reads.
func selectList(a planner.Answer, o *resource.Operation, counting bool) planner.Answer {
	m := resource.MustLookup(o.Kind).Membership
	if m == nil || m.ResultKey == "" || len(a.Rows) == 0 {
		return a
	}
	whole := a.Rows[0]
	a.Rows = m.RowsIn(whole)
	if !counting || m.ResultKey == resource.EachKey {
		return a
	}
	a.Unread = map[string]int{}
	for name, list := range whole {
		if list, ok := list.([]any); ok && len(list) > 0 {
			a.Unread[name] = len(list)
		}
	}
	for _, k := range resource.Memberships() {
		if k.Membership.Container == m.Container {
			delete(a.Unread, k.Membership.ResultKey)
		}
	}
	return a
}

// ask makes one read. A missing object or route is an answer, not an error. A refusal of the list that only adds roles is one, too.
func ask(ctx context.Context, client *apiclient.Client, r planner.Read) (planner.Answer, error) {
	if r.ExternalID != "" {
		return askByExternalID(ctx, client, r)
	}
	rows, err := read(ctx, client, r, fieldsQuery(r.Operation, r.Fields))
	switch {
	case err != nil && isSwitchedOff(ctx, client, r, err):
		return planner.Answer{}, nil
	case errors.Is(err, apiclient.ErrUnsupported):
		return planner.Answer{Unsupported: true}, nil
	case errors.Is(err, apiclient.ErrNotFound):
		return planner.Answer{NotFound: true}, nil
	case r.Optional && (isForbidden(err) || r.Operation.Verb == resource.ListLite && isRefused(err)):
		return planner.Answer{Forbidden: true}, nil
	}
	return planner.Answer{Rows: rows}, err
}

// isSwitchedOff reports whether a list is refused because the feature of its kind is off: API v2 then answers 400, 403 or 404. A plan can
// switch the feature on.
func isSwitchedOff(ctx context.Context, client *apiclient.Client, r planner.Read, err error) bool {
	e, refused := errors.AsType[*apiclient.Error](err)
	holder, feature := resource.MustLookup(r.Operation.Kind).Switch()
	if !refused || feature == nil || r.Operation.Verb != resource.List || !r.Operation.V2() || e.Status != 400 && !e.Permission() && !e.NotFound() {
		return false
	}
	op, found := holder.Op(resource.Get, resource.V2)
	if !found { // the path of the list reads it
		op, _ = holder.Op(resource.List, resource.V2)
	}
	params, _ := r.Operation.Match(r.Path)
	path, _ := op.Expand(params)
	a, _ := ask(ctx, client, planner.Read{Operation: op, Path: path})
	on := "" // unknown
	for _, row := range a.Rows {
		on, _ = feature.ObservedIn(row)
	}
	return on == "false"
}

// fieldsQuery returns the query for some fields only, if the operation supports it. For members these are the identifying fields, which are
// cheapest for the service.
func fieldsQuery(o *resource.Operation, fields string) url.Values {
	if m := resource.MustLookup(o.Kind).Membership; m != nil && fields == "" {
		fields = m.Fields
	}
	if fields == "" || !slices.Contains(o.Query, "fields") {
		return nil
	}
	return url.Values{"fields": {fields}}
}

// askByExternalID asks for the object with an external ID. The service answers with the object itself, even if it is archived or a draft,
// with 404 if there is none, and with 500 if there are several.
func askByExternalID(ctx context.Context, client *apiclient.Client, r planner.Read) (planner.Answer, error) {
	mark := resource.Marks{Owner: r.Owner}
	res, err := client.Do(ctx, apiclient.Request{Operation: r.Operation, Path: r.Path, Query: externalIDQuery(mark.Owner, r.ExternalID)})
	var e *apiclient.Error
	switch {
	case errors.Is(err, apiclient.ErrUnsupported):
		return planner.Answer{Unsupported: true}, nil
	case errors.Is(err, apiclient.ErrNotFound):
		return planner.Answer{}, nil
	case errors.As(err, &e) && e.Status == 500:
		return planner.Answer{Several: true}, nil
	case err != nil:
		return planner.Answer{}, err
	case !mark.Has(res.Row, r.ExternalID): // the service does not support the query
		return planner.Answer{}, nil
	}
	return planner.Answer{Rows: []resource.Row{res.Row}}, nil
}

// read sends the request. A probe shows only that the route is unsupported. A lack of permission shows nothing, because the probed project
// may belong to others.
func read(ctx context.Context, client *apiclient.Client, r planner.Read, query url.Values) ([]resource.Row, error) {
	if !r.Probe {
		return client.Read(ctx, r.Operation, r.Path, query)
	}
	op, query := *r.Operation, url.Values{"per_page": {"1"}}
	if op.Writes() { // a write-only route refuses a read if it exists
		op.Method, op.Verb, query = "GET", resource.Get, nil
	}
	_, err := client.Do(ctx, apiclient.Request{Operation: &op, Path: r.Path, Query: query})
	var e *apiclient.Error
	if isForbidden(err) || errors.As(err, &e) && r.Operation.Writes() && !errors.Is(err, apiclient.ErrUnsupported) {
		return nil, nil
	}
	return nil, err
}

func isForbidden(err error) bool {
	e, ok := errors.AsType[*apiclient.Error](err)
	return ok && e.Permission()
}

func isRefused(err error) bool {
	e, ok := errors.AsType[*apiclient.Error](err)
	return ok && e.Status/100 == 4
}
