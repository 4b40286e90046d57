package edit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Edit is one change at a place: line and column from 1, in characters, as the YAML reader counts them.
type Edit struct {
	Line, Column int    // of the value, or of the mapping that gets a new key
	Key          string // the name that the value's key gets; of an Insert the new key; "" = it stays
	Insert       bool   // the mapping gets a key, which it must not have
	Bare         string // the name that a text in the place of the mapping gets, which becomes one for an Insert; "" = it must be a mapping
	Value        any    // a text, a [manifest.Literal], nil for nothing, or a [List]
}

// List changes the members of a list. Those that stay keep their order, style and comments.
type List struct {
	Drop  []Place  // of the members that go, or of something in them
	Add   []string // texts that come to the end
	Whole []string // all members, for a place that does not hold a list yet
}

// ErrKeyExists refuses an Insert of a key that the mapping has.
var ErrKeyExists = errors.New("its mapping has the key already")

// Apply makes edits of a text that is read for that.
func Apply(text []byte, edits []Edit) (edited []byte, refused []error) {
	f, err := Read(text)
	if err != nil {
		return text, slices.Repeat([]error{err}, len(edits))
	}
	return f.Apply(edits)
}

// Apply makes the edits. refused has an error for each edit that was not made, at its place.
func (f *File) Apply(edits []Edit) (edited []byte, refused []error) {
	refused = make([]error, len(edits))
	f.splices, f.opened = nil, map[Place]bool{}
	rewritten := map[Place]bool{}
	for _, e := range edits {
		at := Place{e.Line, e.Column}
		f.opened[at] = f.opened[at] || e.Insert && f.bare(at, e)
		rewritten[at] = rewritten[at] || !e.Insert
	}
	for i, e := range edits {
		before := len(f.splices)
		if refused[i] = f.edit(e); refused[i] == nil {
			refused[i] = f.overlap(before)
		}
		if refused[i] != nil {
			f.splices = f.splices[:before]
		}
	}
	for at, opened := range f.opened {
		if opened {
			f.close(at, rewritten[at])
		}
	}
	return f.spliced(), refused
}

// bare reports whether a text of a list stands where an edit needs a mapping, and can become one.
func (f *File) bare(at Place, e Edit) bool {
	there := f.values[at]
	n := there.node
	return e.Bare != "" && n != nil && n.Kind == yaml.ScalarNode && there.key == nil && n.Style&blockStyles == 0 && n.Anchor == "" && !f.aliased[n]
}

// close ends the mapping that a bare text became. What no edit rewrote is written as text in brackets has to be.
func (f *File) close(at Place, rewritten bool) {
	n := f.values[at].node
	from, to, err := f.extent(n)
	if err != nil || !f.opens(from) {
		return
	}
	if !rewritten {
		f.splice(from, to, f.inline(n.Style, true, n.Value))
	}
	f.splice(to, to, "}")
}

// Text is the text that stands at a place, as it reads; ok is false where no plain or quoted one does.
func (f *File) Text(line, column int) (value string, ok bool) {
	at, ok := f.values[Place{line, column}]
	if !ok || at.node.Kind != yaml.ScalarNode {
		return "", false
	}
	return at.node.Value, true
}

// Place is a line and a column, as in [Edit].
type Place struct{ Line, Column int }

// File is a text with what the YAML reader found in it.
type File struct {
	text    []byte
	starts  []int // where each line begins
	newline string
	json    bool
	values  map[Place]found
	aliased map[*yaml.Node]bool // what aliases stand for
	opened  map[Place]bool      // bare texts that become mappings
	splices []splice
}

// found is a value and where it stands.
type found struct {
	node   *yaml.Node
	key    *yaml.Node // nil = it is a member of a list, or a document
	inFlow bool       // between brackets
}

// splice puts a text in the place of the bytes from up to to.
type splice struct {
	from, to int
	with     string
}

