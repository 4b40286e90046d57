// Package state keeps planform's records of a workspace between two runs: the state file, the journal of the current run, and the lock
// that keeps two runs apart. It must not know HTTP or YAML, and it prints nothing.
//
// # Files
//
// Beside the state file, here x.state.json, there may be:
//
//	x.state.json           the state
//	x.state.json.journal   steps of the current run, or of one that died, since the state was saved
//	x.state.json.backup    the state at the start of the last run
//	x.state.json.tmp       a state being written; the next run removes the file if this run is killed
//	x.state.json.lock      the locked file; it is empty and stays: its existence locks nothing
//	x.state.json.lock.json the holder of the lock
//
// If the state file is a symbolic link, all of them stand beside its target, so that
// the link stays a link and two names of one state share its lock.
//
// # Guarantees
//
// The state file is replaced as a whole or not at all. At any moment, even after a kill or a loss of power, state and journal together
// hold every step that was done: [Open] and [Read] replay the journal on the state.
//
// An intent is on disk before [File.Begin] returns, and so before its request is sent. Its outcome is written as soon as it is known, but
// flushed only with the next intent or by [File.Save]: a lost outcome is an unknown one, which the next run resolves by a look-up, so it
// is not worth a flush of its own. An intent without an outcome stays in [planner.Record.PendingIntent] until a run resolves it.
//
// Nothing is guessed. A journal that was cut off in its last line is complete without that line: an intent that is not whole on disk was
// never sent. Any other damage, a state that is not JSON, a state of another server or workspace, a journal of another state: each is an
// error, and every file stays as it is, byte for byte.
//
// The operating system holds the lock and releases it when the process ends. If a shared disk does not
// carry locks from one machine to another, two runs still do not mix: a run whose journal was taken away
// sends nothing more, and [File.Save] does not replace a state file that another run has written.
//
// # Shared states
//
// A state at an address is worked on in a local copy, by the same code and in the same format: see [Objects]. Whatever a run must flush
// to disk before a request, it first writes to the store, as a new object named after the run's lease. So safety rests on the store's
// conditional writes, and time only decides whose turn it is.
//
// No credential is stored: of a server's URL only scheme, host, port and path are.
//
// # The state file
//
// JSON, one line for each object, sorted by address, keys always in the same order, and every character that is not printable escaped:
//
//	{"format_version":1,"lineage":"6f0c...","serial":3,"base_url":"https://api.plane.so","workspace":"acme","journal":"c1d2...","objects":[
//	{"address":"cycle/web/sprint-14#work_items","members":["0d4e...","9b1f..."],"applied_at":"2026-11-20T20:36:10Z"},
//	{"address":"project/web","id":"8a23...","identifier":"WEB","made":true,"files":["web.yaml"],"values":{"name":"Website"},"applied_at":"2026-11-20T20:36:10Z"},
//	{"address":"work_item/web/cart","open":{"action":"create","name":"Cart","after":7,"at":"2026-11-20T20:36:12Z"}},
//	{"address":"work_item/web/shop","id":"51f0...","identifier":"WEB-7","values":{"name":"Shop"},"applied_at":"2026-11-20T20:36:11Z"}
//	]}
//
// "files" are the manifests that held the object when they were last applied, as paths relative to the folder that contains .planform;
// "-" is standard input. "made" is true if planform created the object. "source" identifies the object in the workspace from which its
// manifest was exported: server, workspace, ID and readable identifier there. By it, planform finds the object again after its key and
// name have changed. "open" is the intent of a request without an outcome, with the time at which it was written; for a create, "after"
// is the highest readable number then known of the kind in the project: the created object has a higher one. The lineage is created with the first state and never changes; the serial grows by one each time the state is
// written; "journal" is the last journal that was replayed into the state, so that none is replayed twice. "plan" is the saved plan that
// was carried out last, with the time at which its first run began, so that an interrupted run can be continued; any other apply removes
// it. "owners" are the owners for which a run has ended, "" being an owner without a name. The state knows all objects that planform
// created for these owners, and its objects may bear the mark of any of them.
//
// # The journal
//
// JSON lines. The first names the state that the journal belongs to; each other line is an intent ("i"), an outcome ("o"), or a request
// that certainly had no effect ("f"), with the address of its step:
//
//	{"planform_journal":2,"id":"c1d2...","lineage":"6f0c...","serial":3,"base_url":"https://api.plane.so","workspace":"acme","crc":"4d0c81f6"}
//	{"i":"work_item/web/shop","action":"create","name":"Shop","at":"2026-11-20T20:36:10Z","crc":"90b1c2ee"}
//	{"o":"work_item/web/shop","action":"create","id":"51f0...","identifier":"WEB-7","at":"2026-11-20T20:36:11Z","crc":"0a7be913"}
//	{"s":417,"crc":"b3a05f11"}
//	{"i":"work_item/web/cart","action":"create","name":"Cart","after":7,"at":"2026-11-20T20:36:12Z","crc":"5e21d07c"}
//
// "crc" is the CRC-32C of the text before it in its line and of all lines above, so that a changed, lost or moved line is noticed. A mark
// ("s") is the number of bytes that are on disk for certain, with a sum of its own. After a loss of power, lines that were not flushed
// can hold a block of zeros, even before whole lines: the journal ends at that block. If a later mark counts the block as flushed, it is
// damage like any other. "open" on an outcome is an intent of the same object that still has no outcome, such as the intent of another
// batch of members.
package state
