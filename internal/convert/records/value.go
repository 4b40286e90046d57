package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unique"
)

// Value is a value of JSON with its name: a text, or the parts of an object or a list. Parts that are null are left out.
type Value struct {
	Name, Text   string  `json:",omitempty"`
	Parts        []Value `json:",omitempty"`
	List, Object bool    `json:",omitempty"` // parts of a list have no names
	Number       bool    `json:",omitempty"` // the text is that of a number
}

// Add adds a text to an object, unless the text is empty. All objects share one copy of the name.
func (v *Value) Add(name, text string) {
	if text != "" {
		v.Parts = append(v.Parts, Value{Name: unique.Make(name).Value(), Text: text})
	}
}

// Tree returns the record as a value, with its parts in their order. An object at a path in whole is one text, as JSON.
func (rc Record) Tree(whole ...string) Value {
	return decode(rc.data, "", func(path string) bool { return slices.Contains(whole, path) })
}

// Parse reads a text as one value. ok is false if the text is no JSON.
func Parse(text string) (v Value, ok bool) {
	if ok = json.Valid([]byte(text)); ok {
		v = decode([]byte(text), "", func(string) bool { return false })
	}
	return v, ok
}

// First returns the first object in the beginning of a text, which may be cut.
func First(head []byte) Value {
	return decode(head[max(0, bytes.IndexByte(head, '{')):], "", func(string) bool { return false })
}

// maxDepth is the depth below which a value is kept as one text.
const maxDepth = 64

// decode reads valid JSON, or the beginning of it. An object becomes one text if whole reports true for its path.
func decode(data []byte, path string, whole func(path string) bool) Value {
	v, _, _ := next(decoder(data), path, "", 0, whole)
	return v
}

// decoder returns a decoder that keeps numbers as text.
func decoder(data []byte) *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d
}

// next reads the next value, which may be cut, and reports whether it is not null.
func next(d *json.Decoder, path, name string, depth int, whole func(path string) bool) (v Value, ok bool, err error) {
	v.Name = name
	if depth > 0 && whole(path) || depth == maxDepth {
		var raw json.RawMessage
		_ = d.Decode(&raw)
		if begins := string(raw[:min(1, len(raw))]); begins == "{" || begins == "[" && depth == maxDepth {
			if v.Text = string(raw); len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0 {
				v.Text = ""
			}
			return v, true, nil
		}
		d = decoder(raw)
	}
	token, err := d.Token()
	switch t := token.(type) {
	case nil:
		return v, false, err
	case json.Delim:
		v.List, v.Object = t == '[', t == '{'
		for d.More() && err == nil {
			of, at := "", path
			if v.Object {
				key, _ := d.Token()
				of = fmt.Sprint(key)
				at = strings.TrimPrefix(path+"."+of, ".")
			}
			var part Value
			if part, ok, err = next(d, at, of, depth+1, whole); ok {
				v.Parts = append(v.Parts, part)
			}
		}
		if err == nil {
			_, err = d.Token()
		}
	default:
		v.Text = fmt.Sprint(token)
		_, v.Number = token.(json.Number)
	}
	return v, true, err
}

// Visit calls each for every value at a path such as user.login. It looks into lists on the way, and a star stands for any name.
func (v Value) Visit(path string, each func(Value)) {
	for _, p := range v.Parts {
		rest, below := strings.CutPrefix(path, p.Name+".")
		switch {
		case v.List:
			p.Visit(path, each)
		case p.Name == path, path == "*" && v.Object:
			each(p)
		case below:
			p.Visit(rest, each)
		}
	}
}

// Has reports whether there is a value at a path.
func (v Value) Has(path string) (has bool) {
	v.Visit(path, func(Value) { has = true })
	return has
}

// At returns the values at a path, and the elements instead of a list. The path "." is the value itself.
func (v Value) At(path string) (all []Value) {
	if path == "." {
		return []Value{v}
	}
	var add func(Value)
	add = func(one Value) {
		if !one.List {
			all = append(all, one)
		}
		for _, p := range one.Parts {
			if one.List {
				add(p)
			}
		}
	}
	v.Visit(path, add)
	return all
}

// Leaves calls a function for each text in a value that is not blank, with its path.
func (v Value) Leaves(path string, yield func(path, text string) bool) bool {
	if !v.List && !v.Object {
		return strings.TrimSpace(v.Text) == "" || yield(path, v.Text)
	}
	for _, p := range v.Parts {
		of := strings.TrimPrefix(path+"."+p.Name, ".")
		if v.List {
			of = path
		}
		if !p.Leaves(of, yield) {
			return false
		}
	}
	return true
}
