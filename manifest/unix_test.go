//go:build unix

package manifest_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/planform/planform/manifest"
)

func TestAPipeInADirectoryIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), "version: 1\npages: [{name: A}]\n")
	if err := syscall.Mkfifo(filepath.Join(dir, "b.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, found := manifest.Load(t.Context(), []string{dir}, manifest.Options{})
	if len(found) != 1 || found[0].Code != "unreadable" || !strings.Contains(found[0].Summary, "not a regular file") {
		t.Error(found)
	}
}
