package simulation

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/state"
)

// simStore is a store of objects with conditional writes.
type simStore struct {
	objects  map[string]string
	versions map[string]int
	next     int
	lockedBy *process // the last process that wrote the lock
}

// processStore is the store as a process reaches it.
type processStore struct {
	*simStore

	process *process // nil = it is looked at from outside
}

var _ state.Objects = processStore{}

func newStore() *simStore { return &simStore{objects: map[string]string{}, versions: map[string]int{}} }

func (ss *simStore) clone() *simStore {
	return &simStore{objects: maps.Clone(ss.objects), versions: maps.Clone(ss.versions), next: ss.next}
}

func (ss *simStore) connect(context.Context, string) (state.Objects, error) {
	return processStore{ss, nil}, nil
}

// pass leads a call through the world. What comes from outside is no edge.
func (ps processStore) pass(kind edgeKind, call string, do func() error) error {
	if ps.process == nil {
		return do()
	}
	return ps.process.pass(kind, call, do)
}

func object(name string) string {
	if name == "" {
		return "the state"
	}
	return withoutIDs(name)
}

func (ps processStore) Get(_ context.Context, name string) (text []byte, version string, err error) {
	err = ps.pass(edgeOfStoreRead, "get "+object(name), func() error {
		held, ok := ps.objects[name]
		if !ok {
			return fs.ErrNotExist
		}
		text, version = []byte(held), strconv.Itoa(ps.versions[name])
		return nil
	})
	return text, version, err
}

func (ps processStore) Put(_ context.Context, name string, text []byte, version string) (now string, err error) {
	err = ps.pass(edgeOfStoreWrite, "put "+object(name), func() error {
		if _, there := ps.objects[name]; there && version != strconv.Itoa(ps.versions[name]) || !there && version != "" {
			return state.ErrChanged
		}
		ps.next++
		ps.objects[name], ps.versions[name] = string(text), ps.next
		if name == ".lock" && ps.process != nil {
			ps.lockedBy, ps.process.hadLock = ps.process, true
		}
		now = strconv.Itoa(ps.next)
		return nil
	})
	if err != nil && !errors.Is(err, state.ErrChanged) {
		now = ""
	}
	return now, err
}

func (ps processStore) List(_ context.Context, prefix string) (names []string, err error) {
	err = ps.pass(edgeOfStoreRead, "list "+prefix, func() error {
		for name := range ps.objects {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return nil
	})
	return names, err
}

func (ps processStore) Remove(_ context.Context, name string) error {
	return ps.pass(edgeOfStoreWrite, "remove "+object(name), func() error {
		delete(ps.objects, name)
		return nil
	})
}
