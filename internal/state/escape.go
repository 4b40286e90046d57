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

// marshal encodes v as JSON and escapes every unprintable character, so that no text in a state file can
// control a terminal, hide, or break its line.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if !bytes.ContainsFunc(text, isUnprintable) {
		return text, nil
	}
	var escaped []byte
	for _, r := range string(text) { // JSON has such characters in strings only
		if !isUnprintable(r) {
			escaped = utf8.AppendRune(escaped, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, unit)
		}
	}
	return escaped, nil
}

func isUnprintable(r rune) bool { return !unicode.IsPrint(r) }

// replaceUnprintable replaces every unprintable character with a question mark.
func replaceUnprintable(text string) string {
	return strings.Map(func(r rune) rune {
		if isUnprintable(r) {
			return '?'
		}
		return r
	}, text)
}
