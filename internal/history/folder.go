package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

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
	if err := disk.MakeFolder(f.Disk, f.Path); err != nil {
		return err
	}
	return disk.Write(f.Disk, f.file(name), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

func (f Folder) file(name string) string { return filepath.Join(f.Path, name) }

// Get implements [Store].
func (f Folder) Get(_ context.Context, name string) ([]byte, error) {
	file, err := os.Open(f.file(name))
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

// List implements [Store].
func (f Folder) List(context.Context) ([]string, error) {
	entries, err := os.ReadDir(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// Remove implements [Store].
func (f Folder) Remove(_ context.Context, name string) error {
	return f.Disk.Remove(f.file(name))
}
