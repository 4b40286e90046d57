package yamltext

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Place is a line and a column, as in [Edit].
type Place struct{ Line, Column int }

// File is a text with the positions of its values.
type File struct {
	text    []byte
	starts  []int // the beginning of each line
	newline string
	json    bool
	values  map[Place]valueNode
	aliased map[*yaml.Node]bool // targets of aliases
	opened  map[Place]bool      // texts that become mappings
	splices []splice
}

// valueNode is a value and its context.
type valueNode struct {
	node   *yaml.Node
	key    *yaml.Node // nil = a member of a list, or a document
	inFlow bool       // between brackets
}

// splice replaces the bytes from up to to by a text.
type splice struct {
	from, to int
	with     string
}

// Read reads a text for [File.Apply].
func Read(text []byte) (*File, error) {
	f := newFile(text)
	f.json = json.Valid(bytes.TrimPrefix(text, []byte("\ufeff")))
	f.values, f.aliased = map[Place]valueNode{}, map[*yaml.Node]bool{}
	return f, Documents(bytes.NewReader(text), func(root *yaml.Node) { f.indexValues(valueNode{node: root}) })
}

func newFile(text []byte) *File {
	f := &File{text: text, newline: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		f.newline = "\r\n"
	}
	f.findLines()
	return f
}

// Documents decodes every document of a stream into nodes. The library panics on some inputs; here, a panic is an error.
func Documents(in io.Reader, each func(root *yaml.Node)) error {
	for d := yaml.NewDecoder(in); ; {
		document, err := decodeNext(d)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case document.Kind == yaml.DocumentNode && len(document.Content) == 1:
			each(document.Content[0])
		}
	}
}

// Pairs yields the keys and values of a mapping, from its contents.
func Pairs(content []*yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		for i := 0; i+1 < len(content) && yield(content[i], content[i+1]); i += 2 {
		}
	}
}

// decodeNext decodes one document. Only the library runs below the recover.
func decodeNext(d *yaml.Decoder) (document *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML reader gave up: %v", r)
		}
	}()
	document = new(yaml.Node)
	err = d.Decode(document)
	return document, err //nolint:wrapcheck // it says it all
}

// findLines finds the beginnings of the lines, by the rules of the YAML reader.
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

// indexValues records the positions of a value and of all values below it.
func (f *File) indexValues(at valueNode) {
	n := at.node
	f.values[Place{n.Line, n.Column}] = at
	inFlow := at.inFlow || n.Style&yaml.FlowStyle != 0
	switch n.Kind { //nolint:exhaustive // the others hold nothing
	case yaml.AliasNode:
		f.aliased[n.Alias] = true
	case yaml.SequenceNode:
		for _, member := range n.Content {
			f.indexValues(valueNode{node: member, inFlow: inFlow})
		}
	case yaml.MappingNode:
		for key, value := range Pairs(n.Content) {
			f.indexValues(valueNode{node: value, key: key, inFlow: inFlow})
		}
	}
}

var errPlace = errors.New("its place in the file was not found")

// offset returns the byte at which a node begins.
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

// line returns the number of the line, from 0, that contains a byte.
func (f *File) line(at int) int {
	i, exact := slices.BinarySearch(f.starts, at)
	if exact {
		return i
	}
	return i - 1
}

// lineEnd returns the end of the line that contains a byte, without its line end.
func (f *File) lineEnd(at int) int {
	if i := bytes.IndexAny(f.text[at:], "\r\n"); i >= 0 {
		return at + i
	}
	return len(f.text)
}

// nextLine returns the beginning of the line after the one that contains a byte.
func (f *File) nextLine(at int) int {
	if i := f.line(at) + 1; i < len(f.starts) {
		return f.starts[i]
	}
	return len(f.text)
}

// lineBefore returns the text before a byte on its line.
func (f *File) lineBefore(at int) string { return string(f.text[f.starts[max(f.line(at), 0)]:at]) }

func (f *File) splice(from, to int, with string) {
	f.splices = append(f.splices, splice{from, to, with})
}

// overlap returns an error if the splices from first on overlap those of other edits.
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
