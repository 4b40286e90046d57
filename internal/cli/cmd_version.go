package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/planform/planform/internal/view"
)

func versionCommand(p Process) *cli.Command {
	return &cli.Command{
		Usage:     "prints the version",
		UsageText: "planform version [--output json]",
		Flags:     outputFlags(),
		Action: withOutput(p, func(c *cli.Context, out output) error {
			if out.json {
				return out.view.JSON(struct {
					FormatVersion int `json:"format_version"`
					build
				}{view.FormatVersion, version()})
			}
			_, err := fmt.Fprintln(p.Streams.Out, version())
			return err
		}),
	}
}

// build holds the version of the program and its system.
type build struct {
	Number   string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	System   string `json:"system"`
}

// version returns the build information that the Go toolchain wrote into the program.
func version() build {
	b := build{Number: "devel", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Number = v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
}

func (bl build) String() string {
	s := "planform " + bl.Number
	if bl.Revision != "" {
		s += " (" + bl.Revision + ")"
	}
	return s + ", " + bl.Go + ", " + bl.System
}
