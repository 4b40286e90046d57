// Package sample decides how many cases of a large table a test runs: a few, so that `go test ./...` ends
// soon; each case, as in CI; or all combinations of cases. [Variable] selects more than a few.
//
// It selects the same cases each time. Only tests import it, and it must not know what the cases are.
package sample
