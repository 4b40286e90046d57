package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/view"
)

// listen returns a channel with room for most signals that ask the program to end. Signals that nohup or a shell made the program ignore
// stay ignored.
func listen(most int) chan os.Signal {
	signals := make(chan os.Signal, most)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	return signals
}

// onSignals calls one act for each signal that asks the program to end; after the last act, signals have their default effect. release ends
// the listening, and handles a signal that came before.
func onSignals(acts ...func()) (release func()) {
	signals := listen(len(acts))
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, act := range acts {
			select {
			case <-signals:
				act()
				continue
			case <-done:
			}
			select {
			case <-signals:
				act()
			default:
			}
			return
		}
		signal.Stop(signals)
	}()
	return sync.OnceFunc(func() {
		signal.Stop(signals)
		close(done)
		<-ended
	})
}

// untilSignal returns a context for work that changes nothing. The first signal cancels the context, the next one ends the process.
func untilSignal(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, onSignals(func() { cancel(errInterrupted) })
}

// progressRelay passes the client's events on to the current progress line.
type progressRelay struct {
	mu       sync.Mutex
	progress *view.Progress
	reading  bool
}

// read shows the progress of reads until done is called.
func (pg *progressRelay) read(out output) (done func()) { return pg.follow(out.view.Reading(), true) }

// follow shows waits in p until done is called; done also ends p.
func (pg *progressRelay) follow(p *view.Progress, reading bool) (done func()) {
	pg.set(p, reading)
	return func() {
		pg.set(nil, false)
		p.Done()
	}
}

func (pg *progressRelay) set(p *view.Progress, reading bool) {
	pg.mu.Lock()
	defer pg.mu.Unlock()
	pg.progress, pg.reading = p, reading
}

func (pg *progressRelay) notify(e apiclient.Event) {
	pg.mu.Lock()
	defer pg.mu.Unlock()
	switch {
	case pg.progress == nil:
	case e.Type == apiclient.Retrying:
		why := e.Err
		if broken, ok := errors.AsType[*apiclient.ConnectionError](why); ok {
			why = broken // no answer came, so the request does not matter
		}
		pg.progress.Waiting(e.Wait, "another try: "+why.Error())
	case e.Type == apiclient.Waiting:
		pg.progress.Waiting(e.Wait, "the rate limit")
	case pg.reading:
		pg.progress.Read()
	}
}

// logPanic writes the stack of a step that panicked into the debug log.
func logPanic(out output, e executor.Event) {
	var p *executor.PanicError
	if e.Type == executor.Ended && errors.As(e.Result.Err, &p) {
		out.log.Debug("a step panicked", "address", string(e.Step.Address), "panic", p.Value, "stack", string(p.Stack))
	}
}
