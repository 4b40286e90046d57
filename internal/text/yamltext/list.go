package yamltext

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// editList changes the members of a list.
func (f *File) editList(at valueNode, l List) error {
	n := at.node
	if n.Kind != yaml.SequenceNode {
		if n.Kind == yaml.MappingNode || n.Style&blockStyles != 0 {
			return errExtent
		}
		from, to, err := f.extent(n)
		if err != nil || from == to && !f.afterColon(at, from) {
			return errExtent
		}
		f.splice(from, to, f.gap(from)+f.inline(0, at.inFlow, l.Whole))
		return nil
	}
	members := make([]span, len(n.Content))
	last, dropped := -1, 0 // the last member that stays
	for i, member := range n.Content {
		from, to, err := f.extent(member)
		if err != nil {
			return err
		}
		members[i] = span{from, to, slices.ContainsFunc(l.Drop, func(p Place) bool { return holds(member, p) })}
		if members[i].dropped {
			dropped++
		}
		if !members[i].dropped {
			last = i
		}
	}
	if dropped != len(l.Drop) {
		return errors.New("its members are not all written here")
	}
	if n.Style&yaml.FlowStyle != 0 {
		return f.flowList(n, members, last, l.Add)
	}
	return f.blockList(at, members, last, l.Add)
}

// holds reports whether a node, or a node inside it, is at a place.
func holds(n *yaml.Node, p Place) bool {
	return n.Line == p.Line && n.Column == p.Column ||
		slices.ContainsFunc(n.Content, func(inner *yaml.Node) bool { return holds(inner, p) })
}

// span is the range of a member of a list.
type span struct {
	from, to int
	dropped  bool
}

// blockList changes a list with one member in each line.
func (f *File) blockList(at valueNode, members []span, last int, add []string) error {
	if last < 0 && len(add) == 0 { // an empty list has no block style
		if at.key == nil {
			return errExtent
		}
		_, to, err := f.extent(at.key)
		if err != nil || to >= len(f.text) || f.text[to] != ':' || at.node.Anchor != "" {
			return errExtent
		}
		f.splice(to+1, to+1, " []")
	}
	for _, m := range members {
		hyphen := strings.TrimRight(f.lineBefore(m.from), " \t")
		if strings.TrimLeft(hyphen, " \t") != "-" {
			return errExtent
		}
		if m.dropped {
			f.splice(f.starts[f.line(m.from)], f.nextLine(m.to), "")
		}
	}
	if len(add) == 0 {
		return nil
	}
	end := members[len(members)-1]
	place := f.nextLine(end.to)
	var all strings.Builder
	for _, text := range add {
		all.WriteString(f.lineBefore(members[0].from) + f.inline(0, false, text) + f.newline)
	}
	lines := all.String()
	if f.starts[f.line(place)] != place { // the file does not end with a line end
		lines = strings.TrimSuffix(lines, f.newline)
		if !end.dropped {
			lines = f.newline + lines
		}
	}
	f.splice(place, place, lines)
	return nil
}

// comment matches a comment between members, to the end of its line.
var comment = regexp.MustCompile(`#.*`)

// flowList changes a list between brackets.
func (f *File) flowList(n *yaml.Node, members []span, last int, add []string) error {
	from, to, err := f.extent(n)
	if err != nil {
		return err
	}
	if last < 0 { // also for an empty list
		f.splice(from, to, f.inline(0, true, add))
		return nil
	}
	style := n.Content[last].Style
	comma := strings.Contains(comment.ReplaceAllString(string(f.text[members[len(members)-1].to:to]), ""), ",") // after the last member
	for i, m := range members {
		switch {
		case !m.dropped:
		case f.ownLine(m):
			f.splice(f.starts[f.line(m.from)], f.nextLine(m.to), "")
		case i < len(members)-1 && i < last:
			f.splice(m.from, members[i+1].from, "")
		default:
			f.splice(members[i-1].to, m.to, "")
		}
	}
	end := members[last].to
	if f.ownLine(members[last]) {
		if last < len(members)-1 || len(add) > 0 {
			f.setComma(end, comma || len(add) > 0)
		}
		place, indent := f.nextLine(members[last].to), f.lineBefore(members[last].from)
		for i, text := range add {
			line := indent + f.inline(style, true, text)
			if comma || i < len(add)-1 {
				line += ","
			}
			f.splice(place, place, line+f.newline)
		}
		return nil
	}
	for _, text := range add {
		f.splice(end, end, ", "+f.inline(style, true, text))
	}
	return nil
}

// ownLine reports whether a member of a list between brackets has a line of its own.
func (f *File) ownLine(m span) bool {
	behind := strings.TrimSpace(strings.TrimPrefix(strings.TrimLeft(string(f.text[m.to:f.lineEnd(m.to)]), " \t"), ","))
	return strings.TrimSpace(f.lineBefore(m.from)) == "" && (behind == "" || behind[0] == '#')
}

// setComma adds or removes the comma after a member.
func (f *File) setComma(at int, wanted bool) {
	switch has := at < len(f.text) && f.text[at] == ','; {
	case wanted && !has:
		f.splice(at, at, ",")
	case !wanted && has:
		f.splice(at, at+1, "")
	}
}
