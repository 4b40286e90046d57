//go:build unix

package history_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/planform/planform/internal/state/disk"
	"github.com/planform/planform/internal/state/history"
)

func TestAHistoryReadsOnlyRegularFilesOfItsFolder(t *testing.T) {
	t.Parallel()
	record := id(1) + ".jsonl"
	for name, tt := range map[string]struct {
		make func(path string) error
		want string
	}{
		"a record that is a pipe": {func(path string) error { return syscall.Mkfifo(filepath.Join(path, record), 0o600) }, "is not a regular file"},
		"a record that is a link to a pipe": {func(path string) error {
			return first(syscall.Mkfifo(filepath.Join(path, "pipe"), 0o600), os.Symlink("pipe", filepath.Join(path, record)))
		}, "is not a regular file"},
		"a record that is a folder": {func(path string) error { return os.Mkdir(filepath.Join(path, record), 0o700) }, "is not a regular file"},
		"a record that is a link out of the folder": {func(path string) error {
			return first(os.WriteFile(path+".outside", nil, 0o600), os.Symlink(path+".outside", filepath.Join(path, record)))
		}, "escapes"},
		"a folder that is a pipe": {func(path string) error { return first(os.Remove(path), syscall.Mkfifo(path, 0o600)) }, "is not a folder"},
		"a folder that is a file": {func(path string) error { return first(os.Remove(path), os.WriteFile(path, nil, 0o600)) }, "is not a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "st.json.history")
			if err := first(os.Mkdir(folder, 0o700), tt.make(folder)); err != nil {
				t.Fatal(err)
			}
			h := &history.History{Store: history.Folder{Disk: disk.OS{}, Path: folder}}
			if runs, err := h.Runs(t.Context()); len(runs) > 0 || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v", runs, err)
			}
			if r, err := h.Run(t.Context(), id(1)); r != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
}

func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestAFolderOfAHistoryTakesPlainNamesOnly(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	folder := history.Folder{Disk: disk.OS{}, Path: filepath.Join(at, "st.json.history")}
	if err := first(os.Mkdir(folder.Path, 0o700), os.WriteFile(filepath.Join(at, "victim"), []byte("as it was"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../victim", "..", ".", "", "/victim", "sub/x", "./x", filepath.Join(at, "victim")} {
		if err := folder.Put(t.Context(), name, []byte("x")); err == nil {
			t.Errorf("%q was written", name)
		}
		if err := folder.Remove(t.Context(), name); err == nil {
			t.Errorf("%q was removed", name)
		}
		if text, err := folder.Get(t.Context(), name); err == nil {
			t.Errorf("%q was read: %s", name, text)
		}
	}
	if text, err := os.ReadFile(filepath.Join(at, "victim")); string(text) != "as it was" {
		t.Error(text, err)
	}
}
