package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/planform/planform/internal/convert/encoded"
	"github.com/planform/planform/internal/convert/xlsx"
	"github.com/planform/planform/internal/text/diag"
)

// Limits of one run.
const (
	maxFiles = 10_000
	maxBytes = 4 << 30 // unpacked
	maxInput = 1 << 30 // of standard input, which is kept in memory
)

// File is a file of an export. It can be read more than once.
type File struct {
	Name     string // as the user named it, or its path in the folder or archive that the user named; - is standard input
	found    bool   // in a folder or an archive: passed over if it is no export
	encoding string
	open     func() (io.ReadCloser, error)
	sheet    *xlsx.Sheet   // of a spreadsheet, which is read as CSV
	others   []*xlsx.Sheet // of the same spreadsheet, if this is the first
}

// Read calls a function with the text of the file, as UTF-8.
func (f File) Read(do func(in io.Reader) error) error {
	if f.sheet != nil {
		return do(f.sheet.Open())
	}
	in, err := f.open()
	if err != nil {
		return err
	}
	defer in.Close()                                                      //nolint:errcheck // it was only read
	hidden := struct{ io.Reader }{encoded.Reader(in, f.Name, f.encoding)} // a buffer that others must not share
	return do(hidden)
}

// Files returns the files that a command line names: files, folders, zip and tar.gz archives, and - for standard input.
func Files(names []string, encoding string, stdin io.Reader) ([]File, error) {
	in := &inputs{encoding: encoding}
	for _, name := range names {
		if err := in.named(name, stdin); err != nil {
			return nil, err
		}
	}
	return in.files, nil
}

// inputs are the files found so far, with their total sizes.
type inputs struct {
	files    []File
	encoding string
	bytes    uint64
	kept     int // of spreadsheets and tar archives, in memory
}

// named adds the file, folder, archive or pipe of a name on the command line.
func (in *inputs) named(name string, stdin io.Reader) error {
	if name == "-" {
		return in.piped(name, stdin)
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return diag.WithHint(fmt.Errorf("%s: there is no such file", name), "check the spelling; - stands for standard input")
	case err != nil:
		return err
	case info.IsDir():
		had := len(in.files)
		if err := in.folder(name); err != nil {
			return err
		}
		if len(in.files) == had {
			return diag.WithHint(fmt.Errorf("%s: there is no file in the folder", name), "name the folder with the exported files")
		}
		return nil
	case !info.Mode().IsRegular(): // such as a pipe, which can be read once
		pipe, err := os.Open(name) //nolint:gosec // the user named it
		if err != nil {
			return err
		}
		defer pipe.Close() //nolint:errcheck // it was only read
		return in.piped(name, pipe)
	}
	open := func() (io.ReadCloser, error) { return os.Open(name) } //nolint:gosec // the user named it
	return in.file(File{Name: name, open: open}, info.Size())
}

