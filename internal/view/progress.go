package view

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/planner"
)

const (
	redraw     = 100 * time.Millisecond // shortest time between two redraws for events
	rateWindow = 2 * time.Minute        // time over which the rate is measured: longer than the service's window of one minute
	rateAfter  = 3 * time.Second        // shortest time after which a rate is shown
	logEvery   = 30 * time.Second       // time between two lines in a log
	barColumns = 20
	barWidth   = 70 // columns of a terminal from which the bar is shown
)

// Progress shows the progress of a run on standard error. A terminal has one line that is redrawn and removed at the end, a log
// gets the same line every half a minute, and JSON has an event for each step that ends.
//
// Its methods may be called at the same time. The caller must call [Progress.Done].
type Progress struct {
	v     *View
	label string
	unit  string // name of the counted things after a space; "" = requests
	run   Run

	// The view's mutex guards these fields.
	done, total, failed int
	samples             []sample                    // of the last rateWindow, oldest first
	pending             map[*planner.Step]time.Time // steps without a known outcome, with the time of the next check
	waitUntil           time.Time
	waitFor             string
	drawn               time.Time
	shown               bool // the terminal shows the line
	ended               bool

	stop, stopped chan struct{} // closing stop ends the clock; the clock closes stopped at its end
}

// sample is the number of completed steps or requests at a time.
type sample struct {
	at   time.Time
	done int
}

// Run holds the size of a run and the service's limit for it.
type Run struct {
	Steps    int
	Requests int                          // number of requests for all steps
	Quota    func() (free, perMinute int) // requests that may be sent now, and in any minute; 0 a minute, or nil = no known limit
}

// Progress starts to show the progress of a plan's run.
func (v *View) Progress(run Run) *Progress { return v.start("applying", " steps", run) }

// Reading starts to show the progress of read requests. Their number is not known at first; see [Progress.Read] and [Progress.Expect].
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

// tick shows the line again at each interval until Done, so that the remaining times count down.
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

// Event records an event of the executor.
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

// Read counts a read request that was answered.
func (p *Progress) Read() {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	if p.ended {
		return
	}
	p.done++
	p.sample()
}

// Expect adds a number of coming read requests to the total.
func (p *Progress) Expect(more int) {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	p.total += more
}

// sample adds a sample for the rate, and redraws the line if the last redraw is old enough.
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

// Waiting shows that requests wait for the time d, and why: for "the rate limit",
// or for "another try (503 Service Unavailable)".
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

// Done ends the progress and removes its line. It may be called more than once.
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

// hide removes the line from the terminal until show. Both do nothing for a nil Progress.
func (p *Progress) hide() {
	if p == nil || !p.shown {
		return
	}
	p.shown = false
	p.writeRaw("\r\x1b[K")
}

// show draws the line again after hide, unless the progress has ended.
func (p *Progress) show() {
	if p == nil || p.ended {
		return
	}
	p.draw()
}

// draw writes the line over the previous line.
func (p *Progress) draw() {
	now := p.v.o.Now()
	p.drawn, p.shown = now, true
	p.writeRaw("\r" + truncate(p.line(now), p.v.o.Width-1) + "\x1b[K")
}

// writeRaw writes a text in one piece. The caller holds the view's mutex.
func (p *Progress) writeRaw(text string) { _, _ = p.v.o.Err.Write([]byte(text)) }

func (p *Progress) write(line string) { p.writeRaw(line + "\n") }

// line returns the progress line: completed and total numbers, rate, remaining time, failures, pending steps and the current wait.
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

// timeLeft returns the remaining time by the measured rate, but at least the time that the service's limit requires. If the
// limit allows no request now, only the limit counts, because it sets the pace from then on.
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

// bar returns a bar of the completed part, or "" if there is no terminal or no room.
func (p *Progress) bar() string {
	if p.total <= 0 || !p.v.o.Live || p.v.o.Width < barWidth {
		return ""
	}
	done := barColumns * min(p.done, p.total) / p.total
	return " [" + strings.Repeat("=", done) + blanks(barColumns-done) + "]"
}

// jsonWait is the JSON of a wait.
type jsonWait struct {
	Seconds float64 `json:"seconds"`
	Reason  string  `json:"reason"`
}

// jsonEnded is the JSON of a step that ended.
type jsonEnded struct {
	Address resource.Address `json:"address"`
	Action  planner.Action   `json:"action"`
	Status  string           `json:"status"`
	Done    int              `json:"done"`
	Total   int              `json:"total"`
	Error   *string          `json:"error"`
}

// message returns the text of an error, or nil for no error.
func message(err error) *string {
	if err == nil {
		return nil
	}
	text := diag.PlainText(err)
	return &text
}
