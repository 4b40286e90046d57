// Package encoded reads text files of any encoding that trackers and spreadsheets write, as UTF-8.
//
// A byte order mark selects the UTF encoding, and is removed. Without a mark, two NUL bytes in the first four bytes mean UTF-16. All
// other files are UTF-8, unless the user names another encoding. An invalid byte is an error with line and column; a hint names the
// encoding that the letters suggest.
// The package must not know what the text means.
package encoded

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/planform/planform/internal/text/diag"
)

// Encodings returns the names of encodings that [Reader] accepts.
func Encodings() []string {
	return []string{"utf-8", "utf-16", "windows-1252", "windows-1250", "windows-1251", "iso-8859-2", "shift-jis", "euc-kr", "gb18030"}
}

// tables returns the encodings that are decoded with a table of characters.
func tables() map[string]encoding.Encoding {
	return map[string]encoding.Encoding{
		"windows-1252": charmap.Windows1252, "windows-1250": charmap.Windows1250, "windows-1251": charmap.Windows1251,
		"iso-8859-2": charmap.ISO8859_2, "shift-jis": japanese.ShiftJIS, "euc-kr": korean.EUCKR, "gb18030": simplifiedchinese.GB18030,
	}
}

// Reader returns the text of a file as UTF-8. as is a name of [Encodings], or "" to detect the encoding.
func Reader(in io.Reader, name, as string) io.Reader {
	d := &decoder{in: bufio.NewReaderSize(in, 1<<16), at: diag.Position{File: name, Line: 1}}
	d.choose(as)
	return bufio.NewReaderSize(d, 1<<16) // it never asks for less than a character
}

type decoder struct {
	in   *bufio.Reader
	next func() (rune, error)
	at   diag.Position // of the last character
}

func (d *decoder) choose(name string) {
	head, _ := d.in.Peek(4)
	little, big := d.utf16(0), d.utf16(1)
	for mark, next := range map[string]func() (rune, error){"\xEF\xBB\xBF": d.utf8, "\xFF\xFE": little, "\xFE\xFF": big} {
		if bytes.HasPrefix(head, []byte(mark)) {
			_, _ = d.in.Discard(len(mark))
			d.next = next
			return
		}
	}
	switch {
	case tables()[name] != nil:
		d.in, d.next = bufio.NewReaderSize(tables()[name].NewDecoder().Reader(d.in), 1<<16), d.decoded(name)
	case name == "utf-16", len(head) == 4 && head[0] != 0 && head[1] == 0 && head[2] != 0 && head[3] == 0:
		d.next = little
	case len(head) == 4 && head[0] == 0 && head[1] != 0 && head[2] == 0 && head[3] != 0:
		d.next = big
	default:
		d.next = d.utf8
	}
}

// Read decodes as many characters as p has room for.
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
			d.guess(b)+"; otherwise export it again")
	}
	return r, err
}

// utf16 returns a reader of UTF-16. low is the index of the lower byte in a unit.
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

// decoded returns a reader of text that a table decodes. It reports bytes that the table lacks.
func (d *decoder) decoded(name string) func() (rune, error) {
	return func() (rune, error) {
		r, _, err := d.in.ReadRune()
		if r == utf8.RuneError && err == nil {
			d.at.Column++
			return 0, d.wrong("a byte that "+name+" does not have", "another of "+strings.Join(Encodings(), ", ")+" is right, probably")
		}
		return r, err
	}
}

// guess returns advice with the encoding in which the next bytes look most like a language, if one does.
func (d *decoder) guess(first byte) string {
	const enough = 0.35
	rest, _ := d.in.Peek(d.in.Buffered())
	sample := append([]byte{first}, rest...)
	best, most := "", enough
	for _, name := range Encodings()[2:] {
		if n := likeness(name, sample); n > most {
			best, most = name, n
		}
	}
	if best == "" {
		return "it looks like no encoding that --encoding takes: iconv -f ENCODING -t utf-8 changes it"
	}
	return "by its letters it is --encoding " + best
}

// alphabets returns the letters outside of ASCII for each language that is written in an encoding.
func alphabets(name string) []string {
	switch name {
	case "windows-1252":
		return []string{"äöüß", "éèêëàâçîïôûùœ", "áéíóúñü", "áâãàçéêíóôõú", "åäöæøé"}
	case "windows-1250", "iso-8859-2":
		return []string{"ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîșțşţ", "čćđšž"}
	case "windows-1251":
		return []string{"абвгдежзийклмнопрстуфхцчшщъыьэюяё", "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"}
	}
	return nil
}

// usual are the signs outside of ASCII that texts of all languages have.
const usual = "\u00a0–—‘’‚“”„«»‹›…•·°€№§©®™×"

// isCommon reports whether a letter is Hangul (euc-kr) or a common sign of Chinese (gb18030). These have the first codes of two bytes.
func isCommon(name string, r rune) bool {
	last := map[string]byte{"euc-kr": 0xC8, "gb18030": 0xD7}[name]
	if last == 0 {
		return false
	}
	code, err := tables()[name].NewEncoder().String(string(r))
	return err == nil && len(code) == 2 && code[0] >= 0xB0 && code[0] <= last && code[1] >= 0xA1
}

// likeness returns the share of the characters outside of ASCII that belong to one language of an encoding. It returns 0 if the bytes are not
// valid in the encoding. Latin letters stand beside letters of ASCII, and
// Cyrillic ones do not; most of these are small.
func likeness(name string, sample []byte) float64 {
	text, err := tables()[name].NewDecoder().Bytes(sample)
	if err != nil {
		return 0
	}
	letters, common, kana, wrong, capital, found := 0, 0, 0, 0, 0, map[rune]int{}
	latin := func(i int) bool {
		return i >= 0 && i < len(text) && text[i] < utf8.RuneSelf && unicode.IsLetter(rune(text[i]))
	}
	for i, r := range string(text) {
		switch {
		case r < utf8.RuneSelf || strings.ContainsRune(usual, r):
		case r == utf8.RuneError && i < len(text)-8, unicode.IsControl(r): // at the end the sample is cut
			wrong++
		case !unicode.IsLetter(r), alphabets(name) != nil && unicode.Is(unicode.Cyrillic, r) == (latin(i-1) || latin(i+utf8.RuneLen(r))):
			letters++ // not counted as found
		default:
			letters++
			found[unicode.ToLower(r)]++
			if unicode.Is(unicode.Cyrillic, r) && unicode.IsUpper(r) {
				capital++
			}
			if unicode.In(r, unicode.Hiragana, unicode.Katakana) && r < 0xFF00 {
				kana++
			}
			if isCommon(name, r) {
				common++
			}
		}
	}
	if wrong > 0 || letters == 0 {
		return 0
	}
	switch name {
	case "shift-jis":
		return min(1, 3*float64(kana)/float64(letters))
	case "euc-kr", "gb18030": // of Chinese, half has the codes of Hangul
		if share := float64(common) / float64(letters); share > map[string]float64{"euc-kr": 0.9, "gb18030": 0.7}[name] {
			return share
		}
		return 0
	}
	if 2*capital > letters { // such as KOI8-R, where small and capital letters have each other's places
		return 0
	}
	most := 0
	for _, alphabet := range alphabets(name) {
		n := 0
		for _, r := range alphabet {
			n += found[r]
		}
		most = max(most, n)
	}
	return float64(most) / float64(letters)
}
