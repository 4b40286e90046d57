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

// A run renews its lease every beatTime. If others see no renewal for deadTime, they assume that the run
// died. A run that could not renew its own lease for lostTime sends nothing more.
const (
	beatTime = 10 * time.Second
	deadTime = 45 * time.Second
	lostTime = 30 * time.Second
)

const leaseName = ".lock"

// leaseText is the object in the store that says which run may write.
type leaseText struct {
	ID     string     `json:"planform_lease"` // of the turn, and in the names of its journal's parts
	Holder            // of the turn
	Beat   int        `json:"beat"`
	Next   int        `json:"next,omitempty"`  // parts of the turn's journal before this number are in the state, and may be removed
	Free   bool       `json:"free,omitempty"`  // the turn has ended
	Clean  bool       `json:"clean,omitempty"` // the turn ended and left no journal
	State  string     `json:"state,omitempty"` // version of the state that a clean turn left
	Open   []openTurn `json:"open,omitempty"`  // earlier turns that may still add to their journals
}

// openTurn names the journal of a run that may still add to it.
type openTurn struct {
	ID   string `json:"planform_lease"`
	Next int    `json:"next,omitempty"`
}

// openTurns lists the turns whose journals may still grow, this one last.
func (lt *leaseText) openTurns() []openTurn {
	if lt.Clean {
		return nil
	}
	return append(slices.Clone(lt.Open), openTurn{lt.ID, lt.Next})
}

// lease is the lock of this run on a shared state.
type lease struct {
	objects Objects
	id      string
	turn    chan struct{} // holds an element while the lease is being written

	mu      sync.Mutex
	now     leaseText
	version string
	renewed time.Time
	loss    error // why the lease is lost; nil = it is held
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
			err = errors.New("it is not a lock of planform")
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

// takeLease waits until this run holds the lease. before is the lease of the previous run.
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
			l.now = leaseText{ID: l.id, Holder: holder(opts), Open: before.openTurns()}
			if l.version, err = writeLease(ctx, o, &l.now, version); err == nil {
				if err = l.checkConditionalWrites(ctx); err == nil {
					var keeping context.Context
					keeping, l.stop = context.WithCancel(context.Background())
					go l.renewRegularly(keeping, opts) //nolint:contextcheck // it ends with giveBack
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

// checkConditionalWrites makes sure that the store refuses to create an object that exists; otherwise the lease would lock nothing.
func (l *lease) checkConditionalWrites(ctx context.Context) error {
	text, err := json.Marshal(l.now)
	if err != nil {
		return err
	}
	one, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	objects := l.objects
	if s, ok := objects.(retryingStore); ok {
		objects = s.Objects
	}
	if _, err = objects.Put(one, leaseName, text, ""); err == nil {
		return errors.New("the store ignores If-None-Match and overwrites objects: use a store with conditional writes")
	}
	return nil // it refused, or did not answer; later writes are conditional as well
}

// renewRegularly renews the lease every beat until it ends.
func (l *lease) renewRegularly(ctx context.Context, opts Options) {
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
			opts.reportLoss(err)
			return
		}
	}
}

// watch reports a lease that was not renewed in time, even while a renewal waits for the store.
func (l *lease) watch(ctx context.Context, opts Options) {
	for {
		l.mu.Lock()
		left := opts.leases.lost - time.Since(l.renewed)
		l.mu.Unlock()
		if err := l.checkValid(opts.leases); err != nil {
			opts.reportLoss(err)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(left + time.Millisecond):
		}
	}
}

func (o *Options) reportLoss(why error) {
	if o.Lost != nil {
		o.Lost(why)
	}
}

// renew renews the lease. next is the number of the first journal part that is not in the state; 0 means no
// change. gone means that another run has taken the lease.
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
		l.loss = errors.New("another run has taken its lock")
		return true, l.loss
	}
	return false, err
}

// clearOpen records that no earlier turn can add to its journal any more.
func (l *lease) clearOpen() {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now.Open = nil
}

// checkValid returns an error if another run may hold the lease.
func (l *lease) checkValid(times leaseTimes) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loss == nil && time.Since(l.renewed) > times.lost {
		l.loss = fmt.Errorf("its lock could not be renewed for %s", times.lost)
	}
	if l.loss != nil {
		return fmt.Errorf("%w: %w", executor.ErrAbortRun, l.loss)
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

// end frees the lease and records which turn was the last: this one, or the one before if this one did nothing.
func (l *lease) end(ctx context.Context, last leaseText) error {
	l.stop()
	<-l.ended
	if l.loss != nil {
		return nil //nolint:nilerr // there is nothing to give back
	}
	last.ID, last.Free = cmp.Or(last.ID, l.id), true // last has no ID if this turn was the first
	_, err := writeLease(ctx, l.objects, &last, l.version)
	if !errors.Is(err, ErrChanged) {
		return err
	}
	now, version, err := readLease(ctx, l.objects)
	if err != nil || now.ID != l.id { // another run took it
		return err
	}
	_, err = writeLease(ctx, l.objects, &last, version) // a renewal or an unlock changed the version
	return err
}

// Unlock releases the lock of a shared state on behalf of its holder, which sends nothing more. ok is false if nobody holds the lock. In
// both cases the next run accepts the state in the store, even if the last run left another one.
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
	s := o.(retryingStore) //nolint:forcetypeassert // connect returns it
	if u, can := s.Objects.(Unlocker); can {
		err = s.retry(ctx, func(ctx context.Context) error {
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
