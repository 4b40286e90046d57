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

	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/text/diag"
)

// runName is the file with the record of the last run.
const runName = ".planform/convert.json"

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// write writes the files and the record of the run into a folder. It removes stale files of the last run first, because their items would
// be there twice.
func write(dir string, files []outFile, stale []string, c *comparedRuns) error {
	root, err := disk.OpenFolder(dir)
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // every file is closed
	for _, name := range stale {
		if err := root.Remove(name); err != nil {
			return fmt.Errorf("remove the files of an earlier run: %w", err)
		}
	}
	run := c.this
	run.Files = map[string]string{}
	for _, f := range append([]outFile{c.items}, files...) {
		if err := disk.ReplaceIn(root, f.name, f.text()); err != nil {
			return fmt.Errorf("write %s: %w", filepath.Join(dir, f.name), err)
		}
		if f.name != itemsName {
			run.Files[f.name] = f.digest
		}
	}
	data, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return err
	}
	return disk.ReplaceIn(root, runName, bytes.NewReader(append(data, '\n')))
}

// check returns an error if the run would overwrite or remove a file that convert did not write, or that somebody changed since. stale are
// the files of the last run that this run does not write.
func (rn *run) check(dir string, files []outFile) (stale []string, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	var changed []string
	for _, f := range files {
		had, err := root.ReadFile(f.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read the files of the last run: %w", err)
		case digest(had) != rn.Files[f.name] && digest(had) != f.digest:
			changed = append(changed, f.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rn.Files)) {
		if !filepath.IsLocal(name) || slices.ContainsFunc(files, func(f outFile) bool { return f.name == name }) {
			continue
		}
		if had, err := root.ReadFile(name); err == nil && digest(had) == rn.Files[name] {
			stale = append(stale, name)
		} else if err == nil {
			changed = append(changed, name)
		}
	}
	if len(changed) > 0 {
		return nil, diag.WithHint(fmt.Errorf("%s was changed since convert wrote it, and would be overwritten", filepath.Join(dir, changed[0])),
			"move your changes into the mapping or into a further manifest and delete the file; nothing was written")
	}
	return stale, nil
}
