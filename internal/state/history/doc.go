// Package history records what a run did to a workspace, so that people can read it and undo it. It must
// not know HTTP, YAML or the executor, and it prints nothing.
//
// # Runs
//
// A run is recorded before its first request: which objects it will create, the present value of each field that it will change, the
// members of the containers that it changes, and all that is known of the objects that it deletes. That record is enough however the run
// ends: a step that was not carried out changed nothing, so undo leaves its objects alone. The end of the run adds its outcome.
//
// A record is a text of JSON lines: the run, a line for each step, and a line with the SHA-256 of all lines
// before it, so that a cut or edited record is noticed. It holds no credential.
//
// # Bounds
//
// The newest [MostRuns] runs are kept, but at most [MostBytes] in total, and always the newest run. A value
// of more than [MostText] bytes is not kept; undo names it.
//
// # Undo
//
// [Undo] turns runs into the desired result of a plan: former values as desired values, objects to delete, and members to remove from
// containers. It uses only records and state. The planner finds later changes by people, and keeps them.
package history
