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
func (pr *Progress) tick(every time.Duration) {
	defer close(pr.stopped)
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-pr.stop:
			return
		case <-t.C:
			pr.v.mu.Lock()
			switch {
			case pr.v.live == pr:
				pr.draw()
			case !pr.v.o.Live && !pr.v.json:
				pr.write(pr.line(pr.v.o.Now()))
			}
			pr.v.mu.Unlock()
		}
	}
}

// Event records an event of the executor.
func (pr *Progress) Event(e executor.Event) {
	pr.v.mu.Lock()
	defer pr.v.mu.Unlock()
	if pr.ended {
		return
	}
	switch e.Type {
	case executor.SetAside:
		_, again := pr.pending[e.Step]
		what, together := attempted(e.Step), false
		for s := range pr.pending {
			together = together || s.Batch == e.Step.Batch
		}
		if together = together && e.Step.Batch != 0; !together && e.Step.Batch != 0 {
			what += ", with all of its request"
		}
		pr.pending[e.Step] = pr.v.o.Now().Add(e.Wait)
		pr.sample()
		if !pr.v.o.Live && !pr.v.json && !again && !together && e.Wait >= time.Second {
			pr.write("pending: " + what + ": its outcome is not known yet; checking again in " + approximate(e.Wait))
		}
		return
	case executor.Ended:
		delete(pr.pending, e.Step)
	case executor.Started:
		return
	}
	pr.done, pr.total = e.Done, e.Total
	if e.Result.Status == executor.Failed || e.Result.Status == executor.Unknown {
		pr.failed++
	}
	pr.sample()
	if pr.v.json && !pr.v.o.Live {
		r := e.Result
		r.Step = e.Step
		pr.write(eventLine("event", jsonEnded{e.Step.Address, e.Step.Action, status(&r), e.Done, e.Total, errorText(r.Err)}))
	}
}

// Read counts a read request that was answered.
func (pr *Progress) Read() {
	pr.v.mu.Lock()
	defer pr.v.mu.Unlock()
	if pr.ended {
		return
	}
	pr.done++
	pr.sample()
}

// Expect adds a number of coming read requests to the total.
func (pr *Progress) Expect(more int) {
	pr.v.mu.Lock()
	defer pr.v.mu.Unlock()
	pr.total += more
}

// sample adds a sample for the rate, and redraws the line if the last redraw is old enough.
func (pr *Progress) sample() {
	now := pr.v.o.Now()
	if now.Sub(pr.samples[len(pr.samples)-1].at) >= time.Second { // one a second is enough
		pr.samples = append(pr.samples, sample{now, pr.done})
	}
	for len(pr.samples) > 1 && now.Sub(pr.samples[1].at) >= rateWindow {
		pr.samples = pr.samples[1:]
	}
	if pr.v.live == pr && now.Sub(pr.drawn) >= redraw {
		pr.draw()
	}
}

// Waiting shows that requests wait for the time d, and why: for "the rate limit",
// or for "another try (503 Service Unavailable)".
func (pr *Progress) Waiting(d time.Duration, why string) {
	pr.v.mu.Lock()
	defer pr.v.mu.Unlock()
	if pr.ended {
		return
	}
	until := pr.v.o.Now().Add(d)
	if until.Before(pr.waitUntil.Add(time.Second)) {
		return // several workers wait for the same
	}
	pr.waitUntil, pr.waitFor = until, why
	switch {
	case pr.v.live == pr:
		pr.draw()
	case pr.v.o.Live || d < time.Second:
	case pr.v.json:
		pr.write(eventLine("waiting", jsonWait{d.Round(time.Millisecond).Seconds(), why}))
	default:
		pr.write("waiting " + approximate(d) + " for " + Safe(why))
	}
}

