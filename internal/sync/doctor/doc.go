// Package doctor checks everything that a run depends on: base URL and connection, credential, workspace,
// edition, rate limit, clock, state file, and the features that a manifest needs.
//
// It makes a few read requests, each once and for at most one row, and writes nothing, neither to the service nor to disk. The requests
// follow from the descriptors of package resource. A failed check does not prevent the others, unless its failure answers them too.
//
// It must not know how a report is shown.
package doctor
