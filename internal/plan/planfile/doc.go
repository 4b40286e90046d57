// Package planfile stores a plan as a file: one run writes it, people review it, another run carries it
// out. It must not know the network, and it prints nothing.
//
// [New] makes the [Document] of a plan, [Parse] reads a document. Package view shows documents, fresh and
// saved ones alike. A document is never carried out: apply plans anew, and [Document.Stale] compares the
// meaning of both plans. So a document can hold no request that planning would not make, whoever wrote it.
//
// # Hash
//
// The hash of a document covers the server and workspace and, in their order, the effects of the steps:
// address, action, ID, and the values of each field before and after. It does not cover how the plan came
// about: places in manifests, names of files, the API, reads, notices, titles, and who changed a field. So
// two machines that plan the same get the same hash, and a new comment in a manifest does not change it.
//
// # Edited plans
//
// The checksum covers everything else in the document, so that an accidental edit is noticed, even of the options that apply would use
// again. Somebody who edits on purpose can compute both sums anew. Such a plan still cannot do more than its reviewers saw, because apply
// plans anew, and can be given the flags that the plan must have been made with.
//
// # Stale plans
//
// A saved plan is carried out if a new plan with the same options means the same. No other change matters. Each difference is reported:
// if the value before differs, the service changed; if the value after differs, the manifest changed.
//
// A run of the plan that ended early can be continued. The state records that its last run was of this plan, and when that run began. The
// remaining steps are then compared with the saved ones: a step may be missing only if the state shows that it was done since, a batch
// may have fewer members, and an object that was created without an answer is adopted. A field that somebody else changed meanwhile makes
// the plan stale as usual. If the run died during an update, the field must have its value before the update or the planned value. Texts
// with markup are exempt, because the service rewrites them.
package planfile
