// Package schema derives the JSON Schema of a manifest from the kind
// descriptors, and checks decoded parts of a manifest against it.
//
// [Document] is the whole schema (draft 2020-12), as `planform schema` prints it and as
// planform.schema.json holds it for editors; a test keeps the two equal. A [Checker]
// holds the same rules in draft 7, compiled once for each kind, so that objects can be checked one
// by one; it caches accepted values, and is not for concurrent use. One generator makes the rules of objects and of
// documents; it knows no kind by name.
//
// Instances are JSON values of the text as written: a text field holds a string
// whatever type YAML gives the scalar, a number is a json.Number, and a field to be
// cleared is nil.
//
// The package must not know YAML, positions or files: it names the property that breaks
// a rule, and its caller finds the place. Nothing is loaded from a network: all compiled
// schemas are part of the program.
package schema
