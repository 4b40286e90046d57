// Package yamltext works on the text of YAML and JSON files: it finds the positions of values, writes texts, and replaces a part while the
// rest stays unchanged.
//
// [File] splices the text and never rewrites YAML: comments, blank lines, the order of keys, line ends and the style of all other parts
// stay unchanged. It has two users: [File.Apply] changes values in place, and [Format] gives a file the one layout. [Scalar], [Quoted] and
// [BlockHead] write texts that every reader reads back unchanged.
//
// An edit keeps the style of the old value (plain, quoted, block) if it can represent the new one. Impossible edits are refused with a
// reason, and the others are made. Apply does not guarantee the intended meaning, because a value can be shared: the caller reads the
// result again and compares.
//
// The result of Format contains the same YAML nodes, otherwise Format returns a [Problem]. Formatting twice changes nothing.
//
// The package knows YAML, and no kinds, fields or files.
package yamltext
