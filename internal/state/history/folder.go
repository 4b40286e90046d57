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

	"github.com/planform/planform/internal/state/disk"
)

// Folder is a store on disk that only its owner can read.
type Folder struct {
	Disk disk.Disk
	Path string
}

var _ Store = Folder{}

// Put implements [Store].
func (fo Folder) Put(_ context.Context, name string, text []byte) error {
	path, err := fo.file(name)
	if err == nil {
		err = disk.MakeFolder(fo.Disk, fo.Path)
	}
	if err != nil {
		return err
	}
	return disk.Write(fo.Disk, path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// file returns the path of a record. Only a plain name is accepted, because any other name would lead out of the folder.
func (fo Folder) file(name string) (string, error) {
	if !filepath.IsLocal(name) || filepath.Base(name) != name || name == "." {
		return "", fmt.Errorf("%q is not the name of a file in %s", name, fo.Path)
	}
	return filepath.Join(fo.Path, name), nil
}

// root opens the folder in such a way that no link leads out of it.
func (fo Folder) root() (*os.Root, error) {
	if info, err := os.Stat(fo.Path); err == nil && !info.IsDir() { // opening a pipe would block
		return nil, fmt.Errorf("%s is not a folder", fo.Path)
	}
	return os.OpenRoot(fo.Path)
}

// Get implements [Store].
func (fo Folder) Get(_ context.Context, name string) ([]byte, error) {
	root, err := fo.root()
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

// List implements [Store]. It leaves out files that [disk.Write] had not finished when its process was killed.
func (fo Folder) List(context.Context) (names []string, err error) {
	root, err := fo.root()
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
func (fo Folder) Remove(_ context.Context, name string) error {
	path, err := fo.file(name)
	if err != nil {
		return err
	}
	return fo.Disk.Remove(path)
}
