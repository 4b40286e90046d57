package manifest

import (
	"errors"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"
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
func documents(in io.Reader, each func(root *node)) error {
	d := yaml.NewDecoder(in)
	for {
		doc, err := decodeNext(d)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if doc.Kind == documentNode && len(doc.Content) == 1 {
			each(doc.Content[0])
		}
	}
}

// decodeNext decodes one document. Nothing but the library runs below the recover.
func decodeNext(d *yaml.Decoder) (doc *node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML reader gave up: %v", r)
		}
	}()
	doc = new(node)
	err = d.Decode(doc)
	return doc, err //nolint:wrapcheck // syntaxError puts it into our words
}
