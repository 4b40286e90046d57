package cli

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/plan/divergence"
	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plan/target"
	"github.com/planform/planform/internal/plane/provider"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/state/history"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/manifest"
	"github.com/planform/planform/planner"
)

// run holds the steps from manifests to a plan, which the commands that make plans share.
type run struct {
	planOptions

	out       output
	desired   *manifest.Manifest
	conn      *connection // nil = not yet connected
	statePath string
	prior     *state.Snapshot
	grace     provider.Grace // for requests of former runs
	world     *planner.World // of a pull: the World of the last plan
}

// newRun reads and checks the manifests. If they have errors, nothing is sent. It begins with the base URL and the credential, because
// large manifests take seconds.
func newRun(ctx context.Context, o planOptions, out output) (*run, error) {
	if err := o.service.checkGiven(); err != nil {
		return nil, err
	}
	desired, err := o.load(ctx, out)
	if err != nil {
		return nil, err
	}
	o.service.dir, o.service.people = desired.Dir, emailsOf(desired)
	if desired.Workspace, err = destination(desired, o.service.workspace, o.service.envWorkspace); err != nil {
		return nil, err
	}
	return &run{planOptions: o, out: out, desired: desired}, o.checkOut(desired)
}

// load reads the manifests. For an undo, it reads only the workspace that they are for and the folder that their state belongs to.
func (po planOptions) load(ctx context.Context, out output) (*manifest.Manifest, error) {
	if len(po.Undo) > 0 {
		return locate(ctx, po.Files, po.reading, out)
	}
	desired, findings := manifest.Load(ctx, po.Files, po.reading)
	out.noteSkipped(desired)
	out.view.Diagnostics(findings)
	if findings.HasErrors() {
		return nil, errReported
	}
	return desired, nil
}

// connect connects to the service, and finds the state of the service and the workspace.
func (r *run) connect(ctx context.Context) (err error) {
	if r.conn, err = connect(ctx, r.service, r.desired.Workspace, r.out); err != nil {
		return err
	}
	if r.service.alone && !r.service.sandbox {
		boundMemory(len(r.desired.Objects))
	}
	if r.State != "" {
		r.statePath = r.State
		return nil
	}
	r.statePath, err = state.DefaultPath(r.desired.Dir, r.conn.baseURL, r.conn.workspace)
	return err
}

// close ends the connection. All changes are already in the journal and the state.
func (r *run) close() {
	if r.conn != nil {
		_ = r.conn.close()
	}
}

// remember takes over the records of earlier runs and starts the grace period of their unanswered requests. Earlier runs send nothing any
// more, because only one run has the state at a time.
func (r *run) remember(prior *state.Snapshot) {
	r.prior = prior
	r.grace = provider.Grace{Period: r.gracePeriod, GivenUp: time.Now(), OnWait: func(d time.Duration) {
		r.out.view.Notef("an earlier run got no answer to some requests; checking again in %s whether they took effect", d.Round(time.Second))
	}}
	if heard := prior.LastActivity(); !heard.IsZero() {
		if by := provider.GivenUpBy(heard, r.service.timeout, r.gracePeriod); by.Before(r.grace.GivenUp) {
			r.grace.GivenUp = by
		}
	}
}

// preview connects and makes a plan to be shown, without a lock.
func (r *run) preview(ctx context.Context) (*planner.Plan, error) {
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	prior, err := state.Read(ctx, r.statePath, r.service.stateOf(r.conn.baseURL, r.conn.workspace))
	if err != nil {
		return nil, err
	}
	r.statePath = prior.Path
	r.remember(prior)
	if by, held := state.LockedBy(ctx, r.statePath, r.service.stateOf(r.conn.baseURL, r.conn.workspace)); held {
		r.grace.Period = 0 // the other run still sends requests, and its end is not known
		r.out.view.Notef("another run uses the state (%s): the plan may miss changes that it is still making", by)
	}
	return r.makePlan(ctx)
}

// makePlan reads the service and returns the plan. It shows the findings, and returns an error if a finding leaves no plan.
func (r *run) makePlan(ctx context.Context) (*planner.Plan, error) {
	plan, findings, err := r.planOf(ctx, r.desired)
	if err != nil {
		return nil, err
	}
	adviseOnMembers(findings)
	r.out.view.Diagnostics(findings.ClipTo(r.maxErrors))
	if findings.HasErrors() {
		return nil, errReported
	}
	return plan, nil
}

var noMember = regexp.MustCompile(`^the service has no member "([^"]+@[^"]+)"$`)

