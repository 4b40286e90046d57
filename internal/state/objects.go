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

	"github.com/planform/planform/internal/http/wire"
)

// Objects is a store of small objects that several machines reach, such as a prefix in a bucket.
type Objects interface {
	// Get returns an object and its version, or an error that wraps [fs.ErrNotExist] if there is no such object.
	Get(ctx context.Context, name string) (text []byte, version string, err error)
	// Put replaces the given version of an object, or creates the object if version is "". It returns
	// [ErrChanged] if the store has another version. After any other error the outcome is unknown.
	Put(ctx context.Context, name string, text []byte, version string) (now string, err error)
	// List returns the names that begin with a prefix, in any order.
	List(ctx context.Context, prefix string) ([]string, error)
	// Remove removes an object. It returns no error if the object does not exist.
	Remove(ctx context.Context, name string) error
}

// Unlocker is a store with a lock of its own, which others can hold.
type Unlocker interface {
	// Unlock releases the lock on behalf of its holder. ok is false if nobody holds the lock.
	Unlock(ctx context.Context) (held Holder, ok bool, err error)
}

// ErrChanged says that somebody else changed the object since it was read.
var ErrChanged = errors.New("it was changed meanwhile")

// IsShared reports whether path is an address that several machines reach, and not a file.
func IsShared(path string) bool { return strings.Contains(path, "://") }

// SamePlace reports whether two names refer to the same state.
func SamePlace(a, b string) bool {
	if IsShared(a) || IsShared(b) {
		return a == b
	}
	p, err := resolve(a)
	q, other := resolve(b)
	return err == nil && other == nil && p.state == q.state
}

// A request to a store is given up after askTime. Requests are repeated for up to settleTime, with pauses from settlePoll upwards.
const (
	askTime    = 20 * time.Second
	settleTime = 30 * time.Second
	settlePoll = 200 * time.Millisecond
)

// retryingStore repeats requests to a store after a lost connection, an error or a delay, for a limited time. It asks the store for the
// outcome of a write without an answer.
type retryingStore struct {
	Objects

	reached *atomic.Bool // the store has answered at least once
}

// WithRetries returns a store that repeats requests which fail or stay without an answer.
func WithRetries(o Objects) Objects { return retryingStore{o, &atomic.Bool{}} }

// PutAny writes an object and overwrites any existing version.
func PutAny(ctx context.Context, o Objects, name string, text []byte) error {
	o = WithRetries(o)
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

// retry repeats a request until it is answered. If the store cannot be dialled and has never answered, it gives up at once.
func (r retryingStore) retry(ctx context.Context, ask func(ctx context.Context) error) error {
	until := time.Now().Add(settleTime)
	for pause := settlePoll; ; pause *= 2 {
		one, cancel := context.WithTimeout(ctx, askTime)
		err := ask(one)
		cancel()
		if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrChanged) {
			r.reached.Store(true)
			return err
		}
		if of, ok := errors.AsType[*net.OpError](err); ok && of.Op == "dial" && !r.reached.Load() || wire.IsFinal(err) ||
			ctx.Err() != nil || time.Now().Add(pause).After(until) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (r retryingStore) Get(ctx context.Context, name string) (text []byte, version string, err error) {
	err = r.retry(ctx, func(ctx context.Context) (err error) { text, version, err = r.Objects.Get(ctx, name); return err })
	return text, version, err
}

func (r retryingStore) List(ctx context.Context, prefix string) (names []string, err error) {
	err = r.retry(ctx, func(ctx context.Context) (err error) { names, err = r.Objects.List(ctx, prefix); return err })
	return names, err
}

func (r retryingStore) Remove(ctx context.Context, name string) error {
	return r.retry(ctx, func(ctx context.Context) error { return r.Objects.Remove(ctx, name) })
}

// Put reads the object after a refusal or a missing answer, because an earlier attempt may have taken
// effect. It can tell, because no two writes have the same text.
func (r retryingStore) Put(ctx context.Context, name string, text []byte, version string) (now string, err error) {
	err = r.retry(ctx, func(ctx context.Context) (err error) {
		if now, err = r.Objects.Put(ctx, name, text, version); err == nil {
			return nil
		}
		have, at, readErr := r.Objects.Get(ctx, name)
		switch {
		case readErr == nil && bytes.Equal(have, text):
			now = at
			return nil
		case errors.Is(err, ErrChanged) && (readErr == nil || errors.Is(readErr, fs.ErrNotExist)):
			return ErrChanged
		case errors.Is(err, ErrChanged): // it is not known whether this run wrote the object
			return fmt.Errorf("%v: %w", err, readErr) //nolint:errorlint // ErrChanged is not certain
		default:
			return err
		}
	})
	return now, err
}
