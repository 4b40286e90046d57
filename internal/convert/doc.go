// Package convert turns exports of other trackers into manifests. It works offline: files in, files out.
//
// A [Format] reads the files of one tracker and hands their content to a [Sink], in the neutral words of this package: [Project],
// [Person], [Issue]. Most formats are texts: descriptions of records in package described, and lists of columns in package tabular.
// No format knows manifests. [Run] does the rest:
//
//   - find the files in folders and archives (files.go, archive.go), which are untrusted: nothing outside them is read;
//   - choose the format, if the user does not name it, and recognise side files (choose.go, users.go);
//   - read everything (collect.go) and count it before anything is decided (count.go);
//   - read the mapping file, and add the names that the export has and the file lacks (guess.go, package mapping);
//   - take the wanted part (select.go), compare it with the last run, and keep issues that are gone from the export (lastrun.go);
//   - compose manifests (compose.go; fields.go, relations.go, comments.go, attachments.go, text.go, references.go), and note every
//     loss (report.go);
//   - account for each value of the source: formats say which part of an issue takes it (ledger.go), and who writes the part books what
//     became of it (account.go);
//   - tell the numbers that the items will have (numbers.go);
//   - write everything, or nothing (write.go).
//
// [Manifests] stops before the writing: package proof compares these manifests with the service.
//
// The same input with the same mapping gives the same bytes. A generated file that somebody changed is never overwritten.
//
// The package must not know the service, the state, or the command line.
package convert
