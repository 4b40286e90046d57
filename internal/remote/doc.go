// Package remote is the service as planning and execution need it.
//
// It answers the planner's reads ([Plan]), carries out the executor's steps
// ([Service]) and settles by looking what became of a request whose answer was
// lost. Every request is built from the descriptors of package resource; the
// package names no path itself, and no kind but the one whose list tells whether
// the wider API is there.
//
// It guarantees that an answer which contradicts its request is reported; that
// members get in although the service refuses their batch, without a reason,
// for one or two of them, who are named then; and that a create whose fate is
// unknown is never sent again before looks have shown that the thing is not there:
// one of them after the time within which the service may still carry out what
// its client has given up ([DefaultPatience]).
// In the same run that time begins when the client gives up; in a later one when
// the former run must have, but that it died is known only by the lock, so at the
// latest when the later one begins.
//
// What remains: a service that carries out a request later than that, which is
// then there twice unless the service refuses it; and an update that arrives late
// and so undoes a newer one, which the next plan shows where it can be read.
//
// It must not know manifests, files, or how things are shown.
package remote
