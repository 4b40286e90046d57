package simulation

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/planform/planform/internal/state/disk"
)

// simDisk makes each change in a folder of the real file system, and knows what a loss of power would leave: the names
// that a folder had at its last flush, each with the text that the file had at its own.
type simDisk struct {
	root    string
	nodes   map[string]*node   // by path: as it is
	kept    map[string]*node   // by path: the names that are flushed
	since   map[string][]entry // by folder: what changed its names since it was flushed
	changes int

	running []*process // on this machine
	after   tree       // that a crash leaves, once the last of them has ended; nil = there was none
	seen    map[*process][2]int
}

// processDisk is the disk as a process reaches it.
type processDisk struct {
	*simDisk

	process *process
}

// node is a file or a folder.
type node struct {
	dir     bool
	mode    fs.FileMode
	text    []byte
	flushed []byte
}

// entry is a name that leads to another node, or to none, from then on.
type entry struct {
	path string
	to   *node
}

var _ disk.Disk = processDisk{}

// load treats all files as flushed, because a user who looks at a disk between two runs gives it the time.
func (sd *simDisk) load() error {
	sd.nodes, sd.since, sd.seen = map[string]*node{}, map[string][]entry{}, map[*process][2]int{}
	err := filepath.WalkDir(sd.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == sd.root {
			return err
		}
		n := &node{dir: e.IsDir()}
		if info, err := e.Info(); err == nil {
			n.mode = info.Mode().Perm()
		}
		if !n.dir {
			if n.text, err = os.ReadFile(path); err != nil {
				return err
			}
			n.flushed = n.text
		}
		sd.nodes[path] = n
		return nil
	})
	sd.kept = maps.Clone(sd.nodes)
	return err
}

// name gives a path another node.
func (sd *simDisk) name(path string, to *node) {
	if sd.nodes[path] = to; to == nil {
		delete(sd.nodes, path)
	}
	sd.since[filepath.Dir(path)] = append(sd.since[filepath.Dir(path)], entry{path, to})
}

func (sd *simDisk) short(path string) string {
	if rel, err := filepath.Rel(sd.root, path); err == nil {
		path = rel
	}
	return withoutIDs(filepath.ToSlash(path))
}

func (d processDisk) Create(path string) (f disk.File, err error) {
	err = d.call("create "+d.short(path), func() error {
		real, err := (disk.OS{}).Create(path)
		if err != nil {
			return err
		}
		n := &node{mode: 0o600}
		d.name(path, n)
		f = &simFile{File: real, node: n, disk: d, path: path}
		return nil
	})
	return f, err
}

func (d processDisk) Replace(from, to string) error {
	return d.call("rename "+d.short(from)+" to "+d.short(to), func() error {
		if err := (disk.OS{}).Replace(from, to); err != nil {
			return err
		}
		n := d.nodes[from]
		delete(d.nodes, from)
		d.nodes[to] = n
		folder := filepath.Dir(to) // one change: no power fails between its halves
		d.since[folder] = append(d.since[folder], entry{from, nil}, entry{to, n})
		return nil
	})
}

func (d processDisk) Link(from, to string) error {
	return d.call("link "+d.short(from)+" as "+d.short(to), func() error {
		err := (disk.OS{}).Link(from, to)
		if err == nil {
			d.name(to, d.nodes[from])
		}
		return err
	})
}

func (d processDisk) Remove(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return err // nothing is done
	}
	return d.call("remove "+d.short(path), func() error {
		err := (disk.OS{}).Remove(path)
		if err == nil {
			d.name(path, nil)
		}
		return err
	})
}

func (d processDisk) MakeDir(path string) error {
	return d.call("make "+d.short(path), func() error {
		err := (disk.OS{}).MakeDir(path)
		if err == nil {
			d.name(path, &node{dir: true, mode: 0o700})
		}
		return err
	})
}

func (d processDisk) SyncDir(path string) error {
	folder := filepath.Dir(path)
	return d.call("flush "+d.short(folder)+"/", func() error {
		for _, e := range d.since[folder] {
			if d.kept[e.path] = e.to; e.to == nil {
				delete(d.kept, e.path)
			}
		}
		delete(d.since, folder)
		return nil
	})
}

// call leads a change through the world.
func (d processDisk) call(what string, do func() error) error {
	return d.process.pass(edgeOfDisk, what, func() error {
		d.changes++
		return do()
	})
}

type simFile struct {
	disk.File

	node *node
	disk processDisk
	path string
}

func (f *simFile) Write(text []byte) (n int, err error) {
	err = f.disk.call("write "+f.disk.short(f.path), func() (err error) {
		n, err = f.File.Write(text)
		f.node.text = slices.Concat(f.node.text, text[:n])
		return err
	})
	return n, err
}

