package manifest

import "gopkg.in/yaml.v3"

// node is a YAML node. This file is the only one that names the library, so
// that another with the same nodes can take its place.
type node = yaml.Node

const (
	sequenceNode = yaml.SequenceNode
	mappingNode  = yaml.MappingNode
	scalarNode   = yaml.ScalarNode
	aliasNode    = yaml.AliasNode

	flowStyle         = yaml.FlowStyle
	taggedStyle       = yaml.TaggedStyle
	doubleQuotedStyle = yaml.DoubleQuotedStyle
	quotedStyles      = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
)
