package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/natefinch/atomic"
)

// Folder is a store on disk that only its owner can read.
type Folder string

// Put implements [Store].
func (f Folder) Put(_ context.Context, name string, text []byte) (err error) {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(string(f), ".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = atomic.ReplaceFile(temp.Name(), filepath.Join(string(f), name))
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// Get implements [Store].
func (f Folder) Get(_ context.Context, name string) ([]byte, error) {
	file, err := os.Open(filepath.Join(string(f), name)) //nolint:gosec // beside the state file, at a place of the user's choice
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
	entries, err := os.ReadDir(string(f))
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
	return os.Remove(filepath.Join(string(f), name))
}
