// Package schema derives the JSON Schema of a manifest from the kind
// descriptors, and checks decoded parts of a manifest against it.
//
// [Document] is the whole schema (draft 2020-12), as `planform schema` prints it
// and as planform.schema.json holds it for editors; a test keeps the two equal. A
// [Checker] holds the same rules compiled once for each kind, so that objects can
// be checked one by one; it remembers what it accepted. The rules of an object and of a
// document come from one generator, which knows no kind by name.
//
// Instances are JSON values that keep what was written: a text field holds a
// string whatever YAML makes of the scalar, a number is a json.Number, and a
// field that is emptied is nil.
//
// The package must not know YAML, positions or files: it names the property
// that breaks a rule, and whoever holds the source finds the place. Nothing is
// ever loaded from a network: every schema that is compiled is in the program.
package schema
