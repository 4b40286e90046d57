//go:build !unix

package state

func childFill(string) {}
