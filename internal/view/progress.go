package view

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/resource"
	"github.com/planform/planform/planner"
)

const (
	redraw     = 100 * time.Millisecond // the line is drawn anew at most this often for events
	rateWindow = 2 * time.Minute        // the rate is that of the last while: longer than the service's window of one minute
	rateAfter  = 3 * time.Second        // before this nothing can be said of the rate
	logEvery   = 30 * time.Second       // a log gets a line this often
	barColumns = 20
	barWidth   = 70 // of a terminal from which there is place for the bar
)

// Progress shows how far a run is, on standard error: on a terminal in one line that is drawn anew and goes away at the end,
// in a log with the same line every half a minute, since the plan tells of each step. Programs get an event for
// each step that ends. Its methods may be called at the same time. Done must be called.
type Progress struct {
	v     *View
	label string
	unit  string // of what is counted, with a space before it; "" = requests
	run   Run

	// What follows is guarded by the view's mutex.
	done, total, failed int
	samples             []sample                    // of the last while, oldest first
	pending             map[*planner.Step]time.Time // set aside until then
	waitUntil           time.Time
	waitFor             string
	drawn               time.Time
	shown               bool // the line stands on the terminal
	ended               bool

	stop, stopped chan struct{} // of the clock
}

type sample struct {
	at   time.Time
	done int
}

// Run is what a progress is shown of.
type Run struct {
	Steps    int
	Requests int                          // that the steps take
	Quota    func() (free, perMinute int) // requests that may be sent at once, and in any minute; 0 a minute, or nil = no limit is known
}

// Progress starts to show a run of a plan.
func (v *View) Progress(run Run) *Progress { return v.start("applying", " steps", run) }

// Reading starts to show reads of which nobody knows how many they will be; see [Progress.Read].
func (v *View) Reading() *Progress { return v.start("reading", "", Run{}) }

func (v *View) start(label, unit string, run Run) *Progress {
	p := &Progress{
		v: v, label: label, unit: unit, run: run, total: run.Steps, pending: map[*planner.Step]time.Time{}, samples: []sample{{v.o.Now(), 0}},
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	every := logEvery
	if v.o.Live {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.live.hide()
		v.live = p
		p.draw()
		every = time.Second
	}
	go p.tick(every)
	return p
}

// tick shows the line anew, for the time left and the wait to count down.
func (p *Progress) tick(every time.Duration) {
	defer close(p.stopped)
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-t.C:
			p.v.mu.Lock()
			switch {
			case p.v.live == p:
				p.draw()
			case !p.v.o.Live && !p.v.json:
				p.write(p.line(p.v.o.Now()))
			}
			p.v.mu.Unlock()
		}
	}
}

// Event takes note of what the executor tells.
func (p *Progress) Event(e executor.Event) {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	if p.ended {
		return
	}
	switch e.Type {
	case executor.SetAside:
		_, again := p.pending[e.Step]
		what, together := attempted(e.Step), false
		for s := range p.pending {
			together = together || s.Batch == e.Step.Batch
		}
		if together = together && e.Step.Batch != 0; !together && e.Step.Batch != 0 {
			what += ", with all of its request"
		}
		p.pending[e.Step] = p.v.o.Now().Add(e.Wait)
		p.sample()
		if !p.v.o.Live && !p.v.json && !again && !together && e.Wait >= time.Second {
			p.write("pending: " + what + ": its outcome is not known yet; checking again in " + approximate(e.Wait))
		}
		return
	case executor.Ended:
		delete(p.pending, e.Step)
	case executor.Started:
		return
	}
	p.done, p.total = e.Done, e.Total
	if e.Result.Status == executor.Failed || e.Result.Status == executor.Unknown {
		p.failed++
	}
	p.sample()
	if p.v.json && !p.v.o.Live {
		r := e.Result
		r.Step = e.Step
		p.write(event("event", jsonEnded{e.Step.Address, e.Step.Action, status(&r), e.Done, e.Total, message(r.Err)}))
	}
}

// Read takes note of a read request that was answered.
func (p *Progress) Read() {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	if p.ended {
		return
	}
	p.done++
	p.sample()
}

// Expect adds reads that are still to come to the total.
func (p *Progress) Expect(more int) {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	p.total += more
}

// sample adds a sample for the rate and draws the line if it is time to.
func (p *Progress) sample() {
	now := p.v.o.Now()
	if now.Sub(p.samples[len(p.samples)-1].at) >= time.Second { // one a second is enough
		p.samples = append(p.samples, sample{now, p.done})
	}
	for len(p.samples) > 1 && now.Sub(p.samples[1].at) >= rateWindow {
		p.samples = p.samples[1:]
	}
	if p.v.live == p && now.Sub(p.drawn) >= redraw {
		p.draw()
	}
}

