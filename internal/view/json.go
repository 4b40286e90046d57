package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/planform/planform/internal/diag"
)

// FormatVersion is the version of the formats that doc.go describes.
const FormatVersion = 1

// JSON shows any value on standard output, with sorted keys and indented.
func (v *View) JSON(value any) error {
	text, err := encode(value, "  ")
	if err != nil {
		return fmt.Errorf("show as JSON: %w", err)
	}
	return v.print(stdout, func(p *printer) { p.line(text) })
}

// compact is the JSON of one of the package's own types on one line.
func compact(value any) string {
	text, err := encode(value, "")
	if err != nil { // they are made of texts and numbers
		panic(err)
	}
	return text
}

// encode gives the JSON of a value without a line end.
func encode(value any, indent string) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(value); err != nil {
		return "", err
	}
	return string(escaped(bytes.TrimSuffix(b.Bytes(), []byte("\n")))), nil
}

// document writes a struct with a member on each line, and lists of objects with an object on each line.
func (p *printer) document(value any) {
	v := reflect.ValueOf(value)
	for i := range v.NumField() {
		p.print([]string{"{", ","}[min(i, 1)], "\n  \"", v.Type().Field(i).Tag.Get("json"), "\": ")
		field := v.Field(i)
		if field.Kind() != reflect.Slice || field.Type().Elem().Kind() != reflect.Struct || field.Len() == 0 {
			p.print(compact(field.Interface()))
			continue
		}
		for j := range field.Len() {
			p.print([]string{"[", ","}[min(j, 1)], "\n    ", compact(field.Index(j).Interface()))
		}
		p.print("\n  ]")
	}
	p.line("\n}")
}

// escaped writes the characters of a JSON text that [Safe] would replace as
// \uXXXX, which means the same to a program. They stand within strings only.
func escaped(text []byte) []byte {
	var safe []byte
	written := 0
	for at := 0; at < len(text); {
		if text[at] < 0x7f && text[at] != '#' {
			at++
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		if r != '#' && dangerous(r, size) || r == '#' && at > 0 && text[at-1] == '#' && isCommand(string(text[at-1:min(len(text), at+maxCommand)]), 1) {
			safe = append(safe, text[written:at]...)
			for _, unit := range utf16.Encode([]rune{r}) {
				safe = fmt.Appendf(safe, `\u%04x`, unit)
			}
			written = at + size
		}
		at += size
	}
	if written == 0 {
		return text
	}
	return append(safe, text[written:]...)
}

// orNull is a text that is null where it is empty.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// orEmpty is a list that is not null where there is none.
func orEmpty[T any](list []T) []T { return append([]T{}, list...) }

type jsonNote struct {
	FormatVersion int    `json:"format_version"`
	Note          string `json:"note"`
}

type jsonPosition struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

func position(p diag.Position) *jsonPosition {
	if p.IsZero() {
		return nil
	}
	return new(jsonPosition(p))
}

type jsonDiagnostic struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	jsonPosition
	Path    string        `json:"path"`
	Address string        `json:"address"`
	Summary string        `json:"summary"`
	Hint    string        `json:"hint"`
	Related []jsonRelated `json:"related"`
}

type jsonRelated struct {
	jsonPosition
	Note string `json:"note"`
}

type jsonDiagnostics struct {
	FormatVersion int              `json:"format_version"`
	Diagnostics   []jsonDiagnostic `json:"diagnostics"`
}

func diagnostics(list diag.List) []jsonDiagnostic {
	js := make([]jsonDiagnostic, len(list))
	for i, d := range list {
		js[i] = jsonDiagnostic{d.Severity.String(), d.Code, jsonPosition(d.Position), d.Path, d.Address, d.Summary, d.Hint, make([]jsonRelated, len(d.Related))}
		for k, r := range d.Related {
			js[i].Related[k] = jsonRelated{jsonPosition(r.Position), r.Note}
		}
	}
	return js
}
