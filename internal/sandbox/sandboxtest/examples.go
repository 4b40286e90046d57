package sandboxtest

import (
	"io/fs"
	"os"
)

// Examples are the repository's examples, below a path to it, without what trying them out left behind.
func Examples(repository string) fs.FS { return withoutState{os.DirFS(repository + "/examples")} }

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
