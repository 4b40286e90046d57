package manifest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/diag"
)

// json takes a field that is passed on as it is: a mapping of whatever JSON can
// say, as JSON with sorted keys. Numbers keep their text; a scalar that is no
// number in JSON is a text.
func (d *decoder) json(name string, n *node) (text string, instance any, ok bool) {
	to := d.deref(name, n)
	if to == nil {
		return "", nil, false
	}
	if to.Kind != mappingNode {
		return "", textInstance(to), true
	}
	w := jsonWriter{d: d, name: name}
	w.child(n, 0)
	if w.failed {
		d.broken = append(d.broken, name)
		return "", nil, false
	}
	return w.buf.String(), map[string]any{}, true
}

type jsonWriter struct {
	d       *decoder
	name    string
	buf     bytes.Buffer
	open    []*node // what is being written, outermost first
	aliases int     // how many of them an alias led to: their elements count
	failed  bool
}

// child writes what a node stands for.
func (w *jsonWriter) child(n *node, depth int) {
	to := resolved(n)
	if to == nil || n.Kind == aliasNode && slices.Contains(w.open, to) {
		w.failed = true
		w.d.found.add(cyclicAlias(w.d.source, n))
		return
	}
	if depth > w.d.budget.limits.Depth {
		w.bad(n, "too-deep", w.name+" is nested deeper than "+strconv.Itoa(w.d.budget.limits.Depth)+" levels", "")
		return
	}
	if fault := tagFault(to); fault != "" {
		w.bad(to, "unknown-tag", "the tag "+quote(fault)+" cannot be used here", "remove it")
		return
	}
	if to.Kind == scalarNode {
		w.scalar(to)
		return
	}
	if n.Kind == aliasNode {
		w.aliases++
		defer func() { w.aliases-- }()
	}
	w.open = append(w.open, to)
	if to.Kind == mappingNode {
		w.mapping(to, depth)
	} else {
		w.sequence(to, depth)
	}
	w.open = w.open[:len(w.open)-1]
}

// spend counts the elements that an alias adds.
func (w *jsonWriter) spend(elements int) bool {
	if w.aliases > 0 && !w.d.budget.expand(elements+1) {
		w.failed = true // told for the whole file
	}
	return !w.failed || w.aliases == 0
}

func (w *jsonWriter) sequence(n *node, depth int) {
	if !w.spend(len(n.Content)) {
		return
	}
	w.buf.WriteByte('[')
	for i, e := range n.Content {
		if i > 0 {
			w.buf.WriteByte(',')
		}
		w.child(e, depth+1)
	}
	w.buf.WriteByte(']')
}

func (w *jsonWriter) mapping(n *node, depth int) {
	pairs := w.d.merger.pairs(n)
	if !w.spend(len(pairs)) {
		return
	}
	type member struct {
		name       string
		key, value *node
	}
	members := make([]member, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		key := resolved(pairs[i])
		if key == nil || key.Kind != scalarNode {
			w.bad(pairs[i], "bad-key", "a key must be a text", "")
			continue
		}
		members = append(members, member{key.Value, pairs[i], pairs[i+1]})
	}
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	w.buf.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			if members[i-1].name == m.name {
				w.failed = true
				w.d.found.add(duplicateKey(w.d.source, m.name, members[i-1].key, m.key, w.d.items.path(w.d.present.item)+"."+w.name))
				continue
			}
			w.buf.WriteByte(',')
		}
		w.text(m.key, m.name)
		w.buf.WriteByte(':')
		w.child(m.value, depth+1)
	}
	w.buf.WriteByte('}')
}

func (w *jsonWriter) scalar(n *node) {
	switch v := jsonScalar(n).(type) {
	case nil:
		w.buf.WriteString("null")
	case json.Number:
		w.buf.WriteString(v.String())
	default:
		if n.Style&quotedStyles == 0 && n.Tag == "!!bool" {
			w.buf.WriteString(strings.ToLower(n.Value))
			return
		}
		w.text(n, n.Value)
	}
}

func (w *jsonWriter) text(n *node, text string) {
	text = lineEnds(text)
	if r, bad := controlCharacter(text); bad {
		w.bad(n, "control-character", w.name+" holds the control character "+runeName(r), "remove it")
		return
	}
	e := json.NewEncoder(&w.buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		w.bad(n, "bad-value", err.Error(), "")
		return
	}
	w.buf.Truncate(w.buf.Len() - 1) // the encoder's line end
}

func (w *jsonWriter) bad(n *node, code, summary, hint string) {
	w.failed = true
	w.d.found.add(diag.Diagnostic{
		Code: code, Position: position(w.d.source, n), Path: w.d.items.path(w.d.present.item) + "." + w.name, Summary: summary, Hint: hint,
	})
}