// adviseOnMembers adds a hint to errors about people who are not members, if convert wrote the manifest.
func adviseOnMembers(findings diag.List) {
	for n, d := range findings {
		if m := noMember.FindStringSubmatch(d.Summary); m != nil && d.Severity == diag.Error {
			if advice := convert.AdviseOnMember(d.Position.File, m[1]); advice != "" {
				findings[n].Hint = strings.TrimPrefix(d.Hint+"; or "+advice, "; or ")
			}
		}
	}
}

// planOf returns the plan for a manifest. If a finding is an error, there is no plan.
func (r *run) planOf(ctx context.Context, desired *manifest.Manifest) (_ *planner.Plan, _ diag.List, err error) {
	in, conn := r.input, r.conn
	in.Now = time.Now()
	if order := cmp.Or(r.Order, desired.Order); !in.Pull { // pull creates nothing
		in.AnyOrder, in.ExactOrder = order == "any", order == "exact"
	}
	in.Notices = conn.localize(desired)
	in.Workspace, in.BaseURL, in.WebURL, in.Prior = conn.workspace, conn.baseURL, conn.webURL(), r.prior.Prior()
	in.Owner, in.FormerOwners, in.StateIsComplete = desired.Owner, r.prior.Owners(), r.prior.Knows(desired.Owner)
	if in.Observed == nil {
		in.Observed = planner.Observed{}
	}
	beside := r.statePath
	if state.IsShared(beside) {
		beside = filepath.Join(r.desired.Dir, "state")
	}
	sources := newSourceSet(beside, r.Files, desired.Files)
	desired.RenameSources(sources.names)
	in.OtherSources = sources.others(in.Prior)
	known := r.known
	if in.Prune {
		known = slices.AppendSeq(known, maps.Keys(in.Prior))
	}
	if len(r.Undo) > 0 {
		if known, err = r.undoing(ctx, desired, &in); err != nil {
			return nil, nil, err
		}
	}
	for i := range in.Targets {
		in.Targets[i].Contents = in.TakeOver
	}
	var findings diag.List
	if in.Desired, findings = target.Select(desired.Objects, in.Targets, known); findings.HasErrors() {
		return nil, findings, nil
	}
	defer conn.relay.read(r.out)()
	if in.API, err = conn.access(ctx, r.service.api, in.Observed); err != nil {
		return nil, nil, err
	}
	in.APIFound, in.Self = r.service.api == "auto", conn.preflight.UserID()
	if err := conn.checkMembership(in.Observed, in.Desired); err != nil {
		return nil, nil, err
	}
	world, plan, findings, err := provider.Load(ctx, conn.client, in, r.grace)
	if in.Pull {
		r.world = world
	}
	return plan, findings, err
}

// differences returns the changes that people made, according to the World of the last plan, and frees that World.
func (r *run) differences() (s divergence.Set) {
	if r.world != nil {
		s, r.world = divergence.Find(r.world), nil
	}
	return s
}

// localize removes IDs and identifiers of other workspaces from the manifest, and returns one warning for each source of such IDs.
func (c *connection) localize(desired *manifest.Manifest) diag.List {
	return desired.Localize(func(s resource.Source) bool {
		return s.Workspace == c.workspace && state.SameServer(s.BaseURL, c.baseURL)
	})
}

// fastest is the number of requests a minute that a server without a limit was seen to answer.
const fastest = 600

// document returns a plan in the form that is shown and saved.
func (r *run) document(ctx context.Context, plan *planner.Plan) *planfile.Document {
	_, perMinute := r.conn.client.Quota()
	options := r.Options
	options.PerMinute = min(perMinute, fastest)
	return planfile.New(plan, planfile.Where{
		Service: r.conn.baseURL, Workspace: r.conn.workspace, User: r.conn.user, Sandbox: r.conn.sandbox,
		Manifests: r.desired.Files, State: r.statePath, Options: options, Basis: basis(r.desired, r.prior),
		Refused: r.refusedBefore(ctx, plan),
	})
}

// refusedBefore returns a function that reports whether the last applied run could not do a step for the same reason. It reads the history
// only if the plan has a step that is not possible.
func (r *run) refusedBefore(ctx context.Context, plan *planner.Plan) func(resource.Address, string) bool {
	if plan.Summary.Blocked == 0 || r.prior.Lineage == "" || len(r.Undo) > 0 {
		return nil
	}
	h, err := r.service.historyBeside(ctx, r.statePath, r.prior.Lineage)
	if err != nil {
		return nil
	}
	refused, err := h.Refused(ctx, plan.Owner)
	if err != nil {
		return nil
	}
	return func(a resource.Address, why string) bool { return refused[history.Refusal{Address: a, Why: why}] }
}
