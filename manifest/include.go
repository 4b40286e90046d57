package manifest

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/schema"
)

// maxIncluded limits the files that manifests include, and maxSearched the folder entries that are searched for them: a folder tree with
// symbolic links can be endless.
const (
	maxIncluded = 10_000
	maxSearched = 10 * maxIncluded
)

// inclusion is an include entry of a document, with the variables of that document.
type inclusion struct {
	source *source
	entry  *node
	vars   map[string]fileNode
	of     *source // one of the included files
}

func (in inclusion) position() diag.Position { return fileNode{in.entry, in.source.name}.position() }

// include finds the files that an entry includes, and queues those that are not queued yet.
func (r *reader) include(by inclusion) {
	name := resolved(by.entry)
	if name == nil || name.Kind != scalarNode || strings.TrimSpace(name.Value) == "" || isNull(name) {
		r.cannotInclude(by, problem{
			"wrong-type", "include names files, not " + describe(by.entry),
			"write include: [states.yaml, people/*.yaml]",
		})
		return
	}
	files, bad := by.source.includedFiles(name.Value, &r.searched)
	switch {
	case r.searched > maxSearched:
		files, bad = nil, &problem{
			"too-large", "the folders that are searched for included files contain more than " + diag.Count(maxSearched, "file"),
			"name the files, or the folders that hold them",
		}
	case len(r.inclusions)+len(files) > maxIncluded:
		files, bad = nil, &problem{
			"too-large", "the manifests include more than " + diag.Count(maxIncluded, "file"),
			"split them and apply the parts one after another",
		}
	}
	for i := 0; i < len(files) && bad == nil; i++ {
		if by.of, bad = r.includedSource(by, files[i]); bad == nil {
			r.inclusions = append(r.inclusions, by)
		}
	}
	if bad != nil {
		bad.summary += ": " + quote(name.Value)
		r.cannotInclude(by, *bad)
	}
}

func (r *reader) cannotInclude(by inclusion, bad problem) {
	r.complete = false
	r.found.report(by.position(), schema.Include, bad)
}

// includedFiles returns the files that a name includes. In the name, *, ? and [ have the meaning that they have in a shell.
func (s *source) includedFiles(name string, searched *int) ([]string, *problem) {
	local, bad := localName(name)
	switch {
	case bad != nil && bad.code != "file-outside":
		return nil, bad
	case bad != nil:
		bad.hint = "keep it below that folder, or give it its own -f: manifests of several -f are one"
		return nil, bad
	}
	if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" && ext != ".json" {
		return nil, &problem{
			"file-type", "it is not the name of a manifest",
			"name files that end in .yaml, .yml or .json, such as people/*.yaml",
		}
	}
	if strings.Contains(name, "**") {
		return nil, &problem{"bad-value", "** is not supported", `name each depth: include: ["*.yaml", "*/*.yaml"]`}
	}
	if !isPattern(name) {
		return []string{local}, nil
	}
	root, bad := s.openFolder()
	if bad != nil {
		return nil, bad
	}
	files, err := fs.Glob(limitedFolders{root.FS(), searched}, filepath.ToSlash(local))
	files = slices.DeleteFunc(files, func(file string) bool {
		f, bad := s.openFile(filepath.FromSlash(file))
		return strings.HasPrefix(path.Base(file), ".") || bad == nil && isMapping(f)
	})
	switch {
	case err != nil:
		return nil, &problem{
			"bad-value", "it is not a valid pattern",
			"* stands for any part of a name, ? for a character, [ab] for one of them",
		}
	case len(files) == 0:
		return nil, &problem{"file-missing", "there is no such file", "name it relative to the manifest's folder"}
	}
	return files, nil
}

func isPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// limitedFolders is a file system whose folders appear empty after maxSearched entries.
type limitedFolders struct {
	fs.FS

	searched *int
}

// ReadDir implements [fs.ReadDirFS].
func (lf limitedFolders) ReadDir(name string) ([]fs.DirEntry, error) {
	*lf.searched++
	if info, err := fs.Stat(lf.FS, name); err != nil || !info.IsDir() || *lf.searched > maxSearched { // opening a pipe would block
		return nil, err //nolint:wrapcheck // see below
	}
	entries, err := fs.ReadDir(lf.FS, name)
	*lf.searched += len(entries)
	return entries, err //nolint:wrapcheck // folders that cannot be read match nothing
}

// includedSource returns the source of an included file: an existing one, or a new one that it queues.
func (r *reader) includedSource(by inclusion, name string) (*source, *problem) {
	local := filepath.FromSlash(name)
	f, bad := by.source.openFile(local)
	if bad != nil {
		return nil, bad
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, readProblem(err)
	}
	for _, s := range r.files {
		if s.info != nil && os.SameFile(s.info, info) {
			if s.passed == nil && s.declared == nil {
				s.passed = by.vars // also named by the user, and not read yet
			}
			return s, nil
		}
	}
	file := filepath.Join(by.source.dir, local)
	s := &source{
		name: file, dir: filepath.Dir(file), info: info, listed: isPattern(resolved(by.entry).Value), passed: by.vars,
		open: func() (io.ReadCloser, error) { return inFolder(by.source.dir, local, (*os.Root).Open) },
	}
	r.files = append(r.files, s)
	return s, nil
}

// checkInclusions reports files that are included with other values than those with which they were read.
func (r *reader) checkInclusions() {
	for _, by := range r.inclusions {
		for name, used := range by.of.declared {
			passed, ok := by.vars[name]
			if _, given := r.given.values[name]; !ok || given || isBroken(passed.node) || isBroken(used.node) ||
				r.equal(passed.node, used.node) {
				continue
			}
			summary := "the variable " + name + " of " + by.of.name + " has another value here than elsewhere, but each file is read only once"
			conflict := problem{"conflict", summary, "give it one value, or rename one of the variables"}
			r.found.report(by.position(), schema.Include, conflict, relatedPlace("the other value is at", used.position()))
		}
	}
}

// equal reports whether two values are equal.
func (r *reader) equal(a, b *node) bool {
	if a == b {
		return true
	}
	a, b = resolved(a), resolved(b)
	if a == nil || b == nil || !r.budget.fill(1) || a.Kind != b.Kind || a.Value != b.Value || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !r.equal(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
