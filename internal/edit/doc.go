// Package edit changes values of a YAML or JSON file where they stand.
//
// It splices the text and never writes YAML anew: comments, blank lines, the order of keys, line ends and the style of
// everything else stay as they were written. A new value takes the style of the old one (plain, quoted, block) where that
// can hold it. What cannot be edited is refused, with the reason, and the other edits are made.
//
// It does not promise that the result means what was wanted, since a place can be shared: whoever edits reads the result
// again and compares. The package knows YAML, and nothing of kinds, fields or files.
package edit
