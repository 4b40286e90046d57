//go:build unix

package doctor

import "syscall"

func mayWrite(dir string) error {
	const write = 2
	return syscall.Access(dir, write)
}
