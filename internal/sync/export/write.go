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

	"github.com/planform/planform/internal/plane/resource"
	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/text/diag"
)

// NotEmptyError says that a folder holds files that an export would mix with or replace.
type NotEmptyError struct {
	Dir   string
	Files []string
}

// Error names the first few files.
func (n *NotEmptyError) Error() string {
	return fmt.Sprintf("%s already contains %s", n.Dir, diag.First(n.Files, fewNames))
}

// CheckEmpty returns an error if a folder holds a manifest or one of the named files. The folder need not exist.
func CheckEmpty(dir string, names ...string) error {
	found, err := manifestFiles(os.DirFS(dir)) // they would be read together with the export
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

// Current returns an error if a folder holds manifests of a former export other than the named ones, which are replaced. Read
// together, they would bring back deleted objects.
func Current(dir string, names ...string) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look into %s: %w", dir, err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	stale, err := manifestFiles(root.FS())
	if err != nil {
		return fmt.Errorf("look into %s: %w", dir, err)
	}
	stale = slices.DeleteFunc(stale, func(name string) bool { return slices.Contains(names, name) || !hasSignature(root, name) })
	if len(stale) > 0 {
		return diag.WithHint(fmt.Errorf("%s still contains %s of an earlier export", dir, diag.First(stale, fewNames)),
			"delete them or name another folder; nothing was written")
	}
	return nil
}

// hasSignature reports whether a manifest begins like the manifests of an export.
func hasSignature(root *os.Root, name string) bool {
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

// manifestFiles returns the *.yaml and *.yml files of a folder, which need not exist.
func manifestFiles(folder fs.FS) ([]string, error) {
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

// Write puts files into a folder, and makes the folder if necessary. It writes each file completely or not
// at all, and none outside the folder, whatever links the folder holds.
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

func (fl File) write(root *os.Root) error {
	if fl.From == "" {
		return disk.ReplaceIn(root, fl.Name, bytes.NewReader(fl.Data))
	}
	in, err := os.Open(fl.From)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was only read
	return disk.ReplaceIn(root, fl.Name, in)
}

// fileNames gives each file a different name.
type fileNames struct{ taken map[string]int } // last number that was appended to each name

func (f *fileNames) reserve(name string) {
	if f.taken == nil {
		f.taken = map[string]int{}
	}
	f.taken[strings.ToLower(name)] = 1
}

// unique makes a file name from a word of the service: letters, digits and hyphens, of bounded length. It
// avoids names that a system reserves, and names that are taken.
func (f *fileNames) unique(dir, word, ext string) string {
	const longest = 60
	base := resource.Slug(word)
	for len(base) > longest {
		_, size := utf8.DecodeLastRuneInString(base)
		base = base[:len(base)-size]
	}
	base = strings.TrimRight(base, "-")
	if base == "" || isReserved(base) {
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

// isReserved reports whether Windows takes the name for a device.
func isReserved(base string) bool {
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && base[3] >= '0' && base[3] <= '9'
}
