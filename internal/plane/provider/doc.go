// Package provider reads and writes the service for planning and execution.
//
// It makes the planner's reads ([Plan]), carries out the executor's steps ([Service]), and looks up the outcome of requests whose answers
// were lost. Every request is built from the descriptors of package resource. The package names no path, and only
// two kinds: an operation of project shows whether all of API v1 is available, and one of member whether API v2 is.
//
// It guarantees:
//   - An answer that contradicts its request is reported. If its ID is invalid or belongs to
//     another object, the outcome of the request is looked up.
//   - If the service refuses a batch of members because of one or two of them without naming
//     them, the others are added, and the refused ones are named.
//   - A create without an answer is not sent again before lookups have shown that the object
//     does not exist. The last lookup comes after the grace period ([DefaultGrace]), in which
//     the service may still carry out a request that its client has given up. The period is
//     short if the service refuses a second object because of its external ID or a field
//     ([resource.Kind] UniqueExternalID and UniqueField), and if an error came at once. See
//     the table in indoubt.go.
//   - A create that was refused temporarily is sent again only after a lookup, if the service
//     would accept a second object, and the refusal did not come from its own throttle.
//   - Values of custom fields that API v2 drops or refuses are sent with API v1, one in each
//     request; a refused value affects neither its item nor other items.
//   - An uploaded file becomes one attachment, wherever the upload breaks off. The service
//     does not show an incomplete attachment. It names it when the next attempt begins, and
//     that attempt deletes it.
//
// Other steps do not wait for lookups: such a step is [executor.Pending], and ends before the run ends. For requests of an earlier run the
// plan waits ([planner.World.Settle]) if its reads do not show their outcome. Their grace period begins when the earlier run must have
// given up: at the latest when this run begins, because this run holds the lock. Two seconds are enough for creates that the service
// refuses to repeat.
//
// An object that the service refused because another run had created it does not count as created by this run.
//
// Three risks remain. The service may carry out a create after the grace period; the object then exists twice, unless the service refuses
// the second one. If no read shows an object, such as a page with the documented operations, planform believes a service that says that it
// did nothing. An update may arrive after the grace period and undo a newer one, and so may, within the period, the removal of a custom
// relation that is being changed; the next plan shows this if the field can be read.
//
// It must not know manifests, files, or output.
package provider
