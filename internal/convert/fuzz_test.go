package convert_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/formats"
)

// zipped returns a zip archive of a file with a mode and a text, beside a usual one.
func zipped(name string, mode fs.FileMode, method uint16, text []byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, one := range []struct {
		name string
		text []byte
	}{{"usual.csv", []byte("key,name\nA-1,One\n")}, {name, text}} {
		h := &zip.FileHeader{Name: one.name, Method: method % 2 * zip.Deflate}
		if one.name == name {
			h.SetMode(mode)
		}
		if w, err := z.CreateHeader(h); err == nil {
			_, _ = w.Write(one.text)
		}
	}
	_ = z.Close()
	return b.Bytes()
}

// tarred returns the same as a tar archive that gzip packed.
func tarred(name string, kind byte, text []byte) []byte {
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	for _, h := range []*tar.Header{{Name: "usual.csv", Size: 17}, {Name: name, Size: int64(len(text)), Typeflag: kind, Linkname: "usual.csv"}} {
		if kind != tar.TypeReg && h.Name == name {
			h.Size = 0
		}
		if w.WriteHeader(h) != nil {
			continue
		}
		if h.Name != name {
			_, _ = w.Write([]byte("key,name\nA-1,One\n"))
		} else if h.Size > 0 {
			_, _ = w.Write(text)
		}
	}
	_, _ = w.Close(), g.Close()
	return b.Bytes()
}

// FuzzArchives: whatever an archive holds, it is read or refused, names stay within it, and nothing is written elsewhere.
func FuzzArchives(f *testing.F) {
	for _, name := range []string{"a.csv", "../a.csv", "/etc/a.csv", `..\a.csv`, "a/", "a/../../b", ".hidden/a.csv", "./a.csv", "", "a\x00b", "[Content_Types].xml", strings.Repeat("d/", 50) + "a.json"} {
		f.Add(false, name, uint32(0o600), []byte("key,name\nA-2,Two\n"), uint32(0), byte(0))
		f.Add(true, name, uint32(tar.TypeReg), []byte("key,name\nA-2,Two\n"), uint32(0), byte(0))
	}
	f.Add(false, "a.csv", uint32(fs.ModeSymlink|0o777), []byte("/etc/passwd"), uint32(0), byte(0))
	f.Add(true, "a.csv", uint32(tar.TypeSymlink), []byte("x"), uint32(0), byte(0))
	f.Add(false, "a.csv", uint32(0o600), bytes.Repeat([]byte("a"), 10000), uint32(40), byte(255))
	f.Fuzz(func(t *testing.T, isTar bool, name string, mode uint32, text []byte, at uint32, change byte) {
		if len(text) > 1<<16 || len(name) > 1<<10 {
			return
		}
		data := zipped(name, fs.FileMode(mode), uint16(len(name)), text)
		if isTar {
			data = tarred(name, byte(mode), text)
		}
		data[int(at)%len(data)] ^= change
		files, err := convert.Files([]string{"-"}, "", bytes.NewReader(data))
		for _, one := range files {
			if inside, ok := strings.CutPrefix(one.Name, "-/"); ok && !filepath.IsLocal(inside) {
				t.Errorf("%q leaves the archive", one.Name)
			}
			_ = one.Read(func(in io.Reader) error { _, err := io.Copy(io.Discard, io.LimitReader(in, 1<<20)); return err })
		}
		if err != nil {
			return
		}
		dir := t.TempDir()
		_, _ = convert.Run(t.Context(), convert.Options{Format: convert.Auto, Formats: formats.All(), Files: files, Dir: filepath.Join(dir, "to")})
		if made, _ := os.ReadDir(dir); len(made) > 1 || len(made) == 1 && made[0].Name() != "to" {
			t.Errorf("%v is written", made)
		}
	})
}

// FuzzBackup: whatever the XML of a backup holds, it is read or refused.
func FuzzBackup(f *testing.F) {
	for _, name := range []string{"jira-backup-entities.xml", "jira-backup-activeobjects.xml"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		f.Add(text[:len(text)/2])
	}
	f.Add([]byte(`<?xml version="1.0" encoding="utf-16"?><entity-engine-xml><Issue id="1" key="A-1">` + strings.Repeat("<description>", 1000)))
	f.Add([]byte(`<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;">]><entity-engine-xml><Issue id="1" key="A-1" summary="&d;"/></entity-engine-xml>`))
	f.Add([]byte(`<entity-engine-xml><Issue id="1" key="A-1" project="1" summary="&#0;&#x1F;"/><Issue/></entity-engine-xml>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<17 {
			return
		}
		files, err := convert.Files([]string{"-"}, "", bytes.NewReader(text))
		if err != nil {
			return
		}
		_, _ = convert.Run(t.Context(), convert.Options{Format: "jira-backup", Formats: formats.All(), Files: files, Dir: t.TempDir()})
	})
}

// FuzzUsers: whatever a list of people holds beside an export, it is read or refused.
func FuzzUsers(f *testing.F) {
	export, err := os.ReadFile("testdata/jira-cloud.csv")
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{
		"User id,User name,email\n1,Ada,ada@example.com\n", "email;id\n ADA@example.com ;5\nno address;6\n", "email,email,id\n,,\n\"a\nb@c.d\",x,1,2\n", "mail\tUser id\n\xff@x\t\x00\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		dir := t.TempDir()
		put(t, dir, map[string]string{"export.csv": string(export), "users.csv": string(text)})
		files, err := convert.Files([]string{filepath.Join(dir, "export.csv"), filepath.Join(dir, "users.csv")}, "", nil)
		if err != nil {
			return
		}
		to := filepath.Join(dir, "to")
		if _, err := convert.Run(t.Context(), convert.Options{Format: convert.Auto, Formats: formats.All(), Files: files, Dir: to}); err == nil && len(contents(t, to)) == 0 {
			t.Error("neither files nor an error")
		}
	})
}
