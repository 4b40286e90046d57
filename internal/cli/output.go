package cli

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/state"
	"github.com/planform/planform/internal/view"
)

// output is how a command shows things.
type output struct {
	view *view.View
	json bool
	log  *slog.Logger
}

// newOutput reads the output flags.
func newOutput(c *cli.Context, p Process) (output, error) {
	o := output{}
	switch format := c.String("output"); format {
	case "text":
	case "json":
		o.json = true
	default:
		return o, usageError{text: fmt.Sprintf("--output %q is neither text nor json", format)}
	}
	color := c.String("color")
	switch {
	case color != "auto" && color != "always" && color != "never":
		return o, usageError{text: fmt.Sprintf("--color %q is none of auto, always, never", color)}
	case c.Bool("no-color"):
		color = "never"
	}
	opts := view.NewOptions(p.Streams, color, o.json, p.Getenv)
	if perMinute, err := parseRate(c.String("rate")); err == nil { // else it is complained about with the rest of the connection
		opts.PerMinute = max(1, int(perMinute))
	}
	o.view = view.New(opts)
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.String("log-level"))); err != nil {
		return o, usageError{text: fmt.Sprintf("--log-level %q is none of debug, info, warn, error", c.String("log-level"))}
	}
	handler, err := logHandler(c.String("log-format"), o.view.Stderr(), level)
	if err != nil {
		return o, err
	}
	o.log = slog.New(handler)
	return o, nil
}

// lockedBy is told whom a command waits for that wants the state's lock.
func (o output) lockedBy(timeout time.Duration) func(state.Holder) {
	return func(h state.Holder) { o.view.Notef("the state is locked by %s; waiting up to %s", h, timeout) }
}

// warnOfOthers tells that others can write where the state is kept.
func (o output) warnOfOthers(statePath string) {
	if dir, yes := state.WritableByOthers(statePath); yes {
		o.view.Notef("other users can change the state in %s: chmod go-w keeps it from them", dir)
	}
}

func logHandler(format string, w io.Writer, level slog.Level) (slog.Handler, error) {
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Value.Kind() == slog.KindString {
			a.Value = slog.StringValue(view.Safe(a.Value.String()))
		}
		return a
	}}
	switch format {
	case "text":
		return slog.NewTextHandler(w, opts), nil
	case "json":
		return slog.NewJSONHandler(w, opts), nil
	default:
		return nil, usageError{text: fmt.Sprintf("--log-format %q is neither text nor json", format)}
	}
}
