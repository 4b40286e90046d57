package convert

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/planform/planform/internal/text/diag"
)

// archive adds the files in a zip archive to the inputs. It returns false if the file is a zip archive with another meaning, such as a
// spreadsheet.
func (in *inputs) archive(f File, size int64) (bool, error) {
	p := &packing{in: in, of: f, size: uint64(size), had: len(in.files)} //nolint:gosec // no file has a negative size
	packed, err := f.open()                                              // it stays open as long as its files may be read
	if err != nil {
		return true, err
	}
	z, err := zip.NewReader(packed.(io.ReaderAt), size) //nolint:forcetypeassert // it is a file, or memory
	if err != nil {
		return true, p.bad("download or copy it again", "the archive is damaged or cut off (%s)", diag.PlainText(err))
	}
	if slices.ContainsFunc(z.File, func(e *zip.File) bool { return e.Name == "[Content_Types].xml" }) {
		return false, packed.Close()
	}
	for _, e := range z.File {
		const encrypted = 1
		path := strings.ReplaceAll(e.Name, "\\", "/") // some programs of Windows write backslashes
		take, err := p.take(path, e.Mode(), e.UncompressedSize64)
		switch {
		case err != nil:
			return true, err
		case !take:
			continue
		case e.Flags&encrypted != 0:
			return true, p.bad("unpack it with its password, and name the folder", "%s is encrypted", e.Name)
		case e.Method != zip.Store && e.Method != zip.Deflate:
			return true, p.bad("unpack it, and name the folder", "%s is packed in a way that is not known here", e.Name)
		}
		name := f.Name + "/" + path
		open := func() (io.ReadCloser, error) {
			content, err := e.Open()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			return unpacked{content, name}, nil
		}
		entry := File{Name: name, found: true, encoding: in.encoding, open: open}
		if err := in.add(entry, e.UncompressedSize64); err != nil {
			return true, err
		}
	}
	return true, p.done()
}

// packing checks the entries of an archive while they are added to the inputs.
type packing struct {
	in    *inputs
	of    File
	size  uint64 // of the archive
	total uint64 // unpacked
	seen  int
	had   int // files before it
}

// bad returns an error that begins with the name of the archive.
func (pc *packing) bad(hint, format string, args ...any) error {
	return diag.WithHint(fmt.Errorf(pc.of.Name+": "+format, args...), hint)
}

// take reports whether an entry is a regular, visible file. It returns an error if the entry leaves the archive or the archive is too
// large.
func (pc *packing) take(name string, mode fs.FileMode, size uint64) (bool, error) {
	const large, ratio = 100 << 20, 250
	if pc.seen++; pc.seen > 2*maxFiles {
		return false, pc.bad("pack the exported files alone, without attachments", "there are more than %d files and folders in the archive", 2*maxFiles)
	}
	switch local := strings.TrimSuffix(name, "/"); {
	case strings.ContainsAny(name, "\\\x00") || !filepath.IsLocal(local):
		return false, pc.bad("it was not made by an export: pack the files again", "the path %q leaves the archive", name)
	case slices.ContainsFunc(strings.Split(strings.TrimPrefix(name, "./"), "/"), isHidden), mode.IsDir(), local != name:
		return false, nil
	case mode&fs.ModeSymlink != 0:
		return false, pc.bad("pack the file itself", "%s is a symbolic link", name)
	case !mode.IsRegular():
		return false, pc.bad("pack regular files", "%s is not a regular file", name)
	}
	if pc.total += size; pc.total > large && pc.total/ratio > pc.size {
		return false, pc.bad("if it is what the tracker made, unpack it and name the folder",
			"the archive unpacks to more than %d times its size, as no export does", ratio)
	}
	return true, nil
}

func (pc *packing) done() error {
	if len(pc.in.files) == pc.had {
		return pc.bad("name the archive with the exported files", "there is no file in the archive")
	}
	return nil
}

// tarball adds the files in a gzipped tar archive to the inputs, and returns false if the gzip file holds no tar archive. A tar archive has
// no random access: texts and spreadsheets are kept in memory whole, and of other files the first 512 bytes.
func (in *inputs) tarball(f File, size int64) (bool, error) {
	raw, err := f.open()
	if err != nil {
		return true, err
	}
	defer raw.Close()                                                    //nolint:errcheck // it was only read
	p := &packing{in: in, of: f, size: uint64(size), had: len(in.files)} //nolint:gosec // no file has a negative size
	damaged := func(err error) error {
		return p.bad("download or copy it again", "the archive is damaged or cut off (%w)", err)
	}
	z, err := gzip.NewReader(raw)
	if err != nil {
		return true, damaged(err)
	}
	start := make([]byte, 512)
	if n, _ := io.ReadFull(z, start); n < len(start) || string(start[257:262]) != "ustar" {
		return false, nil
	}
	t := tar.NewReader(io.MultiReader(bytes.NewReader(start), z))
	for {
		e, err := t.Next()
		if errors.Is(err, io.EOF) {
			return true, p.done()
		}
		if err != nil {
			return true, damaged(err)
		}
		if e.Typeflag == tar.TypeXGlobalHeader { // such as the commit in an archive by git
			continue
		}
		mode := e.FileInfo().Mode()
		if e.Typeflag == tar.TypeLink {
			mode |= fs.ModeSymlink
		}
		take, err := p.take(e.Name, mode, uint64(e.Size)) //nolint:gosec // no file has a negative size
		if err != nil {
			return true, err
		}
		if !take {
			continue
		}
		data := make([]byte, min(e.Size, 512))
		if _, err := io.ReadFull(t, data); err != nil {
			return true, damaged(err)
		}
		if bytes.IndexByte(data, 0) < 0 || bytes.HasPrefix(data, []byte("PK")) || bytes.HasPrefix(data, []byte("\xFF\xFE")) || bytes.HasPrefix(data, []byte("\xFE\xFF")) {
			if in.kept += int(e.Size); in.kept > maxInput {
				return true, p.bad("unpack it, and name the folder", "there is more than 1 GiB of text in the archive")
			}
			rest, err := io.ReadAll(t)
			if err != nil {
				return true, damaged(err)
			}
			data = append(data, rest...)
		}
		name := f.Name + "/" + strings.TrimPrefix(e.Name, "./")
		entry := File{Name: name, found: true, encoding: in.encoding, open: func() (io.ReadCloser, error) { return inMemory{bytes.NewReader(data)}, nil }}
		if err := in.add(entry, uint64(len(data))); err != nil {
			return true, err
		}
	}
}

// unpacked is an open file of an archive.
type unpacked struct {
	io.ReadCloser

	name string
}

// Read adds the file's name and a hint to an error of decompression.
func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // as the package says
		err = diag.WithHint(fmt.Errorf("%s: it is damaged in the archive (%s)", u.name, diag.PlainText(err)),
			"download or copy the archive again")
	}
	return n, err
}
