package convert

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// spool holds future files and parts of issues in a temporary file, because they may be larger than the export. If the system allows it,
// the file has no name, so that nothing is left after any end of the process.
type spool struct {
	file  *os.File
	named bool
	out   *bufio.Writer // keeps an error until flush returns it
	size  int64
}

// outFile is a file that will be written: a part of a [spool].
type outFile struct {
	name   string // within the folder
	digest string
	in     *spool
	span
}

// span is a part of a spool.
type span struct{ at, n int64 }

func newSpool() (*spool, error) {
	file, err := os.CreateTemp("", "planform-convert-")
	if err != nil {
		return nil, fmt.Errorf("write a temporary file: %w", err)
	}
	return &spool{file: file, named: os.Remove(file.Name()) != nil, out: bufio.NewWriterSize(file, 1<<16)}, nil
}

func (s *spool) Write(data []byte) (int, error) {
	n, err := s.out.Write(data)
	s.size += int64(n)
	return n, err
}

// put appends the content of a file. [spool.flush] returns the error, if there is one.
func (s *spool) put(name string, data []byte) outFile {
	return outFile{name: name, digest: digest(data), in: s, span: s.add(data)}
}

// add appends data. [spool.read] returns the error, if there is one.
func (s *spool) add(data []byte) span {
	p := span{s.size, int64(len(data))}
	_, _ = s.Write(data)
	return p
}

// read returns data that was appended.
func (s *spool) read(p span) ([]byte, error) {
	if p.at+p.n > s.size-int64(s.out.Buffered()) {
		if err := s.flush(); err != nil {
			return nil, err
		}
	}
	data := make([]byte, p.n)
	if _, err := s.file.ReadAt(data, p.at); err != nil {
		return nil, fmt.Errorf("read a temporary file: %w", err)
	}
	return data, nil
}

// flush writes the buffer to the file, so that everything can be read.
func (s *spool) flush() error {
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("write a temporary file: %w", err)
	}
	return nil
}

func (s *spool) Close() error {
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}

func (ot outFile) text() io.Reader { return io.NewSectionReader(ot.in.file, ot.at, ot.n) }