// Read reads a text for [File.Apply].
func Read(text []byte) (f *File, err error) {
	defer func() { // the library panics on some inputs
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML reader gave up: %v", r)
		}
	}()
	f = &File{text: text, newline: "\n", values: map[Place]found{}, aliased: map[*yaml.Node]bool{}, json: json.Valid(bytes.TrimPrefix(text, []byte("\ufeff")))}
	if bytes.Contains(text, []byte("\r\n")) {
		f.newline = "\r\n"
	}
	f.findLines()
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		document := new(yaml.Node)
		switch err := d.Decode(document); {
		case errors.Is(err, io.EOF):
			return f, nil
		case err != nil:
			return nil, err //nolint:wrapcheck // it says it all
		}
		for _, root := range document.Content {
			f.index(found{node: root})
		}
	}
}

// findLines finds where lines begin, to the YAML reader.
func (f *File) findLines() {
	at := len(f.text) - len(bytes.TrimPrefix(f.text, []byte("\ufeff")))
	f.starts = []int{at}
	for at < len(f.text) {
		r, size := utf8.DecodeRune(f.text[at:])
		at += size
		if r == '\r' && at < len(f.text) && f.text[at] == '\n' {
			at++
		}
		if strings.ContainsRune("\r\n\u0085\u2028\u2029", r) {
			f.starts = append(f.starts, at)
		}
	}
}

// index notes the places of all values below one.
func (f *File) index(at found) {
	n := at.node
	f.values[Place{n.Line, n.Column}] = at
	inFlow := at.inFlow || n.Style&yaml.FlowStyle != 0
	switch n.Kind { //nolint:exhaustive // the others hold nothing
	case yaml.AliasNode:
		f.aliased[n.Alias] = true
	case yaml.SequenceNode:
		for _, member := range n.Content {
			f.index(found{node: member, inFlow: inFlow})
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			f.index(found{node: n.Content[i+1], key: n.Content[i], inFlow: inFlow})
		}
	}
}

var errPlace = errors.New("its place in the file was not found")

// offset is the byte at which a node begins.
func (f *File) offset(n *yaml.Node) (int, error) {
	if n.Line < 1 || n.Line > len(f.starts) {
		return 0, errPlace
	}
	at := f.starts[n.Line-1]
	for range n.Column - 1 {
		if at >= len(f.text) {
			return 0, errPlace
		}
		_, size := utf8.DecodeRune(f.text[at:])
		at += size
	}
	return at, nil
}

// line is the number of the line, from 0, that holds a byte.
func (f *File) line(at int) int {
	i, exact := slices.BinarySearch(f.starts, at)
	if exact {
		return i
	}
	return i - 1
}

// lineEnd is the end of the line that holds a byte, without its line end.
func (f *File) lineEnd(at int) int {
	if i := bytes.IndexAny(f.text[at:], "\r\n"); i >= 0 {
		return at + i
	}
	return len(f.text)
}

// nextLine is the beginning of the line behind the one that holds a byte.
func (f *File) nextLine(at int) int {
	if i := f.line(at) + 1; i < len(f.starts) {
		return f.starts[i]
	}
	return len(f.text)
}

// before is what stands in front of a byte on its line.
func (f *File) before(at int) string { return string(f.text[f.starts[max(f.line(at), 0)]:at]) }

func (f *File) splice(from, to int, with string) {
	f.splices = append(f.splices, splice{from, to, with})
}

// overlap refuses splices that touch what another edit changes.
func (f *File) overlap(first int) error {
	for _, s := range f.splices[first:] {
		for _, other := range f.splices[:first] {
			if s.from < other.to && other.from < s.to || s.from == other.from && s.to > s.from && other.to > other.from {
				return errors.New("another value stands at the same place")
			}
		}
	}
	return nil
}

