package planner

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"

	"github.com/planform/planform/internal/resource"
)

// CircleError says that steps wait for each other.
type CircleError struct {
	Addresses []resource.Address // each needs the next, the last needs the first

	steps []*Step
}

// Error names the circle.
func (e *CircleError) Error() string {
	names := make([]string, 0, len(e.Addresses)+1)
	for _, a := range e.Addresses {
		names = append(names, string(a))
	}
	return "these need each other: " + strings.Join(append(names, names[0]), " -> ")
}

// number puts the steps by kind, then by place in the manifest, and turns what
// they need from facts into steps.
func (b *builder) number() ([]*Step, error) {
	steps := slices.Concat(b.steps...)
	for i, s := range steps {
		s.Index = i
	}
	for _, s := range steps {
		for _, list := range [][]int{s.Needs, s.After} {
			for k, at := range list {
				if b.facts[at].step == nil { // both are in a circle, a part of which cannot be made
					return nil, fmt.Errorf("%s needs %s, which cannot be made", s.Address, b.in.Desired[at].Address)
				}
				list[k] = b.facts[at].step.Index
			}
		}
		for _, first := range s.awaits {
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

// order puts numbered steps into their total order: what is needed first,
// otherwise as they are numbered.
func order(steps []*Step) ([]*Step, error) {
	if straight(steps) {
		return steps, nil
	}
	waits, next := waiting(steps)
	ordered := make([]*Step, 0, len(steps))
	var late ints // steps that got ready after their turn
	for turn := range steps {
		if waits[turn] > 0 {
			continue
		}
		for heap.Push(&late, turn); len(late) > 0; {
			i, _ := heap.Pop(&late).(int)
			ordered = append(ordered, steps[i])
			for _, k := range next(i) {
				if waits[k]--; waits[k] == 0 && k < turn {
					heap.Push(&late, k)
				}
			}
		}
	}
	if len(ordered) < len(steps) {
		return nil, circle(steps, waits)
	}
	renumber(ordered)
	return ordered, nil
}

func straight(steps []*Step) bool {
	for i, s := range steps {
		for _, list := range [][]int{s.Needs, s.After} {
			if n := len(list); n > 0 && list[n-1] >= i {
				return false
			}
		}
	}
	return true
}

// waiting returns for how many steps each waits, and which wait for it.
func waiting(steps []*Step) (waits []int, next func(int) []int) {
	waits = make([]int, len(steps))
	from := make([]int, len(steps)+2) // where the list of each begins, two further on while it is filled
	for i, s := range steps {
		waits[i] = len(s.Needs) + len(s.After)
		for _, list := range [][]int{s.Needs, s.After} {
			for _, j := range list {
				from[j+2]++
			}
		}
	}
	for j := 2; j < len(from); j++ {
		from[j] += from[j-1]
	}
	lists := make([]int, from[len(from)-1])
	for i, s := range steps {
		for _, list := range [][]int{s.Needs, s.After} {
			for _, j := range list {
				lists[from[j+1]] = i
				from[j+1]++
			}
		}
	}
	return waits, func(i int) []int { return lists[from[i]:from[i+1]] }
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

// circle walks along what is still waited for until it comes round.
func circle(steps []*Step, waits []int) error {
	at := slices.IndexFunc(waits, func(n int) bool { return n > 0 })
	seen := make([]bool, len(steps))
	var path []int
	for !seen[at] {
		seen[at] = true
		path = append(path, at)
		for _, j := range slices.Concat(steps[at].Needs, steps[at].After) {
			if waits[j] > 0 {
				at = j
				break
			}
		}
	}
	e := &CircleError{}
	for _, i := range path[slices.Index(path, at):] {
		e.Addresses = append(e.Addresses, steps[i].Address)
		e.steps = append(e.steps, steps[i])
	}
	return e
}

// ints is a heap of numbers, smallest first.
type ints []int

func (h ints) Len() int           { return len(h) }
func (h ints) Less(i, j int) bool { return h[i] < h[j] }
func (h ints) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ints) Push(x any)        { *h = append(*h, x.(int)) } //nolint:forcetypeassert // only ints are pushed
func (h *ints) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
