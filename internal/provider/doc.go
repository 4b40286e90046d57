// Package provider is the service as planning and execution need it.
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
// its client has given up ([DefaultGrace]), or after a moment where the service
// refuses a second object with the same external ID ([resource.Kind] RefusesTwin).
//
// Nothing else waits for that: such a step is [executor.Pending], and settled
// before the run ends. One that a former run may have sent, and that the plan's
// reads do not show, is looked for likewise ([planner.Step] Pending). Its time
// begins when the former run must have given up; that it died is known only by the
// lock, so at the latest when the later one begins. Only creates that nothing but
// readable numbers can tell (work items with the documented operations) are waited
// for while planning.
//
// After a run, [Service.Doubles] looks for what another run created at the same
// moment. What a run was refused since another had made it, it does not count as its own.
//
// What remains: a service that carries out a request later than that, which is
// then there twice unless the service refuses it; and an update that arrives late
// and so undoes a newer one, which the next plan shows where it can be read.
//
// It must not know manifests, files, or how things are shown.
package provider
