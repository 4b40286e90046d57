package manifest

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/planform/planform/internal/text/diag"
	"github.com/planform/planform/internal/text/yamltext"
)

// readJSON reads a field of free JSON. It returns the mapping as JSON with sorted keys. Numbers keep their text, and scalars that JSON has
// no number for become texts.
func (d *decoder) readJSON(name string, n *node) (text string, instance any, ok bool) {
	to := d.deref(name, n)
	if to == nil {
		return "", nil, false
	}
	if to.Kind != mappingNode {
		return "", textInstance(to), true
	}
	t := jsonTree{d: d, name: name}
	root := t.decode(n, 0)
	written, err := diag.JSON(root, "")
	if err != nil && !t.failed {
		t.report(n, problem{"bad-value", err.Error(), ""})
	}
	if t.failed {
		d.broken = append(d.broken, name)
		return "", nil, false
	}
	return string(written), map[string]any{}, true
}

// jsonTree decodes nodes into values of JSON.
type jsonTree struct {
	d         *decoder
	name      string
	ancestors ancestors
	failed    bool
}

// decode returns the JSON value of a node.
func (t *jsonTree) decode(n *node, depth int) any {
	to, leave := t.ancestors.enter(n)
	defer leave()
	if to == nil {
		return t.report(n, cyclicAlias(n))
	}
	if depth > t.d.budget.limits.Depth {
		return t.report(n, problem{"too-deep", t.name + " is nested deeper than " + strconv.Itoa(t.d.budget.limits.Depth) + " levels", ""})
	}
	if bad := tagProblem(to); bad != nil {
		return t.report(to, *bad)
	}
	if to.Kind == scalarNode {
		return t.scalar(to)
	}
	members := to.Content
	if to.Kind == mappingNode {
		members = t.d.pairs(to)
	}
	if t.ancestors.aliases > 0 && (!t.d.budget.expand(len(members)+1) || t.failed) {
		t.failed = true // reported once for the file
		return nil
	}
	if to.Kind == mappingNode {
		return t.mapping(members, depth)
	}
	list := make([]any, len(members))
	for i, e := range members {
		list[i] = t.decode(e, depth+1)
	}
	return list
}

func (t *jsonTree) mapping(pairs []*node, depth int) any {
	mapping, keys := make(map[string]any, len(pairs)/2), make(map[string]*node, len(pairs)/2)
	for written, value := range yamltext.Pairs(pairs) {
		key := resolved(written)
		if key == nil || key.Kind != scalarNode {
			t.report(written, problem{"bad-key", "a key must be a text", ""})
			continue
		}
		if first, twice := keys[key.Value]; twice {
			t.failed = true
			t.d.reportDuplicate(key.Value, first, written, t.path())
			continue
		}
		keys[key.Value] = written
		name, _ := t.cleanText(written, key.Value).(string)
		mapping[name] = t.decode(value, depth+1)
	}
	return mapping
}

func (t *jsonTree) scalar(n *node) any {
	switch v := jsonScalar(n).(type) {
	case nil, json.Number:
		return v
	default:
		if n.Style&quotedStyles == 0 && n.Tag == "!!bool" {
			return strings.EqualFold(n.Value, "true")
		}
		return t.cleanText(n, n.Value)
	}
}

func (t *jsonTree) cleanText(n *node, text string) any {
	text = normalizeLineEnds(text)
	if r, bad := controlCharacter(text); bad {
		return t.report(n, problem{"control-character", t.name + " contains the control character " + runeName(r), "remove it"})
	}
	return text
}

func (t *jsonTree) path() string { return t.d.all.items.path(t.d.present.item) + "." + t.name }

// report reports a problem with a node, and returns nil as its value.
func (t *jsonTree) report(n *node, p problem) any {
	t.failed = true
	t.d.reportNode(n, t.path(), p)
	return nil
}
