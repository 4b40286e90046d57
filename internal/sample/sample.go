package sample

import (
	"hash/fnv"
	"os"
)

// Variable is the environment variable that says how much is gone through: each, or all. Unset, it is a few cases.
const Variable = "PLANFORM_TESTS"

// Of returns few, each or all, whichever size is asked for. It panics at an unknown one. Call it in a test, not
// before: the cache of go test does not see what package variables read from the environment.
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

// Each reports whether more than a few cases are gone through.
func Each() bool { return Of(false, true, true) }

// Takes reports whether the i-th case is gone through, where a few are one in n.
func Takes(i, n int) bool { return Each() || i%n == 0 }

// TakesNamed is Takes for the cases of a table with names.
func TakesNamed(name string, n int) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return Takes(int(h.Sum32()%1024), n)
}
