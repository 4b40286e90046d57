// Package provider reads and writes the service for planning and execution.
//
// It answers the planner's reads ([Plan]), carries out the executor's steps
// ([Service]), and looks up the outcome of requests whose answers were lost. Every
// request is built from the descriptors of package resource; the package names no
// path, and no kind but project, whose list shows whether the wider API is available.
//
// It guarantees:
//   - An answer that contradicts its request is reported. One whose ID is none, or that of
//     another object, says nothing: what became of the request is looked up.
//   - If the service refuses a batch of members because of one or two of them, without
//     naming them, the others are added and the refused ones are named.
//   - A create without an answer is never sent again before look-ups have shown that the
//     object does not exist. The last look-up comes after the grace period
//     ([DefaultGrace]), during which the service may still carry out a request that its
//     client has given up; the period is short where the service refuses a second object,
//     by its external ID or by a field ([resource.Kind] UniqueExternalID and UniqueField),
//     and where an error came at once. indoubt.go has the table.
//   - A create that the service refuses for the moment is sent again after a look-up only,
//     where the service would take a second object and it is not its own throttle that
//     answers.
//   - Values of custom fields that API v2 leaves out or refuses go by API v1, one request each; one
//     that is refused keeps neither its item nor the other items back.
//   - Of a file that is uploaded there is one attachment, wherever the upload breaks off. The
//     service shows none before it is complete, and names one that was left half-made when
//     the next attempt begins: that one is deleted.
//
// No other step waits for that: such a step is [executor.Pending], and ends before the
// run does. For requests of an earlier run the plan waits ([planner.World.Settle]), if its reads do not show what became of them.
// Their grace period begins when the earlier run must have given up: at the latest when this one begins, since it
// got the lock. Two seconds are enough for creates that the service refuses to this run if they were carried out.
//
// An object that the service refused because another run had created it does not count as
// created by this one.
//
// Three risks remain. The service may carry out a create after the grace period: the object
// then exists twice, unless the service refuses the second. Where nothing shows an object, as
// a page with the documented operations, a service that says that it did nothing is believed. And
// an update may arrive after the grace period and undo a newer one, as may within it the removal of a custom relation that is made another
// one: the next plan shows that, where it can be read.
//
// It must not know manifests, files, or output.
package provider
