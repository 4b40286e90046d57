package manifest

import "gopkg.in/yaml.v3"

// node is a YAML node. Only this file names the library, so that it can be replaced.
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
