// Package diag holds positioned diagnostics: what is wrong, where, and what to do about it.
//
// Every check of planform reports into a [List] and goes on, so that a person
// sees all problems at once. A diagnostic names the place in the manifest (file,
// line, column and the path in the document) where it has one, and a next step
// where one is known. The phrases that such texts share are here too: likely
// candidates for a misspelt word ([DidYouMean]), and nouns with their number ([Count]).
//
// The package must not know YAML, the service, or output. Texts are lower case,
// without a full stop, and may hold unchecked text from manifests and from the
// service: the printing package makes it safe for a terminal.
package diag
