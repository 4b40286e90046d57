package view

import (
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/term"
)

// defaultWidth is taken where the terminal does not tell its width.
const defaultWidth = 80

// Streams are the three streams of a process, and what is known of them.
type Streams struct {
	In                    io.Reader
	Out, Err              io.Writer
	InTTY, OutTTY, ErrTTY bool // it is a terminal
	Width, Height         int  // columns and rows of the terminal; 0 = not known

	// Terminal opens the terminal that the process was started on, wherever its streams lead. nil = there is none.
	Terminal func() (io.WriteCloser, error)
}

// System returns the streams of this process.
func System() Streams {
	s := Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: isTerminal(os.Stdin), OutTTY: isTerminal(os.Stdout), ErrTTY: isTerminal(os.Stderr),
		Terminal: openTerminal,
	}
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			s.Width, s.Height = width, height
			break
		}
	}
	return s
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func openTerminal() (io.WriteCloser, error) {
	name := "/dev/tty"
	if runtime.GOOS == "windows" {
		name = "CONOUT$"
	}
	return os.OpenFile(name, os.O_RDWR, 0)
}

// Extent is how much of a plan or a result is shown as text.
type Extent int

// By default equal changes are one entry, of each action the first entries are shown, and of long texts the first lines.
const (
	Usual  Extent = iota
	Full          // every step, and texts whole
	Counts        // how many steps of each kind
)

// Options are the streams and the format of the output.
type Options struct {
	Streams
	ColorOut, ColorErr bool                    // colours on standard output, on standard error
	Live               bool                    // standard error can hold a progress line that is redrawn
	Format             string                  // one of [Formats]; "" = text
	Extent             Extent                  // of a plan or a result as text
	PerMinute          int                     // requests a minute that a plan's duration is reckoned with; 0 = 60
	Pager              func(text []byte) error // shows a plan or a table that is longer than the terminal; nil = none
	Now                func() time.Time        // nil = time.Now
}

// NewOptions decides once how the streams are used: colour and a
// progress line on a terminal only, and neither if TERM is dumb. color is auto,
// always or never; with auto, NO_COLOR asks for none, and FORCE_COLOR and
// CLICOLOR_FORCE for colours without a terminal too. getenv reads the environment.
func NewOptions(s Streams, color, format string, getenv func(string) string) Options {
	dumb := getenv("TERM") == "dumb"
	asked := func(name string) bool { v := getenv(name); return v != "" && v != "0" }
	always := color == "always" || color == "auto" && getenv("NO_COLOR") == "" && (asked("FORCE_COLOR") || asked("CLICOLOR_FORCE"))
	wanted := always || color == "auto" && getenv("NO_COLOR") == "" && !dumb
	_, json := formatOf(format).(jsonFormat)
	return Options{
		Streams:  s,
		ColorOut: wanted && (s.OutTTY || always) && !json,
		ColorErr: wanted && (s.ErrTTY || always) && !json,
		Live:     s.ErrTTY && !dumb,
		Format:   format,
	}
}
