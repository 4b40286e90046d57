// Package remote is the service as planning and execution need it.
//
// It answers the planner's reads ([Plan]), carries out the executor's steps
// ([Service]) and settles by looking what became of a request whose answer was
// lost. Every request is built from the descriptors of package resource; the
// package names no path itself, and no kind but the one whose list tells whether
// the wider API is there.
//
// It guarantees that a create whose fate is unknown is never sent again before
// a look has shown that the thing is not there, and that an answer which
// contradicts its request is reported.
//
// It must not know manifests, files, or how things are shown.
package remote