func (f *File) spliced() []byte {
	slices.SortStableFunc(f.splices, func(a, b splice) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	var out []byte
	at := 0
	for _, s := range f.splices {
		out = append(append(out, f.text[at:s.from]...), s.with...)
		at = s.to
	}
	return append(out, f.text[at:]...)
}

func (f *File) edit(e Edit) error {
	at, ok := f.values[Place{e.Line, e.Column}]
	if !ok {
		return errPlace
	}
	opened := f.opened[Place{e.Line, e.Column}]
	if opened && e.Insert {
		return f.insertInto(at.node, e)
	}
	if e.Insert {
		return f.insert(at.node, e)
	}
	at.inFlow = at.inFlow || opened
	if f.aliased[at.node] {
		return errors.New("an alias repeats it")
	}
	if e.Key != "" {
		if err := f.rename(at, e.Key); err != nil {
			return err
		}
	}
	if l, ok := e.Value.(List); ok {
		return f.list(at, l)
	}
	return f.value(at, e.Value)
}

// rename gives a value's key another name.
func (f *File) rename(at found, name string) error {
	if at.key == nil {
		return errors.New("it has no key")
	}
	from, to, err := f.extent(at.key)
	if err != nil {
		return err
	}
	f.splice(from, to, f.inline(at.key.Style, true, name))
	return nil
}

// insert gives a mapping another key.
func (f *File) insert(n *yaml.Node, e Edit) error {
	if n.Kind == yaml.AliasNode {
		return errors.New("it is in something that an alias repeats")
	}
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return errors.New("what holds it is not written as a mapping")
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == e.Key {
			return ErrKeyExists
		}
	}
	value := e.Value
	if l, ok := value.(List); ok {
		value = l.Whole
	}
	if n.Style&yaml.FlowStyle == 0 {
		return f.insertLine(n, e.Key, value)
	}
	key, last := n.Content[len(n.Content)-2], n.Content[len(n.Content)-1]
	_, end, err := f.extent(last)
	if err != nil {
		return err
	}
	start, err := f.offset(key)
	if err != nil {
		return err
	}
	between := ", "
	if indent := f.before(start); strings.TrimSpace(indent) == "" && n.Line != key.Line {
		between = "," + f.newline + indent
	}
	f.splice(end, end, between+f.inline(key.Style, true, e.Key)+": "+f.inline(0, true, value))
	return nil
}

// opens reports whether a bracket is put in front of a byte.
func (f *File) opens(at int) bool {
	return slices.ContainsFunc(f.splices, func(s splice) bool { return s.from == at && s.to == at })
}

// insertInto gives a bare text, which becomes a mapping, another key.
func (f *File) insertInto(n *yaml.Node, e Edit) error {
	from, to, err := f.extent(n)
	if err != nil {
		return err
	}
	if !f.opens(from) {
		f.splice(from, from, "{"+f.inline(0, true, e.Bare)+": ")
	}
	f.splice(to, to, ", "+f.inline(0, true, e.Key)+": "+f.inline(0, true, e.Value))
	return nil
}

// insertLine puts a key below the first of a mapping's that stands on one line.
func (f *File) insertLine(n *yaml.Node, key string, value any) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, v := n.Content[i], n.Content[i+1]
		from, to, err := f.extent(v)
		if err != nil || v.Kind == yaml.MappingNode || v.Style&blockStyles != 0 || v.Line != name.Line || f.line(from) != f.line(to) {
			continue
		}
		line := f.inline(0, true, key) + ": "
		if text, ok := value.(string); ok && strings.Contains(strings.TrimRight(text, "\n"), "\n") && blockable(text) {
			line += chomping(text) + f.lines(text, name.Column-1+step)
		} else {
			line += f.inline(0, false, value)
		}
		end := f.lineEnd(to)
		f.splice(end, end, f.newline+strings.Repeat(" ", name.Column-1)+line)
		return nil
	}
	return errors.New("there is no simple line in its mapping to write it below")
}
