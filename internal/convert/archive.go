package convert

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/planform/planform/internal/diag"
)

// archive takes the files of a zip archive. It reports false for what is packed in the same way and means something else, such as
// a spreadsheet.
func (in *inputs) archive(f File, size int64) (bool, error) {
	bad := func(hint, format string, args ...any) (bool, error) {
		return true, diag.WithHint(fmt.Errorf(f.Name+": "+format, args...), hint)
	}
	packed := &packedFile{open: f.open}
	close, err := packed.use()
	if err != nil {
		return true, err
	}
	defer close() //nolint:errcheck // it was only read
	z, err := zip.NewReader(packed, size)
	if err != nil {
		return bad("download or copy it again", "the archive is damaged or cut off (%s)", strings.TrimPrefix(err.Error(), "zip: "))
	}
	if slices.ContainsFunc(z.File, func(e *zip.File) bool { return e.Name == "[Content_Types].xml" }) {
		return false, nil
	}
	if len(z.File) > 2*maxFiles {
		return bad("pack the exported files alone, without attachments", "there are more than %d files and folders in the archive", 2*maxFiles)
	}
	const large, ratio = 100 << 20, 250
	var total uint64
	had := len(in.files)
	for _, e := range z.File {
		const encrypted = 1
		name := f.Name + "/" + e.Name
		switch {
		case strings.ContainsAny(e.Name, "\\\x00") || !filepath.IsLocal(strings.TrimSuffix(e.Name, "/")):
			return bad("it was not made by an export: pack the files again", "the path %q leaves the archive", e.Name)
		case slices.ContainsFunc(strings.Split(e.Name, "/"), hidden), strings.HasSuffix(e.Name, "/"):
			continue
		case e.Mode()&fs.ModeSymlink != 0:
			return bad("pack the file itself", "%s is a symbolic link", e.Name)
		case !e.Mode().IsRegular():
			return bad("pack regular files", "%s is not a regular file", e.Name)
		case e.Flags&encrypted != 0:
			return bad("unpack it with its password, and name the folder", "%s is encrypted", e.Name)
		case e.Method != zip.Store && e.Method != zip.Deflate:
			return bad("unpack it, and name the folder", "%s is packed in a way that is not known here", e.Name)
		}
		entry := File{Name: name, found: true, encoding: in.encoding, open: packed.entry(e, name)}
		if err := in.add(entry, e.UncompressedSize64); err != nil {
			return true, err
		}
		if total += e.UncompressedSize64; total > large && total/ratio > uint64(size) { //nolint:gosec // no file has a negative size
			return bad("if it is what the tracker made, unpack it and name the folder",
				"the archive unpacks to more than %d times its size, as no export does", ratio)
		}
	}
	if len(in.files) == had {
		return bad("name the archive with the exported files", "there is no file in the archive")
	}
	return true, nil
}

// packedFile is an archive that is open only as long as something of it is read.
type packedFile struct {
	open  func() (io.ReadCloser, error)
	at    io.ReaderAt
	close func() error
	users int
}

func (p *packedFile) use() (done func() error, err error) {
	if p.users == 0 {
		in, err := p.open()
		if err != nil {
			return nil, err
		}
		p.at, p.close = in.(io.ReaderAt), in.Close //nolint:forcetypeassert // it is a file, or memory
	}
	p.users++
	return func() error {
		if p.users--; p.users == 0 {
			return p.close()
		}
		return nil
	}, nil
}

// ReadAt reads of the archive while it is in use.
func (p *packedFile) ReadAt(b []byte, at int64) (int, error) { return p.at.ReadAt(b, at) }

// entry opens a file of the archive. It never yields more than the archive says.
func (p *packedFile) entry(e *zip.File, name string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		done, err := p.use()
		if err != nil {
			return nil, err
		}
		in, err := e.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return &unpacked{ReadCloser: in, name: name, left: e.UncompressedSize64, done: done}, nil
	}
}

type unpacked struct {
	io.ReadCloser

	name string
	left uint64
	done func() error
}

// Read names the file of what is damaged.
func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if uint64(n) > u.left { //nolint:gosec // no read yields less than nothing
		return 0, diag.WithHint(fmt.Errorf("%s: it unpacks to more than the archive says", u.name), "pack the files again")
	}
	u.left -= uint64(n)              //nolint:gosec // likewise
	if err != nil && err != io.EOF { //nolint:errorlint // as the package says
		err = diag.WithHint(fmt.Errorf("%s: it is damaged in the archive (%s)", u.name, strings.TrimPrefix(err.Error(), "zip: ")),
			"download or copy the archive again")
	}
	return n, err
}

// Close closes the file, and the archive with the last of them.
func (u *unpacked) Close() error {
	err := u.ReadCloser.Close()
	if closed := u.done(); err == nil {
		err = closed
	}
	return err
}
