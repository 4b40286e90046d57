package convert

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/planform/planform/internal/diag"
)

// recordName is the file that knows what convert wrote.
const recordName = ".planform/convert.json"

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// write puts the files into a folder. Files that somebody changed since convert wrote them, and others of the same name, are an
// error, before anything is written. What convert wrote earlier and does not write now is removed: read with the others, it would
// be there twice.
func write(dir string, files []outFile, m *memory) error {
	if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(recordName)), 0o755); err != nil { //nolint:gosec // a folder of the user's
		return fmt.Errorf("make the folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // every file is closed
	stale, err := check(root, dir, files)
	if err != nil {
		return err
	}
	for _, name := range stale {
		if err := root.Remove(name); err != nil {
			return fmt.Errorf("remove what a former run wrote: %w", err)
		}
	}
	rec := m.record
	rec.Files = map[string]string{}
	if err := replace(root, itemsName, m.items); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, itemsName), err)
	}
	for _, f := range files {
		if err := replace(root, f.name, f.data); err != nil {
			return fmt.Errorf("write %s: %w", filepath.Join(dir, f.name), err)
		}
		rec.Files[f.name] = digest(f.data)
	}
	data, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return err
	}
	return replace(root, recordName, append(data, '\n'))
}

// checkFolder is check of a folder that need not be there.
func checkFolder(dir string, files []outFile) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look into the folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	_, err = check(root, dir, files)
	return err
}

// check makes sure that all files are as convert left them, and lists those that this run does not write any more.
func check(root *os.Root, dir string, files []outFile) (stale []string, err error) {
	var rec record
	if data, err := root.ReadFile(recordName); err == nil {
		if err := json.Unmarshal(data, &rec); err != nil {
			return nil, diag.WithHint(fmt.Errorf("%s: %w", filepath.Join(dir, recordName), err), "delete it together with the manifests that convert wrote")
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what the last run wrote: %w", err)
	}
	var changed []string
	for _, f := range files {
		had, err := root.ReadFile(f.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read what the last run wrote: %w", err)
		case digest(had) != rec.Files[f.name] && !bytes.Equal(had, f.data):
			changed = append(changed, f.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rec.Files)) {
		if !filepath.IsLocal(name) || slices.ContainsFunc(files, func(f outFile) bool { return f.name == name }) {
			continue
		}
		if had, err := root.ReadFile(name); err == nil && digest(had) == rec.Files[name] {
			stale = append(stale, name)
		} else if err == nil {
			changed = append(changed, name)
		}
	}
	if len(changed) > 0 {
		return nil, diag.WithHint(fmt.Errorf("%s was not left as convert wrote it, and would be overwritten", filepath.Join(dir, changed[0])),
			"move your changes into the mapping or into a further manifest and delete the file; nothing was written")
	}
	return stale, nil
}

// replace writes a file that is there whole or not at all.
func replace(root *os.Root, name string, data []byte) error {
	tmp := name + ".tmp"
	err := root.WriteFile(tmp, data, 0o644)
	if err == nil {
		err = root.Rename(tmp, name)
	}
	return err
}
