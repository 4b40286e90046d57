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

func (mf *mortalFile) Write(text []byte) (int, error) {
	if mf.disk.live("write") {
		return mf.File.Write(text)
	}
	mf.disk.mu.Lock()
	defer mf.disk.mu.Unlock()
	if !mf.disk.dead || len(mf.disk.did) > 0 && mf.disk.did[len(mf.disk.did)-1] == "half" {
		return 0, errDead
	}
	mf.disk.did = append(mf.disk.did, "half")
	n, _ := mf.File.Write(text[:len(text)/2])
	return n, errDead
}

func (mf *mortalFile) Truncate(size int64) error {
	return mf.disk.do("truncate", func() error { return mf.File.Truncate(size) })
}

func (mf *mortalFile) Sync() error { return mf.disk.do("sync", mf.File.Sync) }

// fullDisk has room for so many bytes more.
type fullDisk struct {
	disk.OS
	mu         sync.Mutex
	room       int // negative = any number
	noTruncate bool
	noSync     bool
}

func (fd *fullDisk) set(room int) {
	fd.mu.Lock()
	defer fd.mu.Unlock()
	fd.room = room
}

func (fd *fullDisk) Create(path string) (disk.File, error) {
	f, err := fd.OS.Create(path)
	if err != nil {
		return nil, err
	}
	return &fullFile{File: f, disk: fd, path: path}, nil
}

type fullFile struct {
	disk.File
	disk *fullDisk
	path string
}

func (ff *fullFile) Write(text []byte) (int, error) {
	ff.disk.mu.Lock()
	defer ff.disk.mu.Unlock()
	if ff.disk.room < 0 {
		return ff.File.Write(text)
	}
	some := text[:min(len(text), ff.disk.room)]
	n, err := ff.File.Write(some)
	ff.disk.room -= n
	if err == nil && n < len(text) {
		err = &fs.PathError{Op: "write", Path: ff.path, Err: syscall.ENOSPC}
	}
	return n, err
}

func (ff *fullFile) Truncate(size int64) error {
	if ff.disk.noTruncate {
		return syscall.EIO
	}
	return ff.File.Truncate(size)
}

func (ff *fullFile) Sync() error {
	if ff.disk.noSync {
		return &fs.PathError{Op: "sync", Path: ff.path, Err: syscall.EIO}
	}
	return ff.File.Sync()
}

// gateDisk lets a test hold back the flushes of the journal.
type gateDisk struct {
	disk.OS
	wrote   chan struct{} // one for each write
	entered chan struct{} // one for each flush
	gate    chan struct{} // closed = open
	armed   bool
}

func (gd *gateDisk) Create(path string) (disk.File, error) {
	f, err := gd.OS.Create(path)
	if err != nil {
		return nil, err
	}
	return &gateFile{File: f, disk: gd}, nil
}

type gateFile struct {
	disk.File
	disk *gateDisk
}

func (gf *gateFile) Write(text []byte) (int, error) {
	n, err := gf.File.Write(text)
	if gf.disk.armed {
		gf.disk.wrote <- struct{}{}
	}
	return n, err
}

func (gf *gateFile) Sync() error {
	if gf.disk.armed {
		gf.disk.entered <- struct{}{}
		<-gf.disk.gate
	}
	return gf.File.Sync()
}
