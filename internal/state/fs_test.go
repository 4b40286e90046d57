package state

import (
	"errors"
	"io/fs"
	"sync"
	"syscall"

	"github.com/planform/planform/internal/state/disk"
)

// mortalDisk is the real disk until the world ends: then nothing happens any
// more, and a write under way gets half through.
type mortalDisk struct {
	disk.OS
	mu   sync.Mutex
	left int // calls that still work; negative = the world does not end
	dead bool
	did  []string
}

var errDead = errors.New("the world has ended")

// live counts a call and reports whether it takes place.
func (d *mortalDisk) live(call string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead || d.left == 0 {
		d.dead = true
		return false
	}
	d.left--
	d.did = append(d.did, call)
	return true
}

func (d *mortalDisk) do(call string, f func() error) error {
	if !d.live(call) {
		return errDead
	}
	return f()
}

func (d *mortalDisk) Create(path string) (disk.File, error) {
	if !d.live("create") {
		return nil, errDead
	}
	f, err := d.OS.Create(path)
	if err != nil {
		return nil, err
	}
	return &mortalFile{File: f, disk: d}, nil
}

func (d *mortalDisk) Replace(from, to string) error {
	return d.do("replace", func() error { return d.OS.Replace(from, to) })
}

func (d *mortalDisk) Link(from, to string) error {
	return d.do("link", func() error { return d.OS.Link(from, to) })
}

func (d *mortalDisk) Remove(path string) error {
	return d.do("remove", func() error { return d.OS.Remove(path) })
}

func (d *mortalDisk) SyncDir(path string) error {
	return d.do("syncdir", func() error { return d.OS.SyncDir(path) })
}

type mortalFile struct {
	disk.File
	disk *mortalDisk
}

func (f *mortalFile) Write(text []byte) (int, error) {
	if f.disk.live("write") {
		return f.File.Write(text)
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if !f.disk.dead || len(f.disk.did) > 0 && f.disk.did[len(f.disk.did)-1] == "half" {
		return 0, errDead
	}
	f.disk.did = append(f.disk.did, "half")
	n, _ := f.File.Write(text[:len(text)/2])
	return n, errDead
}

func (f *mortalFile) Truncate(size int64) error {
	return f.disk.do("truncate", func() error { return f.File.Truncate(size) })
}

func (f *mortalFile) Sync() error { return f.disk.do("sync", f.File.Sync) }

// fullDisk has room for so many bytes more.
type fullDisk struct {
	disk.OS
	mu         sync.Mutex
	room       int // negative = any number
	noTruncate bool
	noSync     bool
}

func (d *fullDisk) set(room int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = room
}

func (d *fullDisk) Create(path string) (disk.File, error) {
	f, err := d.OS.Create(path)
	if err != nil {
		return nil, err
	}
	return &fullFile{File: f, disk: d, path: path}, nil
}

type fullFile struct {
	disk.File
	disk *fullDisk
	path string
}

func (f *fullFile) Write(text []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.room < 0 {
		return f.File.Write(text)
	}
	some := text[:min(len(text), f.disk.room)]
	n, err := f.File.Write(some)
	f.disk.room -= n
	if err == nil && n < len(text) {
		err = &fs.PathError{Op: "write", Path: f.path, Err: syscall.ENOSPC}
	}
	return n, err
}

func (f *fullFile) Truncate(size int64) error {
	if f.disk.noTruncate {
		return syscall.EIO
	}
	return f.File.Truncate(size)
}

func (f *fullFile) Sync() error {
	if f.disk.noSync {
		return &fs.PathError{Op: "sync", Path: f.path, Err: syscall.EIO}
	}
	return f.File.Sync()
}

// gateDisk lets a test hold back the flushes of the journal.
type gateDisk struct {
	disk.OS
	wrote   chan struct{} // one for each write
	entered chan struct{} // one for each flush
	gate    chan struct{} // closed = open
	armed   bool
}

func (d *gateDisk) Create(path string) (disk.File, error) {
	f, err := d.OS.Create(path)
	if err != nil {
		return nil, err
	}
	return &gateFile{File: f, disk: d}, nil
}

type gateFile struct {
	disk.File
	disk *gateDisk
}

func (f *gateFile) Write(text []byte) (int, error) {
	n, err := f.File.Write(text)
	if f.disk.armed {
		f.disk.wrote <- struct{}{}
	}
	return n, err
}

func (f *gateFile) Sync() error {
	if f.disk.armed {
		f.disk.entered <- struct{}{}
		<-f.disk.gate
	}
	return f.File.Sync()
}
