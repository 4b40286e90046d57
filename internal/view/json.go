package view

import (
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/planform/planform/internal/plan/planfile"
	"github.com/planform/planform/internal/text/diag"
)

// jsonFormat shows plans and findings to programs.
type jsonFormat struct{}

func (jsonFormat) plan(v *View, d *planfile.Document) error {
	return v.print(stdout, func(p *printer) { p.document(*d) })
}

func (jsonFormat) findings(p *printer, list diag.List) {
	p.line(eventLine("diagnostics", list.OrEmpty()))
}

// FormatVersion is the version of the formats that doc.go describes.
const FormatVersion = planfile.FormatVersion

// JSON shows any value on standard output as indented JSON with sorted keys.
func (v *View) JSON(value any) error {
	text, err := encode(value, "  ")
	if err != nil {
		return fmt.Errorf("show as JSON: %w", err)
	}
	return v.print(stdout, func(p *printer) { p.print(text, "\n") })
}

// compactJSON returns a value of this package's types as JSON on one line.
func compactJSON(value any) string {
	text, err := encode(value, "")
	if err != nil { // no value of these types can fail, because they hold texts and numbers only
		panic(err)
	}
	return text
}

// encode returns the JSON of a value without a line end.
func encode(value any, indent string) (string, error) {
	text, err := diag.JSON(value, indent)
	return string(escaped(text)), err
}

// document writes a struct with a member on each line, and lists of objects with an object on each line.
func (p *printer) document(value any) {
	v := reflect.ValueOf(value)
	for i := range v.NumField() {
		p.print([]string{"{", ","}[min(i, 1)], "\n  \"", v.Type().Field(i).Tag.Get("json"), "\": ")
		field := v.Field(i)
		if field.Kind() != reflect.Slice || field.Type().Elem().Kind() != reflect.Struct || field.Len() == 0 {
			p.print(compactJSON(field.Interface()))
			continue
		}
		for j := range field.Len() {
			p.print([]string{"[", ","}[min(j, 1)], "\n    ", compactJSON(field.Index(j).Interface()))
		}
		p.print("\n  ]")
	}
	p.line("\n}")
}

// escaped returns a JSON text with \uXXXX for each character that [Safe] would replace. The text
// means the same to a program, because such characters stand only within strings.
func escaped(text []byte) []byte {
	var safe []byte
	written := 0
	for at := 0; at < len(text); {
		if text[at] < 0x7f && text[at] != '#' {
			at++
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		if r != '#' && isDangerous(r, size) || r == '#' && at > 0 && text[at-1] == '#' &&
			isCommand(string(text[at-1:min(len(text), at+maxCommand)]), 1) {
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

// eventLine returns a line of JSON for standard error. The key names the type of the value, such as note or diagnostics.
func eventLine(key string, value any) string {
	return `{"format_version":` + strconv.Itoa(FormatVersion) + `,"` + key + `":` + compactJSON(value) + "}"
}

type jsonDiagnostics struct {
	FormatVersion int       `json:"format_version"`
	Diagnostics   diag.List `json:"diagnostics"`
}
