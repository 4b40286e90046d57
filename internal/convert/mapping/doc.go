// Package mapping reads the file that says what becomes of an export's people, states, types and other names, and adds to it.
//
// A run adds what the export has and the file lacks: guesses are marked, and what cannot be guessed is a question mark. Nothing
// that stands in the file is changed or moved, so that people may edit and annotate it. Mistakes are reported with their line and
// what was probably meant.
//
// The package must not know issues or manifests.
package mapping
