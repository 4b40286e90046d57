//go:build !unix

package doctor

// mayWrite does not know: the first write tells.
func mayWrite(string) error { return nil }
