package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// marshal is JSON in which whatever is not printable is escaped, so that no text can
// write to the terminal of who looks at a file, hide in it, or break its line.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if !bytes.ContainsFunc(text, unprintable) {
		return text, nil
	}
	var escaped []byte
	for _, r := range string(text) { // what is not ASCII stands in strings only
		if !unprintable(r) {
			escaped = utf8.AppendRune(escaped, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, unit)
		}
	}
	return escaped, nil
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// printable replaces what a terminal would take as a command.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unprintable(r) {
			return '?'
		}
		return r
	}, text)
}
