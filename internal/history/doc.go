// Package history keeps what each run did to a workspace, so that it can be read and taken back. It must not know HTTP, YAML or
// the executor, and it prints nothing.
//
// # Runs
//
// A run is recorded before its first request: what it is about to create, what each field was that it is about to change, who was in
// the containers that it changes, and all that is known of what it deletes. That record is enough, whatever becomes of the run: what
// was not carried out is still as it was, and is not touched when the run is taken back. The end of the run adds how it ended.
//
// A record is a text of JSON lines: the run, a line for each step, and a line with the SHA-256 of all before it, so that a record that
// was cut or edited is noticed. It holds no credential.
//
// # Bounds
//
// The newest [MostRuns] runs are kept, and no more than [MostBytes] of them, but always the newest. A value of more than [MostText]
// is not kept; taking the run back names it.
//
// # Undo
//
// [Undo] composes runs into what a plan is to reach: former values as desired ones, what is to be deleted, and who is to leave which
// container. It decides by records and state alone; what people did since, the planner sees: it keeps that.
package history
