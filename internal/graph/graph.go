// Package graph walks nodes that depend on each other: steps of a plan, objects and their parents, or kinds and the kinds that they refer
// to.
package graph

import "slices"

// DepthFirst visits each node after the nodes that it waits for. It calls cycle once for nodes that wait for each other in a circle, in the
// order in which each waits for the next.
func DepthFirst[T comparable](nodes []T, waitsFor func(T) []T, visit func(T), cycle func([]T)) {
	const onPath, done = 1, 2
	at := make(map[T]int, len(nodes))
	var path []T
	var walk func(T)
	walk = func(n T) {
		switch at[n] {
		case done:
			return
		case onPath:
			cycle(path[slices.Index(path, n):])
			return
		}
		at[n], path = onPath, append(path, n)
		for _, first := range waitsFor(n) {
			walk(first)
		}
		at[n], path = done, path[:len(path)-1]
		visit(n)
	}
	for _, n := range nodes {
		walk(n)
	}
}
