// Package planner compares what the manifest wants with what the service shows and
// what the last apply left (desired x observed x prior), and says what has to be done.
//
// [Load] reads what a plan depends on and gives a [World]. [Build] makes the [Plan] of it, and reads nothing: the same
// World gives the same plan, to the byte, in whatever order maps are walked. The package knows no network, no files and
// no clock. A [Reader] makes the requests.
//
// A stage that loads asks for what it needs and goes on with the answer, so no stage has to deal with an answer that is
// missing. Questions that do not depend on each other become requests together, see loader.each. An object that could not
// be read is never taken for absent: a failed request ends the planning.
//
// build.go is the place to begin reading. It runs these stages from top to bottom; those up to claims load. Each
// has a type and a file or two of its own, holds the earlier stages that it uses in
// fields, and knows of no later one; a test keeps it so. Three rooms show in the names of
// the files: identity (which object is which), prune (what may go) and members (who is where).
//
//	objects       what the manifest wants, what the state knows of it       objects.go, identity_rename.go
//	loader        the only place that turns a question into a request       load.go
//	snapshot      what the service lists, parent by parent                  observe.go
//	identities    what each object is on the service                        identity_match.go, identity_bind.go, settle_creates.go
//	references    names to IDs                                              resolve.go, custom_fields.go
//	comparer      desired x observed x prior of a field                     diff.go
//	records       memberships of the state, and what open requests did      settle_members.go
//	orphans       objects that only the state has, and which may go         prune_orphans.go, prune_checks.go, prune_usage.go, prune_losses.go
//	memberships   who is wanted in which container, and who is in it        members_sets.go, members_containers.go, members_list.go, members_read.go
//	decisions     what becomes of each edge                                 members_edges.go, members_decide.go, members_where.go, members_drift.go
//	nonMembers    whom fields name although they are no members             outsiders.go
//	divergences   what people changed, for the manifests                    divergence.go
//	claims        who has the names and marks that the service takes once   identity_claims.go
//	blockers      what cannot be made, and what the service refuses         blocked.go
//	changes       creates and updates                                       change.go, change_fields.go, change_archive.go, links.go
//	memberSteps   who enters and who leaves                                 members_steps.go
//	pruning       deletions                                                 prune_steps.go
//	ordering      what waits for what                                       order.go
//	bookkeeping   what the state is to know otherwise                       bookkeeping.go
//	warnings      what people should look at                                warnings.go
//
// What never happens:
//
//   - An object is found on the service by the manifest's ID, the state, the manifest's
//     identifier, planform's external ID, its natural key, in this order, and never
//     guessed: two that match, or an identifier that contradicts the state or an external
//     ID, are an error that names both. Of a manifest from another workspace, the state
//     finds an object by the ID that it has there before its key.
//   - Nothing is created a second time since its key changed: that is an error.
//   - What an ID or identifier names and the service does not show (deleted, archived, a
//     draft) stops only its own object and its children. Of an object that names it, only
//     the field waits. What is archived is left alone, and never created again.
//   - A create whose outcome is unknown is not sent again before it was looked for: in the
//     list of its parent, by external ID or natural key; or, for work items under the
//     documented operations, by its name among the readable numbers above those that were
//     known, at most 60 of them. If several records or several creates have the name, nothing
//     is sent and the step says how to resolve it. A rename on the service before the next
//     plan, or an item of the same name that a person made meanwhile, is not noticed.
//   - Nothing is deleted unless pruning is asked for, planform created it, nothing protects
//     it, every manifest that had it was read, and the service shows nothing in it that
//     others made. Where looking for that would take too many requests, a notice says so.
//   - What a manifest leaves to people (ignore_changes) is set by the create and never compared afterwards.
//   - A closed object, such as a cycle after its last day, gets no members and no changes.
//     A new one with past dates is filled first and gets its dates in the same run.
//
// Steps stand in the order of kinds and then of the manifest, what a step waits for just
// before it. Objects of one kind in one parent are created one after the other, and so
// numbered and sorted as written. Members and defaults come before what names them. A
// default that the service sets and the manifest does not want, such as a project's
// default assignee, is cleared by an update right after. A text that names objects which are
// created later is sent again after all creates.
//
// The executor may do only what the plan says.
package planner
