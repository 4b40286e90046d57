package view

import (
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/term"
)

// defaultWidth is the width of a terminal if the system does not report it.
const defaultWidth = 80

// Streams holds the three streams of a process, and facts about them.
type Streams struct {
	In                    io.Reader
	Out, Err              io.Writer
	InTTY, OutTTY, ErrTTY bool // the stream is a terminal
	Width, Height         int  // columns and rows of the terminal; 0 = not known

	// Terminal opens the terminal of the process, even if the streams lead elsewhere. nil = no terminal.
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

// Extent is the amount of detail in the text of a plan or a result.
type Extent int

// The usual extent shows equal changes as one entry, the first entries of each action, and the first lines of long texts.
const (
	Usual  Extent = iota
	Full          // every step, and whole texts
	Counts        // the number of steps of each kind
)

// Options holds the streams and the format of the output.
type Options struct {
	Streams
	ColorOut, ColorErr bool                    // colours on standard output, on standard error
	Live               bool                    // standard error can hold a progress line that is redrawn
	Format             string                  // one of [Formats]; "" = text
	Extent             Extent                  // of a plan or a result as text
	PerMinute          int                     // requests a minute for the estimate of a plan's duration if the plan has none; 0 = 60
	Pager              func(text []byte) error // shows a plan or a table that is longer than the terminal; nil = none
	Now                func() time.Time        // nil = time.Now
}

// NewOptions returns the options for streams. Colours and the progress line need a terminal
// that is not dumb (TERM); JSON has no colours. color is auto, always or never.
//
// always switches colours on without a terminal. With auto, NO_COLOR switches colours off; without
// NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE act like always. getenv reads the environment.
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