// Waiting tells that requests are held back for d, and for what: "the rate
// limit", or "another try (503 Service Unavailable)".
func (p *Progress) Waiting(d time.Duration, why string) {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	if p.ended {
		return
	}
	until := p.v.o.Now().Add(d)
	if until.Before(p.waitUntil.Add(time.Second)) {
		return // several workers wait for the same
	}
	p.waitUntil, p.waitFor = until, why
	switch {
	case p.v.live == p:
		p.draw()
	case p.v.o.Live || d < time.Second:
	case p.v.json:
		p.write(event("waiting", jsonWait{d.Round(time.Millisecond).Seconds(), why}))
	default:
		p.write("waiting " + approximate(d) + " for " + Safe(why))
	}
}

// Done ends the progress and takes its line away. It may be called more than once.
func (p *Progress) Done() {
	p.v.mu.Lock()
	first := !p.ended
	p.ended = true
	if p.v.live == p {
		p.hide()
		p.v.live = nil
	}
	p.v.mu.Unlock()
	if first {
		close(p.stop)
	}
	<-p.stopped
}

// hide takes the line off the terminal; show puts it back. Nothing happens to a nil Progress.
func (p *Progress) hide() {
	if p == nil || !p.shown {
		return
	}
	p.shown = false
	p.writeRaw("\r\x1b[K")
}

func (p *Progress) show() {
	if p == nil || p.ended {
		return
	}
	p.draw()
}

// draw writes the line over the one before.
func (p *Progress) draw() {
	now := p.v.o.Now()
	p.drawn, p.shown = now, true
	p.writeRaw("\r" + truncate(p.line(now), p.v.o.Width-1) + "\x1b[K")
}

// writeRaw writes in one piece, without the mutex that the caller holds.
func (p *Progress) writeRaw(text string) { _, _ = p.v.o.Err.Write([]byte(text)) }

func (p *Progress) write(line string) { p.writeRaw(line + "\n") }

// line says all there is to say: how far, how fast, how long, what went wrong, what it waits for.
func (p *Progress) line(now time.Time) string {
	text := p.label + p.bar() + " " + strconv.Itoa(p.done)
	if p.total > 0 {
		text += "/" + strconv.Itoa(p.total)
	}
	text += p.unit
	oldest := p.samples[0]
	if elapsed := now.Sub(oldest.at); elapsed >= rateAfter && p.done > oldest.done {
		perMinute := float64(p.done-oldest.done) / elapsed.Minutes()
		text += ", " + strconv.Itoa(int(perMinute+0.5)) + "/min"
		if left := p.total - p.done; left > 0 {
			text += ", " + approximate(p.timeLeft(time.Duration(float64(left)/perMinute*float64(time.Minute)))) + " left"
		}
	}
	if p.failed > 0 {
		text += ", " + strconv.Itoa(p.failed) + " failed"
	}
	if n := len(p.pending); n > 0 {
		text += ", " + strconv.Itoa(n) + " pending"
		if wait := slices.MinFunc(slices.Collect(maps.Values(p.pending)), time.Time.Compare).Sub(now); wait >= time.Second {
			text += " (next look in " + approximate(wait) + ")"
		}
	}
	if wait := p.waitUntil.Sub(now); wait > 0 {
		text += ", waiting " + approximate(wait) + " for " + Safe(p.waitFor)
	}
	return text
}

// timeLeft is the time for what is left: that of the measured rate, but no less than the service's limit allows. What was
// measured tells nothing of a run that the limit holds back.
func (p *Progress) timeLeft(measured time.Duration) time.Duration {
	if p.run.Quota == nil {
		return measured
	}
	free, perMinute := p.run.Quota()
	if perMinute == 0 {
		return measured
	}
	requests := p.run.Requests * (p.total - p.done) / max(1, p.total)
	limited := time.Duration(max(0, requests-free)) * time.Minute / time.Duration(perMinute)
	if free > 0 {
		return max(measured, limited)
	}
	return limited
}

// bar shows on a terminal how much is done.
func (p *Progress) bar() string {
	if p.total <= 0 || !p.v.o.Live || p.v.o.Width < barWidth {
		return ""
	}
	done := barColumns * min(p.done, p.total) / p.total
	return " [" + strings.Repeat("=", done) + blanks(barColumns-done) + "]"
}

type jsonWait struct {
	Seconds float64 `json:"seconds"`
	Reason  string  `json:"reason"`
}

type jsonEnded struct {
	Address resource.Address `json:"address"`
	Action  planner.Action   `json:"action"`
	Status  string           `json:"status"`
	Done    int              `json:"done"`
	Total   int              `json:"total"`
	Error   *string          `json:"error"`
}

// message is what an error says, or nil.
func message(err error) *string {
	if err == nil {
		return nil
	}
	text := diag.PlainText(err)
	return &text
}
