// Package resource says what kinds of thing exist on the service, and nothing else does.
//
// Each kind (project, work item, link, cycle membership, ...) is described once,
// in its own file, by a [Kind]: its fields, what it lives in, by what it is
// recognised, and the [Operation]s that the service offers on it. From that one
// description follow the JSON Schema, decoding and reference checks, the order
// of steps, the comparison of values, the HTTP calls, the scope named when the
// service answers 403, and the reference pages. Adding a kind adds a file and
// its tests, and touches nothing else.
//
// The package also holds the [Object]: one thing as a manifest wants it, and the
// canonical form in which a wanted and a found value are compared.
//
// It must not know YAML, HTTP, files, or the clock.
//
// # How to add a kind
//
// A file kind_NAME.go with its descriptor, a row in package sandbox for the tests, and
// "go generate ./internal/resource", which writes the schema, the reference pages and
// the golden files that list the kinds. Everything else follows from the descriptor.
package resource

//go:generate go test github.com/planform/planform/schema github.com/planform/planform/manifest github.com/planform/planform/internal/doctor github.com/planform/planform/internal/cli -run Current|Archives|Doctor -update
