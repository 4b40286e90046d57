// Package doctor looks at everything that a run depends on: the service and how
// it is reached, the credential, the workspace, what this edition offers, the
// limit, the clock, the state file, and what a manifest needs of all that.
//
// It asks the service a few questions, each once and each with one row of an
// answer at most, and writes nothing, neither there nor here. What is asked
// follows from the descriptors of package resource. A check that fails does not
// keep the others from being made, unless it answers them too.
//
// It must not know how a report is shown.
package doctor
