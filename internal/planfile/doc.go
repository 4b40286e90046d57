// Package planfile is a plan as a file: written by one run, reviewed by people, carried
// out by another run. It must not know the network, and it prints nothing.
//
// [New] makes the [Document] of a plan, [Parse] reads one. Package view shows documents, fresh and
// saved alike. A document is never carried out: apply plans anew, and
// [Document.Stale] compares what both plans mean. So a document can hold no request that
// planning would not make, whoever wrote it.
//
// # What a plan means
//
// The hash of a document covers where the plan goes and, in their order, what its steps
// do: address, action, ID, and of each field what it is before and after. It does not cover
// how the plan came about: places in manifests, names of files, the API, reads, notices,
// titles, and who changed what. So two machines that plan the same get the same hash, and a new
// comment in a manifest does not change it.
//
// # A plan that was edited
//
// The checksum covers everything else in the document, so an edit by mistake is told, also of the
// options that apply would use again. Whoever means to can compute both sums anew: what keeps such
// a plan from doing more than its reviewers saw is that apply plans anew, and can be told the flags
// that the plan has to be of.
//
// # When a plan is stale
//
// A saved plan is carried out if a new plan with the same options means the same. Whatever
// else changed does not matter. Each difference is named: a value that was another one
// before changed on the service, a value that is to be another one changed in the
// manifest.
//
// A run of the plan that ended early is gone on with. The state says that its last run
// was of this plan, and when that began. What is left to do is then compared for what the
// plan wanted: a step is missing only if the state shows that it was done since, members are
// fewer, what was created without an answer is adopted. A field that somebody else
// changed meanwhile makes it stale as ever; also where the run died during an update: the
// field has its value of before or that of the plan, unless somebody changed it. Texts with
// markup are no such sign, since the service makes others of them.
package planfile