func (f *simFile) Sync() error {
	return f.disk.call("flush "+f.disk.short(f.path), func() error {
		f.node.flushed = f.node.text
		return nil
	})
}

func (f *simFile) Truncate(size int64) error {
	return f.disk.call("truncate "+f.disk.short(f.path), func() error {
		err := f.File.Truncate(size)
		if err == nil {
			f.node.text = f.node.text[:size:size]
		}
		return err
	})
}

func (f *simFile) Chmod(mode fs.FileMode) error {
	f.disk.process.mu.Lock()
	defer f.disk.process.mu.Unlock()
	f.node.mode = mode
	return f.File.Chmod(mode)
}

// tree is the content of a disk: the text of each file, by path; folders end with a slash.
type tree map[string]string

// remains says how a crash treats what was not flushed. The names of files and their texts are lost independently.
type remains struct {
	names int                               // changes to the names in each folder that survive at most; -1 = all
	text  func(flushed, text []byte) []byte // what a file holds that has text without a flush
}

// leftovers are the possible results of a crash. Only a loss of power loses data: the system still writes the data of a
// killed process.
var leftovers = sync.OnceValue(func() map[string]remains { //nolint:gochecknoglobals // a constant
	lost := func(flushed, _ []byte) []byte { return flushed }
	all := func(_, text []byte) []byte { return text }
	torn := func(flushed, text []byte) []byte {
		if len(text) <= len(flushed) {
			return flushed
		}
		return text[:len(flushed)+(len(text)-len(flushed))/2]
	}
	zeros := func(flushed, text []byte) []byte {
		if len(text) <= len(flushed) {
			return flushed
		}
		return slices.Concat(flushed, bytes.Repeat([]byte{0}, len(text)-len(flushed)))
	}
	hole := func(flushed, text []byte) []byte { // a later block was written, an earlier one was not
		const block = 512
		from := (len(flushed) + block - 1) / block * block
		if from+block > len(text) {
			return text
		}
		return slices.Concat(text[:from], make([]byte, block), text[from+block:])
	}
	return map[string]remains{
		"killed":                    {-1, all},
		"power lost":                {0, lost},
		"power lost, names kept":    {-1, lost},
		"power lost, texts kept":    {0, all},
		"power lost, torn":          {-1, torn},
		"power lost, zeros":         {-1, zeros},
		"power lost, a hole":        {-1, hole},
		"power lost after one name": {1, lost},
	}
})

// ways are the crashes that leave something of their own.
func (sd *simDisk) ways() []string {
	for _, n := range sd.nodes {
		if len(n.text) != len(n.flushed) {
			return slices.Sorted(maps.Keys(leftovers()))
		}
	}
	for _, changes := range sd.since {
		if len(changes) > 0 {
			return slices.Sorted(maps.Keys(leftovers()))
		}
	}
	return []string{"killed"}
}

// remaining returns the content of the disk after a crash.
func (sd *simDisk) remaining(how string) tree {
	rest := leftovers()[how]
	names := maps.Clone(sd.kept)
	for _, changes := range sd.since {
		done := 0
		for i, e := range changes {
			if rest.names >= 0 && done >= rest.names {
				break
			}
			if names[e.path] = e.to; e.to == nil {
				delete(names, e.path)
			}
			if e.to != nil || i+1 == len(changes) || changes[i+1].to == nil { // a rename is one change
				done++
			}
		}
	}
	left := tree{}
	for path, n := range names {
		if !sd.reachable(names, path) {
			continue
		}
		if n.dir {
			left[path+"/"] = ""
		} else {
			left[path] = fmt.Sprintf("%o %s", n.mode, rest.text(n.flushed, n.text))
		}
	}
	return left
}

// reachable reports whether the folder that a name is in is there.
func (sd *simDisk) reachable(names map[string]*node, path string) bool {
	for at := filepath.Dir(path); len(at) > len(sd.root); at = filepath.Dir(at) {
		if names[at] == nil {
			return false
		}
	}
	return true
}

// become replaces what is there.
func (sd *simDisk) become(t tree) error {
	entries, err := os.ReadDir(sd.root)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(sd.root, e.Name())))
	}
	for _, path := range slices.Sorted(maps.Keys(t)) {
		if dir, yes := strings.CutSuffix(path, "/"); yes {
			err = errors.Join(err, os.MkdirAll(dir, 0o700))
			continue
		}
		mode := fs.FileMode(0)
		octal, text, _ := strings.Cut(t[path], " ")
		_, scan := fmt.Sscanf(octal, "%o", &mode)
		err = errors.Join(err, scan, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), mode))
	}
	return err
}

// errNoSpace is the error of a full disk.
var errNoSpace = &fs.PathError{Op: "write", Path: "the disk", Err: syscall.ENOSPC}
