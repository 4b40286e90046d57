package cli

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/planform/planform/planner"
)

// sourceSet are the manifests that share a state, by the names that it has for
// them: paths from the folder that it is for, with slashes.
type sourceSet struct {
	dir     string            // the folder
	names   map[string]string // of the manifests that are read, by those that the user gave
	read    map[string]bool
	folders map[string]bool // that are read as such
}

// standardInput is what stands for it, and for whatever else is not read twice.
const standardInput = "-"

// newSourceSet tells of a state and the manifests that are read. given are the names on the command line.
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

// name is what the state calls a manifest.
func (s *sourceSet) name(file string) string {
	if readOnce(file) {
		return standardInput
	}
	return s.relative(filepath.Join(realPath(filepath.Dir(file)), filepath.Base(file)))
}

// readOnce reports whether a manifest cannot be read twice: standard input, or such as a pipe.
func readOnce(file string) bool {
	info, err := os.Stat(file)
	return file == standardInput || err == nil && !info.Mode().IsRegular()
}

func (s *sourceSet) relative(file string) string {
	if name, err := filepath.Rel(s.dir, file); err == nil {
		file = name
	}
	return filepath.ToSlash(file)
}

// realPath is the path of a folder, which need not be there, without symbolic links.
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

// others are the manifests that the state names, that are not read, and that
// are there still. What is in a folder that is read is read, or no manifest any more.
func (s *sourceSet) others(prior planner.Prior) map[string]bool {
	others, looked := map[string]bool{}, map[string]bool{}
	for _, r := range prior {
		for _, file := range r.Sources {
			if s.read[file] || looked[file] {
				continue
			}
			looked[file] = true
			if !s.folders[path.Dir(file)] && !s.missing(file) || file == standardInput {
				others[file] = true
			}
		}
	}
	return others
}

func (s *sourceSet) missing(file string) bool {
	local := filepath.FromSlash(file)
	if !filepath.IsAbs(local) {
		local = filepath.Join(s.dir, local)
	}
	_, err := os.Lstat(local)
	return errors.Is(err, fs.ErrNotExist)
}
