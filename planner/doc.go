// Package planner compares what the manifest wants with what the service holds
// and what the last apply left, and says what has to be done.
//
// [Reads] and [Build] are pure functions: the same input gives the same output,
// to the byte, in whatever order maps are walked. They know no network, no
// files and no clock.
//
// Planning goes in rounds. Reads tells what must still be read and can be asked
// for now; somebody makes those requests and puts the answers into
// [Input.Observed]; when Reads asks for nothing more, Build makes the [Plan].
// Whoever does both on one [Snapshot] looks at everything once. So a plan can name
// every read that it stands on, and an object that could not be read is never taken
// for absent.
//
// What an object is on the service is decided by the manifest's ID, the state, the
// manifest's identifier, planform's external ID, its natural key, in this order. An
// identifier that contradicts the state or an external ID is an error that names both. What
// an ID or identifier names and the service does not show (deleted, archived, a
// draft) stops only its own object and what lives in it; of an object that names it,
// only the field waits. What the state knows and a look-up by external ID shows as archived
// is left alone, and never created again.
//
// What a create without an outcome made is looked for before it is created
// again: in the list of its parent, by external ID or natural key; or, of work items
// under the documented operations, by their readable numbers, among those that came
// after it was sent, by the name and whatever else was sent. [Snapshot.Unconfirmed] tells
// which answers may come too early. If what is there fits in more than one way,
// nothing is sent and the step says how to resolve it. It cannot be noticed if,
// before the next plan, somebody renames what was made, or makes by hand, once it
// was sent in vain, something that bears its name.
//
// What the manifest does not have any more is deleted only if that is asked for,
// planform made it, nothing protects it, and no manifest that is not read had it;
// and not while the service shows something that others put into it. Where it
// would take too many requests to look for that, a notice says so.
//
// Steps stand in the order of kinds and then of the manifest, what a step waits for
// just before it. Objects of one kind in one place are created one after the other,
// and so numbered and sorted as the manifest has them; whoever is named, or is a
// default, comes before. What the service gives a new object that is to have nothing,
// such as a project's default assignee, an update right after takes away.
//
// What is over, such as a cycle after its last day, takes no more members and no
// change. One of the past that is made is filled first and gets its dates when all
// its members are in, in the same run; one that is over already is not touched.
//
// The executor may do only what the plan says.
package planner
