// Package state keeps what planform knows of a workspace between two runs: the
// state file, the journal of the run under way, and the lock that keeps two runs
// apart. It must not know HTTP or YAML, and it prints nothing.
//
// # Files
//
// Beside the state file, here x.state.json, there may be:
//
//	x.state.json           the state
//	x.state.json.journal   what the run under way, or the one that died, did since the state was saved
//	x.state.json.backup    the state as the last run found it
//	x.state.json.tmp       a state being written; what a killed run left is removed by the next
//	x.state.json.lock      what is locked; it is empty, stays, and locks nothing by being there
//	x.state.json.lock.json who holds the lock
//
// If the state file is a symbolic link, all of them stand beside what it points
// to, so that the link stays a link and two names of one state share its lock.
//
// # Guarantees
//
// The state file is replaced as a whole or not at all. At each moment, also
// after a kill or a loss of power, state and journal together tell what was
// done: [Open] and [Read] replay the journal on the state they find.
//
// An intent is on disk before [File.Begin] returns, so before its request is
// sent. Its outcome is written when it is known, but flushed only with the next
// intent or by [File.Save]: to lose an outcome makes it unknown, which the next
// run resolves by a lookup, so it is not worth a flush of its own. An intent that
// never got its outcome is in [planner.Record.PendingIntent] until somebody resolves it.
//
// Nothing is guessed. A journal that was cut off while its last line was being
// written is complete without that line: an intent that is not whole on disk
// was never sent. Any other damage, a state that is not JSON, one of another
// server or workspace, a journal of another state: each is an error, and every
// file stays as it was, byte for byte.
//
// The lock is one of the operating system's and ends with the process that
// holds it. Where a shared disk does not carry locks from one machine to
// another, two runs are still told apart: a run that finds its journal taken
// away sends nothing more, and [File.Save] does not replace a state file that
// another run has written.
//
// No credential gets in: what is stored of an address of a server is its
// scheme, host, port and path.
//
// # The state file
//
// JSON, one line for each object, sorted by address, keys always in the same
// order, and every character that is not printable escaped:
//
//	{"format_version":1,"lineage":"6f0c...","serial":3,"base_url":"https://api.plane.so","workspace":"acme","journal":"c1d2...","objects":[
//	{"address":"cycle/web/sprint-14#work_items","members":["0d4e...","9b1f..."],"applied_at":"2026-11-20T20:36:10Z"},
//	{"address":"project/web","id":"8a23...","identifier":"WEB","made":true,"files":["web.yaml"],"values":{"name":"Website"},"applied_at":"2026-11-20T20:36:10Z"},
//	{"address":"work_item/web/cart","open":{"action":"create","name":"Cart","after":7,"at":"2026-11-20T20:36:12Z"}},
//	{"address":"work_item/web/shop","id":"51f0...","identifier":"WEB-7","values":{"name":"Shop"},"applied_at":"2026-11-20T20:36:11Z"}
//	]}
//
// "files" are the manifests in which the thing stood when they were last applied,
// as paths from the folder that has .planform in it; "-" is standard input.
// "open" on a line holds the intent of a request whose fate is not known, and
// when it was written; for a create, "after" is the highest readable number that
// was known then of its kind in its project: what the request made has a higher
// one, if it was that project's. The lineage is made with the first state and
// never changes; the serial grows by one each time the state is written;
// "journal" names the journal whose lines are already in it, so that none is
// replayed twice.
//
// # The journal
//
// JSON lines. The first names the state that the journal goes with; then each
// line is an intent ("i"), an outcome ("o"), or an intent that came to nothing
// for certain ("f"), with the address of its step:
//
//	{"planform_journal":2,"id":"c1d2...","lineage":"6f0c...","serial":3,"base_url":"https://api.plane.so","workspace":"acme","crc":"4d0c81f6"}
//	{"i":"work_item/web/shop","action":"create","name":"Shop","at":"2026-11-20T20:36:10Z","crc":"90b1c2ee"}
//	{"o":"work_item/web/shop","action":"create","id":"51f0...","identifier":"WEB-7","at":"2026-11-20T20:36:11Z","crc":"0a7be913"}
//	{"s":417,"crc":"b3a05f11"}
//	{"i":"work_item/web/cart","action":"create","name":"Cart","after":7,"at":"2026-11-20T20:36:12Z","crc":"5e21d07c"}
//
// "crc" is the CRC-32C of what stands before it in its line and in all lines
// above, so that a line that was changed, lost or moved is noticed. A mark ("s")
// says how many bytes are on disk for certain, and has a sum of its own. A loss of
// power can leave a block of zeros in what was not flushed, before lines that
// are whole: the journal ends there. Before a mark that counts the block in, it is
// damage like any other. "open" on an outcome is what remains unknown of the same object: another batch of members,
// with the time of its own intent.
package state
