package cli

import (
	"io"
	"log/slog"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/manifest"
)

// output holds the view and the log of a command.
type output struct {
	view      *view.View
	json      bool
	perMinute int // requests, if the flag limits them; 0 = it does not
	log       *slog.Logger
}

// newOutput returns the output that the flags describe. The flags were checked before.
func newOutput(c *cli.Context, p Process) output {
	color := c.String("color")
	if c.Bool("no-color") {
		color = "never"
	}
	o := output{json: c.String("output") == "json"}
	opts := view.NewOptions(p.Streams, color, c.String("output"), p.Getenv)
	if perMinute, _ := parseRate(c.String("rate")); perMinute > 0 {
		o.perMinute = max(1, int(perMinute))
	}
	opts.PerMinute = o.perMinute
	switch {
	case c.Bool("full"):
		opts.Extent = view.Full
	case c.Bool("summary"):
		opts.Extent = view.Counts
	}
	opts.Pager = pager(c, p)
	o.view = view.New(opts)
	o.log = slog.New(logHandler(c, o.view.Stderr()))
	return o
}

func logHandler(c *cli.Context, w io.Writer) slog.Handler {
	opts := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Value.Kind() == slog.KindString {
			a.Value = slog.StringValue(view.Safe(a.Value.String()))
		}
		return a
	}}
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.String("log-level")))
	opts.Level = level
	if c.String("log-format") == "json" {
		return slog.NewJSONHandler(w, opts)
	}
	return slog.NewTextHandler(w, opts)
}

// withOutput returns the action of a command without arguments, or with manifests as arguments. The action calls run with the output.
func withOutput(p Process, run func(c *cli.Context, out output) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if err := noArguments(c); err != nil {
			return err
		}
		return run(c, newOutput(c, p))
	}
}

// lockedBy returns a function that prints a note about the holder of the state's lock. A command calls it before it waits.
func (ot output) lockedBy(timeout time.Duration) func(state.Holder) {
	return func(h state.Holder) {
		if timeout == 0 { // of a shared state
			ot.view.Notef("the state is locked by %s; checking for up to a minute whether that run is still alive", h)
			return
		}
		ot.view.Notef("the state is locked by %s; waiting up to %s", h, timeout)
	}
}

// noteSkipped prints a note about files in folders that are not manifests.
func (ot output) noteSkipped(m *manifest.Manifest) {
	if len(m.Skipped) > 0 {
		ot.view.Notef("skipped, not manifests: %s", diag.First(m.Skipped, 10))
	}
}

// warnOfOthers prints a note if other users can write to the folder of the state.
func (ot output) warnOfOthers(statePath string) {
	if dir, yes := state.WritableByOthers(statePath); yes && !state.IsShared(statePath) {
		ot.view.Notef("other users can change the state in %s: run chmod go-w to protect it", dir)
	}
}
