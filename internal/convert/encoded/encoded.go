// Package encoded reads text files of any encoding that trackers and spreadsheets write, as UTF-8.
//
// A byte order mark says which UTF it is, and is taken off. Without one, two NUL bytes among the first four are UTF-16. Everything
// else is UTF-8, unless the user names another encoding: what is not valid is an error with line and column, never a guess.
// The package must not know what the text means.
package encoded

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/planform/planform/internal/diag"
)

// Encodings are the names that [Reader] takes.
func Encodings() []string { return []string{"utf-8", "utf-16", "windows-1252"} }

// Reader reads the text of a file. encoding is one of [Encodings], or "" to find out.
func Reader(in io.Reader, name, encoding string) io.Reader {
	d := &decoder{in: bufio.NewReaderSize(in, 1<<16), at: diag.Position{File: name, Line: 1}}
	d.choose(encoding)
	return bufio.NewReaderSize(d, 1<<16) // which never asks for less than a character
}

type decoder struct {
	in   *bufio.Reader
	next func() (rune, error)
	at   diag.Position // of the last character
}

func (d *decoder) choose(encoding string) {
	head, _ := d.in.Peek(4)
	mark := func(n int) { _, _ = d.in.Discard(n) }
	little, big := d.utf16(0), d.utf16(1)
	switch {
	case len(head) >= 3 && string(head[:3]) == "\xEF\xBB\xBF":
		mark(3)
		d.next = d.utf8
	case len(head) >= 2 && string(head[:2]) == "\xFF\xFE":
		mark(2)
		d.next = little
	case len(head) >= 2 && string(head[:2]) == "\xFE\xFF":
		mark(2)
		d.next = big
	case encoding == "windows-1252":
		d.next = d.windows1252
	case encoding == "utf-16", len(head) == 4 && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		d.next = little
	case len(head) == 4 && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		d.next = big
	default:
		d.next = d.utf8
	}
}

// Read decodes as much as is at hand.
func (d *decoder) Read(p []byte) (n int, err error) {
	for n+utf8.UTFMax <= len(p) {
		r, err := d.next()
		if err != nil {
			return n, err
		}
		d.at.Column++
		if r == 0 {
			return n, d.wrong("it holds NUL bytes: it is a binary file, not a text", "name the file that the tracker exported")
		}
		if r == '\n' {
			d.at.Line, d.at.Column = d.at.Line+1, 0
		}
		n += utf8.EncodeRune(p[n:], r)
	}
	return n, nil
}

func (d *decoder) wrong(text, hint string) error {
	return diag.WithHint(fmt.Errorf("%s: %s", d.at, text), hint)
}

func (d *decoder) utf8() (rune, error) {
	r, size, err := d.in.ReadRune()
	if r == utf8.RuneError && size == 1 && err == nil {
		_ = d.in.UnreadRune()
		b, _ := d.in.ReadByte()
		d.at.Column++
		return 0, d.wrong(fmt.Sprintf("the byte 0x%02X is not UTF-8", b),
			"if a spreadsheet saved the file, try --encoding windows-1252; otherwise export it again")
	}
	return r, err
}

// utf16 reads UTF-16; low is where the lower byte of a unit is not.
func (d *decoder) utf16(low int) func() (rune, error) {
	unit := func() (rune, error) {
		var two [2]byte
		if _, err := io.ReadFull(d.in, two[:]); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = d.wrong("the file ends within a character: it is cut off", "export or copy it again")
			}
			return 0, err
		}
		return rune(two[1-low])<<8 | rune(two[low]), nil
	}
	return func() (rune, error) {
		r, err := unit()
		if err != nil || !utf16.IsSurrogate(r) {
			return r, err
		}
		second, err := unit()
		if err == nil {
			if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
				d.at.Column++
				err = d.wrong("half a character of UTF-16", "export the file again")
			}
		}
		return r, err
	}
}

// windows1252 is Latin-1 but for 32 characters.
func (d *decoder) windows1252() (rune, error) {
	const upper = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	b, err := d.in.ReadByte()
	if b >= 0x80 && b < 0xA0 {
		return []rune(upper)[b-0x80], err
	}
	return rune(b), err
}
