package diag

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// ReadJSON decodes a text into value, and accepts no member that value does not know. The error is in plain words; line is its line, from 1,
// or 0 if it is not known.
func ReadJSON(text []byte, value any) (line int, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err = d.Decode(value); err != nil || len(bytes.Trim(text[d.InputOffset():], " \t\r\n")) > 0 {
		var whole json.RawMessage
		err = cmp.Or(json.Unmarshal(text, &whole), err) // it knows the place of a syntax error, and refuses a second value
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		if e.Offset >= int64(len(text)) {
			return 1 + bytes.Count(bytes.TrimSpace(text), []byte("\n")), errors.New("it ends too early")
		}
		return 1 + bytes.Count(text[:e.Offset-1], []byte("\n")), err
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
		return 0, fmt.Errorf("%s cannot be a %s", e.Field, e.Value)
	} else if ok {
		return 0, fmt.Errorf("it is a JSON %s, and no object", e.Value)
	}
	if e, ok := errors.AsType[*time.ParseError](err); ok {
		return 0, errors.New(Quote(e.Value) + " is not a time such as 2026-11-20T20:36:10Z")
	}
	if err == nil {
		return 0, nil
	}
	if member, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return 0, &UnknownMemberError{Truncate(member, 100)}
	}
	return 0, err
}

// UnknownMemberError is the error of a JSON object with a member that this version does not know.
type UnknownMemberError struct{ Member string } // between quotation marks

func (ue *UnknownMemberError) Error() string { return ue.Member + " is not known here" }

// JSON encodes a value without a line end, and without escapes for HTML.
func JSON(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(value)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// SafeJSON encodes a value like [JSON], with an escape for each character that is not printable: no text in it can control a terminal, hide,
// or break its line. It also escapes what CI systems read as a command in a log, such as ##vso[.
func SafeJSON(value any, indent string) ([]byte, error) {
	text, err := JSON(value, indent)
	needsEscape := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	if bytes.ContainsFunc(text, needsEscape) {
		var safe []byte
		for _, r := range string(text) { // JSON has such characters in strings only
			if !needsEscape(r) {
				safe = utf8.AppendRune(safe, r)
				continue
			}
			for _, unit := range utf16.AppendRune(nil, r) {
				safe = fmt.Appendf(safe, `\u%04x`, unit)
			}
		}
		text = safe
	}
	if bytes.Contains(text, []byte("##")) {
		text = ciCommand.ReplaceAll(text, []byte(`#\u0023$1`))
	}
	return text, err
}

var ciCommand = regexp.MustCompile(`##([A-Za-z_-]*\[)`)

// OrNull returns a pointer to a value, or nil for the zero value, so that unknown values are null in JSON.
func OrNull[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// OrEmpty returns a copy of a list that is never null in JSON.
func OrEmpty[L ~[]T, T any](list L) L { return append(L{}, list...) }

// OrEmpty returns a copy of the list in which nothing is null in JSON.
func (l List) OrEmpty() List {
	l = OrEmpty(l)
	for i := range l {
		l[i].Related = OrEmpty(l[i].Related)
	}
	return l
}
