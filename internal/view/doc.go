// Package view shows plans, findings, progress, results, reports, exports and
// tables to people as text and to programs as JSON. It also shows plans as Markdown and as a
// page (HTML), and findings as annotations of GitHub Actions. It has no access to the network or to files, and
// does not depend on the code that produced its input.
//
// # Rules of the user interface
//
//   - The output of a command (a plan, a result, a table) goes to standard
//     output. Everything else (findings, errors, notes, questions, progress)
//     goes to standard error. Problems are never on standard output only.
//   - Messages are lower case and have no full stop. The closing lines of a plan
//     or a result are whole sentences. A message names the problem, and the
//     indented lines below it name the place and the next thing to do.
//   - A place in a manifest is written file:line:column, so that a terminal or an
//     editor can open it. It stays in one piece if it fits into a line. No line is
//     wider than the terminal.
//   - Every text from a manifest or from the service passes through [Safe], so
//     that it cannot move the cursor, fake a line or hide itself.
//   - Colours only repeat information that the text has too. [NewOptions] decides
//     about colours once for each stream; there is no global switch. No other
//     package writes escape sequences.
//   - Only the progress line is ever erased. On a terminal it is redrawn, and
//     all output goes through the [View], which hides the progress line during a
//     write. A log gets the line every half a minute, so that it grows slowly and a
//     CI system sees that the run is alive. The steps are in the plan, and in the
//     result with --full.
//   - "y" means yes, but if something is deleted, only "yes" does.
//   - The same input gives the same bytes.
//
// # Plans
//
// A plan is shown from its document ([planfile.Document]), both a new plan and a saved one. model.go and groups.go
// decide about the content: the steps that form one entry, their project, the form of a change, and the texts beside the
// steps. The formats in format.go decide about the layout.
//
// # JSON, format version 1
//
// The formats below are a contract. Keys may be added within a format version;
// they are not removed, renamed or given another meaning. Texts are not
// HTML-escaped; characters that a terminal could act on are written \uXXXX.
// An unknown value is null.
//
// # JSON of a plan
//
// A plan goes to standard output, with one element of each list on a line. Package
// planfile reads the same format, and its JSON Schema describes each member.
//
// # JSON of a result
//
// A result goes to standard output, with one step on a line:
//
//	{
//	  "format_version": 1,
//	  "summary": {"done", "failed", "blocked", "unknown", "not_started", "not_possible"},
//	  "interrupted": false,
//	  "stopped": null,
//	  "steps": [{"address", "action", "status", "id", "identifier", "error", "blocked_by", "warnings", "position", "missing", "not_taken"}]
//	}
//
// where:
//
//   - status: one of the words of the summary. unknown means that no answer came,
//     and that the service may have carried out the request.
//   - stopped: the error that ended the run early, or null.
//   - error: the service's own words (for not_possible, the reason), or
//     null. blocked_by: the address of the step that failed, or null. warnings:
//     diagnostics, also about members that were left out.
//   - missing: addresses of members that were left out; absent without such members.
//   - not_taken: true if the service answered without an error but took none of the
//     values, else absent. Such a step is not counted as an update.
//
// # JSON of a report, format version 2
//
// The doctor's report goes to standard output, with one check on a line:
//
//	{
//	  "format_version": 2,
//	  "workspace": "acme",
//	  "base_url": "https://api.plane.so",
//	  "summary": {"ok", "warnings", "problems", "requests"},
//	  "supported": kinds that this edition has, of the kinds that were checked,
//	  "unsupported": kinds that this edition lacks,
//	  "has_v2": whether the service has an API v2,
//	  "v2_unsupported": missing operations of API v2 that a run would use; null = not known,
//	  "checks": [{"check", "status", "summary", "hint"}]
//	}
//
// check names the subject of the check (several checks can have the same name),
// status is ok, warning or problem, and hint is the next step, or null.
//
// # JSON of an export
//
// The summary of an export goes to standard output as one indented object: workspace,
// directory, files and state (names in the directory), counts, not_read, left_out and requests.
//
//   - counts: the number of objects in the files, as [{"name", "number"}].
//   - not_read: kinds that are exported only on demand, with the number of requests
//     to read each, in the same form.
//   - left_out: contents that the files lack, as [{"what", "why", "count", "examples"}].
//
// # JSON of pull
//
// One document ([View.Pulled]): "dry_run", "not_taken" (the number of values that differ on the service and were not taken),
// "files" (file, values, diff: a unified diff), "values" (address, path, file, line, column, before: in the manifest,
// after: on the service; null = none) and "not_compared", as in a plan.
//
// # JSON of init and fmt
//
// init shows {"format_version": 1, "file": the manifest that it wrote}; with --from it shows
// the summary of an export. fmt shows {"format_version": 1, "changed": [...]} with the names of
// the changed files, or with --check the names of the files that it would change.
//
// # JSON of explain
//
// {"format_version": 1, "kinds": [...]}, each {"kind", "list", "in": a kind or workspace, "description", "example", "apis", "editions",
// "fields": only for a kind in the command line, {"name", "holds", "description", "rules", "example", "apis", "editions"}}. Texts are Markdown.
//
// # JSON of records
//
// get shows the service's records as they are: an array, or one object. state
// list shows {"format_version": 1, "records": [...]} and state show one record with
// its format_version. A record has address, id, identifier, made, protect, values,
// members and open. A key without a value is absent.
//
// # JSON of findings and messages
//
// Findings: {"format_version": 1, "diagnostics": [...]}, each
// {"severity", "code", "file", "line", "column", "path", "address", "summary", "hint", "related"},
// where severity is error or warning and related is [{"file", "line", "column", "note"}].
// An empty text or a zero means that there is no value. The findings of validate go to standard
// output ([View.Validation]); all other findings go to standard error. With --output json
// every error has this form, also an error in the command line.
//
// Standard error holds one JSON object on a line. On a terminal, the progress line
// replaces the events. The key beside format_version names the type of the object:
//
//   - diagnostics: findings, as above.
//   - note: a text.
//   - event: a step that ended, as {"address", "action", "status", "done", "total", "error"}.
//   - waiting: a wait, as {"seconds", "reason"}.
package view
