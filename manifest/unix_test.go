//go:build unix

package manifest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/planform/planform/internal/sample"
	"github.com/planform/planform/manifest"
)

func TestAPipeInAFolderDoesNotBlockReading(t *testing.T) {
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

func TestAPipeThatAPatternMatchesDoesNotBlockReading(t *testing.T) {
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

func TestAPipeThatAManifestNamesDoesNotBlockReading(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a folder of pages":            "pages: {folder: pipe}",
		"a folder below that":          "pages: [{folder: pipe/docs}]",
		"a folder of a project":        "projects: [{identifier: A, pages: [{folder: ./pipe}]}]",
		"a link to a pipe as a folder": "pages: [{folder: link}]",
		"a file":                       "pages: [{name: A, file: pipe.md}]",
		"an attachment":                "projects: [{identifier: A, work_items: [{name: A, attachments: [pipe.md]}]}]",
		"an included file":             "include: [pipe.yaml]",
		"a pattern below it":           "include: [pipe/*.yaml]",
		"a table":                      "projects: [{identifier: A, labels: [{for_each: {csv: pipe.csv}, name: \"${{ each.a }}\"}]}]",
		"a secret":                     "webhooks: [{url: \"https://a.example\", secret_file: pipe}]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, pipe := range []string{"pipe", "pipe.md", "pipe.yaml", "pipe.csv"} {
				if err := syscall.Mkfifo(filepath.Join(dir, pipe), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("pipe", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "m.yaml"), "version: 1\n"+text+"\n")
			if _, found := manifest.Load(t.Context(), []string{filepath.Join(dir, "m.yaml")}, manifest.Options{}); found.Err() == nil {
				t.Error("it is taken")
			}
		})
	}
}

func TestCyclicLinksOfFoldersAreNotFollowedForever(t *testing.T) {
	t.Parallel()
	if !sample.Each() {
		t.Skip("100,000 names are read: only with " + sample.Variable)
	}
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

func TestFoldersOfPagesAreLimited(t *testing.T) {
	t.Parallel()
	link := func(t *testing.T, target, name string) {
		t.Helper()
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		lay  func(t *testing.T, docs string)
		code string // "" = nothing is wrong
	}{
		"a file that leads out of the folder": {func(t *testing.T, docs string) {
			t.Helper()
			link(t, "/etc/passwd", filepath.Join(docs, "b.md"))
		}, "file-outside"},
		"a pipe": {func(t *testing.T, docs string) {
			t.Helper()
			if err := syscall.Mkfifo(filepath.Join(docs, "b.md"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "file-unreadable"},
		"a file that no request takes": {func(t *testing.T, docs string) {
			t.Helper()
			write(t, filepath.Join(docs, "b.md"), strings.Repeat("line\n", 100))
		}, "file-too-large"},
		"files that are too many bytes": {func(t *testing.T, docs string) {
			t.Helper()
			for i := range 10 {
				write(t, filepath.Join(docs, fmt.Sprintf("b%d.md", i)), strings.Repeat("line\n", 50))
			}
		}, "too-large"},
		"folders that are too deep": {func(t *testing.T, docs string) {
			t.Helper()
			deep := filepath.Join(docs, strings.Repeat("d/", 25))
			if err := os.MkdirAll(deep, 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(deep, "b.md"), "b")
		}, "too-deep"},
		"folders that lead back and elsewhere": {func(t *testing.T, docs string) {
			t.Helper()
			link(t, ".", filepath.Join(docs, "back"))
			link(t, "/etc", filepath.Join(docs, "etc"))
		}, ""},
		"a folder that leads elsewhere": {func(t *testing.T, docs string) {
			t.Helper()
			if err := os.RemoveAll(docs); err != nil {
				t.Fatal(err)
			}
			link(t, "/etc", docs)
		}, "file-outside"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			docs := filepath.Join(dir, "docs")
			if err := os.Mkdir(docs, 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "m.yaml"), "version: 1\npages: {folder: docs}\n")
			write(t, filepath.Join(docs, "a.md"), "a")
			tt.lay(t, docs)
			limits := manifest.Limits{FileBytes: 1000, ScalarBytes: 300}
			m, found := manifest.Load(t.Context(), []string{filepath.Join(dir, "m.yaml")}, manifest.Options{Limits: limits})
			switch {
			case tt.code == "" && (len(found) > 0 || len(m.Objects) != 2): // the page, and the feature that it needs
				t.Error(found, m.Objects)
			case tt.code != "" && (len(found) != 1 || found[0].Code != tt.code):
				t.Error("not", tt.code, found)
			}
		})
	}
}
