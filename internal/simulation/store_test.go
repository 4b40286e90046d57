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
}

// processStore is the store as a process reaches it.
type processStore struct {
	*simStore

	process *process // nil = it is looked at from outside
}

var _ state.Objects = processStore{}

func newStore() *simStore { return &simStore{objects: map[string]string{}, versions: map[string]int{}} }

func (s *simStore) clone() *simStore {
	return &simStore{objects: maps.Clone(s.objects), versions: maps.Clone(s.versions), next: s.next}
}

func (s *simStore) connect(context.Context, string) (state.Objects, error) {
	return processStore{s, nil}, nil
}

// pass leads a call through the world. What comes from outside is no edge.
func (s processStore) pass(kind edgeKind, call string, do func() error) error {
	if s.process == nil {
		return do()
	}
	return s.process.pass(kind, call, do)
}

func object(name string) string {
	if name == "" {
		return "the state"
	}
	return withoutIDs(name)
}

func (s processStore) Get(_ context.Context, name string) (text []byte, version string, err error) {
	err = s.pass(edgeOfStoreRead, "get "+object(name), func() error {
		held, ok := s.objects[name]
		if !ok {
			return fs.ErrNotExist
		}
		text, version = []byte(held), strconv.Itoa(s.versions[name])
		return nil
	})
	return text, version, err
}

func (s processStore) Put(_ context.Context, name string, text []byte, version string) (now string, err error) {
	err = s.pass(edgeOfStoreWrite, "put "+object(name), func() error {
		if _, there := s.objects[name]; there && version != strconv.Itoa(s.versions[name]) || !there && version != "" {
			return state.ErrChanged
		}
		s.next++
		s.objects[name], s.versions[name] = string(text), s.next
		now = strconv.Itoa(s.next)
		return nil
	})
	if err != nil && !errors.Is(err, state.ErrChanged) {
		now = ""
	}
	return now, err
}

func (s processStore) List(_ context.Context, prefix string) (names []string, err error) {
	err = s.pass(edgeOfStoreRead, "list "+prefix, func() error {
		for name := range s.objects {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return nil
	})
	return names, err
}

func (s processStore) Remove(_ context.Context, name string) error {
	return s.pass(edgeOfStoreWrite, "remove "+object(name), func() error {
		delete(s.objects, name)
		return nil
	})
}
