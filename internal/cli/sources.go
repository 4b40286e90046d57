package cli

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/planform/planform/planner"
)

// sourceSet holds the manifests that share a state, by their names in the state: paths relative to dir, with slashes.
type sourceSet struct {
	dir     string            // the folder of the state, without .planform
	names   map[string]string // names in the state, by file
	read    map[string]bool
	folders map[string]bool // folders that are read as a whole
}

// standardInput is the name of standard input, and of all other input that can be read only once.
const standardInput = "-"

// newSourceSet returns the manifests that are read, for a state. given are the names on the command line.
func newSourceSet(state string, given, files []string) *sourceSet {
	s := &sourceSet{dir: realPath(filepath.Dir(state)), names: map[string]string{}, read: map[string]bool{}, folders: map[string]bool{}}
	if filepath.Base(s.dir) == ".planform" {
		s.dir = filepath.Dir(s.dir)
	}
	for _, file := range files {
		s.names[file] = s.name(file)
		s.read[s.names[file]] = true
	}
	for _, name := range given {
		if info, err := os.Stat(name); err == nil && info.IsDir() && name != standardInput {
			s.folders[s.relative(realPath(name))] = true
		}
	}
	return s
}

// name returns the name of a manifest in the state.
func (ss *sourceSet) name(file string) string {
	if readOnce(file) {
		return standardInput
	}
	return ss.relative(filepath.Join(realPath(filepath.Dir(file)), filepath.Base(file)))
}

// readOnce reports whether a manifest can be read only once, such as standard input or a pipe.
func readOnce(file string) bool {
	info, err := os.Stat(file)
	return file == standardInput || err == nil && !info.Mode().IsRegular()
}

func (ss *sourceSet) relative(file string) string {
	if name, err := filepath.Rel(ss.dir, file); err == nil {
		file = name
	}
	return filepath.ToSlash(file)
}

// realPath returns the path of a folder without symbolic links. The folder need not exist.
func realPath(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	if found, err := filepath.EvalSymlinks(abs); err == nil {
		return found
	}
	if parent := filepath.Dir(abs); parent != abs {
		return filepath.Join(realPath(parent), filepath.Base(abs))
	}
	return abs
}

// others returns the manifests that the state names, that are not read, and that still exist. A file in a folder that is read counts as
// read.
func (ss *sourceSet) others(prior planner.Prior) map[string]bool {
	others, looked := map[string]bool{}, map[string]bool{}
	for _, r := range prior {
		for _, file := range r.Sources {
			if ss.read[file] || looked[file] {
				continue
			}
			looked[file] = true
			if !ss.folders[path.Dir(file)] && !ss.isMissing(file) || file == standardInput {
				others[file] = true
			}
		}
	}
	return others
}

func (ss *sourceSet) isMissing(file string) bool {
	local := filepath.FromSlash(file)
	if !filepath.IsAbs(local) {
		local = filepath.Join(ss.dir, local)
	}
	_, err := os.Lstat(local)
	return errors.Is(err, fs.ErrNotExist)
}
