package view_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/view"
	"github.com/planform/planform/planner"
)

// terminal shows what is written to it as a terminal would, and keeps every
// state of its last line.
type terminal struct {
	lines  []string // scrolled up
	last   []rune
	column int
	seen   []string
}

func (t *terminal) Write(b []byte) (int, error) {
	text := []rune(string(b))
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\r':
			t.column = 0
		case '\n':
			t.lines = append(t.lines, string(t.last))
			t.last, t.column = nil, 0
		case '\x1b':
			if string(text[i:i+3]) != "\x1b[K" {
				return 0, fmt.Errorf("unknown sequence in %q", b)
			}
			t.last = t.last[:t.column]
			i += 2
		default:
			t.last = append(t.last[:t.column], text[i])
			t.column++
		}
	}
	if line := string(t.last); len(t.seen) == 0 || t.seen[len(t.seen)-1] != line {
		t.seen = append(t.seen, line)
	}
	return len(b), nil
}

// pause lets the clock of a synctest bubble run on; nobody waits.
func pause(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // it takes no time within a bubble
}

func step(i int) *planner.Step {
	return &planner.Step{
		Address: resource.Address(fmt.Sprint("work_item/web/item-", i)), Action: planner.Create, Kind: resource.MustLookup("work_item"), Position: at(i),
	}
}

func event(i, total int, status executor.Status, err error) executor.Event {
	s := step(i)
	return executor.Event{Type: executor.Ended, Step: s, Result: executor.StepResult{Step: s, Status: status, Err: err}, Done: i, Total: total}
}

func TestATerminalShowsOneLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		term := &terminal{}
		v := view.New(view.Options{Streams: view.Streams{Out: term, Err: term, InTTY: true, OutTTY: true, ErrTTY: true, Width: 80}, Live: true})
		p := v.Progress(view.Run{Steps: 120})
		p.Event(executor.Event{Type: executor.Started, Step: step(1), Total: 120})
		pause(time.Second / 2) // between two ticks of the clock
		for i := 1; i <= 10; i++ {
			pause(time.Second)
			p.Event(event(i, 120, executor.Done, nil))
		}
		p.Event(event(11, 120, executor.Failed, errors.New("400")))
		v.Notef("a note")
		p.Waiting(12*time.Second, "the rate limit")
		p.Waiting(12*time.Second+time.Millisecond, "the rate limit")
		if _, err := fmt.Fprintln(v.Stderr(), "a log line"); err != nil {
			t.Fatal(err)
		}
		pause(33 * time.Second)
		p.Event(event(12, 120, executor.Done, nil))
		p.Done()
		p.Done()
		p.Event(event(13, 120, executor.Done, nil))
		p.Waiting(time.Minute, "nothing")
		if err := v.Table([]string{"DONE"}, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a note", "a log line", "DONE"}, term.lines); diff != "" {
			t.Error(diff)
		}
		if len(term.last) > 0 {
			t.Errorf("left %q", string(term.last))
		}
		golden(t, "progress/terminal.txt", strings.Join(term.seen, "\n")+"\n")
	})
}

func TestTheRateIsThatOfTheLastWhile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	term := &terminal{}
	v := view.New(view.Options{Streams: view.Streams{Err: term, Width: 200}, Live: true, Now: func() time.Time { return now }})
	p := v.Progress(view.Run{Steps: 1000})
	defer p.Done()
	done := 0
	for range 10 { // a quota of 60 a minute, spent at once: then a wait
		for range 60 {
			done++
			now = now.Add(10 * time.Millisecond)
			p.Event(event(done, 1000, executor.Done, nil))
		}
		now = now.Add(time.Minute - 600*time.Millisecond)
	}
	p.Event(event(done+1, 1000, executor.Done, nil))
	if got, want := string(term.last), "applying [============        ] 601/1000 steps, 60/min, 7 min left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTheTimeLeftCountsWithTheLimit has a service that takes 60 requests a minute: the first ones at once, which says nothing of the rest.
func TestTheTimeLeftCountsWithTheLimit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	term, free := &terminal{}, 60
	v := view.New(view.Options{Streams: view.Streams{Err: term, Width: 60}, Live: true, Now: func() time.Time { return now }})
	p := v.Progress(view.Run{Steps: 600, Requests: 540, Quota: func() (int, int) { return free, 60 }})
	defer p.Done()
	done := 0
	finish := func(n int, took time.Duration) {
		for range n {
			done++
			now = now.Add(took / time.Duration(n))
			p.Event(event(done, 600, executor.Done, nil))
		}
	}
	for _, shown := range []struct {
		n    int
		took time.Duration
		free int
		want string
	}{
		{40, 4 * time.Second, 20, "applying 40/600 steps, 600/min, 8 min left"},
		{20, 2 * time.Second, 0, "applying 60/600 steps, 600/min, 8 min left"},
		{1, 56 * time.Second, 0, "applying 61/600 steps, 59/min, 8 min left"},
		{6, 6 * time.Minute, 0, "applying 67/600 steps, 1/min, 8 min left"},       // others use up the limit
		{6, 6 * time.Minute, 60, "applying 73/600 steps, 1/min, 8 h 47 min left"}, // it is not the limit
	} {
		free = shown.free
		finish(shown.n, shown.took)
		if got := string(term.last); got != shown.want {
			t.Errorf("got %q, want %q", got, shown.want)
		}
	}
}

func TestALogShowsHowFarTheRunIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(func(o *view.Options) { o.Now = time.Now })
		p := s.Progress(view.Run{Steps: 120})
		pause(time.Second / 2) // between two ticks of the clock
		for i := 1; i <= 50; i++ {
			pause(time.Second)
			p.Event(event(i, 120, executor.Done, nil))
		}
		p.Event(event(51, 120, executor.Failed, errors.New("400: name is too long")))
		p.Event(executor.Event{Type: executor.SetAside, Step: step(52), Wait: time.Minute})
		p.Waiting(12*time.Second, "the rate limit")
		pause(15 * time.Second)
		p.Done()
		golden(t, "progress/log.txt", s.err.String())
	})
}

func TestTheStepsOfOneRequestWithoutAnAnswerAreToldOnce(t *testing.T) {
	t.Parallel()
	s := newScreen()
	p := s.Progress(view.Run{Steps: 120})
	for i := range 50 {
		together := step(i)
		together.Batch = 1
		p.Event(executor.Event{Type: executor.SetAside, Step: together, Wait: time.Minute})
	}
	p.Done()
	if got, want := s.err.String(), "pending: create work_item/web/item-0, with all of its request: its outcome is not known yet; checking again in 60 s\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAProgramGetsAnEventForEachStep(t *testing.T) {
	t.Parallel()
	s := newScreen(inJSON)
	p := s.Progress(view.Run{Steps: 7})
	p.Event(executor.Event{Type: executor.Started, Step: step(1), Total: 7})
	e := event(1, 7, executor.Done, nil)
	e.Result.Outcome.Identifier = "WEB-12"
	p.Event(e)
	p.Event(event(2, 7, executor.Failed, errors.New("400: name\x1b[1m\nis too long")))
	p.Event(event(3, 7, executor.Unknown, executor.ErrOutcomeUnknown))
	e = event(4, 7, executor.Blocked, nil)
	e.Result.BlockedBy = step(2)
	p.Event(e)
	p.Event(event(5, 7, executor.NotStarted, nil))
	b := &builder{}
	m := b.members(planner.AddMembers, "cycle_work_item", "cycle/web/sprint-14", 1, 0, 41)
	p.Event(executor.Event{Type: executor.Ended, Step: m, Done: 6, Total: 7, Result: executor.StepResult{
		Step: m, Status: executor.Done, Outcome: executor.Outcome{Record: planner.Record{Members: make([]string, 40)}}, Missing: []resource.Address{"a"},
	}})
	m = b.members(planner.RemoveMembers, "cycle_work_item", "cycle/web/sprint-14", 1, 0, 1)
	p.Event(executor.Event{Type: executor.Ended, Step: m, Done: 7, Total: 7, Result: executor.StepResult{Step: m, Status: executor.Failed, Err: errors.New("404")}})
	p.Waiting(500*time.Millisecond, "the rate limit")
	p.Waiting(12*time.Second, "the rate limit")
	p.Waiting(12500*time.Millisecond, "the rate limit")
	p.Waiting(90*time.Second, "another try (503)")
	p.Done()
	golden(t, "progress/log.json", s.err.String())
	if s.out.Len() > 0 {
		t.Errorf("standard output got %q", s.out.String())
	}
}

func TestReadsAreCounted(t *testing.T) {
	t.Parallel()
	term := &terminal{}
	v := view.New(view.Options{Streams: view.Streams{Err: term}, Live: true, Now: func() time.Time { return time.Unix(0, 0) }})
	p := v.Reading()
	p.Read()
	v.Notef("note") // draws the line anew
	if got := string(term.last); got != "reading 1" {
		t.Errorf("got %q", got)
	}
	p.Expect(7)
	v.Notef("note")
	if got := string(term.last); got != "reading [==                  ] 1/7" {
		t.Errorf("got %q", got)
	}
	p.Done()
	p.Read()
	if got := string(term.last); got != "" {
		t.Errorf("left %q", got)
	}
}

func TestManyWritersDoNotTearEachOther(t *testing.T) {
	t.Parallel()
	term := &terminal{}
	v := view.New(view.Options{Streams: view.Streams{Out: term, Err: term, Width: 30}, Live: true})
	p := v.Progress(view.Run{Steps: 400})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 100 {
				p.Event(event(w*100+i, 400, executor.Done, nil))
				p.Waiting(time.Duration(i)*time.Second, "the rate limit of the service")
				v.Notef("note")
				_, _ = v.Stderr().Write([]byte("log\n"))
				if err := showAs(v.Plan, &planner.Plan{}, planfile.Where{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	p.Done()
	if len(term.last) > 0 {
		t.Errorf("left %q", string(term.last))
	}
	count := map[string]int{}
	for _, l := range term.lines {
		count[l]++
	}
	want := map[string]int{"note": 400, "log": 400, "No changes. The manifest lists no objects (0 read requests).": 400}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Error(diff)
	}
	for _, l := range term.seen {
		if len([]rune(l)) > 29 {
			t.Fatalf("%q does not fit the terminal", l)
		}
	}
}

func TestAFailingStreamDoesNotStopTheRun(t *testing.T) {
	t.Parallel()
	v := view.New(view.Options{Streams: view.Streams{Out: &bytes.Buffer{}, Err: brokenWriter{}}, Live: true})
	p := v.Progress(view.Run{Steps: 1})
	p.Event(event(1, 1, executor.Done, nil))
	v.Notef("note")
	p.Done()
}
