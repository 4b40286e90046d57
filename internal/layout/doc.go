// Package layout gives manifests one layout: indentation by two spaces, one space behind a colon and a hyphen, quotes only
// where YAML needs them, no blanks at the end of lines.
//
// It changes the text in place, line by line, and never writes YAML anew: comments, blank lines, the order of keys, block
// scalars and what stands between brackets stay as they were written. What it gives reads as the same YAML nodes, or it
// gives a [Problem] instead. Formatting twice changes nothing.
//
// It knows YAML, and nothing of kinds and fields.
package layout
