// Package sample says how many cases of a large table the tests go through: a few, so that `go test ./...` is over while
// somebody waits for it; each, as CI does; or, where cases can be combined, all combinations. [Variable] asks for more than a few.
//
// It promises that the same cases are drawn each time. Only tests import it, and it must not know what it draws from.
package sample
