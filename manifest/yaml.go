package manifest

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/planform/planform/internal/diag"
)

// node is a YAML node. This file is the only one that names the library, so
// that another with the same nodes can take its place.
type node = yaml.Node

const (
	documentNode = yaml.DocumentNode
	sequenceNode = yaml.SequenceNode
	mappingNode  = yaml.MappingNode
	scalarNode   = yaml.ScalarNode
	aliasNode    = yaml.AliasNode

	taggedStyle       = yaml.TaggedStyle
	doubleQuotedStyle = yaml.DoubleQuotedStyle
	quotedStyles      = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
)

// documents decodes every document of a stream to nodes. The library panics on
// some inputs where it decodes further; here, a panic is one more broken file.
func documents(in io.Reader, each func(root *node)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML reader gave up: %v", r)
		}
	}()
	d := yaml.NewDecoder(in)
	for {
		var doc node
		if err := d.Decode(&doc); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if doc.Kind == documentNode && len(doc.Content) == 1 {
			each(doc.Content[0])
		}
	}
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxError puts the library's words into ours. Its lines can be one early, so the place is "near".
func syntaxError(file string, err error) diag.Diagnostic {
	text := err.Error()
	d := diag.Diagnostic{Code: "yaml-syntax", Position: diag.Position{File: file}}
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		if n, err := strconv.ParseInt(m[1], 10, 32); err == nil && n > 0 {
			d.Position.Line = int32(n)
		}
	}
	d.Hint = syntaxHint(text)
	d.Summary = "the file is not valid YAML: " + text
	if d.Position.Line > 0 {
		d.Summary = fmt.Sprintf("the file is not valid YAML near line %d: %s", d.Position.Line, text)
	}
	return d
}

func syntaxHint(text string) string {
	hints := [...]struct{ part, hint string }{
		{"cannot start any token", "YAML is indented with spaces, not tabs, and a text that begins with @, ` or % wants quotes"},
		{"mapping values are not allow", "a text with a colon followed by a space wants quotes"},
		{"did not find expected ',' or", "a bracket is not closed, or a comma is missing, there or in the lines after"},
		{"could not find expected ':'", "a key is followed by a colon and a space; look at the lines before as well"},
		{"did not find expected key", "look at the indentation and the quotes of the lines before"},
		{"exceeded max depth", "no manifest is nested that deep"},
		{"unknown anchor", "an alias comes after its anchor, in the same document"},
		{"unknown escape character", `within double quotes a backslash is written \\`},
	}
	for _, h := range hints {
		if strings.Contains(text, h.part) {
			return h.hint
		}
	}
	return ""
}