// Done ends the progress and removes its line. It may be called more than once.
func (pr *Progress) Done() {
	pr.v.mu.Lock()
	first := !pr.ended
	pr.ended = true
	if pr.v.live == pr {
		pr.hide()
		pr.v.live = nil
	}
	pr.v.mu.Unlock()
	if first {
		close(pr.stop)
	}
	<-pr.stopped
}

// hide removes the line from the terminal until show. Both do nothing for a nil Progress.
func (pr *Progress) hide() {
	if pr == nil || !pr.shown {
		return
	}
	pr.shown = false
	pr.writeRaw("\r\x1b[K")
}

// show draws the line again after hide, unless the progress has ended.
func (pr *Progress) show() {
	if pr == nil || pr.ended {
		return
	}
	pr.draw()
}

// draw writes the line over the previous line.
func (pr *Progress) draw() {
	now := pr.v.o.Now()
	pr.drawn, pr.shown = now, true
	pr.writeRaw("\r" + truncate(pr.line(now), pr.v.o.Width-1) + "\x1b[K")
}

// writeRaw writes a text in one piece. The caller holds the view's mutex.
func (pr *Progress) writeRaw(text string) { _, _ = pr.v.o.Err.Write([]byte(text)) }

func (pr *Progress) write(line string) { pr.writeRaw(line + "\n") }

// line returns the progress line: completed and total numbers, rate, remaining time, failures, pending steps and the current wait.
func (pr *Progress) line(now time.Time) string {
	text := pr.label + pr.bar() + " " + strconv.Itoa(pr.done)
	if pr.total > 0 {
		text += "/" + strconv.Itoa(pr.total)
	}
	text += pr.unit
	oldest := pr.samples[0]
	if elapsed := now.Sub(oldest.at); elapsed >= rateAfter && pr.done > oldest.done {
		perMinute := float64(pr.done-oldest.done) / elapsed.Minutes()
		text += ", " + strconv.Itoa(int(perMinute+0.5)) + "/min"
		if left := pr.total - pr.done; left > 0 {
			text += ", " + approximate(pr.timeLeft(time.Duration(float64(left)/perMinute*float64(time.Minute)))) + " left"
		}
	}
	if pr.failed > 0 {
		text += ", " + strconv.Itoa(pr.failed) + " failed"
	}
	if n := len(pr.pending); n > 0 {
		text += ", " + strconv.Itoa(n) + " pending"
		if wait := slices.MinFunc(slices.Collect(maps.Values(pr.pending)), time.Time.Compare).Sub(now); wait >= time.Second {
			text += " (next look in " + approximate(wait) + ")"
		}
	}
	if wait := pr.waitUntil.Sub(now); wait > 0 {
		text += ", waiting " + approximate(wait) + " for " + Safe(pr.waitFor)
	}
	return text
}

// timeLeft returns the remaining time by the measured rate, but at least the time that the service's limit requires. If the
// limit allows no request now, only the limit counts, because it sets the pace from then on.
func (pr *Progress) timeLeft(measured time.Duration) time.Duration {
	if pr.run.Quota == nil {
		return measured
	}
	free, perMinute := pr.run.Quota()
	if perMinute == 0 {
		return measured
	}
	requests := pr.run.Requests * (pr.total - pr.done) / max(1, pr.total)
	limited := time.Duration(max(0, requests-free)) * time.Minute / time.Duration(perMinute)
	if free > 0 {
		return max(measured, limited)
	}
	return limited
}

// bar returns a bar of the completed part, or "" if there is no terminal or no room.
func (pr *Progress) bar() string {
	if pr.total <= 0 || !pr.v.o.Live || pr.v.o.Width < barWidth {
		return ""
	}
	done := barColumns * min(pr.done, pr.total) / pr.total
	return " [" + strings.Repeat("=", done) + spaces(barColumns-done) + "]"
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

// errorText returns the text of an error, or nil for no error.
func errorText(err error) *string {
	if err == nil {
		return nil
	}
	text := diag.PlainText(err)
	return &text
}
