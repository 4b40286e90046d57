package manifest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planform/planform/manifest"
)

const withFile = "version: 1\nprojects:\n- key: web\n  work_items:\n  - name: A\n    key: a\n    attachments: [{file: \"FILE\"}]\n"

func TestTheFileOfAnAttachmentIsCheckedWhereItIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	write(t, filepath.Join(dir, "secret.pdf"), "secret")
	write(t, filepath.Join(in, "files", "Design v2.PDF"), "\x00not text\xff")
	write(t, filepath.Join(in, "files", "empty.pdf"), "")
	write(t, filepath.Join(in, "files", "limit.bin"), strings.Repeat("x", 5<<20))
	write(t, filepath.Join(in, "files", "large.bin"), strings.Repeat("x", 5<<20+1))
	write(t, filepath.Join(in, "files", "page.HTML"), "<p>")
	for link, to := range map[string]string{"out.pdf": "../secret.pdf", "dir": "..", "inside.pdf": "files/Design v2.PDF"} {
		if err := os.Symlink(to, filepath.Join(in, link)); err != nil {
			t.Fatal(err)
		}
	}
	for file, code := range map[string]string{
		"files/Design v2.PDF": "", "./files/Design v2.PDF": "", "inside.pdf": "", "files/limit.bin": "",
		"../secret.pdf": "file-outside", "/etc/passwd": "file-outside", "out.pdf": "file-outside", "dir/secret.pdf": "file-outside",
		"files": "file-unreadable", "files/missing.pdf": "file-missing", "files/empty.pdf": "file-empty", "files/large.bin": "file-too-large",
		"files/page.HTML": "file-type", "files/mail.eml": "file-type",
	} {
		name := filepath.Join(in, "m.yaml")
		write(t, name, strings.Replace(withFile, "FILE", file, 1))
		m, found := manifest.Load(t.Context(), []string{name}, manifest.Options{})
		switch {
		case code != "" && (len(found) != 1 || found[0].Code != code || found[0].Position.Line != 7 || found[0].Position.Column != 26):
			t.Errorf("%s: want %s, got %v", file, code, found)
		case code == "" && len(found) > 0:
			t.Errorf("%s: %v", file, found)
		case code == "":
			o := m.Objects[len(m.Objects)-1]
			v, _ := o.Value("file")
			if o.Text("name") != filepath.Base(file) || v.Content.Size == 0 {
				t.Errorf("%s: %q %+v", file, o.Text("name"), v.Content)
			}
		}
	}
}

func TestAnAttachmentIsKnownByItsName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "files", "Design v2.PDF"), "%PDF")
	name := filepath.Join(dir, "m.yaml")
	write(t, name, strings.Replace(withFile, "FILE", "files/Design v2.PDF", 1))
	m, found := manifest.Load(t.Context(), []string{name}, manifest.Options{})
	if len(found) > 0 {
		t.Fatal(found)
	}
	o := m.Objects[len(m.Objects)-1]
	v, _ := o.Value("file")
	if o.Address != "attachment/web/a/design-v2-pdf" || v.Content.Media != "application/pdf" ||
		v.Content.String() != "4 sha256:315d429b7714cedb6ad04ac31240145257692630457f3c88253c5beceac76027" {
		t.Errorf("%s %+v", o.Address, v.Content)
	}
}
