package disk

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/natefinch/atomic"
)

// Disk is the set of changes to a file system. Only SyncDir and [File].Sync wait until a change would survive a loss of power.
type Disk interface {
	// Create creates a file for appending, which only its owner can read. It must not exist yet.
	Create(path string) (File, error)
	// Replace renames a file and replaces the file with the new name, if there is one.
	Replace(from, to string) error
	Link(from, to string) error
	Remove(path string) error
	// MakeDir creates a folder that only its owner can read. It must not exist yet.
	MakeDir(path string) error
	// SyncDir flushes the folder of a file that was created, renamed or removed.
	SyncDir(path string) error
}

// File is a file that is being written.
type File interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
	Chmod(mode fs.FileMode) error
	Stat() (fs.FileInfo, error)
}

// OS is the disk of the operating system.
type OS struct{}

var _ Disk = OS{}

// Or returns d, or the operating system's disk if d is nil.
func Or(d Disk) Disk { return cmp.Or(d, Disk(OS{})) }

// Create implements [Disk].
func (OS) Create(path string) (File, error) {
	// O_EXCL does not follow a link in its place.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600) //nolint:gosec // the path is the user's choice
	if err != nil {
		return nil, err // returning f would make a File that is not nil
	}
	return f, nil
}

// Replace implements [Disk].
func (OS) Replace(from, to string) error { return atomic.ReplaceFile(from, to) }

// Link implements [Disk].
func (OS) Link(from, to string) error { return os.Link(from, to) }

// Remove implements [Disk].
func (OS) Remove(path string) error { return os.Remove(path) }

// MakeDir implements [Disk].
func (OS) MakeDir(path string) error { return os.Mkdir(path, 0o700) }

// SyncDir implements [Disk]. Windows has no such call and needs none.
func (OS) SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }() // it was only read
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err // other errors mean that the file system cannot flush a folder
	}
	return nil
}

// MakeFolder creates a folder and its missing parents, and flushes them to disk.
func MakeFolder(d Disk, dir string) error {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, at)
	}
	for _, at := range slices.Backward(missing) {
		if err := d.MakeDir(at); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := d.SyncDir(at); err != nil {
			return err
		}
	}
	return nil
}

// Write writes a file completely or not at all, and flushes it to disk. A file that is replaced keeps its
// mode; only the owner can read a new one.
func Write(d Disk, path string, write func(io.Writer) error) (err error) {
	temp := filepath.Join(filepath.Dir(path), ".planform-"+rand.Text()[:8]+".tmp")
	f, err := d.Create(temp)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = d.Remove(temp) // the returned error matters more
		}
	}()
	buffer := bufio.NewWriterSize(f, 1<<14)
	if err = write(buffer); err == nil {
		err = buffer.Flush()
	}
	if info, missing := os.Stat(path); err == nil && missing == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = d.Replace(temp, path); err != nil {
		return err
	}
	return d.SyncDir(path)
}
