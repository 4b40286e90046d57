package mapping

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/yamltext"
	"github.com/planform/planform/manifest"
)

// Open is the value of an entry that somebody has to decide.
const Open = "?"

// Rest is the name whose entry answers for all names that are open or have no entry.
const Rest = "*"

// Marker is the beginning of a mapping file. It tells the file from the manifests in the same folder.
const Marker = "# planform mapping"

// introduction is the comment at the beginning of a new mapping file.
const introduction = Marker + `: what becomes of the export's people, states and other names.
# Edit it and run planform convert again: what you write is kept, only new names are added.
# A ? is an open question. "# guessed" marks what convert filled in.`

// File is a mapping file.
type File struct {
	name     string
	data     []byte
	root     *yaml.Node // a mapping
	changed  bool
	comments bool                           // data holds nothing else
	names    map[*yaml.Node]map[string]bool // of sections, folded
}

// Parse reads a mapping file; no data is a new file.
func Parse(name string, data []byte) (*File, diag.List) {
	f := &File{name: name, data: data, root: &yaml.Node{Kind: yaml.MappingNode}, names: map[*yaml.Node]map[string]bool{}}
	if len(bytes.TrimSpace(data)) == 0 {
		return f, nil
	}
	var findings diag.List
	var roots []*yaml.Node
	err := errors.New("the file is larger than 64 MiB")
	if len(data) <= 64<<20 {
		err = yamltext.Documents(bytes.NewReader(data), func(root *yaml.Node) { roots = append(roots, root) })
	}
	switch {
	case len(roots) > 1:
		err = errors.New("there is more than one document in the file")
	case len(roots) == 0 && err == nil && !utf8.Valid(data): // its comments would be kept among others
		err = errors.New("the file is not UTF-8")
	}
	switch {
	case err != nil:
		d, ok := manifest.SyntaxError(name, err, data)
		if !ok {
			d = diag.Diagnostic{Code: "syntax", Position: diag.Position{File: name}, Summary: err.Error()}
		}
		findings.Add(d)
	case len(roots) == 0 || roots[0].Tag == "!!null":
		f.comments = len(roots) == 0 || roots[0].Value == "" && roots[0].Style&yaml.TaggedStyle == 0
	case roots[0].Kind != yaml.MappingNode:
		findings.Errorf(diag.Position{File: name, Line: 1}, "wrong-type", "the mapping file has no sections")
	default:
		f.root = roots[0]
	}
	return f, findings
}

// Bytes returns the text of the file with the added entries, or the text as read if nothing was added.
func (f *File) Bytes() ([]byte, error) {
	if !f.changed {
		return f.data, nil
	}
	var out bytes.Buffer
	if !bytes.HasPrefix(f.data, []byte(Marker)) {
		out.WriteString(introduction + "\n")
	}
	if f.comments {
		out.Write(append(bytes.TrimRight(f.data, "\n"), '\n'))
	}
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	err := errors.Join(e.Encode(f.root), e.Close())
	return out.Bytes(), err
}

// Set adds a setting at the top level, unless the file has it. Its value is a text, a number, a bool, a []string, or a mapping of these on
// one line.
func (f *File) Set(key string, value any, comment string) {
	if child(f.root, key) == nil {
		f.changed = true
		put(f.root, key, node(value), comment)
	}
}

// Add adds an entry to a section, unless the section has it in any spelling.
func (f *File) Add(section, key string, value any, comment string) {
	s := child(f.root, section)
	if s == nil {
		s = &yaml.Node{Kind: yaml.MappingNode}
		put(f.root, section, s, "")
	}
	if s.Kind == yaml.ScalarNode && s.Tag == "!!null" { // the section is there and empty
		*s = yaml.Node{Kind: yaml.MappingNode, HeadComment: s.HeadComment, LineComment: s.LineComment, FootComment: s.FootComment}
	}
	if s.Kind != yaml.MappingNode {
		return // decoding reports this mistake
	}
	names := f.names[s]
	if names == nil {
		names = map[string]bool{}
		for name := range yamltext.Pairs(s.Content) {
			names[Fold(name.Value)] = true
		}
		f.names[s] = names
	}
	if names[Fold(key)] || names[Rest] && isOpen(value) {
		return
	}
	names[Fold(key)], f.changed = true, true
	s.Style = 0 // a line for each: comments have no place in braces
	put(s, key, node(value), comment)
}

func isOpen(value any) bool {
	pairs, ok := value.(manifest.Map)
	return !ok && value == Open || slices.ContainsFunc(pairs, func(e manifest.Entry) bool { return isOpen(e.Value) })
}

// put adds a key with a value and a comment to a mapping.
func put(to *yaml.Node, key string, value *yaml.Node, comment string) {
	comment = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, comment)
	at := value
	if value.Kind == yaml.MappingNode && value.Style != yaml.FlowStyle {
		at = &yaml.Node{}
	}
	at.LineComment = comment
	to.Content = append(to.Content, scalar(key), value)
}

func child(of *yaml.Node, key string) *yaml.Node {
	for name, value := range yamltext.Pairs(of.Content) {
		if name.Value == key {
			return value
		}
	}
	return nil
}

func scalar(text string) *yaml.Node {
	n := new(yaml.Node)
	n.SetString(text)
	n.Style &^= yaml.LiteralStyle
	if strings.Contains(text, "\n") {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func node(value any) *yaml.Node {
	n := &yaml.Node{}
	switch v := value.(type) {
	case string:
		return scalar(v)
	case []string:
		n.Kind, n.Style = yaml.SequenceNode, yaml.FlowStyle
		for _, text := range v {
			n.Content = append(n.Content, scalar(text))
		}
	case manifest.Map:
		n.Kind, n.Style = yaml.MappingNode, yaml.FlowStyle
		for _, e := range v {
			n.Content = append(n.Content, scalar(e.Key), node(e.Value))
		}
	default:
		_ = n.Encode(v) // numbers and bools always encode
	}
	return n
}

// Fold returns a name in lower case without blanks. Names with equal folds are one name.
func Fold(name string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(name, unicode.IsSpace), ""))
}

// Names holds the entries of a section by names of the source. A nil Names is empty.
type Names[T any] struct {
	exact  map[string]T
	folded map[string]string // names by their folds; of several names, the first in the order of letters
}

func (n *Names[T]) set(name string, value T) {
	if n.exact == nil {
		n.exact, n.folded = map[string]T{}, map[string]string{}
	}
	n.exact[name] = value
	if had, taken := n.folded[Fold(name)]; !taken || name < had {
		n.folded[Fold(name)] = name
	}
}

// Named returns the sorted names whose entry meets a condition.
func (n *Names[T]) Named(is func(T) bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(n.exact)), func(name string) bool { return !is(n.exact[name]) })
}

// Find returns the entry of a name: as the name is written, then without case and blanks, then the entry of the rest.
func (n *Names[T]) Find(name string) (value T, ok bool) {
	if value, ok = n.Own(name); ok || n == nil || name == "" {
		return value, ok
	}
	value, ok = n.exact[Rest]
	return value, ok
}

// Own returns the entry of a name, without the entry of the rest.
func (n *Names[T]) Own(name string) (value T, ok bool) {
	if n == nil {
		return value, false
	}
	if value, ok = n.exact[name]; ok || name == "" || len(n.exact) == 0 {
		return value, ok
	}
	other, ok := n.folded[Fold(name)]
	if ok {
		value = n.exact[other]
	}
	return value, ok
}
