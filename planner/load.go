package planner

import (
	"context"
	"iter"
	"slices"

	"github.com/planform/planform/internal/plane/resource"
)

// Reader makes read requests, and puts the answers into [Input.Observed]. A missing object or route is an answer, too.
type Reader interface {
	Read(ctx context.Context, reads []Read) error
}

// loader answers the reads of the stages that load. A read without an answer becomes a request.
type loader struct {
	observed Observed
	request  func(reads []Read) error // nil = everything is loaded, and a read without an answer is a bug of the planner
	err      error                    // the error of a failed request
	moved    bool                     // a kind turned out to be managed by API v1, so that loading starts again
	running  *task                    // nil = no task of [loader.each] is running

	unconfirmed       []Read // see [Doubt]
	externalIDLookups int    // number of look-ups, each one request for one object
	skippedLookups    int    // number of look-ups that were left out because there were too many
}

func newLoader(ctx context.Context, in *Input, reader Reader) *loader {
	return &loader{observed: in.Observed, request: func(reads []Read) error { return reader.Read(ctx, reads) }}
}

// maxTasks is the number of tasks that wait for answers side by side.
const maxTasks = 256

// task is a coroutine of [loader.each]. It pauses until it has its answers.
type task struct {
	resume func() (missing []Read, paused bool)
	pause  func(missing []Read) bool
}

// each calls do with each number below n. If a call waits for an answer, another task continues with the next numbers, and the requests of
// all waiting tasks are made together.
func (lo *loader) each(n int, do func(i int)) {
	next := 0
	var paused []*task
	var missing []Read
	for {
		tasks := paused
		paused, missing = nil, nil
		for len(tasks) > 0 || next < n && len(paused) < maxTasks {
			t := &task{}
			if len(tasks) > 0 {
				t, tasks = tasks[0], tasks[1:]
			} else {
				t.resume, _ = iter.Pull(func(pause func([]Read) bool) {
					for t.pause = pause; next < n; {
						next++
						do(next - 1)
					}
				})
			}
			lo.running = t
			more, waits := t.resume()
			if lo.running = nil; waits {
				paused, missing = append(paused, t), append(missing, more...)
			}
		}
		if len(paused) == 0 {
			return
		}
		lo.load(missing...)
	}
}

// load makes the requests for reads that have no answers yet.
func (lo *loader) load(reads ...Read) {
	var missing []Read
	seen := map[Read]bool{}
	for _, r := range reads {
		if _, have := lo.answer(r); !have && !seen[r] {
			seen[r], missing = true, append(missing, r)
		}
	}
	switch {
	case len(missing) == 0 || lo.err != nil || lo.moved: // after an error or move, results are not used
	case lo.running != nil:
		lo.running.pause(missing)
	case lo.request == nil:
		panic("planner: " + missing[0].Path + " is asked for after everything was loaded")
	default:
		lo.err = lo.request(missing)
		lo.moved = slices.ContainsFunc(missing, func(r Read) bool { return r.needsV1(lo.observed[r]) })
	}
}

func (lo *loader) ask(r Read) Answer {
	a, have := lo.answer(r)
	if !have {
		lo.load(r)
		a, _ = lo.answer(r)
	}
	return a
}

func (lo *loader) askAt(op *resource.Operation, params map[string]string) Answer {
	read, _ := readOf(op, params)
	return lo.ask(read)
}

// askOptional returns the answer to a read that the plan does not depend on: if the read is forbidden, the answer is empty.
func (lo *loader) askOptional(r Read) Answer {
	if _, have := lo.observed[r]; !have {
		r.Optional = true
	}
	return lo.ask(r)
}

// answer returns the answer to a read, or to the same read with Optional set.
func (lo *loader) answer(r Read) (Answer, bool) {
	if a, ok := lo.observed[r]; ok || r.Optional {
		return a, ok
	}
	r.Optional = true
	a, ok := lo.observed[r]
	return a, ok && !a.Forbidden
}
