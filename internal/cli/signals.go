package cli

import (
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/planform/planform/apiclient"
	"github.com/planform/planform/executor"
	"github.com/planform/planform/internal/view"
)

// onSignals calls first at the first signal that asks to end and second at the
// next; after that signals work as if nobody listened. release ends the listening.
func onSignals(first, second func()) (release func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, act := range []func(){first, second} {
			select {
			case <-signals:
				act()
			case <-done:
				return
			}
		}
		signal.Stop(signals)
	}()
	return func() {
		signal.Stop(signals)
		close(done)
		<-ended
	}
}

// waits passes on what holds the client back to the progress line of the moment.
type waits struct {
	mu sync.Mutex
	to *view.Progress
}

func (w *waits) follow(p *view.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = p
}

func (w *waits) tell(e apiclient.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.to == nil:
	case e.Type == apiclient.Retrying:
		w.to.Waiting(e.Wait, "another try: "+e.Err.Error())
	default:
		w.to.Waiting(e.Wait, "the rate limit")
	}
}

// logPanic writes the stack of a step that panicked into the debug log.
func logPanic(out output, e executor.Event) {
	var p *executor.PanicError
	if e.Type == executor.Ended && errors.As(e.Result.Err, &p) {
		out.log.Debug("a step panicked", "address", string(e.Step.Address), "panic", p.Value, "stack", string(p.Stack))
	}
}
