package state

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/planform/planform/executor"
)

// A lease is renewed every beat. Who sees none for as long as dead takes it to be a run that died; a run that could not renew
// its own for as long as lost sends nothing more.
const (
	beatTime = 10 * time.Second
	deadTime = 45 * time.Second
	lostTime = 30 * time.Second
)

const leaseName = ".lock"

// leaseText is the object that says whose turn it is.
type leaseText struct {
	ID     string `json:"planform_lease"` // of the turn; its journal bears it
	Holder        // of the turn
	Beat   int    `json:"beat"`
	Next   int    `json:"next,omitempty"`  // the parts of the turn's journal before this number are in the state, and may be gone
	Free   bool   `json:"free,omitempty"`  // nobody's any more
	Clean  bool   `json:"clean,omitempty"` // the turn ended, and left no journal
	State  string `json:"state,omitempty"` // the version that the turn left, if it is clean
	Open   []turn `json:"open,omitempty"`  // earlier turns that may still add to their journals
}

// turn is what is known of the journal of a turn.
type turn struct {
	ID   string `json:"planform_lease"`
	Next int    `json:"next,omitempty"`
}

// unclosed are the turns that may still add to their journals, up to this one.
func (l *leaseText) unclosed() []turn {
	if l.Clean {
		return nil
	}
	return append(slices.Clone(l.Open), turn{l.ID, l.Next})
}

// lease is the turn of this run.
type lease struct {
	objects Objects
	id      string
	turn    chan struct{} // holds an element while the lease is being written

	mu      sync.Mutex
	now     leaseText
	version string
	renewed time.Time
	gone    error // somebody else took it
	stop    context.CancelFunc
	ended   chan struct{}
}

func readLease(ctx context.Context, o Objects) (l leaseText, version string, err error) {
	text, version, err := o.Get(ctx, leaseName)
	if errors.Is(err, fs.ErrNotExist) {
		return leaseText{Free: true, Clean: true}, "", nil
	}
	if err == nil {
		if err = json.Unmarshal(text, &l); err == nil && l.ID == "" {
			err = errors.New("it is no lock of planform")
		}
	}
	return l, version, err
}

func writeLease(ctx context.Context, o Objects, l *leaseText, version string) (string, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return "", err
	}
	return o.Put(ctx, leaseName, append(text, '\n'), version)
}

// takeLease waits until it is this run's turn. before is the turn before it.
func takeLease(ctx context.Context, address string, o Objects, opts Options) (_ *lease, before leaseText, err error) {
	failed := func(err error) error { return fmt.Errorf("the state %s cannot be locked: %w", address, err) }
	began, told := time.Now(), false
	seen, since := "", time.Time{}
	for {
		pause := opts.leases.beat / 2
		before, version, err := readLease(ctx, o)
		if err != nil {
			return nil, before, failed(err)
		}
		if version != seen {
			if alive := seen != "" && !before.Free; alive && time.Since(began) >= opts.LockTimeout {
				return nil, before, &LockedError{Path: address, Holder: before.Holder, Waited: opts.LockTimeout}
			}
			seen, since = version, time.Now()
		}
		if before.Free || time.Since(since) >= opts.leases.dead {
			l := &lease{objects: o, id: uuid.NewString(), turn: make(chan struct{}, 1), ended: make(chan struct{}), renewed: time.Now()}
			l.now = leaseText{ID: l.id, Holder: holder(opts), Open: before.unclosed()}
			if l.version, err = writeLease(ctx, o, &l.now, version); err == nil {
				if err = l.probe(ctx); err == nil {
					var keeping context.Context
					keeping, l.stop = context.WithCancel(context.Background())
					go l.keep(keeping, opts) //nolint:contextcheck // until it is given back
					return l, before, nil
				}
			}
			if errors.Is(err, ErrChanged) {
				continue
			}
			locked, ok := errors.AsType[*LockedError](err)
			if !ok {
				return nil, before, failed(err)
			}
			if before.Holder = locked.Holder; time.Since(began) >= opts.LockTimeout {
				return nil, before, &LockedError{Path: address, Holder: before.Holder, Waited: opts.LockTimeout}
			}
			pause = min(pause, opts.LockTimeout-time.Since(began))
		}
		if !told && opts.Waiting != nil {
			opts.Waiting(before.Holder)
		}
		told = true
		select {
		case <-ctx.Done():
			return nil, before, fmt.Errorf("waiting for the lock of the state %s: %w", address, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// probe makes sure that the store refuses a write to what is there already: else there would be no lock.
func (l *lease) probe(ctx context.Context) error {
	text, err := json.Marshal(l.now)
	if err != nil {
		return err
	}
	one, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	objects := l.objects
	if s, ok := objects.(steady); ok {
		objects = s.Objects
	}
	if _, err = objects.Put(one, leaseName, text, ""); err == nil {
		return errors.New("the store overwrites what is there although it is told not to (If-None-Match): it cannot hold a state that " +
			"several machines share; use one with conditional writes")
	}
	return nil // it refused, or it is not known: what follows is conditional as well
}

// keep renews the lease until it is given back.
func (l *lease) keep(ctx context.Context, opts Options) {
	defer close(l.ended)
	var watching sync.WaitGroup
	watching.Go(func() { l.watch(ctx, opts) })
	defer watching.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(opts.leases.beat):
		}
		if gone, err := l.renew(ctx, 0); gone {
			opts.lost(err)
			return
		}
	}
}

// watch tells of a lease that was not renewed in time, while the store may still be asked to.
func (l *lease) watch(ctx context.Context, opts Options) {
	for {
		l.mu.Lock()
		left := opts.leases.lost - time.Since(l.renewed)
		l.mu.Unlock()
		if err := l.valid(opts.leases); err != nil {
			opts.lost(err)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(left + time.Millisecond):
		}
	}
}

func (o *Options) lost(why error) {
	if o.Lost != nil {
		o.Lost(why)
	}
}

// renew renews the lease. next is the number from which on the journal is not in the state; 0 = as before. gone is that somebody else
// has taken the lease.
func (l *lease) renew(ctx context.Context, next int) (gone bool, err error) {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	l.mu.Lock()
	text, version := l.now, l.version
	l.mu.Unlock()
	text.Beat++
	text.Next = max(text.Next, next)
	asked := time.Now()
	version, err = writeLease(ctx, l.objects, &text, version)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.now, l.version, l.renewed = text, version, asked
	case errors.Is(err, ErrChanged):
		l.gone = errors.New("another run has taken its lock")
		return true, l.gone
	}
	return false, err
}

// closed notes that none of the turns before can add to its journal any more.
func (l *lease) closed() {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now.Open = nil
}

// valid returns an error where it may be somebody else's turn by now.
func (l *lease) valid(times leaseTimes) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone == nil && time.Since(l.renewed) > times.lost {
		l.gone = fmt.Errorf("its lock could not be renewed for %s", times.lost)
	}
	if l.gone != nil {
		return fmt.Errorf("%w: %w", executor.ErrAbortRun, l.gone)
	}
	return nil
}

