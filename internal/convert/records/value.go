package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Value is a value of JSON with its name: a text, or the parts of an object or a list. Parts that are null are left out.
type Value struct {
	Name, Text string
	Parts      []Value
	List       bool // parts have no names
	Object     bool
}

// Tree returns the record as a value, with its parts in their order.
func (r Record) Tree() Value {
	v, _ := decode(r.data, "", 0) // it was decoded before
	return v
}

func decode(data []byte, name string, depth int) (Value, bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return next(d, name, depth)
}

// next reads the next value, and reports whether it is not null.
func next(d *json.Decoder, name string, depth int) (Value, bool) {
	if depth == maxDepth {
		var whole json.RawMessage
		_ = d.Decode(&whole)
		return Value{Name: name, Text: string(whole)}, string(whole) != "null"
	}
	v := Value{Name: name}
	token, _ := d.Token()
	switch t := token.(type) {
	case nil:
		return v, false
	case json.Delim:
		v.List, v.Object = t == '[', t == '{'
		for d.More() {
			of := ""
			if v.Object {
				key, _ := d.Token()
				of = fmt.Sprint(key)
			}
			if part, ok := next(d, of, depth+1); ok {
				v.Parts = append(v.Parts, part)
			}
		}
		_, _ = d.Token()
	default:
		v.Text = fmt.Sprint(token)
	}
	return v, true
}

// Visit calls each for what lies at a path such as user.login. Lists on the way are looked into, and a star stands for any name.
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

// Has reports whether something lies at a path.
func (v Value) Has(path string) (has bool) {
	v.Visit(path, func(Value) { has = true })
	return has
}

// At returns what lies at a path: of a list its elements.
func (v Value) At(path string) (all []Value) {
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

// Leaves visits the texts in a value that are not blank, by the paths to them.
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
