package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/planform/planform/internal/disk"
)

// Folder is a store on disk that only its owner can read.
type Folder struct {
	Disk disk.Disk
	Path string
}

var _ Store = Folder{}

// Put implements [Store].
func (f Folder) Put(_ context.Context, name string, text []byte) error {
	path, err := f.file(name)
	if err == nil {
		err = disk.MakeFolder(f.Disk, f.Path)
	}
	if err != nil {
		return err
	}
	return disk.Write(f.Disk, path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// file is the path of a record. Only a plain name is one: anything else would lead out of the folder.
func (f Folder) file(name string) (string, error) {
	if !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
		return "", fmt.Errorf("%q is not the name of a file in %s", name, f.Path)
	}
	return filepath.Join(f.Path, name), nil
}

// root opens the folder, so that no link leads out of it.
func (f Folder) root() (*os.Root, error) {
	if info, err := os.Stat(f.Path); err == nil && !info.IsDir() { // opening a pipe would block
		return nil, fmt.Errorf("%s is not a folder", f.Path)
	}
	return os.OpenRoot(f.Path)
}

// Get implements [Store].
func (f Folder) Get(_ context.Context, name string) ([]byte, error) {
	root, err := f.root()
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(file, 2*MostBytes))
	if err == nil && len(text) == 2*MostBytes {
		err = fmt.Errorf("%s is larger than any record", name)
	}
	return text, err
}

// List implements [Store]. It leaves out the files that [disk.Write] had not finished when its process was killed.
func (f Folder) List(context.Context) (names []string, err error) {
	root, err := f.root()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".planform-") {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Remove implements [Store].
func (f Folder) Remove(_ context.Context, name string) error {
	path, err := f.file(name)
	if err != nil {
		return err
	}
	return f.Disk.Remove(path)
}
