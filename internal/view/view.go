package view

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/text/diag"
)

// View writes the output of commands to the streams of its options. Its methods may be called at the same time.
type View struct {
	o        Options
	format   format
	json     bool // the format is JSON
	out, err palette

	mu       sync.Mutex // held while anything is written
	live     *Progress  // its line is the last line of the terminal; nil = none
	findings diag.List  // all findings that were shown
}

// New returns a View with the given options.
func New(o Options) *View {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.PerMinute <= 0 {
		o.PerMinute = 60
	}
	if o.Width <= 0 {
		o.Width = defaultWidth
	}
	v := &View{o: o, format: formatOf(o.Format), out: newPalette(o.ColorOut), err: newPalette(o.ColorErr)}
	_, v.json = v.format.(jsonFormat)
	return v
}

// target is an output stream: standard output or standard error.
type target int

const (
	stdout target = iota
	stderr
)

// printer writes to one stream. After its first error it writes nothing more, and [View.print] returns the error.
type printer struct {
	w *bufio.Writer
	palette

	whole   bool // texts are shown whole
	columns int  // width at which lines are broken; 0 = lines are not broken
}

func (p *printer) print(parts ...string) {
	for _, s := range parts {
		_, _ = p.w.WriteString(s) // Flush returns the error
	}
}

func (p *printer) line(parts ...string) {
	if p.columns > 0 {
		parts = []string{wrapped(strings.Join(parts, ""), p.columns)}
	}
	p.print(append(parts, "\n")...)
}

// print calls fn with a printer for a stream. It holds the mutex and hides the progress line meanwhile.
func (v *View) print(to target, fn func(p *printer)) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.live.hide()
	defer v.live.show()
	p := v.printer(to)
	fn(p)
	return p.w.Flush()
}

// show prints the output of fn on standard output. long reports whether the output is longer than the terminal. Long output
// goes through the pager, if there is one.
func (v *View) show(fn func(p *printer)) (long bool, err error) {
	var failed error
	err = v.print(stdout, func(p *printer) {
		if !v.o.OutTTY {
			fn(p)
			return
		}
		var text bytes.Buffer
		page := *p
		page.w = bufio.NewWriter(&text)
		fn(&page)
		_ = page.w.Flush() // a buffer takes everything
		if long = bytes.Count(text.Bytes(), []byte("\n")) >= v.o.Height && v.o.Height > 0; long && v.o.Pager != nil {
			failed = v.o.Pager(text.Bytes())
		} else {
			p.print(text.String())
		}
	})
	return long, cmp.Or(failed, err)
}

// printer returns a printer for a stream.
func (v *View) printer(to target) *printer {
	p, terminal := &printer{w: bufio.NewWriter(v.o.Out), palette: v.out, whole: v.o.Extent == Full}, v.o.OutTTY
	if to == stderr {
		p, terminal = &printer{w: bufio.NewWriter(v.o.Err), palette: v.err, whole: v.o.Extent == Full}, v.o.ErrTTY
	}
	if terminal && !v.json {
		p.columns = v.o.Width
	}
	return p
}

// printError prints to standard error. It ignores errors, because no other stream could show them.
func (v *View) printError(fn func(p *printer)) { _ = v.print(stderr, fn) }

// Stderr returns standard error for other writers, such as logs, which must write whole lines.
// The progress line is hidden during each write.
func (v *View) Stderr() io.Writer { return lineWriter{v} }

// lineWriter writes to standard error, with the progress line hidden.
type lineWriter struct{ v *View }

func (l lineWriter) Write(b []byte) (int, error) {
	l.v.mu.Lock()
	defer l.v.mu.Unlock()
	l.v.live.hide()
	defer l.v.live.show()
	return l.v.o.Err.Write(b)
}

// Notef shows a note in one line on standard error.
func (v *View) Notef(format string, args ...any) {
	text := strings.TrimSuffix(fmt.Sprintf(format, args...), "\n")
	v.printError(func(p *printer) {
		if v.json {
			p.line(eventLine("note", text))
		} else {
			p.line(Safe(text))
		}
	})
}

// Lines shows lines of text on standard output. It makes them safe ([Safe]) and does not break them.
func (v *View) Lines(lines ...string) error {
	return v.print(stdout, func(p *printer) {
		for _, l := range lines {
			p.print(Safe(l), "\n")
		}
	})
}

// ErrNoTerminal means that a question cannot be asked, because there is no terminal to answer on.
var ErrNoTerminal = errors.New("there is no terminal to ask on")

// Confirm asks on the terminal whether to go ahead with a plan. If the terminal does not show the plan's counts, it shows them first.
// "y" means yes, but if the plan deletes something, only "yes" does. The end of the input means no.
// Without a terminal it returns an error wrapping [ErrNoTerminal].
func (v *View) Confirm(d *planfile.Document, question string) (bool, error) {
	ask, asked := v.printError, `"y"`
	if d.Summary.Delete > 0 {
		asked = `"yes"`
	}
	switch {
	case !v.o.InTTY:
		return false, ErrNoTerminal
	case !v.o.ErrTTY:
		if v.o.Terminal == nil {
			return false, ErrNoTerminal
		}
		terminal, err := v.o.Terminal()
		if err != nil {
			return false, fmt.Errorf("%w: %w", ErrNoTerminal, err)
		}
		defer terminal.Close() //nolint:errcheck // all texts are already flushed
		ask = func(fn func(p *printer)) {
			p := &printer{w: bufio.NewWriter(terminal), palette: newPalette(false), columns: v.o.Width}
			fn(p)
			_ = p.w.Flush() // without the question there is no answer
		}
	}
	ask(func(p *printer) {
		if !v.o.OutTTY || v.json {
			p.verdict(&shownPlan{Document: d, perMinute: v.o.PerMinute})
		}
		p.line(p.bold.paint(Safe(question)))
		p.print("type ", asked, " to go ahead: ")
	})
	answer, err := readLine(v.o.In)
	if err != nil {
		ask(func(p *printer) { p.line() }) // the cursor still stands after the question
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		return false, fmt.Errorf("read the answer: %w", err)
	}
	answer = strings.TrimSpace(answer)
	return answer == "yes" || d.Summary.Delete == 0 && slices.Contains([]string{"y", "yes"}, strings.ToLower(answer)), nil
}

// readLine reads one line. It reads byte by byte, because the input after the line end is not for this question.
func readLine(r io.Reader) (string, error) {
	const longest = 1024
	var line []byte
	var one [1]byte
	for {
		n, err := r.Read(one[:])
		if n == 1 {
			if one[0] == '\n' {
				return string(line), nil
			}
			if len(line) < longest {
				line = append(line, one[0])
			}
		}
		if err != nil {
			return "", err
		}
	}
}