// giveBack ends the turn. state is the version of the state that it leaves, if it leaves no journal.
func (l *lease) giveBack(ctx context.Context, clean bool, state string) error {
	l.stop()
	<-l.ended
	left := l.now
	if left.Clean = clean; clean {
		left.State = state
	}
	return l.end(ctx, left)
}

// end ends the turn and says which one was the last: this one, or that before it where nothing came of this one.
func (l *lease) end(ctx context.Context, last leaseText) error {
	l.stop()
	<-l.ended
	if l.gone != nil {
		return nil //nolint:nilerr // there is nothing to give back
	}
	last.ID, last.Free = cmp.Or(last.ID, l.id), true // there was none before the first
	_, err := writeLease(ctx, l.objects, &last, l.version)
	if !errors.Is(err, ErrChanged) {
		return err
	}
	now, version, err := readLease(ctx, l.objects)
	if err != nil || now.ID != l.id { // somebody else took it
		return err
	}
	_, err = writeLease(ctx, l.objects, &last, version) // it was renewed, or unlocked, at that moment
	return err
}

// Unlock gives the lock of a shared state back in place of its holder, which sends nothing more from then on. ok is false where nobody
// holds it. Either way the next run takes the state that is there, even if it is not the one that the last run left.
func Unlock(ctx context.Context, path string, opts Options) (held Holder, ok bool, err error) {
	o, err := opts.connect(ctx, path)
	if err != nil {
		return held, false, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("the state %s was not unlocked: %w", path, err)
		}
	}()
	s := o.(steady) //nolint:forcetypeassert // connect returns it
	if u, can := s.Objects.(Unlocker); can {
		err = s.try(ctx, func(ctx context.Context) error {
			holder, was, err := u.Unlock(ctx)
			if was {
				held, ok = holder, true
			}
			return err
		})
		if err != nil {
			return held, false, err
		}
	}
	for {
		l, version, err := readLease(ctx, o)
		if err != nil || l.Free && (!l.Clean || l.ID == "") {
			return held, ok && err == nil, err
		}
		if !l.Free {
			held, ok = l.Holder, true
		}
		l.Free, l.Clean = true, false
		if _, err = writeLease(ctx, o, &l, version); !errors.Is(err, ErrChanged) {
			return held, ok && err == nil, err
		}
		held, ok = Holder{}, false
	}
}
