//go:build !linux

package sandboxtest

// TempInMemory does nothing here.
func TempInMemory() {}
