package cli

import (
	"math"
	"runtime/debug"
)

const (
	baseMemory      = 450 << 20 // bytes
	memoryPerObject = 9_000     // bytes, with what the plan and the state know of the object
)

// boundMemory sets the size of memory above which memory is collected more often, at the cost of time: 450 MB, or more for many objects. It
// keeps a limit that the environment sets.
func boundMemory(objects int) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(int64(max(baseMemory, objects*memoryPerObject)))
	}
}
