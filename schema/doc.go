// Package schema derives the JSON Schema of a manifest from the kind descriptors, and checks decoded parts of a manifest against it.
//
// [Document] returns the whole schema (draft 2020-12), which `planform schema` prints; planform.schema.json holds the same for editors.
// [Check] checks an object against the same rules in draft 7, which are compiled once for each kind. One generator makes the rules for both,
// without special cases for kinds.
//
// Instances are JSON values with the text as written: a text field holds a string, whatever type YAML gives the scalar; a number is a
// json.Number; a field to clear is nil.
//
// The package must not know YAML, positions or files: it names the property that breaks a rule, and the caller finds its position. Nothing
// is loaded from a network.
package schema
