package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/planform/planform/internal/convert/encoded"
	"github.com/planform/planform/internal/diag"
)

// File is a file of an export. It can be read more than once.
type File struct {
	Name     string // as the user named it; - is standard input
	encoding string
	open     func() (io.ReadCloser, error)
}

// Open opens the text of the file, as UTF-8.
func (f File) Open() (io.ReadCloser, error) {
	in, err := f.open()
	if err != nil {
		return nil, err
	}
	return text{encoded.Reader(in, f.Name, f.encoding), in}, nil
}

// text is a decoded file, which is closed as the file is.
type text struct {
	io.Reader
	io.Closer
}

// Files makes files of the names on a command line.
func Files(names []string, encoding string, stdin io.Reader) ([]File, error) {
	var files []File
	for _, name := range names {
		f := File{Name: name, encoding: encoding, open: func() (io.ReadCloser, error) { return os.Open(name) }} //nolint:gosec // the user named it
		if name == "-" {
			data, err := io.ReadAll(stdin)
			if err != nil {
				return nil, fmt.Errorf("read standard input: %w", err)
			}
			f.open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		} else if info, err := os.Stat(name); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = diag.WithHint(fmt.Errorf("%s: there is no such file", name), "check the spelling; - stands for standard input")
			}
			return nil, err
		} else if info.IsDir() {
			return nil, diag.WithHint(fmt.Errorf("%s is a folder", name), "name its files: "+name+"/*")
		}
		files = append(files, f)
	}
	return files, nil
}

// head is the beginning of a file's text. What is no text of any format is an error.
func (f File) head() ([]byte, error) {
	const most = 64 << 10
	raw, err := f.open()
	if err != nil {
		return nil, err
	}
	start := make([]byte, 8)
	n, _ := io.ReadFull(raw, start)
	if err := raw.Close(); err != nil {
		return nil, err
	}
	for magic, what := range map[string]string{"PK\x03\x04": "a zip archive (or a spreadsheet)", "\x1f\x8b": "a gzip archive", "%PDF": "a PDF", "\xD0\xCF\x11\xE0": "an old spreadsheet"} {
		if bytes.HasPrefix(start[:n], []byte(magic)) {
			return nil, diag.WithHint(fmt.Errorf("%s:1: it is %s", f.Name, what), "unpack an archive, and name the exported files in it; save a spreadsheet as CSV")
		}
	}
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close() //nolint:errcheck // it was only read
	head := make([]byte, most)
	n, err = io.ReadFull(in, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	head = head[:n]
	switch begin := strings.ToLower(strings.TrimSpace(string(head[:min(n, 200)]))); {
	case begin == "":
		return nil, diag.WithHint(fmt.Errorf("%s: the file is empty", f.Name), "export it again")
	case strings.HasPrefix(begin, "<!doctype html"), strings.HasPrefix(begin, "<html"):
		return nil, diag.WithHint(fmt.Errorf("%s:1: it is a web page, not an export", f.Name), "the download met a page to log in, probably: export again from the browser")
	}
	return head, nil
}
