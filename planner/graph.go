package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// CycleError says that steps wait for each other.
type CycleError struct {
	Addresses []resource.Address // each needs the next, the last needs the first

	steps []*Step
}

// Error names the cycle.
func (e *CycleError) Error() string {
	names := make([]string, 0, len(e.Addresses)+1)
	for _, a := range e.Addresses {
		names = append(names, string(a))
	}
	return "circular reference: " + strings.Join(append(names, names[0]), " -> ")
}

// numberSteps puts the steps by kind, then by place in the manifest, but those last that
// close or archive what is filled before, and turns what
// they need from states into steps.
func (b *builder) numberSteps() ([]*Step, error) {
	steps := slices.Concat(b.steps...)
	slices.SortStableFunc(steps, func(s, other *Step) int { return cmp.Compare(s.stage, other.stage) })
	for i, s := range steps {
		s.Index = i
	}
	for _, s := range steps {
		for _, list := range [][]int{s.Needs, s.After} {
			for k, at := range list {
				if b.planned[at] == nil { // both are in a cycle, a part of which cannot be made
					return nil, fmt.Errorf("%s needs %s, which cannot be created", s.Address, b.in.Desired[at].Address)
				}
				list[k] = b.planned[at].Index
			}
		}
		for _, first := range s.extraNeeds {
			s.Needs = append(slices.Clip(s.Needs), first.Index)
		}
		for _, first := range s.extraAfter {
			s.After = append(slices.Clip(s.After), first.Index)
		}
		s.Needs, s.After = sorted(s.Needs), sorted(s.After)
	}
	return steps, nil
}

func sorted(list []int) []int {
	slices.Sort(list)
	return slices.Compact(list)
}

// order puts numbered steps into their total order: as they are numbered, but
// what a step waits for, where its turn comes later, just before the step.
func order(steps []*Step) ([]*Step, error) {
	if isOrdered(steps) {
		return steps, nil
	}
	s := sorter{steps: steps, at: make([]progress, len(steps)), ordered: make([]*Step, 0, len(steps))}
	for i := range steps {
		if err := s.place(i); err != nil {
			return nil, err
		}
	}
	renumber(s.ordered)
	return s.ordered, nil
}

// sorter walks along what steps wait for, depth first.
type sorter struct {
	steps   []*Step
	at      []progress
	path    []int // steps that are to be placed, each because the former waits for it
	ordered []*Step
}

// progress is how far a step is.
type progress int8

const (
	unplaced progress = iota
	onPath
	placed
)

// place places a step after what it waits for.
func (s *sorter) place(i int) error {
	switch s.at[i] {
	case placed:
		return nil
	case onPath:
		return cycleError(s.steps, s.path[slices.Index(s.path, i):])
	case unplaced:
	}
	s.at[i] = onPath
	s.path = append(s.path, i)
	for _, list := range [][]int{s.steps[i].Needs, s.steps[i].After} {
		for _, j := range list {
			if err := s.place(j); err != nil {
				return err
			}
		}
	}
	s.path, s.at[i] = s.path[:len(s.path)-1], placed
	s.ordered = append(s.ordered, s.steps[i])
	return nil
}

func isOrdered(steps []*Step) bool {
	for i, s := range steps {
		for _, list := range [][]int{s.Needs, s.After} {
			if n := len(list); n > 0 && list[n-1] >= i {
				return false
			}
		}
	}
	return true
}

// renumber gives steps the numbers of their places.
func renumber(steps []*Step) {
	place := make([]int, len(steps))
	for i, s := range steps {
		place[s.Index] = i
	}
	for i, s := range steps {
		s.Index = i
		for _, list := range [][]int{s.Needs, s.After} {
			for k, j := range list {
				list[k] = place[j]
			}
			slices.Sort(list)
		}
	}
}

// cycleError is the error that names steps each of which waits for the next.
func cycleError(steps []*Step, path []int) error {
	e := &CycleError{}
	for _, i := range path {
		e.Addresses = append(e.Addresses, steps[i].Address)
		e.steps = append(e.steps, steps[i])
	}
	return e
}
