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

// disk are the file operations. Tests replace it to fill the disk, or to kill the process,
// between any two calls.
type disk interface {
	// Create creates a file for appending; it must not exist yet.
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
	// O_EXCL does not follow a link in its place.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600) //nolint:gosec // the path is the user's choice
	if err != nil {
		return nil, err // f would be a file that is not nil
	}
	return f, nil
}

func (osDisk) Replace(from, to string) error { return atomic.ReplaceFile(from, to) }
func (osDisk) Link(from, to string) error    { return os.Link(from, to) }
func (osDisk) Remove(path string) error      { return os.Remove(path) }

// SyncDir flushes the folder of a file that was created or renamed, so that its name
// survives a loss of power. Windows has no such call and needs none.
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
		return err // else the file system cannot flush a folder
	}
	return nil
}
