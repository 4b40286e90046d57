// Package view shows plans, findings, progress, results, reports, exports and
// tables: to people as text, to programs as JSON; plans to reviewers as Markdown and as a
// page (HTML), and findings to GitHub Actions as annotations. It must not know the network, files, or how
// what it shows came about.
//
// # Rules of the user interface
//
//   - What a command was asked for (a plan, a result, a table) goes to standard
//     output. Everything else (findings, errors, notes, questions, progress)
//     goes to standard error. What went wrong is never on standard output only.
//   - Messages are lower case and without a full stop; the sentences that close
//     a plan or a result are sentences. A message says what is wrong, the
//     indented lines below it say where and what to do.
//   - A place in a manifest is written file:line:column, in one piece where a line
//     holds it, so that a terminal or an editor can open it. No line is wider than
//     the terminal.
//   - Whatever came from a manifest or from the service passes through [Safe], so
//     that it can neither move the cursor nor fake a line nor hide itself.
//   - Colour says nothing that the text does not say too. It is decided once,
//     for each stream, by [NewOptions]; there is no global switch. No other
//     package writes escape sequences.
//   - Only the progress line is ever erased. On a terminal it is redrawn, and
//     everything that is written while it stands goes through the [View], which
//     takes it away first and puts it back after. A log gets the line every half a
//     minute, so that it grows slowly and a CI system sees the run alive; the steps
//     are in the plan, and in the result with --full.
//   - "y" is a yes; if something is deleted, only "yes" is.
//   - The same input gives the same bytes.
//
// # Plans
//
// A plan is shown from its document ([planfile.Document]), whether it was just made or is read from a file. model.go and
// groups.go decide what there is to say: which steps are one entry, in which project they stand, what people have to see of a
// change, what stands beside the steps. How that looks is for a format; format.go lists them.
//
// # JSON, format version 1
//
// The formats below are a contract. Keys may be added within a format version;
// they are not removed, renamed or given another meaning. Texts are not
// HTML-escaped; characters that a terminal could act on are written \uXXXX.
// What is not known is null.
//
// # JSON of a plan
//
// A plan, on standard output, with one member of each list a line, is what package
// planfile writes and reads. Its JSON Schema there says what each member means.
//
// # JSON of a result
//
// A result, on standard output, with one step a line:
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
//   - status: one of the words of the summary. unknown is a request that the
//     service may have carried out though no answer says so.
//   - stopped: the error that ended the run early, or null.
//   - error: the service's own words (of a step that is not_possible: why), or
//     null. blocked_by: the address of the step that failed, or null. warnings:
//     diagnostics, of members that were left out too.
//   - missing: addresses of members that were left out; only where there are any.
//   - not_taken: true where the service took nothing of what was sent, without an
//     error; such a step is no update.
//
// # JSON of a report, format version 2
//
// What the doctor found, on standard output, with one check a line:
//
//	{
//	  "format_version": 2,
//	  "workspace": "acme",
//	  "base_url": "https://api.plane.so",
//	  "summary": {"ok", "warnings", "problems", "requests"},
//	  "supported": kinds that this edition has, as far as it was asked,
//	  "unsupported": kinds that it has not,
//	  "has_v2": whether there is an API v2,
//	  "v2_unsupported": operations of API v2 that a run would use and that are missing; null = not known,
//	  "checks": [{"check", "status", "summary", "hint"}]
//	}
//
// where check is what was looked at (the same word can come more than once),
// status is ok, warning or problem, and hint is the next step, or null.
//
// # JSON of an export
//
// What an export came to, on standard output, as one indented object: workspace,
// directory, files (their names in the directory), state (likewise), counts and
// not_read ([{"name", "number"}], of the objects in the files, and of the requests
// that it would take to read what is named only on demand), and requests.
//
// # JSON of pull
//
// One document ([View.Pulled]): "dry_run", "not_taken" (how many values the service has otherwise and were not taken),
// "files" (file, values, diff: a unified diff), "values" (address, path, file, line, column, before: in the manifest,
// after: on the service; null = none) and "not_compared", as in a plan.
//
// # JSON of init and fmt
//
// init shows {"format_version": 1, "file": the manifest that it wrote}, with --from an
// export; fmt shows {"format_version": 1, "changed": [...]}, the names of the files that
// it changed, with --check of those that it would change.
//
// # JSON of explain
//
// {"format_version": 1, "kinds": [...]}, each {"kind", "list", "in": a kind or workspace, "description", "example", "apis", "editions",
// "fields": only of a kind that was asked for, {"name", "holds", "description", "rules", "example", "apis", "editions"}}. Texts are Markdown.
//
// # JSON of records
//
// get shows the service's records as they are: an array, or one object. state
// list shows {"format_version": 1, "records": [...]} and state show one record with
// its format_version. A record has address, id, identifier, made, protect, values,
// members and open, each left out where there is none.
//
// # JSON of findings and messages
//
// Findings: {"format_version": 1, "diagnostics": [...]}, each
// {"severity", "code", "file", "line", "column", "path", "address", "summary", "hint", "related"},
// where severity is error or warning and related is [{"file", "line", "column", "note"}].
// An empty text and a zero stand for what there is not. They are the output of
// validate ([View.Validation]); anywhere else they go to standard error. With --output json
// every error is of this form, also that of a wrong command line.
//
// Standard error holds one JSON object a line (and on a terminal the progress
// line, in place of events), told apart by the key beside format_version:
// diagnostics as above; note, a text; event, a step that ended: {"address",
// "action", "status", "done", "total", "error"}; waiting: {"seconds", "reason"}.
package view
