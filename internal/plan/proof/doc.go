// Package proof compares an export with the service, field by field, in both directions.
//
// It compares no values itself. It reads the plan of the export's manifests: an object that the plan would create is missing, a field
// that it would change differs, an object in no manifest is additional, and a value that the plan cannot see is not compared. So a text,
// a date or a list is equal here if and only if apply would not change it.
//
// Each value of the export is counted once: as equal, differing, missing, or not compared. The package must
// not know trackers, requests, or the command line.
package proof
