package view

import (
	"fmt"
	"reflect"
	"strconv"

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
	text, err := diag.SafeJSON(value, "  ")
	if err != nil {
		return fmt.Errorf("show as JSON: %w", err)
	}
	return v.print(stdout, func(p *printer) { p.print(string(text), "\n") })
}

// compactJSON returns a value of this package's types as JSON on one line.
func compactJSON(value any) string {
	text, err := diag.SafeJSON(value, "")
	if err != nil { // no value of these types can fail, because they hold texts and numbers only
		panic(err)
	}
	return string(text)
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

// eventLine returns a line of JSON for standard error. The key names the type of the value, such as note or diagnostics.
func eventLine(key string, value any) string {
	return `{"format_version":` + strconv.Itoa(FormatVersion) + `,"` + key + `":` + compactJSON(value) + "}"
}

type jsonDiagnostics struct {
	FormatVersion int       `json:"format_version"`
	Diagnostics   diag.List `json:"diagnostics"`
}
