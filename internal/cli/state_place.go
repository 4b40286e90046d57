package cli

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/state/bucket"
	"github.com/planform/planform/internal/state/history"
	"github.com/planform/planform/internal/state/httpstate"
	"github.com/planform/planform/internal/text/diag"
)

// statePlace returns the place of the state from the flag or the environment, or "".
func statePlace(c *cli.Context, p Process) string {
	place := cmp.Or(c.String("state"), p.Getenv("PLANFORM_STATE"))
	if place == "" || state.IsShared(place) {
		return place
	}
	return filepath.Clean(place)
}

// stateOf returns the options for the state of a service and workspace.
func (o connectionOptions) stateOf(baseURL, workspace string) state.Options {
	return state.Options{BaseURL: baseURL, Workspace: workspace, Disk: o.disk, Connect: o.connectState}
}

// connectState opens the store of a shared state.
func (o connectionOptions) connectState(_ context.Context, address string) (state.Objects, error) {
	if o.store != nil {
		return o.store(address)
	}
	if strings.HasPrefix(address, bucket.Scheme) {
		return bucket.Open(address, o.getenv)
	}
	if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		return httpstate.Open(address, o.getenv)
	}
	return nil, diag.WithHint(errors.New("unknown kind of state address"), "--state takes a file, s3://BUCKET/KEY, or the https:// address of a Terraform HTTP state")
}

// historyBeside returns the history of runs that is stored beside a state.
func (o connectionOptions) historyBeside(ctx context.Context, place, lineage string) (*history.History, error) {
	if state.IsShared(place) {
		objects, err := o.connectState(ctx, place)
		if err != nil {
			return nil, err
		}
		return &history.History{Store: records{objects}, Lineage: lineage}, nil
	}
	folder := place + ".history"
	if err := state.Inside(filepath.Split(folder)); err != nil {
		return nil, err
	}
	return &history.History{Store: history.Folder{Disk: o.disk, Path: folder}, Lineage: lineage}, nil
}

// records stores the history of a shared state as objects beside the state.
type records struct{ state.Objects }

const recordPrefix = ".history/"

// Put implements [history.Store].
func (rc records) Put(ctx context.Context, name string, text []byte) error {
	return state.PutAny(ctx, rc.Objects, recordPrefix+name, text)
}

// Get implements [history.Store].
func (rc records) Get(ctx context.Context, name string) ([]byte, error) {
	text, _, err := state.WithRetries(rc.Objects).Get(ctx, recordPrefix+name)
	return text, err
}

// List implements [history.Store].
func (rc records) List(ctx context.Context) ([]string, error) {
	names, err := state.WithRetries(rc.Objects).List(ctx, recordPrefix)
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], recordPrefix)
	}
	return names, err
}

// Remove implements [history.Store].
func (rc records) Remove(ctx context.Context, name string) error {
	return state.WithRetries(rc.Objects).Remove(ctx, recordPrefix+name)
}
