// Package disk is how planform changes what is on disk and must last: the state, its journal, the history, saved plans, and manifests
// that are rewritten. Every such change goes through a [Disk], so that a simulation can let the power fail between any two of them.
//
// What an export or a conversion writes can be made again: [ReplaceIn] writes it, each file whole or not at all.
//
// It must not know what the files hold. Reading needs no [Disk]: what is written is in the file system at once, and only a loss of power
// tells what was flushed.
package disk
