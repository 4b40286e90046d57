package state

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/natefinch/atomic"
)

// disk is what is done to files. It is an interface so that tests can fill the
// disk, or end the world, between any two of its calls.
type disk interface {
	// Create makes a file that must not be there yet. What is written goes to its end.
	Create(path string) (file, error)
	Replace(from, to string) error
	Link(from, to string) error
	Remove(path string) error
	SyncDir(path string) error
}

type file interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
}

// osDisk is the real one.
type osDisk struct{}

var _ disk = osDisk{}

func (osDisk) Create(path string) (file, error) {
	// O_EXCL does not follow a link that somebody put there.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600) //nolint:gosec // the path is the user's choice
	if err != nil {
		return nil, err // a nil *os.File would not be a nil file
	}
	return f, nil
}

func (osDisk) Replace(from, to string) error { return atomic.ReplaceFile(from, to) }
func (osDisk) Link(from, to string) error    { return os.Link(from, to) }
func (osDisk) Remove(path string) error      { return os.Remove(path) }

// SyncDir makes sure that a file which was made or replaced is found under its
// name after a loss of power. Windows has no such call and needs none.
func (osDisk) SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // it was only read
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err // some network file systems know no flush of a folder
	}
	return nil
}
