package convert_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/planform/planform/internal/convert"
	"github.com/planform/planform/internal/convert/formats"
	"github.com/planform/planform/internal/text/diag"
)

const (
	oneIssue = "Summary,Issue key,Issue Type,Status,Assignee,Assignee Id\na,A-1,Bug,Open,Ada,u1\n"
	another  = "Summary,Issue key,Issue Type,Status,Assignee,Assignee Id\nb,A-2,Bug,Open,Ada,u1\n"
	siteList = "User id,User name,email\nu1,Ada,ada@example.com\n"
)

// put writes files, by their path in a folder.
func put(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

// entry is a file of an archive.
type entry struct {
	name, text string
	change     func(*zip.FileHeader)
}

// entries are the files of an archive by their names.
func entries(texts map[string]string) (all []entry) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		all = append(all, entry{name: name, text: texts[name]})
	}
	return all
}

// pack makes an archive.
func pack(tb testing.TB, entries ...entry) string {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.change != nil {
			e.change(h)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			tb.Fatal(err)
		}
		if strings.HasSuffix(e.name, "/") {
			continue
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// tarball packs files as tar and gzip do. What is said of one goes into its header.
func tarball(tb testing.TB, entries ...tar.Header) string {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for _, e := range entries {
		text := e.Uname // which stands for what is in it
		e.Uname, e.Size, e.Mode = "", int64(len(text)), e.Mode|0o600
		if err := t.WriteHeader(&e); err != nil {
			tb.Fatal(err)
		}
		if _, err := io.WriteString(t, text); err != nil {
			tb.Fatal(err)
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestAFolderAndAnArchiveGiveTheSameManifests(t *testing.T) {
	t.Parallel()
	const binary, page = "\x89PNG\x00\x00", "<!doctype html><html>"
	side := map[string]string{"users.csv": siteList, "files/a.png": binary, "files/page.html": page, ".DS_Store": binary, "sub/b.csv": another, "readme.txt": "See the wiki.", "acme/.planform/convert.json": "{}", "acme/a.yaml": "version: 1"}
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder")
	put(t, folder, side)
	put(t, folder, map[string]string{"a.csv": oneIssue})
	archive := filepath.Join(dir, "export.zip")
	packed := pack(t, entry{name: "sub/"}, entry{name: "sub/b.csv", text: another}, entry{name: "a.csv", text: oneIssue}, entry{name: "users.csv", text: siteList}, entry{name: "__MACOSX/._a.csv", text: binary}, entry{name: "files/a.png", text: binary})
	tarred := tarball(t, tar.Header{Typeflag: tar.TypeDir, Name: "./"}, tar.Header{Name: "./sub/b.csv", Uname: another}, tar.Header{Name: "./a.csv", Uname: oneIssue}, tar.Header{Name: "./users.csv", Uname: siteList}, tar.Header{Name: "./files/a.png", Uname: binary + strings.Repeat("\x00", 1000)}, tar.Header{Name: "./.DS_Store", Uname: binary})
	put(t, dir, map[string]string{"export.tar.gz": tarred, "export.zip": packed, "a.csv": oneIssue, "b.csv": another, "users.csv": siteList})
	var want string
	for name, f := range map[string]struct {
		names []string
		stdin string
	}{
		"files are one export":                           {names: []string{filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv"), filepath.Join(dir, "users.csv")}},
		"a folder is one export":                         {names: []string{folder}},
		"an archive is one export":                       {names: []string{archive}},
		"an archive with paths of Windows is one export": {names: []string{"-"}, stdin: pack(t, entry{name: `export\sub\b.csv`, text: another}, entry{name: `export\a.csv`, text: oneIssue}, entry{name: `export\users.csv`, text: siteList})},
		"a piped archive is one export":                  {names: []string{"-"}, stdin: packed},
		"a tar.gz is one export":                         {names: []string{filepath.Join(dir, "export.tar.gz")}},
		"a piped tar.gz is one export":                   {names: []string{"-"}, stdin: tarred},
		"a piped file is one export with the named ones": {names: []string{"-", filepath.Join(dir, "b.csv"), filepath.Join(dir, "users.csv")}, stdin: oneIssue},
		"an equal file in two places is read once":       {names: []string{folder, archive}},
	} {
		files, err := convert.Files(f.names, "", strings.NewReader(f.stdin))
		if err != nil {
			t.Fatal(name, err)
		}
		to := filepath.Join(t.TempDir(), "to")
		r, err := convert.Run(t.Context(), convert.Options{Format: convert.Auto, Formats: formats.All(), Files: files, Dir: to})
		if err != nil {
			t.Fatal(name, err)
		}
		got := contents(t, to)["a.yaml"]
		if want == "" {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(got, "ada@example.com") || r.Report.Counts.Items != 2 {
			t.Errorf("%s: %s", name, diff)
		}
		for _, n := range r.Report.Notes {
			if n.Kind == "files-passed-over" && name == "a folder is one export" && !strings.Contains(n.Text, "3 files passed over, in which there is no export: "+filepath.Join(folder, "files", "a.png")) {
				t.Error(n.Text)
			}
		}
	}
}

func TestWhatNoFolderAndNoArchiveMayHold(t *testing.T) {
	t.Parallel()
	good := entry{name: "a.csv", text: oneIssue}
	many := make([]entry, 20_001)
	for i := range many {
		many[i] = entry{name: "x/", text: ""}
	}
	claims := func(size uint32, packed string) string { // the sizes in the central directory
		b := []byte(packed)
		at := bytes.Index(b, []byte("PK\x01\x02"))
		binary.LittleEndian.PutUint32(b[at+24:], size)
		return string(b)
	}
	for name, tt := range map[string]struct {
		files      map[string]string
		link       string
		want, hint string
	}{
		"an empty folder is an error":                         {nil, "", "DIR: there is no file in the folder", "exported files"},
		"a folder without an export is an error":              {map[string]string{"readme.txt": "See."}, "", "DIR/readme.txt: none of the files is an export in a known format", "planform convert csv"},
		"exports of two trackers need the name of the format": {map[string]string{"a.csv": oneIssue, "b.json": `[{"number":1,"title":"a"}]`}, "", "DIR/a.csv is jira-csv, and DIR/b.json is github", "name the format"},
		"a CSV of a folder that is cut is named":              {map[string]string{"a.csv": oneIssue, "b.csv": oneIssue + "x,A-9"}, "", "DIR/b.csv:3: the file ends within this row", "cut off"},
		"a CSV of a folder that is empty is named":            {map[string]string{"a.csv": oneIssue, "b.csv": ""}, "", "DIR/b.csv: the file is empty", "again"},
		"a refusal of an API in a folder is named":            {map[string]string{"a.csv": oneIssue, "b.json": `{"message": "API rate limit exceeded"}`}, "", "DIR/b.json:1: the file is not an export, but an error", "again"},
		"a CSV of a folder that is a page is named":           {map[string]string{"a.csv": oneIssue, "b.csv": "<html>"}, "", "DIR/b.csv:1: it is a web page", "log in"},
		"a symbolic link is not followed":                     {map[string]string{"a.csv": oneIssue}, "/etc/passwd", "DIR/link: it is a symbolic link", "not followed"},
		"an archive that is cut is an error":                  {map[string]string{"a.zip": pack(t, good)[:60]}, "", "DIR/a.zip: the archive is damaged or cut off", "again"},
		"an archive without files is an error":                {map[string]string{"a.zip": pack(t)}, "", "DIR/a.zip: there is no file in the archive", "exported files"},
		"a path may not leave the archive":                    {map[string]string{"a.zip": pack(t, entry{name: "../a.csv", text: oneIssue})}, "", `DIR/a.zip: the path "../a.csv" leaves the archive`, "pack the files again"},
		"a path of an archive may not begin at the root":      {map[string]string{"a.zip": pack(t, entry{name: "/etc/a.csv", text: oneIssue})}, "", `DIR/a.zip: the path "/etc/a.csv" leaves the archive`, ""},
		"a path of Windows may not leave the archive":         {map[string]string{"a.zip": pack(t, entry{name: `..\a.csv`, text: oneIssue})}, "", `DIR/a.zip: the path "../a.csv" leaves the archive`, ""},
		"a link in an archive is not followed":                {map[string]string{"a.zip": pack(t, entry{"a.csv", "/etc/passwd", func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }})}, "", "DIR/a.zip: a.csv is a symbolic link", ""},
		"an encrypted archive is not read":                    {map[string]string{"a.zip": pack(t, entry{"a.csv", oneIssue, func(h *zip.FileHeader) { h.Flags |= 1 }})}, "", "DIR/a.zip: a.csv is encrypted", "password"},
		"an archive may not unpack to more than it says":      {map[string]string{"a.zip": claims(10, pack(t, good))}, "", "DIR/a.zip/a.csv: it", "again"},
		"an archive may not unpack to too much":               {map[string]string{"a.zip": claims(0xFFFFFFF0, pack(t, good))}, "", "DIR/a.zip: the archive unpacks to more", ""},
		"a tar.gz that is cut is an error":                    {map[string]string{"a.tar.gz": tarball(t, tar.Header{Name: "a.csv", Uname: oneIssue})[:80]}, "", "DIR/a.tar.gz: the archive is damaged or cut off", "again"},
		"a tar.gz without files is an error":                  {map[string]string{"a.tar.gz": tarball(t, tar.Header{Typeflag: tar.TypeDir, Name: "./"})}, "", "DIR/a.tar.gz: there is no file in the archive", "exported files"},
		"a path may not leave a tar.gz":                       {map[string]string{"a.tar.gz": tarball(t, tar.Header{Name: "./../a.csv", Uname: oneIssue})}, "", `DIR/a.tar.gz: the path "./../a.csv" leaves the archive`, "pack the files again"},
		"a link in a tar.gz is not followed":                  {map[string]string{"a.tar.gz": tarball(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "a.csv", Linkname: "/etc/passwd"})}, "", "DIR/a.tar.gz: a.csv is a symbolic link", ""},
		"a device in a tar.gz is not read":                    {map[string]string{"a.tar.gz": tarball(t, tar.Header{Typeflag: tar.TypeChar, Name: "a.csv"})}, "", "DIR/a.tar.gz: a.csv is not a regular file", ""},
		"a file that gzip packed is to be unpacked":           {map[string]string{"a.gz": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"}, "", "DIR/a.gz:1: it is a gzip archive", "unpack"},
		"a short file that gzip packed is to be unpacked":     {map[string]string{"a.csv.gz": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x0b\xc9\x2c\xc9\x49\xe5\x72\xe4\x02\x00\x45\xeb\xc9\x6e\x08\x00\x00\x00"}, "", "DIR/a.csv.gz:1: it is a gzip archive", "unpack"},
		"an archive may not have too many entries":            {map[string]string{"a.zip": pack(t, many...)}, "", "DIR/a.zip: there are more than 20000 files and folders", "without attachments"},
		"an archive in an archive is to be unpacked":          {map[string]string{"a.zip": pack(t, entry{name: "b.zip", text: pack(t, good)})}, "", "DIR/a.zip/b.zip:1: it is a zip archive within another", "unpack"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, tt.files)
			if tt.link != "" {
				if err := os.Symlink(tt.link, filepath.Join(dir, "link")); err != nil {
					t.Fatal(err)
				}
			}
			to := filepath.Join(t.TempDir(), "to")
			_, err := run(t, to, fixture{files: []string{dir}}, nil)
			if err == nil || !strings.HasPrefix(strings.ReplaceAll(err.Error(), dir, "DIR"), tt.want) || !strings.Contains(diag.HintOf(err), tt.hint) {
				t.Errorf("%v (%s), want %s", err, diag.HintOf(err), tt.want)
			}
			if _, err := os.Stat(to); err == nil {
				t.Error("something was written")
			}
		})
	}
}

func TestAFileThatMayBeAPartOfTheExportIsALoss(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"a.csv": oneIssue, "b.csv": "zwei,A-2,2,Story\n", "inner.zip": pack(t, entry{name: "c.zip", text: pack(t, entry{name: "c.csv", text: oneIssue})}),
		"picture.png": "PNG", "empty.json": "[]", "read.me": "See.",
	})
	_, r := manifests(t, fixture{files: []string{dir}}, "")
	n := slices.IndexFunc(r.Losses, func(l convert.Loss) bool { return l.Kind == "files-not-read" })
	if n < 0 {
		t.Fatalf("%+v %+v", r.Losses, r.Notes)
	}
	if want := []string{filepath.Join(dir, "b.csv"), filepath.Join(dir, "inner.zip/c.zip")}; !slices.Equal(r.Losses[n].Items, want) {
		t.Errorf("%q, not %q", r.Losses[n].Items, want)
	}
}
