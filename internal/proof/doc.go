// Package proof says of an export and the service what is equal, and what is not: field by field, in both directions.
//
// It compares nothing itself. The plan of the export's manifests is the comparison: what it would create is missing, what it would
// change differs, what no manifest has is additional, and what it cannot see is not compared. So a text, a date or a list is equal here
// if and only if apply would leave it alone.
//
// It promises that each value of the export is counted once: as equal, differing, missing, or not compared.
// The package must not know trackers, requests, or the command line.
package proof
