package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/text/diag"
)

func stateUnlock(ctx context.Context, _ Process, o stateOptions, out output) error {
	if !state.IsShared(o.path) {
		return usageError{text: "the state " + o.path + " is a file, which needs no unlock", hint: "its lock ends with the process that holds it"}
	}
	holder, held, err := state.Unlock(ctx, o.path, o.open)
	switch {
	case err != nil:
		return err
	case !held:
		out.view.Notef("the state %s is not locked; the next run accepts what is stored there", o.path)
	default:
		out.view.Notef("unlocked the state %s: it was locked by %s; if that run still lives, it sends no more requests", o.path, holder)
	}
	return nil
}

func statePull(ctx context.Context, p Process, o stateOptions, _ output) error {
	s, err := state.Read(ctx, o.path, o.open)
	if err != nil {
		return err
	}
	if !s.Exists {
		return absentState(o.path)
	}
	return s.Write(p.Streams.Out)
}

func statePush(ctx context.Context, _ Process, o stateOptions, out output) error {
	from, err := readExisting(ctx, o.args[0], o.open)
	if err != nil {
		return err
	}
	return edit(ctx, o, out, func(f *state.File) (string, error) {
		return fmt.Sprintf("copied %s from %s to %s", diag.Count(len(from.Prior()), "record"), o.args[0], o.path), putState(f, from, o.force)
	})
}

func absentState(place string) error {
	return failure{errors.New("there is no state " + place), errNotFound}
}

func readExisting(ctx context.Context, place string, open state.Options) (*state.Snapshot, error) {
	s, err := state.Read(ctx, place, open)
	if err == nil && !s.Exists {
		err = absentState(place)
	}
	return s, err
}

// putState replaces a state by another one. Without force, it returns an error if the present state is newer or has another lineage.
func putState(f *state.File, from *state.Snapshot, force bool) error {
	lineage, serial := f.Version()
	switch {
	case serial == 0 || force:
	case lineage != from.Lineage:
		return diag.WithHint(fmt.Errorf("%s has the lineage %s, and %s is another state, of lineage %s; it was left as it is", from.Path, from.Lineage,
			f.Path(), lineage), "planform state push --force replaces it")
	case serial > from.Serial:
		return diag.WithHint(fmt.Errorf("%s has serial %d, and %s is newer, with serial %d; it was left as it is", from.Path, from.Serial, f.Path(),
			serial), "planform state push --force replaces it")
	}
	f.Replace(from)
	return nil
}

func stateMigrate(ctx context.Context, _ Process, o stateOptions, out output) error {
	moved := o.open
	moved.AnyServer = true
	from, err := readExisting(ctx, o.args[0], moved)
	if err != nil {
		return err
	}
	to := o
	if to.path = o.args[1]; state.SamePlace(from.Path, to.path) {
		return usageError{text: from.Path + " is the same place"}
	}
	old, err := o.service.historyBeside(ctx, from.Path, from.Lineage)
	if err != nil {
		return err
	}
	copied := 0
	if err := edit(ctx, to, out, func(f *state.File) (string, error) {
		if err := putState(f, from, false); err != nil {
			return "", err
		}
		h, err := o.service.historyBeside(ctx, to.path, from.Lineage)
		if err == nil {
			copied, err = old.CopyTo(ctx, h.Store)
		}
		return "", err
	}); err != nil {
		return err
	}
	out.view.Notef("%s has now the %s of %s, and %s; %s stays as it is", to.path, diag.Count(len(from.Prior()), "record"), from.Path,
		diag.Count(copied, "run"), from.Path)
	return nil
}
