package planfile

import _ "embed"

//go:embed plan.schema.json
var schema []byte

// Schema returns the JSON Schema of a document.
func Schema() []byte { return schema }
