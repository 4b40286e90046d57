package export

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/planform/planform/internal/diag"
	"github.com/planform/planform/internal/disk"
	"github.com/planform/planform/internal/resource"
)

// NotEmptyError is a folder that holds what an export would mix with or replace.
type NotEmptyError struct {
	Dir   string
	Files []string
}

// Error names the first few files.
func (n *NotEmptyError) Error() string {
	return fmt.Sprintf("%s already contains %s", n.Dir, diag.First(n.Files, fewNames))
}

// CheckEmpty makes sure that a folder holds no manifest and none of the named files. It need not be there.
func CheckEmpty(dir string, names ...string) error {
	found, err := manifests(os.DirFS(dir)) // these would be read together with the export
	if err != nil {
		return fmt.Errorf("look into %s: %w", dir, err)
	}
	for _, name := range names {
		local := filepath.FromSlash(name)
		if _, err := os.Lstat(filepath.Join(dir, local)); err == nil && filepath.Dir(local) != "." {
			found = append(found, name)
		}
	}
	if len(found) > 0 {
		return &NotEmptyError{dir, found}
	}
	return nil
}

// StaleError is a folder that holds manifests of a former export which this one does
// not replace: read with it, they would bring back what is gone.
type StaleError struct {
	Dir   string
	Files []string
}

// Error names the first few files.
func (s *StaleError) Error() string {
	return fmt.Sprintf("%s holds %s from a former export, which this one does not write", s.Dir, diag.First(s.Files, fewNames))
}

// Hint says what to do.
func (s *StaleError) Hint() string { return "delete them, or name another folder; nothing was written" }

// Current makes sure that a folder holds no manifest of a former export but the named ones, which are replaced.
func Current(dir string, names ...string) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look into %s: %w", dir, err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	stale, err := manifests(root.FS())
	if err != nil {
		return fmt.Errorf("look into %s: %w", dir, err)
	}
	stale = slices.DeleteFunc(stale, func(name string) bool { return slices.Contains(names, name) || !signed(root, name) })
	if len(stale) > 0 {
		return &StaleError{dir, stale}
	}
	return nil
}

// signed reports whether a manifest begins as those of an export do.
func signed(root *os.Root, name string) bool {
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it was only read
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	return bytes.Contains(head[:n], []byte(signature))
}

// manifests lists the *.yaml and *.yml of a folder, which need not be there.
func manifests(folder fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(folder, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if ext := path.Ext(e.Name()); ext == ".yaml" || ext == ".yml" {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Write puts files into a folder, which is made if need be. Each is there whole or
// not at all, and none outside the folder, whatever links are in it.
func Write(dir string, files []File) error {
	root, err := disk.OpenFolder(dir)
	if err != nil {
		return fmt.Errorf("open the folder for the export: %w", err)
	}
	defer root.Close() //nolint:errcheck // every file is closed
	for _, f := range files {
		if err := f.write(root); err != nil {
			return fmt.Errorf("write %s: %w", path.Join(dir, f.Name), err)
		}
	}
	return nil
}

func (f File) write(root *os.Root) error {
	if f.From == "" {
		return disk.ReplaceIn(root, f.Name, bytes.NewReader(f.Data))
	}
	in, err := os.Open(f.From)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	return disk.ReplaceIn(root, f.Name, in)
}

// fileNames gives each file a name of its own.
type fileNames struct{ taken map[string]int } // the last number that was put behind the name

func (f *fileNames) reserve(name string) {
	if f.taken == nil {
		f.taken = map[string]int{}
	}
	f.taken[strings.ToLower(name)] = 1
}

// unique makes a file name of a word that comes from the service: letters, digits
// and hyphens, of bounded length, no name that some system reserves, and none that is taken.
func (f *fileNames) unique(dir, word, ext string) string {
	const longest = 60
	base := resource.Slug(word)
	for len(base) > longest {
		_, size := utf8.DecodeLastRuneInString(base)
		base = base[:len(base)-size]
	}
	base = strings.TrimRight(base, "-")
	if base == "" || reserved(base) {
		base = "x-" + base
		base = strings.TrimRight(base, "-")
	}
	if dir != "" {
		base = dir + "/" + base
	}
	name := base + ext
	for first := strings.ToLower(name); f.taken[strings.ToLower(name)] > 0; {
		f.taken[first]++
		name = base + "-" + strconv.Itoa(f.taken[first]) + ext
	}
	f.reserve(name)
	return name
}

// reserved reports whether Windows takes the name for a device.
func reserved(base string) bool {
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && base[3] >= '0' && base[3] <= '9'
}
