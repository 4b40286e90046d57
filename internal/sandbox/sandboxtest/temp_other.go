//go:build !linux

package sandboxtest

// TempInMemory does nothing on this system.
func TempInMemory() {}
