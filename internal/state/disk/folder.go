package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenFolder opens a folder of the user's, which it makes if it is not there.
func OpenFolder(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // others may read what the user writes
		return nil, err
	}
	return os.OpenRoot(dir)
}

// ReplaceIn writes a file below a folder, with the folders between. The file is there whole or not at all, and not outside the folder,
// whatever links are in it.
func ReplaceIn(root *os.Root, name string, text io.Reader) error {
	name = filepath.FromSlash(name)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	tmp := name + ".tmp"
	if err := root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, text); err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = root.Rename(tmp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(tmp))
	}
	return nil
}
