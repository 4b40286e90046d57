// Package mapping reads the file that maps an export's people, states, types and other names, and adds entries to it.
//
// A run adds the names that the export has and the file lacks: guesses are marked, and open questions are a question mark. Nothing
// that stands in the file is changed or moved, so that people may edit and annotate it. Mistakes are reported with their line and
// the word that was probably meant.
//
// The package must not know issues or manifests.
package mapping
