package sandboxtest

import (
	"io/fs"
	"os"
)

// Examples returns the examples of the repository at a path, without state files from trying them out.
func Examples(repository string) fs.FS { return withoutState{os.DirFS(repository + "/examples")} }

// withoutState is a file system that hides state files.
type withoutState struct{ fs.FS }

func (w withoutState) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(w.FS, name)
	kept := entries[:0]
	for _, e := range entries {
		if e.Name() != ".planform" {
			kept = append(kept, e)
		}
	}
	return kept, err
}
