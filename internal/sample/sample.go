package sample

import (
	"hash/fnv"
	"os"
)

// Variable is the environment variable that selects the number of cases: each, or all. If it is unset, tests run a few cases.
const Variable = "PLANFORM_TESTS"

// Of returns few, each or all, as [Variable] says. It panics if the value is unknown. Call it in a test,
// because the cache of go test does not notice variables that are read earlier.
func Of[T any](few, each, all T) T {
	switch size := os.Getenv(Variable); size {
	case "":
		return few
	case "each":
		return each
	case "all":
		return all
	default:
		panic(Variable + " is " + size + ": only each and all are known")
	}
}

// Each reports whether tests run more than a few cases.
func Each() bool { return Of(false, true, true) }

// Takes reports whether a test runs the i-th case, if it runs every n-th case by default.
func Takes(i, n int) bool { return Each() || i%n == 0 }

// TakesNamed is like Takes for cases that have names instead of numbers.
func TakesNamed(name string, n int) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return Takes(int(h.Sum32()%1024), n)
}
