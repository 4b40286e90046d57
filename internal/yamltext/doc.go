// Package yamltext is the text of YAML and JSON files: where their values stand, how texts are written in them, and how a
// part is replaced while the rest stays as it is.
//
// [File] splices the text and never writes YAML anew: comments, blank lines, the order of keys, line ends and the style of
// everything else stay as they were written. It has two users: [File.Apply] changes values where they stand, and [Format]
// gives a file the one layout. [Scalar], [Quoted] and [BlockHead] write texts so that every reader reads them back.
//
// An edit gives a new value the style of the old one (plain, quoted, block) where that can hold it. What cannot be edited is
// refused, with the reason, and the other edits are made. Apply does not promise that the result means what was wanted, since
// a place can be shared: whoever edits reads the result again and compares.
//
// What Format gives reads as the same YAML nodes, or it gives a [Problem] instead. Formatting twice changes nothing.
//
// The package knows YAML, and nothing of kinds, fields or files.
package yamltext
