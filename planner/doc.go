// Package planner compares the manifest with the service and with the state that the last apply left
// (desired x observed x prior), and makes the plan of the steps that are needed.
//
// [Load] reads everything that a plan depends on, and returns a [World]. [Build] makes the [Plan] from it, and reads
// nothing: the same World gives the same plan, byte for byte. The package uses no network, no files and no clock. A
// [Reader] makes the requests.
//
// A stage that loads asks for a read and continues with the answer, so that no stage has to handle a missing answer. Reads
// that do not depend on each other become requests together, see loader.each. A failed request ends the planning, so that
// an object that could not be read never counts as absent.
//
// Begin reading in world.go and build.go. They run these stages from top to bottom; the stages up to contents load. Each stage has a type
// and a few files. It has fields for the earlier stages that it uses, and never uses a later one. A binding does not change
// after bind. Tests check both. Other packages, such as pull, read a World by the methods in shown.go.
// The files of four areas have a common prefix: identity_ (rows of objects), prune_ (deletions), members_ (memberships) and settle_
// (requests of earlier runs without an outcome). No other file reads such requests; a test checks this.
//
//	objects       objects of the manifest, with their records               objects.go, identity_rename.go, settle_intents.go
//	loader        requests for the reads that have no answer yet            load.go
//	snapshot      lists of the service, by kind and parent                  observe.go
//	identities    the row of each object on the service                     identity_match.go, identity_bind.go, identity_contradictions.go,
//	                                                                      identity_namesakes.go, settle_creates.go
//	references    names to IDs                                              resolve.go, custom_fields.go
//	comparer      desired x observed x prior of each field; an upload that  diff.go, identity_uploads.go
//	              differs is bound to no row
//	records       memberships of the state, outcomes of open requests       settle_members.go, settle_orphans.go
//	orphans       objects that only the state has; may they be deleted?     prune_orphans.go, prune_checks.go, prune_usage.go, prune_losses.go
//	memberships   edges of each container; is one added, kept or removed?   members_sets.go, members_read.go, members_list.go, members_containers.go,
//	                                                                      members_words.go, members_where.go,
//	                                                                      members_edges.go, members_decide.go, members_drift.go
//	outsiders     people in fields who are no members of the project        outsiders.go
//	claims        holders of names and marks that must be unique            identity_claims.go
//	contents      reads that only a pull needs                              contents.go
//	blockers      objects and values that cannot be made                    blocked.go
//	changes       creates and updates, warnings about the plan              change.go, change_fields.go, change_checks.go, change_archive.go,
//	                                                                      links.go, warnings.go, secrets.go
//	memberSteps   additions and removals of members                         members_steps.go
//	pruning       deletions                                                 prune_steps.go, prune_notices.go
//	ordering      dependencies between steps                                order.go, batches.go
//	bookkeeping   changes of the state that no step makes                   bookkeeping.go, settle_outcomes.go
//
// Rules:
//
//   - An object is found on the service by the manifest's ID, the state, the manifest's
//     identifier, planform's external ID, or its natural key, in this order. It is never
//     guessed: if two rows match, or an identifier contradicts the state or an external ID,
//     that is an error which names both. If the manifest comes from another workspace, the
//     state finds an object by its ID in that workspace, else by its key.
//   - No object is created a second time because its key changed: that is an error.
//   - If the service does not show the object of an ID or identifier (deleted, archived, a
//     draft), only this object and its children stop. If another object names it, only that
//     field waits. An archived object is left alone, and never created again.
//   - A create with an unknown outcome is not sent again before planform has looked for its
//     object: in the list of the parent, by external ID or natural key. Under the documented
//     operations it looks for a work item by name, among at most 60 readable numbers above the
//     known ones. If several rows or several creates have the name, nothing is sent and the
//     step tells how to resolve it. A rename on the service before the next plan, or an item of
//     the same name that a person made meanwhile, is not detected.
//   - Nothing is deleted unless pruning is asked for, planform created it, nothing protects
//     it, every manifest that had it was read, and the service shows nothing in it that
//     others made. Where looking for that would take too many requests, a notice says so.
//   - A field in ignore_changes is set by the create, and never changed afterwards.
//   - A closed object, such as a cycle after its last day, gets no members and no changes.
//     A new one with past dates is filled first and gets its dates in the same run.
//
// Steps are in the order of phases, then of kinds, and then of the manifest. The phases are: creates, changes
// and memberships; values that name objects which are created later; what closes an object, such as archiving;
// deletions. A step that another step needs comes just before it. What a step needs follows from the objects
// that it names and from the gates that it passes, see order.go. Objects of one kind in one parent are created
// one after the other, so that the service numbers and sorts them as written. Members and defaults come before
// the objects that name them. A default that the service sets and the manifest does not want, such as a
// project's default assignee, is cleared by an update right after. A text that names objects which are created
// later is sent again after all creates.
//
// The executor carries out the steps of the plan, and nothing else.
package planner