// piped reads a pipe into memory and adds it as a file, because a pipe can be read only once.
func (in *inputs) piped(name string, from io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(from, maxInput+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxInput {
		return diag.WithHint(fmt.Errorf("%s: there is more than 1 GiB to read", name), "save it as a file, and name that")
	}
	return in.file(File{Name: name, open: func() (io.ReadCloser, error) { return inMemory{bytes.NewReader(data)}, nil }}, int64(len(data)))
}

type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

// file adds a file, or the files in it if it is an archive.
func (in *inputs) file(f File, size int64) error {
	f.encoding = in.encoding
	start, err := f.raw(magicSize)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(start, []byte("PK\x03\x04")) || bytes.HasPrefix(start, []byte("PK\x05\x06")) {
		if archived, err := in.archive(f, size); archived || err != nil {
			return err
		}
	}
	if bytes.HasPrefix(start, []byte("\x1f\x8b")) {
		if archived, err := in.tarball(f, size); archived || err != nil {
			return err
		}
	}
	return in.add(f, uint64(size)) //nolint:gosec // no file has a negative size
}

// add adds a file, or each sheet of a spreadsheet, and returns an error if a limit is exceeded.
func (in *inputs) add(f File, size uint64) error {
	if len(in.files) == maxFiles {
		return diag.WithHint(fmt.Errorf("%s: there are more than %d files to read", f.Name, maxFiles),
			"name the exported files alone, without attachments")
	}
	if size > maxBytes-in.bytes {
		return diag.WithHint(fmt.Errorf("%s: the files are larger than 4 GiB together", f.Name),
			"name the exported files alone, or convert project by project")
	}
	sheets, err := f.sheets()
	if err != nil {
		return err
	}
	in.bytes += size
	if len(sheets) == 0 {
		in.files = append(in.files, f)
	}
	for n, sheet := range sheets {
		if in.kept += len(sheet.Text); in.kept > maxInput {
			return diag.WithHint(fmt.Errorf("%s: the spreadsheets hold more than 1 GiB together", f.Name),
				"save them as CSV, or convert fewer at a time")
		}
		one := File{Name: f.Name, found: f.found, open: f.open, sheet: sheet, others: sheets[1:]}
		if n > 0 {
			one = File{Name: f.Name + "/" + sheet.Name, found: true, open: f.open, sheet: sheet}
		}
		in.files = append(in.files, one)
	}
	return nil
}

// sheets reads the file as a spreadsheet, and returns nil if the file is none, or if it was found in a folder and has no table.
func (f *File) sheets() ([]*xlsx.Sheet, error) {
	start, err := f.raw(magicSize)
	if err != nil || !bytes.HasPrefix(start, []byte("PK\x03\x04")) {
		return nil, err
	}
	data, err := f.raw(xlsx.MaxFile + 1)
	if err != nil {
		return nil, err
	}
	sheets, err := xlsx.Read(data, f.Name)
	if errors.Is(err, xlsx.ErrOther) || f.found && errors.Is(err, xlsx.ErrEmpty) {
		return nil, nil
	}
	return sheets, err
}

// folder adds the files of a folder and its subfolders in the order of their names. It passes over hidden files and folders that convert
// wrote, and reads nothing outside the folder.
func (in *inputs) folder(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("read the folder: %w", err)
	}
	defer root.Close() //nolint:errcheck // it was only read
	seen := 0
	return fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		name := filepath.Join(dir, filepath.FromSlash(path))
		seen++
		switch {
		case err != nil:
			return fmt.Errorf("read the folder: %w", err)
		case seen > 2*maxFiles:
			return diag.WithHint(fmt.Errorf("%s: there are more than %d files and folders in it", dir, 2*maxFiles),
				"name the exported files alone, without attachments")
		case path == ".":
			return nil
		case e.IsDir():
			_, err := root.Stat(path + "/" + runName)
			if isHidden(e.Name()) || err == nil {
				return fs.SkipDir
			}
			return nil
		case isHidden(e.Name()):
			return nil
		case e.Type()&fs.ModeSymlink != 0:
			return diag.WithHint(fmt.Errorf("%s: it is a symbolic link", name),
				"links in a folder are not followed: name the file itself, or take the link out")
		case !e.Type().IsRegular():
			return diag.WithHint(fmt.Errorf("%s: it is not a regular file", name), "take it out of the folder")
		}
		info, err := e.Info()
		if err != nil {
			return fmt.Errorf("read the folder: %w", err)
		}
		open := func() (io.ReadCloser, error) { return os.OpenInRoot(dir, filepath.FromSlash(path)) }
		return in.file(File{Name: name, found: true, open: open}, info.Size())
	})
}

// isHidden reports whether a name begins with a dot, or is the folder that macOS adds to archives.
func isHidden(name string) bool { return strings.HasPrefix(name, ".") || name == "__MACOSX" }

// raw returns the first bytes of a file as they are stored, at most so many.
func (f File) raw(most int64) ([]byte, error) {
	in, err := f.open()
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	return io.ReadAll(io.LimitReader(in, most))
}

// magicSize is the number of bytes that tell an archive or another binary file.
const magicSize = 8

// noText is the error of a file whose kind no format reads, such as a PDF.
type noText struct{ error }

// Numbers of bytes from which a format is recognised: first, and if the first record of a JSON file is longer.
const (
	maxHead   = 64 << 10
	maxRecord = 16 << 20
)

// beginning returns the first bytes of a file's text, at most so many.
func (f File) beginning(most int64) (text []byte, err error) {
	err = f.Read(func(in io.Reader) (err error) {
		text, err = io.ReadAll(io.LimitReader(in, most))
		return err
	})
	return text, err
}

// head returns the beginning of a file's text, or an error if the file is not a text, is empty or is a web page.
func (f File) head() ([]byte, error) {
	if f.sheet != nil {
		return f.sheet.Text[:min(len(f.sheet.Text), maxHead)], nil
	}
	start, err := f.raw(magicSize)
	if err != nil {
		return nil, err
	}
	for magic, what := range map[string]string{
		"PK\x03\x04": "a zip archive within another", "\x1f\x8b": "a gzip archive", "%PDF": "a PDF",
		"\xD0\xCF\x11\xE0": "an old spreadsheet",
	} {
		if bytes.HasPrefix(start, []byte(magic)) {
			return nil, diag.WithHint(noText{fmt.Errorf("%s:1: it is %s", f.Name, what)},
				"unpack an archive, and name the exported files in it; save an old spreadsheet as .xlsx or CSV")
		}
	}
	head, err := f.beginning(maxHead)
	switch {
	case err != nil:
		return nil, err
	case len(bytes.TrimSpace(head)) == 0:
		return nil, diag.WithHint(fmt.Errorf("%s: the file is empty", f.Name), "export it again")
	case isPage(head):
		return nil, nearly(head, f.Name, "")
	}
	return head, nil
}

func isPage(head []byte) bool {
	begin := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\uFEFF"))))
	return bytes.HasPrefix(begin, []byte("<!doctype html")) || bytes.HasPrefix(begin, []byte("<html"))
}
