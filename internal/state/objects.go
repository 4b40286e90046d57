package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/planform/planform/internal/wire"
)

// Objects is a store of small objects that several machines reach, such as a place in a bucket.
type Objects interface {
	// Get returns an object and its version; an error that wraps [fs.ErrNotExist] where there is none.
	Get(ctx context.Context, name string) (text []byte, version string, err error)
	// Put replaces the object of a version, or makes a new one where that is "". It returns [ErrChanged] where the object is another
	// by now. After any other error nobody knows whether it took effect.
	Put(ctx context.Context, name string, text []byte, version string) (now string, err error)
	// List returns the names that begin with a prefix, in any order.
	List(ctx context.Context, prefix string) ([]string, error)
	// Remove removes an object. That there is none is no error.
	Remove(ctx context.Context, name string) error
}

// Unlocker is a store with a lock of its own, which others can hold.
type Unlocker interface {
	// Unlock gives the lock back in place of its holder. ok is false where nobody holds it.
	Unlock(ctx context.Context) (held Holder, ok bool, err error)
}

// ErrChanged is that an object is not the one any more that was to be replaced.
var ErrChanged = errors.New("somebody else changed it meanwhile")

// IsShared reports whether a state is at an address that several machines reach, and not in a file.
func IsShared(path string) bool { return strings.Contains(path, "://") }

// SamePlace reports whether two names are of one state.
func SamePlace(a, b string) bool {
	if IsShared(a) || IsShared(b) {
		return a == b
	}
	p, err := resolve(a)
	q, other := resolve(b)
	return err == nil && other == nil && p.state == q.state
}

// A request to a store is given up after askTime, and repeated, with a pause in between, for as long as settleTime.
const (
	askTime    = 20 * time.Second
	settleTime = 30 * time.Second
	settlePoll = 200 * time.Millisecond
)

// steady makes the requests to a store that a cut, an error or a delay does not end. What each of them did is known when it returns.
type steady struct {
	Objects

	reached *atomic.Bool // the store has answered
}

// Steady repeats what is not answered.
func Steady(o Objects) Objects { return steady{o, &atomic.Bool{}} }

// PutAny writes an object, whatever is there.
func PutAny(ctx context.Context, o Objects, name string, text []byte) error {
	o = Steady(o)
	for {
		_, version, err := o.Get(ctx, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if _, err = o.Put(ctx, name, text, version); !errors.Is(err, ErrChanged) {
			return err
		}
	}
}

// try makes a request until it is answered. Where there is no server, and was none, there is no use in trying again.
func (s steady) try(ctx context.Context, ask func(ctx context.Context) error) error {
	until := time.Now().Add(settleTime)
	for pause := settlePoll; ; pause *= 2 {
		one, cancel := context.WithTimeout(ctx, askTime)
		err := ask(one)
		cancel()
		if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrChanged) {
			s.reached.Store(true)
			return err
		}
		if of, ok := errors.AsType[*net.OpError](err); ok && of.Op == "dial" && !s.reached.Load() || wire.IsFinal(err) ||
			ctx.Err() != nil || time.Now().Add(pause).After(until) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (s steady) Get(ctx context.Context, name string) (text []byte, version string, err error) {
	err = s.try(ctx, func(ctx context.Context) (err error) { text, version, err = s.Objects.Get(ctx, name); return err })
	return text, version, err
}

func (s steady) List(ctx context.Context, prefix string) (names []string, err error) {
	err = s.try(ctx, func(ctx context.Context) (err error) { names, err = s.Objects.List(ctx, prefix); return err })
	return names, err
}

func (s steady) Remove(ctx context.Context, name string) error {
	return s.try(ctx, func(ctx context.Context) error { return s.Objects.Remove(ctx, name) })
}

// Put looks at the object after an answer that says no, or none: an earlier try may have taken effect. No two texts are the same.
func (s steady) Put(ctx context.Context, name string, text []byte, version string) (now string, err error) {
	err = s.try(ctx, func(ctx context.Context) (err error) {
		if now, err = s.Objects.Put(ctx, name, text, version); err == nil {
			return nil
		}
		have, at, readErr := s.Objects.Get(ctx, name)
		switch {
		case readErr == nil && bytes.Equal(have, text):
			now = at
			return nil
		case errors.Is(err, ErrChanged) && (readErr == nil || errors.Is(readErr, fs.ErrNotExist)):
			return ErrChanged
		case errors.Is(err, ErrChanged): // nobody knows whose it is
			return fmt.Errorf("%v: %w", err, readErr) //nolint:errorlint // it is not known to be changed
		default:
			return err
		}
	})
	return now, err
}
