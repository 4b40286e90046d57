// Package diag holds positioned diagnostics: what is wrong, where, and what to do about it.
//
// Every check of planform reports into a [List] and goes on, so that people see all problems at once. A diagnostic has the place in the
// manifest if there is one (file, line, column, and the path in the document), and the next step if it is known. The package also has
// phrases for such texts: likely candidates for a misspelt word ([DidYouMean]), and nouns with their number ([Count]).
//
// The package must not know YAML, the service, or output. Texts are in lower case, without a full stop, and may contain unchecked text from
// manifests and from the service; the printing package makes them safe for a terminal.
package diag
