//go:build unix

package manifest_test

import (
	"fmt"
	"os"
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

func TestAPipeThatAPatternNamesIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "m.yaml"), "version: 1\ninclude: ['*.yaml', '*/*.yaml']\npages: [{name: A}]\n")
	if err := syscall.Mkfifo(filepath.Join(dir, "b.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, found := manifest.Load(t.Context(), []string{filepath.Join(dir, "m.yaml")}, manifest.Options{})
	if len(found) != 2 || found[0].Code != "file-unreadable" || !strings.Contains(found[0].Summary, "not a regular file") {
		t.Error(found)
	}
}

func TestLinksThatLeadBackAreNotFollowedWithoutEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "m.yaml"), "version: 1\ninclude: ['"+strings.Repeat("*/", 20)+"*.yaml']\npages: [{name: A}]\n")
	for i := range 20 {
		if err := os.Symlink(".", filepath.Join(dir, fmt.Sprint("link", i))); err != nil {
			t.Fatal(err)
		}
	}
	_, found := manifest.Load(t.Context(), []string{filepath.Join(dir, "m.yaml")}, manifest.Options{})
	if len(found) != 1 || found[0].Code != "too-large" {
		t.Error(found)
	}
}
