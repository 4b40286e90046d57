// Package resource describes the kinds of objects on the service. No other package does.
//
// Each kind (project, work item, link, cycle membership, ...) is described once, in its
// own file, by a [Kind]: its fields, its parent, its natural key, and the [Operation]s
// that the service offers on it. The JSON Schema, decoding, reference checks, the order
// of steps, the comparison of values, the HTTP calls, the scope in the message of a 403
// and the reference pages all follow from that description.
//
// The package also holds the [Object], a desired object of a manifest, and the canonical form in which desired and observed values are
// compared.
//
// It must not know YAML, HTTP, files, or the clock.
//
// # How to add a kind
//
// To add a kind, write a file kind_NAME.go with its descriptor and a row in package sandbox for the tests, and run "go generate
// ./internal/plane/resource". It writes the schema, the reference pages and the golden files that list the kinds. Everything else follows from
// the descriptor.
//
// A rule that one kind alone has is a function in the kind's file. If other packages need it, a field of [Kind], [Field] or [Attribute]
// holds the function, such as the name of an attachment in [Field.Implied].
//
// A plain kind takes less than 60 lines. Longer files describe several kinds (releases with their tags, labels, changelog and links;
// workflows with their transitions; properties with their options; relations with their inverses), or a kind with many fields and members.
package resource

//go:generate go test github.com/planform/planform/schema github.com/planform/planform/manifest github.com/planform/planform/internal/sync/doctor github.com/planform/planform/internal/cli -run Current|Archives|Reports|GoldenManifests -update
//go:generate go test github.com/planform/planform/internal/sandbox -run BehavesAsRecorded -update
