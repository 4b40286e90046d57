package yamltext

import (
	"errors"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Edit is one change of a value. Line and column are counted from 1, in characters, like the YAML reader does.
type Edit struct {
	Line, Column int    // of the value, or of the mapping that gets a new key
	Key          string // the new name of the value's key; for an Insert the new key; "" = unchanged
	Insert       bool   // the mapping gets a new key
	Bare         string // for an Insert: the key that a text gets if it must first become a mapping; "" = it must be a mapping
	Value        any    // a text, a [Literal], nil for null, or a [List]
}

// List changes the members of a list. Other members keep their order, style and comments.
type List struct {
	Drop  []Place  // positions of members to remove, or of nodes inside them
	Add   []string // texts to append
	Whole []string // all members, for a value that is not a list yet
}

// ErrKeyExists is the error of an Insert of a key that the mapping has.
var ErrKeyExists = errors.New("its mapping has the key already")

// Apply reads a text and makes edits of it.
func Apply(text []byte, edits []Edit) (edited []byte, refused []error) {
	f, err := Read(text)
	if err != nil {
		return text, slices.Repeat([]error{err}, len(edits))
	}
	return f.Apply(edits)
}

// Apply makes the edits. refused contains the error of each edit that was not made, at its index.
func (f *File) Apply(edits []Edit) (edited []byte, refused []error) {
	refused = make([]error, len(edits))
	f.splices, f.opened = nil, map[Place]bool{}
	rewritten := map[Place]bool{}
	for _, e := range edits {
		at := Place{e.Line, e.Column}
		f.opened[at] = f.opened[at] || e.Insert && f.canBecomeMapping(at, e)
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
			f.closeMapping(at, rewritten[at])
		}
	}
	return f.spliced(), refused
}

// canBecomeMapping reports whether an edit needs a mapping at the place of a text in a list, and the text can become one.
func (f *File) canBecomeMapping(at Place, e Edit) bool {
	there := f.values[at]
	n := there.node
	return e.Bare != "" && n != nil && n.Kind == yaml.ScalarNode && there.key == nil && n.Style&blockStyles == 0 && n.Anchor == "" &&
		!f.aliased[n]
}

// closeMapping ends the mapping that a text became. A text that no edit rewrote is written in the form for brackets.
func (f *File) closeMapping(at Place, rewritten bool) {
	n := f.values[at].node
	from, to, err := f.extent(n)
	if err != nil || !f.hasBracketAt(from) {
		return
	}
	if !rewritten {
		f.splice(from, to, f.inline(n.Style, true, n.Value))
	}
	f.splice(to, to, "}")
}

// Text returns the plain or quoted text at a place; ok is false if there is none.
func (f *File) Text(line, column int) (value string, ok bool) {
	at, ok := f.values[Place{line, column}]
	if !ok || at.node.Kind != yaml.ScalarNode {
		return "", false
	}
	return at.node.Value, true
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
		return f.editList(at, l)
	}
	return f.editValue(at, e.Value)
}

// rename changes the name of a value's key.
func (f *File) rename(at valueNode, name string) error {
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

// insert adds a key to a mapping.
func (f *File) insert(n *yaml.Node, e Edit) error {
	if n.Kind == yaml.AliasNode {
		return errors.New("it is in something that an alias repeats")
	}
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return errors.New("what holds it is not written as a mapping")
	}
	for key := range Pairs(n.Content) {
		if key.Value == e.Key {
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
	if indent := f.lineBefore(start); strings.TrimSpace(indent) == "" && n.Line != key.Line {
		between = "," + f.newline + indent
	}
	f.splice(end, end, between+f.inline(key.Style, true, e.Key)+": "+f.inline(0, true, value))
	return nil
}

// hasBracketAt reports whether a bracket is inserted before a byte.
func (f *File) hasBracketAt(at int) bool {
	return slices.ContainsFunc(f.splices, func(s splice) bool { return s.from == at && s.to == at })
}

// insertInto adds a key to a text that becomes a mapping.
func (f *File) insertInto(n *yaml.Node, e Edit) error {
	from, to, err := f.extent(n)
	if err != nil {
		return err
	}
	if !f.hasBracketAt(from) {
		f.splice(from, from, "{"+f.inline(0, true, e.Bare)+": ")
	}
	f.splice(to, to, ", "+f.inline(0, true, e.Key)+": "+f.inline(0, true, e.Value))
	return nil
}

// insertLine inserts a key below the first key of a mapping whose value is on one line.
func (f *File) insertLine(n *yaml.Node, key string, value any) error {
	for name, v := range Pairs(n.Content) {
		from, to, err := f.extent(v)
		if err != nil || v.Kind == yaml.MappingNode || v.Style&blockStyles != 0 || v.Line != name.Line || f.line(from) != f.line(to) {
			continue
		}
		line := f.inline(0, true, key) + ": "
		if text, head, ok := asBlock(value, false); ok {
			line += head + f.lines(text, name.Column-1+step)
		} else {
			line += f.inline(0, false, value)
		}
		end := f.lineEnd(to)
		f.splice(end, end, f.newline+strings.Repeat(" ", name.Column-1)+line)
		return nil
	}
	return errors.New("there is no simple line in its mapping to write it below")
}
