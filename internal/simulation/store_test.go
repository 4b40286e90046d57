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
	*world

	objects  map[string]string
	versions map[string]int
	next     int
}

var _ state.Objects = (*simStore)(nil)

func newStore() *simStore { return &simStore{objects: map[string]string{}, versions: map[string]int{}} }

func (s *simStore) clone() *simStore {
	return &simStore{objects: maps.Clone(s.objects), versions: maps.Clone(s.versions), next: s.next}
}

// connect looks at the store from outside: nothing of that is an edge.
func (s *simStore) connect(context.Context, string) (state.Objects, error) {
	return &simStore{world: &world{counts: map[string]int{}}, objects: s.objects, versions: s.versions, next: s.next}, nil
}

func object(name string) string {
	if name == "" {
		return "the state"
	}
	return random.ReplaceAllString(name, "*")
}

func (s *simStore) Get(_ context.Context, name string) (text []byte, version string, err error) {
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

func (s *simStore) Put(_ context.Context, name string, text []byte, version string) (now string, err error) {
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

func (s *simStore) List(_ context.Context, prefix string) (names []string, err error) {
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

func (s *simStore) Remove(_ context.Context, name string) error {
	return s.pass(edgeOfStoreWrite, "remove "+object(name), func() error {
		delete(s.objects, name)
		return nil
	})
}
