// Package diag holds positioned diagnostics: what is wrong, where, and what to do about it.
//
// Every check of planform reports into a [List] and goes on, so that a person
// sees all problems at once. A diagnostic names the place in the manifest (file,
// line, column and the path in the document) where it has one, and a next step
// where one is known. The words that such texts share are here too: what was
// probably meant ([DidYouMean]), and nouns with their number ([Count]).
//
// The package knows nothing of YAML, of the service, or of how a diagnostic is
// printed. Texts are lower case, without a full stop, and may hold text from
// manifests and from the service as it came: whoever prints them makes them
// safe for a terminal.
package diag
